/* Tests of guildhall/command.h against real servers: replies, arguments, errors, bad input. How ops end is in
   test_command_end.c, scripts in test_command_script.c, fences in test_command_fence.c, lost links in
   test_command_faults.c. */

#include "support/command.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

/* ---- replies ------------------------------------------------------------------------------------------- */

/* What EVAL returns in each way that a server can answer. */
static const char* const reply_scripts[] = {
    "return 0",
    "return -7",
    "return 9007199254740991",
    "return false",
    "return redis.status_reply('OK')",
    "return redis.status_reply('')",
    "return redis.status_reply('FINE')",
    "return ''",
    "return 'OK'",
    "return 'x'",
    "return '12345678'",
    "return '123456789'",
    "return 'a\\0b\\r\\n$3\\r\\nc'",
    "return {}",
    "return {1}",
    "return {'', {}, false, 'OK'}",
    "return {1, 'two', false, redis.status_reply('three'), redis.pcall('NO-SUCH'), {'four', {5, 'six'}}, ''}",
    "return {{{{{{'deep'}, 1}, 2}, 3}, 4}, 5}",
    "local t = {} for i = 1, 400 do t[i] = string.rep('x', i % 20) end return t"};

#define REPLY_SCRIPT_COUNT (sizeof(reply_scripts) / sizeof(reply_scripts[0]))
#define GUARD              0x5a

static gh_command* eval(game* from, const gh_command_config* config, const char* text)
{
    gh_str* words = words_of(from, "EVAL text 0", &(size_t){0});
    gh_command* command = GAME_NEW(from, gh_command);
    words[1] = gh_str_of(text);
    assert_status(gh_command_begin(command, from->client, words, 3, config), GH_OK);
    return command;
}

static redisReply* eval_by_hiredis(redis_server* server, const char* text)
{
    return redis_server_command(server, "EVAL %s 0", text);
}

static void each_reply_is_copied_as_it_came(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    for (size_t i = 0; i < REPLY_SCRIPT_COUNT; i++)
    {
        redisReply* expected = eval_by_hiredis(server, reply_scripts[i]);
        gh_command_config config = command_config(a, GH_REPEAT_NEVER, 32 * 1024);
        gh_command* command = eval(a, &config, reply_scripts[i]);
        assert_ends(command, GH_OK);
        if (!reply_equals(gh_command_reply(command), expected)) fail_msg("another reply: %s", reply_scripts[i]);
        freeReplyObject(expected);
    }
}

/* One op for each size of the memory from 0 on: too small up to the size that is needed, then enough; what the op has
   room for itself needs none. The byte behind is never written. */
static void reply_fits_exactly(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    for (size_t i = 0; i < REPLY_SCRIPT_COUNT - 1; i++)
    {
        redisReply* expected = eval_by_hiredis(server, reply_scripts[i]);
        size_t needed = reply_size_of(expected);
        gh_command** commands = GAME_NEW_ARRAY(a, gh_command*, needed + 1);
        char** memory = GAME_NEW_ARRAY(a, char*, needed + 1);
        for (size_t size = 0; size <= needed; size++)
        {
            gh_command_config config = gh_command_config_default();
            memory[size] = game_new(a, size + 8);
            memset(memory[size] + size, GUARD, 8);
            config.reply_memory = memory[size];
            config.reply_size = size;
            commands[size] = eval(a, &config, reply_scripts[i]);
        }
        for (size_t size = 0; size <= needed; size++)
        {
            bool enough = size == needed || needed <= GH_COMMAND_REPLY_INSIDE;
            assert_ends(commands[size], enough ? GH_OK : GH_TOO_SMALL);
            assert_int_equal(commands[size]->reply_needed, needed);
            if (enough) assert_true(reply_equals(gh_command_reply(commands[size]), expected));
            else assert_null(gh_command_reply(commands[size]));
            for (size_t k = 0; k < 8; k++) assert_int_equal((unsigned char)memory[size][size + k], GUARD);
        }
        freeReplyObject(expected);
    }
}

