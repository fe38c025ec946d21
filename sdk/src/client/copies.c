/* copies.c -- an op knows where it was begun, so that no copy of it is taken for it. */

#include "client/state.h"

bool gh_op_is_copy(const gh_op* op)
{
    return op != NULL && op->self != op && (gh_op_is_busy(op) || gh_ring_has(&op->change));
}

gh_status gh_op_copy_used(const gh_op* op, const gh_client* client)
{
    if (gh_client_is_one(client)) GH_ASSERT(client, op->self == op);
    return GH_INVALID_OP;
}

gh_status gh_op_was_moved(const gh_op* op)
{
    return gh_op_copy_used(op, op->client);
}

bool gh_op_is_at_work(const gh_op* op)
{
    if (!gh_op_is_busy(op)) return false;
    if (op->self == op) return true;
    gh_op_was_moved(op);
    return false;
}
