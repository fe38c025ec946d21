/* Tests of guildhall/rows.h against real servers. */

#include "support/scene/keys.h"
#include "support/scene/refresher.h"

#include <stdio.h>
#include <string.h>

#define PERIOD_US (SECOND_US / 5)

/* ---- the ordinary way ---------------------------------------------------------------------------------- */

/* A row is there soon after it was scheduled; it is refreshed; and when it is unscheduled, it is gone. */
static void is_refreshed_until_it_is_unscheduled(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    refresher* self = refresher_start(a, 4);
    row_read* read = row_read_new(a);
    assert_status(row_get(a, read, "itemX"), GH_GONE);
    assert_status(row_schedule(a, "itemX", PERIOD_US), GH_OK);
    GAME_UNTIL(row_get(a, read, "itemX") == GH_OK);
    assert_true(row_is(read, "itemX:1"));
    uint64_t version = read->get.version;
    GAME_UNTIL(row_get(a, read, "itemX") == GH_OK && !row_is(read, "itemX:1"));
    assert_true(row_is(read, "itemX:2"));
    assert_true(read->get.version > version);
    assert_status(row_unschedule(a, "itemX"), GH_OK);
    assert_status(row_get(a, read, "itemX"), GH_GONE);
    unsigned loads = self->loads;
    uint64_t begun_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - begun_us > 2 * PERIOD_US);
    assert_int_equal(self->loads, loads);
    assert_status(row_unschedule(a, "itemX"), GH_GONE);
    assert_int_equal(redis_server_integer(server, "EXISTS %s", row_key("itemX", 'd')), 0);
    assert_int_equal(redis_server_integer(server, "EXISTS %s", row_key("itemX", 'm')), 0);
    assert_int_equal(redis_server_integer(server, "EXISTS %s", row_key("itemX", 'v')), 0);
}

static void loader_may_take_many_ticks(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    refresher* self = refresher_new(a, 4);
    row_read* read = row_read_new(a);
    self->keeps = true;
    self->config.lease_us = GH_ROWS_LEASE_MIN_US;
    refresher_begin(self);
    assert_status(row_schedule(a, "itemX", PERIOD_US), GH_OK);
    GAME_UNTIL(self->open_count == 1);
    uint64_t begun_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - begun_us > 2 * GH_ROWS_LEASE_MIN_US); /* two leases long, renewed all the while */
    assert_int_equal(self->loads, 1);
    assert_true(gh_row_load_is_wanted(self->open[0]));
    assert_status(refresher_complete(self, 0, GH_OK, "at last"), GH_OK);
    GAME_UNTIL(row_get(a, read, "itemX") != GH_GONE);
    assert_true(row_is(read, "at last"));
    assert_true(read->get.age_us >= 2 * GH_ROWS_LEASE_MIN_US); /* as old as the question, not as the answer */
    assert_int_equal(self->rows.stored, 1);
}

