/* Defects that the naive way to share locks, permits and tasks has, each brought about on a real server: a
   naive way would fail the test. */

#include "support/scene/desk.h"
#include "support/scene/permits.h"
#include "support/process.h"
#include "support/server/redis_server.h"
#include "support/scene/shop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE    "mail"
#define LEASE_US (2 * SECOND_US)
#define HOUR_US  (3600 * (int64_t)SECOND_US)

/* ---- 8: no lease --------------------------------------------------------------------------------------- */

/* Takes a lock, a permit and a task, says so, and works on them until it is killed. */
static int hold_all(void* context, int results)
{
    game_forget_all();
    game* self = game_start(context);
    gh_lock* lock = GAME_NEW(self, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    desk* bench = desk_open(self, QUEUE);
    config.lease_us = LEASE_US;
    config.wait_us = 60 * SECOND_US;
    bench->config.lease_us = LEASE_US;
    CHILD_CHECK(gh_lock_begin(lock, self->client, gh_str_literal("sword"), &config) == GH_OK);
    gh_permit* permit = permit_want(self, "arena", 1, LEASE_US, 60 * SECOND_US);
    while (desk_take(bench, 1) != GH_OK) continue;
    while (gh_op_poll(&lock->op) != GH_HELD || gh_op_poll(&permit->op) != GH_HELD) game_tick_all();
    CHILD_CHECK(write(results, "!", 1) == 1);
    for (;;) game_tick_all();
}

/* The naive way takes a lock without a lease: who dies with it stops everybody else for ever. */
static void owner_that_dies_stops_nobody_for_ever(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    desk* clerk = desk_open(a, QUEUE);
    assert_status(desk_push(clerk, "t1", ""), GH_OK);
    char byte;
    child_process* child = child_start(hold_all, (void*)(uintptr_t)redis_server_address(server));
    assert_int_equal(child_read(child, &byte, 1), 1);
    gh_lock* lock = GAME_NEW(a, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 0;
    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_BUSY); /* it lives */
    child_kill9(child);
    config.wait_us = 60 * SECOND_US;
    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), &config), GH_OK);
    gh_permit* permit = permit_want(a, "arena", 1, LEASE_US, 60 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    assert_status(permit_settle(permit), GH_HELD);
    GAME_UNTIL(desk_take(clerk, 1) == GH_OK);
    assert_string_equal(desk_ids(clerk), "t1");
}

/* ---- 9: two steps where one is wanted ------------------------------------------------------------------ */

#define DUE 40

/* Takes tasks as they come due, a few at a time, and finishes none. */
static int take_on(void* context, int results)
{
    game_forget_all();
    game* self = game_start(context);
    desk* bench = desk_open(self, QUEUE);
    bench->config.lease_us = LEASE_US;
    for (;;)
        if (desk_take(bench, 3) == GH_OK) CHILD_CHECK(write(results, "!", 1) == 1);
}

/* The naive way takes a due task out of one list and then puts it into another: who dies in between has lost
 * it. */
static void death_at_any_step_loses_no_due_task(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_open(game_start_ready(redis_server_address(server)), QUEUE);
    clerk->config.attempts_max = 100;
    for (unsigned i = 0; i < DUE; i++)
    {
        char id[16];
        snprintf(id, sizeof(id), "t%u", i);
        assert_status(desk_push_delayed(clerk, id, i * 1000), GH_OK);
    }
    for (size_t life = 1; life <= 6; life++)
    {
        char bytes[8];
        child_process* child = child_start(take_on, (void*)(uintptr_t)redis_server_address(server));
        assert_int_equal(child_read(child, bytes, life), life);
        child_kill9(child);
    }
    unsigned done = 0;
    bool seen[DUE] = {false};
    while (done < DUE)
    {
        GAME_UNTIL(desk_take(clerk, DUE) == GH_OK);
        for (uint32_t i = 0; i < clerk->take.count; i++)
        {
            char text[8] = "";
            assert_in_range(clerk->tasks[i].id.size, 2, 3);
            memcpy(text, clerk->tasks[i].id.bytes, clerk->tasks[i].id.size);
            unsigned number = (unsigned)strtoul(text + 1, NULL, 10);
            assert_true(number < DUE);
            assert_false(seen[number]); /* nor is one there twice */
            seen[number] = true;
            done++;
        }
        desk_finish_all(clerk);
    }
    assert_status(desk_take(clerk, 1), GH_EMPTY);
}

