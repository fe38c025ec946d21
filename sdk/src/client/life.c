/* life.c -- an op from its begin to its end. */

#include "client/refusal.h"
#include "client/state.h"

static gh_status check_both(const gh_op* op, const gh_client* client)
{
    if (client == NULL || !gh_client_is_one(client)) return GH_INVALID_CLIENT; /* no analyzer looks into it from here */
    if (gh_op_is_copy(op)) return gh_op_copy_used(op, client);
    if (gh_op_is_busy(op)) return GH_INVALID_OP;
    if (client->draining) return GH_CLOSED;
    if (client->timers.count == client->timers.capacity) return GH_NO_ROOM;
    return GH_OK;
}

/* So short that an analyzer follows it wherever an op begins, and knows that there is one. */
gh_status gh_op_check(const gh_op* op, const gh_client* client)
{
    if (op != NULL) return check_both(op, client);
    return gh_client_is_one(client) ? GH_INVALID_OP : GH_INVALID_CLIENT;
}

void gh_op_set_status(gh_op* op, gh_status status)
{
    GH_INVARIANT(op->client, status == GH_PENDING || status == GH_HELD); /* any other is an end */
    if (op->status == status) return;
    op->status = status;
    gh_changes_note(op->client, op);
    if (op->kind->owner != NULL) gh_op_tell_owner(op);
}

void gh_op_clear(gh_op* op, size_t size)
{
    void* user = op->user;
    uint32_t tag = op->tag;
    gh_ring_remove(&op->change);
    memset(op, 0, size);
    op->user = user;
    op->tag = tag;
}

void gh_op_begin(gh_op* op, gh_client* client, const gh_op_kind* kind)
{
    GH_INVARIANT(client, kind->name != NULL && kind->step != NULL);
    GH_INVARIANT(client, client->timers.count < client->timers.capacity);
    gh_op_clear(op, sizeof *op);
    op->kind = kind;
    op->client = client;
    op->self = op;
    op->status = GH_PENDING;
    op->due_us = GH_FOREVER;
    op->flags = client->sweep_mark; /* a sweep under way is not for those who come now */
    gh_op_renumber(op);
    gh_heap_set(&client->timers, &op->timer_index, GH_FOREVER);
    client->stats.ops_begun++;
    if (client->timers.count > client->stats.ops_busy_max) client->stats.ops_busy_max = client->timers.count;
    if (kind->trees != NULL) client->reader.trees = kind->trees;
    gh_trace(client, GH_TRACE_BEGIN, op, 0, GH_PENDING);
}

gh_status gh_op_refused_call(const gh_op* op, gh_status status)
{
    if (gh_op_is_busy(op)) gh_refusal_note(op->client, status);
    return status;
}

gh_status gh_op_begun(gh_op* op, gh_client* client, gh_status status)
{
    static const gh_op_kind refused = {.name = "refused"};
    if (status == GH_OK)
    {
        if (op->kind->borrows) gh_borrowed_note(op);
        return status;
    }
    gh_refusal_note(client, status);
    if (op == NULL || gh_op_is_busy(op) || gh_op_is_copy(op)) return status;
    gh_op_clear(op, sizeof *op);
    op->kind = &refused;
    op->self = op;
    op->status = status;
    if (gh_client_is_one(client)) gh_changes_note(client, op);
    return status;
}

void gh_op_renumber(gh_op* op)
{
    bool listening = (op->flags & GH_OP_LISTENING) != 0;
    if (listening) gh_op_unlisten(op);
    op->sequence = ++op->client->sequence;
    if (listening) gh_op_listen(op);
}

void gh_op_end(gh_op* op, gh_status status)
{
    gh_client* client = op->client;
    if (!gh_op_is_busy(op)) return;
    GH_INVARIANT(client, status != GH_PENDING && status != GH_HELD);
    GH_INVARIANT(client, op->self == op);
    if (op->kind->owner != NULL) gh_op_tell_owner(op);
    if ((op->flags & GH_OP_TOLD_OF) != 0) gh_owner_forget(op);
    if (!gh_sweep_has(client, op)) gh_sweep_mark(client, op);
    gh_op_unsend(op);
    gh_op_unlisten(op);
    gh_heap_remove(gh_leases_of(op), &op->lease_index);
    gh_heap_remove(&client->timers, &op->timer_index);
    op->client = NULL;
    op->status = status;
    gh_changes_note(client, op);
    if ((op->flags & GH_OP_DETACHED) != 0) gh_detached_give_back(client, op);
    client->stats.ops_ended++;
    if (status == GH_UNKNOWN) client->stats.ops_unknown++;
    gh_trace(client, GH_TRACE_END, op, 0, status);
}
