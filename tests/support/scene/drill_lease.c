/* drill_lease.c -- the ops of locks and semaphores. */

#include "support/scene/drill.h"

#include "support/scene/permits.h"

#include "client/lease.h"

#include <stdio.h>

#define NAME    gh_str_literal(DRILL_NAME)
#define WAIT_US UINT64_C(10000) /* of those who wait for nothing that comes */

/* ---- locks --------------------------------------------------------------------------------------------- */

typedef struct lock_bag
{
    gh_lock lock;
    gh_lock waiter;
    gh_lock_look look;
    gh_command command;
    char reply[256];
} lock_bag;

static void begin_lock(gh_lock* lock, game* from, uint64_t wait_us)
{
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = DRILL_HOUR;
    config.wait_us = wait_us;
    assert_status(gh_lock_begin(lock, from->client, NAME, &config), GH_OK);
}

static gh_lock* hold_lock(game* from)
{
    gh_lock* lock = GAME_NEW(from, gh_lock);
    begin_lock(lock, from, 0);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    return lock;
}

static void prepare_free_lock(game* one, game* two)
{
    (void)two;
    gh_lock* lock = hold_lock(one);
    gh_lock_release(lock);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_OK);
}

static void prepare_no_lock(game* one, game* two)
{
    (void)one, (void)two;
}

static void prepare_held_lock(game* one, game* two)
{
    gh_lock* first = GAME_NEW(two, gh_lock);
    gh_lock* second = GAME_NEW(two, gh_lock);
    (void)hold_lock(one);
    begin_lock(first, two, DRILL_HOUR);
    GAME_UNTIL(first->position == 1);
    begin_lock(second, two, DRILL_HOUR);
    GAME_UNTIL(second->position == 2);
}

/* The turn of one that sleeps, and another one behind it. */
static void prepare_turn_of_lock(game* one, game* two)
{
    gh_lock* lock = hold_lock(one);
    gh_lock* first = GAME_NEW(two, gh_lock);
    gh_lock* second = GAME_NEW(two, gh_lock);
    begin_lock(first, two, DRILL_HOUR);
    GAME_UNTIL(first->position == 1);
    begin_lock(second, two, DRILL_HOUR);
    GAME_UNTIL(second->position == 2);
    two->asleep = true;
    gh_lock_release(lock);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_OK);
}

static void arm_lock(drill* self)
{
    lock_bag* bag = self->bag = DRILL_NEW(self, lock_bag);
    begin_lock(&bag->lock, self->game, 0);
    DRILL_UNTIL(self, gh_op_poll(&bag->lock.op) != GH_PENDING);
    assert_status(gh_op_poll(&bag->lock.op), GH_HELD);
}

static void arm_lock_and_waiter(drill* self)
{
    arm_lock(self);
    lock_bag* bag = self->bag;
    begin_lock(&bag->waiter, self->game, DRILL_HOUR);
    DRILL_UNTIL(self, bag->waiter.position == 1);
    assert_int_equal(bag->waiter.position, 1);
}

static gh_status end_lock(drill* self, gh_lock* lock)
{
    gh_status status = gh_op_poll(&lock->op);
    if (status == GH_PENDING) return status;
    gh_lock_release(lock);
    DRILL_UNTIL(self, gh_op_poll(&lock->op) != GH_PENDING);
    return gh_op_poll(&lock->op);
}

static gh_status take_lock_for(drill* self, uint64_t wait_us)
{
    gh_lock* lock = DRILL_NEW(self, gh_lock);
    begin_lock(lock, self->game, wait_us);
    DRILL_UNTIL(self, gh_op_poll(&lock->op) != GH_PENDING);
    gh_status status = gh_op_poll(&lock->op);
    if (status != GH_HELD) return status;
    gh_status released = end_lock(self, lock);
    return released;
}

static gh_status run_lock_try(drill* self)
{
    return take_lock_for(self, 0);
}

/* UNKNOWN if the answer came after the wait was over, as of a machine that stands still: with time, it says why. */
static gh_status run_lock_wait(drill* self)
{
    gh_status status = take_lock_for(self, WAIT_US);
    return status == GH_UNKNOWN ? take_lock_for(self, WAIT_US * 100) : status;
}

/* The caller's clock goes on by a third of the lease, and the tick renews. Where that fails, it may try again until the
   lease is over. */
