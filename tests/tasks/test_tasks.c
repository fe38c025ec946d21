/* Tests of guildhall/tasks_take.h and tasks_admin.h, against real servers: what becomes of a task. */

#include "support/scene/desk.h"
#include "support/scene/keys.h"
#include "support/server/redis_server.h"

#include "tasks/tasks_place.h"

#include <stdio.h>
#include <string.h>

#define QUEUE "mail"
#define KEY   "gh:{tasks:mail}:"

static desk* desk_on(redis_server* server)
{
    return desk_open(game_start_ready(redis_server_address(server)), QUEUE);
}

static void assert_text(gh_str actual, const char* expected)
{
    assert_int_equal(actual.size, strlen(expected));
    assert_memory_equal(actual.bytes, expected, actual.size);
}

/* ---- the ordinary way ---------------------------------------------------------------------------------- */

static void is_pushed_taken_and_done(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    gh_task_spec letter = {.id = gh_str_literal("letter 1"),
                           .handler = gh_str_literal("mail"),
                           .payload = gh_str_make("a\0b", 3),
                           .attempts_max = 7,
                           .task_class = 2};
    assert_status(desk_push_all(clerk, &letter, 1), GH_OK);
    assert_status(letter.status, GH_OK);
    assert_int_equal(desk_look(clerk, "letter 1"), GH_TASK_STATE_READY);

    gh_task* task = desk_take_one(clerk, "letter 1");
    assert_text(task->handler, "mail");
    assert_int_equal(task->payload.size, 3);
    assert_memory_equal(task->payload.bytes, "a\0b", 3);
    assert_int_equal(task->attempt, 1);
    assert_int_equal(task->attempts_max, 7);
    assert_int_equal(task->task_class, 2);
    assert_status(task->status, GH_PENDING);
    assert_true(task->fence > 0);
    assert_in_range(gh_task_remaining_us(clerk->owner->client, task), SECOND_US, 5 * SECOND_US);
    assert_int_equal(desk_look(clerk, "letter 1"), GH_TASK_STATE_RUNNING);
    assert_int_equal(clerk->look.attempt, 1);

    task->result = gh_str_literal("sent");
    assert_status(desk_finish(clerk, task, GH_TASK_ACTION_DONE), GH_OK);
    assert_int_equal(gh_task_remaining_us(clerk->owner->client, task), 0);
    assert_int_equal(desk_look(clerk, "letter 1"), GH_TASK_STATE_DONE);
    assert_text(clerk->look.text, "sent");
    assert_in_range(clerk->look.time_us - clerk->look.now_us, 590 * SECOND_US, 600 * SECOND_US);
    assert_status(desk_take(clerk, 1), GH_EMPTY);
}

static void made_ids_are_told_and_differ(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    gh_task_spec three[3] = {
        {.payload = gh_str_literal("0")}, {.payload = gh_str_literal("1")}, {.id = gh_str_literal("own")}};
    char id[3][GH_TASK_ID_TEXT_SIZE];
    assert_int_equal(gh_tasks_push_id(&clerk->push, 0, id[0]), 0);
    assert_status(desk_push_all(clerk, three, 3), GH_OK);
    for (size_t i = 0; i < 3; i++)
    {
        size_t size = gh_tasks_push_id(&clerk->push, i, id[i]);
        assert_int_equal(size, strlen(id[i]));
    }
    assert_int_equal(gh_tasks_push_id(&clerk->push, 3, clerk->text), 0);
    assert_string_not_equal(id[0], id[1]);
    assert_string_equal(id[2], "own");
    assert_status(desk_take(clerk, 3), GH_OK);
    assert_int_equal(clerk->take.count, 3);
    for (size_t i = 0; i < 3; i++) assert_text(clerk->tasks[i].id, id[i]);
}

static void second_push_of_an_id_does_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push(clerk, "a", "one"), GH_OK);
    assert_status(desk_push(clerk, "a", "one"), GH_EXISTS);
    assert_status(desk_push(clerk, "a", "other"), GH_DIFFERS);
    gh_task_spec twice[2] = {{.id = gh_str_literal("b")}, {.id = gh_str_literal("b")}};
    assert_status(desk_push_all(clerk, twice, 2), GH_OK);
    assert_status(twice[0].status, GH_OK);
    assert_status(twice[1].status, GH_EXISTS);

    assert_status(desk_take(clerk, 10), GH_OK);
    assert_string_equal(desk_ids(clerk), "a b");
    assert_text(clerk->tasks[0].payload, "one");
    assert_status(desk_push(clerk, "a", "one"), GH_EXISTS);
    desk_finish_all(clerk);
    assert_status(desk_push(clerk, "a", "one"), GH_EXISTS);
    assert_status(desk_take(clerk, 10), GH_EMPTY);
}

