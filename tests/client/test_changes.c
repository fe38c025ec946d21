/* What happened: every op with a tag whose status has changed comes out of gh_client_next once, in order. */

#include "support/random.h"
#include "support/scene/game.h"
#include "support/server/scripted.h"

#include <string.h>

#define MS  UINT64_C(1000)
#define OPS 12

static gh_lock* want(scripted* world, const char* name, uint32_t tag)
{
    gh_lock* lock = scripted_want(world, name, SECOND_US, 0);
    lock->op.tag = tag;
    return lock;
}

static void ticks(scripted* world, unsigned count)
{
    for (unsigned i = 0; i < count; i++) scripted_tick(world, MS);
}

static void changes_come_once_and_oldest_first(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_lock* first = want(world, "a", 7);
    ticks(world, 3);
    gh_lock* second = want(world, "b", 8);
    ticks(world, 3);
    assert_ptr_equal(gh_client_next(world->client), &first->op);
    assert_int_equal(first->op.tag, 7);
    assert_status(first->op.status, GH_HELD);
    assert_ptr_equal(gh_client_next(world->client), &second->op);
    assert_null(gh_client_next(world->client));
    ticks(world, 3);
    assert_null(gh_client_next(world->client));
}

static void op_without_a_tag_is_left_out(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_lock* lock = want(world, "a", 0);
    ticks(world, 3);
    assert_status(lock->op.status, GH_HELD);
    assert_null(gh_client_next(world->client));
}

static void op_that_changed_twice_comes_with_its_last_status(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_lock* lock = want(world, "a", 1);
    ticks(world, 3);
    world->silent = true;
    ticks(world, 2000); /* its lease is over */
    assert_ptr_equal(gh_client_next(world->client), &lock->op);
    assert_status(lock->op.status, GH_LOST);
    assert_null(gh_client_next(world->client));
}

/* Who has counted on it must hear at once that it is not so any more, not when the store knows. */
static void hold_that_is_over_comes_before_its_end(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_lock_config config = gh_lock_config_default();
    gh_lock lock = {.op.tag = 1};
    config.hold_us = 10 * MS;
    assert_status(gh_lock_begin(&lock, world->client, gh_str_literal("a"), &config), GH_OK);
    ticks(world, 3);
    assert_ptr_equal(gh_client_next(world->client), &lock.op);
    assert_status(lock.op.status, GH_HELD);
    world->silent = true;
    ticks(world, 20);
    assert_ptr_equal(gh_client_next(world->client), &lock.op);
    assert_status(lock.op.status, GH_PENDING);
    assert_null(gh_client_next(world->client));
    gh_client_shutdown(world->client);
    world->client = NULL;
}

static void what_fails_between_ticks_comes_after_the_next(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start(world, NULL); /* nothing is connected: a cancel ends it inside the call */
    gh_lock* lock = want(world, "a", 1);
    for (int i = 0; i < 5; i++)
    {
        gh_op_cancel(&lock->op);
        assert_status(lock->op.status, GH_CANCELLED);
        assert_null(gh_client_next(world->client));
        ticks(world, 1);
        assert_ptr_equal(gh_client_next(world->client), &lock->op);
        assert_status(gh_lock_begin(lock, world->client, gh_str_literal("a"), NULL), GH_OK);
        assert_null(gh_client_next(world->client));
    }
    assert_int_equal(lock->op.tag, 1);
}

static void begin_takes_it_off(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start(world, NULL);
    gh_lock* lock = want(world, "a", 1);
    gh_op_cancel(&lock->op);
    ticks(world, 1);
    assert_status(gh_lock_begin(lock, world->client, gh_str_literal("a"), NULL), GH_OK);
    assert_null(gh_client_next(world->client));
}

static void begin_that_is_refused_comes_as_an_end(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start(world, NULL);
    gh_lock* lock = want(world, "a", 1);
    gh_op_cancel(&lock->op);
    ticks(world, 1);
    assert_status(gh_lock_begin(lock, world->client, gh_str_literal(""), NULL), GH_INVALID_NAME);
    assert_status(gh_op_poll(&lock->op), GH_INVALID_NAME);
    assert_null(gh_client_next(world->client)); /* not its end of before, and this one with the next tick */
    ticks(world, 1);
    assert_ptr_equal(gh_client_next(world->client), &lock->op);
    assert_status(lock->op.status, GH_INVALID_NAME);
    assert_int_equal(lock->op.tag, 1);
    assert_null(gh_client_next(world->client));
}