static void small_replies_need_no_memory(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_command_config config = gh_command_config_default();
    gh_command* command = say(a, &config, "SET key value");
    assert_ends(command, GH_OK);
    assert_int_equal(gh_command_reply(command)->type, GH_REPLY_STATUS);
    assert_string_equal(reply_text(a, command), "OK");
    command = say(a, &config, "INCRBY number -3");
    assert_ends(command, GH_OK);
    assert_int_equal(gh_command_reply(command)->type, GH_REPLY_INTEGER);
    assert_int_equal(gh_command_reply(command)->integer, -3);
    command = say(a, &config, "GET nothing");
    assert_ends(command, GH_OK);
    assert_int_equal(gh_command_reply(command)->type, GH_REPLY_NIL);
    command = say(a, &config, "GET key");
    assert_ends(command, GH_OK);
    assert_string_equal(reply_text(a, command), "value");
    assert_ends(say(a, &config, "SET key 0123456789abcdef0123456789abcdef"), GH_OK);
    command = say(a, &config, "GET key");
    assert_ends(command, GH_OK);
    assert_string_equal(reply_text(a, command), "0123456789abcdef0123456789abcdef");
    assert_ends(say(a, &config, "APPEND key -"), GH_OK);
    command = say(a, &config, "GET key");
    assert_ends(command, GH_TOO_SMALL);
    assert_int_equal(command->reply_needed, 40);
}

/* What is carried out but does not fit was carried out. */
static void too_small_is_done_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_command_config config = command_config(a, GH_REPEAT_SAFE, 48);
    gh_command* command = say(a, &config, "LPUSH list one");
    assert_ends(command, GH_OK);
    command = say(a, &config, "LPOP list 1");
    assert_ends(command, GH_TOO_SMALL);
    assert_int_equal(command->reply_needed, 48 + 8);
    assert_int_equal(redis_server_integer(server, "EXISTS list"), 0);
}

/* Over reply_bytes or reply_nodes: done, and told so, but nobody can say how large it is. The connection is
   given up, and the next op works. */
