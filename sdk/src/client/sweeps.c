/* sweeps.c -- what all ops are told: every one that is busy when a sweep begins gets its event once. A sweep goes on
   over several ticks if it must. */

#include "client/state.h"

#define SWEEP_LOOK_COST 256u /* between two looks at the clock: 16 ops are told, */
#define SWEEP_TOLD_COST 15u  /* or 256 are passed over                           */

/* Marks alternate, so that no op has to be touched before it is its turn: GH_OP_SWEPT set is "had it" in one sweep and
   "did not" in the next. Each sweep is ended before the next begins, so all marks are equal in between. */
static void sweep_begin(gh_client* client, gh_event_kind kind)
{
    GH_INVARIANT(client, client->sweep_left == 0);
    client->sweep_mark ^= GH_OP_SWEPT;
    client->sweep_kind = (uint8_t)kind;
    client->sweep_left = client->timers.count;
    client->sweep_at = 0;
}

void gh_sweep_mark(gh_client* client, gh_op* op)
{
    GH_INVARIANT(client, client->sweep_left > 0);
    op->flags ^= GH_OP_SWEPT;
    client->sweep_left--;
}

/* Of one node among many, and who has no route never asks by itself: he holds what his children have got, of any node,
   and asks which of it is lost. */
static gh_event_kind sweep_kind_of(const gh_client* client, const gh_op* op)
{
    const bool holds_of_any = client->sweep_node != NULL && op->route == 0 && op->lease_index != 0;
    return holds_of_any ? GH_EVENT_DOUBT : (gh_event_kind)client->sweep_kind;
}

/* Those of other nodes than the one whose ops are told. */
static bool is_passed_over(const gh_client* client, const gh_op* op)
{
    return client->sweep_node != NULL && op->route != 0 && gh_node_server(gh_op_home(op)) != client->sweep_node;
}

/* Round and round through the heap, because steps move ops in it: whoever comes into the place of one that ended, is
   next; whoever was moved behind us, in the next round. */
void gh_op_sweep_on(gh_client* client, bool bounded)
{
    uint32_t cost = 0;
    while (client->sweep_left > 0)
    {
        gh_op* op;
        GH_INVARIANT(client, client->sweep_left <= client->timers.count);
        if (client->sweep_at >= client->timers.count) client->sweep_at = 0;
        op = gh_op_of_timer(gh_heap_at(&client->timers, client->sweep_at)->place);
        cost++;
        if (gh_sweep_has(client, op))
        {
            client->sweep_at++;
        }
        else
        {
            gh_sweep_mark(client, op);
            if (is_passed_over(client, op)) continue;
            gh_op_tell(op, sweep_kind_of(client, op));
            cost += SWEEP_TOLD_COST;
        }
        if (bounded && cost >= SWEEP_LOOK_COST)
        {
            cost = 0;
            if (!gh_client_budget_left(client)) return;
        }
    }
}

void gh_op_sweep_begin(gh_client* client, gh_event_kind kind, gh_node* node)
{
    gh_op_sweep_on(client, false);
    sweep_begin(client, kind);
    client->sweep_node = node;
}

void gh_op_sweep(gh_client* client, gh_event_kind kind)
{
    gh_op_sweep_begin(client, kind, NULL);
    gh_op_sweep_on(client, false);
}
