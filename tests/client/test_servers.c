/* test_servers.c -- support/redis_server.h does to a real server what it says. */

#include "support/random.h"
#include "support/server/raw.h"
#include "support/server/redis_server.h"
#include "support/sha1.h"
#include "support/server/stream.h"
#include "support/suite.h"
#include "support/wait.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HOUR_US (INT64_C(3600) * 1000000)

static redis_server* start_with(redis_server_options options)
{
    return redis_server_start(&options);
}

/* ---- Starting and stopping ---- */

static void start_apart_from_each_other(void** state)
{
    (void)state;
    redis_server* a = redis_server_start(NULL);
    redis_server* b = redis_server_start(NULL);
    assert_true(redis_server_pid(a) > 0 && redis_server_pid(a) != redis_server_pid(b));
    assert_string_not_equal(redis_server_address(a), redis_server_address(b));
    assert_string_not_equal(redis_server_folder(a), redis_server_folder(b));
    assert_string_equal(redis_server_prefix(a), "gh");
    assert_null(redis_server_tcp_address(a));
    assert_null(redis_server_tcp6_address(a));
    redis_server_do(a, "SET key 1");
    assert_int_equal(redis_server_keys(a), 1);
    assert_int_equal(redis_server_keys(b), 0);
}

static void forget_all_without_a_file(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    redis_server_do(server, "SET key 1");
    redis_server_stop(server);
    redis_server_restart(server);
    assert_int_equal(redis_server_keys(server), 0);
}

static void remember_all_with_a_file(void** state)
{
    (void)state;
    redis_server* server = start_with((redis_server_options){.append_only = true});
    char address[RAW_ADDRESS_SIZE];
    snprintf(address, sizeof(address), "%s", redis_server_address(server));
    pid_t first = redis_server_pid(server);
    redis_server_do(server, "SET count 1");
    redis_server_stop(server);
    assert_int_equal(redis_server_pid(server), 0);
    assert_int_equal(kill(first, 0), -1);
    assert_int_equal(stream_connect(address), -1);
    redis_server_restart(server);
    assert_int_equal(redis_server_integer(server, "INCR count"), 2);
    redis_server_kill9(server);
    redis_server_restart(server);
    assert_int_equal(redis_server_integer(server, "INCR count"), 3);
    redis_server_restart(server); /* kills it first */
    assert_int_equal(redis_server_integer(server, "INCR count"), 4);
    assert_string_equal(redis_server_address(server), address);
    redis_server_restart_empty(server);
    assert_int_equal(redis_server_keys(server), 0);
}

static void keep_their_port(void** state)
{
    (void)state;
    redis_server* server = start_with((redis_server_options){.tcp = true});
    char address[RAW_ADDRESS_SIZE];
    snprintf(address, sizeof(address), "%s", redis_server_tcp_address(server));
    for (int i = 0; i < 3; i++)
    {
        int client = raw_connect(address);
        raw_say(client, "PING\r\n");
        raw_expect_text(client, "+PONG\r\n");
        if (redis_server_tcp6_address(server) != NULL)
        {
            int six = raw_connect(redis_server_tcp6_address(server));
            raw_say(six, "PING\r\n");
            raw_expect_text(six, "+PONG\r\n");
        }
        redis_server_kill9(server);
        raw_expect_end(client);
        assert_int_equal(stream_connect(address), -1);
        redis_server_restart(server);
        assert_string_equal(redis_server_tcp_address(server), address);
    }
}

static void take_arguments_users_and_passwords(void** state)
{
    (void)state;
    const char* const arguments[] = {"--requirepass", "secret", "--maxmemory", "64mb", NULL};
    redis_server* server = start_with((redis_server_options){.password = "secret", .arguments = arguments});
    redisReply* reply = redis_server_command(server, "CONFIG GET maxmemory");
    assert_int_equal(reply->elements, 2);
    assert_string_equal(reply->element[1]->str, "67108864");
    freeReplyObject(reply);
    int stranger = raw_connect(redis_server_address(server));
    raw_say(stranger, "GET key\r\n");
    raw_expect_text(stranger, "-NOAUTH");

    const char* const users[] = {"--user", "guild", "on", ">word", "~*", "+@all", "--user", "default", "off", NULL};
    redis_server_options options = {.user = "guild", .password = "word", .arguments = users};
    assert_string_equal(redis_server_text(start_with(options), "ACL WHOAMI"), "guild");
}

static void end_early(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    char folder[RAW_ADDRESS_SIZE];
    snprintf(folder, sizeof(folder), "%s", redis_server_folder(server));
    pid_t pid = redis_server_pid(server);
    assert_int_equal(access(folder, F_OK), 0);
    redis_server_end(server);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(access(folder, F_OK), -1);
}

/* ---- Freezing ---- */

static void stand_still_and_go_on(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    int before = raw_connect(redis_server_address(server));
    raw_say(before, "INCR count\r\n");
    raw_expect_text(before, ":1\r\n");
    redis_server_freeze(server);
    int during = raw_connect(redis_server_address(server)); /* the kernel accepts */
    raw_say(before, "INCR count\r\n");
    raw_close(before); /* and the request runs all the same */
    raw_say(during, "PING\r\n");
    assert_true(raw_is_silent(during, 30000));
    redis_server_thaw(server);
    raw_expect_text(during, "+PONG\r\n");
    WAIT_FOR(redis_server_integer(server, "GET count") == 2);
}