/* The naive way moves one task a round trip. */
static void hundred_due_tasks_come_with_one_request(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_open(game_start_ready(redis_server_address(server)), QUEUE);
    gh_task_spec tasks[GH_TASKS_BATCH_MAX];
    memset(tasks, 0, sizeof(tasks));
    for (size_t i = 0; i < GH_TASKS_BATCH_MAX; i++)
    {
        tasks[i].handler = gh_str_literal("work");
        tasks[i].delay_us = 1000;
    }
    assert_status(desk_take(clerk, 1), GH_EMPTY); /* the script is there */
    assert_status(desk_push_all(clerk, tasks, GH_TASKS_BATCH_MAX), GH_OK);
    uint64_t begun_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - begun_us > 2000);
    long long calls = redis_server_calls(server, "evalsha");
    assert_status(desk_take(clerk, GH_TASKS_BATCH_MAX), GH_OK);
    assert_int_equal(clerk->take.count, GH_TASKS_BATCH_MAX);
    assert_int_equal(redis_server_calls(server, "evalsha"), calls + 1);
}

/* ---- 10: at most once ---------------------------------------------------------------------------------- */

/* The naive way removes a task when it hands it out: it is lost with a worker that dies. */
static void task_of_a_dead_worker_goes_to_another(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_open(game_start_ready(redis_server_address(server)), QUEUE);
    assert_status(desk_push(clerk, "t1", "to jeff"), GH_OK);
    char byte;
    child_process* child = child_start(take_on, (void*)(uintptr_t)redis_server_address(server));
    assert_int_equal(child_read(child, &byte, 1), 1);
    assert_int_equal(desk_look(clerk, "t1"), GH_TASK_STATE_RUNNING);
    child_kill9(child);
    GAME_UNTIL(desk_take(clerk, 1) == GH_OK);
    assert_string_equal(desk_ids(clerk), "t1");
    assert_int_equal(clerk->tasks[0].attempt, 2);
    assert_true(gh_str_equal(clerk->tasks[0].payload, gh_str_literal("to jeff")));
}

/* The naive way drops what no handler is there for, and what cannot be read. */
static void task_that_nobody_understands_is_kept(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_open(server, QUEUE);
    desk* clerk = desk_open(game_start_ready(redis_server_address(server)), QUEUE);
    gh_task_spec odd = {.id = gh_str_literal("odd"), .handler = gh_str_literal("mystery"), .attempts_max = 1};
    assert_status(desk_push_all(clerk, &odd, 1), GH_OK);
    GAME_UNTIL(baker->worker.dead == 1);
    baker->answer = GH_TASK_ACTION_FAIL; /* before the push: the worker may be called while that ends */
    assert_status(desk_push(clerk, "bad", "{not what it should be"), GH_OK);
    GAME_UNTIL(baker->worker.dead == 2);
    assert_int_equal(desk_look(clerk, "odd"), GH_TASK_STATE_DEAD);
    assert_int_equal(desk_look(clerk, "bad"), GH_TASK_STATE_DEAD);
    assert_int_equal(desk_count(clerk)->dead, 2);
    baker->answer = GH_TASK_ACTION_DONE;
    assert_status(desk_requeue(clerk, "bad"), GH_OK); /* with all that it had */
    GAME_UNTIL(baker->worker.done == 1);
}

/* The naive way returns an id that nothing is kept under. */
static void task_is_found_by_the_id_that_was_made(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_open(game_start_ready(redis_server_address(server)), QUEUE);
    gh_task_spec task = {.handler = gh_str_literal("work"), .delay_us = 1000};
    char id[GH_TASK_ID_SIZE_MAX + 1];
    assert_status(desk_push_all(clerk, &task, 1), GH_OK);
    gh_tasks_push_id(&clerk->push, 0, id);
    assert_int_not_equal(desk_look(clerk, id), GH_TASK_STATE_NONE);
    GAME_UNTIL(desk_take(clerk, 1) == GH_OK);
    assert_string_equal(desk_ids(clerk), id);
    assert_int_equal(desk_look(clerk, id), GH_TASK_STATE_RUNNING);
    desk_finish_all(clerk);
    assert_int_equal(desk_look(clerk, id), GH_TASK_STATE_DONE);
}

