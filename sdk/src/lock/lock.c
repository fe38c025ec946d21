/* lock.c -- one switch over the states of the drawing in lock.h, and what the caller calls. */

#include "lock_states.h"
#include "client/waiter.h"
#include "wire/name.h"

#define SECOND_US 1000000ull

#define ACQUIRE_SHAPE "qiiiii"
#define RENEW_SHAPE   "qiiii"
#define RELEASE_SHAPE "qi"

/* What lock_acquire.lua answers. */
enum
{
    ACQUIRE_GRANTED = 0,
    ACQUIRE_WAITING,
    ACQUIRE_BUSY,
    ACQUIRE_ENDED,
    ACQUIRE_STALE,
    ACQUIRE_QUARANTINE,
    ACQUIRE_FULL
};

/* What lock_release.lua answers, where it matters. */
enum
{
    RELEASE_NOT_OWNER = 1,
    RELEASE_AGAIN = 3
};

/* GH_OP_MARK, in two states that never meet. */
#define LOCK_HINTED   GH_OP_MARK /* ASKING: a hint overtook the answer                  */
#define LOCK_WAS_HELD GH_OP_MARK /* LEAVING: it was ours                                */

static bool lock_is_held(const gh_lock* lock)
{
    return lock->op.state == GH_LOCK_HELD || lock->op.state == GH_LOCK_RENEWING;
}

/* ---- ways from state to state ------------------------------------------------------------------------------------ */

static void lock_end(gh_lock* lock, gh_status status)
{
    lock->op.state = 0;
    gh_op_end(&lock->op, status);
    if (lock->set != NULL) gh_lock_set_moved(lock->set);
}

/* The client closes while a request of ours may be under way. */
static void lock_close(gh_lock* lock)
{
    lock_end(lock, gh_op_maybe_done(&lock->op) ? GH_UNKNOWN : GH_CANCELLED);
}

/* Claims go before new work: somebody's turn is ticking away. */
static void lock_ask(gh_lock* lock, bool urgent)
{
    lock->op.state = GH_LOCK_ASKING;
    gh_op_listen(&lock->op); /* before it is sent: a hint may overtake the answer */
    gh_op_timer(&lock->op, lock->give_up_us);
    gh_op_send(&lock->op, ACQUIRE_SHAPE, urgent ? GH_OP_URGENT : 0);
}

static void lock_ask_anew(gh_lock* lock)
{
    gh_op_renumber(&lock->op);
    lock_ask(lock, false);
}

/* Tells the store that we want or have it no more. outcome is what poll says when that is done, or when it is not
   worth waiting for any longer. */
static void lock_leave(gh_lock* lock, gh_status outcome)
{
    bool was_held = lock_is_held(lock);
    bool known_to_store = lock->op.state != GH_LOCK_ASKING || gh_op_maybe_done(&lock->op) || lock->position > 0;
    lock->outcome = (int16_t)outcome;
    if (!known_to_store || (!was_held && !gh_client_ready(lock->op.client)))
    {
        lock_end(lock, outcome); /* a dead waiter is skipped, a lease ends */
        return;
    }
    lock->op.state = GH_LOCK_LEAVING;
    lock->op.flags &= (uint8_t)~LOCK_WAS_HELD;
    if (was_held) lock->op.flags |= LOCK_WAS_HELD;
    lock->give_up_us = was_held ? lock->lease_end_us : gh_client_after(lock->op.client, GH_WAITER_LEAVE_US);
    gh_op_unlisten(&lock->op);
    gh_op_lease(&lock->op, GH_FOREVER);
    gh_op_timer(&lock->op, lock->give_up_us);
    gh_op_send(&lock->op, RELEASE_SHAPE, GH_OP_URGENT);
    if (lock->set != NULL) gh_lock_set_moved(lock->set);
}

/* The next thing that HELD does by itself: renew, or end the hold. */
static void lock_plan(gh_lock* lock, uint64_t renew_us)
{
    gh_op_lease(&lock->op, lock->lease_end_us);
    gh_op_timer(&lock->op, renew_us < lock->hold_end_us ? renew_us : lock->hold_end_us);
}

static void lock_hold(gh_lock* lock, uint64_t fence)
{
    gh_client* client = lock->op.client;
    lock->op.state = GH_LOCK_HELD;
    lock->fence = fence;
    lock->position = 0;
    lock->hold_end_us = lock->hold_us == 0 ? GH_FOREVER : gh_client_after(client, lock->hold_us);
    gh_op_unlisten(&lock->op);
    lock_plan(lock, gh_lease_renewal(lock->op.client, lock->lease_us, lock->lease_end_us));
    if (lock->set != NULL) gh_lock_set_moved(lock->set);
}

