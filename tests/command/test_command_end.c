/* Tests of guildhall/command.h against real servers: time-outs, cancel, capacities, the end of the client. */

#include "support/command.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

/* ---- time-outs ----------------------------------------------------------------------------------------- */

static void nobody_there_is_timeout(void** state)
{
    (void)state;
    game* a = game_start("unix:/tmp/guildhall-nobody-listens-here");
    gh_command_config config = command_config(a, GH_REPEAT_SAFE, 0);
    config.timeout_us = SECOND_US / 10;
    gh_command* safe = say(a, &config, "INCR count");
    config.repeat = GH_REPEAT_NEVER;
    gh_command* never = say(a, &config, "INCR count");
    uint64_t begun_us = wait_now_us();
    game_tick(a); /* the time counts from here */
    assert_ends(safe, GH_TIMEOUT);
    assert_ends(never, GH_TIMEOUT);
    assert_true(wait_now_us() - begun_us >= SECOND_US / 20);
    assert_null(gh_command_reply(never));
}

static void frozen_server_is_unknown(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_command_config config = command_config(a, GH_REPEAT_NEVER, 0);
    config.timeout_us = SECOND_US;
    redis_server_freeze(server);
    game_tick(a); /* the time counts from here */
    gh_command* never = say(a, &config, "INCR never");
    config.repeat = GH_REPEAT_SAFE;
    gh_command* safe = say(a, &config, "SET safe 1");
    assert_ends(never, GH_UNKNOWN);
    assert_ends(safe, GH_UNKNOWN);
    redis_server_thaw(server);
    WAIT_FOR(redis_server_integer(server, "EXISTS never safe") == 2); /* sent is sent */
    assert_ends(say(a, NULL, "INCR never"), GH_OK);
    assert_int_equal(redis_server_integer(server, "GET never"), 2);
    assert_int_equal(game_stats(a).ops_unknown, 2);
}

static const char for_ever[] = "while true do end";

static bool is_busy(redis_server* server)
{
    redisReply* reply = redis_server_command(server, "PING");
    bool busy = reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "BUSY ", 5) == 0;
    freeReplyObject(reply);
    return busy;
}

/* A server that says BUSY has not done it, whatever the repeat: asked again until the deadline. */
static void busy_server_is_timeout_or_done_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* blocker = game_start_ready(redis_server_address(server));
    redis_server_do(server, "CONFIG SET busy-reply-threshold 1");
    gh_command_config config = command_config(a, GH_REPEAT_NEVER, 8);
    run_script(blocker, &config, script_new(blocker, for_ever), "", "");
    GAME_UNTIL(is_busy(server));
    config.timeout_us = SECOND_US / 5;
    gh_command* late = say(a, &config, "INCR late");
    config.timeout_us = 10 * SECOND_US * suite_patience();
    gh_command* patient = say(a, &config, "INCR patient");
    GAME_UNTIL(gh_op_poll(&late->op) != GH_PENDING);
    gh_status ended = gh_op_poll(&late->op); /* UNKNOWN where the end fell between the question and "BUSY" */
    assert_true(ended == GH_TIMEOUT || ended == GH_UNKNOWN);
    assert_status(gh_op_poll(&patient->op), GH_PENDING);
    assert_true(game_stats(a).retries > 0);
    redisReply* killed = redis_server_command(server, "SCRIPT KILL");
    freeReplyObject(killed);
    assert_ends(patient, GH_OK);
    assert_int_equal(redis_server_integer(server, "GET patient"), 1);
    assert_int_equal(redis_server_integer(server, "EXISTS late"), 0);
}

/* ---- cancel -------------------------------------------------------------------------------------------- */

static void cancel_before_it_is_sent_means_not_done(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_command* before_the_link = say(a, NULL, "INCR count");
    gh_op_cancel(&before_the_link->op);
    assert_ends(before_the_link, GH_CANCELLED);
    GAME_UNTIL(gh_client_ready(a->client));
    gh_command* before_the_tick = say(a, NULL, "INCR count");
    gh_op_cancel(&before_the_tick->op);
    gh_op_cancel(&before_the_tick->op);
    assert_ends(before_the_tick, GH_CANCELLED);
    assert_null(gh_command_reply(before_the_tick));
    assert_ends(say(a, NULL, "PING"), GH_OK); /* whatever was to be sent has been sent before */
    assert_int_equal(redis_server_integer(server, "EXISTS count"), 0);
}