/* ---- 11: clients' clocks ------------------------------------------------------------------------------- */

/* The naive way writes the time of the client that asks, and throws out whose time is long ago: a client
   whose clock is ahead takes what others hold. */
static void clock_that_is_ahead_steals_no_permit(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* behind = game_start(redis_server_address(server));
    game* ahead = game_start(redis_server_address(server));
    behind->ahead_us = -HOUR_US;
    ahead->ahead_us = HOUR_US;
    gh_permit* held = permit_hold_one(behind, "arena", 1, LEASE_US);
    uint64_t begun_us = wait_now_us();
    do
    {
        assert_status(permit_settle(permit_want(ahead, "arena", 1, LEASE_US, 0)), GH_BUSY);
        assert_status(gh_op_poll(&held->op), GH_HELD);
    } while (wait_now_us() - begun_us < 2 * LEASE_US);
    assert_status(permit_give_back(held), GH_OK);
    held = permit_hold_one(ahead, "arena", 1, LEASE_US); /* and one from the future does not stay for an hour */
    game_end(ahead);
    begun_us = wait_now_us();
    assert_status(permit_settle(permit_want(behind, "arena", 1, LEASE_US, 60 * SECOND_US)), GH_HELD);
    assert_true(wait_now_us() - begun_us < HOUR_US / 60);
}

/* The naive way says no when it merely could not get at its helper lock in time. */
static void free_permit_is_never_refused(void** state)
{
    (void)state;
    enum
    {
        GAMES = 8
    };
    redis_server* server = redis_server_start(NULL);
    game* games[GAMES];
    gh_permit* permits[GAMES];
    for (int i = 0; i < GAMES; i++) games[i] = game_start_ready(redis_server_address(server));
    for (int round = 0; round < 30; round++)
    {
        for (int i = 0; i < GAMES; i++) permits[i] = permit_want(games[i], "arena", GAMES, SECOND_US, 0);
        for (int i = 0; i < GAMES; i++) assert_status(permit_settle(permits[i]), GH_HELD);
        for (int i = 0; i < GAMES; i++) assert_status(permit_give_back(permits[i]), GH_OK);
    }
    semaphore_must_be_sound(server, "arena");
}

/* The naive way keeps a counter and a list of owners for each semaphore that ever was. */
static void semaphore_that_nobody_uses_vanishes(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* held = permit_hold_one(a, "arena", 1, SECOND_US);
    gh_permit* waiter = permit_want(a, "arena", 1, SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(waiter->position == 1);
    assert_status(permit_give_back(held), GH_OK);
    assert_status(permit_settle(waiter), GH_HELD);
    assert_status(permit_give_back(waiter), GH_OK);
    game_end(a);
    assert_true(redis_server_integer(server, "EXISTS gh:{semaphore:arena}:s") > 0);
    redis_server_shift_clock(server, 3 * HOUR_US);
    static const char keys[] = "EXISTS gh:{semaphore:arena}:s gh:{semaphore:arena}:h gh:{semaphore:arena}:q "
                               "gh:{semaphore:arena}:c";
    assert_int_equal(redis_server_integer(server, keys), 0);
}

TEST_FILE(defects_work, cmocka_unit_test(owner_that_dies_stops_nobody_for_ever),
          cmocka_unit_test(death_at_any_step_loses_no_due_task),
          cmocka_unit_test(hundred_due_tasks_come_with_one_request),
          cmocka_unit_test(task_of_a_dead_worker_goes_to_another),
          cmocka_unit_test(task_that_nobody_understands_is_kept),
          cmocka_unit_test(task_is_found_by_the_id_that_was_made),
          cmocka_unit_test(clock_that_is_ahead_steals_no_permit), cmocka_unit_test(free_permit_is_never_refused),
          cmocka_unit_test(semaphore_that_nobody_uses_vanishes));
