/* Tests of guildhall/command.h against real servers: scripts of the caller's own. */

#include "support/command.h"
#include "support/server/fake_server.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

#define SCRIPT_ROOM 2048u /* command.h: a script is at most out_bytes - 2 KiB */

static const char count_and_echo[] = "redis.call('INCR', KEYS[1]) return {#KEYS, #ARGV, KEYS[1], ARGV[1]}";
static const char count_once[] = "return redis.call('INCR', KEYS[1])";

/* ---- scripts ------------------------------------------------------------------------------------------- */

static void script_sees_its_keys_and_arguments(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_script* script = script_new(a, count_and_echo);
    gh_command* command = run_script(a, NULL, script, "count other", "x y z");
    assert_ends(command, GH_OK);
    const gh_reply* reply = gh_command_reply(command);
    assert_int_equal(reply->count, 4);
    assert_int_equal(gh_reply_at(reply, 0)->integer, 2);
    assert_int_equal(gh_reply_at(reply, 1)->integer, 3);
    assert_true(gh_str_equal(gh_reply_at(reply, 2)->text, gh_str_literal("count")));
    assert_true(gh_str_equal(gh_reply_at(reply, 3)->text, gh_str_literal("x")));
    assert_ends(run_script(a, NULL, script_new(a, "return #KEYS + #ARGV"), "", ""), GH_OK);
}