static void cancel_after_it_was_sent_changes_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    redis_server_freeze(server);
    gh_command* command = say(a, NULL, "INCR count");
    GAME_UNTIL(game_stats(a).requests_sent == 1);
    gh_op_cancel(&command->op);
    game_tick(a);
    assert_status(gh_op_poll(&command->op), GH_PENDING);
    redis_server_thaw(server);
    assert_ends(command, GH_OK);
    assert_int_equal(gh_command_reply(command)->integer, 1);
    gh_op_cancel(&command->op);
    assert_status(gh_op_poll(&command->op), GH_OK);
    assert_int_equal(redis_server_integer(server, "GET count"), 1);
}

/* Between two attempts nothing is under way, and the server has said that it did nothing. */
static void cancel_between_attempts_means_not_done(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    redis_server_do(server, "SET filler x");
    redis_server_do(server, "CONFIG SET maxmemory 1");
    gh_command* command = say(a, NULL, "INCR count");
    GAME_UNTIL(game_stats(a).retries >= 3 && game_stats(a).requests_sent == 0);
    gh_op_cancel(&command->op);
    assert_ends(command, GH_CANCELLED);
    redis_server_do(server, "CONFIG SET maxmemory 0");
    assert_ends(say(a, NULL, "PING"), GH_OK);
    assert_int_equal(redis_server_integer(server, "EXISTS count"), 0);
}

/* ---- capacities ---------------------------------------------------------------------------------------- */

static gh_client_config small_config(redis_server* server, uint32_t ops_capacity)
{
    gh_client_config config = game_config(redis_server_address(server));
    config.ops_capacity = ops_capacity;
    config.requests_capacity = 8;
    config.out_bytes = 16 * 1024;
    config.reply_bytes = 16 * 1024;
    config.reply_nodes = 64;
    return config;
}

static void thousands_go_through_small_capacities(void** state)
{
    (void)state;
    enum
    {
        CAPACITY = 4096
    };
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = small_config(server, CAPACITY);
    game* a = game_start_with(&config);
    gh_command** commands = GAME_NEW_ARRAY(a, gh_command*, CAPACITY);
    gh_command* extra = GAME_NEW(a, gh_command);
    gh_str words[] = {gh_str_literal("INCR"), gh_str_literal("count")};
    gh_command_config patient = command_config(a, GH_REPEAT_NEVER, 0);
    patient.timeout_us = 60 * SECOND_US;
    for (int i = 0; i < CAPACITY; i++) commands[i] = say(a, &patient, "INCR count");
    assert_status(gh_command_begin(extra, a->client, words, 2, &patient), GH_NO_ROOM);
    assert_status(gh_op_poll(&extra->op), GH_NO_ROOM);
    for (int i = 0; i < CAPACITY; i++)
    {
        assert_ends(commands[i], GH_OK);
        assert_int_equal(gh_command_reply(commands[i])->integer, i + 1); /* in the order of begin */
    }
    assert_int_equal(redis_server_integer(server, "GET count"), CAPACITY);
    assert_int_equal(game_stats(a).ops_busy_max, CAPACITY);
    assert_int_equal(game_stats(a).requests_sent_max, 8);
    assert_status(gh_command_begin(extra, a->client, words, 2, &patient), GH_OK);
    assert_ends(extra, GH_OK);
}

