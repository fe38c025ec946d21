/* Tests of the store inside of guildhall_embedded with words that hardly anybody says: the least of all numbers, lines
   without an end, users that cannot be. What a real server answers to them stands here as it was heard. */

#include "store.h"
#include "store_inside.h"
#include "support/cleanup.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_store(void* store)
{
    gh_store_free(store);
}

static gh_store_link* start_with(const gh_store_config* config)
{
    gh_store* store = gh_store_new(config);
    gh_store_set_time(store, UINT64_C(1700000000000000));
    cleanup_add(free_store, store);
    return gh_store_connect(store);
}

static gh_store_link* start(void)
{
    const gh_store_config config = gh_store_config_default();
    return start_with(&config);
}

static void say(gh_store_link* link, const char* text)
{
    gh_store_feed(link, text, strlen(text));
}

static const char* heard(gh_store_link* link)
{
    static char text[4096];
    text[gh_store_take(link, text, sizeof text - 1)] = '\0';
    return text;
}

/* Each row is a line, and the answer. */
static void assert_says(gh_store_link* link, const char* const (*rows)[2], size_t count)
{
    for (size_t i = 0; i < count; i++)
    {
        say(link, rows[i][0]);
        say(link, "\r\n");
        assert_string_equal(heard(link), rows[i][1]);
    }
}

#define COUNT_OF(rows) (sizeof(rows) / sizeof *(rows))

static void least_number_has_no_opposite(void** state)
{
    static const char* const rows[][2] = {
        {"HSET h a 1 b 2", ":2\r\n"},
        {"HRANDFIELD h -9223372036854775808",
         "-ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807\r\n"},
        {"HRANDFIELD h -9223372036854775808 WITHVALUES",
         "-ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807\r\n"},
        {"HRANDFIELD h -9223372036854775807 WITHVALUES", "-ERR value is out of range\r\n"},
        {"ZADD z 1 a 2 b", ":2\r\n"},
        {"ZRANGEBYSCORE z -inf +inf LIMIT -9223372036854775808 5", "*0\r\n"},
        {"ZRANGEBYSCORE z -inf +inf LIMIT 9223372036854775807 5", "*0\r\n"},
        {"ZRANGEBYSCORE z -inf +inf LIMIT 1 -9223372036854775808", "*1\r\n$1\r\nb\r\n"},
        {"ZRANGEBYSCORE z -inf +inf LIMIT 2 5", "*0\r\n"},
    };
    (void)state;
    assert_says(start(), rows, COUNT_OF(rows));
}

/* As a score it is none; as a bound it is as C reads it. */
static void score_beyond_all_is_none(void** state)
{
    static const char* const rows[][2] = {
        {"ZADD z 1e400 a", "-ERR value is not a valid float\r\n"},
        {"ZADD z -1e400 a", "-ERR value is not a valid float\r\n"},
        {"ZADD z 1e-400 a", "-ERR value is not a valid float\r\n"},
        {"ZINCRBY z 1e400 a", "-ERR value is not a valid float\r\n"},
        {"ZADD z 1e-310 a inf b", ":2\r\n"},
        {"ZSCORE z a", "$23\r\n9.9999999999999694e-311\r\n"},
        {"ZCOUNT z 0 1e400", ":2\r\n"},
        {"ZCOUNT z 1e-400 5", ":1\r\n"},
        {"ZCOUNT z ( 5", ":1\r\n"},
        {"*4\r\n$6\r\nZCOUNT\r\n$1\r\nz\r\n$0\r\n\r\n$2\r\n 2", ":1\r\n"},
        {"ZCOUNT z nan 5", "-ERR min or max is not a float\r\n"},
        {"ZCOUNT z 1x 5", "-ERR min or max is not a float\r\n"},
    };
    (void)state;
    assert_says(start(), rows, COUNT_OF(rows));
}

