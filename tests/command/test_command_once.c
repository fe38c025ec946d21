/* Tests of GH_REPEAT_ONCE: what a repeat is answered, and what the receipt is. Faults: test_command_faults.c. */

#include "support/scene/till.h"

#include <stdio.h>
#include <string.h>

#define ANSWER_KEPT_MAX 4096u /* command.h: of an answer, packed */

static const char count_it[] = "return redis.call('INCR', KEYS[1])";

/* ---- answers --------------------------------------------------------------------------------------------------- */

static const char* const answers[] = {
    "",
    "return",
    "return nil",
    "return false",
    "return true",
    "return 0",
    "return -7.9",
    "return 9007199254740993",
    "return 'text', 2",
    "return ''",
    "return 'a\\0b\\r\\n\\255'",
    "return {}",
    "return {1, 'two', false, {2, {3, true}}, -1}",
    "return {1, nil, 3}",
    "return {1, tostring, 3}",
    "return cjson.decode('[1, null, [2]]')",
    "return {ok = 'FINE'}",
    "return redis.status_reply('OK')",
    "return redis.call('SET', KEYS[1] .. 'x', 1)",
    "return redis.call('GET', 'nobody')",
    "return {redis.status_reply('A'), {redis.error_reply('ERR b')}, redis.pcall('LPUSH', KEYS[1], 1)}",
    "return redis.error_reply('PRICE too low')",
    "return redis.error_reply('BUSY Redis is busy')",
    "return redis.error_reply('NOSCRIPT No matching script')",
    "return redis.error_reply('FENCED the lock is not held with this fence')",
    "return redis.error_reply('CORRUPT the receipt is not of the form')",
    "return redis.pcall('LPUSH', KEYS[1], 1)",
    "return {{{{{{6}}}}}}",
    "return {KEYS[1], KEYS[2], ARGV[1], #KEYS, #ARGV, (...)}",
    "return string.rep('x', 4000) -- a comment at the end",
    "local all = {} for i = 1, 500 do all[i] = i end return all",
};

static void expect_answer(till* self, const char* text, bool is_lost)
{
    redisReply* expected = redis_server_command(self->server, "EVAL %s 2 count other first second", text);
    redis_server_do(self->server, "SET count 0");
    uint64_t lost = game_stats(self->game).links_lost;
    gh_script* script = script_new(self->game, text);
    assert_ends(run_once(self->game, script, "warm other"), expected->type == REDIS_REPLY_ERROR ? GH_ERROR : GH_OK);
    if (is_lost) till_lose_the_answer(self);
    gh_command* command = run_once(self->game, script, "count other");
    assert_ends(command, expected->type == REDIS_REPLY_ERROR ? GH_ERROR : GH_OK);
    assert_int_equal(game_stats(self->game).links_lost, lost + is_lost);
    if (!reply_equals(gh_command_reply(command), expected)) fail_msg("another answer to: %s", text);
    assert_int_equal(redis_server_integer(self->server, "GET count"), 1);
    freeReplyObject(expected);
}

/* As a script alone would be answered, whether it is told at once or by the receipt. */
static void answers_are_those_of_a_script_alone(void** state)
{
    (void)state;
    till self = till_open(NULL, 0);
    for (size_t i = 0; i < 2 * sizeof(answers) / sizeof(answers[0]); i++)
    {
        char* text = GAME_NEW_ARRAY(self.game, char, 256);
        snprintf(text, 256, "redis.call('INCR', KEYS[1]) %s", answers[i / 2]);
        expect_answer(&self, text, i % 2 == 1);
    }
}

static void errors_are_answers(void** state)
{
    (void)state;
    static const struct
    {
        const char* text;
        const char* said;
    } cases[] = {{"error('oh')", "user_script:1: oh"},
                 {"error({err = 'PRICE too low'})", "\nPRICE too low"},
                 {"error({err = 1})", "ERR table"},
                 {"error()", "ERR nil"},
                 {"redis.call('LPUSH', KEYS[1], 1)", "\nWRONGTYPE "},
                 {"redis.call('NO-SUCH')", "ERR "},
                 {"local a = nil .. ''", "attempt to concatenate"},
                 {"local function deeper() return deeper() + 1 end deeper()", "stack overflow"}};
    till self = till_open(NULL, 0);
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++)
    {
        char text[128];
        snprintf(text, sizeof(text), "redis.call('INCR', KEYS[1]) %s", cases[i / 2].text);
        gh_script* script = script_new(self.game, text);
        assert_ends(run_once(self.game, script, "warm"), GH_ERROR);
        redis_server_do(self.server, "SET count 0");
        if (i % 2 == 1) till_lose_the_answer(&self);
        gh_command* command = run_once(self.game, script, "count");
        assert_ends(command, GH_ERROR);
        char said[256];
        snprintf(said, sizeof(said), "\n%s", reply_text(self.game, command)); /* a new line is where it begins */
        if (strstr(said, cases[i / 2].said) == NULL) fail_msg("%s: %s", cases[i / 2].text, said);
        assert_int_equal(redis_server_integer(self.server, "GET count"), 1);
    }
    gh_command* broken = run_once(self.game, script_new(self.game, "this is no Lua"), "count");
    assert_ends(broken, GH_ERROR);
    assert_non_null(strstr(reply_text(self.game, broken), "user_script:1"));
}

