/* read.c -- calls that only read: whether the store carried them out is all the same, so they never end UNKNOWN. */

#include "client/op.h"

void gh_read_step(gh_op* op, const gh_event* event)
{
    gh_status status = GH_PENDING;
    switch (event->kind)
    {
    case GH_EVENT_REPLY: status = op->kind->answer(op, event); break;
    case GH_EVENT_FAILED: status = event->status == GH_UNKNOWN ? GH_TIMEOUT : event->status; break;
    case GH_EVENT_TIMER: status = GH_TIMEOUT; break;
    case GH_EVENT_CANCEL:
    case GH_EVENT_CLOSE: status = GH_CANCELLED; break;
    case GH_EVENT_LAPSED:
    case GH_EVENT_HINT:
    case GH_EVENT_RESET: break;
    }
    if (status != GH_PENDING) gh_op_end(op, status);
}

void gh_read_cancel(gh_op* op)
{
    if (op->kind != NULL && gh_op_is_busy(op)) gh_op_end(op, GH_CANCELLED);
}
