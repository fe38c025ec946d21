/* copies.c -- an op knows where it was begun, so that no copy of it is taken for it. */

#include "client/state.h"

bool gh_op_is_copy(const gh_op* op)
{
    return op != NULL && op->self != op && (gh_op_is_busy(op) || gh_ring_has(&op->change));
}

gh_status gh_op_was_moved(const gh_op* op)
{
    if (gh_client_is_one(op->client)) GH_ASSERT(op->client, op->self == op);
    return GH_INVALID_OP;
}

bool gh_op_is_at_work(const gh_op* op)
{
    if (!gh_op_is_busy(op)) return false;
    if (op->self == op) return true;
    gh_op_was_moved(op);
    return false;
}
