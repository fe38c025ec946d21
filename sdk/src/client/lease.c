/* lease.c -- one switch over the states of the drawing in lock.h. */

#include "client/lease.h"

#include "client/replicas.h"
#include "client/waiter.h"
#include "wire/name.h"

/* ---- ways from state to state ------------------------------------------------------------------------------------ */

void gh_lease_finish(gh_lease* lease, gh_status status)
{
    const gh_lease_row* row = gh_lease_row_of(lease);
    GH_INVARIANT(lease->op.client, gh_lease_is_busy(lease));
    if (row->let_go != NULL) row->let_go(lease);
    lease->op.state = 0;
    gh_op_end(&lease->op, status);
}

/* The client closes. What may have been granted behind our back is over after its lease, and nobody can say more. */
static void lease_close(gh_lease* lease)
{
    bool unanswered = lease->op.state == GH_LEASE_ASKING && gh_op_maybe_done(&lease->op);
    gh_lease_finish(lease, unanswered || gh_lease_is_late(lease) ? GH_UNKNOWN : GH_CANCELLED);
}

/* Claims go before new work: somebody's turn is ticking away. */
static void lease_ask(gh_lease* lease, bool urgent)
{
    GH_INVARIANT(lease->op.client, !gh_lease_is_held(lease) && lease->op.state != GH_LEASE_LEAVING);
    lease->op.state = GH_LEASE_ASKING;
    gh_op_listen(&lease->op); /* before it is sent: a hint may overtake the answer */
    gh_op_timer(&lease->op, lease->end_us);
    gh_op_send(&lease->op, urgent ? GH_OP_URGENT : 0);
}

/* The lease of a grant that we never heard of is over: from the end of the queue, as somebody new. */
void gh_lease_ask_anew(gh_lease* lease)
{
    GH_INVARIANT(lease->op.client, !gh_lease_is_late(lease)); /* no copy under the old number may come any more */
    gh_op_renumber(&lease->op);
    lease->known = false;
    lease->late_us = 0;
    lease_ask(lease, false);
}

static void lease_wait(gh_lease* lease, uint64_t pause_us)
{
    GH_INVARIANT(lease->op.client, !gh_op_is_sending(&lease->op));
    lease->op.state = GH_LEASE_WAITING;
    gh_waiter_sleep(&lease->op, pause_us, lease->end_us);
}

/* When telling the store does not matter any more: what it may have given us is over by then. */
static uint64_t leaving_end(const gh_lease* lease)
{
    const gh_client* client = lease->op.client;
    uint64_t end_us = lease->late_us; /* of the last grant, in the store */
    uint64_t store_us;
    if (lease->was_held) return lease->lease_end_us;
    if (lease->unanswered && lease->asked_us > end_us) end_us = lease->asked_us;
    if (end_us == 0) return gh_client_after(client, gh_waiter_patience(client)); /* a place in the queue */
    end_us += lease->lease_us;
    store_us = gh_lease_store_now(lease);
    return gh_client_after(client, end_us > store_us ? end_us - store_us : 0);
}

/* Tells the store that we want or have it no more, if it may know of us. outcome: what poll says when that is done. */
void gh_lease_leave(gh_lease* lease, gh_status outcome)
{
    const gh_lease_row* row = gh_lease_row_of(lease);
    GH_INVARIANT(lease->op.client, lease->op.state != GH_LEASE_LEAVING);
    lease->was_told = gh_lease_is_held(lease);
    lease->was_held = gh_lease_is_granted(lease);
    lease->unanswered = lease->op.state == GH_LEASE_ASKING && gh_op_maybe_done(&lease->op);
    if (!gh_lease_is_late(lease)) lease->late_us = 0;
    if (!lease->was_held && !lease->known && !lease->unanswered && lease->late_us == 0)
    {
        gh_lease_finish(lease, outcome);
        return;
    }
    if (row->let_go != NULL) row->let_go(lease);
    lease->op.state = GH_LEASE_LEAVING;
    gh_op_set_status(&lease->op, GH_PENDING);
    lease->outcome = (int8_t)outcome;
    lease->end_us = leaving_end(lease);
    gh_op_unlisten(&lease->op);
    gh_op_lease(&lease->op, GH_FOREVER);
    gh_op_timer(&lease->op, lease->end_us);
    gh_op_send(&lease->op, GH_OP_URGENT);
    gh_op_tell_owner(&lease->op);
}

