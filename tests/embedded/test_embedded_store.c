/* Tests of the store inside of guildhall_embedded: what a real server does not show, and tests/differential cannot see:
   its links, its hooks, its scripts. */

#include "store.h"
#include "store_inside.h"
#include "support/cleanup.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_US UINT64_C(1700000000000000)

static void free_store(void* store)
{
    gh_store_free(store);
}

static gh_store* start_with(const gh_store_config* config)
{
    gh_store* store = gh_store_new(config);
    gh_store_set_time(store, BEGIN_US);
    cleanup_add(free_store, store);
    return store;
}

static gh_store* start(void)
{
    const gh_store_config config = gh_store_config_default();
    return start_with(&config);
}

static void say(gh_store_link* link, const char* line)
{
    gh_store_feed(link, line, strlen(line));
    gh_store_feed(link, "\r\n", 2);
}

static void evaluate(gh_store_link* link, const char* script)
{
    char line[256];
    gh_store_feed(
        link, line,
        (size_t)snprintf(line, sizeof line, "*3\r\n$4\r\nEVAL\r\n$%zu\r\n%s\r\n$1\r\n0\r\n", strlen(script), script));
}

static const char* heard(gh_store_link* link)
{
    static char text[4096];
    text[gh_store_take(link, text, sizeof text - 1)] = '\0';
    return text;
}

