/* Rows go to those alone who still hold them: answers, copies and loads that come late, keys that hold nonsense. */

#include "support/server/proxy.h"
#include "support/server/scripted.h"
#include "support/scene/refresher.h"
#include "support/server/store_script.h"

#include <stdio.h>
#include <string.h>

#define LONG_US (600 * SECOND_US)
#define ONE     "00000000000000aa:000000000000000"
#define TWO     "00000000000000bb:000000000000000"

static void pass_time(uint64_t pause_us)
{
    uint64_t begun_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - begun_us >= pause_us);
}

/* A key's name that outlives the next one. */
static const char* key_of(char part)
{
    static char keys[8][40];
    static unsigned next;
    char* key = keys[next++ % 8];
    snprintf(key, sizeof(keys[0]), "%s", row_key("itemX", part));
    return key;
}

/* ---- the lease ----------------------------------------------------------------------------------------- */

/* It looks at the row's shard alone. */
static void begin_at(refresher* self, const char* name)
{
    refresher_begin(self);
    for (unsigned i = 0; i < GH_ROWS_SHARDS; i++)
        if (i != row_shard(name)) self->rows.look_us[i] += LONG_US;
    self->rows.shard = (uint8_t)row_shard(name); /* nothing is encoded before the next tick */
}

/* The answer of a claim is held up for longer than the lease, and another has the row by then. */
static void answer_after_the_lease_calls_no_loader(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start_patient(proxy_address(proxy));
    GAME_UNTIL(gh_client_ready(a->client));
    game* b = game_start_ready(redis_server_address(server));
    refresher* warm = refresher_start(a, 1);
    assert_status(row_schedule(b, "warm", LONG_US), GH_OK);
    GAME_UNTIL(warm->rows.stored == 1);
    gh_op_cancel(&warm->rows.op);
    GAME_UNTIL(gh_op_poll(&warm->rows.op) == GH_CANCELLED);

    assert_status(row_schedule(b, "itemX", LONG_US), GH_OK);
    refresher* late = refresher_new(a, 2);
    late->config.lease_us = GH_ROWS_LEASE_MIN_US;
    late->keeps = true;
    proxy_arm(proxy, PROXY_REPLY, 0, PROXY_HOLD);
    begin_at(late, "itemX");
    GAME_UNTIL(redis_server_integer(server, "HLEN %s", key_of('w')) == 1);
    pass_time(GH_ROWS_LEASE_MIN_US + SECOND_US / 10);
    refresher* other = refresher_new(b, 2);
    other->keeps = true;
    begin_at(other, "itemX");
    GAME_UNTIL(other->open_count == 1);
    proxy_release(proxy);
    GAME_UNTIL(late->rows.lost > 0 || late->loads > 0);
    assert_int_equal(late->loads, 0);
    assert_int_equal(late->rows.loading, 0);
    assert_true(gh_row_load_is_wanted(other->open[0]));
}

/* Who has not heard that its lease is over is refused by the store, also while nobody else has the row. */
static void lease_that_is_over_stores_and_renews_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    const char* finish = store_script(server, "rows/rows_finish");
    const char* renew = store_script(server, "rows/rows_renew");
    redis_server_do(server, "HSET %s itemX %s", key_of('m'), "5000000 15000000 0 7 1000 c " ONE "1.3 " TWO "1");
    for (int is_over = 1; is_over >= 0; is_over--)
    {
        const char* score = is_over ? "2000" : "9000000000000000";
        redis_server_do(server, "ZADD %s %s itemX", key_of('d'), score);
        redisReply* reply = redis_server_command(server, "EVALSHA %s 2 %s %s " ONE "1.3 9 itemX 60000000 0", renew,
                                                 key_of('d'), key_of('m'));
        assert_int_equal(store_code(reply, 9), is_over);
        assert_string_equal(redis_server_text(server, "ZSCORE %s itemX", key_of('d')), score);
        reply = redis_server_command(server, "EVALSHA %s 4 %s %s %s %s " ONE "1.3 9 itemX v 0 zombie A 1000", finish,
                                     key_of('d'), key_of('m'), key_of('v'), key_of('i'));
        assert_int_equal(store_code(reply, 9), is_over);
        assert_int_equal(redis_server_integer(server, "EXISTS %s", key_of('v')), !is_over);
    }
}