static void many_rows_over_all_shards(void** state)
{
    (void)state;
    enum
    {
        ROWS = 60
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    row_read* read = row_read_new(a);
    char name[16];
    for (int i = 0; i < ROWS; i++)
    {
        snprintf(name, sizeof(name), "row %d", i);
        assert_status(row_schedule(a, name, 600 * SECOND_US), GH_OK);
        assert_non_null(redis_server_text(server, "ZSCORE %s %s", row_key(name, 'd'), name));
    }
    refresher* self[2] = {refresher_start(a, 8), refresher_start(b, 8)};
    GAME_UNTIL(self[0]->rows.stored + self[1]->rows.stored == ROWS);
    assert_int_equal(self[0]->loads + self[1]->loads, ROWS); /* each once, whoever it was */
    for (int i = 0; i < ROWS; i++)
    {
        char value[24];
        snprintf(name, sizeof(name), "row %d", i);
        snprintf(value, sizeof(value), "%s:1", name);
        assert_status(row_get(a, read, name), GH_OK);
        assert_true(row_is(read, value));
        /* due after the period, less up to a tenth */
        assert_in_range(redis_server_integer(server, "ZSCORE %s %s", row_key(name, 'd'), name) -
                            (long long)read->get.version,
                        540 * SECOND_US, 600 * SECOND_US);
    }
}

static void hint_brings_a_new_row_at_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    GAME_UNTIL(gh_client_link_state(b->client, GH_LINK_WAKE) == GH_LINK_READY);
    long long tried = redis_server_calls(server, "zadd"); /* by hand-shakes, to see whether it is allowed */
    refresher* self = refresher_start(b, 4);
    GAME_UNTIL(redis_server_calls(server, "zadd") >= tried + GH_ROWS_SHARDS); /* it waits everywhere */
    uint64_t hints = game_stats(b).hints;
    for (int i = 0; i < 5; i++)
    {
        char name[16];
        snprintf(name, sizeof(name), "new %d", i);
        assert_status(row_schedule(a, name, 600 * SECOND_US), GH_OK);
        GAME_UNTIL(self->rows.stored == (uint64_t)i + 1);
        GAME_UNTIL(game_stats(b).hints > hints); /* on a slow machine the next question may come before it */
        hints = game_stats(b).hints;
    }
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static void get_tells_version_age_and_absence(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    refresher* self = refresher_new(a, 4);
    row_read* read = row_read_new(a);
    self->outcome = GH_EMPTY;
    refresher_begin(self);
    assert_status(row_schedule(a, "nobody", 600 * SECOND_US), GH_OK);
    GAME_UNTIL(row_get(a, read, "nobody") != GH_GONE);
    assert_status(row_get(a, read, "nobody"), GH_EMPTY); /* there is no such row, and that is known */
    assert_true(read->get.version > 0);

    self->outcome = GH_OK;
    assert_status(row_schedule(a, "itemX", 600 * SECOND_US), GH_OK);
    GAME_UNTIL(row_get(a, read, "itemX") != GH_GONE);
    assert_status(row_get(a, read, "itemX"), GH_OK);
    assert_int_equal(read->get.value_size, 7);
    read->config.version = read->get.version;
    read->buffer[0] = '#';
    assert_status(row_get(a, read, "itemX"), GH_SAME);
    assert_int_equal(read->get.value.size, 0);
    assert_int_equal(read->buffer[0], '#'); /* our copy stays */
    read->config.version = 0;
    for (read->config.buffer_size = 0; read->config.buffer_size < 7; read->config.buffer_size++)
    {
        assert_status(row_get(a, read, "itemX"), GH_TOO_SMALL);
        assert_int_equal(read->get.value_size, 7);
    }
    assert_status(row_get(a, read, "itemX"), GH_OK);
    read->config.max_age_us = 1;
    assert_status(row_get(a, read, "itemX"), GH_OLD);
    assert_true(row_is(read, "itemX:1"));
}

static void reading_writes_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    row_read* read = row_read_new(a);
    refresher* self = refresher_start(a, 4);
    assert_status(row_schedule(a, "itemX", 600 * SECOND_US), GH_OK);
    GAME_UNTIL(self->rows.stored == 1);
    gh_op_cancel(&self->rows.op);
    GAME_UNTIL(gh_op_poll(&self->rows.op) == GH_CANCELLED);
    long long dirty = redis_server_calls(server, "hset") + redis_server_calls(server, "zadd");
    for (int i = 0; i < 20; i++) assert_status(row_get(a, read, "itemX"), GH_OK);
    assert_int_equal(redis_server_calls(server, "hset") + redis_server_calls(server, "zadd"), dirty);
}

/* ---- schedules ----------------------------------------------------------------------------------------- */

static void schedule_again_changes_the_period_and_nothing_else(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    refresher* self = refresher_start(a, 4);
    assert_status(row_schedule(a, "itemX", 600 * SECOND_US), GH_OK);
    GAME_UNTIL(self->rows.stored == 1);
    long long due = redis_server_integer(server, "ZSCORE %s itemX", row_key("itemX", 'd'));
    assert_status(row_schedule(a, "itemX", 600 * SECOND_US), GH_OK); /* as each server does when it starts */
    assert_int_equal(redis_server_integer(server, "ZSCORE %s itemX", row_key("itemX", 'd')), due);
    assert_int_equal(self->loads, 1);
    assert_status(row_schedule(a, "itemX", PERIOD_US), GH_OK); /* sooner: due after the new period at the latest */
    GAME_UNTIL(self->rows.stored == 3);
}