static void lock_wait(gh_lock* lock, uint64_t pause_us)
{
    lock->op.state = GH_LOCK_WAITING;
    gh_waiter_sleep(&lock->op, pause_us, lock->give_up_us);
}

/* ---- events, state by state -------------------------------------------------------------------------------------- */

static void asking_granted(gh_lock* lock, const gh_event* event)
{
    gh_client* client = lock->op.client;
    lock->lease_end_us = gh_lease_end(lock->lease_us, event->sent_us, (uint64_t)gh_reply_integer(event->reply, 3));
    if (gh_client_now(client) < lock->lease_end_us)
    {
        lock_hold(lock, (uint64_t)gh_reply_integer(event->reply, 2));
        return;
    }
    /* The grant came later than its lease, as far as we can know: it is not reported.
       Asking again tells what is left. */
    lock->position = 1; /* the store knows us */
    if (lock->ask_once || gh_client_now(client) >= lock->give_up_us)
        lock_leave(lock, GH_TIMEOUT);
    else
        lock_ask(lock, true);
}

static void asking_reply(gh_lock* lock, const gh_event* event)
{
    const gh_reply* reply = event->reply;
    uint64_t remaining_us = (uint64_t)gh_reply_integer(reply, 3);
    bool hinted = (lock->op.flags & LOCK_HINTED) != 0;
    lock->op.flags &= (uint8_t)~LOCK_HINTED;
    gh_client_note_store_time(lock->op.client, (uint64_t)gh_reply_integer(reply, 5));
    lock->position = (uint32_t)gh_reply_integer(reply, 4);
    switch (gh_reply_integer(reply, 1))
    {
    case ACQUIRE_GRANTED: asking_granted(lock, event); return;
    case ACQUIRE_WAITING:
        if (hinted)
            lock_ask(lock, true);
        else
            lock_wait(lock, gh_waiter_pause(lock->op.client, lock->position, remaining_us));
        return;
    case ACQUIRE_BUSY: lock_end(lock, GH_BUSY); return;
    case ACQUIRE_FULL: lock_end(lock, GH_FULL); return;
    case ACQUIRE_ENDED:
        if (lock->ask_once)
            lock_end(lock, GH_TIMEOUT);
        else
            lock_ask_anew(lock);
        return;
    case ACQUIRE_QUARANTINE:
        if (lock->ask_once)
            lock_end(lock, GH_BUSY);
        else
            lock_wait(lock, gh_waiter_quarantine_pause(remaining_us));
        return;
    case ACQUIRE_STALE: lock_wait(lock, GH_WAITER_POLL_MIN_US); return; /* our idea of the store's time is better now */
    default: lock_end(lock, GH_CORRUPT); return;
    }
}

static void asking_step(gh_lock* lock, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_REPLY: asking_reply(lock, event); break;
    case GH_EVENT_FAILED: lock_end(lock, event->status); break;
    case GH_EVENT_HINT: /* it overtook the answer: ask again when that is here */
        if (event->hint == 0) lock->op.flags |= LOCK_HINTED;
        break;
    case GH_EVENT_TIMER:
        if (lock->ask_once)
            lock_end(lock, gh_op_maybe_done(&lock->op) ? GH_UNKNOWN : GH_TIMEOUT);
        else
            lock_leave(lock, GH_TIMEOUT);
        break;
    case GH_EVENT_CANCEL: lock_leave(lock, GH_CANCELLED); break;
    case GH_EVENT_CLOSE: lock_close(lock); break;
    case GH_EVENT_RESET:
    case GH_EVENT_LAPSED:
    case GH_EVENT_DOUBT: break;
    }
}

/* Our turn; or 'w': the turn of the one in front of us, to be looked after in case it has died. */
static void waiting_hint(gh_lock* lock, char letter)
{
    if (letter == 0)
    {
        lock_ask(lock, true);
        return;
    }
    lock->position = 1;
    lock_wait(lock, GH_CLAIM_WINDOW_US + GH_WAITER_POLL_MIN_US);
}

