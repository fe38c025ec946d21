/* Tasks, in the end: nothing stays of a queue that is over; and whoever holds a task hears in time that it does not. */

#include "client/op.h"
#include "support/scene/desk.h"
#include "support/scene/shop.h"
#include "support/server/fake_server.h"
#include "support/server/redis_server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE   "mail"
#define KEY     "gh:{tasks:mail}:"
#define HOUR_US (3600 * SECOND_US)

/* ---- fault 27: what a queue leaves behind -------------------------------------------------------------- */

static long long keys_of_queue(redis_server* server)
{
    redisReply* reply = redis_server_command(server, "KEYS " KEY "*");
    long long count = (long long)reply->elements;
    freeReplyObject(reply);
    return count;
}

/* Until what was remembered is forgotten, and 5 minutes more. */
static void assert_nothing_stays(redis_server* server, const desk* clerk)
{
    assert_int_equal(redis_server_integer(server, "HLEN " KEY "p"), 0);
    assert_true(keys_of_queue(server) > 0);
    redis_server_shift_clock(server, (int64_t)(clerk->config.keep_us + 300 * SECOND_US));
    assert_int_equal(keys_of_queue(server), 0);
}

/* A requeue that is stopped in its middle has made a task ready that lies among the dead letters, too. */
static void letter_of_a_task_that_has_risen_is_none(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_open(game_start_ready(redis_server_address(server)), QUEUE);
    gh_tasks_dead* dead = GAME_NEW(clerk->owner, gh_tasks_dead);
    gh_dead_task letter[2];
    for (int i = 0; i < 2; i++)
    {
        const char* id = i == 0 ? "a" : "b";
        assert_status(desk_push(clerk, id, "payload"), GH_OK);
        (void)desk_take_one(clerk, id);
        assert_status(desk_finish(clerk, &clerk->tasks[0], GH_TASK_ACTION_FAIL), GH_OK);
        assert_status(desk_requeue(clerk, id), GH_OK);
        redis_server_do(server, "ZADD " KEY "x 1 %s", id);
        assert_status(gh_tasks_dead_begin(dead, desk_queue(clerk), 0, letter, 2, clerk->memory, sizeof(clerk->memory)),
                      GH_OK);
        GAME_UNTIL(gh_op_poll(&dead->op) != GH_PENDING);
        assert_status(gh_op_poll(&dead->op), GH_OK);
        assert_int_equal(dead->count, 1);
        assert_int_equal(letter[0].handler.size, 0);
        assert_status(i == 0 ? desk_requeue(clerk, id) : desk_cancel(clerk, id), GH_OK);
        assert_int_equal(redis_server_integer(server, "EXISTS " KEY "x"), 0);
        if (i == 0) (void)desk_take_one(clerk, id);
        if (i == 0) desk_finish_all(clerk);
    }
}

static redis_server* start_with_clock(void)
{
    redis_server_options options = {.clock = true};
    return redis_server_start(&options);
}

static desk* desk_on(redis_server* server)
{
    return desk_open(game_start_ready(redis_server_address(server)), QUEUE);
}

static void take_and_finish(desk* clerk, const char* id, gh_task_action action, const char* result)
{
    gh_task* task = desk_take_one(clerk, id);
    task->result = gh_str_of(result);
    assert_status(desk_finish(clerk, task, action), GH_OK);
}

/* The last step is a finish, and nobody asks for more. */
static void nothing_stays_of_a_queue_whose_tasks_are_done(void** state)
{
    (void)state;
    redis_server* server = start_with_clock();
    desk* clerk = desk_on(server);
    assert_status(desk_take(clerk, 1), GH_EMPTY);
    clerk->config.backoff_min_us = clerk->config.backoff_max_us = 1000;
    for (int i = 0; i < 3; i++)
    {
        char id[8];
        snprintf(id, sizeof(id), "t%d", i);
        assert_status(desk_push(clerk, id, "payload"), GH_OK);
    }
    take_and_finish(clerk, "t0", GH_TASK_ACTION_DONE, "");
    take_and_finish(clerk, "t1", GH_TASK_ACTION_DONE, "result");
    take_and_finish(clerk, "t2", GH_TASK_ACTION_RETRY, "later");
    GAME_UNTIL(desk_take(clerk, 1) == GH_OK);
    desk_finish_all(clerk);
    assert_int_equal(desk_look(clerk, "t1"), GH_TASK_STATE_DONE);
    assert_nothing_stays(server, clerk);
}