static void stop_and_die_while_frozen(void** state)
{
    (void)state;
    redis_server* server = start_with((redis_server_options){.append_only = true});
    redis_server_do(server, "SET key 1");
    redis_server_freeze(server);
    redis_server_stop(server);
    redis_server_restart(server);
    redis_server_freeze(server);
    redis_server_kill9(server);
    redis_server_restart(server);
    assert_int_equal(redis_server_integer(server, "GET key"), 1);
    redis_server_freeze(server);
    redis_server_restart(server);
    assert_int_equal(redis_server_integer(server, "GET key"), 1);
    redis_server_freeze(server); /* the end of the test finds it so */
}

/* ---- The clock ---- */

static int64_t seconds_ahead(redis_server* server)
{
    redisReply* reply = redis_server_command(server, "TIME");
    int64_t theirs = strtoll(reply->element[0]->str, NULL, 10);
    freeReplyObject(reply);
    return theirs - (int64_t)time(NULL);
}

static void have_a_clock_that_jumps(void** state)
{
    (void)state;
    redis_server* server = start_with((redis_server_options){.clock = true, .append_only = true});
    assert_in_range(seconds_ahead(server) + 2, 0, 4);
    redis_server_do(server, "SET lease 1 PX 60000");
    redis_server_shift_clock(server, -HOUR_US);
    assert_in_range(seconds_ahead(server) + 3600 + 2, 0, 4);
    assert_in_range(redis_server_integer(server, "TTL lease"), 3600, 3660);
    redis_server_shift_clock(server, 61 * INT64_C(1000000));
    assert_in_range(seconds_ahead(server) - 61 + 2, 0, 4);
    assert_null(redis_server_text(server, "GET lease"));
    redis_server_shift_clock(server, HOUR_US);
    redis_server_kill9(server);
    redis_server_restart(server);
    assert_in_range(seconds_ahead(server) - 3600 + 2, 0, 4);
    redis_server_shift_clock(server, 0);
    assert_in_range(seconds_ahead(server) + 2, 0, 4);
}

/* ---- Audits ---- */

static void answer_audits(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    redis_server_do(server, "SET bytes %b", "a\0b", (size_t)3);
    const char* text = redis_server_text(server, "GET bytes");
    assert_memory_equal(text, "a\0b", 4);
    assert_int_equal(redis_server_text_size(server), 3);
    assert_null(redis_server_text(server, "GET nothing"));
    assert_int_equal(redis_server_text_size(server), 0);
    assert_string_equal(redis_server_text(server, "PING"), "PONG");
    redis_server_do(server, "SET number -12");
    assert_int_equal(redis_server_integer(server, "GET number"), -12);
    assert_int_equal(redis_server_integer(server, "STRLEN bytes"), 3);
    redisReply* reply = redis_server_command(server, "INCR bytes");
    assert_int_equal(reply->type, REDIS_REPLY_ERROR);
    freeReplyObject(reply);
}

static void answer_audits_after_every_interruption(void** state)
{
    (void)state;
    redis_server* server = start_with((redis_server_options){.append_only = true});
    assert_int_equal(redis_server_integer(server, "INCR count"), 1);
    int other = raw_connect(redis_server_address(server));
    raw_say(other, "CLIENT KILL TYPE normal\r\n"); /* all but the caller */
    raw_expect_text(other, ":1\r\n");
    assert_int_equal(redis_server_integer(server, "INCR count"), 2);
    redis_server_kill9(server);
    redis_server_restart(server);
    assert_int_equal(redis_server_integer(server, "INCR count"), 3);
}

static void count_commands(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    assert_int_equal(redis_server_calls(server, "incr"), 0);
    for (int i = 0; i < 3; i++) redis_server_do(server, "INCR count");
    redis_server_do(server, "EVAL %s 0", "return redis.call('INCR', 'count')");
    redis_server_do(server, "CONFIG SET maxmemory 0");
    assert_int_equal(redis_server_calls(server, "incr"), 4);
    assert_int_equal(redis_server_calls(server, "incrb"), 0);
    assert_int_equal(redis_server_calls(server, "eval"), 1);
    assert_int_equal(redis_server_calls(server, "config|set"), 1);
}

static void name_scripts_as_sha1_does(void** state)
{
    (void)state;
    char script[256], name[41];
    redis_server* server = redis_server_start(NULL);
    random_stream stream = random_for_test("scripts");
    for (size_t size = 10; size < 200; size++)
    {
        memcpy(script, "return 1--", 10);
        for (size_t i = 10; i < size; i++) script[i] = (char)random_between(&stream, 'a', 'z');
        sha1_hex(script, size, name);
        assert_string_equal(redis_server_text(server, "SCRIPT LOAD %b", script, size), name);
    }
}

TEST_FILE(servers, cmocka_unit_test(start_apart_from_each_other), cmocka_unit_test(forget_all_without_a_file),
          cmocka_unit_test(remember_all_with_a_file), cmocka_unit_test(keep_their_port),
          cmocka_unit_test(take_arguments_users_and_passwords), cmocka_unit_test(end_early),
          cmocka_unit_test(stand_still_and_go_on), cmocka_unit_test(stop_and_die_while_frozen),
          cmocka_unit_test(have_a_clock_that_jumps), cmocka_unit_test(answer_audits),
          cmocka_unit_test(answer_audits_after_every_interruption), cmocka_unit_test(count_commands),
          cmocka_unit_test(name_scripts_as_sha1_does));