static gh_status run_lock_renew(drill* self)
{
    lock_bag* bag = self->bag;
    uint64_t end_us = gh_lock_end_us(&bag->lock);
    drill_jump(self, DRILL_HOUR * 2 / 5);
    uint64_t patience_us = wait_now_us() + 30000 * suite_patience();
    DRILL_UNTIL(self, gh_op_poll(&bag->lock.op) != GH_HELD || gh_lock_end_us(&bag->lock) != end_us ||
                          wait_now_us() > patience_us);
    DRILL_UNTIL(self, bag->lock.lease.op.state != GH_LEASE_LEAVING); /* under another fence: it is given back */
    gh_status status = gh_op_poll(&bag->lock.op);
    gh_status released = end_lock(self, &bag->lock);
    return status == GH_HELD ? released : status;
}

static gh_status run_lock_release(drill* self)
{
    lock_bag* bag = self->bag;
    gh_status status = end_lock(self, &bag->lock);
    return status;
}

static gh_status run_lock_hand_over(drill* self)
{
    lock_bag* bag = self->bag;
    gh_status status = end_lock(self, &bag->lock);
    gh_op_cancel(&bag->waiter.op);
    DRILL_UNTIL(self, gh_op_poll(&bag->waiter.op) != GH_PENDING);
    if (gh_op_poll(&bag->waiter.op) == GH_PENDING) return GH_PENDING;
    if (gh_op_poll(&bag->waiter.op) == GH_HELD) (void)end_lock(self, &bag->waiter);
    return status;
}

static gh_status run_command_under_lock(drill* self, gh_repeat repeat)
{
    static const gh_str words[] = {GH_STR_INIT("SET"), GH_STR_INIT("{lock:" DRILL_NAME "}hoard"), GH_STR_INIT("1")};
    lock_bag* bag = self->bag;
    gh_command_config config = gh_command_config_default();
    config.repeat = repeat;
    config.fence = gh_lock_fence(&bag->lock);
    config.reply_memory = bag->reply;
    config.reply_size = sizeof(bag->reply);
    assert_status(gh_command_begin(&bag->command, self->game->client, words, 3, &config), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->command.op) != GH_PENDING);
    gh_status status = gh_op_poll(&bag->command.op);
    gh_status released = end_lock(self, &bag->lock);
    return released == GH_PENDING ? released : status;
}

static gh_status run_lock_look(drill* self)
{
    lock_bag* bag = DRILL_NEW(self, lock_bag);
    assert_status(gh_lock_look_begin(&bag->look, self->game->client, NAME, NULL), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->look.op) != GH_PENDING);
    return gh_op_poll(&bag->look.op);
}

static gh_status run_lock_fenced(drill* self)
{
    return run_command_under_lock(self, GH_REPEAT_NEVER);
}

static gh_status run_lock_fenced_once(drill* self)
{
    return run_command_under_lock(self, GH_REPEAT_ONCE);
}

static const drill_case lock_cases[] = {
    {"take", prepare_free_lock, NULL, run_lock_try, GH_OK, false, 0},
    {"take_new", prepare_no_lock, NULL, run_lock_try, GH_OK, false, 0},
    {"try", prepare_held_lock, NULL, run_lock_try, GH_BUSY, false, 0},
    {"wait", prepare_held_lock, NULL, run_lock_wait, GH_TIMEOUT, true, 0},
    {"wait_for_a_turn", prepare_turn_of_lock, NULL, run_lock_wait, GH_TIMEOUT, true, 0},
    {"renew", prepare_free_lock, arm_lock, run_lock_renew, GH_OK, false, 0},
    {"release", prepare_free_lock, arm_lock, run_lock_release, GH_OK, false, 0},
    {"hand_over", prepare_free_lock, arm_lock_and_waiter, run_lock_hand_over, GH_OK, false, 0},
    {"fenced", prepare_free_lock, arm_lock, run_lock_fenced, GH_OK, false, 0},
    {"look", prepare_held_lock, NULL, run_lock_look, GH_OK, false, 0},
    {"fenced_once", prepare_free_lock, arm_lock, run_lock_fenced_once, GH_OK, false, 0},
};

/* Whatever happened, it can be had when the leases are over, and no waiter is forgotten: more may be counted. */
static bool heal_lock(drill* self, char why[256])
{
    redis_server* server = self->server;
    gh_status status = take_lock_for(self, self->later ? SECOND_US : 20000);
    if (status != GH_OK && (status != GH_TIMEOUT || self->later))
        return snprintf(why, 256, "take: %s", gh_status_name(status)) < 0;
    const char* text = redis_server_text(server, "GET %s", drill_key("gh:{lock:<name>}:s"));
    unsigned waiters = 0;
    if (text == NULL) return true;
    if (sscanf(text, "%*s %*s %*s %*s %u", &waiters) != 1) return snprintf(why, 256, "state: %s", text) < 0;
    char copy[128];
    snprintf(copy, sizeof(copy), "%s", text);
    long long queued = redis_server_integer(server, "ZCARD %s", drill_key("gh:{lock:<name>}:q"));
    if (queued > (long long)waiters) return snprintf(why, 256, "%lld queue, state: %s", queued, copy) < 0;
    return true;
}

