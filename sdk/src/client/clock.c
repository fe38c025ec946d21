/* clock.c -- time as steps see it: the client's, the caller's, the store's, and what is left of the tick's budget. */

#include "client/state.h"

#include "base/least.h"

uint64_t gh_client_now(const gh_client* client)
{
    return client->now_us;
}

uint64_t gh_client_after(const gh_client* client, uint64_t pause_us)
{
    return pause_us < GH_FOREVER - 1 - client->now_us ? client->now_us + pause_us : GH_FOREVER - 1;
}

uint64_t gh_client_callers_time(const gh_client* client, uint64_t time_us)
{
    return time_us + client->origin_us;
}

/* xorshift64*: spreads retries over time and decides nothing else. */
uint64_t gh_client_jitter(gh_client* client, uint64_t pause_us)
{
    uint64_t x = client->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    client->random = x;
    return pause_us / 2 + (x * 0x2545f4914f6cdd1dull >> 11) % (pause_us / 2 + 1);
}

/* Of who has answered, which is not the owner of the op's slot where it was asked out of turn. */
void gh_op_note_store_time(const gh_op* op, uint64_t store_us)
{
    const gh_client* client = op->client;
    GH_INVARIANT(client, !client->many || client->reading != NULL);
    gh_node_note_store_time(client->many ? gh_node_server(client->reading) : client->nodes, store_us);
}

uint64_t gh_op_store_time(const gh_op* op, uint64_t local_us)
{
    return gh_node_store_time(gh_op_node(op), local_us);
}

uint64_t gh_client_store_time(const gh_client* client, uint32_t node)
{
    return gh_node_store_time(&client->nodes[node], client->now_us);
}

uint64_t gh_op_not_after(const gh_op* op)
{
    return gh_node_not_after(gh_op_node(op));
}

uint64_t gh_op_not_after_its_end(const gh_op* op)
{
    return gh_least(gh_op_not_after(op), gh_op_store_time(op, op->due_us));
}

bool gh_client_budget_left(gh_client* client)
{
    if (client->budget_end_us == GH_FOREVER) return true;
    if (client->platform->now_us(client->platform->context) < client->budget_end_us) return true;
    client->budget_spent = true;
    return false;
}
