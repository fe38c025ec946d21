/* Tests of guildhall/tasks.h: stores that are not as they should be. */

#include "support/scene/desk.h"
#include "support/server/foreign.h"
#include "support/server/redis_server.h"
#include "support/scene/shop.h"

#include <stdio.h>
#include <string.h>

#define QUEUE "mail"
#define KEY   "gh:{tasks:mail}:"

static desk* desk_on(redis_server* server)
{
    return desk_open(game_start_ready(redis_server_address(server)), QUEUE);
}

static gh_status push_numbered(desk* clerk, gh_task_spec* tasks, char (*ids)[16], size_t count, gh_str payload)
{
    static unsigned serial;
    for (size_t i = 0; i < count; i++)
    {
        snprintf(ids[i], sizeof(ids[i]), "n%u", serial++);
        tasks[i] = (gh_task_spec){.id = gh_str_of(ids[i]), .payload = payload};
    }
    return desk_push_all(clerk, tasks, count);
}

static const char* const parts[] = {"c", "l", "p", "m", "w", "i", "x", "t", "r0", "r3", "d0", "d3"};

/* With each key in turn of another type, each operation either does its work or changes nothing; nothing is
   ever torn. */
static void foreign_keys_tear_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    clerk->config.lease_us = 600 * SECOND_US;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
    {
        redis_server_do(server, "FLUSHALL");
        GAME_UNTIL(gh_client_ready(clerk->owner->client));
        assert_status(desk_push(clerk, "leased", ""), GH_OK);
        desk_take_one(clerk, "leased");
        assert_status(desk_push(clerk, "ready", ""), GH_OK);
        assert_status(desk_push_delayed(clerk, "due", 1), GH_OK);
        bool there = redis_server_integer(server, "EXISTS " KEY "%s", parts[i]) != 0;
        if (there) redis_server_do(server, "RENAME " KEY "%s aside", parts[i]);
        redis_server_do(server, "SET " KEY "%s foreign", parts[i]);

        gh_task_spec pushed[2] = {{.id = gh_str_literal("new")}, {.id = gh_str_literal("new delayed"), .delay_us = 1}};
        gh_status push = desk_push_all(clerk, pushed, 2);
        gh_tasks_take* take = GAME_NEW(clerk->owner, gh_tasks_take);
        gh_task* taken = GAME_NEW_ARRAY(clerk->owner, gh_task, 10);
        char* memory = game_new(clerk->owner, GH_TASK_BYTES_MAX);
        assert_status(gh_tasks_take_begin(take, queue_made(clerk->owner->client, clerk->queue, NULL), taken, 10, memory,
                                          GH_TASK_BYTES_MAX),
                      GH_OK);
        GAME_UNTIL(gh_op_poll(&take->op) != GH_PENDING);
        clerk->tasks[0].action = GH_TASK_ACTION_DONE;
        assert_status(gh_tasks_finish_begin(&clerk->finish, queue_made(clerk->owner->client, clerk->queue, NULL),
                                            clerk->tasks, 1),
                      GH_OK);
        GAME_UNTIL(gh_op_poll(&clerk->finish.op) != GH_PENDING);
        gh_status finish = gh_op_poll(&clerk->finish.op);
        assert_true(push == GH_OK || push == GH_CORRUPT);
        assert_true(finish == GH_OK || finish == GH_CORRUPT);
        assert_string_equal(redis_server_text(server, "GET " KEY "%s", parts[i]), "foreign");

        /* Mended: every task is there, each once. */
        redis_server_do(server, "DEL " KEY "%s", parts[i]);
        if (there) redis_server_do(server, "RENAME aside " KEY "%s", parts[i]);
        if (push == GH_CORRUPT) assert_status(desk_push_all(clerk, pushed, 2), GH_OK);
        unsigned count = gh_op_poll(&take->op) == GH_OK ? take->count : 0;
        if (finish == GH_CORRUPT) assert_status(desk_finish(clerk, &clerk->tasks[0], GH_TASK_ACTION_DONE), GH_OK);
        while (desk_take(clerk, 10) == GH_OK) count += clerk->take.count;
        if (strcmp(parts[i], "r0") != 0 && strcmp(parts[i], "d0") != 0) /* what was in there was put back, or new */
            assert_int_equal(count, 4);
        else assert_in_range(count, 3, 4);
    }
}