/* The largest request goes through, alone and among others; one byte more is refused at once. */
static void largest_request_fits(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = small_config(server, 64);
    config.reply_bytes = 32 * 1024;
    game* a = game_start_with(&config);
    char* payload = GAME_NEW_ARRAY(a, char, config.out_bytes);
    memset(payload, 'x', config.out_bytes);
    gh_str words[] = {gh_str_literal("SET"), gh_str_literal("large"), gh_str_make(payload, 0)};
    gh_command* command = GAME_NEW(a, gh_command);
    words[2].size = config.out_bytes;
    while (gh_command_begin(command, a->client, words, 3, NULL) == GH_TOO_LARGE) words[2].size--;
    assert_true(words[2].size >= config.out_bytes - 2048 - 128); /* about what the header of a script leaves */
    for (int i = 0; i < 10; i++) say(a, NULL, "INCR count");
    assert_ends(command, GH_OK);
    assert_int_equal(redis_server_integer(server, "STRLEN large"), words[2].size);
    words[2].size++;
    assert_status(gh_command_begin(command, a->client, words, 3, NULL), GH_TOO_LARGE);
    GAME_UNTIL(game_stats(a).ops_busy == 0);
    assert_int_equal(redis_server_integer(server, "GET count"), 10);
}

/* ---- the client's end ---------------------------------------------------------------------------------- */

static void drain_ends_each_op_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = small_config(server, 64);
    game* a = game_start_with(&config);
    gh_str words[] = {gh_str_literal("INCR"), gh_str_literal("count")};
    GAME_UNTIL(gh_client_ready(a->client));
    redis_server_freeze(server);
    gh_command* commands[20];
    for (int i = 0; i < 20; i++) commands[i] = say(a, NULL, "INCR count");
    GAME_UNTIL(game_stats(a).requests_sent == 8);
    assert_status(gh_client_drain(a->client, 20 * SECOND_US), GH_OK);
    gh_command* refused = GAME_NEW(a, gh_command);
    assert_status(gh_command_begin(refused, a->client, words, 2, NULL), GH_CLOSED);
    assert_status(gh_op_poll(&refused->op), GH_CLOSED);
    game_tick(a);
    for (int i = 0; i < 20; i++) assert_status(gh_op_poll(&commands[i]->op), i < 8 ? GH_PENDING : GH_CANCELLED);
    redis_server_thaw(server);
    GAME_UNTIL(gh_client_drained(a->client));
    for (int i = 0; i < 8; i++) assert_status(gh_op_poll(&commands[i]->op), GH_OK);
    assert_int_equal(redis_server_integer(server, "GET count"), 8);
    assert_int_equal(game_stats(a).ops_begun, game_stats(a).ops_ended);
}

static void drain_that_takes_too_long_is_unknown(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    redis_server_freeze(server);
    gh_command* sent = say(a, NULL, "INCR count");
    GAME_UNTIL(game_stats(a).requests_sent == 1);
    gh_command* queued = say(a, NULL, "INCR count");
    assert_status(gh_client_drain(a->client, SECOND_US / 20), GH_OK);
    GAME_UNTIL(gh_client_drained(a->client));
    assert_status(gh_op_poll(&sent->op), GH_UNKNOWN);
    assert_status(gh_op_poll(&queued->op), GH_CANCELLED);
}

static void shutdown_ends_each_op(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    redis_server_freeze(server);
    gh_command* sent = say(a, NULL, "INCR count");
    GAME_UNTIL(game_stats(a).requests_sent == 1);
    gh_command* queued = say(a, NULL, "INCR count");
    a->asleep = true; /* its client is gone from here on */
    gh_client_shutdown(a->client);
    assert_status(gh_op_poll(&sent->op), GH_UNKNOWN);
    assert_status(gh_op_poll(&queued->op), GH_CANCELLED);
    redis_server_thaw(server);
}

TEST_FILE(command_end, cmocka_unit_test(nobody_there_is_timeout), cmocka_unit_test(frozen_server_is_unknown),
          cmocka_unit_test(busy_server_is_timeout_or_done_once),
          cmocka_unit_test(cancel_before_it_is_sent_means_not_done),
          cmocka_unit_test(cancel_after_it_was_sent_changes_nothing),
          cmocka_unit_test(cancel_between_attempts_means_not_done),
          cmocka_unit_test(thousands_go_through_small_capacities), cmocka_unit_test(largest_request_fits),
          cmocka_unit_test(drain_ends_each_op_once), cmocka_unit_test(drain_that_takes_too_long_is_unknown),
          cmocka_unit_test(shutdown_ends_each_op));