/* What is kept with the receipt has its bound; a longer answer that is lost is lost, and was done. */
static void long_answers_are_lost_with_their_link(void** state)
{
    (void)state;
    static const struct
    {
        const char* answer;
        bool is_kept;
        bool is_told;                                   /* by the copy that was carried out */
    } cases[] = {{"string.rep('x', 4093)", true, true}, /* three bytes are its head */
                 {"string.rep('x', 4094)", false, true},
                 {"string.rep('x', 9000)", false, true},
                 {"{{{{{{{7}}}}}}}", false, false},
                 {"(function() local all = {} all[1] = all all[2] = all return all end)()", false, false}};
    till self = till_open(NULL, 0);
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++)
    {
        const bool is_lost = i % 2 == 1;
        const bool is_told = is_lost ? cases[i / 2].is_kept : cases[i / 2].is_told;
        char text[160];
        snprintf(text, sizeof(text), "redis.call('INCR', KEYS[1]) return %s", cases[i / 2].answer);
        uint64_t lost = game_stats(self.game).links_lost;
        gh_script* script = script_new(self.game, text);
        assert_ends(run_once(self.game, script, "warm"), cases[i / 2].is_told ? GH_OK : GH_TOO_SMALL);
        redis_server_do(self.server, "SET count 0");
        if (is_lost) till_lose_the_answer(&self);
        gh_command* command = run_once(self.game, script, "count");
        assert_ends(command, is_told ? GH_OK : GH_TOO_SMALL);
        if (!is_told) assert_int_equal(command->reply_needed, 0);
        assert_int_equal(redis_server_integer(self.server, "GET count"), 1);
        assert_int_equal(game_stats(self.game).links_lost, lost + is_lost);
    }
    assert_int_equal(ANSWER_KEPT_MAX, 4093 + 3);
}

/* It was done, and the memory is the caller's to enlarge. */
static void small_memory_is_told(void** state)
{
    (void)state;
    till self = till_open(NULL, 0);
    gh_command_config config = command_config(self.game, GH_REPEAT_ONCE, 64);
    gh_script* script = script_new(self.game, "redis.call('INCR', KEYS[1]) return string.rep('x', 100)");
    gh_command* command = run_script(self.game, &config, script, "count", "");
    assert_ends(command, GH_TOO_SMALL);
    assert_int_equal(command->reply_needed, 104);
    assert_int_equal(redis_server_integer(self.server, "GET count"), 1);
}

/* ---- commands -------------------------------------------------------------------------------------------------- */

static void commands_run_once(void** state)
{
    (void)state;
    till self = till_open(NULL, 0);
    assert_ends(say_once(self.game, "INCR warm"), GH_OK);
    till_lose_the_answer(&self);
    gh_command* command = say_once(self.game, "INCRBY count 5");
    assert_ends(command, GH_OK);
    assert_int_equal(gh_command_reply(command)->integer, 5);
    till_lose_the_answer(&self);
    command = say_once(self.game, "LPUSH count x");
    assert_ends(command, GH_ERROR);
    assert_non_null(strstr(reply_text(self.game, command), "WRONGTYPE "));
    till_lose_the_answer(&self);
    assert_ends(say_once(self.game, "MSET one 1 two 2"), GH_OK);
    assert_int_equal(game_stats(self.game).links_lost, 3);

    gh_command_line* line = GAME_NEW(self.game, gh_command_line);
    gh_command_config config = once_config(self.game);
    till_lose_the_answer(&self);
    assert_status(gh_command_format(line, self.game->client, &config, "HINCRBY %s gold %d", "a b", 7), GH_OK);
    assert_ends(&line->command, GH_OK);
    assert_int_equal(gh_command_reply(&line->command)->integer, 7);
    assert_int_equal(redis_server_keys(self.server), 5 + 5 + 1); /* five receipts, and the epoch */
    char key[128];
    once_receipt(key, "{a b}", self.game, &line->command);
    assert_int_equal(redis_server_integer(self.server, "EXISTS %s", key), 1);
}