static void id_is_free_again_after_keep(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* clerk = desk_on(server);
    clerk->config.keep_us = 10 * SECOND_US;
    assert_status(desk_push(clerk, "a", ""), GH_OK);
    clerk->tasks[0].result = gh_str_literal("kept");
    desk_take_one(clerk, "a")->result = gh_str_literal("kept");
    assert_status(desk_finish(clerk, &clerk->tasks[0], GH_TASK_ACTION_DONE), GH_OK);
    redis_server_shift_clock(server, 9 * (int64_t)SECOND_US);
    assert_status(desk_push(clerk, "a", ""), GH_EXISTS);
    assert_int_equal(desk_look(clerk, "a"), GH_TASK_STATE_DONE);
    redis_server_shift_clock(server, 11 * (int64_t)SECOND_US);
    assert_int_equal(desk_look(clerk, "a"), GH_TASK_STATE_NONE);
    assert_status(desk_push(clerk, "a", ""), GH_OK);
    assert_int_equal(desk_take_one(clerk, "a")->attempt, 1);
}

static void what_is_over_leaves_nothing_after_keep(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* clerk = desk_on(server);
    clerk->config.keep_us = 10 * SECOND_US;
    char id[16];
    for (int i = 0; i < 20; i++)
    {
        snprintf(id, sizeof(id), "%d", i);
        assert_status(desk_push(clerk, id, ""), GH_OK);
        desk_take_one(clerk, id)->result = gh_str_literal("result");
        assert_status(desk_finish(clerk, &clerk->tasks[0], GH_TASK_ACTION_DONE), GH_OK);
        redis_server_shift_clock(server, (i + 1) * (int64_t)SECOND_US);
    }
    assert_in_range(redis_server_integer(server, "ZCARD " KEY "t"), 1, 11);
    assert_in_range(redis_server_integer(server, "HLEN " KEY "m"), 1, 11);
    assert_int_equal(redis_server_integer(server, "HLEN " KEY "p"), 0);
}

/* ---- retries and dead letters -------------------------------------------------------------------------- */

static void retry_comes_after_its_pause_and_counts(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* clerk = desk_on(server);
    assert_status(desk_push(clerk, "a", ""), GH_OK);
    gh_task* task = desk_take_one(clerk, "a");
    uint64_t fence = task->fence;
    task->delay_us = 3 * SECOND_US;
    task->result = gh_str_literal("no stamps");
    assert_status(desk_finish(clerk, task, GH_TASK_ACTION_RETRY), GH_OK);
    assert_int_equal(desk_look(clerk, "a"), GH_TASK_STATE_RETRYING);
    assert_text(clerk->look.text, "no stamps");
    assert_status(desk_take(clerk, 1), GH_EMPTY);
    assert_in_range(clerk->take.next_us, SECOND_US, 3 * SECOND_US);
    redis_server_shift_clock(server, 4 * (int64_t)SECOND_US);
    task = desk_take_one(clerk, "a");
    assert_int_equal(task->attempt, 2);
    assert_true(task->fence > fence);
}

static void back_off_doubles_with_jitter(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* clerk = desk_on(server);
    clerk->config.attempts_max = 20;
    clerk->config.backoff_min_us = 10 * SECOND_US;
    clerk->config.backoff_max_us = 60 * SECOND_US;
    const uint64_t expected[] = {10, 20, 40, 60, 60};
    int64_t shift = 0;
    assert_status(desk_push(clerk, "a", ""), GH_OK);
    for (size_t i = 0; i < 5; i++)
    {
        assert_status(desk_finish(clerk, desk_take_one(clerk, "a"), GH_TASK_ACTION_RETRY), GH_OK);
        assert_int_equal(desk_look(clerk, "a"), GH_TASK_STATE_RETRYING);
        uint64_t pause_us = clerk->look.time_us - clerk->look.now_us;
        /* up to four seconds may be over when it is looked at */
        assert_in_range(pause_us, expected[i] * SECOND_US / 2 - 4 * SECOND_US, expected[i] * SECOND_US);
        shift += 61 * (int64_t)SECOND_US;
        redis_server_shift_clock(server, shift);
    }
}

