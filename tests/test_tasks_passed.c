/* Places of tasks that are not there: a take passes over them, many in a request, and in no time at all. */

#include "support/desk.h"
#include "support/redis_server.h"

#define QUEUE  "mail"
#define KEY    "gh:{tasks:mail}:"

static desk* desk_on(redis_server* server)
{
    return desk_open(game_start_ready(redis_server_address(server)), QUEUE);
}

/* The task is the next one, and a take has it after so many requests at most. */
static void assert_taken_within(desk* clerk, redis_server* server, const char* id, long long requests)
{
    long long before = redis_server_calls(server, "evalsha");
    (void)desk_take_one(clerk, id);
    assert_in_range(redis_server_calls(server, "evalsha") - before, 1, requests);
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

TEST_FILE(tasks_passed, cmocka_unit_test(what_is_due_and_not_there_is_passed_over_without_a_pause));
