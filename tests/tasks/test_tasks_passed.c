/* Places of tasks that are not there: a take passes over them, many in a request, and in no time at all. */

#include "support/scene/desk.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

#define QUEUE "mail"
#define KEY   "gh:{tasks:mail}:"
#define FLOOD 2000u
#define BATCH 25u /* of a push or a cancel */

/* What a take may need: a request for as many as it wants, one more where there is nothing behind, and those that look
   at so many places, or groups; of the places in the lines of groups these are fewer. */
#define REQUESTS(places) (2 + FLOOD / (places) + 1)
#define PLACES           128u
#define PLACES_GROUPED   30u
#define GROUPS           48u /* without a task */

static desk* desk_on(redis_server* server)
{
    return desk_open(game_start_ready(redis_server_address(server)), QUEUE);
}

typedef struct crowd
{
    char ids[BATCH][16];
    char groups[BATCH][16];
    gh_task_spec specs[BATCH];
    gh_task_ref refs[BATCH];
} crowd;

static void cancel_them(desk* clerk, crowd* some)
{
    for (unsigned i = 0; i < BATCH; i++) some->refs[i].id = some->specs[i].id;
    assert_status(gh_tasks_cancel_begin(&clerk->edit, desk_queue(clerk), some->refs, BATCH), GH_OK);
    GAME_UNTIL(gh_op_poll(&clerk->edit.op) != GH_PENDING);
    assert_status(gh_op_poll(&clerk->edit.op), GH_OK);
}

/* So many tasks are pushed and cancelled; each of a group of its own, or of none. There must be another one in the
   queue: where there is none at all, the places go at once. */
static void push_and_cancel(desk* clerk, unsigned count, bool grouped)
{
    static unsigned serial = 0;
    crowd some;
    memset(&some, 0, sizeof some);
    for (unsigned done = 0; done < count; done += BATCH)
    {
        for (unsigned i = 0; i < BATCH; i++)
        {
            snprintf(some.ids[i], sizeof(some.ids[i]), "dead%u", ++serial);
            snprintf(some.groups[i], sizeof(some.groups[i]), "of%u", serial);
            some.specs[i] =
                (gh_task_spec){.id = gh_str_of(some.ids[i]), .group = gh_str_of(grouped ? some.groups[i] : "")};
        }
        assert_status(desk_push_all(clerk, some.specs, BATCH), GH_OK);
        cancel_them(clerk, &some);
    }
}

/* The task is the next one, and a take has it after so many requests at most. */
static void assert_taken_within(desk* clerk, redis_server* server, const char* id, long long requests)
{
    long long before = redis_server_calls(server, "evalsha");
    (void)desk_take_one(clerk, id);
    assert_in_range(redis_server_calls(server, "evalsha") - before, 1, requests);
}

/* ---- many in a request --------------------------------------------------------------------------------- */

static void cancelled_tasks_are_passed_over_many_at_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push(clerk, "first", ""), GH_OK);
    push_and_cancel(clerk, FLOOD, false);
    assert_status(desk_push(clerk, "second", ""), GH_OK);
    assert_status(desk_push(clerk, "third", ""), GH_OK);
    assert_taken_within(clerk, server, "first", 1);
    assert_taken_within(clerk, server, "second", REQUESTS(PLACES));
    assert_taken_within(clerk, server, "third", 1);
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "r0"), 0);
}

static void cancelled_tasks_are_passed_over_many_at_once_by_weight(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    for (int i = 0; i < GH_TASKS_CLASSES; i++) clerk->config.weights[i] = 1;
    assert_status(desk_push_class(clerk, "first", 1), GH_OK);
    push_and_cancel(clerk, FLOOD, false);
    assert_status(desk_push(clerk, "second", ""), GH_OK);
    assert_taken_within(clerk, server, "first", 2); /* behind a place of the other class */
    assert_taken_within(clerk, server, "second", REQUESTS(PLACES));
}

/* It wants three, and there are five behind those that were cancelled: two of these stay where they are. */
static void take_that_looks_on_takes_no_more_than_it_wants(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push_class(clerk, "f", 1), GH_OK);
    push_and_cancel(clerk, 50, false);
    for (int i = 0; i < 5; i++) assert_status(desk_push(clerk, (const char*[]){"a", "b", "c", "d", "e"}[i], ""), GH_OK);
    assert_status(desk_take(clerk, 3), GH_OK);
    assert_string_equal(desk_ids(clerk), "a b c");
    assert_int_equal(redis_server_integer(server, "LLEN " KEY "r0"), 2);
    assert_int_equal(desk_look(clerk, "d"), GH_TASK_STATE_READY);
    assert_status(desk_take(clerk, 50), GH_OK);
    assert_string_equal(desk_ids(clerk), "d e f");
}

/* ---- with groups --------------------------------------------------------------------------------------- */

/* A group without a line waits for its turn in the ring. */
static void groups_that_were_cancelled_are_passed_over_many_at_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push_group(clerk, "first", "elves"), GH_OK);
    push_and_cancel(clerk, FLOOD, true);
    assert_status(desk_push_group(clerk, "second", "dwarves"), GH_OK);
    assert_taken_within(clerk, server, "first", 1);
    assert_taken_within(clerk, server, "second", REQUESTS(GROUPS));
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "q " KEY "g"), 0);
}

static void cancelled_tasks_without_a_group_are_passed_over_many_at_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push_group(clerk, "first", "elves"), GH_OK);
    push_and_cancel(clerk, FLOOD, false);
    assert_status(desk_push(clerk, "second", ""), GH_OK);
    assert_taken_within(clerk, server, "first", 1);
    assert_taken_within(clerk, server, "second", REQUESTS(PLACES_GROUPED));
}

