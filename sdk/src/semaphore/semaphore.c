/* semaphore.c -- permits: one state machine each, of which one carries the renewals of its group. */

#include "guildhall/semaphore.h"

#include "client/waiter.h"
#include "semaphore_refresh.h"
#include "wire/name.h"

#define SECOND_US        1000000ull
#define PERMIT_TEXT_SIZE 56u               /* "<token> <permits>" */
#define REFUSE_US        (600 * SECOND_US) /* longer than a dead link can hold back a request */

#define PERMIT_ACQUIRE_SHAPE "qiiiiii"
#define PERMIT_RELEASE_SHAPE "qii"
#define PERMIT_REFRESH_SHAPE "qis"

/* What semaphore_acquire.lua answers: as lock_acquire.lua, as far as it can be. */
enum
{
    PERMIT_GRANTED = 0,
    PERMIT_QUEUED = 1,
    PERMIT_BUSY = 2,
    PERMIT_ENDED = 3,
    PERMIT_STALE = 4,
    PERMIT_QUARANTINE = 5,
    PERMIT_FULL = 6,
    PERMIT_OVER = 7
};

typedef enum permit_state
{
    PERMIT_ASKING = 1,
    PERMIT_WAITING,
    PERMIT_HELD,
    PERMIT_RENEWING,
    PERMIT_LEAVING
} permit_state;

static gh_permit* permit_of(gh_op* op)
{
    return (gh_permit*)(void*)((char*)op - offsetof(gh_permit, op));
}