static void full_store_refuses_pushes_and_lets_workers_drain_it(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    gh_task_spec tasks[20];
    char ids[20][16];
    assert_status(push_numbered(clerk, tasks, ids, 20, gh_str_literal("payload")), GH_OK);
    assert_status(desk_take(clerk, 5), GH_OK); /* scripts and receipts are there */
    desk_finish_all(clerk);
    redis_server_do(server, "CONFIG SET maxmemory 1");
    clerk->config.timeout_us = SECOND_US / 5;
    tasks[0].id = gh_str_literal("refused");
    assert_status(gh_tasks_push_begin(&clerk->push, desk_queue(clerk), tasks, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&clerk->push.op) != GH_PENDING);
    assert_status(gh_op_poll(&clerk->push.op), GH_TIMEOUT);
    clerk->config.timeout_us = 5 * SECOND_US;
    assert_status(desk_take(clerk, 10), GH_OK);
    assert_int_equal(clerk->take.count, 10);
    assert_status(desk_extend(clerk), GH_OK);
    assert_status(clerk->tasks[9].status, GH_PENDING);
    desk_finish_all(clerk);
    assert_status(desk_take(clerk, 1), GH_OK);
    assert_status(desk_finish(clerk, &clerk->tasks[0], GH_TASK_ACTION_RETRY), GH_OK);
    redis_server_do(server, "CONFIG SET maxmemory 0");
}

static void places_left_over_are_passed_over(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push(clerk, "a", ""), GH_OK);
    redis_server_do(server, "LPUSH " KEY "r0 ghost");
    redis_server_do(server, "ZADD " KEY "d0 1 spook 2 a");
    redis_server_do(server, "RPUSH " KEY "r0 a a");
    assert_status(desk_take(clerk, 10), GH_OK);
    assert_string_equal(desk_ids(clerk), "a");
    desk_finish_all(clerk);
    assert_status(desk_take(clerk, 10), GH_EMPTY);
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "r0 " KEY "d0 " KEY "p " KEY "l"), 0);
}

/* As one with little room takes it: a number below zero, and the beginning of the value; the same when it asks
   again because the answer was lost. The task is its own until it says what became of it. */
static void task_without_room_is_handed_out_cut(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    char digest[FOREIGN_DIGEST_SIZE];
    char payload[401] = {0};
    memset(payload, 'x', 400);
    foreign_load(server, digest, "tasks/tasks_take.lua");
    assert_status(desk_push(clerk, "large", payload), GH_OK);
    assert_status(desk_push(clerk, "small", ""), GH_OK);
    for (int i = 0; i < 2; i++)
    {
        redisReply* reply =
            redis_server_command(server,
                                 "EVALSHA %s 17 " KEY "c " KEY "l " KEY "p " KEY "m " KEY "w " KEY "i " KEY "t " KEY
                                 "r0 " KEY "r1 " KEY "r2 " KEY "r3 " KEY "d0 " KEY "d1 " KEY "d2 " KEY "d3 " KEY
                                 "q " KEY "g 1:1 7 60000000 10 30000 300 0 %s 7000000 %s 0 0 0",
                                 digest, "", "");
        assert_int_equal(reply->type, REDIS_REPLY_ARRAY);
        assert_int_equal(reply->elements, 12);
        assert_string_equal(reply->element[6]->str, "large");
        assert_int_equal(reply->element[7]->integer, -1);
        assert_int_equal(reply->element[8]->len, 192);
        assert_memory_equal(reply->element[8]->str, "0 5 4:workxxx", 13);
        assert_string_equal(reply->element[9]->str, "small");
        assert_int_equal(reply->element[10]->integer, 1);
        assert_string_equal(reply->element[11]->str, "0 5 4:work");
        freeReplyObject(reply);
    }
    assert_int_equal(desk_look(clerk, "large"), GH_TASK_STATE_RUNNING);
    assert_int_equal(clerk->look.attempt, 1);
    assert_int_equal(redis_server_integer(server, "ZCARD " KEY "x"), 0);
}

static gh_status count_says(desk* clerk)
{
    assert_status(gh_tasks_count_begin(&clerk->count, desk_queue(clerk)), GH_OK);
    GAME_UNTIL(gh_op_poll(&clerk->count.op) != GH_PENDING);
    return gh_op_poll(&clerk->count.op);
}

static gh_status look_says(desk* clerk, const char* id)
{
    assert_status(gh_tasks_look_begin(&clerk->look, desk_queue(clerk), gh_str_of(id), NULL, 0), GH_OK);
    GAME_UNTIL(gh_op_poll(&clerk->look.op) != GH_PENDING);
    return gh_op_poll(&clerk->look.op);
}