/* ---- the receipt ----------------------------------------------------------------------------------------------- */

/* Beside the first key, in its slot: a Cluster node takes no script whose keys lie apart. */
static void receipt_lies_in_the_slot_of_its_key(void** state)
{
    (void)state;
    static const struct
    {
        const char* key;
        const char* head;
    } cases[] = {{"gold", "{gold}"},   {"{mia}gold", "{mia}gold"}, {"gold{mia}", "gold{mia}"},
                 {"go{ld", "{go{ld}"}, {"{a}{b}", "{a}{b}"},       {"x{a}b}", "x{a}b}"}};
    redis_server* server = redis_server_cluster_node();
    gh_client_config client = game_config(redis_server_address(server));
    game* owner = game_start_with(&client);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    {
        char key[128];
        gh_command* by_script = run_once(owner, script_new(owner, count_it), cases[i].key);
        assert_ends(by_script, GH_OK);
        once_receipt(key, cases[i].head, owner, by_script);
        assert_int_equal(redis_server_integer(server, "EXISTS %s", key), 1);
        gh_str words[] = {gh_str_literal("INCR"), gh_str_of(cases[i].key)};
        gh_command_config config = once_config(owner);
        gh_command* by_words = GAME_NEW(owner, gh_command);
        assert_status(gh_command_begin(by_words, owner->client, words, 2, &config), GH_OK);
        assert_ends(by_words, GH_OK);
        once_receipt(key, cases[i].head, owner, by_words);
        assert_int_equal(redis_server_integer(server, "EXISTS %s", key), 1);
        assert_int_equal(gh_command_reply(by_words)->integer, 2);
    }
    assert_ends(run_once(owner, script_new(owner, count_it), "a}b"), GH_REFUSED); /* nothing lies in its slot but it */
    assert_int_equal(redis_server_integer(server, "EXISTS a}b"), 0);
}

/* It goes by itself, and not before the last copy could come. */
static void receipt_lives_as_long_as_a_copy_may_come(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* owner = game_start_ready(redis_server_address(server));
    static const uint64_t timeouts_us[] = {SECOND_US, 60 * SECOND_US, 3600 * SECOND_US};
    for (size_t i = 0; i < sizeof(timeouts_us) / sizeof(timeouts_us[0]); i++)
    {
        char key[128];
        gh_command_config config = once_config(owner);
        config.timeout_us = timeouts_us[i];
        gh_command* command = say(owner, &config, "INCR count");
        assert_ends(command, GH_OK);
        once_receipt(key, "{count}", owner, command);
        long long left_ms = redis_server_integer(server, "PTTL %s", key);
        long long copies_ms = (long long)(timeouts_us[i] + owner->config.request_timeout_us) / 1000;
        assert_true(left_ms > copies_ms && left_ms <= copies_ms + 60 * 1000 + 1);
    }
}

/* Planted before the first copy comes; the command must leave everything as it is. */
static void expect_by_receipt(game* owner, redis_server* server, const char* receipt, size_t size, gh_status expected)
{
    char key[128];
    uint64_t lost = game_stats(owner).links_lost;
    gh_command* command = say_once(owner, "INCR count");
    once_receipt(key, "{count}", owner, command);
    if (receipt == NULL) redis_server_do(server, "LPUSH %s x", key);
    else redis_server_do(server, "SET %s %b", key, receipt, size);
    assert_ends(command, expected);
    assert_int_equal(redis_server_integer(server, "EXISTS count"), 0);
    assert_int_equal(game_stats(owner).links_lost, lost);
}