/* The store has said no; but another copy of the request may still be on its way there. */
static void lease_settle(gh_lease* lease, gh_status status)
{
    if (gh_lease_is_late(lease)) gh_lease_leave(lease, status);
    else gh_lease_finish(lease, status);
}

/* The next thing that HELD does by itself: renew, or end the hold. */
static void lease_plan(gh_lease* lease, uint64_t renew_us)
{
    GH_INVARIANT(lease->op.client, lease->op.state != GH_LEASE_LEAVING && !gh_op_is_sending(&lease->op));
    lease->op.state = GH_LEASE_HELD;
    gh_op_lease(&lease->op, lease->lease_end_us);
    gh_op_timer(&lease->op, renew_us < lease->end_us ? renew_us : lease->end_us);
}

void gh_lease_extend(gh_lease* lease, uint64_t sent_us, uint64_t remaining_us)
{
    lease->lease_end_us = gh_lease_end(lease->lease_us, sent_us, remaining_us);
    gh_client_script(lease->op.client, gh_lease_row_of(lease)->renew)->used = true;
    lease_plan(lease, gh_lease_renewal(lease->op.client, lease->lease_us, lease->lease_end_us));
}

void gh_lease_keep(gh_lease* lease, uint64_t pause_us)
{
    lease_plan(lease, gh_client_after(lease->op.client, pause_us));
}

bool gh_lease_reply_grants(const gh_reply* reply)
{
    return gh_reply_integer(reply, GH_LEASE_ACQUIRE_CODE) == GH_LEASE_ACQUIRE_GRANTED &&
           gh_reply_integer(reply, GH_LEASE_ACQUIRE_FENCE) > 0;
}

/* ---- ASKING ------------------------------------------------------------------------------------------------------ */

static void asking_granted(gh_lease* lease, const gh_event* event)
{
    const gh_client* client = lease->op.client;
    const uint64_t remaining_us = (uint64_t)gh_reply_integer(event->reply, GH_LEASE_ACQUIRE_REMAINING_US);
    const uint64_t now_us = gh_client_now(client);
    lease->known = true;
    if (now_us < gh_lease_end(lease->lease_us, event->sent_us, remaining_us))
    {
        lease->end_us = lease->hold_us == 0 ? GH_FOREVER : gh_client_after(client, lease->hold_us);
        gh_op_unlisten(&lease->op);
        gh_lease_extend(lease, event->sent_us, remaining_us);
        gh_op_set_status(&lease->op, GH_HELD);
        gh_lease_row_of(lease)->held(lease, event->reply);
        return;
    }
    /* The grant came later than its lease, as far as we can know: it is not reported. Asking again tells what is left;
       where that was too little to be told, it is asked when it is over. */
    if (lease->ask_once || now_us >= lease->end_us) gh_lease_leave(lease, GH_TIMEOUT);
    else if (remaining_us > lease->lease_us || event->sent_us + remaining_us <= now_us) lease_ask(lease, true);
    else lease_wait(lease, event->sent_us + remaining_us - now_us + GH_WAITER_POLL_MIN_US);
}

static void asking_queued(gh_lease* lease, const gh_reply* reply)
{
    lease->known = true;
    lease_wait(lease, gh_waiter_pause(lease->op.client, (uint64_t)gh_reply_integer(reply, GH_LEASE_ACQUIRE_POSITION),
                                      (uint64_t)gh_reply_integer(reply, GH_LEASE_ACQUIRE_REMAINING_US)));
}