/* Fault 12: each ends one op, and none the link. */
static void numbers_that_cannot_be_are_corrupt(void** state)
{
    (void)state;
    static const char* const numbers[] = {"-1", "9007199254740993", "1e400", "nan", "99999999999999999999"};
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push(clerk, "t", ""), GH_OK);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
    {
        redis_server_do(server, "HSET " KEY "c running_max %s", numbers[i]);
        assert_status(count_says(clerk), GH_CORRUPT);
        assert_status(desk_take(clerk, 1), GH_CORRUPT);
        redis_server_do(server, "DEL " KEY "c");
        char mark[64];
        int size = snprintf(mark, sizeof(mark), "R 0 %s - ", numbers[i]);
        redis_server_do(server, "HSET " KEY "m t %b", mark, (size_t)size);
        assert_status(desk_take(clerk, 1), GH_CORRUPT);
        redis_server_do(server, "DEL " KEY "m");
    }
    redis_server_do(server, "HSET " KEY "m t %b", "X 1 7 - why", (size_t)11);
    redis_server_do(server, "ZADD " KEY "x inf t");
    assert_status(look_says(clerk, "t"), GH_CORRUPT);
    redis_server_do(server, "ZADD " KEY "x -1 t");
    assert_status(look_says(clerk, "t"), GH_CORRUPT);
    assert_int_equal(game_stats(clerk->owner).links_lost, 0);
    redis_server_do(server, "DEL " KEY "m " KEY "x");
    desk_take_one(clerk, "t");
}

/* A worker that cannot give back what it has ends all the same. */
static void worker_leaves_a_broken_queue(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_open(server, QUEUE);
    desk* clerk = desk_on(server);
    baker->ticks_needed = 1000000;
    assert_status(desk_push(clerk, "bread", ""), GH_OK);
    GAME_UNTIL(baker->calls > 0);
    redis_server_do(server, "SET " KEY "t foreign");
    gh_op_cancel(&baker->worker.op);
    GAME_UNTIL(gh_op_poll(&baker->worker.op) == GH_CANCELLED);
    assert_int_equal(baker->told_lost, 1);
}

/* What is answered to a repeat; nobody is told "too late", and asks again and again, because it is none. */
static void receipt_that_cannot_be_is_corrupt(void** state)
{
    (void)state;
    static const char* const receipts[] = {"nonsense", "1 2 ", "1 2 o o", "1 2", "1 2 3", "-1 2 o", "o", ""};
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    gh_client* client = clerk->owner->client;
    gh_op* const ops[] = {&clerk->push.op, &clerk->edit.op, &clerk->edit.op, &clerk->control.op};
    gh_tasks_rules rules = {.running_max = 3};
    gh_task_ref ref = {.id = gh_str_literal("jo")};
    for (size_t i = 0; i < sizeof receipts / sizeof receipts[0]; i++)
    {
        for (int k = 0; k < 4; k++)
        {
            gh_task_spec spec = {.id = gh_str_literal("jo"), .unique = GH_TASK_UNIQUE_WHILE_ACTIVE};
            const gh_queue* queue = desk_queue(clerk);
            gh_status begun = k == 0   ? gh_tasks_push_begin(&clerk->push, queue, &spec, 1)
                              : k == 1 ? gh_tasks_cancel_begin(&clerk->edit, queue, &ref, 1)
                              : k == 2 ? gh_tasks_requeue_begin(&clerk->edit, queue, &ref, 1)
                                       : gh_tasks_control_begin(&clerk->control, queue, &rules);
            assert_status(begun, GH_OK);
            redis_server_do(server, "HSET " KEY "w %016llx:%016llxo %s", (unsigned long long)gh_client_id(client),
                            (unsigned long long)ops[k]->sequence, receipts[i]);
            uint64_t requests = game_stats(clerk->owner).requests;
            GAME_UNTIL(gh_op_poll(ops[k]) != GH_PENDING);
            assert_status(gh_op_poll(ops[k]), GH_CORRUPT);
            assert_true(game_stats(clerk->owner).requests <= requests + 2); /* with one that carries the script */
            assert_int_equal(redis_server_integer(server, "EXISTS " KEY "p " KEY "c"), 0);
        }
    }
    assert_status(desk_push_active(clerk, "jo", ""), GH_OK); /* another op is another receipt */
}

TEST_FILE(tasks_store, cmocka_unit_test(foreign_keys_tear_nothing),
          cmocka_unit_test(full_store_refuses_pushes_and_lets_workers_drain_it),
          cmocka_unit_test(places_left_over_are_passed_over), cmocka_unit_test(task_without_room_is_handed_out_cut),
          cmocka_unit_test(numbers_that_cannot_be_are_corrupt), cmocka_unit_test(worker_leaves_a_broken_queue),
          cmocka_unit_test(receipt_that_cannot_be_is_corrupt));
