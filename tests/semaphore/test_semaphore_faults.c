/* Every fault of support/fault.h over every operation of semaphores. The store is audited by the layout of
   KEYS.md. */

#include "support/faults/fault.h"
#include "support/scene/permits.h"

#include <stdio.h>
#include <string.h>

#define LEASE_US (30 * SECOND_US)
#define LIMIT    2

static void begin_permit(fault_scene* scene, game* from, gh_permit* permit, uint32_t permits)
{
    gh_permit_config config = permit_config(permits, LEASE_US, 60 * SECOND_US);
    assert_status(gh_permit_begin(permit, ON_SEMAPHORE(from->client, fault_name(scene), LIMIT), &config), GH_OK);
}

static void hold_permit(fault_scene* scene, game* from, gh_permit* permit, uint32_t permits)
{
    begin_permit(scene, from, permit, permits);
    GAME_UNTIL(gh_op_poll(&permit->op) == GH_HELD);
}

/* Counted once in the store; and when we give it back, nothing is left. */
static void audit_permit_held(fault_scene* scene, gh_permit* permit, uint32_t permits)
{
    stored_semaphore now = semaphore_stored(scene->server, scene->name);
    assert_int_equal(now.used, permits);
    assert_int_equal(now.held, permits);
    assert_int_equal(now.turns, 0);
    assert_int_equal(now.fence, permit->fence);
    assert_status(permit_give_back(permit), GH_OK);
    assert_int_equal(semaphore_stored(scene->server, scene->name).used, 0);
    semaphore_must_be_sound(scene->server, scene->name);
}

/* Whatever became of ours, another gets all there are, after the claim window at the latest. */
static void audit_permit_free(fault_scene* scene)
{
    gh_permit* all = GAME_NEW(scene->other, gh_permit);
    hold_permit(scene, scene->other, all, LIMIT);
    assert_int_equal(semaphore_stored(scene->server, scene->name).held, LIMIT);
    assert_status(permit_give_back(all), GH_OK);
    semaphore_must_be_sound(scene->server, scene->name);
}

/* ---- taking -------------------------------------------------------------------------------------------- */

static void begin_permit_take(fault_scene* scene)
{
    begin_permit(scene, scene->game, scene->op, LIMIT);
}

static void audit_permit_take(fault_scene* scene, gh_status status)
{
    if (status == GH_HELD) audit_permit_held(scene, scene->op, LIMIT);
    else audit_permit_free(scene);
}

static const fault_operation permit_take = {
    "ptake", sizeof(gh_permit), 0, 1, NULL, begin_permit_take, fault_poll_op, NULL, fault_cancel_op, audit_permit_take};

/* ---- waiting ------------------------------------------------------------------------------------------- */

static void prepare_permit_wait(fault_scene* scene)
{
    hold_permit(scene, scene->other, scene->more, 1);
}

static bool permit_wait_is_over(fault_scene* scene)
{
    gh_permit* waiter = scene->op;
    gh_permit* owner = scene->more;
    if (waiter->position == 1 && gh_op_poll(&owner->op) == GH_HELD) gh_permit_release(owner);
    if (gh_op_poll(&owner->op) == GH_OK)
        scene->game->ahead_us += 5000; /* there are no hints here: it asks after 100 ms */
    game_tick(scene->other);
    return gh_op_poll(&waiter->op) != GH_PENDING;
}

static void audit_permit_wait(fault_scene* scene, gh_status status)
{
    gh_permit* owner = scene->more;
    if (status == GH_HELD)
    {
        assert_true(((gh_permit*)scene->op)->fence > owner->fence);
        audit_permit_held(scene, scene->op, LIMIT);
        return;
    }
    gh_permit_release(owner);
    GAME_UNTIL(gh_op_poll(&owner->op) != GH_PENDING);
    audit_permit_free(scene);
}

static const fault_operation permit_wait = {"pwait",
                                            sizeof(gh_permit),
                                            sizeof(gh_permit),
                                            11,
                                            prepare_permit_wait,
                                            begin_permit_take,
                                            fault_poll_op,
                                            permit_wait_is_over,
                                            fault_cancel_op,
                                            audit_permit_wait};

/* ---- giving back --------------------------------------------------------------------------------------- */

static void prepare_permit_release(fault_scene* scene)
{
    hold_permit(scene, scene->game, scene->op, LIMIT);
}

static void begin_permit_release(fault_scene* scene)
{
    gh_permit_release(scene->op);
}

static void audit_permit_release(fault_scene* scene, gh_status status)
{
    assert_true(status == GH_OK || status == GH_CANCELLED);
    assert_int_equal(semaphore_stored(scene->server, scene->name).used, 0);
    audit_permit_free(scene);
}

static const fault_operation permit_release = {
    "prelease",      sizeof(gh_permit),   0, 3, prepare_permit_release, begin_permit_release, fault_poll_op, NULL,
    fault_cancel_op, audit_permit_release};

/* ---- renewing several together ------------------------------------------------------------------------- */

typedef struct trio
{
    gh_permit permits[3];
    uint64_t lease_end_us[3];
} trio;

#define TRIO_LIMIT 3