static bool permit_is_held(const gh_permit* permit)
{
    return permit->op.state == PERMIT_HELD || permit->op.state == PERMIT_RENEWING;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static gh_script* permit_script(gh_op* op)
{
    gh_script_id id = op->state == PERMIT_ASKING    ? GH_SCRIPT_semaphore_acquire
                      : op->state == PERMIT_LEAVING ? GH_SCRIPT_semaphore_release
                                                    : GH_SCRIPT_semaphore_refresh;
    return gh_client_script(op->client, id);
}

static void encode_permit_keys(gh_request* request, const gh_permit* permit, const char* parts)
{
    gh_request_object_keys(request, permit->op.client, gh_str_literal("semaphore"), permit->name, parts);
}

static void encode_permit_acquire(gh_permit* permit, gh_request* request)
{
    gh_client* client = permit->op.client;
    uint64_t not_after_us = gh_client_store_time(client, permit->give_up_us);
    gh_request_op_token(request, &permit->op);
    gh_request_number(request, permit->op.sequence);
    gh_request_number(request, permit->lease_us);
    gh_request_number(request, permit->ask_once ? 0 : gh_waiter_patience(client));
    gh_request_number(request, GH_CLAIM_WINDOW_US);
    gh_request_number(request, not_after_us == 0 ? 0 : not_after_us + gh_client_request_timeout(client));
    gh_request_number(request, gh_client_quarantine_end(client));
    gh_request_number(request, permit->permits);
    gh_request_number(request, permit->first_limit);
    if (request->full) return;
    permit->unsettled = permit->unsettled || permit->asked;
    permit->asked = true;
}

static void encode_permit_release(gh_permit* permit, gh_request* request)
{
    gh_request_op_token(request, &permit->op);
    gh_request_number(request, permit->op.sequence);
    gh_request_number(request, GH_CLAIM_WINDOW_US);
    gh_request_number(request, permit->permits);
    gh_request_number(request, permit->asked || permit->unsettled ? REFUSE_US : 0);
}

/* As it stands in the zsets. */
static void encode_permit_member(const gh_permit* permit, gh_request* request)
{
    char text[PERMIT_TEXT_SIZE];
    char* end = gh_hex_encode(gh_client_id(permit->op.client), text);
    *end++ = ':';
    end = gh_hex_encode(permit->op.sequence, end);
    *end++ = ' ';
    end = gh_decimal_encode(permit->permits, end);
    gh_request_str(request, gh_str_make(text, (size_t)(end - text)));
}

static void encode_permit_refresh(gh_permit* carrier, gh_request* request)
{
    gh_permit* member = gh_permit_batch_next(carrier, NULL);
    uint8_t place = 0;
    gh_request_script(request, permit_script(&carrier->op), 2, 2u + carrier->batch);
    encode_permit_keys(request, carrier, "sh");
    gh_request_number(request, carrier->op.sequence);
    gh_request_number(request, carrier->lease_us);
    for (; member != NULL; member = gh_permit_batch_next(carrier, member))
    {
        member->place = place++;
        encode_permit_member(member, request);
    }
}

static void permit_encode(gh_op* op, gh_request* request)
{
    gh_permit* permit = permit_of(op);
    switch ((permit_state)op->state)
    {
    case PERMIT_ASKING:
        gh_request_script(request, permit_script(op), 4, 9);
        encode_permit_keys(request, permit, "shqc");
        encode_permit_acquire(permit, request);
        break;
    case PERMIT_RENEWING: encode_permit_refresh(permit, request); break;
    case PERMIT_LEAVING:
        gh_request_script(request, permit_script(op), 4, 5);
        encode_permit_keys(request, permit, "shqc");
        encode_permit_release(permit, request);
        break;
    case PERMIT_WAITING:
    case PERMIT_HELD: request->full = true; break; /* nothing is asked in these */
    }
}

/* ---- ways from state to state -------------------------------------------------------------------------- */

static void permit_end(gh_permit* permit, gh_status status)
{
    gh_permit_group_leave(permit);
    permit->op.state = 0;
    gh_op_end(&permit->op, status);
}

/* The client closes while a request of ours may be under way. */
static void permit_close(gh_permit* permit)
{
    permit_end(permit, gh_op_maybe_done(&permit->op) ? GH_UNKNOWN : GH_CANCELLED);
}

/* Claims go before new work: somebody's turn is ticking away. */
static void permit_ask(gh_permit* permit, bool urgent)
{
    permit->op.state = PERMIT_ASKING;
    gh_op_listen(&permit->op); /* before it is sent: a hint may overtake the answer */
    gh_op_timer(&permit->op, permit->give_up_us);
    gh_op_send(&permit->op, PERMIT_ACQUIRE_SHAPE, urgent ? GH_OP_URGENT : 0);
}

/* The lease of a grant that we never heard of is over: from the end of the queue, as somebody new. */
static void permit_ask_anew(gh_permit* permit)
{
    gh_op_renumber(&permit->op);
    permit->asked = permit->unsettled = false;
    permit->position = 0;
    permit_ask(permit, false);
}

static void permit_wait(gh_permit* permit, uint64_t pause_us)
{
    permit->op.state = PERMIT_WAITING;
    gh_waiter_sleep(&permit->op, pause_us, permit->give_up_us);
}

/* Tells the store that we want or have them no more. outcome is what poll says when that is done, or when it
   is not worth waiting for any longer. */
static void permit_leave(gh_permit* permit, gh_status outcome)
{
    bool was_held = permit_is_held(permit);
    bool known_to_store = permit->op.state != PERMIT_ASKING || gh_op_maybe_done(&permit->op) ||
                          permit->position > 0 || permit->unsettled;
    permit->outcome = (int16_t)outcome;
    bool must_tell = was_held || gh_client_ready(permit->op.client) || gh_op_maybe_done(&permit->op);
    if (!known_to_store || !must_tell)
    {
        permit_end(permit, outcome); /* a dead waiter is skipped */
        return;
    }
    gh_permit_group_leave(permit);
    permit->op.state = PERMIT_LEAVING;
    permit->op.flags &= (uint8_t)~GH_OP_MARK;
    if (was_held) permit->op.flags |= GH_OP_MARK;
    permit->give_up_us =
        was_held ? permit->lease_end_us : gh_client_after(permit->op.client, GH_WAITER_LEAVE_US);
    gh_op_unlisten(&permit->op);
    gh_op_lease(&permit->op, GH_FOREVER);
    gh_op_timer(&permit->op, permit->give_up_us);
    gh_op_send(&permit->op, PERMIT_RELEASE_SHAPE, GH_OP_URGENT);
}

/* The next thing that HELD does by itself: renew, or end the hold. */
static void permit_plan(gh_permit* permit, uint64_t renew_us)
{
    permit->act_us = renew_us;
    gh_op_lease(&permit->op, permit->lease_end_us);
    gh_op_timer(&permit->op, renew_us < permit->hold_end_us ? renew_us : permit->hold_end_us);
}

static void permit_plan_renewal(gh_permit* permit)
{
    permit_plan(permit, gh_lease_renewal(permit->op.client, permit->lease_us, permit->lease_end_us));
}

static void permit_hold(gh_permit* permit, uint64_t fence)
{
    permit->op.state = PERMIT_HELD;
    permit->fence = fence;
    permit->position = 0;
    permit->hold_end_us =
        permit->hold_us == 0 ? GH_FOREVER : gh_client_after(permit->op.client, permit->hold_us);
    gh_op_unlisten(&permit->op);
    gh_permit_group_join(permit);
    permit_plan_renewal(permit);
}

/* ---- not ours yet -------------------------------------------------------------------------------------- */

static void permit_granted(gh_permit* permit, const gh_event* event)
{
    uint64_t now_us = gh_client_now(permit->op.client);
    permit->lease_end_us =
        gh_lease_end(permit->lease_us, event->sent_us, (uint64_t)gh_reply_integer(event->reply, 3));
    if (now_us < permit->lease_end_us)
    {
        permit_hold(permit, (uint64_t)gh_reply_integer(event->reply, 2));
        return;
    }
    /* The grant came later than its lease, as far as we can know: it is not reported. Asking again tells what
       is left. */
    permit->position = 1; /* the store knows us */
    if (permit->ask_once || now_us >= permit->give_up_us)
        permit_leave(permit, GH_TIMEOUT);
    else
        permit_ask(permit, true);
}

/* The store has said no; but another copy of the request may still be on its way there. */
static void permit_refused(gh_permit* permit, gh_status status)
{
    if (permit->unsettled)
        permit_leave(permit, status);
    else
        permit_end(permit, status);
}

static void permit_answered(gh_permit* permit, const gh_event* event)
{
    const gh_reply* reply = event->reply;
    uint64_t remaining_us = (uint64_t)gh_reply_integer(reply, 3);
    permit->asked = false;
    bool hinted = (permit->op.flags & GH_OP_MARK) != 0;
    permit->op.flags &= (uint8_t)~GH_OP_MARK;
    gh_client_note_store_time(permit->op.client, (uint64_t)gh_reply_integer(reply, 5));
    permit->position = (uint32_t)gh_reply_integer(reply, 4);
    permit->limit = (uint32_t)gh_reply_integer(reply, 6);
    switch (gh_reply_integer(reply, 1))
    {
    case PERMIT_GRANTED: permit_granted(permit, event); return;
    case PERMIT_QUEUED:
        if (hinted)
            permit_ask(permit, true);
        else
            permit_wait(permit, gh_waiter_pause(permit->op.client, permit->position, remaining_us));
        return;
    case PERMIT_BUSY: permit_refused(permit, GH_BUSY); return;
    case PERMIT_FULL: permit_refused(permit, GH_FULL); return;
    case PERMIT_ENDED:
        if (permit->ask_once)
            permit_end(permit, GH_TIMEOUT);
        else
            permit_ask_anew(permit);
        return;
    case PERMIT_OVER: permit_refused(permit, GH_OVER_LIMIT); return;
    case PERMIT_QUARANTINE:
        if (permit->ask_once)
            permit_refused(permit, GH_BUSY);
        else
            permit_wait(permit, gh_waiter_quarantine_pause(remaining_us));
        return;
    case PERMIT_STALE:
        permit_wait(permit, GH_WAITER_POLL_MIN_US);
        return; /* our idea of the store's time is better now */
    default: permit_end(permit, GH_CORRUPT); return;
    }
}

static void permit_asking_step(gh_permit* permit, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_REPLY: permit_answered(permit, event); break;
    case GH_EVENT_FAILED: permit_end(permit, event->status); break;
    case GH_EVENT_HINT: /* it overtook the answer: ask again when that is here */
        if (event->hint == 0) permit->op.flags |= GH_OP_MARK;
        break;
    case GH_EVENT_TIMER:
        if (permit->ask_once)
            permit_end(permit, gh_op_maybe_done(&permit->op) ? GH_UNKNOWN : GH_TIMEOUT);
        else
            permit_leave(permit, GH_TIMEOUT);
        break;
    case GH_EVENT_CANCEL: permit_leave(permit, GH_CANCELLED); break;
    case GH_EVENT_CLOSE: permit_close(permit); break;
    case GH_EVENT_RESET:
    case GH_EVENT_LAPSED:
    case GH_EVENT_DOUBT: break;
    }
}