/* The next class waits until all of them are passed over, and one is handed out that lies behind them. */
static void places_that_are_passed_over_are_of_their_class(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push_group(clerk, "first", "elves"), GH_OK);
    assert_status(desk_push_class(clerk, "last", 1), GH_OK);
    push_and_cancel(clerk, 300, true);
    assert_status(desk_push_group(clerk, "second", "dwarves"), GH_OK);
    push_and_cancel(clerk, 300, false);
    assert_status(desk_push(clerk, "third", ""), GH_OK);
    desk_take_one(clerk, "first");
    desk_take_one(clerk, "second");
    desk_take_one(clerk, "third");
    desk_take_one(clerk, "last");
}

/* Planted by hand: due, and without a payload. Twelve at a time join their lines, and nobody waits in between. */
static void what_is_due_and_not_there_is_passed_over_without_a_pause(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push_group(clerk, "first", "elves"), GH_OK);
    assert_taken_within(clerk, server, "first", 1);
    for (unsigned i = 0; i < 60; i++) redis_server_do(server, "ZADD " KEY "d0 1 nobody%u", i);
    assert_status(desk_push_delayed(clerk, "second", 1), GH_OK);
    assert_taken_within(clerk, server, "second", 2 + 60 / 12);
}

/* ---- rules --------------------------------------------------------------------------------------------- */

/* To pass over a place is no hand-out: it uses up none of the burst, and finds room for one among those that run. */
static void rules_count_no_place_that_is_passed_over(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push_delayed(clerk, "later", 3600 * SECOND_US), GH_OK);
    push_and_cancel(clerk, FLOOD, false);
    for (int i = 0; i < 4; i++) assert_status(desk_push(clerk, (const char*[]){"a", "b", "c", "d"}[i], ""), GH_OK);
    desk_control(clerk, (gh_tasks_rules){
                            .running_max = 3, .rate_count = 1, .rate_period_us = 3600 * SECOND_US, .rate_burst = 2});
    assert_taken_within(clerk, server, "a", REQUESTS(PLACES));
    assert_status(desk_take(clerk, 50), GH_OK);
    assert_string_equal(desk_ids(clerk), "b");
    assert_status(desk_take(clerk, 1), GH_LIMITED);
    desk_control(clerk, (gh_tasks_rules){.running_max = 3});
    assert_status(desk_take(clerk, 50), GH_OK);
    assert_string_equal(desk_ids(clerk), "c");
    assert_status(desk_take(clerk, 50), GH_LIMITED);
    desk_control(clerk, (gh_tasks_rules){.paused = true});
    assert_status(desk_take(clerk, 50), GH_PAUSED);
    assert_int_equal(desk_look(clerk, "d"), GH_TASK_STATE_READY);
}

/* ---- in no time ---------------------------------------------------------------------------------------- */

/* Places of a task that lies elsewhere, planted by hand: its payload is read for nothing, so fewer go in a request. */
static void payloads_that_are_read_for_nothing_are_few_in_a_request(void** state)
{
    (void)state;
    static char payload[GH_TASK_PAYLOAD_SIZE_MAX];
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    memset(payload, 'x', sizeof(payload));
    gh_task_spec large = {.id = gh_str_literal("large"), .payload = gh_str_make(payload, sizeof(payload))};
    assert_status(desk_push_all(clerk, &large, 1), GH_OK);
    (void)desk_take_one(clerk, "large");
    for (unsigned i = 0; i < 300; i++) redis_server_do(server, "RPUSH " KEY "r0 large");
    assert_status(desk_push(clerk, "next", ""), GH_OK);
    long long before = redis_server_calls(server, "evalsha");
    (void)desk_take_one(clerk, "next");
    assert_in_range(redis_server_calls(server, "evalsha") - before, 300 * sizeof(payload) / (2 * GH_TASKS_BYTES_MAX),
                    300 * sizeof(payload) / GH_TASKS_BYTES_MAX * 2);
    assert_int_equal(desk_look(clerk, "large"), GH_TASK_STATE_RUNNING);
}

/* ---- rights ---------------------------------------------------------------------------------------------- */

/* What is due goes into a line by RPUSH, which tasks_take calls through a function of its own. */
static void right_to_join_a_line_is_looked_at_first(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    assert_status(desk_push_group(clerk, "first", "elves"), GH_OK);
    assert_status(desk_push_delayed(clerk, "due", 1000), GH_OK);
    redis_server_do(server, "ACL SETUSER default -rpush");
    desk* late = desk_on(server);
    uint64_t until_us = wait_now_us() + 2000;
    GAME_UNTIL(wait_now_us() > until_us);
    assert_status(desk_take(late, 2), GH_REFUSED);
    redis_server_do(server, "ACL SETUSER default +rpush");
    assert_int_equal(redis_server_integer(server, "ZCARD " KEY "d0"), 1);
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "l " KEY "w"), 0);
}

TEST_FILE(tasks_passed, cmocka_unit_test(cancelled_tasks_are_passed_over_many_at_once),
          cmocka_unit_test(cancelled_tasks_are_passed_over_many_at_once_by_weight),
          cmocka_unit_test(take_that_looks_on_takes_no_more_than_it_wants),
          cmocka_unit_test(groups_that_were_cancelled_are_passed_over_many_at_once),
          cmocka_unit_test(cancelled_tasks_without_a_group_are_passed_over_many_at_once),
          cmocka_unit_test(places_that_are_passed_over_are_of_their_class),
          cmocka_unit_test(what_is_due_and_not_there_is_passed_over_without_a_pause),
          cmocka_unit_test(rules_count_no_place_that_is_passed_over),
          cmocka_unit_test(payloads_that_are_read_for_nothing_are_few_in_a_request),
          cmocka_unit_test(right_to_join_a_line_is_looked_at_first));