static void waiting_step(gh_lock* lock, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_HINT: waiting_hint(lock, event->hint); break;
    case GH_EVENT_RESET: lock_ask(lock, true); break;
    case GH_EVENT_TIMER:
        if (gh_client_now(lock->op.client) >= lock->give_up_us)
            lock_leave(lock, GH_TIMEOUT);
        else
            lock_ask(lock, false);
        break;
    case GH_EVENT_CANCEL: lock_leave(lock, GH_CANCELLED); break;
    case GH_EVENT_CLOSE: lock_end(lock, GH_CANCELLED); break;
    case GH_EVENT_REPLY:
    case GH_EVENT_FAILED:
    case GH_EVENT_LAPSED:
    case GH_EVENT_DOUBT: break;
    }
}

static void renewing_reply(gh_lock* lock, const gh_event* event)
{
    gh_client_note_store_time(lock->op.client, (uint64_t)gh_reply_integer(event->reply, 4));
    if (gh_reply_integer(event->reply, 1) != 0)
    {
        lock_end(lock, GH_LOST);
        return;
    }
    lock->op.state = GH_LOCK_HELD;
    lock->lease_end_us = gh_lease_end(lock->lease_us, event->sent_us, (uint64_t)gh_reply_integer(event->reply, 3));
    lock_plan(lock, gh_lease_renewal(lock->op.client, lock->lease_us, lock->lease_end_us));
}

/* HELD and RENEWING: nothing but the lease, the store's word and our own wish end them. */
static void held_step(gh_lock* lock, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_REPLY: renewing_reply(lock, event); break;
    case GH_EVENT_FAILED: /* the store will not renew; what is left of the lease is still ours */
        lock->op.state = GH_LOCK_HELD;
        lock_plan(lock, gh_client_after(lock->op.client, lock->lease_us / 10));
        break;
    case GH_EVENT_TIMER:
        if (gh_client_now(lock->op.client) >= lock->hold_end_us)
        {
            lock_leave(lock, GH_IDLE);
            break;
        }
        lock->op.state = GH_LOCK_RENEWING;
        gh_op_timer(&lock->op, lock->hold_end_us);
        gh_op_send(&lock->op, RENEW_SHAPE, GH_OP_URGENT);
        break;
    case GH_EVENT_LAPSED:
    case GH_EVENT_RESET: lock_end(lock, GH_LOST); break;
    case GH_EVENT_CANCEL: lock_leave(lock, GH_CANCELLED); break;
    case GH_EVENT_CLOSE: lock_end(lock, GH_CANCELLED); break;
    case GH_EVENT_HINT:
    case GH_EVENT_DOUBT: break;
    }
}

/* Somebody else had it before we gave it back. Not so if an earlier try may have given it back, unanswered: then the
   one who has it now may have got it from us. */
static bool release_came_too_late(const gh_lock* lock, const gh_reply* reply)
{
    const bool was_held = (lock->op.flags & LOCK_WAS_HELD) != 0;
    const bool may_be_second = (lock->op.flags & GH_OP_MAYBE) != 0;
    return was_held && !may_be_second && lock->outcome == GH_IDLE && gh_reply_integer(reply, 1) == RELEASE_NOT_OWNER;
}

static void leaving_step(gh_lock* lock, const gh_event* event)
{
    switch (event->kind)
    {
    case GH_EVENT_REPLY:
        if (gh_reply_integer(event->reply, 1) == RELEASE_AGAIN)
        {
            lock->op.flags &= (uint8_t)~LOCK_WAS_HELD; /* it is given back: whoever has it now has it from us */
            gh_op_send(&lock->op, RELEASE_SHAPE, GH_OP_URGENT);
        }
        else
            lock_end(lock, release_came_too_late(lock, event->reply) ? GH_LOST : (gh_status)lock->outcome);
        break;
    case GH_EVENT_FAILED:
    case GH_EVENT_TIMER:
    case GH_EVENT_RESET: lock_end(lock, (gh_status)lock->outcome); break;
    case GH_EVENT_CLOSE: lock_close(lock); break;
    case GH_EVENT_CANCEL:
    case GH_EVENT_HINT:
    case GH_EVENT_LAPSED:
    case GH_EVENT_DOUBT: break;
    }
}

static void lock_step(gh_op* op, const gh_event* event)
{
    gh_lock* lock = gh_lock_of(op);
    switch ((gh_lock_state)op->state)
    {
    case GH_LOCK_ASKING: asking_step(lock, event); break;
    case GH_LOCK_WAITING: waiting_step(lock, event); break;
    case GH_LOCK_HELD:
    case GH_LOCK_RENEWING: held_step(lock, event); break;
    case GH_LOCK_LEAVING: leaving_step(lock, event); break;
    }
}