static void receipt_that_is_no_answer_is_told(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* owner = game_start_ready(redis_server_address(server));
    char large[ANSWER_KEPT_MAX + 2];
    char deep[64];
    memset(large, '\xc0', sizeof(large)); /* nil, nil, ... */
    large[0] = 'k';
    memset(deep, '\x91', sizeof(deep)); /* arrays of one */
    deep[0] = 'k';
    deep[sizeof(deep) - 1] = '\x07';
    expect_by_receipt(owner, server, "b", 1, GH_UNKNOWN);
    expect_by_receipt(owner, server, "l", 1, GH_TOO_SMALL);
    expect_by_receipt(owner, server, "k\x01", 2, GH_OK);
    expect_by_receipt(owner, server, NULL, 0, GH_CORRUPT);
    expect_by_receipt(owner, server, "", 0, GH_CORRUPT);
    expect_by_receipt(owner, server, "k", 1, GH_CORRUPT);
    expect_by_receipt(owner, server, "B", 1, GH_CORRUPT);
    expect_by_receipt(owner, server, "bb", 2, GH_CORRUPT);
    expect_by_receipt(owner, server, "x\x01", 2, GH_CORRUPT);
    expect_by_receipt(owner, server, "k\xc1", 2, GH_CORRUPT);
    expect_by_receipt(owner, server, "k\x01\x02", 3, GH_CORRUPT);
    expect_by_receipt(owner, server, "k\xdd\xff\xff\xff\xff", 6, GH_CORRUPT); /* an array of 2^32 - 1, and no more */
    expect_by_receipt(owner, server, deep, sizeof(deep), GH_CORRUPT);
    expect_by_receipt(owner, server, large, sizeof(large), GH_CORRUPT);
}

/* ---- with a fence ---------------------------------------------------------------------------------------------- */

static void fence_is_asked_before_it_runs(void** state)
{
    (void)state;
    till self = till_open(NULL, 0);
    gh_lock* lock = command_lock(self.game, "sword", 600 * SECOND_US);
    gh_command_config config = once_config(self.game);
    gh_script* script = script_new(self.game, "redis.call('INCR', KEYS[1]) return {#KEYS, KEYS[1], #ARGV, ARGV[1]}");
    config.fence = gh_lock_fence(lock);
    assert_ends(run_script(self.game, &config, script, "warm other", "one"), GH_OK);
    assert_ends(say_once(self.game, "INCR warm"), GH_OK);
    assert_ends(say(self.game, &config, "INCR warm"), GH_OK);
    assert_ends(say_once(self.game, "INCR warm"), GH_OK);
    gh_command_config fence_alone = fenced_config(self.game, config.fence);
    assert_ends(say(self.game, &fence_alone, "INCR warm"), GH_OK);
    assert_int_equal(redis_server_integer(self.server, "GET warm"), 5);
    till_lose_the_answer(&self);
    gh_command* command = run_script(self.game, &config, script, "count other", "one");
    assert_ends(command, GH_OK);
    assert_int_equal(gh_reply_at(gh_command_reply(command), 0)->integer, 2);
    assert_true(gh_str_equal(gh_reply_at(gh_command_reply(command), 1)->text, gh_str_literal("count")));
    assert_int_equal(gh_reply_at(gh_command_reply(command), 2)->integer, 1);
    till_lose_the_answer(&self);
    assert_ends(say(self.game, &config, "INCR count"), GH_OK);
    assert_int_equal(redis_server_integer(self.server, "GET count"), 2);

    long long keys = redis_server_keys(self.server);
    config.fence.fence++;
    assert_ends(say(self.game, &config, "INCR count"), GH_FENCED);
    assert_ends(run_script(self.game, &config, script, "count", ""), GH_FENCED);
    redis_server_do(self.server, "SET gh:{lock:sword}:s hello");
    assert_ends(say(self.game, &config, "INCR count"), GH_CORRUPT);
    assert_ends(run_script(self.game, &config, script, "count", ""), GH_CORRUPT);
    assert_int_equal(redis_server_integer(self.server, "GET count"), 2);
    assert_int_equal(redis_server_keys(self.server), keys);
}

/* It was done under the fence, so it is done, although the lock has gone meanwhile. */
static void fence_is_not_asked_again(void** state)
{
    (void)state;
    till self = till_open(NULL, 0);
    gh_lock* lock = command_lock(self.game, "sword", 600 * SECOND_US);
    gh_command_config config = once_config(self.game);
    config.fence = gh_lock_fence(lock);
    assert_ends(say(self.game, &config, "INCR warm"), GH_OK);
    proxy_set_mode(self.proxy, PROXY_REFUSE);
    till_lose_the_answer(&self);
    gh_command* command = say(self.game, &config, "INCR count");
    WAIT_FOR((game_tick(self.game), redis_server_integer(self.server, "EXISTS count") == 1));
    redis_server_do(self.server, "DEL gh:{lock:sword}:s");
    proxy_set_mode(self.proxy, PROXY_PASS);
    assert_ends(command, GH_OK);
    assert_int_equal(redis_server_integer(self.server, "GET count"), 1);
}