static void last_attempt_goes_to_the_dead_letters(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    clerk->config.attempts_max = 2;
    assert_status(desk_push(clerk, "a", "poison"), GH_OK);
    gh_task* task = desk_take_one(clerk, "a");
    task->delay_us = 1;
    assert_status(desk_finish(clerk, task, GH_TASK_ACTION_RETRY), GH_OK);
    GAME_UNTIL(desk_take(clerk, 1) == GH_OK);
    clerk->tasks[0].result = gh_str_literal("it bites");
    assert_status(desk_finish(clerk, &clerk->tasks[0], GH_TASK_ACTION_RETRY), GH_DEAD);
    assert_int_equal(desk_look(clerk, "a"), GH_TASK_STATE_DEAD);
    assert_int_equal(clerk->look.attempt, 2);
    assert_text(clerk->look.text, "it bites");
    assert_int_equal(desk_count(clerk)->dead, 1);
    assert_status(desk_push(clerk, "a", "poison"), GH_EXISTS);
}

static void dead_letters_are_listed_by_pages_and_requeued(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    gh_tasks_dead* dead = GAME_NEW(clerk->owner, gh_tasks_dead);
    gh_dead_task letters[2];
    char id[16];
    for (int i = 0; i < 5; i++)
    {
        snprintf(id, sizeof(id), "t%d", i);
        assert_status(desk_push(clerk, id, "payload"), GH_OK);
        desk_take_one(clerk, id)->result = gh_str_literal("why");
        assert_status(desk_finish(clerk, &clerk->tasks[0], GH_TASK_ACTION_FAIL), GH_OK);
    }
    for (uint64_t offset = 0; offset < 6; offset += 2)
    {
        assert_status(gh_tasks_dead_begin(dead, queue_made(clerk->owner->client, clerk->queue, NULL), offset, letters,
                                          2, clerk->memory, sizeof(clerk->memory)),
                      GH_OK);
        GAME_UNTIL(gh_op_poll(&dead->op) != GH_PENDING);
        assert_status(gh_op_poll(&dead->op), GH_OK);
        assert_int_equal(dead->total, 5);
        assert_int_equal(dead->count, offset == 4 ? 1 : 2);
        snprintf(id, sizeof(id), "t%d", (int)offset);
        assert_text(letters[0].id, id);
        assert_text(letters[0].handler, "work");
        assert_text(letters[0].payload, "payload");
        assert_text(letters[0].reason, "why");
        assert_int_equal(letters[0].attempts, 1);
        assert_true(letters[0].died_us > 0);
    }
    assert_status(desk_requeue(clerk, "t3"), GH_OK);
    assert_status(desk_requeue(clerk, "t3"), GH_OK);
    assert_status(desk_requeue(clerk, "nobody"), GH_GONE);
    assert_int_equal(desk_take_one(clerk, "t3")->attempt, 1);
    assert_status(desk_finish(clerk, &clerk->tasks[0], GH_TASK_ACTION_DONE), GH_OK);
    assert_int_equal(desk_count(clerk)->dead, 4);
}

static void given_back_is_next_and_does_not_count(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push(clerk, "a", ""), GH_OK);
    assert_status(desk_push(clerk, "b", ""), GH_OK);
    uint64_t fence = desk_take_one(clerk, "a")->fence;
    assert_status(desk_finish(clerk, &clerk->tasks[0], GH_TASK_ACTION_GIVE_BACK), GH_OK);
    gh_task* task = desk_take_one(clerk, "a");
    assert_int_equal(task->attempt, 1);
    assert_true(task->fence > fence);
}

/* ---- leases -------------------------------------------------------------------------------------------- */

static void expired_task_goes_to_another_and_the_first_is_refused(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* slow = desk_on(server);
    desk* other = desk_on(server);
    slow->config.lease_us = other->config.lease_us = SECOND_US / 10;
    assert_status(desk_push(slow, "a", ""), GH_OK);
    gh_task* first = desk_take_one(slow, "a");
    assert_int_equal(desk_count(other)->handed_out + other->count.expired, 1);
    GAME_UNTIL(gh_task_remaining_us(slow->owner->client, first) == 0 && desk_count(other)->expired == 1);
    assert_int_equal(other->count.handed_out, 0);
    other->config.wait_us = 10 * SECOND_US;
    gh_task* second = desk_take_one(other, "a");
    assert_int_equal(second->attempt, 2);
    assert_true(second->fence > first->fence);
    assert_status(desk_finish(slow, first, GH_TASK_ACTION_DONE), GH_LOST);
    assert_status(desk_extend(other), GH_OK);
    assert_status(second->status, GH_PENDING);
    assert_status(desk_finish(other, second, GH_TASK_ACTION_DONE), GH_OK);
    assert_status(
        desk_finish(slow, &(gh_task){.state = GH_TASK_PLACE_HELD, .id = gh_str_literal("a")}, GH_TASK_ACTION_DONE),
        GH_LOST);
}