/* Nothing of the long text is ever looked at, so that it takes no memory. */
static void text_grows_to_512_megabytes(void** state)
{
    gh_str words[3] = {gh_str_literal("APPEND"), gh_str_literal("k"), gh_str_literal("abc")};
    gh_store* store = gh_store_of(start());
    const size_t size = STORE_TEXT_MAX - 2;
    void* zeros = calloc(1, size);
    (void)state;
    assert_non_null(zeros);
    assert_true(gh_str_equal(gh_store_ask(store, words, 3), gh_str_literal(":3\r\n")));
    words[2] = gh_str_make(zeros, size);
    assert_true(gh_str_equal(gh_store_ask(store, words, 3),
                             gh_str_literal("-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n")));
    words[2] = gh_str_literal("d");
    assert_true(gh_str_equal(gh_store_ask(store, words, 3), gh_str_literal(":4\r\n")));
    free(zeros);
}

static void evaluate(gh_store_link* link, const char* script)
{
    char line[512];
    snprintf(line, sizeof line, "*3\r\n$4\r\nEVAL\r\n$%zu\r\n%s\r\n$1\r\n0\r\n", strlen(script), script);
    say(link, line);
}

/* A server ends with it. */
static void error_with_a_trap_ends_nothing(void** state)
{
    static const char* const scripts[] = {
        "error(setmetatable({}, {__index = function() error('trap') end}))",
        "error(setmetatable({}, {__newindex = function() error('trap') end}))",
        "error(setmetatable({}, {__index = function() error('trap') end, __newindex = function() end}))",
        "error({err = {}})",
        "error({err = setmetatable({}, {__tostring = function() error('trap') end})})",
    };
    gh_store_link* link = start();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(scripts); i++)
    {
        evaluate(link, scripts[i]);
        assert_int_equal(heard(link)[0], '-');
        evaluate(link, "return 'well'");
        assert_string_equal(heard(link), "$4\r\nwell\r\n");
    }
}

/* So many digits of a line, and then no end of it. */
static void assert_is_closed(const gh_store_config* config, const char* begin, size_t digits, const char* expected)
{
    static char ones[65536];
    gh_store_link* link = start_with(config);
    memset(ones, '1', sizeof ones);
    say(link, begin);
    gh_store_feed(link, ones, digits / 2);
    gh_store_feed(link, ones, digits - digits / 2);
    assert_string_equal(heard(link), expected);
    assert_int_equal(gh_store_is_closed(link), expected[0] != '\0');
}

static void line_without_an_end_is_cut(void** state)
{
    const gh_store_config config = gh_store_config_default();
    (void)state;
    assert_is_closed(&config, "*", 65535, "");
    assert_is_closed(&config, "*", 65536, "-ERR Protocol error: too big mbulk count string\r\n");
    assert_is_closed(&config, "*1\r\n$", 65535, "");
    assert_is_closed(&config, "*1\r\n$", 65536, "-ERR Protocol error: too big bulk count string\r\n");
    assert_is_closed(&config, "1", 65535, "");
    assert_is_closed(&config, "1", 65536, "-ERR Protocol error: too big inline request\r\n");
    assert_is_closed(&config, "*1048577\r\n$1\r\n", 1, "");
}

/* Who has not said who he is has room for AUTH, and not for more. */
static void who_is_not_known_says_little(void** state)
{
    gh_store_config config = gh_store_config_default();
    (void)state;
    config.password = "secret";
    assert_is_closed(&config, "*10\r\n", 0, "");
    assert_is_closed(&config, "*11\r\n", 0, "-ERR Protocol error: unauthenticated multibulk length\r\n");
    assert_is_closed(&config, "*2\r\n$16384\r\n", 0, "");
    assert_is_closed(&config, "*2\r\n$16385\r\n", 0, "-ERR Protocol error: unauthenticated bulk length\r\n");
}

#define LONG_NAME "somebody_whose_name_is_longer_than_sixty_four_letters_and_who_is_known_by_all_of_it"