static void permit_waiting_step(gh_permit* permit, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_HINT:
        if (event->hint == GH_HINT_WATCH)
            permit_wait(permit, GH_CLAIM_WINDOW_US + GH_WAITER_POLL_MIN_US);
        else
            permit_ask(permit, true);
        break;
    case GH_EVENT_RESET: permit_ask(permit, true); break;
    case GH_EVENT_TIMER:
        if (gh_client_now(permit->op.client) >= permit->give_up_us)
            permit_leave(permit, GH_TIMEOUT);
        else
            permit_ask(permit, false);
        break;
    case GH_EVENT_CANCEL: permit_leave(permit, GH_CANCELLED); break;
    case GH_EVENT_CLOSE: permit_end(permit, GH_CANCELLED); break;
    case GH_EVENT_REPLY:
    case GH_EVENT_FAILED:
    case GH_EVENT_LAPSED:
    case GH_EVENT_DOUBT: break;
    }
}

/* ---- ours ---------------------------------------------------------------------------------------------- */

static void permit_renew(gh_permit* permit)
{
    gh_permit* carrier;
    if (permit->carrier != NULL) /* it is being renewed */
    {
        gh_op_timer(&permit->op, permit->hold_end_us);
        return;
    }
    carrier = gh_permit_batch_choose(permit);
    carrier->op.state = PERMIT_RENEWING;
    gh_op_send(&carrier->op, PERMIT_REFRESH_SHAPE, GH_OP_URGENT);
}

