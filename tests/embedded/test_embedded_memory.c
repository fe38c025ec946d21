/* Tests of the memory of the embedded store's Lua: a settled engine forgets what scripts make, and is then as it was.
 */

#include "store.h"
#include "store_inside.h"
#include "support/cleanup.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

typedef struct settled
{
    gh_store_engine* engine;
    gh_store* store;
    gh_store_link* link;
} settled;

static void end(void* world)
{
    settled* self = world;
    gh_store_free(self->store);
    gh_store_engine_free(self->engine);
}

static settled* start(void)
{
    static settled self;
    gh_store_config config = gh_store_config_default();
    self.engine = config.engine = gh_store_engine_new();
    self.store = gh_store_new(&config);
    self.link = gh_store_connect(self.store);
    cleanup_add(end, &self);
    gh_store_engine_settle(self.engine);
    return &self;
}

/* Asked for with a text, and the script must answer EXPECTED. */
static void assert_runs(settled* self, const char* script, const char* argument, const char* expected)
{
    char line[1024], answer[1024];
    const size_t size =
        (size_t)snprintf(line, sizeof line, "*4\r\n$4\r\nEVAL\r\n$%zu\r\n%s\r\n$1\r\n0\r\n$%zu\r\n%s\r\n",
                         strlen(script), script, strlen(argument), argument);
    assert_true(size < sizeof line);
    gh_store_feed(self->link, line, size);
    answer[gh_store_take(self->link, answer, sizeof answer - 1)] = '\0';
    assert_string_equal(answer, expected);
}

/* With a sanitizer nothing is forgotten, so that it sees each piece. */
static void assert_settled(const settled* self, bool expected)
{
    assert_int_equal(self->engine->memory.is_young, expected && STORE_POOL_LARGEST > 0);
}

static void assert_works(settled* self)
{
    assert_runs(self,
                "local t = {} for i = 1, 50 do t[i] = ARGV[1] .. i end redis.call('SET', 'k', table.concat(t, ' ')) "
                "return {#redis.call('GET', 'k'), t[50], string.format('%d', 7)}",
                "word", "*3\r\n:340\r\n$6\r\nword50\r\n$1\r\n7\r\n");
}

static void what_scripts_make_is_forgotten(void** state)
{
    settled* self = start();
    (void)state;
    for (int i = 0; i < 5000; i++) assert_works(self);
    assert_settled(self, true);
    assert_true((size_t)lua_gc(self->engine->lua, LUA_GCCOUNT, 0) < 2048);
}

/* Large texts and tables, deep calls, coroutines: all of them move parts of Lua's state. */
static void state_that_has_moved_is_put_back(void** state)
{
    static const char* const scripts[][2] = {
        {"return #string.rep(ARGV[1], 20000)", ":20000\r\n"},
        {"local s = ARGV[1] for i = 1, 12 do s = s .. s end return #s", ":4096\r\n"},
        {"local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end return deep(700)", ":700\r\n"},
        {"return #{unpack({string.byte(string.rep('a', 3000), 1, 3000)})}", ":3000\r\n"},
        {"local c = coroutine.wrap(function() coroutine.yield(4) end) return c()", ":4\r\n"},
        {"local t = {} for i = 1, 2000 do t[i] = {i} t['n' .. i % 100] = i end return #t", ":2000\r\n"},
        {"return {pcall(function() error('no') end)}", "*2\r\n$-1\r\n"},
    };
    settled* self = start();
    (void)state;
    for (int round = 0; round < 200; round++)
    {
        for (size_t i = 0; i < sizeof scripts / sizeof *scripts - 1; i++)
            assert_runs(self, scripts[i][0], "x", scripts[i][1]);
        assert_works(self);
    }
    assert_settled(self, true);
}

static void what_a_script_does_to_lua_goes(void** state)
{
    settled* self = start();
    (void)state;
    for (int i = 0; i < 2000; i++)
    {
        assert_runs(self, "rawset(_G, 'mine', {ARGV[1]}) rawset(string, 'more', ARGV) return mine[1]", "x",
                    "$1\r\nx\r\n");
        assert_works(self);
    }
    gh_store_engine_settle(self->engine);
    assert_settled(self, true);
    if (STORE_POOL_LARGEST == 0) return;
    assert_runs(self, "return {tostring(rawget(_G, 'mine')), tostring(string.more)}", "x",
                "*2\r\n$3\r\nnil\r\n$3\r\nnil\r\n");
}

static void new_scripts_stay(void** state)
{
    settled* self = start();
    char script[64], expected[64];
    (void)state;
    for (int round = 0; round < 3; round++)
    {
        for (int i = 0; i < 60; i++)
        {
            snprintf(script, sizeof script, "return {ARGV[1], %d, 'text %d'}", i, i);
            snprintf(expected, sizeof expected, "*3\r\n$3\r\nabc\r\n:%d\r\n$%d\r\ntext %d\r\n", i, i < 10 ? 6 : 7, i);
            assert_runs(self, script, "abc", expected);
            assert_works(self);
        }
        assert_runs(self, "return (", "",
                    "-ERR Error compiling script (new function): user_script:1: unexpected symbol near '<eof>'\r\n");
    }
    assert_settled(self, true);
}

/* From then on it is as if it had not been settled, until it is again. */
static void collector_has_the_last_word(void** state)
{
    static const char* const scripts[][2] = {
        {"collectgarbage() return 1", ":1\r\n"},
        {"local n = 0 for i = 1, 40000 do n = n + #(ARGV[1] .. i) end return n", ":228894\r\n"},
        {"local t = {} for i = 1, 100000 do t[i] = {} end return #t", ":100000\r\n"},
        {"local s = '' for i = 1, 3000 do s = s .. ARGV[1] end return #s", ":3000\r\n"},
    };
    settled* self = start();
    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        for (int round = 0; round < 3; round++)
        {
            assert_works(self);
            assert_settled(self, true);
            assert_runs(self, scripts[i][0], "x", scripts[i][1]);
            assert_settled(self, false);
            for (int again = 0; again < 1000; again++) assert_works(self);
            assert_runs(self, scripts[i][0], "x", scripts[i][1]);
            gh_store_engine_settle(self->engine);
        }
}

TEST_FILE(embedded_memory, cmocka_unit_test(what_scripts_make_is_forgotten),
          cmocka_unit_test(state_that_has_moved_is_put_back), cmocka_unit_test(what_a_script_does_to_lua_goes),
          cmocka_unit_test(new_scripts_stay), cmocka_unit_test(collector_has_the_last_word));