static void extended_task_stays_ours(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    desk* other = desk_on(server);
    clerk->config.lease_us = 2 * SECOND_US; /* so long a machine may stand still between an extension and a look */
    assert_status(desk_push(clerk, "a", ""), GH_OK);
    gh_task* task = desk_take_one(clerk, "a");
    uint64_t taken_us = wait_now_us();
    while (wait_now_us() - taken_us < 5 * SECOND_US / 2)
    {
        assert_status(desk_extend(clerk), GH_OK);
        assert_status(task->status, GH_PENDING);
        assert_status(desk_take(other, 1), GH_EMPTY);
    }
    assert_status(desk_finish(clerk, task, GH_TASK_ACTION_DONE), GH_OK);
    assert_status(desk_take(other, 1), GH_EMPTY);
}

static void poison_that_kills_its_takers_dies(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    clerk->config.attempts_max = 3;
    clerk->config.lease_us = GH_TASKS_LEASE_MIN_US;
    clerk->config.wait_us = 10 * SECOND_US;
    assert_status(desk_push(clerk, "a", ""), GH_OK);
    for (uint32_t i = 1; i <= 3; i++) assert_int_equal(desk_take_one(clerk, "a")->attempt, i);
    clerk->config.wait_us = SECOND_US / 5;
    assert_status(desk_take(clerk, 1), GH_EMPTY);
    assert_int_equal(desk_look(clerk, "a"), GH_TASK_STATE_DEAD);
    assert_int_equal(clerk->look.attempt, 3);
}

/* ---- cancel, pause, limit ------------------------------------------------------------------------------ */

static void cancelled_tasks_never_run(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push(clerk, "ready", ""), GH_OK);
    assert_status(desk_push(clerk, "next", ""), GH_OK);
    assert_status(desk_push_delayed(clerk, "later", 1), GH_OK);
    assert_status(desk_cancel(clerk, "ready"), GH_OK);
    assert_status(desk_cancel(clerk, "ready"), GH_OK);
    assert_status(desk_cancel(clerk, "later"), GH_OK);
    assert_status(desk_cancel(clerk, "nobody"), GH_GONE);
    assert_int_equal(desk_look(clerk, "ready"), GH_TASK_STATE_CANCELLED);
    assert_status(desk_push(clerk, "ready", ""), GH_EXISTS);
    assert_status(desk_take(clerk, 10), GH_OK);
    assert_string_equal(desk_ids(clerk), "next");
    desk_finish_all(clerk);
    assert_status(desk_cancel(clerk, "next"), GH_GONE);
    assert_int_equal(redis_server_integer(server, "HLEN " KEY "p"), 0);
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "r0 " KEY "d0"), 0);
}

static void cancel_of_a_running_task_is_seen_by_its_taker(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    desk* boss = desk_on(server);
    const gh_task_action action[] = {GH_TASK_ACTION_RETRY, GH_TASK_ACTION_FAIL, GH_TASK_ACTION_GIVE_BACK,
                                     GH_TASK_ACTION_DONE};
    char id[16];
    for (size_t i = 0; i < 4; i++)
    {
        snprintf(id, sizeof(id), "t%zu", i);
        assert_status(desk_push(clerk, id, ""), GH_OK);
        desk_take_one(clerk, id);
        assert_status(desk_cancel(boss, id), GH_RUNNING);
        assert_int_equal(desk_look(boss, id), GH_TASK_STATE_CANCELLING);
        assert_status(desk_extend(clerk), GH_OK);
        assert_status(clerk->tasks[0].status, GH_CANCELLED);
        bool done = action[i] == GH_TASK_ACTION_DONE; /* the work has been done: then it is */
        assert_status(desk_finish(clerk, &clerk->tasks[0], action[i]), done ? GH_OK : GH_CANCELLED);
        assert_int_equal(desk_look(boss, id), done ? GH_TASK_STATE_DONE : GH_TASK_STATE_CANCELLED);
    }
    assert_int_equal(redis_server_integer(server, "HLEN " KEY "p"), 0);
}

static void paused_queue_hands_nothing_out(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    desk_control(clerk, (gh_tasks_rules){.paused = true});
    assert_true(desk_count(clerk)->rules.paused);
    assert_status(desk_push(clerk, "a", ""), GH_OK);
    assert_status(desk_take(clerk, 1), GH_PAUSED);
    clerk->config.wait_us = SECOND_US / 20;
    assert_status(desk_take(clerk, 1), GH_EMPTY);
    clerk->config.wait_us = 0;
    desk_control(clerk, (gh_tasks_rules){0});
    desk_take_one(clerk, "a");
}