const drill_system drill_lock = {"lock",    "lock", lock_cases, sizeof(lock_cases) / sizeof(lock_cases[0]),
                                 heal_lock, true};

/* ---- semaphores ---------------------------------------------------------------------------------------- */

#define LIMIT 3

typedef struct permit_bag
{
    gh_permit permit;
    gh_permit waiter;
    gh_semaphore_limit limit;
    gh_semaphore_look look;
    gh_permit_holder holders[8];
} permit_bag;

static void begin_permit(gh_permit* permit, game* from, uint32_t permits, uint64_t wait_us)
{
    gh_permit_config config = permit_config(permits, DRILL_HOUR, wait_us);
    assert_status(gh_permit_begin(permit, ON_SEMAPHORE(from->client, NAME, LIMIT), &config), GH_OK);
}

static void prepare_no_permits(game* one, game* two)
{
    (void)one, (void)two;
}

/* One of three is held. */
static void prepare_permits(game* one, game* two)
{
    (void)semaphore_set_limit(two, DRILL_NAME, LIMIT);
    (void)permit_hold_one(one, DRILL_NAME, LIMIT, DRILL_HOUR);
    gh_permit* gone = permit_hold_one(two, DRILL_NAME, LIMIT, DRILL_HOUR);
    assert_status(permit_give_back(gone), GH_OK);
}

static void prepare_full_semaphore(game* one, game* two)
{
    gh_permit* waiter = GAME_NEW(two, gh_permit);
    prepare_permits(one, two);
    for (int i = 1; i < LIMIT; i++) (void)permit_hold_one(one, DRILL_NAME, LIMIT, DRILL_HOUR);
    begin_permit(waiter, two, 1, DRILL_HOUR);
    GAME_UNTIL(waiter->position == 1);
}

static void arm_permit(drill* self)
{
    permit_bag* bag = self->bag = DRILL_NEW(self, permit_bag);
    begin_permit(&bag->permit, self->game, 2, 0);
    DRILL_UNTIL(self, gh_op_poll(&bag->permit.op) != GH_PENDING);
    assert_status(gh_op_poll(&bag->permit.op), GH_HELD);
}

static void arm_permit_and_waiter(drill* self)
{
    arm_permit(self);
    permit_bag* bag = self->bag;
    begin_permit(&bag->waiter, self->game, 1, DRILL_HOUR);
    DRILL_UNTIL(self, bag->waiter.position == 1);
    assert_int_equal(bag->waiter.position, 1);
}

static gh_status end_permit(drill* self, gh_permit* permit)
{
    gh_status status = gh_op_poll(&permit->op);
    if (status == GH_PENDING) return status;
    gh_permit_release(permit);
    DRILL_UNTIL(self, gh_op_poll(&permit->op) != GH_PENDING);
    return gh_op_poll(&permit->op);
}

static gh_status take_permits_for(drill* self, uint32_t limit, uint32_t permits, uint64_t wait_us)
{
    gh_permit* permit = DRILL_NEW(self, gh_permit);
    gh_permit_config config = permit_config(permits, DRILL_HOUR, wait_us);
    assert_status(gh_permit_begin(permit, ON_SEMAPHORE(self->game->client, NAME, limit), &config), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&permit->op) != GH_PENDING);
    gh_status status = gh_op_poll(&permit->op);
    if (status != GH_HELD) return status;
    gh_status released = end_permit(self, permit);
    return released;
}

static gh_status take_permit_for(drill* self, uint64_t wait_us)
{
    return take_permits_for(self, LIMIT, 1, wait_us);
}

static gh_status run_permit_try(drill* self)
{
    return take_permit_for(self, 0);
}

static gh_status run_permit_wait(drill* self)
{
    gh_status status = take_permit_for(self, WAIT_US);
    return status == GH_UNKNOWN ? take_permit_for(self, WAIT_US * 100) : status;
}

static gh_status run_permit_renew(drill* self)
{
    permit_bag* bag = self->bag;
    uint64_t least_us = gh_permit_remaining_us(&bag->permit);
    drill_jump(self, DRILL_HOUR * 2 / 5);
    if (gh_op_poll(&bag->permit.op) == GH_HELD) least_us = gh_permit_remaining_us(&bag->permit);
    uint64_t patience_us = wait_now_us() + 30000 * suite_patience();
    DRILL_UNTIL(self, gh_op_poll(&bag->permit.op) != GH_HELD || gh_permit_remaining_us(&bag->permit) > least_us ||
                          wait_now_us() > patience_us);
    gh_status status = gh_op_poll(&bag->permit.op);
    gh_status released = end_permit(self, &bag->permit);
    return status == GH_HELD ? released : status;
}