/* ---- rights ---------------------------------------------------------------------------------------------------- */

/* later: what changes while the link is up, and nobody has looked at it again. */
static gh_status run_as(redis_server* server, const char* rights, const char* later)
{
    char rule[256];
    snprintf(rule, sizeof(rule), "ACL SETUSER shopkeeper reset on >secret +@all &* ~gh:* %s", rights);
    redis_server_do(server, rule);
    gh_client_config config = game_config(redis_server_address(server));
    config.prefix = gh_str_literal("gh");
    config.user = gh_str_literal("shopkeeper");
    config.password = gh_str_literal("secret");
    game* owner = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(owner->client));
    snprintf(rule, sizeof(rule), "ACL SETUSER shopkeeper %s", later);
    redis_server_do(server, rule);
    gh_status by_script = settle_command(run_once(owner, script_new(owner, count_it), "count"));
    gh_status by_words = settle_command(say_once(owner, "INCR count"));
    assert_status(by_script, by_words);
    game_end(owner);
    return by_words;
}

/* Without the right to write a receipt nothing runs. What the caller's own text may not do, is its own affair. */
static void rights_to_the_receipt_are_needed(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    assert_status(run_as(server, "~count", ""), GH_REFUSED);
    assert_status(run_as(server, "~count %%R~{count}:once:*", ""), GH_REFUSED); /* a format */
    assert_status(run_as(server, "~count ~{count}:once:*", "-set"), GH_REFUSED);
    assert_status(run_as(server, "~count ~{count}:once:*", "-get"), GH_REFUSED);
    assert_status(run_as(server, "~count ~{count}:once:*", "-time"), GH_REFUSED);
    assert_status(run_as(server, "~count ~{count}:once:*", "-incr"), GH_ERROR);
    assert_int_equal(redis_server_integer(server, "EXISTS count"), 0);
    assert_status(run_as(server, "~count ~{count}:once:*", ""), GH_OK);
    assert_int_equal(redis_server_integer(server, "GET count"), 2);
}

/* Which right it is, is said in words, and before anything is sent. What the caller's own text calls is its own affair.
 */
