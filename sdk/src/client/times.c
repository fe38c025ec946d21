/* times.c -- an op's places in the heaps of times: one for its timer, or for the pause of its request, and one for its
   lease. Every busy op is in the heap of timers, due or not. */

#include "client/state.h"

gh_op* gh_op_of_timer(uint32_t* place)
{
    return (gh_op*)(void*)((char*)place - offsetof(gh_op, timer_index));
}

gh_op* gh_op_of_lease(uint32_t* place)
{
    return (gh_op*)(void*)((char*)place - offsetof(gh_op, lease_index));
}

gh_heap* gh_leases_of(const gh_op* op)
{
    return &op->client->leases[(op->flags & GH_OP_ASKED) != 0];
}

/* One place in the heap serves the system's timer, and the pause of its request or the wait for replicas. */
void gh_op_retime(gh_op* op)
{
    uint64_t due_us = op->due_us;
    GH_INVARIANT(op->client, op->timer_index != 0); /* every busy op is in the heap */
    if (op->request >= GH_REQUEST_PAUSED && op->retry_us < due_us) due_us = op->retry_us;
    gh_heap_set(&op->client->timers, &op->timer_index, due_us);
}

void gh_op_timer(gh_op* op, uint64_t due_us)
{
    op->due_us = due_us;
    gh_op_retime(op);
}

void gh_op_timer_after(gh_op* op, uint64_t pause_us)
{
    gh_op_timer(op, gh_client_after(op->client, pause_us));
}

void gh_op_lease(gh_op* op, uint64_t due_us)
{
    const uint8_t side = op->client->leases_side == 0 ? 0 : GH_OP_ASKED;
    GH_INVARIANT(op->client, op->timer_index != 0);
    if (due_us == GH_FOREVER)
    {
        gh_heap_remove(gh_leases_of(op), &op->lease_index);
        return;
    }
    if (op->lease_index == 0) op->flags = (uint8_t)((op->flags & ~GH_OP_ASKED) | side);
    gh_heap_set(gh_leases_of(op), &op->lease_index, due_us);
}

void gh_times_replace(gh_op* op)
{
    GH_INVARIANT(op->client, op->lease_index == 0);
    gh_heap_at(&op->client->timers, op->timer_index - 1)->place = &op->timer_index;
}
