/* semaphore_refresh.c -- which permits share one renewal, and which of a group are in the next batch. */

#include "semaphore_refresh.h"

static uint64_t permit_group_number(const gh_permit* permit)
{
    const gh_lease* lease = &permit->lease;
    uint64_t name_number = gh_gate_object(lease->op.client, gh_str_literal("permit"), gh_name_str(&lease->name));
    return name_number + lease->lease_us * 0x9e3779b97f4a7c15ull;
}

static gh_permit* permit_group_first(const gh_permit* permit, uint64_t number)
{
    const gh_lease* lease = &permit->lease;
    gh_gate* row = gh_gate_first(lease->op.client, number);
    gh_permit* first;
    if (row == NULL || row->op->kind != lease->op.kind) return NULL;
    first = (gh_permit*)(void*)((char*)row - offsetof(gh_permit, row));
    if (first->lease.lease_us != lease->lease_us) return NULL;
    return gh_str_equal(gh_name_str(&first->lease.name), gh_name_str(&lease->name)) ? first : NULL;
}

void gh_permit_group_join(gh_permit* permit)
{
    uint64_t number = permit_group_number(permit);
    gh_permit* first = permit_group_first(permit, number);
    if (first == NULL)
    {
        permit->next = permit->previous = permit;
        gh_gate_enter(&permit->row, &permit->lease.op, number);
        return;
    }
    permit->next = first;
    permit->previous = first->previous;
    first->previous->next = permit;
    first->previous = permit;
}

static void permit_batch_give_up(gh_permit* carrier)
{
    uint64_t now_us = gh_client_now(carrier->lease.op.client);
    gh_permit* member = gh_permit_batch_next(carrier, NULL);
    while (member != NULL)
    {
        gh_permit* next = gh_permit_batch_next(carrier, member);
        gh_permit_batch_drop(member);
        if (member != carrier) gh_op_timer(&member->lease.op, now_us); /* its own op goes other ways, or has ended */
        member = next;
    }
}

void gh_permit_group_leave(gh_permit* permit)
{
    gh_permit* next = permit->next;
    uint64_t number = permit->row.object;
    bool was_first = permit->row.op != NULL;
    if (permit->previous == NULL) return;
    if (permit->carrier == permit) permit_batch_give_up(permit);
    if (permit->carrier != NULL) gh_permit_batch_drop(permit);
    permit->previous->next = next;
    next->previous = permit->previous;
    permit->next = permit->previous = NULL;
    if (!was_first) return;
    gh_gate_leave(&permit->row);
    if (next != permit) gh_gate_enter(&next->row, &next->lease.op, number);
}

/* Free to be refreshed now, although its own time has not come yet. A small group is refreshed as a whole, so
   that there is one request per third of the lease; a larger one keeps its batches apart. */
static bool permit_may_be_next(const gh_permit* permit, uint64_t until_us)
{
    return permit->carrier == NULL && permit->lease.op.due_us <= until_us;
}

static uint64_t permit_batch_until(const gh_permit* permit)
{
    const gh_permit* member = permit->next;
    uint32_t count = 1;
    while (member != permit && count <= GH_PERMIT_BATCH_MAX)
    {
        member = member->next;
        count++;
    }
    return count <= GH_PERMIT_BATCH_MAX ? GH_FOREVER
                                        : gh_client_after(permit->lease.op.client, permit->lease.lease_us / 6);
}

gh_permit* gh_permit_batch_choose(gh_permit* permit, bool in_doubt)
{
    uint64_t until_us = in_doubt ? GH_FOREVER : permit_batch_until(permit);
    gh_permit* carrier = permit;
    gh_permit* member;
    uint32_t steps;
    gh_op_timer_after(&permit->lease.op, 0); /* its time has come */
    for (steps = 1; steps < GH_PERMIT_BATCH_MAX; steps++)
    {
        if (carrier->previous == permit || !permit_may_be_next(carrier->previous, until_us)) break;
        carrier = carrier->previous;
    }
    member = carrier;
    carrier->batch = 0;
    do
    {
        member->carrier = carrier;
        carrier->batch++;
        gh_op_timer(&member->lease.op, member->lease.end_us);
        member = member->next;
    } while (carrier->batch < GH_PERMIT_BATCH_MAX && permit_may_be_next(member, until_us));
    return carrier;
}

gh_permit* gh_permit_batch_next(const gh_permit* carrier, gh_permit* from)
{
    gh_permit* member;
    if (from == NULL) return carrier->carrier; /* itself, as long as it has a batch */
    for (member = from->next; member != carrier; member = member->next)
        if (member->carrier == carrier) return member;
    return NULL;
}

void gh_permit_batch_drop(gh_permit* permit)
{
    permit->carrier->batch--;
    permit->carrier = NULL;
}