static void missing_right_is_named_before_anything_is_sent(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* owner = game_start_ready(redis_server_address(server));
    redis_server_do(server, "ACL SETUSER default -set");
    redis_server_do(server, "CLIENT KILL TYPE normal SKIPME yes");
    GAME_UNTIL(game_stats(owner).links_ready == 2);
    gh_command_config config = command_config(owner, GH_REPEAT_SAFE, 1024);
    assert_ends(run_script(owner, &config, script_new(owner, count_it), "count", ""), GH_OK);
    config.repeat = GH_REPEAT_ONCE;
    for (int i = 0; i < 4; i++)
    {
        config.fence.name = gh_str_literal("sword");
        if (i < 2) config.fence.name.size = 0;
        config.fence.fence = i < 2 ? 0 : 1;
        owner->last_error[0] = 0;
        uint64_t requests = game_stats(owner).requests;
        assert_ends(i % 2 == 0 ? run_script(owner, &config, script_new(owner, count_it), "count", "")
                               : say(owner, &config, "INCR count"),
                    GH_REFUSED);
        assert_non_null(strstr(owner->last_error, "lacks rights to call: SET"));
        assert_true(game_stats(owner).requests <= requests + 1); /* whether it still lacks them */
    }
    assert_int_equal(redis_server_integer(server, "GET count"), 1);
    redis_server_do(server, "ACL SETUSER default +set");
    GAME_UNTIL(settle_command(say_once(owner, "INCR count")) == GH_OK);
    assert_int_equal(redis_server_integer(server, "GET count"), 2);
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

static void what_has_no_key_is_refused(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* owner = game_start_ready(redis_server_address(server));
    gh_command* command = GAME_NEW(owner, gh_command);
    gh_command_line* line = GAME_NEW(owner, gh_command_line);
    gh_script* script = script_new(owner, count_it);
    gh_command_config config = once_config(owner);
    gh_str word = gh_str_literal("count");
    gh_str words[] = {gh_str_literal("FLUSHALL")};
    assert_status(gh_command_begin(command, owner->client, words, 1, &config), GH_INVALID_ARGUMENTS);
    assert_status(gh_command_format(line, owner->client, &config, "FLUSHALL"), GH_INVALID_ARGUMENTS);
    assert_status(gh_script_begin(command, owner->client, script, NULL, 0, &word, 1, &config), GH_INVALID_KEYS);
    assert_status(gh_script_begin(command, owner->client, script, &word, 0, &word, 1, &config), GH_INVALID_KEYS);
    config.repeat = (gh_repeat)(GH_REPEAT_ONCE + 1);
    assert_status(gh_script_begin(command, owner->client, script, &word, 1, NULL, 0, &config), GH_INVALID_REPEAT);
    assert_int_equal(game_stats(owner).ops_begun, 0);
}

/* What stands around a text is part of what was loaded. */
static void script_runs_once_always_or_never(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* owner = game_start_ready(redis_server_address(server));
    gh_command* command = GAME_NEW(owner, gh_command);
    gh_str key = gh_str_literal("count");
    for (int once = 0; once < 2; once++)
    {
        gh_script* script = script_new(owner, count_it);
        gh_command_config config = command_config(owner, once ? GH_REPEAT_ONCE : GH_REPEAT_NEVER, 64);
        gh_command_config other = command_config(owner, once ? GH_REPEAT_SAFE : GH_REPEAT_ONCE, 64);
        assert_ends(run_script(owner, &config, script, "count", ""), GH_OK);
        assert_status(gh_script_begin(command, owner->client, script, &key, 1, NULL, 0, &other), GH_INVALID_REPEAT);
        assert_ends(run_script(owner, &config, script, "count", ""), GH_OK);
    }
    assert_int_equal(redis_server_integer(server, "GET count"), 4);
}

/* A client of the least memory sends the longest text, key and arguments that are taken; with a fence too. */
static void longest_of_all_fit(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.out_bytes = 16 * 1024;
    game* owner = game_start_with(&config);
    gh_lock* lock = command_lock(owner, "sword", 600 * SECOND_US);
    for (int fenced = 0; fenced < 2; fenced++)
    {
        const size_t most = config.out_bytes - 4096;
        gh_command_config once = once_config(owner);
        if (fenced) once.fence = gh_lock_fence(lock);
        gh_script* script = GAME_NEW(owner, gh_script);
        gh_str key = gh_str_literal("count");
        gh_command* command = GAME_NEW(owner, gh_command);
        char* text = GAME_NEW_ARRAY(owner, char, most + 1);
        memset(text, '-', most + 1);
        memcpy(text + most - 10, "\nreturn 42", 10);
        script->text = gh_str_make(text, most + 1);
        assert_status(gh_script_begin(command, owner->client, script, &key, 1, NULL, 0, &once), GH_INVALID_SCRIPT);
        script->text = gh_str_make(text, most);
        assert_status(gh_script_begin(command, owner->client, script, &key, 1, NULL, 0, &once), GH_OK);
        assert_ends(command, GH_OK);
        assert_int_equal(gh_command_reply(command)->integer, 42);

        size_t size = 0; /* of the longest key that is taken: it is sent twice */
        gh_script* counts = script_new(owner, count_it);
        for (size_t step = 8192; step > 0; step /= 2)
        {
            key = gh_str_make(text, size + step);
            gh_status status = gh_script_begin(command, owner->client, counts, &key, 1, NULL, 0, &once);
            if (status == GH_OK) size += step;
            if (status == GH_OK) assert_ends(command, GH_OK);
            else assert_status(status, GH_TOO_LARGE);
        }
        assert_true(size > 7000 && size < 7200);
    }
}

TEST_FILE(command_once, cmocka_unit_test(answers_are_those_of_a_script_alone), cmocka_unit_test(errors_are_answers),
          cmocka_unit_test(long_answers_are_lost_with_their_link), cmocka_unit_test(small_memory_is_told),
          cmocka_unit_test(commands_run_once), cmocka_unit_test(receipt_lies_in_the_slot_of_its_key),
          cmocka_unit_test(receipt_lives_as_long_as_a_copy_may_come),
          cmocka_unit_test(receipt_that_is_no_answer_is_told), cmocka_unit_test(fence_is_asked_before_it_runs),
          cmocka_unit_test(fence_is_not_asked_again), cmocka_unit_test(rights_to_the_receipt_are_needed),
          cmocka_unit_test(missing_right_is_named_before_anything_is_sent),
          cmocka_unit_test(what_has_no_key_is_refused), cmocka_unit_test(script_runs_once_always_or_never),
          cmocka_unit_test(longest_of_all_fit));