static void user_is_made_by_good_rules_alone(void** state)
{
    static const char* const rows[][2] = {
        {"ACL SETUSER new on nonsense", "-ERR Error in ACL SETUSER modifier 'nonsense': Syntax error\r\n"},
        {"ACL DELUSER new", ":0\r\n"},
        {"ACL SETUSER new <missing", "-ERR Error in ACL SETUSER modifier '<missing': The password you are trying to "
                                     "remove from the user does not exist\r\n"},
        {"ACL SETUSER new +", "-ERR Error in ACL SETUSER modifier '+': Unknown command or category name in ACL\r\n"},
        {"ACL SETUSER new >one >two <one", "+OK\r\n"},
        {"ACL SETUSER new off", "+OK\r\n"},
        {"ACL DELUSER new default", "-ERR The 'default' user cannot be removed\r\n"},
        {"ACL SETUSER Default on", "+OK\r\n"},
        {"ACL DELUSER new Default nobody", ":2\r\n"},
        {"*4\r\n$3\r\nACL\r\n$7\r\nSETUSER\r\n$3\r\na b\r\n$2\r\non",
         "-ERR Usernames can't contain spaces or null characters\r\n"},
        {"*4\r\n$3\r\nACL\r\n$7\r\nSETUSER\r\n$3\r\nnew\r\n$4\r\n~a b",
         "-ERR Error in ACL SETUSER modifier '~a b': Syntax error\r\n"},
        {"ACL SETUSER " LONG_NAME " on nopass +@all ~*", "+OK\r\n"},
        {"AUTH " LONG_NAME " x", "+OK\r\n"},
        {"ACL WHOAMI", "$83\r\n" LONG_NAME "\r\n"},
    };
    gh_store_link* link = start();
    gh_store_link* other = gh_store_connect(gh_store_of(link));
    (void)state;
    assert_says(link, rows, COUNT_OF(rows));
    say(other, "CLIENT KILL USER " LONG_NAME "\r\n");
    assert_string_equal(heard(other), ":1\r\n");
    assert_true(gh_store_is_closed(link));
}

static void odd_words_are_told_as_such(void** state)
{
    static const char* const rows[][2] = {
        {"SET k v", "+OK\r\n"},
        {"FLUSHDB nonsense", "-ERR syntax error\r\n"},
        {"FLUSHDB SYNC ASYNC", "-ERR syntax error\r\n"},
        {"EXISTS k", ":1\r\n"},
        {"FLUSHDB ASYNC", "+OK\r\n"},
        {"EXISTS k", ":0\r\n"},
        {"SELECT 16", "-ERR DB index is out of range\r\n"},
        {"SELECT 99999999999", "-ERR value is out of range, value must between -2147483648 and 2147483647\r\n"},
        {"CLIENT KILL ID x", "-ERR client-id should be greater than 0\r\n"},
        {"CLIENT KILL ID 0", "-ERR client-id should be greater than 0\r\n"},
        {"client|id", "-ERR unknown command 'client|id', with args beginning with: \r\n"},
        {"client|id x", "-ERR unknown command 'client|id', with args beginning with: 'x' \r\n"},
        {"*2\r\n$4\r\nSCAN\r\n$2\r\n\n5", "-ERR invalid cursor\r\n"},
    };
    (void)state;
    assert_says(start(), rows, COUNT_OF(rows));
}

static void assert_is_small(const store_buffer* buffer)
{
    assert_true(gh_store_buffer_left(buffer) == 0);
    assert_true(buffer->room <= STORE_BUFFER_KEPT);
}

