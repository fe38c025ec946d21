/* replicas_ops.c -- what a lease and a call do with an answer that replicas are to have: they keep it, and tell it when
   these have it.

       lease     ASKING --granted--> SYNCING --they have it--> HELD, as in lease.c
                    ^                   '--not in time--> RETURNING --given back--> asks anew
                    '---------------------------------------------------'
       call      asked --answered--> awaited --they have it--> ends as it was answered; else UNREPLICATED */

#include "replicas_ops.h"

#include "client/lease.h"
#include "client/waiter.h"

static bool is_call(const gh_op* op)
{
    return op->kind->answer != NULL;
}

/* Renewals and releases are said over the command link. */
uint32_t gh_replicas_of(const gh_op* op)
{
    uint8_t wanted;
    if (op->kind->replicas_at == 0) return 0;
    if (!is_call(op) && op->state != GH_LEASE_ASKING && op->state != GH_LEASE_SYNCING) return 0;
    memcpy(&wanted, (const char*)op + op->kind->replicas_at, sizeof wanted);
    return wanted;
}

/* At the node whose link its answer came over: which is not that of its slot, where it was asked out of turn. */
static void op_await(gh_op* op)
{
    const gh_client* client = op->client;
    GH_INVARIANT(client, client->reading->main != NULL);
    gh_op_await(op, client->reading, client->config.wait_us);
}

/* ---- leases ------------------------------------------------------------------------------------------------------ */

/* The store is told over the command link; until it has said that it knows, the old number may still have it. */
static void lease_return(gh_lease* lease)
{
    if (lease->ask_once || gh_client_now(lease->op.client) >= lease->end_us)
    {
        gh_lease_leave(lease, GH_TIMEOUT);
        return;
    }
    gh_op_lease(&lease->op, GH_FOREVER);
    lease->op.state = GH_LEASE_RETURNING;
    lease->was_held = true;
    lease->unanswered = false;
    gh_op_timer(&lease->op, lease->end_us);
    gh_op_send(&lease->op, GH_OP_URGENT);
}

static void lease_granted(gh_lease* lease, const gh_event* event)
{
    const uint64_t remaining_us = (uint64_t)gh_reply_integer(event->reply, GH_LEASE_ACQUIRE_REMAINING_US);
    gh_lease_row_of(lease)->answered(lease, event->reply);
    lease->known = true;
    lease->lease_end_us = gh_lease_end(lease->lease_us, event->sent_us, remaining_us);
    gh_op_unlisten(&lease->op);
    lease->op.state = GH_LEASE_SYNCING;
    op_await(&lease->op);
    gh_op_timer(&lease->op, lease->end_us);
}

static void lease_told(gh_lease* lease, gh_status status)
{
    const gh_client* client = lease->op.client;
    const uint64_t now_us = gh_client_now(client);
    uint64_t renew_us;
    if (status != GH_OK || now_us >= lease->lease_end_us)
    {
        lease_return(lease);
        return;
    }
    renew_us = gh_lease_renewal(client, lease->lease_us, lease->lease_end_us);
    lease->end_us = lease->hold_us == 0 ? GH_FOREVER : gh_client_after(client, lease->hold_us);
    gh_lease_keep(lease, renew_us > now_us ? renew_us - now_us : 0);
    gh_op_set_status(&lease->op, GH_HELD);
    if (gh_lease_row_of(lease)->held != NULL) gh_lease_row_of(lease)->held(lease, NULL);
}

static void syncing_step(gh_lease* lease, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_TIMER: gh_lease_leave(lease, GH_TIMEOUT); break;
    case GH_EVENT_CANCEL: gh_lease_leave(lease, GH_CANCELLED); break;
    case GH_EVENT_CLOSE: gh_lease_finish(lease, GH_CANCELLED); break;
    case GH_EVENT_RESET: lease_return(lease); break;
    case GH_EVENT_REPLY:
    case GH_EVENT_FAILED:
    case GH_EVENT_LAPSED:
    case GH_EVENT_HINT:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
}

static void returning_reply(gh_lease* lease, const gh_reply* reply)
{
    lease->late_us = 0; /* the store was told of copies that may come late, and refuses them */
    if (gh_lease_row_of(lease)->told(reply).again) gh_op_send(&lease->op, GH_OP_URGENT);
    else gh_lease_ask_anew(lease);
}

static void returning_step(gh_lease* lease, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_REPLY: returning_reply(lease, event->reply); break;
    case GH_EVENT_FAILED:
    case GH_EVENT_TIMER: gh_lease_leave(lease, GH_TIMEOUT); break;
    case GH_EVENT_CANCEL: gh_lease_leave(lease, GH_CANCELLED); break;
    case GH_EVENT_CLOSE: gh_lease_finish(lease, GH_CANCELLED); break;
    case GH_EVENT_RESET:
    case GH_EVENT_LAPSED:
    case GH_EVENT_HINT:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
}

static bool is_grant(const gh_event* event)
{
    return event->kind == GH_EVENT_REPLY && gh_lease_reply_grants(event->reply);
}

void gh_replicas_lease_step(gh_op* op, const gh_event* event)
{
    gh_lease* lease = gh_lease_of(op);
    if (op->state == GH_LEASE_SYNCING) syncing_step(lease, event);
    else if (op->state == GH_LEASE_RETURNING) returning_step(lease, event);
    else if (op->state == GH_LEASE_ASKING && is_grant(event)) lease_granted(lease, event);
    else gh_lease_step(op, event);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* What it will end with, if replicas have it, is kept where the count of pauses of its request was. */
static void call_answered(gh_op* op, const gh_event* event)
{
    const gh_status status = gh_call_verdict(op, event);
    if (status == GH_PENDING) return;
    if (status != GH_OK && status != GH_TOO_SMALL && status != GH_ERROR)
    {
        gh_op_end(op, status);
        return;
    }
    op_await(op);
    op->attempts = (uint8_t)-status;
}

/* An error and an answer without its room say more than that replicas do not have it. */
static void call_told(gh_op* op, gh_status status)
{
    const gh_status answered = (gh_status) - (int)op->attempts;
    gh_op_end(op, answered == GH_OK ? status : answered);
}

/* It was done, so it cannot be cancelled; only the time for it runs out. */
static void awaited_step(gh_op* op, const gh_event* event)
{
    if (event->kind == GH_EVENT_TIMER || event->kind == GH_EVENT_CLOSE) gh_replicas_tell(op, GH_UNREPLICATED);
}

void gh_replicas_call_step(gh_op* op, const gh_event* event)
{
    if (op->request == GH_REQUEST_AWAITED) awaited_step(op, event);
    else if (event->kind == GH_EVENT_REPLY) call_answered(op, event);
    else gh_call_step(op, event);
}

void gh_replicas_tell(gh_op* op, gh_status status)
{
    gh_client* client = op->client;
    if (status != GH_OK) client->stats.unreplicated++;
    gh_step_enter(client);
    if (is_call(op)) call_told(op, status);
    else lease_told(gh_lease_of(op), status);
    gh_step_leave(client);
}