/* After a restart the store does not know the claim: its loader hears of it at once, not when it renews. */
static void loader_in_doubt_asks_at_once(void** state)
{
    (void)state;
    redis_server_options options = {.append_only = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start_ready(redis_server_address(server));
    refresher* self = refresher_new(a, 2);
    self->keeps = true;
    self->config.lease_us = GH_ROWS_LEASE_MAX_US;
    self->config.load_us = GH_ROWS_LEASE_MAX_US;
    refresher_begin(self);
    assert_status(row_schedule(a, "itemX", LONG_US), GH_OK);
    GAME_UNTIL(self->open_count == 1);
    redis_server_restart(server);
    redis_server_do(server, "HDEL %s itemX", key_of('m'));
    GAME_UNTIL(!gh_row_load_is_wanted(self->open[0]));
    assert_status(refresher_complete(self, 0, GH_OK, "of before"), GH_LOST);
    assert_int_equal(self->rows.lost, 1);
}

/* What its loader has made is nobody's any more, and the slot is free. */
static void finish_that_nobody_answers_is_lost_with_the_lease(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    refresher* self = refresher_new(a, 1);
    self->keeps = true;
    refresher_begin(self);
    assert_status(row_schedule(a, "itemX", LONG_US), GH_OK);
    GAME_UNTIL(self->open_count == 1);
    redis_server_freeze(server);
    assert_status(refresher_complete(self, 0, GH_OK, "x"), GH_OK);
    game_tick(a);
    assert_int_equal(self->rows.lost, 0);
    assert_int_equal(self->rows.loading, 1);
    a->ahead_us += (int64_t)LONG_US;
    GAME_UNTIL(self->rows.lost == 1);
    assert_int_equal(self->rows.loading, 0);
    assert_int_equal(self->rows.stored, 0);
    redis_server_thaw(server);
}

/* ---- late copies --------------------------------------------------------------------------------------- */

static long long claim(redis_server* server, const char* digest, unsigned number, bool again, long long* count)
{
    redisReply* reply =
        redis_server_command(server, "EVALSHA %s 5 %s %s %s %s %s " ONE "1 9 0 %u 60000000 10 15000000 A %d", digest,
                             key_of('d'), key_of('m'), key_of('w'), key_of('i'), key_of('v'), number, again);
    assert_int_equal(reply->type, REDIS_REPLY_ARRAY);
    long long code = reply->element[1]->integer;
    *count = ((long long)reply->elements - 6) / 2;
    freeReplyObject(reply);
    return code;
}

static void late_copy_of_a_claim_gets_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    const char* digest = store_script(server, "rows/rows_claim");
    long long count;
    redis_server_do(server, "HSET %s itemX %s", key_of('m'), "5000000 15000000 0 0 0 n - " TWO "1");
    redis_server_do(server, "ZADD %s 1 itemX", key_of('d'));
    assert_int_equal(claim(server, digest, 5, false, &count), 0);
    assert_int_equal(count, 1);
    assert_int_equal(claim(server, digest, 5, false, &count), 0); /* the same one again */
    assert_int_equal(count, 1);
    redis_server_do(server, "ZADD %s 1 itemX", key_of('d'));
    assert_int_equal(claim(server, digest, 4, true, &count), 4); /* one from before */
    assert_int_equal(count, 0);
    redis_server_do(server, "HSET %s " ONE "1 %s", key_of('w'), "5 1000");
    assert_int_equal(claim(server, digest, 5, true, &count), 4); /* the same, but its lease is over */
    assert_int_equal(count, 0);
    assert_int_equal(redis_server_integer(server, "ZSCORE %s itemX", key_of('d')), 1);
    assert_int_equal(claim(server, digest, 6, false, &count), 0);
    assert_int_equal(count, 1);
}