static void nothing_stays_of_a_queue_with_groups_and_cancelled_tasks(void** state)
{
    (void)state;
    redis_server* server = start_with_clock();
    desk* clerk = desk_on(server);
    assert_status(desk_push_group(clerk, "g1", "dragons"), GH_OK);
    assert_status(desk_push_group(clerk, "g2", "elves"), GH_OK);
    assert_status(desk_push_class(clerk, "second", 1), GH_OK);
    assert_status(desk_push_delayed(clerk, "later", HOUR_US), GH_OK);
    assert_status(desk_push(clerk, "runs", ""), GH_OK);
    take_and_finish(clerk, "g1", GH_TASK_ACTION_FAIL, "why");
    assert_status(desk_cancel(clerk, "g2"), GH_OK);
    assert_status(desk_cancel(clerk, "second"), GH_OK);
    assert_status(desk_cancel(clerk, "later"), GH_OK);
    assert_status(desk_cancel(clerk, "g1"), GH_OK);
    desk_take_one(clerk, "runs");
    assert_status(desk_cancel(clerk, "runs"), GH_RUNNING);
    assert_status(desk_finish(clerk, &clerk->tasks[0], GH_TASK_ACTION_GIVE_BACK), GH_CANCELLED);
    assert_int_equal(desk_look(clerk, "second"), GH_TASK_STATE_CANCELLED);
    assert_nothing_stays(server, clerk);
}

/* The last step is a cancel; what lay in lists goes with it. */
static void nothing_stays_of_a_queue_that_was_cancelled(void** state)
{
    (void)state;
    redis_server* server = start_with_clock();
    desk* clerk = desk_on(server);
    assert_status(desk_push(clerk, "a", ""), GH_OK);
    assert_status(desk_push(clerk, "b", ""), GH_OK);
    assert_status(desk_cancel(clerk, "b"), GH_OK);
    assert_status(desk_cancel(clerk, "a"), GH_OK);
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "r0"), 0);
    assert_nothing_stays(server, clerk);
}

/* The last step is the end of a lease. */
static void nothing_stays_of_a_queue_whose_worker_died(void** state)
{
    (void)state;
    redis_server* server = start_with_clock();
    desk* clerk = desk_on(server);
    desk* dead = desk_on(server);
    assert_status(desk_push(clerk, "a", ""), GH_OK);
    desk_take_one(dead, "a");
    assert_status(desk_cancel(clerk, "a"), GH_RUNNING);
    redis_server_shift_clock(server, 10 * (int64_t)SECOND_US);
    assert_status(desk_take(clerk, 1), GH_EMPTY);
    assert_nothing_stays(server, clerk);
}

/* What is in the queue stays, however long it lies there, with all that is known of it. */
static void all_stays_of_a_queue_that_is_not_over(void** state)
{
    (void)state;
    redis_server* server = start_with_clock();
    desk* clerk = desk_on(server);
    gh_task_spec fragile = {.id = gh_str_literal("dies"), .handler = gh_str_literal("work"), .attempts_max = 1};
    assert_status(desk_push(clerk, "over", ""), GH_OK);
    take_and_finish(clerk, "over", GH_TASK_ACTION_DONE, "result"); /* no task is left */
    clerk->config.backoff_min_us = clerk->config.backoff_max_us = 48 * HOUR_US;
    assert_status(desk_push(clerk, "waits", ""), GH_OK);
    take_and_finish(clerk, "waits", GH_TASK_ACTION_RETRY, "why");
    assert_status(desk_push_group(clerk, "grouped", "elves"), GH_OK);
    assert_status(desk_push_all(clerk, &fragile, 1), GH_OK);
    desk_control(clerk, (gh_tasks_rules){.running_max = 3});
    assert_status(desk_take(clerk, 2), GH_OK);
    assert_status(desk_finish(clerk, &clerk->tasks[0], GH_TASK_ACTION_FAIL), GH_OK);
    assert_status(desk_finish(clerk, &clerk->tasks[1], GH_TASK_ACTION_FAIL), GH_OK);
    redis_server_shift_clock(server, 24 * (int64_t)HOUR_US);
    assert_int_equal(desk_look(clerk, "waits"), GH_TASK_STATE_RETRYING);
    assert_int_equal(clerk->look.attempt, 1);
    assert_int_equal(desk_look(clerk, "grouped"), GH_TASK_STATE_DEAD);
    assert_int_equal(desk_look(clerk, "dies"), GH_TASK_STATE_DEAD);
    assert_int_equal(desk_count(clerk)->rules.running_max, 3);
}