/* The letter of each says whether it is still held. Those that are lost end, the carrier last, since it leads
   to the others. */
static void permit_renewed(gh_permit* carrier, const gh_event* event)
{
    gh_str letters = gh_reply_at(event->reply, 2)->text;
    gh_permit* member = carrier;
    bool carrier_is_lost = false;
    gh_client_note_store_time(carrier->op.client, (uint64_t)gh_reply_integer(event->reply, 1));
    carrier->op.state = PERMIT_HELD;
    while (member != NULL)
    {
        gh_permit* next = gh_permit_batch_next(carrier, member);
        bool is_held = member->place >= letters.size || letters.bytes[member->place] == '1';
        if (member != carrier) gh_permit_batch_drop(member);
        if (is_held)
        {
            if (member->place < letters.size)
                member->lease_end_us = gh_lease_end(member->lease_us, event->sent_us, member->lease_us);
            permit_plan_renewal(member);
        }
        else if (member == carrier)
            carrier_is_lost = true;
        else
            permit_end(member, GH_LOST);
        member = next;
    }
    gh_permit_batch_drop(carrier);
    if (carrier_is_lost) permit_end(carrier, GH_LOST);
}

/* The store will not renew; what is left of the leases is still ours. */
static void permit_not_renewed(gh_permit* carrier)
{
    gh_permit* member = carrier;
    carrier->op.state = PERMIT_HELD;
    while (member != NULL)
    {
        gh_permit* next = gh_permit_batch_next(carrier, member);
        if (member != carrier) gh_permit_batch_drop(member);
        permit_plan(member, gh_client_after(member->op.client, member->lease_us / 10));
        member = next;
    }
    gh_permit_batch_drop(carrier);
}

/* HELD and RENEWING: nothing but the lease, the store's word and our own wish end them. */
static void permit_held_step(gh_permit* permit, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_REPLY: permit_renewed(permit, event); break;
    case GH_EVENT_FAILED: permit_not_renewed(permit); break;
    case GH_EVENT_TIMER:
        if (gh_client_now(permit->op.client) >= permit->hold_end_us)
            permit_leave(permit, GH_IDLE);
        else
            permit_renew(permit);
        break;
    case GH_EVENT_LAPSED:
    case GH_EVENT_RESET: permit_end(permit, GH_LOST); break;
    case GH_EVENT_CANCEL: permit_leave(permit, GH_CANCELLED); break;
    case GH_EVENT_CLOSE: permit_end(permit, GH_CANCELLED); break;
    case GH_EVENT_HINT:
    case GH_EVENT_DOUBT: break;
    }
}

/* ---- leaving ------------------------------------------------------------------------------------------- */

/* It was over before we gave it back. Not so if an earlier try may have given it back, unanswered. */
static bool permit_came_too_late(const gh_permit* permit, const gh_reply* reply)
{
    const bool was_held = (permit->op.flags & GH_OP_MARK) != 0;
    const bool may_be_second = (permit->op.flags & GH_OP_MAYBE) != 0;
    return was_held && !may_be_second && permit->outcome == GH_IDLE && gh_reply_integer(reply, 1) != 0;
}

static void permit_released(gh_permit* permit, const gh_reply* reply)
{
    if (permit_came_too_late(permit, reply)) permit->outcome = GH_LOST;
    permit->op.flags &= (uint8_t)~GH_OP_MARK;
    if (gh_reply_integer(reply, 2) != 0) /* more waiters to serve than one call does */
        gh_op_send(&permit->op, PERMIT_RELEASE_SHAPE, GH_OP_URGENT);
    else
        permit_end(permit, (gh_status)permit->outcome);
}

