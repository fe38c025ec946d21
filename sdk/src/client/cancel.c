/* cancel.c -- what its owner asks of an op: cancel, detach, close. */

#include "client/state.h"

void gh_op_cancel(gh_op* op)
{
    if (gh_op_is_at_work(op)) gh_op_tell(op, GH_EVENT_CANCEL);
}

void gh_op_close(gh_op* op)
{
    if (gh_op_is_busy(op)) gh_op_tell(op, GH_EVENT_CLOSE);
}

void gh_op_detach(gh_op* op)
{
    gh_client* client;
    if (op == NULL) return;
    if (gh_op_is_copy(op))
    {
        gh_op_was_moved(op);
        return;
    }
    client = op->client;
    op->tag = 0;
    gh_op_forget_change(op);
    if (client != NULL) gh_step_enter(client);
    if (op->kind != NULL && op->kind->detach != NULL) op->kind->detach(op);
    else gh_op_close(op);
    if (client != NULL) gh_step_leave(client);
}