static void text_is_sent_once(void** state)
{
    (void)state;
    enum
    {
        COUNT = 200
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_script* script = script_new(a, count_once);
    gh_command* commands[COUNT];
    long long loads = redis_server_calls(server, "script|load");
    long long runs = redis_server_calls(server, "evalsha");
    for (int i = 0; i < COUNT; i++)
    {
        commands[i] = run_script(a, NULL, script, "count", "");
        if (i == COUNT / 2) assert_ends(commands[i], GH_OK);
    }
    for (int i = 0; i < COUNT; i++) assert_ends(commands[i], GH_OK);
    assert_int_equal(redis_server_integer(server, "GET count"), COUNT);
    assert_int_equal(redis_server_calls(server, "script|load") - loads, 1);
    assert_int_equal(redis_server_calls(server, "evalsha") - runs, COUNT);
    assert_int_equal(redis_server_calls(server, "eval"), 0);
}

static void forgotten_script_is_healed(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_script* script = script_new(a, count_once);
    for (int i = 1; i <= 20; i++)
    {
        gh_command* command = run_script(a, NULL, script, "count", "");
        gh_command* second = run_script(a, NULL, script, "count", "");
        assert_ends(command, GH_OK);
        assert_ends(second, GH_OK);
        assert_int_equal(redis_server_integer(server, "GET count"), 2 * i);
        redis_server_do(server, "SCRIPT FLUSH");
    }
    assert_true(game_stats(a).script_reloads >= 19);
    assert_int_equal(game_stats(a).links_lost, 0);
}

static void script_survives_a_restart(void** state)
{
    (void)state;
    redis_server_options options = {.append_only = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start_ready(redis_server_address(server));
    gh_script* script = script_new(a, count_once);
    for (int i = 1; i <= 3; i++)
    {
        assert_ends(run_script(a, NULL, script, "count", ""), GH_OK);
        redis_server_restart(server);
        GAME_UNTIL(game_stats(a).links_lost == (uint64_t)i && gh_client_ready(a->client));
        assert_int_equal(redis_server_integer(server, "GET count"), i);
    }
    assert_ends(run_script(a, NULL, script, "count", ""), GH_OK);
}

/* A script that is zeroed and given another text is another script, in the same place. */
static void zeroed_script_takes_another_text(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_script* script = GAME_NEW(a, gh_script);
    for (int i = 1; i <= 5; i++)
    {
        char* text = GAME_NEW_ARRAY(a, char, 32);
        snprintf(text, 32, "return %d", i);
        memset(script, 0, sizeof(*script));
        script->text = gh_str_of(text);
        gh_command* command = run_script(a, NULL, script, "", "");
        assert_ends(command, GH_OK);
        assert_int_equal(gh_command_reply(command)->integer, i);
    }
}

static void script_errors_are_reported(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_script* broken = script_new(a, "this is not Lua");
    for (int i = 0; i < 3; i++)
    {
        gh_command* command = run_script(a, NULL, broken, "", "");
        gh_command* second = run_script(a, NULL, broken, "", "");
        assert_ends(command, GH_ERROR);
        assert_ends(second, GH_ERROR);
        assert_non_null(strstr(reply_text(a, command), "compiling"));
        assert_non_null(strstr(reply_text(a, second), "compiling"));
    }
    gh_command* command = run_script(a, NULL, script_new(a, "return redis.error_reply('PRICE too low')"), "", "");
    assert_ends(command, GH_ERROR);
    assert_string_equal(reply_text(a, command), "PRICE too low");
    command = run_script(a, NULL, script_new(a, "redis.call('SET', KEYS[1], 'x') error('oh')"), "half", "");
    assert_ends(command, GH_ERROR);
    assert_non_null(strstr(reply_text(a, command), "oh"));
    assert_string_equal(redis_server_text(server, "GET half"), "x"); /* as the header says: a script may have written */
    redis_server_do(server, "SET text abc");
    assert_ends(run_script(a, NULL, script_new(a, "return redis.call('LPUSH', KEYS[1], 1)"), "text", ""), GH_ERROR);
    assert_ends(run_script(a, NULL, script_new(a, "return redis.call('NO-SUCH')"), "", ""), GH_ERROR);
    assert_int_equal(game_stats(a).links_lost, 0);
}

/* Code words of the server in the mouth of a script: it has run, and under GH_REPEAT_NEVER it must not run
   again. */
static void script_that_talks_like_the_server_runs_once(void** state)
{
    (void)state;
    static const char* const words[] = {"BUSY try later",
                                        "LOADING the map",
                                        "NOSCRIPT for this play",
                                        "TRYAGAIN",
                                        "TRYAGAIN tomorrow",
                                        "CLUSTERDOWN x",
                                        "READONLY book",
                                        "NOAUTH here",
                                        "MASTERDOWN x",
                                        "UNBLOCKED x",
                                        "OOM x",
                                        "MISCONF x",
                                        "NOREPLICAS x",
                                        "ASK the innkeeper",
                                        "ASK 3999 coins",
                                        "MOVED house",
                                        "NOPERM for you",
                                        "CROSSSLOT x",
                                        "EXECABORT x",
                                        "WRONGPASS x",
                                        "LAYOUT x"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
    {
        char text[160];
        char key[32];
        snprintf(text, sizeof(text), "redis.call('INCR', KEYS[1]) return redis.error_reply('%s')", words[i]);
        snprintf(key, sizeof(key), "count-%zu", i);
        gh_command_config config = command_config(a, GH_REPEAT_NEVER, 256);
        config.timeout_us = SECOND_US / 5;
        gh_status status = settle_command(run_script(a, &config, script_new(a, text), key, ""));
        long long runs = redis_server_integer(server, "GET %s", key);
        bool honest = status == GH_ERROR || status == GH_UNKNOWN;
        if (runs == 1 && honest) continue;
        printf("    a script that answers \"%s\" ran %lld times and ended %s\n", words[i], runs,
               gh_status_name(status));
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/* It has run, and its error is an answer: nobody is told that nothing was done, nor asked to wait for the server. */
static void script_that_may_be_repeated_says_its_own_error(void** state)
{
    (void)state;
    static const char* const words[] = {
        "OOM potions", "MISCONF the hero is sad", "NOREPLICAS of the sword", "ASK the innkeeper",
        "MOVED house", "NOPERM for you",          "LATE for dinner by 7",    "STALE bread of 3"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
    {
        char text[160];
        snprintf(text, sizeof(text), "redis.call('INCR', KEYS[1]) return redis.error_reply('%s')", words[i]);
        gh_command_config config = command_config(a, GH_REPEAT_SAFE, 256);
        config.timeout_us = SECOND_US;
        gh_command* command = run_script(a, &config, script_new(a, text), "count", "");
        assert_ends(command, GH_ERROR);
        assert_string_equal(reply_text(a, command), words[i]);
    }
    assert_int_equal(redis_server_integer(server, "GET count"), sizeof(words) / sizeof(words[0]));
}

static void keys_and_arguments_have_bounds(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_script* script = script_new(a, "return {#KEYS, #ARGV}");
    gh_command* command = GAME_NEW(a, gh_command);
    gh_str words[GH_COMMAND_ARGUMENTS_MAX + 1];
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) words[i] = gh_str_literal("w");
    struct
    {
        size_t keys;
        size_t arguments;
        gh_status expected;
    } cases[] = {{GH_COMMAND_KEYS_MAX, 0, GH_OK},
                 {GH_COMMAND_KEYS_MAX, GH_COMMAND_ARGUMENTS_MAX - GH_COMMAND_KEYS_MAX, GH_OK},
                 {0, GH_COMMAND_ARGUMENTS_MAX, GH_OK},
                 {1, GH_COMMAND_ARGUMENTS_MAX - 1, GH_OK},
                 {0, 0, GH_OK},
                 {GH_COMMAND_KEYS_MAX + 1, 0, GH_INVALID_KEYS},
                 {SIZE_MAX, 0, GH_INVALID_KEYS},
                 {GH_COMMAND_KEYS_MAX, GH_COMMAND_ARGUMENTS_MAX - GH_COMMAND_KEYS_MAX + 1, GH_INVALID_ARGUMENTS},
                 {1, GH_COMMAND_ARGUMENTS_MAX, GH_INVALID_ARGUMENTS},
                 {0, GH_COMMAND_ARGUMENTS_MAX + 1, GH_INVALID_ARGUMENTS},
                 {1, SIZE_MAX, GH_INVALID_ARGUMENTS}};
    gh_lock* lock = command_lock(a, "sword", 60 * SECOND_US);
    gh_script* fenced = script_new(a, "return {#KEYS, #ARGV}");
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++)
    {
        size_t at = i / 2;
        gh_fence none = {{NULL, 0}, 0};
        gh_command_config config = fenced_config(a, i % 2 == 0 ? none : gh_lock_fence(lock));
        gh_command before = *command;
        gh_status status = gh_script_begin(command, a->client, i % 2 == 0 ? script : fenced, words, cases[at].keys,
                                           words, cases[at].arguments, &config);
        assert_status(status, cases[at].expected);
        if (status == GH_OK)
        {
            assert_ends(command, GH_OK);
            assert_int_equal(gh_reply_at(gh_command_reply(command), 0)->integer, cases[at].keys);
            assert_int_equal(gh_reply_at(gh_command_reply(command), 1)->integer, cases[at].arguments);
        }
        else assert_begin_refused(command, &before, cases[at].expected);
    }
}

static void bad_scripts_are_refused_and_change_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_str word = gh_str_literal("w");
    gh_str no_bytes = gh_str_make(NULL, 1);
    gh_command zero;
    memset(&zero, 0, sizeof(zero));
    gh_command* command = GAME_NEW(a, gh_command);
    gh_script* good = script_new(a, count_once);
    gh_script* empty = script_new(a, "");
    gh_script* null_text = GAME_NEW(a, gh_script);
    gh_script* too_large = GAME_NEW(a, gh_script);
    too_large->text = gh_str_make("x", a->config.out_bytes - SCRIPT_ROOM + 1);
    gh_script* huge = GAME_NEW(a, gh_script);
    huge->text = gh_str_make("x", SIZE_MAX);
    gh_command_config bad_config = gh_command_config_default();
    bad_config.struct_size = 0;
    struct
    {
        gh_script* script;
        const gh_str* keys;
        const gh_str* arguments;
        const gh_command_config* config;
        gh_status expected;
    } cases[] = {
        {NULL, &word, &word, NULL, GH_INVALID_SCRIPT},        {empty, &word, &word, NULL, GH_INVALID_SCRIPT},
        {null_text, &word, &word, NULL, GH_INVALID_SCRIPT},   {too_large, &word, &word, NULL, GH_INVALID_SCRIPT},
        {huge, &word, &word, NULL, GH_INVALID_SCRIPT},        {good, NULL, &word, NULL, GH_INVALID_KEYS},
        {good, &no_bytes, &word, NULL, GH_INVALID_KEYS},      {good, &word, NULL, NULL, GH_INVALID_ARGUMENTS},
        {good, &word, &no_bytes, NULL, GH_INVALID_ARGUMENTS}, {good, &word, &word, &bad_config, GH_INVALID_CONFIG}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    {
        gh_script* script = cases[i].script;
        gh_script before;
        if (script != NULL) before = *script;
        assert_status(
            gh_script_begin(command, a->client, script, cases[i].keys, 1, cases[i].arguments, 1, cases[i].config),
            cases[i].expected);
        assert_begin_refused(command, &zero, cases[i].expected);
        if (script != NULL) assert_memory_equal(script, &before, sizeof(before));
    }
    assert_status(gh_script_begin(NULL, a->client, good, &word, 1, &word, 1, NULL), GH_INVALID_OP);
    assert_status(gh_script_begin(command, NULL, good, &word, 1, &word, 1, NULL), GH_INVALID_CLIENT);
    assert_int_equal(game_stats(a).ops_begun, 0);
}

/* The longest text goes through, with the fence check in front of it too. */
static void longest_script_fits(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.out_bytes = 16 * 1024;
    game* a = game_start_with(&config);
    gh_lock* lock = command_lock(a, "sword", 60 * SECOND_US);
    for (int fenced = 0; fenced < 2; fenced++)
    {
        gh_script* script = GAME_NEW(a, gh_script);
        size_t size = config.out_bytes - SCRIPT_ROOM;
        char* text = GAME_NEW_ARRAY(a, char, size + 1);
        memset(text, '-', size); /* a comment of one line */
        memcpy(text + size - 10, "\nreturn 42", 10);
        script->text = gh_str_make(text, size);
        gh_fence none = {{NULL, 0}, 0};
        gh_command_config want = fenced_config(a, fenced ? gh_lock_fence(lock) : none);
        gh_command* command = run_script(a, &want, script, "", "");
        assert_ends(command, GH_OK);
        assert_int_equal(gh_command_reply(command)->integer, 42);
    }
}

/* The text is under way, the script itself is not: nothing can have been carried out. */
static void script_that_waits_for_its_text_is_not_sent(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    redis_server_freeze(server);
    gh_command_config config = command_config(a, GH_REPEAT_NEVER, 0);
    config.timeout_us = SECOND_US;
    game_tick(a); /* the time counts from here */
    gh_command* late = run_script(a, &config, script_new(a, count_once), "count", "");
    gh_command* cancelled =
        run_script(a, NULL, script_new(a, "return 'other' .. redis.call('INCR', KEYS[1])"), "count", "");
    GAME_UNTIL(game_stats(a).requests_sent == 2);
    gh_op_cancel(&cancelled->op);
    game_tick(a);
    assert_status(gh_op_poll(&cancelled->op), GH_CANCELLED);
    assert_ends(late, GH_TIMEOUT);
    redis_server_thaw(server);
    assert_ends(say(a, NULL, "PING"), GH_OK);
    assert_int_equal(redis_server_integer(server, "EXISTS count"), 0);
}

/* An op that gave up while its script's text was under way must not leave the script unusable. */
static void abandoned_script_works_for_the_next(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_script* script = script_new(a, count_once);
    redis_server_freeze(server);
    gh_command_config config = command_config(a, GH_REPEAT_NEVER, 0);
    config.timeout_us = SECOND_US;
    game_tick(a); /* the time counts from here */
    gh_command* late = run_script(a, &config, script, "count", "");
    GAME_UNTIL(gh_op_poll(&late->op) != GH_PENDING);
    redis_server_thaw(server);
    assert_ends(say(a, NULL, "PING"), GH_OK);
    assert_ends(run_script(a, NULL, script, "count", ""), GH_OK);
    assert_int_equal(game_stats(a).links_lost, 0);
}

static bool forgets_scripts(void* context, const fake_request* request)
{
    (void)context;
    return fake_request_is(request, "EVALSHA") && request->count > 3 && request->arguments[3].size == 5;
}

static void answer_noscript(void* context, const fake_request* request, fake_reply* reply)
{
    if (forgets_scripts(context, request)) fake_reply_text(reply, "-NOSCRIPT No matching script. Please use EVAL.\r\n");
    else fake_reply_default(reply);
}

/* A server that never keeps a script: the op ends, and others are not held up. */
static void server_that_forgets_for_ever_is_refused(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    fake_server* fake = fake_server_start(answer_noscript, NULL, redis_server_address(server));
    game* a = game_start_ready(fake_server_address(fake));
    gh_command* command = run_script(a, NULL, script_new(a, count_once), "count", "");
    gh_status status = settle_command(command);
    assert_true(status == GH_REFUSED || status == GH_TIMEOUT);
    assert_ends(say(a, NULL, "PING"), GH_OK);
    assert_int_equal(redis_server_integer(server, "EXISTS count"), 0);
}

TEST_FILE(command_script, cmocka_unit_test(script_sees_its_keys_and_arguments), cmocka_unit_test(text_is_sent_once),
          cmocka_unit_test(forgotten_script_is_healed), cmocka_unit_test(script_survives_a_restart),
          cmocka_unit_test(zeroed_script_takes_another_text), cmocka_unit_test(script_errors_are_reported),
          cmocka_unit_test(script_that_talks_like_the_server_runs_once),
          cmocka_unit_test(script_that_may_be_repeated_says_its_own_error),
          cmocka_unit_test(keys_and_arguments_have_bounds),
          cmocka_unit_test(bad_scripts_are_refused_and_change_nothing), cmocka_unit_test(longest_script_fits),
          cmocka_unit_test(script_that_waits_for_its_text_is_not_sent),
          cmocka_unit_test(abandoned_script_works_for_the_next),
          cmocka_unit_test(server_that_forgets_for_ever_is_refused));