/* What one long request and its answer have needed is not kept for as long as the link is there. */
static void long_words_leave_no_room_behind(void** state)
{
    const size_t size = (size_t)4 << 20;
    gh_store_link* link = start();
    gh_store* store = gh_store_of(link);
    const gh_str get[] = {gh_str_literal("GET"), gh_str_literal("k")};
    char* text = calloc(1, size);
    (void)state;
    assert_non_null(text);
    say(link, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4194304\r\n");
    gh_store_feed(link, text, size);
    say(link, "\r\n");
    assert_string_equal(heard(link), "+OK\r\n");
    assert_is_small(&link->in);
    say(link, "GET k\r\n");
    assert_int_equal(gh_store_waiting(link), size + 12);
    while (gh_store_take(link, text, 100000) > 0) continue;
    assert_is_small(&link->out);
    assert_int_equal(gh_store_ask(store, get, 2).size, size + 12);
    for (int i = 0; i < 2; i++)
    {
        say(link, "DEL k\r\n");
        assert_true(gh_store_ask(store, get, 2).size == 5);
    }
    assert_true(store->asked[0].room <= STORE_BUFFER_KEPT && store->asked[1].room <= STORE_BUFFER_KEPT);
    free(text);
}

static void publish(gh_store* store, gh_str text)
{
    const gh_str words[] = {gh_str_literal("PUBLISH"), gh_str_literal("news"), text};
    gh_store_ask(store, words, 3);
}

/* By a channel, by a pattern, and one who reads. */
static void who_listens_and_never_reads_is_dropped(void** state)
{
    const size_t size = (size_t)1 << 20;
    gh_store_link* links[3] = {start()};
    gh_store* store = gh_store_of(links[0]);
    char* text = calloc(1, size);
    (void)state;
    assert_non_null(text);
    for (int i = 0; i < 3; i++)
    {
        if (i > 0) links[i] = gh_store_connect(store);
        say(links[i], i == 1 ? "PSUBSCRIBE n*\r\n" : "SUBSCRIBE news\r\n");
        heard(links[i]);
    }
    for (int i = 0; i < 40; i++)
    {
        const uint64_t told = gh_store_told(store);
        publish(store, gh_str_make(text, size));
        assert_true(gh_store_told(store) > told);
        while (gh_store_take(links[2], text, size) > 0) continue;
        memset(text, 0, size);
        for (int k = 0; k < 2; k++) assert_int_equal(gh_store_is_closed(links[k]), i >= 31);
    }
    assert_true(gh_store_waiting(links[0]) == 0 && gh_store_waiting(links[1]) == 0);
    assert_int_equal(links[0]->out.room, 0);
    assert_false(gh_store_is_closed(links[2]));
    free(text);
}

/* Each of them would begin anew to count. */
static void coroutines_have_no_steps_of_their_own(void** state)
{
    gh_store_config config = gh_store_config_default();
    gh_store_link* link;
    (void)state;
    config.steps_max = 10000;
    link = start_with(&config);
    evaluate(link, "local function add() while true do redis.call('INCR', 'n') end end "
                   "while true do coroutine.resume(coroutine.create(add)) end");
    assert_non_null(strstr(heard(link), "Script killed by user with SCRIPT KILL"));
    assert_int_equal(gh_store_get_counts(gh_store_of(link)).stopped, 1);
    say(link, "GET n\r\n");
    assert_in_range(atoi(strchr(heard(link), '\n') + 1), 1000, 10000);
    evaluate(link, "local c = coroutine.wrap(function() return 7 end) return c()");
    assert_string_equal(heard(link), ":7\r\n");
    assert_int_equal(gh_store_get_counts(gh_store_of(link)).stopped, 1);
}

static int put_piece(lua_State* lua, const void* bytes, size_t size, void* buffer)
{
    (void)lua;
    gh_store_put(buffer, bytes, size);
    return 0;
}

static void compiled_script_is_refused(void** state)
{
    static const char* const expected =
        "-ERR Error compiling script (new function): user_script:1: unexpected symbol near 'char(27)'\r\n";
    gh_store* store = gh_store_of(start());
    store_buffer compiled = {NULL, 0, 0, 0};
    lua_State* lua = luaL_newstate();
    gh_str words[] = {gh_str_literal("SCRIPT"), gh_str_literal("LOAD"), {NULL, 0}};
    (void)state;
    assert_int_equal(luaL_loadstring(lua, "return 7"), 0);
    lua_dump(lua, put_piece, &compiled);
    lua_close(lua);
    words[2] = gh_str_make(compiled.bytes, compiled.size);
    assert_true(gh_str_equal(gh_store_ask(store, words, 3), gh_str_of(expected)));
    words[2] = gh_str_literal("\x1bLua");
    assert_true(gh_str_equal(gh_store_ask(store, words, 3), gh_str_of(expected)));
    assert_int_equal(gh_store_get_counts(store).scripts, 0);
    gh_store_buffer_end(&compiled);
}

TEST_FILE(embedded_odd, cmocka_unit_test(compiled_script_is_refused),
          cmocka_unit_test(coroutines_have_no_steps_of_their_own),
          cmocka_unit_test(who_listens_and_never_reads_is_dropped), cmocka_unit_test(long_words_leave_no_room_behind),
          cmocka_unit_test(odd_words_are_told_as_such), cmocka_unit_test(user_is_made_by_good_rules_alone),
          cmocka_unit_test(line_without_an_end_is_cut), cmocka_unit_test(who_is_not_known_says_little),
          cmocka_unit_test(error_with_a_trap_ends_nothing), cmocka_unit_test(text_grows_to_512_megabytes),
          cmocka_unit_test(least_number_has_no_opposite), cmocka_unit_test(score_beyond_all_is_none));