static void permit_leaving_step(gh_permit* permit, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_REPLY: permit_released(permit, event->reply); break;
    case GH_EVENT_FAILED:
    case GH_EVENT_TIMER:
    case GH_EVENT_RESET: permit_end(permit, (gh_status)permit->outcome); break;
    case GH_EVENT_CLOSE: permit_close(permit); break;
    case GH_EVENT_CANCEL:
    case GH_EVENT_HINT:
    case GH_EVENT_LAPSED:
    case GH_EVENT_DOUBT: break;
    }
}

static void permit_step(gh_op* op, const gh_event* event)
{
    gh_permit* permit = permit_of(op);
    switch ((permit_state)op->state)
    {
    case PERMIT_ASKING: permit_asking_step(permit, event); break;
    case PERMIT_WAITING: permit_waiting_step(permit, event); break;
    case PERMIT_HELD:
    case PERMIT_RENEWING: permit_held_step(permit, event); break;
    case PERMIT_LEAVING: permit_leaving_step(permit, event); break;
    }
}

static const gh_op_kind permit_kind = {"semaphore", permit_step, permit_encode, permit_script, GH_OP_CHANGES, NULL};

/* ---- what the caller calls ----------------------------------------------------------------------------- */

gh_permit_config gh_permit_config_default(void)
{
    gh_permit_config config;
    memset(&config, 0, sizeof config);
    config.struct_size = sizeof config;
    config.permits = 1;
    config.lease_us = 10 * SECOND_US;
    config.wait_us = 5 * SECOND_US;
    return config;
}

static gh_status permit_check(const gh_permit_config* config)
{
    if (config == NULL || config->struct_size != sizeof *config) return GH_INVALID_CONFIG;
    if (config->limit == 0 || config->limit > GH_SEMAPHORE_LIMIT_MAX) return GH_INVALID_LIMIT;
    if (config->permits == 0 || config->permits > config->limit) return GH_INVALID_PERMITS;
    if (config->lease_us < GH_SEMAPHORE_LEASE_MIN_US || config->lease_us > GH_SEMAPHORE_LEASE_MAX_US)
        return GH_INVALID_LEASE;
    if (config->wait_us > GH_SEMAPHORE_WAIT_MAX_US) return GH_INVALID_WAIT;
    return config->hold_us > GH_SEMAPHORE_WAIT_MAX_US ? GH_INVALID_HOLD : GH_OK;
}

gh_status gh_permit_begin(gh_permit* op, gh_client* client, gh_str name, const gh_permit_config* config)
{
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    void* user;
    if (status != GH_OK) return status;
    if (!gh_name_is_valid(name)) return GH_INVALID_NAME;
    status = permit_check(config);
    if (status != GH_OK) return status;
    user = op->user;
    memset(op, 0, sizeof *op);
    op->user = user;
    op->name = name;
    op->lease_us = config->lease_us;
    op->hold_us = config->hold_us;
    op->permits = config->permits;
    op->first_limit = config->limit;
    op->ask_once = config->wait_us == 0;
    op->outcome = GH_IDLE;
    op->give_up_us =
        gh_client_after(client, op->ask_once ? gh_client_request_timeout(client) : config->wait_us);
    gh_op_begin(&op->op, client, &permit_kind);
    permit_ask(op, false);
    return GH_OK;
}

gh_status gh_permit_poll(const gh_permit* op)
{
    if (op == NULL) return GH_IDLE;
    return gh_op_is_busy(&op->op) && permit_is_held(op) ? GH_OK : gh_op_poll(&op->op);
}

static bool permit_is_busy(const gh_permit* permit)
{
    return permit != NULL && permit->op.kind != NULL && gh_op_is_busy(&permit->op);
}

void gh_permit_release(gh_permit* op)
{
    if (permit_is_busy(op) && op->op.state != PERMIT_LEAVING) permit_leave(op, GH_IDLE);
}

void gh_permit_cancel(gh_permit* op)
{
    if (permit_is_busy(op) && op->op.state != PERMIT_LEAVING) permit_leave(op, GH_CANCELLED);
}

uint64_t gh_permit_remaining_us(const gh_permit* op)
{
    if (!permit_is_busy(op) || !permit_is_held(op) || op->lease_end_us <= gh_client_now(op->op.client))
        return 0;
    return op->lease_end_us - gh_client_now(op->op.client);
}
