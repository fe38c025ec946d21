/* Tests of gh_command_format against real servers: words and values, what cannot be split, what is refused, and answers
   that need no memory. */

#include "support/command.h"
#include "support/server/redis_server.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static gh_status settle_line(const gh_command_line* line)
{
    GAME_UNTIL(gh_op_poll(&line->op) != GH_PENDING);
    return gh_op_poll(&line->op);
}

static void values_stand_where_the_format_says(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_command_line* line = GAME_NEW(a, gh_command_line);
    int64_t gold = 0;
    gh_str text;
    assert_status(gh_command_format(line, a->client, NULL, "HINCRBY player:%b gold %d", gh_str_literal("jeff"), 5),
                  GH_OK);
    assert_status(settle_line(line), GH_OK);
    assert_true(gh_reply_int(gh_command_reply(&line->command), &gold));
    assert_int_equal(gold, 5);
    assert_status(gh_command_format(line, a->client, NULL, "  HMGET   player:%s gold  ", "jeff"), GH_OK);
    assert_status(settle_line(line), GH_TOO_SMALL); /* an array needs memory */
    assert_status(gh_command_format(line, a->client, NULL, "SET n %llu:%lld:%u", ULLONG_MAX, LLONG_MIN, 1u), GH_OK);
    assert_status(settle_line(line), GH_OK);
    assert_string_equal(redis_server_text(server, "GET n"), "18446744073709551615:-9223372036854775808:1");
    assert_status(gh_command_format(line, a->client, NULL, "HGET player:%s gold", "jeff"), GH_OK);
    assert_status(settle_line(line), GH_OK);
    assert_true(gh_reply_str(gh_command_reply(&line->command), &text));
    assert_true(gh_str_equal(text, gh_str_literal("5")));
}

/* Whatever a player calls himself, it stays one argument; and it may be gone as soon as begin returns. */
static void no_value_is_ever_split(void** state)
{
    static const gh_str hostile[] = {
        GH_STR_INIT("a b"),   GH_STR_INIT(" x EX 1"), GH_STR_INIT("\r\n*1\r\n$8\r\nFLUSHALL\r\n"),
        GH_STR_INIT(""),      GH_STR_INIT("%s %d"),   GH_STR_INIT("\"'\\"),
        GH_STR_INIT("\0 \0"), GH_STR_INIT(" ")};
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_command_line* line = GAME_NEW(a, gh_command_line);
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
    {
        char bytes[64];
        memcpy(bytes, hostile[i].bytes, hostile[i].size);
        assert_status(gh_command_format(line, a->client, NULL, "SET k %b", gh_str_make(bytes, hostile[i].size)), GH_OK);
        memset(bytes, '!', sizeof(bytes));
        assert_status(settle_line(line), GH_OK);
        redisReply* stored = redis_server_command(server, "GET k");
        assert_int_equal(stored->len, hostile[i].size);
        assert_memory_equal(stored->str, hostile[i].bytes, hostile[i].size);
        freeReplyObject(stored);
        assert_int_equal(redis_server_integer(server, "TTL k"), -1);
        assert_int_equal(redis_server_integer(server, "DBSIZE"), 2); /* and the epoch */
    }
}

static void a_line_has_its_bound_to_the_byte(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_command_line* line = GAME_NEW(a, gh_command_line);
    char text[GH_COMMAND_LINE_SIZE + 1];
    size_t most = GH_COMMAND_LINE_SIZE - 3 * 2 - strlen("SETk");
    memset(text, 'x', sizeof(text));
    assert_status(gh_command_format(line, a->client, NULL, "SET k %b", gh_str_make(text, most)), GH_OK);
    assert_status(settle_line(line), GH_OK);
    assert_int_equal(redis_server_integer(server, "STRLEN k"), (long long)most);
    for (size_t more = 1; more < 5; more++)
        assert_status(gh_command_format(line, a->client, NULL, "SET k %b", gh_str_make(text, most + more)),
                      GH_TOO_LARGE);
    assert_status(gh_op_poll(&line->op), GH_TOO_LARGE);
    text[GH_COMMAND_LINE_SIZE] = 0;
    for (size_t i = 0; i < GH_COMMAND_LINE_SIZE; i += 2) memcpy(text + i, "a ", 2);
    assert_status(gh_command_format(line, a->client, NULL, text), GH_TOO_LARGE);
}

static void what_cannot_be_is_refused(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_command_line* line = GAME_NEW(a, gh_command_line);
    gh_command_config config = gh_command_config_default();
    assert_status(gh_command_format(NULL, a->client, NULL, "PING"), GH_INVALID_OP);
    assert_status(gh_command_format(line, NULL, NULL, "PING"), GH_INVALID_CLIENT);
    assert_status(gh_command_format(line, a->client, NULL, NULL), GH_INVALID_ARGUMENTS);
    assert_status(gh_command_format(line, a->client, NULL, ""), GH_INVALID_ARGUMENTS);
    assert_status(gh_command_format(line, a->client, NULL, "   "), GH_INVALID_ARGUMENTS);
    assert_status(gh_command_format(line, a->client, NULL, "GET %x", 1), GH_INVALID_ARGUMENTS);
    assert_status(gh_command_format(line, a->client, NULL, "GET %s", (const char*)NULL), GH_INVALID_ARGUMENTS);
    assert_status(gh_command_format(line, a->client, NULL, "%s x", ""), GH_INVALID_ARGUMENTS);
    assert_status(gh_command_format(line, a->client, NULL, "%s key 0", "BLPOP"), GH_INVALID_ARGUMENTS);
    config.timeout_us = 0;
    assert_status(gh_command_format(line, a->client, &config, "PING"), GH_INVALID_TIMEOUT);
    assert_status(gh_command_format(line, a->client, NULL, "PING"), GH_OK);
    assert_status(gh_command_format(line, a->client, NULL, "GET other"), GH_INVALID_OP);
    assert_status(settle_line(line), GH_OK);
    assert_true(gh_str_equal(gh_command_reply(&line->command)->text, gh_str_literal("PONG")));
}

static void a_line_goes_under_a_fence(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = command_lock(a, "sword", 60 * SECOND_US);
    gh_command_config config = fenced_config(a, gh_lock_fence(lock));
    gh_command_line* line = GAME_NEW(a, gh_command_line);
    assert_status(gh_command_format(line, a->client, &config, "SET %s %d", "price", 12), GH_OK);
    assert_status(settle_line(line), GH_OK);
    assert_string_equal(redis_server_text(server, "GET price"), "12");
    config.fence.fence++;
    assert_status(gh_command_format(line, a->client, &config, "SET %s %d", "price", 13), GH_OK);
    assert_status(settle_line(line), GH_FENCED);
    assert_string_equal(redis_server_text(server, "GET price"), "12");
}

TEST_FILE(command_format, cmocka_unit_test(values_stand_where_the_format_says),
          cmocka_unit_test(no_value_is_ever_split), cmocka_unit_test(a_line_has_its_bound_to_the_byte),
          cmocka_unit_test(what_cannot_be_is_refused), cmocka_unit_test(a_line_goes_under_a_fence));
