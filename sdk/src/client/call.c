/* call.c -- calls: ops of one request, whose answer ends them. */

#include "client/replicas.h"

void gh_call_begin(gh_op* op, gh_client* client, const gh_op_kind* kind, uint64_t timeout_us, int flags)
{
    GH_INVARIANT(client, kind->answer != NULL);
    gh_op_begin(op, client, kind);
    gh_op_timer_after(op, timeout_us);
    gh_op_send(op, flags);
}

/* What was sent, and may change something, ends with its answer. */
static gh_status call_cancelled(const gh_op* op)
{
    const bool is_open = op->kind->effect != GH_OP_READS && gh_op_maybe_done(op);
    return is_open ? GH_PENDING : gh_op_outcome(op, GH_REASON_CANCEL);
}

gh_status gh_call_verdict(gh_op* op, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_REPLY: return op->kind->answer(op, event);
    case GH_EVENT_FAILED: return event->status;
    case GH_EVENT_TIMER: return gh_op_outcome(op, GH_REASON_DEADLINE);
    case GH_EVENT_CANCEL: return call_cancelled(op);
    case GH_EVENT_CLOSE: return gh_op_outcome(op, GH_REASON_CANCEL);
    case GH_EVENT_LAPSED:
    case GH_EVENT_HINT:
    case GH_EVENT_RESET:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
    return GH_PENDING;
}

void gh_call_step(gh_op* op, const gh_event* event)
{
    const gh_status status = gh_call_verdict(op, event);
    if (status != GH_PENDING) gh_op_end(op, status);
}

void gh_call_synced_step(gh_op* op, const gh_event* event)
{
    op->client->config.replicas->call_step(op, event);
}
