/* Every fault of support/fault.h over every operation of the lock. The store is audited by the layout of KEYS.md. */

#include "support/faults/fault.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LEASE_US (30 * SECOND_US)

/* "<token> <fence> <expiry> <state> <waiters>" */
typedef struct stored_lock
{
    bool exists;
    uint64_t client;
    uint64_t fence;
    uint64_t expiry_us;
    char state;
    unsigned waiters;
} stored_lock;

static stored_lock stored(fault_scene* scene)
{
    stored_lock lock;
    memset(&lock, 0, sizeof(lock));
    const char* text = redis_server_text(scene->server, "GET gh:{lock:%s}:s", scene->name);
    if (text == NULL) return lock;
    lock.exists = true;
    if (text[0] == '-')
        assert_int_equal(
            sscanf(text, "- %" SCNu64 " %" SCNu64 " %c %u", &lock.fence, &lock.expiry_us, &lock.state, &lock.waiters),
            4);
    else
        assert_int_equal(sscanf(text, "%16" SCNx64 ":%*16[0-9a-f] %" SCNu64 " %" SCNu64 " %c %u", &lock.client,
                                &lock.fence, &lock.expiry_us, &lock.state, &lock.waiters),
                         5);
    return lock;
}

static void begin_lock(fault_scene* scene, game* from, gh_lock* lock)
{
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = LEASE_US;
    config.wait_us = 60 * SECOND_US;
    assert_status(gh_lock_begin(lock, from->client, fault_name(scene), &config), GH_OK);
}

static void hold_lock(fault_scene* scene, game* from, gh_lock* lock)
{
    begin_lock(scene, from, lock);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
}

/* Ours, in the store too; and when we give it back, it is free. */
static void audit_held(fault_scene* scene, gh_lock* lock)
{
    stored_lock now = stored(scene);
    assert_true(now.exists);
    assert_int_equal(now.state, 'h');
    assert_int_equal(now.client, gh_client_id(scene->game->client));
    assert_int_equal(now.fence, lock->fence);
    assert_int_equal(now.waiters, redis_server_integer(scene->server, "ZCARD gh:{lock:%s}:q", scene->name));
    gh_lock_release(lock);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_OK);
    assert_int_equal(stored(scene).state, 'f');
}

/* Whatever became of ours, others get it: at once if it is free, after the claim window if we left a place behind. */
static void audit_free(fault_scene* scene)
{
    gh_lock* next = GAME_NEW(scene->other, gh_lock);
    hold_lock(scene, scene->other, next);
    assert_true(next->fence > ((gh_lock*)scene->op)->fence);
    gh_lock_release(next);
    GAME_UNTIL(gh_op_poll(&next->op) != GH_PENDING);
    assert_status(gh_op_poll(&next->op), GH_OK);
}

/* ---- taking a free one ---------------------------------------------------------------------------------------- */

static void begin_take(fault_scene* scene)
{
    begin_lock(scene, scene->game, scene->op);
}

static void audit_take(fault_scene* scene, gh_status status)
{
    if (status == GH_HELD) audit_held(scene, scene->op);
    else audit_free(scene);
}

static const fault_operation take = {"take", sizeof(gh_lock), 0,         0, NULL, begin_take, fault_poll_op,
                                     NULL,   fault_cancel_op, audit_take};

/* ---- waiting for one that another gives back ------------------------------------------------------------------- */

static void prepare_wait(fault_scene* scene)
{
    hold_lock(scene, scene->other, scene->more);
}

/* The owner lets go as soon as the store knows that we wait. */
static bool wait_is_over(fault_scene* scene)
{
    gh_lock* waiter = scene->op;
    gh_lock* owner = scene->more;
    if (waiter->position == 1 && gh_op_poll(&owner->op) == GH_HELD) gh_lock_release(owner);
    game_tick(scene->other);
    return gh_op_poll(&waiter->op) != GH_PENDING;
}

static void audit_wait(fault_scene* scene, gh_status status)
{
    gh_lock* owner = scene->more;
    if (status == GH_HELD)
    {
        assert_true(((gh_lock*)scene->op)->fence > owner->fence);
        audit_held(scene, scene->op);
    }
    else
    {
        gh_lock_release(owner);
        GAME_UNTIL(gh_op_poll(&owner->op) != GH_PENDING);
        audit_free(scene);
    }
}

static const fault_operation wait_for = {"wait",          sizeof(gh_lock), sizeof(gh_lock), 23,
                                         prepare_wait,    begin_take,      fault_poll_op,   wait_is_over,
                                         fault_cancel_op, audit_wait};

/* ---- giving back ----------------------------------------------------------------------------------------------- */

static void prepare_release(fault_scene* scene)
{
    hold_lock(scene, scene->game, scene->op);
}

static void begin_release(fault_scene* scene)
{
    gh_lock_release(scene->op);
}

static void audit_release(fault_scene* scene, gh_status status)
{
    assert_true(status == GH_OK || status == GH_CANCELLED);
    assert_int_equal(stored(scene).state, 'f');
    audit_free(scene);
}

static const fault_operation release = {
    "release",       sizeof(gh_lock), 0, 0, prepare_release, begin_release, fault_poll_op, NULL,
    fault_cancel_op, audit_release};

/* ---- renewing -------------------------------------------------------------------------------------------------- */

typedef struct renewal
{
    uint64_t expiry_us;    /* in the store */
    uint64_t lease_end_us; /* by our clock */
    uint64_t fence;
} renewal;

