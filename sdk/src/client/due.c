/* due.c -- what time brings: timers, ends of leases, and doubts, which are told in the order in which leases end. */

#include "client/state.h"
#include "client/replicas.h"

void gh_timers_lapse(gh_client* client)
{
    uint32_t side = 0;
    while (side < 2)
    {
        gh_heap* leases = &client->leases[side];
        gh_op* op;
        if (gh_heap_due(leases) > client->now_us)
        {
            side++;
            continue;
        }
        op = gh_op_of_lease(gh_heap_at(leases, 0)->place);
        gh_heap_remove(leases, &op->lease_index);
        gh_op_tell(op, GH_EVENT_LAPSED);
    }
}

void gh_timers_fire(gh_client* client)
{
    uint32_t fired = 0;
    while (gh_heap_due(&client->timers) <= client->now_us)
    {
        gh_op* op = gh_op_of_timer(gh_heap_at(&client->timers, 0)->place);
        if ((++fired & 15) == 0 && !gh_client_budget_left(client)) return;
        if (op->due_us <= client->now_us)
        {
            op->due_us = GH_FOREVER;
            gh_op_retime(op);
            gh_op_tell(op, GH_EVENT_TIMER);
        }
        else if (op->request == GH_REQUEST_PAUSED) gh_op_requeue(op, false);
        else client->config.replicas->late(op);
    }
}

/* ---- doubt: whoever has a lease asks, the one that ends first before the others ---------------------------------- */

/* Of one heap for all nodes; those whose node is not doubted are passed over. A node is doubted until all were told. */

/* From one heap of leases into the other. */
static void lease_change_side(gh_op* op)
{
    gh_heap* leases = gh_leases_of(op);
    uint64_t due_us = gh_heap_at(leases, op->lease_index - 1)->due_us;
    gh_heap_remove(leases, &op->lease_index);
    op->flags ^= GH_OP_ASKED;
    gh_heap_set(gh_leases_of(op), &op->lease_index, due_us);
}

static gh_op* lease_first(const gh_client* client, uint32_t side)
{
    return gh_op_of_lease(gh_heap_at(&client->leases[side], 0)->place);
}

/* What was told of an earlier doubt, and what was not, is to be told of this one. */
void gh_doubt_begin(gh_node* node)
{
    gh_client* client = node->client;
    uint32_t untold = 1 - client->leases_side;
    client->stats.store_doubts++;
    gh_node_server(node)->doubted = true;
    GH_INVARIANT(client, client->leases_side <= 1);
    while (client->leases[untold].count > 0) lease_change_side(lease_first(client, untold));
    client->leases_side = untold;
}

/* A master that was replaced while it stood still goes on with what has lain in its socket. Whoever has the slot by now
   may know nothing of a lease that it gave or renewed, and was doubted before there was one: so it is asked. */
void gh_doubt_stray(gh_node* node, gh_op* op)
{
    const gh_client* client = op->client;
    gh_node* owner = op->lease_index == 0 ? node : gh_op_node(op);
    if (gh_node_server(owner) == gh_node_server(node)) return;
    gh_node_server(owner)->doubted = true;
    if (gh_leases_of(op) == &client->leases[client->leases_side]) lease_change_side(op);
}

/* Who never asks by itself, and so has no route, holds what its children have got, of any node. */
void gh_doubt_on(gh_client* client)
{
    uint32_t untold = 1 - client->leases_side;
    uint32_t told = 0;
    gh_node* node;
    if (!gh_client_ready(client) || client->sweep_left > 0) return;
    while (client->leases[untold].count > 0)
    {
        gh_op* op = lease_first(client, untold);
        lease_change_side(op);
        if (op->route == 0 || gh_node_server(gh_op_home(op))->doubted) gh_op_tell(op, GH_EVENT_DOUBT);
        if ((++told & 15) == 0 && !gh_client_budget_left(client)) return;
    }
    for (node = client->nodes; node < client->nodes_end; node++) node->doubted = false;
}