/* The op id had the lease, and that is over. It stays in use until no copy of it can come late. */
static void asking_ended(gh_lease* lease)
{
    if (lease->ask_once) lease_settle(lease, GH_TIMEOUT);
    else if (gh_lease_is_late(lease)) lease_wait(lease, lease->late_us - gh_lease_store_now(lease));
    else gh_lease_ask_anew(lease);
}

static void asking_reply(gh_lease* lease, const gh_event* event)
{
    const gh_reply* reply = event->reply;
    const uint64_t remaining_us = (uint64_t)gh_reply_integer(reply, GH_LEASE_ACQUIRE_REMAINING_US);
    lease->op.state = GH_LEASE_WAITING; /* answered: unless it says otherwise, nothing is on the wire */
    gh_lease_row_of(lease)->answered(lease, reply);
    switch ((gh_lease_acquire_code)gh_reply_integer(reply, GH_LEASE_ACQUIRE_CODE))
    {
    case GH_LEASE_ACQUIRE_GRANTED:
        if (!gh_lease_reply_grants(reply)) break;
        asking_granted(lease, event);
        return;
    case GH_LEASE_ACQUIRE_WAITING: asking_queued(lease, reply); return;
    case GH_LEASE_ACQUIRE_BUSY: lease_settle(lease, GH_BUSY); return;
    case GH_LEASE_ACQUIRE_FULL: lease_settle(lease, GH_FULL); return;
    case GH_LEASE_ACQUIRE_OVER_LIMIT: lease_settle(lease, GH_TOO_LARGE); return;
    case GH_LEASE_ACQUIRE_ENDED: asking_ended(lease); return;
    case GH_LEASE_ACQUIRE_QUARANTINE:
        if (lease->ask_once) lease_settle(lease, GH_BUSY);
        else lease_wait(lease, gh_waiter_quarantine_pause(remaining_us));
        return;
    case GH_LEASE_ACQUIRE_STALE: /* we know the store's time better now */
        lease_wait(lease, GH_WAITER_POLL_MIN_US);
        return;
    }
    gh_lease_finish(lease, gh_op_outcome(&lease->op, GH_REASON_UNUSABLE));
}

/* No answer will come. status is judged by the copies of the last request; the store is told if it may know of us. */
static void asking_failed(gh_lease* lease, gh_status status)
{
    if (gh_lease_is_late(lease)) status = GH_UNKNOWN;
    if (status == GH_UNKNOWN) lease->known = true;
    if (lease->known) gh_lease_leave(lease, status);
    else gh_lease_finish(lease, status);
}

static void asking_step(gh_lease* lease, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_REPLY: asking_reply(lease, event); break;
    case GH_EVENT_FAILED: asking_failed(lease, event->status); break;
    case GH_EVENT_TIMER: gh_lease_leave(lease, GH_TIMEOUT); break;
    case GH_EVENT_CANCEL: gh_lease_leave(lease, GH_CANCELLED); break;
    case GH_EVENT_CLOSE: lease_close(lease); break;
    case GH_EVENT_HINT:
    case GH_EVENT_RESET:
    case GH_EVENT_LAPSED:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
}

/* ---- WAITING ----------------------------------------------------------------------------------------------------- */

/* Our turn; or the turn of the one in front of us, to be looked after in case it has died. It may be a rumour, said
   again and again: what makes us look must not keep us from looking. */
static void waiting_hint(gh_lease* lease, char letter)
{
    const uint64_t due_us = lease->op.due_us;
    if (letter != GH_HINT_WATCH)
    {
        lease_ask(lease, true);
        return;
    }
    lease_wait(lease, GH_CLAIM_WINDOW_US + GH_WAITER_POLL_MIN_US);
    if (due_us < lease->op.due_us) gh_op_timer(&lease->op, due_us);
}