static void begin_of_a_busy_op_leaves_it_alone(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_lock* lock = want(world, "a", 1);
    assert_status(gh_lock_begin(lock, NULL, gh_str_literal("b"), NULL), GH_INVALID_CLIENT);
    assert_status(gh_lock_begin(lock, world->client, gh_str_literal("b"), NULL), GH_INVALID_OP);
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    ticks(world, 3);
    assert_ptr_equal(gh_client_next(world->client), &lock->op);
    assert_status(lock->op.status, GH_HELD);
    assert_null(gh_client_next(world->client));
}

static void begin_without_a_client_is_told_to_the_op_alone(void** state)
{
    (void)state;
    gh_lock lock = {.op.tag = 1};
    assert_status(gh_lock_begin(&lock, NULL, gh_str_literal("a"), NULL), GH_INVALID_CLIENT);
    assert_status(gh_op_poll(&lock.op), GH_INVALID_CLIENT);
    assert_int_equal(lock.op.tag, 1);
}

static void nothing_comes_after_a_shutdown(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start(world, NULL);
    gh_lock* seen = want(world, "a", 1);
    gh_lock* unseen = want(world, "b", 2);
    gh_op_cancel(&seen->op);
    ticks(world, 1);
    gh_client_shutdown(world->client);
    assert_status(unseen->op.status, GH_CANCELLED);
    assert_null(gh_client_next(world->client));
    assert_null(gh_client_next(NULL));
    memset(seen, 0xa5, sizeof(*seen)); /* nothing leads from one to the other any more */
    gh_op_cancel(&unseen->op);
}

/* Ops that are begun, cancelled and looked at in any order: each change is seen, and none that was not. */
static void random_changes_are_all_seen(void** state)
{
    (void)state;
    random_stream random = random_from_seed(suite_seed());
    scripted* world = scripted_new();
    gh_lock* locks[OPS];
    bool changed[OPS] = {false};
    bool ticked[OPS] = {false};
    world->open_status = GH_REFUSED; /* nothing but a cancel ends them */
    scripted_start(world, NULL);
    for (uint32_t i = 0; i < OPS; i++) locks[i] = want(world, "a", i + 1);
    for (int round = 0; round < 5000; round++)
    {
        uint32_t i = (uint32_t)random_below(&random, OPS);
        switch (random_below(&random, 3))
        {
        case 0:
            changed[i] = changed[i] || (gh_op_poll(&locks[i]->op) == GH_PENDING);
            gh_op_cancel(&locks[i]->op);
            break;
        case 1:
            if ((gh_op_poll(&locks[i]->op) == GH_PENDING)) break;
            assert_status(gh_lock_begin(locks[i], world->client, gh_str_literal("a"), NULL), GH_OK);
            changed[i] = ticked[i] = false;
            break;
        default:
            scripted_tick(world, 10);
            for (uint32_t j = 0; j < OPS; j++) ticked[j] = changed[j];
            for (gh_op* op; (op = gh_client_next(world->client)) != NULL;)
            {
                assert_ptr_equal(op, &locks[op->tag - 1]->op);
                assert_true(ticked[op->tag - 1]);
                changed[op->tag - 1] = ticked[op->tag - 1] = false;
            }
            for (uint32_t j = 0; j < OPS; j++) assert_false(ticked[j]);
            break;
        }
    }
}

/* Whatever the op is of: none of these calls looks further. */
static void idle_ops_and_null_take_every_call(void** state)
{
    (void)state;
    gh_op idle = {0};
    assert_status(gh_op_poll(NULL), GH_IDLE);
    assert_status(gh_op_poll(&idle), GH_IDLE);
    assert_false(gh_op_is_busy(NULL));
    assert_false(gh_op_is_busy(&idle));
    gh_op_cancel(NULL);
    gh_op_cancel(&idle);
    assert_status(gh_op_poll(&idle), GH_IDLE);
}

TEST_FILE(changes, cmocka_unit_test(idle_ops_and_null_take_every_call),
          cmocka_unit_test(changes_come_once_and_oldest_first), cmocka_unit_test(op_without_a_tag_is_left_out),
          cmocka_unit_test(op_that_changed_twice_comes_with_its_last_status),
          cmocka_unit_test(hold_that_is_over_comes_before_its_end),
          cmocka_unit_test(what_fails_between_ticks_comes_after_the_next), cmocka_unit_test(begin_takes_it_off),
          cmocka_unit_test(begin_that_is_refused_comes_as_an_end), cmocka_unit_test(begin_of_a_busy_op_leaves_it_alone),
          cmocka_unit_test(begin_without_a_client_is_told_to_the_op_alone),
          cmocka_unit_test(nothing_comes_after_a_shutdown), cmocka_unit_test(random_changes_are_all_seen));