/* The copy before it may still be on its way, and rows may be due by then. */
static void claim_of_nothing_is_kept_if_it_was_sent_twice(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    const char* digest = store_script(server, "rows/rows_claim");
    long long count;
    assert_int_equal(claim(server, digest, 1, false, &count), 0);
    assert_int_equal(redis_server_integer(server, "EXISTS %s", key_of('w')), 0);
    assert_int_equal(claim(server, digest, 2, true, &count), 0);
    redis_server_do(server, "HSET %s itemX %s", key_of('m'), "5000000 15000000 0 0 0 n - " TWO "1");
    redis_server_do(server, "ZADD %s 1 itemX", key_of('d'));
    assert_int_equal(claim(server, digest, 2, false, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(redis_server_integer(server, "ZSCORE %s itemX", key_of('d')), 1);
}

static long long change(redis_server* server, const char* digest, const char* token, bool away)
{
    redisReply* reply = redis_server_command(
        server,
        away ? "EVALSHA %s 4 %s %s %s %s %s 9 0 itemX 0" : "EVALSHA %s 4 %s %s %s %s %s 9 0 itemX 5000000 1 0 A 0",
        digest, key_of('d'), key_of('m'), key_of('t'), key_of(away ? 'v' : 'i'), token);
    return store_code(reply, 9);
}

static void late_copies_undo_nothing_of_others(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    const char* schedule = store_script(server, "rows/rows_schedule");
    const char* unschedule = store_script(server, "rows/rows_unschedule");
    assert_int_equal(change(server, schedule, ONE "1", false), 0);
    assert_int_equal(change(server, unschedule, TWO "1", true), 0);
    assert_int_equal(change(server, schedule, ONE "1", false), 1);
    assert_int_equal(redis_server_integer(server, "EXISTS %s %s", key_of('m'), key_of('d')), 0);
    assert_int_equal(change(server, schedule, ONE "2", false), 0);
    assert_int_equal(change(server, unschedule, TWO "1", true), 0);
    assert_int_equal(redis_server_integer(server, "EXISTS %s %s", key_of('m'), key_of('d')), 2);
    assert_int_equal(change(server, unschedule, TWO "2", true), 0);
    assert_int_equal(redis_server_integer(server, "EXISTS %s %s", key_of('m'), key_of('d')), 0);
    assert_int_equal(change(server, unschedule, TWO "3", true), 2);
    assert_int_equal(change(server, schedule, ONE "2", false), 1);
    assert_in_range(redis_server_integer(server, "PTTL %s", key_of('t')), 1, 1200000);
}

/* ---- keys that hold nonsense --------------------------------------------------------------------------- */

static void nonsense_in_one_row_holds_up_no_other(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    static const char* const texts[] = {"nonsense", "5000000 15000000 99999999999 0 0 n - x", ""};
    for (unsigned i = 0; i < 3; i++)
    {
        redis_server_do(server, "HSET %s bad%u %s", key_of('m'), i, texts[i]);
        redis_server_do(server, "ZADD %s -inf bad%u", key_of('d'), i);
    }
    assert_status(row_schedule(a, "itemX", LONG_US), GH_OK);
    refresher* self = refresher_start(a, 1);
    GAME_UNTIL(self->rows.stored == 1);
    assert_status(self->rows.trouble, GH_CORRUPT);
    assert_int_equal(game_stats(a).links_lost, 0);
    assert_int_equal(game_stats(a).protocol_errors, 0);
}

/* A row that is due again as soon as it was loaded would have its loader called without a pause. */
static void row_of_no_period_is_never_loaded(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    static const char* const periods[] = {"0", "5", "99999", "86400000001", "99999999999999999999"};
    for (unsigned i = 0; i < 5; i++)
    {
        char text[80];
        (void)snprintf(text, sizeof(text), "%s 15000000 0 0 0 n - x", periods[i]);
        redis_server_do(server, "HSET %s bad%u %s", key_of('m'), i, text);
        redis_server_do(server, "ZADD %s 1 bad%u", key_of('d'), i);
    }
    assert_status(row_schedule(a, "itemX", LONG_US), GH_OK);
    refresher* self = refresher_start(a, 4);
    GAME_UNTIL(self->rows.stored >= 1);
    for (int i = 0; i < 200; i++) game_tick_all();
    assert_int_equal(self->rows.stored, 1);
    assert_status(self->rows.trouble, GH_CORRUPT);
}

static void score_that_cannot_be_costs_no_link(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    refresher* self = refresher_new(a, 1);
    static const char* const scores[] = {"-inf", "-1e300", "-1"};
    refresher_begin(self);
    for (unsigned i = 0; i < 3; i++)
    {
        assert_status(row_schedule(a, "itemX", LONG_US), GH_OK);
        GAME_UNTIL(self->rows.stored == 1 + 2 * i);
        redis_server_do(server, "ZADD %s %s itemX", key_of('d'), scores[i]);
        self->rows.look_us[row_shard("itemX")] = 0;
        GAME_UNTIL(self->rows.stored == 2 + 2 * i);
        assert_status(row_unschedule(a, "itemX"), GH_OK);
    }
    assert_int_equal(game_stats(a).links_lost, 0);
    assert_status(self->rows.trouble, GH_OK);
}

/* No script removes what it has not bounded. */
static void crowd_of_waiters_is_removed_piece_by_piece(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    const char* digest = store_script(server, "rows/rows_claim");
    const char* plant = "for i = 1, 100000 do redis.call('ZADD', KEYS[1], 1, 'x' .. i) end return 1";
    long long count;
    redis_server_do(server, "EVAL %s 1 %s", plant, key_of('i'));
    assert_int_equal(claim(server, digest, 1, false, &count), 0);
    assert_in_range(redis_server_integer(server, "ZCARD %s", key_of('i')), 99900, 100000);
}

/* ---- answers that cannot be ---------------------------------------------------------------------------------------
 */

/* To a get: a value of one byte, and so many as its size. */
static bool answer_get(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    char text[128];
    if (count != 8 || memcmp(words[3].bytes, "gh:{rows:", 9) != 0) return false;
    snprintf(text, sizeof(text), "*8\r\n:%.*s\r\n:0\r\n:1\r\n:0\r\n:1000000\r\n:%u\r\n:1\r\n$1\r\nx\r\n",
             (int)words[4].size, words[4].bytes, *(const unsigned*)world->context);
    buffer_add(reply, text, strlen(text));
    return true;
}

/* Who copies value_size bytes from the buffer would read what nobody has written. */
static void value_of_another_size_is_none(void** state)
{
    (void)state;
    unsigned size = 1;
    char buffer[64];
    scripted* world = scripted_new();
    world->answer = answer_get;
    world->context = &size;
    scripted_start_ready(world, NULL);
    gh_row_get* get = SCRIPTED_NEW(world, gh_row_get);
    gh_row_get_config want = gh_row_get_config_default();
    want.buffer = buffer;
    want.buffer_size = sizeof(buffer);
    for (; size <= 65; size += 32)
    {
        assert_status(gh_row_get_begin(get, world->client, gh_str_literal("itemX"), &want), GH_OK);
        SCRIPTED_UNTIL(world, !gh_op_is_busy(&get->op), 1000, SECOND_US);
        assert_status(gh_op_poll(&get->op), size == 1 ? GH_OK : GH_CORRUPT);
    }
}

TEST_FILE(rows_late, cmocka_unit_test(answer_after_the_lease_calls_no_loader),
          cmocka_unit_test(lease_that_is_over_stores_and_renews_nothing),
          cmocka_unit_test(loader_in_doubt_asks_at_once),
          cmocka_unit_test(finish_that_nobody_answers_is_lost_with_the_lease),
          cmocka_unit_test(late_copy_of_a_claim_gets_nothing),
          cmocka_unit_test(claim_of_nothing_is_kept_if_it_was_sent_twice),
          cmocka_unit_test(late_copies_undo_nothing_of_others), cmocka_unit_test(nonsense_in_one_row_holds_up_no_other),
          cmocka_unit_test(row_of_no_period_is_never_loaded), cmocka_unit_test(score_that_cannot_be_costs_no_link),
          cmocka_unit_test(crowd_of_waiters_is_removed_piece_by_piece),
          cmocka_unit_test(value_of_another_size_is_none));