static void running_max_bounds_what_all_have_at_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    desk* other = desk_on(server);
    char id[16];
    for (int i = 0; i < 6; i++)
    {
        snprintf(id, sizeof(id), "%d", i);
        assert_status(desk_push(clerk, id, ""), GH_OK);
    }
    desk_control(clerk, (gh_tasks_rules){.running_max = 3});
    assert_status(desk_take(clerk, 2), GH_OK);
    assert_int_equal(clerk->take.count, 2);
    assert_status(desk_take(other, 10), GH_OK);
    assert_int_equal(other->take.count, 1);
    gh_task_spec more = {.id = gh_str_literal("more")};
    assert_status(desk_push_all(other, &more, 1), GH_OK);
    assert_status(desk_finish(clerk, &clerk->tasks[0], GH_TASK_ACTION_DONE), GH_OK);
    assert_status(desk_take(clerk, 10), GH_OK);
    assert_string_equal(desk_ids(clerk), "3");
    assert_int_equal(desk_count(clerk)->rules.running_max, 3);
    desk_control(clerk, (gh_tasks_rules){0});
    assert_status(desk_take(clerk, 10), GH_OK);
    assert_string_equal(desk_ids(clerk), "4 5 more");
}

/* ---- what is in the store ------------------------------------------------------------------------------ */

static void keys_are_on_the_page(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    clerk->config.wait_us = SECOND_US / 50;
    assert_status(desk_take(clerk, 1), GH_EMPTY); /* sleeps for a moment */
    assert_status(desk_push(clerk, "running", ""), GH_OK);
    assert_status(desk_push(clerk, "dead", ""), GH_OK);
    assert_status(desk_take(clerk, 2), GH_OK);
    assert_status(desk_finish(clerk, &clerk->tasks[1], GH_TASK_ACTION_FAIL), GH_OK);
    assert_status(desk_push_class(clerk, "ready", 2), GH_OK);
    assert_status(desk_push_group(clerk, "of a guild", "guild"), GH_OK);
    assert_status(desk_push_delayed(clerk, "over", SECOND_US), GH_OK);
    assert_status(desk_push_delayed(clerk, "delayed", SECOND_US), GH_OK);
    assert_status(desk_cancel(clerk, "over"), GH_OK);
    desk_control(clerk, (gh_tasks_rules){.paused = true});
    assert_status(desk_take(clerk, 1), GH_EMPTY);
    keys_must_be_on_the_page(server, "gh:{tasks:");
}

/* A taker's tasks lie one behind another: there is no room for a copy between them. */
static void result_of_a_taken_task_leaves_the_next_alone(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push(clerk, "a", "first"), GH_OK);
    assert_status(desk_push(clerk, "b", "second"), GH_OK);
    assert_status(desk_take(clerk, 2), GH_OK);
    assert_int_equal(clerk->take.count, 2);
    assert_false(gh_task_set_result(&clerk->tasks[0], gh_str_literal("a result")));
    assert_false(gh_task_set_result(&clerk->tasks[1], gh_str_literal("a result")));
    assert_string_equal(desk_ids(clerk), "a b");
    assert_true(gh_str_equal(clerk->tasks[1].payload, gh_str_literal("second")));
    desk_finish_all(clerk);
    assert_int_equal(desk_count(clerk)->stored, 0);
}

TEST_FILE(tasks, cmocka_unit_test(result_of_a_taken_task_leaves_the_next_alone), cmocka_unit_test(keys_are_on_the_page),
          cmocka_unit_test(is_pushed_taken_and_done), cmocka_unit_test(made_ids_are_told_and_differ),
          cmocka_unit_test(second_push_of_an_id_does_nothing), cmocka_unit_test(id_is_free_again_after_keep),
          cmocka_unit_test(what_is_over_leaves_nothing_after_keep),
          cmocka_unit_test(retry_comes_after_its_pause_and_counts), cmocka_unit_test(back_off_doubles_with_jitter),
          cmocka_unit_test(last_attempt_goes_to_the_dead_letters),
          cmocka_unit_test(dead_letters_are_listed_by_pages_and_requeued),
          cmocka_unit_test(given_back_is_next_and_does_not_count),
          cmocka_unit_test(expired_task_goes_to_another_and_the_first_is_refused),
          cmocka_unit_test(extended_task_stays_ours), cmocka_unit_test(poison_that_kills_its_takers_dies),
          cmocka_unit_test(cancelled_tasks_never_run), cmocka_unit_test(cancel_of_a_running_task_is_seen_by_its_taker),
          cmocka_unit_test(paused_queue_hands_nothing_out), cmocka_unit_test(running_max_bounds_what_all_have_at_once));
