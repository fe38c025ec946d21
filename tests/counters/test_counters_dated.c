/* Adds at a given time: they count in the slices of that time, once, and take their places of counters_max. */

#include "support/faults/counting.h"
#include "support/random.h"

#include <string.h>

#define DAY_S 86400

static gh_status add_at(counting* self, const char* name, int64_t delta, uint64_t second)
{
    return gh_counters_add_at(self->counters, counting_open(self, name), delta, second * SECOND_US + 999999);
}

static void dated_add_counts_in_the_slices_of_its_time(void** state)
{
    (void)state;
    redis_server* server = server_with_clock();
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    uint64_t hour_s = next_hour_s();
    stand_at(server, hour_s + 1000);
    counting_add(hits, "hits", 1);
    assert_status(add_at(hits, "hits", 10, hour_s + 400), GH_OK);
    assert_status(add_at(hits, "hits", 20, hour_s + 400), GH_OK);
    assert_status(add_at(hits, "hits", 300, hour_s + 130), GH_OK);
    assert_status(add_at(hits, "hits", -4000, hour_s + 5000), GH_OK); /* later than now: now */
    assert_int_equal(counting_stats(hits).waiting, 5);
    counting_settle(hits);
    assert_int_equal(counting_stats(hits).counted, 5);
    assert_int_equal(counting_stats(hits).batches, 4);         /* a batch a time */
    assert_int_equal(stored_sum(server, "hits", 1), 1 - 4000); /* 120 s are kept */
    assert_int_equal(stored_slice(server, "hits", 60, hour_s + 960), 1 - 4000);
    assert_int_equal(stored_slice(server, "hits", 60, hour_s + 360), 30);
    assert_int_equal(stored_slice(server, "hits", 60, hour_s + 120), 300);
    assert_int_equal(stored_slice(server, "hits", 3600, hour_s), 331 - 4000);
    assert_int_equal(stored_sum(server, "hits", DAY_S), 331 - 4000);
}

static void what_no_precision_keeps_is_gone(void** state)
{
    (void)state;
    redis_server* server = server_with_clock();
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    uint64_t hour_s = next_hour_s();
    stand_at(server, hour_s);
    counting_add(hits, "hits", 1);
    counting_settle(hits); /* now the store's time is known */
    assert_status(add_at(hits, "hits", 1, hour_s - 120 * DAY_S - 10), GH_GONE);
    assert_status(gh_counters_add_at(hits->counters, counting_open(hits, "hits"), 1, 0), GH_GONE);
    assert_int_equal(counting_stats(hits).dropped, 2);
    assert_status(gh_counters_poll(hits->counters), GH_OK);
    assert_status(add_at(hits, "hits", 1, hour_s - 119 * DAY_S), GH_OK);
    assert_status(gh_counters_add_at(hits->counters, counting_open(hits, "hits"), 1, UINT64_MAX), GH_OK);
    counting_settle(hits);
    assert_int_equal(stored_sum(server, "hits", DAY_S), 3);
}

/* Each second that waits takes a place; when it is flushed, the place is free; the handle may be closed meanwhile. */
static void seconds_take_places_until_they_are_flushed(void** state)
{
    (void)state;
    redis_server* server = server_with_clock();
    gh_counters_config config = counting_config();
    config.counters_max = 4;
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), &config);
    uint64_t hour_s = next_hour_s();
    stand_at(server, hour_s + 1000);
    for (int round = 0; round < 3; round++)
    {
        for (uint64_t i = 0; i < 3; i++) assert_status(add_at(hits, "hits", 1, hour_s + 10 * i), GH_OK);
        assert_status(add_at(hits, "hits", 1, hour_s + 30), GH_NO_ROOM);
        assert_status(add_at(hits, "hits", 1, hour_s + 20), GH_OK); /* has a place */
        gh_counter other;
        assert_status(gh_counters_open(hits->counters, gh_str_literal("misses"), &other), GH_FULL);
        assert_status(gh_counters_close(hits->counters, counting_open(hits, "hits")), GH_OK);
        assert_int_equal(counting_stats(hits).open, 0);
        counting_settle(hits);
    }
    assert_int_equal(stored_sum(server, "hits", 3600), 12);
    assert_int_equal(counting_stats(hits).counted, 12);
}

static void handles_are_looked_at(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    gh_counter counter = counting_open(hits, "hits");
    assert_status(gh_counters_add_at(NULL, counter, 1, SECOND_US), GH_INVALID_COUNTERS);
    assert_status(gh_counters_add_at(hits->counters, (gh_counter){0, 0}, 1, SECOND_US), GH_FULL);
    assert_status(gh_counters_add_at(hits->counters, (gh_counter){UINT32_MAX, 1}, 1, SECOND_US), GH_INVALID_COUNTER);
    uint64_t now_us = (uint64_t)redis_server_integer(server, "EVAL %s 0", "return redis.call('TIME')[1]") * SECOND_US;
    assert_status(gh_counters_add_at(hits->counters, counter, 0, now_us), GH_OK);
    assert_status(gh_counters_poll(hits->counters), GH_OK);
    assert_status(gh_counters_add_at(hits->counters, counter, 1, now_us), GH_OK);
    for (uint32_t i = 0; i < 256; i++) /* the place that waits is nobody's */
    {
        gh_counter place = {i, 1};
        if (i != counter.index) assert_status(gh_counters_add(hits->counters, place, 1), GH_INVALID_COUNTER);
    }
    gh_counters_end(hits->counters);
    assert_status(gh_counters_add_at(hits->counters, counter, 1, now_us), GH_CLOSED);
    GAME_UNTIL(gh_counters_poll(hits->counters) == GH_IDLE);
    assert_int_equal(stored_sum(server, "hits", DAY_S), 1);
}

/* Random adds with and without a time, in random order, over links that break: each second holds what a model has. */
static void random_times_are_where_a_model_has_them(void** state)
{
    (void)state;
    static int64_t model[40];
    random_stream random = random_for_test("dated");
    redis_server* server = server_with_clock();
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    uint64_t hour_s = next_hour_s();
    memset(model, 0, sizeof(model));
    stand_at(server, hour_s + 50);
    for (int i = 0; i < 600; i++)
    {
        uint64_t second = random_below(&random, 40);
        int64_t delta = (int64_t)random_below(&random, 100) - 30;
        gh_status status = add_at(hits, "hits", delta, hour_s + second);
        if (status == GH_OK) model[second] += delta;
        if (random_below(&random, 30) == 0) counting_settle(hits);
        if (random_below(&random, 50) == 0) redis_server_do(server, "CLIENT KILL TYPE normal SKIPME yes");
        if (random_below(&random, 5) == 0) game_tick_all();
        stand_at(server, hour_s + 50);
    }
    counting_settle(hits);
    for (uint64_t i = 0; i < 40; i++) assert_int_equal(stored_slice(server, "hits", 1, hour_s + i), model[i]);
}

TEST_FILE(counters_dated, cmocka_unit_test(dated_add_counts_in_the_slices_of_its_time),
          cmocka_unit_test(what_no_precision_keeps_is_gone),
          cmocka_unit_test(seconds_take_places_until_they_are_flushed), cmocka_unit_test(handles_are_looked_at),
          cmocka_unit_test(random_times_are_where_a_model_has_them));