static void row_can_be_asked_for_now(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    refresher* self = refresher_start(a, 4);
    gh_row_schedule_config config = gh_row_schedule_config_default();
    config.period_us = 600 * SECOND_US;
    assert_status(row_schedule_with(a, "itemX", &config), GH_OK);
    GAME_UNTIL(self->rows.stored == 1);
    config.now = true;
    assert_status(row_schedule_with(a, "itemX", &config), GH_OK);
    GAME_UNTIL(self->rows.stored == 2);
    self->keeps = true;
    assert_status(row_schedule_with(a, "itemX", &config), GH_OK);
    GAME_UNTIL(self->open_count == 1);
    assert_status(row_schedule_with(a, "itemX", &config),
                  GH_OK); /* it changed after we had begun to read it: once more */
    assert_status(refresher_complete(self, 0, GH_OK, "old"), GH_OK);
    GAME_UNTIL(self->open_count == 1);
    assert_status(refresher_complete(self, 0, GH_OK, "new"), GH_OK);
    GAME_UNTIL(self->rows.stored == 4);
    uint64_t begun_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - begun_us > SECOND_US / 5);
    assert_int_equal(self->open_count, 0);
}

static void versions_grow_over_an_unschedule(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    row_read* read = row_read_new(a);
    uint64_t version = 0;
    refresher_start(a, 4);
    for (int i = 0; i < 5; i++)
    {
        assert_status(row_schedule(a, "itemX", 600 * SECOND_US), GH_OK);
        GAME_UNTIL(row_get(a, read, "itemX") == GH_OK);
        assert_true(read->get.version > version);
        version = read->get.version;
        assert_status(row_unschedule(a, "itemX"), GH_OK);
    }
}

/* ---- the page of keys ---------------------------------------------------------------------------------- */

static void keys_are_on_the_page(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    refresher* self = refresher_start(a, 4);
    assert_status(row_schedule(a, "itemX", 600 * SECOND_US), GH_OK);
    assert_status(row_schedule(a, "itemY", 600 * SECOND_US), GH_OK);
    GAME_UNTIL(self->rows.stored == 2);
    assert_status(row_unschedule(a, "itemY"), GH_OK);
    keys_must_be_on_the_page(server, "gh:{rows:");
}

/* Rows of the shard are counted in the step that adds one. */
static void shard_is_full_at_its_cap(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    char names[3][16]; /* of one shard */
    for (unsigned i = 0, found = 0; found < 3; i++)
    {
        snprintf(names[found], sizeof(names[found]), "r%u", i);
        found += row_shard(names[found]) == 7;
    }
    const char* fill = "for i = 1, ARGV[1] do redis.call('HSET', KEYS[1], 'other' .. i, '1 1 0 0 0 n - x') end "
                       "return redis.call('HLEN', KEYS[1])";
    redisReply* reply = redis_server_command(server, "EVAL %s 1 %s %d", fill, row_key(names[0], 'm'), 99998);
    assert_int_equal(reply->integer, 99998);
    freeReplyObject(reply);
    assert_status(row_schedule(a, names[0], SECOND_US), GH_OK); /* the last but one */
    assert_status(row_schedule(a, names[1], SECOND_US), GH_OK);
    assert_status(row_schedule(a, names[2], SECOND_US), GH_FULL);
    assert_status(row_schedule(a, names[1], 2 * SECOND_US), GH_OK); /* is in already */
    assert_int_equal(redis_server_integer(server, "HLEN %s", row_key(names[0], 'm')), 100000);
    assert_int_equal(redis_server_integer(server, "ZCARD %s", row_key(names[0], 'd')), 2);
    assert_status(row_unschedule(a, names[0]), GH_OK);
    assert_status(row_schedule(a, names[2], SECOND_US), GH_OK);
}

TEST_FILE(rows, cmocka_unit_test(is_refreshed_until_it_is_unscheduled), cmocka_unit_test(shard_is_full_at_its_cap),
          cmocka_unit_test(loader_may_take_many_ticks), cmocka_unit_test(many_rows_over_all_shards),
          cmocka_unit_test(hint_brings_a_new_row_at_once), cmocka_unit_test(get_tells_version_age_and_absence),
          cmocka_unit_test(reading_writes_nothing),
          cmocka_unit_test(schedule_again_changes_the_period_and_nothing_else),
          cmocka_unit_test(row_can_be_asked_for_now), cmocka_unit_test(versions_grow_over_an_unschedule),
          cmocka_unit_test(keys_are_on_the_page));