static void prepare_renew(fault_scene* scene)
{
    renewal* before = scene->more;
    gh_lock* lock = scene->op;
    hold_lock(scene, scene->game, lock);
    before->expiry_us = stored(scene).expiry_us;
    before->lease_end_us = lock->lease.lease_end_us;
    before->fence = lock->fence;
}

static void begin_renew(fault_scene* scene)
{
    scene->game->ahead_us += (int64_t)(LEASE_US / 3 + SECOND_US); /* a third of the lease goes by in one frame */
}

static bool renew_is_over(fault_scene* scene)
{
    gh_lock* lock = scene->op;
    renewal* before = scene->more;
    if (gh_op_poll(&lock->op) == GH_HELD) return lock->lease.lease_end_us != before->lease_end_us;
    return gh_op_poll(&lock->op) != GH_PENDING;
}

static void audit_renew(fault_scene* scene, gh_status status)
{
    renewal* before = scene->more;
    gh_lock* lock = scene->op;
    if (status == GH_CANCELLED)
    {
        audit_free(scene);
        return;
    }
    assert_status(status, GH_HELD);
    assert_int_equal(lock->fence, before->fence);
    assert_true(stored(scene).expiry_us > before->expiry_us);
    audit_held(scene, lock);
}

static const fault_operation renew = {"renew",         sizeof(gh_lock), sizeof(renewal), 0,
                                      prepare_renew,   begin_renew,     fault_poll_op,   renew_is_over,
                                      fault_cancel_op, audit_renew};

/* ---- leaving the queue ------------------------------------------------------------------------------------------ */

static void prepare_leave(fault_scene* scene)
{
    gh_lock* waiter = scene->op;
    prepare_wait(scene);
    begin_take(scene);
    GAME_UNTIL(waiter->position == 1);
}

static void audit_leave(fault_scene* scene, gh_status status)
{
    gh_lock* owner = scene->more;
    assert_status(status, GH_OK);
    assert_status(gh_op_poll(&owner->op), GH_HELD);
    gh_lock_release(owner);
    GAME_UNTIL(gh_op_poll(&owner->op) != GH_PENDING);
    assert_status(gh_op_poll(&owner->op), GH_OK);
    audit_free(scene);
}

static const fault_operation leave = {
    "leave", sizeof(gh_lock), sizeof(gh_lock), 0, prepare_leave, begin_release, fault_poll_op, NULL, NULL, audit_leave};

/* ---- several at once -------------------------------------------------------------------------------------------- */

typedef struct pair
{
    gh_lock_set set;
    gh_lock locks[2];
    char names[2][40];
} pair;

static void begin_pair(fault_scene* scene)
{
    pair* both = scene->op;
    gh_str names[2];
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = LEASE_US;
    config.wait_us = 60 * SECOND_US;
    for (int i = 0; i < 2; i++)
    {
        snprintf(both->names[i], sizeof(both->names[i]), "%s-%c", scene->name, "ba"[i]);
        names[i] = gh_str_of(both->names[i]);
    }
    assert_status(gh_lock_set_begin(&both->set, scene->game->client, both->locks, names, 2, &config), GH_OK);
}

static gh_status poll_pair(const void* op)
{
    return gh_op_poll(&((const pair*)op)->set.op);
}

static void cancel_pair(void* op)
{
    gh_op_cancel(&((pair*)op)->set.op);
}

static void assert_pair_state(fault_scene* scene, char state)
{
    pair* both = scene->op;
    for (int i = 0; i < 2; i++)
    {
        const char* text = redis_server_text(scene->server, "GET gh:{lock:%s}:s", both->names[i]);
        if (text == NULL && state == 'f') continue;
        assert_non_null(text);
        char now;
        assert_int_equal(sscanf(text, "%*s %*s %*s %c ", &now), 1);
        assert_int_equal(now, state);
    }
}

static void audit_pair(fault_scene* scene, gh_status status)
{
    pair* both = scene->op;
    if (status == GH_HELD)
    {
        assert_pair_state(scene, 'h');
        gh_lock_set_release(&both->set);
        GAME_UNTIL(gh_op_poll(&both->set.op) != GH_PENDING);
        assert_status(gh_op_poll(&both->set.op), GH_OK);
    }
    assert_pair_state(scene, 'f');
}

static const fault_operation take_pair = {"pair",     sizeof(pair), 0,    3,           NULL,
                                          begin_pair, poll_pair,    NULL, cancel_pair, audit_pair};

/* ---- the tests -------------------------------------------------------------------------------------------------- */

FAULT_TESTS(take)
FAULT_TESTS(wait_for)
FAULT_TESTS(release)
FAULT_TESTS(renew)
FAULT_TESTS(leave)
FAULT_TESTS(take_pair)
FAULT_CANCEL_TEST(take)
FAULT_CANCEL_TEST(wait_for)
FAULT_CANCEL_TEST(release)
FAULT_CANCEL_TEST(renew)
FAULT_CANCEL_TEST(take_pair)

TEST_FILE(lock_faults, FAULT_TEST_LIST(take), FAULT_TEST_LIST(wait_for), FAULT_TEST_LIST(release),
          FAULT_TEST_LIST(renew), FAULT_TEST_LIST(leave), FAULT_TEST_LIST(take_pair), FAULT_CANCEL_TEST_LIST(take),
          FAULT_CANCEL_TEST_LIST(wait_for), FAULT_CANCEL_TEST_LIST(release), FAULT_CANCEL_TEST_LIST(renew),
          FAULT_CANCEL_TEST_LIST(take_pair));