static void waiting_step(gh_lease* lease, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_HINT: waiting_hint(lease, event->hint); break;
    case GH_EVENT_RESET:
        lease->known = false;
        lease_ask(lease, true);
        break;
    case GH_EVENT_TIMER:
        if (gh_client_now(lease->op.client) >= lease->end_us) gh_lease_leave(lease, GH_TIMEOUT);
        else lease_ask(lease, false);
        break;
    case GH_EVENT_CANCEL: gh_lease_leave(lease, GH_CANCELLED); break;
    case GH_EVENT_CLOSE: lease_close(lease); break;
    case GH_EVENT_REPLY:
    case GH_EVENT_FAILED:
    case GH_EVENT_LAPSED:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
}

/* ---- HELD and RENEWING: nothing but the lease, the store's word and our own wish end them ------------------------ */

/* What is on its way may wait for its turn, or for a server that is gone: now it is said again. */
static void held_doubt(gh_lease* lease)
{
    const gh_lease_row* row = gh_lease_row_of(lease);
    if (lease->op.state == GH_LEASE_RENEWING) gh_op_send(&lease->op, GH_OP_URGENT);
    else row->begin_renewal(lease, true);
}

static void held_step(gh_lease* lease, const gh_event* event)
{
    const gh_lease_row* row = gh_lease_row_of(lease);
    switch (event->kind)
    {
    case GH_EVENT_REPLY: row->renewed(lease, event); break;
    case GH_EVENT_FAILED: row->not_renewed(lease); break; /* what is left of the lease is still ours */
    case GH_EVENT_TIMER:
        if (gh_client_now(lease->op.client) >= lease->end_us) gh_lease_leave(lease, GH_OK);
        else row->begin_renewal(lease, false);
        break;
    case GH_EVENT_DOUBT: held_doubt(lease); break;
    case GH_EVENT_LAPSED:
    case GH_EVENT_RESET: gh_lease_finish(lease, GH_LOST); break;
    case GH_EVENT_CANCEL: gh_lease_leave(lease, GH_CANCELLED); break;
    case GH_EVENT_CLOSE: gh_lease_finish(lease, GH_CANCELLED); break;
    case GH_EVENT_HINT:
    case GH_EVENT_CHILD: break;
    }
}

/* ---- LEAVING ----------------------------------------------------------------------------------------------------- */

/* The store may grant, or have granted, what we have told nobody of. */
static bool leaving_is_unsure(const gh_lease* lease)
{
    return lease->was_held ? gh_lease_is_late(lease) : lease->unanswered || lease->late_us != 0;
}

/* It was over before we gave it back. Not so if an earlier try may have given it back, unanswered: then the one who has
   it now may have got it from us. What nobody was told to hold, nobody has lost. */
static bool leaving_came_too_late(const gh_lease* lease, gh_lease_told told)
{
    return lease->was_told && !told.was_ours && !gh_op_sent_twice(&lease->op) && lease->outcome == GH_OK;
}

static void leaving_reply(gh_lease* lease, const gh_reply* reply)
{
    const gh_lease_row* row = gh_lease_row_of(lease);
    const gh_lease_told told = row->told(reply);
    GH_INVARIANT(lease->op.client, lease->op.state == GH_LEASE_LEAVING);
    if (leaving_came_too_late(lease, told)) lease->outcome = GH_LOST;
    lease->was_told = lease->was_held = lease->unanswered = false; /* whoever has it now has it from us */
    lease->late_us = 0;
    if (told.again) gh_op_send(&lease->op, GH_OP_URGENT);
    else gh_lease_finish(lease, (gh_status)lease->outcome);
}

/* The store could not be told, or will not listen. */
static void leaving_untold(gh_lease* lease)
{
    gh_lease_finish(lease, leaving_is_unsure(lease) ? GH_UNKNOWN : (gh_status)lease->outcome);
}

