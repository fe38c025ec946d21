/* call.c -- calls and reads: ops of one request, whose answer ends them. */

#include "client/op.h"

void gh_call_begin(gh_op* op, gh_client* client, const gh_op_kind* kind, uint64_t timeout_us, int flags)
{
    GH_INVARIANT(client, kind->answer != NULL);
    gh_op_begin(op, client, kind);
    gh_op_timer(op, gh_client_after(client, timeout_us));
    gh_op_send(op, flags);
}

/* What was sent ends with its answer. */
static gh_status call_cancelled(const gh_op* op)
{
    return gh_op_maybe_done(op) ? GH_PENDING : gh_op_outcome(op, GH_REASON_CANCEL);
}

void gh_call_step(gh_op* op, const gh_event* event)
{
    gh_status status = GH_PENDING;
    GH_INVARIANT(op->client, op->kind->effect != GH_OP_READS); /* those take gh_read_step */
    switch (event->kind)
    {
    case GH_EVENT_REPLY: status = op->kind->answer(op, event); break;
    case GH_EVENT_FAILED: status = event->status; break;
    case GH_EVENT_TIMER: status = gh_op_outcome(op, GH_REASON_DEADLINE); break;
    case GH_EVENT_CANCEL: status = call_cancelled(op); break;
    case GH_EVENT_CLOSE: status = gh_op_outcome(op, GH_REASON_CANCEL); break;
    case GH_EVENT_LAPSED:
    case GH_EVENT_HINT:
    case GH_EVENT_RESET:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
    if (status != GH_PENDING) gh_op_end(op, status);
}

/* ---- calls that only read: whether the store carried them out is all the same, so they never end UNKNOWN --------- */

void gh_read_step(gh_op* op, const gh_event* event)
{
    gh_status status = GH_PENDING;
    GH_INVARIANT(op->client, op->kind->effect == GH_OP_READS);
    switch (event->kind)
    {
    case GH_EVENT_REPLY: status = op->kind->answer(op, event); break;
    case GH_EVENT_FAILED: status = event->status; break;
    case GH_EVENT_TIMER: status = gh_op_outcome(op, GH_REASON_DEADLINE); break;
    case GH_EVENT_CANCEL:
    case GH_EVENT_CLOSE: status = gh_op_outcome(op, GH_REASON_CANCEL); break;
    case GH_EVENT_LAPSED:
    case GH_EVENT_HINT:
    case GH_EVENT_RESET:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
    if (status != GH_PENDING) gh_op_end(op, status);
}