static void prepare_permit_renew(fault_scene* scene)
{
    trio* three = scene->op;
    gh_permit_config config = permit_config(1, LEASE_US, 60 * SECOND_US);
    for (int i = 0; i < 3; i++)
    {
        assert_status(gh_permit_begin(&three->permits[i],
                                      ON_SEMAPHORE(scene->game->client, fault_name(scene), TRIO_LIMIT), &config),
                      GH_OK);
        GAME_UNTIL(gh_op_poll(&three->permits[i].op) == GH_HELD);
        three->lease_end_us[i] = three->permits[i].lease.lease_end_us;
    }
}

static void begin_permit_renew(fault_scene* scene)
{
    scene->game->ahead_us += (int64_t)(LEASE_US / 3 + SECOND_US); /* a third of the lease goes by in one frame */
}

static gh_status poll_trio(const void* op)
{
    const trio* three = op;
    for (int i = 0; i < 3; i++)
        if (gh_op_poll(&three->permits[i].op) != GH_HELD) return gh_op_poll(&three->permits[i].op);
    return GH_HELD;
}

static bool permit_renew_is_over(fault_scene* scene)
{
    trio* three = scene->op;
    bool all = true;
    for (int i = 0; i < 3; i++) all = all && three->permits[i].lease.lease_end_us != three->lease_end_us[i];
    return (all && poll_trio(three) == GH_HELD) || (poll_trio(three) != GH_HELD && poll_trio(three) != GH_PENDING);
}

static void audit_permit_renew(fault_scene* scene, gh_status status)
{
    trio* three = scene->op;
    assert_status(status, GH_HELD);
    assert_int_equal(semaphore_stored(scene->server, scene->name).held, 3);
    for (int i = 0; i < 3; i++) assert_status(permit_give_back(&three->permits[i]), GH_OK);
    assert_int_equal(semaphore_stored(scene->server, scene->name).used, 0);
}

static const fault_operation permit_renew = {
    "prenew", sizeof(trio),      0, 5, prepare_permit_renew, begin_permit_renew, poll_trio, permit_renew_is_over,
    NULL,     audit_permit_renew};

/* ---- leaving the queue --------------------------------------------------------------------------------- */

static void prepare_permit_leave(fault_scene* scene)
{
    gh_permit* waiter = scene->op;
    prepare_permit_wait(scene);
    begin_permit_take(scene);
    GAME_UNTIL(waiter->position == 1);
}

static void audit_permit_leave(fault_scene* scene, gh_status status)
{
    gh_permit* owner = scene->more;
    assert_status(status, GH_OK);
    assert_status(gh_op_poll(&owner->op), GH_HELD);
    assert_status(permit_give_back(owner), GH_OK);
    audit_permit_free(scene);
}

static const fault_operation permit_leave = {
    "pleave", sizeof(gh_permit), sizeof(gh_permit), 3, prepare_permit_leave, begin_permit_release, fault_poll_op, NULL,
    NULL,     audit_permit_leave};

/* ---- the limit ----------------------------------------------------------------------------------------- */

static void prepare_permit_limit(fault_scene* scene)
{
    hold_permit(scene, scene->other, scene->more, LIMIT);
}

static void begin_permit_limit(fault_scene* scene)
{
    assert_status(gh_semaphore_limit_begin(
                      scene->op, ON_SEMAPHORE_WITHIN(scene->game->client, fault_name(scene), 60 * SECOND_US), 7),
                  GH_OK);
}

static void audit_permit_limit(fault_scene* scene, gh_status status)
{
    stored_semaphore now = semaphore_stored(scene->server, scene->name);
    assert_true(now.limit == 7 || (now.limit == LIMIT && status == GH_CANCELLED));
    assert_int_equal(now.used, LIMIT);
    assert_status(permit_give_back(scene->more), GH_OK);
    semaphore_must_be_sound(scene->server, scene->name);
}

static const fault_operation permit_limit = {"plimit",
                                             sizeof(gh_semaphore_limit),
                                             sizeof(gh_permit),
                                             3,
                                             prepare_permit_limit,
                                             begin_permit_limit,
                                             fault_poll_op,
                                             NULL,
                                             fault_cancel_op,
                                             audit_permit_limit};

/* ---- the tests ----------------------------------------------------------------------------------------- */

FAULT_TESTS(permit_take)
FAULT_TESTS(permit_wait)
FAULT_TESTS(permit_release)
FAULT_TESTS(permit_renew)
FAULT_TESTS(permit_leave)
FAULT_TESTS(permit_limit)
FAULT_CANCEL_TEST(permit_take)
FAULT_CANCEL_TEST(permit_wait)
FAULT_CANCEL_TEST(permit_release)
FAULT_CANCEL_TEST(permit_limit)

TEST_FILE(semaphore_faults, FAULT_TEST_LIST(permit_take), FAULT_TEST_LIST(permit_wait), FAULT_TEST_LIST(permit_release),
          FAULT_TEST_LIST(permit_renew), FAULT_TEST_LIST(permit_leave), FAULT_TEST_LIST(permit_limit),
          FAULT_CANCEL_TEST_LIST(permit_take), FAULT_CANCEL_TEST_LIST(permit_wait),
          FAULT_CANCEL_TEST_LIST(permit_release), FAULT_CANCEL_TEST_LIST(permit_limit));