/* ---- doubt --------------------------------------------------------------------------------------------- */

/* The server forgets that the task was handed out, as one does that comes back with older data. */
static void forget_hand_out(redis_server* server, const char* id)
{
    redis_server_do(server, "HDEL " KEY "m %s", id);
    redis_server_do(server, "ZREM " KEY "l %s", id);
    redis_server_do(server, "RPUSH " KEY "r0 %s", id);
    redis_server_restart(server);
}

static void worker_asks_at_once_when_the_server_was_restarted(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    gh_client_config config = game_config(redis_server_address(server));
    config.wake = false; /* when it comes back, everybody who listens asks anyway */
    shop* baker = shop_prepare(game_start_with(&config), QUEUE);
    desk* clerk = desk_on(server);
    baker->ticks_needed = 1000000;
    baker->wants[0].lease_us = HOUR_US; /* by itself it would ask after 20 minutes */
    shop_begin(baker);
    assert_status(desk_push(clerk, "bread", ""), GH_OK);
    GAME_UNTIL(baker->calls > 0);
    gh_tasks_worker_end(&baker->worker);
    forget_hand_out(server, "bread");
    GAME_UNTIL(baker->told_lost == 1);
    assert_int_equal(baker->worker.lost, 1);
}

/* Until it has asked, a taker cannot know that a task is its own. */
static void taker_has_no_time_left_until_it_has_asked(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    desk* clerk = desk_on(server);
    clerk->config.lease_us = HOUR_US;
    assert_status(desk_push(clerk, "bread", ""), GH_OK);
    assert_status(desk_push(clerk, "cake", ""), GH_OK);
    assert_status(desk_take(clerk, 2), GH_OK);
    assert_true(gh_task_remaining_us(clerk->owner->client, &clerk->tasks[1]) > HOUR_US / 2);
    forget_hand_out(server, "bread");
    GAME_UNTIL(gh_task_remaining_us(clerk->owner->client, &clerk->tasks[1]) == 0);
    assert_status(desk_extend(clerk), GH_OK);
    assert_status(clerk->tasks[0].status, GH_LOST);
    assert_int_equal(gh_task_remaining_us(clerk->owner->client, &clerk->tasks[0]), 0);
    assert_status(clerk->tasks[1].status, GH_PENDING);
    assert_true(gh_task_remaining_us(clerk->owner->client, &clerk->tasks[1]) > HOUR_US / 2);
}

/* Who has not heard of the restart is told so by the script, and asks anew under the later generation. */
static void receipts_take_no_older_generation(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push(clerk, "bread", ""), GH_OK);
    desk_take_one(clerk, "bread");
    const char* known = redis_server_text(server, "HGET " KEY "w generation");
    assert_non_null(known);
    long long generation = strtoll(known, NULL, 10);
    assert_true(generation > 0);
    redis_server_do(server, "HSET " KEY "w generation %lld", generation + 1);
    clerk->tasks[0].action = GH_TASK_ACTION_DONE;
    assert_status(
        gh_tasks_finish_begin(&clerk->finish, queue_made(clerk->owner->client, clerk->queue, NULL), clerk->tasks, 1),
        GH_OK);
    GAME_UNTIL(gh_op_poll(&clerk->finish.op) != GH_PENDING);
    assert_status(gh_op_poll(&clerk->finish.op), GH_OK);
    assert_true(gh_client_generation(clerk->owner->client, 0) == (uint64_t)generation + 1);
    redis_server_do(server, "HSET " KEY "w generation 9007199254740992");
    assert_status(desk_take(clerk, 1), GH_CORRUPT);
}

/* ---- answers that cannot be ---------------------------------------------------------------------------- */

typedef struct liar
{
    const char* attempt;
    uint64_t remaining_us;
    size_t keys;     /* of the script that is lied for */
    size_t sequence; /* which argument of it           */
    const char* rest;
} liar;