static void reply_over_the_clients_bounds_is_too_small(void** state)
{
    (void)state;
    static const char* const texts[] = {"return string.rep('x', 40000)",
                                        "local t = {} for i = 1, 600 do t[i] = i end return t",
                                        "return {string.rep('x', 20000), string.rep('y', 20000)}"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    for (size_t i = 0; i < 2 * sizeof(texts) / sizeof(texts[0]); i++)
    {
        gh_command_config config = command_config(a, i % 2 == 0 ? GH_REPEAT_NEVER : GH_REPEAT_SAFE, 64 * 1024);
        gh_command* command = eval(a, &config, texts[i / 2]);
        assert_ends(command, GH_TOO_SMALL);
        assert_int_equal(command->reply_needed, 0);
        assert_null(gh_command_reply(command));
        assert_ends(say(a, NULL, "PING"), GH_OK);
    }
    assert_int_equal(game_stats(a).links_lost, 6);
}

/* Deeper than the reader goes: no different from garbage. Repeating it must not cost the link for ever. */
static void reply_that_is_too_deep_is_unknown(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_command_config config = command_config(a, GH_REPEAT_NEVER, 1024);
    assert_ends(eval(a, &config, "redis.call('INCR', 'count') return {{{{{{{{{{1}}}}}}}}}}"), GH_UNKNOWN);
    assert_int_equal(redis_server_integer(server, "GET count"), 1);
    assert_ends(say(a, NULL, "PING"), GH_OK);
    config.repeat = GH_REPEAT_SAFE;
    config.timeout_us = 3600 * SECOND_US;
    assert_ends(eval(a, &config, "return {{{{{{{{{{1}}}}}}}}}}"), GH_UNKNOWN);
    assert_ends(say(a, NULL, "PING"), GH_OK);
    assert_in_range(game_stats(a).links_lost, 2, 10);
}

static void each_op_gets_its_own_reply(void** state)
{
    (void)state;
    enum
    {
        COUNT = 500
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_command* commands[COUNT];
    char line[32];
    for (int i = 0; i < COUNT; i++)
    {
        snprintf(line, sizeof(line), "ECHO number-%d", i);
        commands[i] = say(a, NULL, line);
    }
    for (int i = 0; i < COUNT; i++)
    {
        assert_ends(commands[i], GH_OK);
        snprintf(line, sizeof(line), "number-%d", i);
        assert_string_equal(reply_text(a, commands[i]), line);
    }
}

/* ---- arguments ----------------------------------------------------------------------------------------- */

static void arguments_hold_any_byte(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    char all[256];
    for (int i = 0; i < 256; i++) all[i] = (char)i;
    gh_str hostile[] = {gh_str_make(all, 256), gh_str_literal("\r\n*1\r\n$8\r\nFLUSHALL\r\n"), gh_str_literal("\0\0"),
                        gh_str_literal(""), gh_str_literal("$-1\r\n")};
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
    {
        gh_command_config config = command_config(a, GH_REPEAT_SAFE, 512);
        gh_str set[] = {gh_str_literal("SET"), gh_str_make(all, 256), hostile[i]};
        gh_str get[] = {gh_str_literal("GET"), gh_str_make(all, 256)};
        gh_command* command = GAME_NEW(a, gh_command);
        assert_status(gh_command_begin(command, a->client, set, 3, &config), GH_OK);
        assert_ends(command, GH_OK);
        redisReply* stored = redis_server_command(server, "GET %b", all, (size_t)256);
        assert_int_equal(stored->len, hostile[i].size);
        assert_memory_equal(stored->str, hostile[i].bytes, hostile[i].size);
        freeReplyObject(stored);
        assert_status(gh_command_begin(command, a->client, get, 2, &config), GH_OK);
        assert_ends(command, GH_OK);
        assert_true(gh_str_equal(gh_command_reply(command)->text, hostile[i]));
    }
}

static void takes_128_arguments(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_str words[GH_COMMAND_ARGUMENTS_MAX + 1] = {gh_str_literal("RPUSH"), gh_str_literal("list")};
    for (size_t i = 2; i <= GH_COMMAND_ARGUMENTS_MAX; i++) words[i] = gh_str_literal("element");
    gh_command* command = GAME_NEW(a, gh_command);
    for (size_t count = GH_COMMAND_ARGUMENTS_MAX - 1; count <= GH_COMMAND_ARGUMENTS_MAX; count++)
    {
        assert_status(gh_command_begin(command, a->client, words, count, NULL), GH_OK);
        assert_ends(command, GH_OK);
    }
    assert_int_equal(gh_command_reply(command)->integer, 125 + 126);
    assert_status(gh_command_begin(command, a->client, words, GH_COMMAND_ARGUMENTS_MAX + 1, NULL),
                  GH_INVALID_ARGUMENTS);
    assert_status(gh_op_poll(&command->op), GH_INVALID_ARGUMENTS); /* not the end of the last one */
    assert_null(gh_command_reply(command));
}

/* ---- errors -------------------------------------------------------------------------------------------- */

static void errors_are_reported_with_their_text(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    redis_server_do(server, "SET text abc");
    const char* lines[] = {"INCR text", "LPUSH text x", "GET", "SET text x NX XX"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
    {
        redisReply* expected = redis_server_command(server, lines[i]);
        gh_command* command = say(a, NULL, lines[i]);
        assert_int_equal(expected->type, REDIS_REPLY_ERROR);
        assert_ends(command, GH_ERROR);
        assert_true(reply_equals(gh_command_reply(command), expected));
        freeReplyObject(expected);
    }
    assert_ends(say(a, NULL, "NO-SUCH-COMMAND x"), GH_REFUSED);
    assert_string_equal(redis_server_text(server, "GET text"), "abc");
    assert_int_equal(game_stats(a).links_lost, 0);
}

static void error_text_is_cut_to_the_memory(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    redis_server_do(server, "SET text abc");
    for (size_t size = 0; size <= 56; size += 8) /* the op has room for 32 of its 65 bytes itself */
    {
        gh_command_config config = command_config(a, GH_REPEAT_NEVER, size);
        gh_command* command = say(a, &config, "LPUSH text x");
        assert_ends(command, GH_ERROR);
        assert_int_equal(gh_command_reply(command)->type, GH_REPLY_ERROR);
        assert_int_equal(gh_command_reply(command)->text.size, size < 32 ? 32 : size);
        assert_memory_equal(gh_command_reply(command)->text.bytes, "WRONGTYPE Operation against a ke", 32);
    }
}

/* ---- bad input ----------------------------------------------------------------------------------------- */

typedef struct bad_command
{
    gh_status expected;
    const gh_str* arguments;
    size_t count;
    gh_command_config config;
} bad_command;

static void expect_refused(game* a, gh_command* command, const bad_command* bad)
{
    gh_command before = *command;
    gh_client_stats stats = game_stats(a);
    assert_status(gh_command_begin(command, a->client, bad->arguments, bad->count, &bad->config), bad->expected);
    assert_begin_refused(command, &before, bad->expected);
    assert_int_equal(game_stats(a).ops_begun, stats.ops_begun);
}

#define BAD_CONFIG(status, change)                                                                                     \
    do                                                                                                                 \
    {                                                                                                                  \
        bad_command bad = {(status), words, 1, gh_command_config_default()};                                           \
        gh_command_config* config = &bad.config;                                                                       \
        change;                                                                                                        \
        expect_refused(a, command, &bad);                                                                              \
    } while (0)

static void expect_bad_configs_refused(game* a, gh_command* command)
{
    static char long_name[GH_NAME_SIZE_MAX + 1];
    static uint64_t memory[2];
    gh_str words[] = {gh_str_literal("PING")};
    BAD_CONFIG(GH_INVALID_CONFIG, memset(config, 0, sizeof(*config)));
    BAD_CONFIG(GH_INVALID_CONFIG, config->struct_size--);
    BAD_CONFIG(GH_INVALID_CONFIG, config->struct_size = SIZE_MAX);
    BAD_CONFIG(GH_INVALID_TIMEOUT, config->timeout_us = 0);
    BAD_CONFIG(GH_INVALID_TIMEOUT, config->timeout_us = 999);
    BAD_CONFIG(GH_INVALID_TIMEOUT, config->timeout_us = 3600 * SECOND_US + 1);
    BAD_CONFIG(GH_INVALID_TIMEOUT, config->timeout_us = UINT64_MAX);
    BAD_CONFIG(GH_INVALID_REPEAT, config->repeat = (gh_repeat)3);
    BAD_CONFIG(GH_INVALID_REPEAT, config->repeat = (gh_repeat)-1);
    BAD_CONFIG(GH_INVALID_BUFFER, config->reply_size = 1);
    BAD_CONFIG(GH_INVALID_BUFFER, (config->reply_memory = (char*)memory + 4, config->reply_size = 8));
    BAD_CONFIG(GH_INVALID_BUFFER, (config->reply_memory = (char*)memory + 1, config->reply_size = 8));
    BAD_CONFIG(GH_INVALID_BUFFER, (config->reply_memory = memory, config->reply_size = SIZE_MAX));
    BAD_CONFIG(GH_INVALID_FENCE, config->fence.fence = 1);
    BAD_CONFIG(GH_INVALID_FENCE, config->fence.name = gh_str_literal("sword"));
    BAD_CONFIG(GH_INVALID_FENCE, (config->fence.name = gh_str_make(NULL, 3), config->fence.fence = 1));
    BAD_CONFIG(GH_INVALID_FENCE,
               (config->fence.name = gh_str_make(long_name, GH_NAME_SIZE_MAX + 1), config->fence.fence = 1));
    BAD_CONFIG(GH_INVALID_FENCE, (config->fence.name = gh_str_make(long_name, SIZE_MAX), config->fence.fence = 1));
}

static void expect_bad_arguments_refused(game* a, gh_command* command)
{
    gh_str words[] = {gh_str_literal("PING"), gh_str_make(NULL, 1)};
    gh_str empty[] = {gh_str_literal(""), gh_str_literal("x")};
    gh_str huge[] = {gh_str_literal("ECHO"), gh_str_make("x", SIZE_MAX)};
    gh_str two_huge[] = {gh_str_literal("MSET"), gh_str_make("x", SIZE_MAX / 2), gh_str_make("x", SIZE_MAX / 2 + 2)};
    bad_command bads[] = {{GH_INVALID_ARGUMENTS, NULL, 0, gh_command_config_default()},
                          {GH_INVALID_ARGUMENTS, NULL, 1, gh_command_config_default()},
                          {GH_INVALID_ARGUMENTS, words, 0, gh_command_config_default()},
                          {GH_INVALID_ARGUMENTS, words, 2, gh_command_config_default()},
                          {GH_INVALID_ARGUMENTS, words, SIZE_MAX, gh_command_config_default()},
                          {GH_INVALID_ARGUMENTS, words, 65536 + 1, gh_command_config_default()},
                          {GH_INVALID_ARGUMENTS, words + 1, 1, gh_command_config_default()},
                          {GH_INVALID_ARGUMENTS, empty, 2, gh_command_config_default()},
                          {GH_TOO_LARGE, huge, 2, gh_command_config_default()},
                          {GH_TOO_LARGE, two_huge, 3, gh_command_config_default()}};
    for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) expect_refused(a, command, &bads[i]);
}

/* One connection serves all ops: what blocks it, or makes it something else, is for a connection of the
   caller's own. */
static void commands_that_spoil_the_link_are_refused(void** state)
{
    (void)state;
    static const char* const names[] = {
        "SUBSCRIBE", "subscribe", "PSubscribe", "SSUBSCRIBE", "UNSUBSCRIBE", "MONITOR",  "MULTI",    "EXEC",
        "DISCARD",   "WATCH",     "UNWATCH",    "SELECT",     "AUTH",        "HELLO",    "QUIT",     "RESET",
        "SYNC",      "PSYNC",     "WAIT",       "BLPOP",      "brpop",       "BLMOVE",   "BLMPOP",   "BRPOPLPUSH",
        "BZPOPMIN",  "BZPOPMAX",  "BZMPOP",     "REPLCONF",   "ASKING",      "READONLY", "readwrite"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_command* command = GAME_NEW(a, gh_command);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    {
        gh_str words[] = {gh_str_of(names[i]), gh_str_literal("x"), gh_str_literal("0")};
        bad_command bad = {GH_INVALID_ARGUMENTS, words, 3, gh_command_config_default()};
        expect_refused(a, command, &bad);
    }
    /* A zero byte may be the end of a name for a server: it depends on how its table of commands has come about. */
    static const char odd[] = "WAIT\0\0x\0MULTI  SELECT@";
    for (size_t size = 5; size <= 8; size++)
    {
        gh_str words[] = {gh_str_make(odd, size), gh_str_literal("x"), gh_str_literal("0")};
        bad_command bad = {GH_INVALID_ARGUMENTS, words, 3, gh_command_config_default()};
        expect_refused(a, command, &bad);
    }
    /* Names that only begin so, or go on with bytes that are none of a name's, are the server's to judge. */
    gh_str others[] = {gh_str_make(odd + 8, 6), gh_str_make(odd + 15, 7), gh_str_make(odd, 3), gh_str_literal("BLPOPX"),
                       gh_str_literal("MULT")};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
    {
        assert_status(gh_command_begin(command, a->client, &others[i], 1, NULL), GH_OK);
        assert_ends(command, GH_REFUSED);
    }
    assert_int_equal(game_stats(a).links_lost, 0);
}

static void bad_input_is_refused_and_changes_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_str words[] = {gh_str_literal("PING")};
    gh_command* command = GAME_NEW(a, gh_command);
    assert_status(gh_command_begin(NULL, a->client, words, 1, NULL), GH_INVALID_OP);
    assert_status(gh_command_begin(command, NULL, words, 1, NULL), GH_INVALID_CLIENT);
    expect_bad_configs_refused(a, command);
    expect_bad_arguments_refused(a, command);
    assert_status(gh_command_begin(command, a->client, words, 1, NULL), GH_OK); /* and again on one that has ended */
    assert_ends(command, GH_OK);
    expect_bad_configs_refused(a, command);
    expect_bad_arguments_refused(a, command);
    assert_status(gh_op_poll(&command->op), GH_TOO_LARGE); /* the last of them */
}

static void limits_themselves_are_allowed(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_command_config config = command_config(a, GH_REPEAT_NEVER, 8);
    config.timeout_us = 3600 * SECOND_US;
    assert_ends(say(a, &config, "PING"), GH_OK);
    config.timeout_us = 1000;
    gh_status status = settle_command(say(a, &config, "PING"));
    assert_true(status == GH_OK || status == GH_UNKNOWN || status == GH_TIMEOUT);
}

static void busy_op_is_left_alone(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_str words[] = {gh_str_literal("INCR"), gh_str_literal("other")};
    gh_command* command = say(a, NULL, "INCR count");
    gh_command before = *command;
    assert_status(gh_command_begin(command, a->client, words, 2, NULL), GH_INVALID_OP);
    assert_memory_equal(command, &before, sizeof(before));
    assert_ends(command, GH_OK);
    assert_int_equal(redis_server_integer(server, "GET count"), 1);
    assert_int_equal(redis_server_integer(server, "EXISTS other"), 0);
}

static void idle_and_null_ops_are_harmless(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_command* command = GAME_NEW(a, gh_command);
    assert_status(gh_op_poll(&command->op), GH_IDLE);
    assert_null(gh_command_reply(NULL));
    assert_null(gh_command_reply(command));
    gh_op_cancel(&command->op);
    assert_status(gh_op_poll(&command->op), GH_IDLE);
    assert_null(gh_reply_at(NULL, 0));
}

TEST_FILE(command, cmocka_unit_test(each_reply_is_copied_as_it_came), cmocka_unit_test(reply_fits_exactly),
          cmocka_unit_test(small_replies_need_no_memory), cmocka_unit_test(too_small_is_done_once),
          cmocka_unit_test(reply_over_the_clients_bounds_is_too_small),
          cmocka_unit_test(reply_that_is_too_deep_is_unknown), cmocka_unit_test(each_op_gets_its_own_reply),
          cmocka_unit_test(arguments_hold_any_byte), cmocka_unit_test(takes_128_arguments),
          cmocka_unit_test(errors_are_reported_with_their_text), cmocka_unit_test(error_text_is_cut_to_the_memory),
          cmocka_unit_test(commands_that_spoil_the_link_are_refused),
          cmocka_unit_test(bad_input_is_refused_and_changes_nothing), cmocka_unit_test(limits_themselves_are_allowed),
          cmocka_unit_test(busy_op_is_left_alone), cmocka_unit_test(idle_and_null_ops_are_harmless));
