/* detached.c -- ops whose owner is gone: what must still be told to the store, the client tells by itself.

       gh_op_detach --> moved into a record of the client's --its end--> the record is free again

   The op goes on where it is: with its sequence, its request on the wire, its timer. */

#include "client/state.h"

void gh_detached_init(gh_client* client)
{
    uint32_t i;
    for (i = client->config.detached_capacity; i > 0; i--)
    {
        gh_op* record = &client->detached[i - 1].op;
        record->next = client->detached_free;
        client->detached_free = record;
    }
}

/* With all that is behind its head, and whatever of the client's points to it. An op that is in a gate's row, that owns
   others, that waits for a hint, a lease or replicas, or that has changed and was not seen, stays. */
static void op_move(gh_op* from, gh_op* to, size_t size)
{
    GH_INVARIANT(from->client, size >= sizeof *from && size <= GH_OP_SIZE_MAX);
    GH_INVARIANT(from->client, !gh_ring_has(&from->change) && from->self == from);
    GH_INVARIANT(from->client, (from->flags & (GH_OP_TOLD_OF | GH_OP_LISTENING)) == 0);
    GH_INVARIANT(from->client, from->request != GH_REQUEST_AWAITED);
    memcpy(to, from, size);
    to->self = to;
    gh_times_replace(to);
    if (to->request == GH_REQUEST_QUEUED) gh_unsent_replace(from, to);
    if (to->request == GH_REQUEST_SENT) gh_slot_of(to)->op = to;
    memset(from, 0, sizeof *from);
}

bool gh_op_go_on_alone(gh_op* op, size_t size)
{
    gh_client* client = op->client;
    gh_op* record = client->detached_free;
    if (record == NULL)
    {
        client->stats.ops_abandoned++;
        return false;
    }
    client->detached_free = record->next;
    op_move(op, record, size);
    record->flags |= GH_OP_DETACHED;
    return true;
}

void gh_detached_give_back(gh_client* client, gh_op* record)
{
    GH_INVARIANT(client, (char*)record >= (char*)client->detached);
    GH_INVARIANT(client, (char*)record < (char*)(client->detached + client->config.detached_capacity));
    record->next = client->detached_free;
    client->detached_free = record;
}