/* The task "bread", whatever there is; or numbers of a queue. */
static void lie(void* context, const fake_request* request, fake_reply* reply)
{
    const liar* self = context;
    char keys[8];
    snprintf(keys, sizeof(keys), "%zu", self->keys);
    bool fits = fake_request_is(request, "EVALSHA") && request->count > self->keys + 3 &&
                request->arguments[2].size == strlen(keys) &&
                memcmp(request->arguments[2].bytes, keys, strlen(keys)) == 0;
    if (!fits)
    {
        fake_reply_default(reply);
        return;
    }
    const fake_argument* sequence = &request->arguments[3 + self->keys + self->sequence];
    if (self->rest != NULL)
        fake_reply_format(reply, "*24\r\n:%.*s\r\n%s", (int)sequence->size, sequence->bytes, self->rest);
    else
        fake_reply_format(
            reply, "*9\r\n:%.*s\r\n:0\r\n:1\r\n:1\r\n:%" PRIu64 "\r\n:0\r\n$5\r\nbread\r\n:%s\r\n$5\r\n0 1 0\r\n",
            (int)sequence->size, sequence->bytes, self->remaining_us, self->attempt);
}

static gh_status take_from(const liar* self)
{
    redis_server* server = redis_server_start(NULL);
    fake_server* fake = fake_server_start(lie, (void*)(uintptr_t)self, redis_server_address(server));
    gh_client_config config = game_config(fake_server_address(fake));
    config.wake = false;
    desk* clerk = desk_open(game_start_with(&config), QUEUE);
    gh_status status = desk_take(clerk, 1);
    assert_true(status != GH_OK || clerk->take.count == 1);
    assert_true(status == GH_OK || clerk->take.count == 0);
    assert_int_equal(game_stats(clerk->owner).links_lost, 0);
    game_end(clerk->owner);
    fake_server_end(fake);
    redis_server_end(server);
    return status;
}

/* Fault 18: whoever believes that a lease is longer than it is never hears that it is over. */
static void lease_is_never_longer_than_was_asked_for(void** state)
{
    (void)state;
    assert_status(take_from(&(liar){.attempt = "1", .remaining_us = 5 * SECOND_US, .keys = 17, .sequence = 1}), GH_OK);
    assert_status(take_from(&(liar){.attempt = "1", .remaining_us = 5 * SECOND_US + 1, .keys = 17, .sequence = 1}),
                  GH_UNKNOWN);
}

/* Fault 21. */
static void least_number_of_all_is_no_attempt(void** state)
{
    (void)state;
    assert_status(take_from(&(liar){.attempt = "-1", .remaining_us = SECOND_US, .keys = 17, .sequence = 1}), GH_OK);
    assert_status(
        take_from(&(liar){.attempt = "-9223372036854775808", .remaining_us = SECOND_US, .keys = 17, .sequence = 1}),
        GH_UNKNOWN);
}

#define ZERO ":0\r\n"

/* Fault 20. */
static void counts_over_32_bits_are_not_cut(void** state)
{
    (void)state;
    liar self = {.keys = 15,
                 .sequence = 0,
                 .rest = ":1\r\n" ZERO ZERO ZERO ZERO ZERO ZERO
                         ":4294967296\r\n" ZERO ZERO ZERO ZERO ZERO ZERO ZERO ZERO ZERO ZERO ZERO ZERO ZERO ZERO ZERO};
    redis_server* server = redis_server_start(NULL);
    fake_server* fake = fake_server_start(lie, &self, redis_server_address(server));
    gh_client_config config = game_config(fake_server_address(fake));
    config.wake = false;
    desk* clerk = desk_open(game_start_with(&config), QUEUE);
    assert_status(gh_tasks_count_begin(&clerk->count, queue_made(clerk->owner->client, clerk->queue, NULL)), GH_OK);
    GAME_UNTIL(gh_op_poll(&clerk->count.op) != GH_PENDING);
    assert_status(gh_op_poll(&clerk->count.op), GH_CORRUPT);
}

TEST_FILE(tasks_over, cmocka_unit_test(nothing_stays_of_a_queue_whose_tasks_are_done),
          cmocka_unit_test(nothing_stays_of_a_queue_with_groups_and_cancelled_tasks),
          cmocka_unit_test(nothing_stays_of_a_queue_that_was_cancelled),
          cmocka_unit_test(nothing_stays_of_a_queue_whose_worker_died),
          cmocka_unit_test(letter_of_a_task_that_has_risen_is_none),
          cmocka_unit_test(all_stays_of_a_queue_that_is_not_over),
          cmocka_unit_test(worker_asks_at_once_when_the_server_was_restarted),
          cmocka_unit_test(taker_has_no_time_left_until_it_has_asked),
          cmocka_unit_test(receipts_take_no_older_generation),
          cmocka_unit_test(lease_is_never_longer_than_was_asked_for),
          cmocka_unit_test(least_number_of_all_is_no_attempt), cmocka_unit_test(counts_over_32_bits_are_not_cut));