static const gh_op_kind lock_kind = {"lock", lock_step, gh_lock_encode, gh_lock_script, GH_OP_CHANGES, NULL};

/* ---- what the caller calls --------------------------------------------------------------------------------------- */

gh_lock_config gh_lock_config_default(void)
{
    gh_lock_config config;
    memset(&config, 0, sizeof config);
    config.struct_size = sizeof config;
    config.lease_us = 10 * SECOND_US;
    config.wait_us = 5 * SECOND_US;
    return config;
}

gh_status gh_lock_check_config(const gh_lock_config* config)
{
    if (config->struct_size != sizeof *config) return GH_INVALID_CONFIG;
    if (config->lease_us < GH_LOCK_LEASE_MIN_US || config->lease_us > GH_LOCK_LEASE_MAX_US) return GH_INVALID_LEASE;
    if (config->wait_us > GH_LOCK_WAIT_MAX_US) return GH_INVALID_WAIT;
    return config->hold_us > GH_LOCK_WAIT_MAX_US ? GH_INVALID_HOLD : GH_OK;
}

void gh_lock_start(gh_lock* lock, gh_client* client, gh_str name, const gh_lock_config* config, gh_lock_set* set)
{
    lock->fence = 0;
    lock->position = 0;
    lock->set = set;
    lock->name = name;
    lock->lease_us = config->lease_us;
    lock->hold_us = config->hold_us;
    lock->ask_once = config->wait_us == 0;
    lock->outcome = GH_IDLE;
    lock->lease_end_us = 0;
    lock->give_up_us = gh_client_after(client, lock->ask_once ? gh_client_request_timeout(client) : config->wait_us);
    gh_op_begin(&lock->op, client, &lock_kind);
    lock_ask(lock, false);
}

gh_status gh_lock_begin(gh_lock* op, gh_client* client, gh_str name, const gh_lock_config* config)
{
    gh_lock_config defaults = gh_lock_config_default();
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    if (status != GH_OK) return status;
    if (!gh_name_is_valid(name)) return GH_INVALID_NAME;
    if (config == NULL) config = &defaults;
    status = gh_lock_check_config(config);
    if (status != GH_OK) return status;
    gh_lock_start(op, client, name, config, NULL);
    return GH_OK;
}

gh_status gh_lock_poll(const gh_lock* op)
{
    if (op == NULL) return GH_IDLE;
    return gh_op_is_busy(&op->op) && lock_is_held(op) ? GH_OK : gh_op_poll(&op->op);
}

void gh_lock_release(gh_lock* op)
{
    if (gh_lock_is_busy(op) && op->op.state != GH_LOCK_LEAVING) lock_leave(op, GH_IDLE);
}

void gh_lock_cancel(gh_lock* op)
{
    if (gh_lock_is_busy(op) && op->op.state != GH_LOCK_LEAVING) lock_leave(op, GH_CANCELLED);
}

uint64_t gh_lock_remaining_us(const gh_lock* op)
{
    if (!gh_lock_is_busy(op) || !lock_is_held(op) || op->lease_end_us <= gh_client_now(op->op.client)) return 0;
    return op->lease_end_us - gh_client_now(op->op.client);
}

uint64_t gh_lock_end_us(const gh_lock* op)
{
    return gh_lock_remaining_us(op) == 0 ? 0 : gh_client_callers_time(op->op.client, op->lease_end_us);
}

gh_fence gh_lock_fence(const gh_lock* op)
{
    gh_fence fence;
    memset(&fence, 0, sizeof fence);
    fence.name = gh_str_literal("-"); /* a condition that cannot hold, not one that is missing */
    if (!gh_lock_is_busy(op) || !lock_is_held(op)) return fence;
    fence.name = op->name;
    fence.fence = op->fence;
    return fence;
}

size_t gh_lock_tag(gh_str name, char* out, size_t capacity)
{
    const gh_str head = gh_str_literal("{lock:");
    size_t size = head.size + 1 + (gh_name_is_valid(name) ? gh_name_encoded_size(name) : 0);
    char* end;
    if (!gh_name_is_valid(name) || out == NULL || capacity < size) return 0;
    memcpy(out, head.bytes, head.size);
    end = gh_name_encode(name, out + head.size);
    *end = '}';
    return size;
}