static void leaving_close(gh_lease* lease)
{
    gh_status status = lease->was_held ? gh_op_outcome(&lease->op, GH_REASON_CANCEL) : GH_CANCELLED;
    gh_lease_finish(lease, leaving_is_unsure(lease) ? GH_UNKNOWN : status);
}

static void leaving_step(gh_lease* lease, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_REPLY: leaving_reply(lease, event->reply); break;
    case GH_EVENT_FAILED:
    case GH_EVENT_TIMER: leaving_untold(lease); break;
    case GH_EVENT_RESET: /* a copy that comes late may come to the new data, too: then it must still be told */
        if (!leaving_is_unsure(lease)) gh_lease_finish(lease, (gh_status)lease->outcome);
        break;
    case GH_EVENT_CLOSE: leaving_close(lease); break;
    case GH_EVENT_CANCEL:
    case GH_EVENT_HINT:
    case GH_EVENT_LAPSED:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
}

void gh_lease_step(gh_op* op, const gh_event* event)
{
    gh_lease* lease = gh_lease_of(op);
    switch ((gh_lease_state)op->state)
    {
    case GH_LEASE_ASKING: asking_step(lease, event); break;
    case GH_LEASE_WAITING: waiting_step(lease, event); break;
    case GH_LEASE_HELD:
    case GH_LEASE_RENEWING: held_step(lease, event); break;
    case GH_LEASE_LEAVING: leaving_step(lease, event); break;
    case GH_LEASE_SYNCING:
    case GH_LEASE_RETURNING: break; /* of those in front of it */
    }
}

void gh_lease_synced_step(gh_op* op, const gh_event* event)
{
    op->client->config.replicas->lease_step(op, event);
}

/* ---- what the caller's functions call ---------------------------------------------------------------------------- */

static const gh_lease_row* row_of_wish(gh_lease* lease, const gh_client* client, const gh_lease_row* row,
                                       uint8_t replicas)
{
    lease->replicas = gh_replicas_wanted(client, replicas);
    return lease->replicas == 0 ? row : row->synced;
}

void gh_lease_begin(gh_lease* lease, gh_client* client, const gh_lease_row* row, gh_str name, gh_lease_wish wish)
{
    const bool ask_once = wish.wait_us == 0;
    gh_name_keep(&lease->name, name);
    lease->lease_us = wish.lease_us;
    lease->hold_us = wish.hold_us;
    lease->lease_end_us = lease->asked_us = lease->late_us = 0;
    lease->link = lease->node = 0;
    lease->outcome = GH_OK;
    lease->ask_once = ask_once;
    lease->known = lease->was_told = lease->was_held = lease->unanswered = false;
    GH_INVARIANT(client, row->size >= sizeof *lease && row->size <= GH_OP_SIZE_MAX);
    lease->end_us = gh_client_after(client, ask_once ? gh_client_request_timeout(client) : wish.wait_us);
    if (client->config.replicas != NULL) row = row_of_wish(lease, client, row, wish.replicas);
    gh_op_begin(&lease->op, client, &row->kind);
    lease_ask(lease, false);
}

void gh_lease_release(gh_lease* lease)
{
    if (gh_lease_is_busy(lease) && lease->op.state != GH_LEASE_LEAVING) gh_lease_leave(lease, GH_OK);
}

void gh_lease_detach(gh_op* op)
{
    gh_lease* lease = gh_lease_of(op);
    gh_lease_release(lease);
    if (!gh_lease_is_busy(lease) || gh_op_go_on_alone(op, gh_lease_row_of(lease)->size)) return;
    gh_op_close(op);
}

uint64_t gh_lease_remaining_us(const gh_lease* lease)
{
    uint64_t now_us;
    if (!gh_lease_is_busy(lease) || !gh_lease_is_held(lease)) return 0;
    now_us = gh_client_now(lease->op.client);
    return lease->lease_end_us > now_us ? lease->lease_end_us - now_us : 0;
}