static gh_status run_permit_release(drill* self)
{
    permit_bag* bag = self->bag;
    gh_status status = end_permit(self, &bag->permit);
    return status;
}

static gh_status run_permit_hand_over(drill* self)
{
    permit_bag* bag = self->bag;
    gh_status status = end_permit(self, &bag->permit);
    gh_op_cancel(&bag->waiter.op);
    DRILL_UNTIL(self, gh_op_poll(&bag->waiter.op) != GH_PENDING);
    if (gh_op_poll(&bag->waiter.op) == GH_PENDING) return GH_PENDING;
    if (gh_op_poll(&bag->waiter.op) == GH_HELD) (void)end_permit(self, &bag->waiter);
    return status;
}

static gh_status set_limit(drill* self, uint32_t limit)
{
    gh_semaphore_limit* op = DRILL_NEW(self, gh_semaphore_limit);
    assert_status(gh_semaphore_limit_begin(op, ON_SEMAPHORE(self->game->client, NAME, 0), limit), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&op->op) != GH_PENDING);
    return gh_op_poll(&op->op);
}

static gh_status run_limit_raise(drill* self)
{
    return set_limit(self, LIMIT + 2);
}

static gh_status run_limit_lower(drill* self)
{
    return set_limit(self, 1);
}

static gh_status run_semaphore_look(drill* self)
{
    permit_bag* bag = DRILL_NEW(self, permit_bag);
    assert_status(gh_semaphore_look_begin(&bag->look, ON_SEMAPHORE(self->game->client, NAME, 0), bag->holders, 8),
                  GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->look.op) != GH_PENDING);
    return gh_op_poll(&bag->look.op);
}

static const drill_case semaphore_cases[] = {
    {"take", prepare_permits, NULL, run_permit_try, GH_OK, false, 0},
    {"take_new", prepare_no_permits, NULL, run_permit_try, GH_OK, false, 0},
    {"try", prepare_full_semaphore, NULL, run_permit_try, GH_BUSY, false, 0},
    {"wait", prepare_full_semaphore, NULL, run_permit_wait, GH_TIMEOUT, true, 0},
    {"renew", prepare_permits, arm_permit, run_permit_renew, GH_OK, false, 0},
    {"release", prepare_permits, arm_permit, run_permit_release, GH_OK, false, 0},
    {"hand_over", prepare_permits, arm_permit_and_waiter, run_permit_hand_over, GH_OK, false, 0},
    {"raise_limit", prepare_full_semaphore, NULL, run_limit_raise, GH_OK, false, 0},
    {"lower_limit", prepare_permits, NULL, run_limit_lower, GH_OK, false, 0},
    {"look", prepare_full_semaphore, NULL, run_semaphore_look, GH_OK, false, 0},
};

static bool is_stored(drill* self)
{
    return redis_server_integer(self->server, "EXISTS %s", drill_key("gh:{semaphore:<name>}:s")) == 1;
}

/* At least what is held counts as used. When all leases are over, one can have them all, and then counts are exact. */
static bool heal_semaphore(drill* self, char why[256])
{
    uint32_t limit = is_stored(self) ? semaphore_stored(self->server, DRILL_NAME).limit : LIMIT;
    gh_status status = take_permits_for(self, limit, self->later ? limit : 1, self->later ? SECOND_US : 20000);
    if (status != GH_OK && (status != GH_TIMEOUT || self->later))
        return snprintf(why, 256, "take: %s", gh_status_name(status)) < 0;
    status = run_semaphore_look(self);
    if (status != GH_OK && status != GH_GONE) return snprintf(why, 256, "look: %s", gh_status_name(status)) < 0;
    if (!is_stored(self)) return true;
    stored_semaphore stored = semaphore_stored(self->server, DRILL_NAME);
    bool exact = stored.used == stored.held + stored.lapsed;
    if (stored.used < stored.held + stored.lapsed || stored.waiters < stored.queued || (self->later && !exact))
        return snprintf(why, 256, "used %u, held %u, lapsed %u, waiters %u, queue %u", stored.used, stored.held,
                        stored.lapsed, stored.waiters, stored.queued) < 0;
    if (self->later && stored.used > 0) return snprintf(why, 256, "%u are used for ever", stored.used) < 0;
    return true;
}

const drill_system drill_semaphore = {"semaphore",     "semaphore",
                                      semaphore_cases, sizeof(semaphore_cases) / sizeof(semaphore_cases[0]),
                                      heal_semaphore,  true};