static void assert_says(gh_store_link* link, const char* line, const char* expected)
{
    say(link, line);
    assert_string_equal(heard(link), expected);
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

/* However a request is cut, it is carried out once, when it is whole. */
static void requests_may_come_in_pieces(void** state)
{
    static const char request[] =
        "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nva\r\nl\r\n*2\r\n$3\r\nGET\r\n$3\r\nkey\r\nPING\r\n";
    gh_store* store = start();
    (void)state;
    for (size_t i = 0; i < sizeof request; i++)
    {
        gh_store_link* link = gh_store_connect(store);
        gh_store_feed(link, request, i);
        gh_store_feed(link, request + i, sizeof request - 1 - i);
        assert_string_equal(heard(link), "+OK\r\n$5\r\nva\r\nl\r\n+PONG\r\n");
        gh_store_disconnect(link);
    }
}

static void what_is_no_request_closes_the_link(void** state)
{
    static const char* const bad[][2] = {
        {"*x\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
        {"*2147483648\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
        {"*1\r\nabc\r\n", "-ERR Protocol error: expected '$', got 'a'\r\n"},
        {"*1\r\n$x\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
        {"*1\r\n$-1\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
    };
    gh_store* store = start();
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    {
        gh_store_link* link = gh_store_connect(store);
        assert_says(link, bad[i][0], bad[i][1]);
        assert_true(gh_store_is_closed(link));
        assert_says(link, "PING", "");
        gh_store_disconnect(link);
    }
}

static void who_listens_is_told(void** state)
{
    gh_store* store = start();
    gh_store_link* ear = gh_store_connect(store);
    gh_store_link* mouth = gh_store_connect(store);
    (void)state;
    assert_says(ear, "SUBSCRIBE a b",
                "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n");
    assert_says(ear, "PSUBSCRIBE x*", "*3\r\n$10\r\npsubscribe\r\n$2\r\nx*\r\n:3\r\n");
    assert_says(ear, "SSUBSCRIBE a", "*3\r\n$10\r\nssubscribe\r\n$1\r\na\r\n:1\r\n");
    assert_says(ear, "GET a",
                "-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in "
                "this context\r\n");
    assert_says(ear, "PING", "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
    assert_says(mouth, "PUBLISH a hello", ":1\r\n");
    assert_string_equal(heard(ear), "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$5\r\nhello\r\n");
    assert_says(mouth, "PUBLISH xy z", ":1\r\n");
    assert_string_equal(heard(ear), "*4\r\n$8\r\npmessage\r\n$2\r\nx*\r\n$2\r\nxy\r\n$1\r\nz\r\n");
    assert_says(mouth, "SPUBLISH a s", ":1\r\n");
    assert_string_equal(heard(ear), "*3\r\n$8\r\nsmessage\r\n$1\r\na\r\n$1\r\ns\r\n");
    assert_says(ear, "UNSUBSCRIBE",
                "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:2\r\n*3\r\n$11\r\nunsubscribe\r\n$1\r\nb\r\n:1\r\n");
    assert_says(ear, "UNSUBSCRIBE", "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:1\r\n");
    assert_says(mouth, "PUBLISH a hello", ":0\r\n");
    gh_store_disconnect(ear);
    assert_says(mouth, "PUBLISH xy z", ":0\r\n");
    assert_says(mouth, "SPUBLISH a s", ":0\r\n");
}

static void restart_closes_links_and_forgets_scripts(void** state)
{
    gh_store* store = start();
    gh_store_link* link = gh_store_connect(store);
    char run[STORE_ID_SIZE];
    (void)state;
    strcpy(run, gh_store_run_id(store));
    assert_says(link, "SET a b", "+OK\r\n");
    assert_says(link, "SCRIPT LOAD return", "$40\r\n63143b6f8007b98c53ca2149822777b3566f9241\r\n");
    gh_store_restart(store, 1);
    assert_true(gh_store_is_closed(link));
    assert_string_not_equal(gh_store_run_id(store), run);
    gh_store_disconnect(link);
    link = gh_store_connect(store);
    assert_says(link, "GET a", "$1\r\nb\r\n");
    assert_says(link, "SCRIPT EXISTS 63143b6f8007b98c53ca2149822777b3566f9241", "*1\r\n:0\r\n");
    assert_says(link, "EVALSHA 63143b6f8007b98c53ca2149822777b3566f9241 0",
                "-NOSCRIPT No matching script. Please use EVAL.\r\n");
}

static void one_link_too_many_is_refused(void** state)
{
    gh_store_config config = gh_store_config_default();
    gh_store* store;
    gh_store_link* link;
    (void)state;
    config.links_max = 1;
    store = start_with(&config);
    link = gh_store_connect(store);
    gh_store_link* other = gh_store_connect(store);
    assert_string_equal(heard(other), "-ERR max number of clients reached\r\n");
    assert_true(gh_store_is_closed(other));
    gh_store_disconnect(other);
    assert_says(link, "PING", "+PONG\r\n");
}

static void password_is_asked_for(void** state)
{
    gh_store_config config = gh_store_config_default();
    gh_store_link* link;
    (void)state;
    config.password = "secret";
    link = gh_store_connect(start_with(&config));
    assert_says(link, "GET a", "-NOAUTH Authentication required.\r\n");
    assert_says(link, "AUTH wrong", "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
    assert_says(link, "AUTH secret", "+OK\r\n");
    assert_says(link, "GET a", "$-1\r\n");
}

static void states_refuse_what_a_server_would(void** state)
{
    static const struct
    {
        unsigned state;
        const char* line;
        const char* answer;
    } rows[] = {
        {GH_STORE_LOADING, "GET a", "-LOADING Redis is loading the dataset in memory\r\n"},
        {GH_STORE_LOADING, "INFO nothing", "$0\r\n\r\n"},
        {GH_STORE_READ_ONLY, "SET a b", "-READONLY You can't write against a read only replica.\r\n"},
        {GH_STORE_READ_ONLY, "GET a", "$-1\r\n"},
        {GH_STORE_FULL, "SET a b", "-OOM command not allowed when used memory > 'maxmemory'.\r\n"},
        {GH_STORE_FULL, "DEL a", ":0\r\n"},
        {GH_STORE_FEW_REPLICAS, "DEL a", "-NOREPLICAS Not enough good replicas to write.\r\n"},
        {GH_STORE_BUSY, "GET a",
         "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n"},
        {GH_STORE_MASTER_DOWN, "GET a",
         "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n"},
    };
    gh_store* store = start();
    gh_store_link* link = gh_store_connect(store);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
        gh_store_set_states(store, rows[i].state);
        assert_says(link, rows[i].line, rows[i].answer);
    }
    gh_store_set_states(store, GH_STORE_DISK_FAILS);
    say(link, "DEL a");
    assert_memory_equal(heard(link), "-MISCONF ", 9);
}

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

typedef struct replica
{
    gh_store* store;
    unsigned transactions;
    char last[256];
} replica;

static void pass_on(void* context, uint32_t database, const gh_str* words, size_t count)
{
    replica* self = context;
    if (count == 0)
    {
        self->transactions++;
        return;
    }
    gh_store_apply(self->store, database, words, count);
    self->last[0] = '\0';
    for (size_t i = 0; i < count; i++)
        snprintf(self->last + strlen(self->last), sizeof self->last - strlen(self->last), "%s%.*s", i > 0 ? " " : "",
                 GH_STR_ARG(words[i]));
}

static void replica_has_what_its_master_has(void** state)
{
    gh_store* master = start();
    replica copy = {.store = start()};
    gh_store_link* link = gh_store_connect(master);
    gh_store_link* reader = gh_store_connect(copy.store);
    (void)state;
    gh_store_set_states(copy.store, GH_STORE_READ_ONLY);
    gh_store_set_log(master, pass_on, &copy);
    say(link, "SET a b PX 5000");
    assert_string_equal(copy.last, "SET a b PXAT 1700000005000");
    say(link, "HSET h f v");
    say(link, "PEXPIRE h 100");
    assert_string_equal(copy.last, "PEXPIREAT h 1700000000100");
    assert_int_equal(copy.transactions, 3);
    evaluate(link, "redis.call('RPUSH', 'l', '1', '2') redis.call('ZADD', 'z', '1', 'm')");
    assert_int_equal(copy.transactions, 4);
    assert_says(reader, "LRANGE l 0 -1", "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
    assert_says(reader, "ZSCORE z m", "$1\r\n1\r\n");
    copy.last[0] = '\0';
    say(link, "HDEL none f");
    assert_string_equal(copy.last, "");
    gh_store_set_time(master, BEGIN_US + 200000);
    gh_store_set_time(copy.store, BEGIN_US + 200000);
    assert_says(reader, "HGET h f", "$-1\r\n");
    assert_true(gh_store_key_count(copy.store) == 4);
    say(link, "EXISTS h");
    assert_string_equal(copy.last, "DEL h");
    assert_true(gh_store_key_count(copy.store) == 3);
}

/* What nobody asks for goes by and by, and a replica is told. */
static void what_has_ended_is_swept(void** state)
{
    gh_store* master = start();
    replica copy = {.store = start()};
    gh_store_link* link = gh_store_connect(master);
    (void)state;
    gh_store_set_states(copy.store, GH_STORE_READ_ONLY);
    gh_store_set_log(master, pass_on, &copy);
    for (int i = 0; i < 1000; i++)
    {
        char line[64];
        snprintf(line, sizeof line, "SET key%d value PX 10", i);
        say(link, line);
    }
    for (int i = 0; i < 100; i++)
    {
        gh_store_set_time(master, BEGIN_US + 100000u * (unsigned)(i + 1));
        say(link, "PING");
    }
    assert_int_equal(gh_store_key_count(master), 0);
    assert_int_equal(gh_store_key_count(copy.store), 0);
}

/* A small database does not begin a large one anew. */
static void each_database_is_swept_to_its_end(void** state)
{
    gh_store* store = start();
    gh_store_link* link = gh_store_connect(store);
    (void)state;
    assert_says(link, "SELECT 1", "+OK\r\n");
    assert_says(link, "SET stays value", "+OK\r\n");
    assert_says(link, "SELECT 0", "+OK\r\n");
    for (int i = 0; i < 1000; i++)
    {
        char line[64];
        snprintf(line, sizeof line, "SET key%d value PX 10", i);
        assert_says(link, line, "+OK\r\n");
    }
    for (int i = 0; i < 100; i++)
    {
        gh_store_set_time(store, BEGIN_US + 100000u * (unsigned)(i + 1));
        assert_says(link, "PING", "+PONG\r\n");
    }
    assert_says(link, "DBSIZE", ":0\r\n");
    assert_int_equal(gh_store_key_count(store), 1);
}

static const char* only_a(void* context, const gh_store_asked* asked)
{
    unsigned* calls = context;
    ++*calls;
    for (size_t i = 0; i < asked->count; i++)
        if (!gh_str_equal(asked->keys[i], gh_str_literal("a")))
            return asked->in_script ? "ERR Script attempted to access a non local key in a cluster node"
                                    : "MOVED 1 127.0.0.1:7001";
    return NULL;
}

static void gate_is_asked_before_each_key(void** state)
{
    gh_store* store = start();
    gh_store_link* link = gh_store_connect(store);
    unsigned calls = 0;
    (void)state;
    gh_store_set_gate(store, only_a, &calls);
    assert_says(link, "SET a 1", "+OK\r\n");
    assert_says(link, "SET b 1", "-MOVED 1 127.0.0.1:7001\r\n");
    assert_says(link, "MSET a 1 b 2", "-MOVED 1 127.0.0.1:7001\r\n");
    assert_says(link, "PING", "+PONG\r\n");
    assert_int_equal(calls, 3);
    assert_says(link, "EVAL return 1 b", "-MOVED 1 127.0.0.1:7001\r\n");
    assert_says(link, "EVAL return{redis.pcall('get','b').err,redis.call('get','a')} 1 a",
                "*2\r\n$64\r\nERR Script attempted to access a non local key in a cluster node\r\n$1\r\n1\r\n");
}

static bool answer_later(void* context, gh_store_link* link, const gh_str* words, size_t count)
{
    gh_store_link** waiting = context;
    (void)count;
    if (!gh_str_equal(words[0], gh_str_literal("WAIT"))) return false;
    *waiting = link;
    gh_store_block(link);
    return true;
}

static void blocked_link_waits_for_its_answer(void** state)
{
    gh_store* store = start();
    gh_store_link* link = gh_store_connect(store);
    gh_store_link* waiting = NULL;
    (void)state;
    gh_store_set_other(store, answer_later, &waiting);
    say(link, "SET a 1\r\nWAIT 1 0\r\nGET a");
    say(link, "PING");
    assert_ptr_equal(waiting, link);
    assert_string_equal(heard(link), "+OK\r\n");
    gh_store_say(link, ":1\r\n", 4);
    gh_store_unblock(link);
    assert_string_equal(heard(link), ":1\r\n$1\r\n1\r\n+PONG\r\n");
}

static void keys_move_and_are_copied(void** state)
{
    gh_store* from = start();
    gh_store* to = start();
    gh_store_link* link = gh_store_connect(from);
    gh_store_link* there = gh_store_connect(to);
    (void)state;
    say(link, "ZADD z 1 a 2 b");
    say(link, "HSET h f v g w");
    say(link, "RPUSH l 1 2 3");
    say(link, "SET s text PX 5000");
    heard(link);
    assert_true(gh_store_move(to, from, 0, gh_str_literal("z")));
    assert_false(gh_store_move(to, from, 0, gh_str_literal("z")));
    assert_false(gh_store_has(from, 0, gh_str_literal("z")));
    assert_says(there, "ZRANGE z 0 -1 WITHSCORES", "*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n");
    gh_store_copy(to, from);
    assert_says(there, "EXISTS z h l s", ":3\r\n");
    assert_says(there, "PTTL s", ":5000\r\n");
    assert_says(there, "HGETALL h", "*4\r\n$1\r\nf\r\n$1\r\nv\r\n$1\r\ng\r\n$1\r\nw\r\n");
    assert_says(there, "LRANGE l 0 -1", "*3\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n");
    assert_says(link, "DEL h", ":1\r\n");
    assert_says(there, "HLEN h", ":2\r\n");
}

/* ---- scripts ----------------------------------------------------------------------------------------------------- */

static void endless_script_is_stopped(void** state)
{
    gh_store_config config = gh_store_config_default();
    gh_store* store;
    gh_store_link* link;
    (void)state;
    config.steps_max = 10000;
    store = start_with(&config);
    link = gh_store_connect(store);
    evaluate(link, "while true do pcall(redis.call, 'TIME') end");
    assert_non_null(strstr(heard(link), "Script killed by user with SCRIPT KILL"));
    assert_int_equal(gh_store_get_counts(store).stopped, 1);
    assert_says(link, "EVAL return{1} 0", "*1\r\n:1\r\n");
    assert_int_equal(gh_store_get_counts(store).stopped, 1);
}

/* string.gsub, which is Lua's own, says what string.match must say, and string.find the same from a place on: over
   texts and patterns that are made of pieces. */
static void plain_patterns_match_as_lua_does(void** state)
{
    static const char script[] =
        "local pieces = {'%d+', '%S+', '%a*', '%w', '(%d+)', '(%S*)', '(%w+)', ' ', '-', ':', '.', '.*', '[ab]+', '[^ "
        "]*', "
        "'[%d:]+', '(', ')', '^', '$', '%%', '%.', '[a-c]', 'a', '+', '*', '%b()', '()', '?', '-', '[', ']', '[%a-]', "
        "'((%a)%d*)', '%s', '%u', '%x+', '%p', '[a-%d]', '%z', '%1', '[]x]'} "
        "local letters = {'a', 'b', 'Z', '1', '22', ' ', '-', ':', '.', '(', ')', '%', '\\0', '$', 'ab', '7 8 9'} "
        "local function made_of(all, most) local made = {} "
        "for i = 1, math.random(0, most) do made[i] = all[math.random(#all)] end return table.concat(made) end "
        "local function from_place(text, is_good, first, last, ...) "
        "if not is_good then return {false, 'an error'} elseif not first then return {true} end "
        "if select('#', ...) > 0 then return {true, ...} end return {true, string.sub(text, first, last)} end "
        "local same, matched = 0, 0 math.randomseed(tonumber(ARGV[1])) "
        "for i = 1, 20000 do "
        "local text, pattern = made_of(letters, 8), made_of(pieces, 4) "
        "if math.random(3) == 1 then pattern = '^' .. pattern end "
        "if math.random(3) == 1 then pattern = pattern .. '$' end "
        "local hit "
        "local is_good = pcall(string.gsub, text, pattern, function(...) hit = {...} end, 1) "
        "local got = {pcall(string.match, text, pattern)} "
        "local wanted = {is_good, unpack(hit or {})} "
        "if not is_good then wanted[2] = 'an error' got[2] = type(got[2]) == 'string' and 'an error' end "
        "for j = 1, math.max(#wanted, #got) do if wanted[j] ~= got[j] then "
        "return {string.format('%q', text), pattern, tostring(wanted[j]), tostring(got[j])} end end "
        "if string.find(pattern, '[%^%$%*%+%?%.%(%[%%%-]') then " /* else find compares letters */
        "local place = math.random(-9, 9) "
        "wanted = from_place(text, pcall(string.find, text, pattern, place)) "
        "got = {pcall(string.match, text, pattern, place)} "
        "if not got[1] then got[2] = 'an error' end "
        "for j = 1, math.max(#wanted, #got) do if wanted[j] ~= got[j] then "
        "return {string.format('%q from %d', text, place), pattern, tostring(wanted[j]), tostring(got[j])} end end end "
        "if hit then matched = matched + 1 end same = same + 1 end "
        "return {same, matched > 5000 and 1 or matched}";
    const gh_str words[4] = {gh_str_literal("EVAL"), gh_str_of(script), gh_str_literal("0"), gh_str_literal("7")};
    gh_str answer;
    (void)state;
    answer = gh_store_ask(start(), words, 4);
    if (!gh_str_equal(answer, gh_str_literal("*2\r\n:20000\r\n:1\r\n"))) fail_msg("%.*s", GH_STR_ARG(answer));
}

/* What one server has compiled, another one does not know before it is told. */
static void servers_share_an_engine(void** state)
{
    gh_store_config config = gh_store_config_default();
    gh_store* first;
    gh_store* second;
    (void)state;
    config.engine = gh_store_engine_new();
    first = gh_store_new(&config);
    second = gh_store_new(&config);
    gh_store_link* link = gh_store_connect(first);
    gh_store_link* other = gh_store_connect(second);
    assert_says(link, "SET a first", "+OK\r\n");
    assert_says(other, "SET a second", "+OK\r\n");
    assert_says(link, "EVAL return{redis.call('GET','a')} 0", "*1\r\n$5\r\nfirst\r\n");
    say(link, "SCRIPT LOAD return{redis.call('GET','a')}");
    char line[128];
    snprintf(line, sizeof line, "EVALSHA %.40s 0", heard(link) + 5);
    assert_says(other, line, "-NOSCRIPT No matching script. Please use EVAL.\r\n");
    say(other, "SCRIPT LOAD return{redis.call('GET','a')}");
    heard(other);
    assert_says(other, line, "*1\r\n$6\r\nsecond\r\n");
    assert_says(link, line, "*1\r\n$5\r\nfirst\r\n");
    gh_store_free(first);
    gh_store_free(second);
    gh_store_engine_free(config.engine);
}

/* The same calls give the same bytes, also where something is drawn. */
static void same_seed_gives_the_same_bytes(void** state)
{
    char first[8192];
    size_t size = 0;
    (void)state;
    for (int run = 0; run < 3; run++)
    {
        gh_store_config config = gh_store_config_default();
        gh_store_link* link;
        char line[64];
        char text[8192];
        size_t taken;
        config.seed = run < 2 ? 5 : 6;
        link = gh_store_connect(start_with(&config));
        for (int i = 0; i < 300; i++)
        {
            snprintf(line, sizeof line, "HSET h field%d %d", i, i);
            say(link, line);
        }
        while (gh_store_take(link, text, sizeof text) > 0) continue;
        say(link, "HKEYS h");
        say(link, "HRANDFIELD h 5");
        say(link, "EVAL return{math.random(1000000)} 0");
        taken = gh_store_take(link, text, sizeof text);
        if (run == 0) memcpy(first, text, size = taken);
        else if (run == 1) assert_true(taken == size && memcmp(first, text, size) == 0);
        else assert_false(taken == size && memcmp(first, text, size) == 0);
    }
}

/* A table is told whole, each name once, whatever comes and goes meanwhile. */
static void scan_tells_all_that_stay(void** state)
{
    gh_store_link* link = gh_store_connect(start());
    unsigned told[400] = {0};
    char line[64];
    char cursor[32] = "0";
    int step = 0;
    (void)state;
    for (int i = 0; i < 400; i++)
    {
        snprintf(line, sizeof line, "ZADD z %d m%d", i, i);
        assert_says(link, line, ":1\r\n");
    }
    do
    {
        snprintf(line, sizeof line, "ZSCAN z %s COUNT 7", cursor);
        say(link, line);
        const char* at = heard(link);
        sscanf(strstr(at, "\r\n$") + 2, "$%*d %31s", cursor);
        while ((at = strstr(at, "\r\nm")) != NULL)
        {
            told[atoi(at + 3)]++;
            at += 3;
        }
        snprintf(line, sizeof line, "ZREM z m%d", 399 - step);
        assert_says(link, line, ":1\r\n");
        snprintf(line, sizeof line, "ZADD z 1 new%d", step++);
        assert_says(link, line, ":1\r\n");
    } while (strcmp(cursor, "0") != 0);
    assert_true(step > 20);
    for (int i = 0; i < 400 - step; i++) assert_int_equal(told[i], 1);
}

TEST_FILE(embedded_store, cmocka_unit_test(requests_may_come_in_pieces),
          cmocka_unit_test(what_is_no_request_closes_the_link), cmocka_unit_test(who_listens_is_told),
          cmocka_unit_test(restart_closes_links_and_forgets_scripts), cmocka_unit_test(one_link_too_many_is_refused),
          cmocka_unit_test(password_is_asked_for), cmocka_unit_test(states_refuse_what_a_server_would),
          cmocka_unit_test(replica_has_what_its_master_has), cmocka_unit_test(what_has_ended_is_swept),
          cmocka_unit_test(each_database_is_swept_to_its_end), cmocka_unit_test(gate_is_asked_before_each_key),
          cmocka_unit_test(blocked_link_waits_for_its_answer), cmocka_unit_test(keys_move_and_are_copied),
          cmocka_unit_test(endless_script_is_stopped), cmocka_unit_test(plain_patterns_match_as_lua_does),
          cmocka_unit_test(servers_share_an_engine), cmocka_unit_test(same_seed_gives_the_same_bytes),
          cmocka_unit_test(scan_tells_all_that_stay));
