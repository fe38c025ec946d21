/* Counters of many servers: time, outages, sudden ends. */

#include "support/faults/counting.h"
#include "support/scene/fronted.h"
#include "support/scene/keys.h"
#include "support/process.h"
#include "support/random.h"
#include "support/server/store_script.h"

#include <stdio.h>
#include <string.h>

/* ---- slices -------------------------------------------------------------------------------------------- */

static void slices_close_as_time_goes_by(void** state)
{
    (void)state;
    redis_server* server = server_with_clock();
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    uint64_t hour_s = next_hour_s();
    for (unsigned i = 0; i < 4; i++)
    {
        stand_at(server, hour_s + 60 * i + 30);
        counting_add(hits, "hits", 1 << i);
        counting_settle(hits);
    }
    for (unsigned i = 0; i < 4; i++) assert_int_equal(stored_slice(server, "hits", 60, hour_s + 60 * i), 1 << i);
    assert_int_equal(redis_server_integer(server, "LLEN %s", stored_list_key("hits", 60)), 3);
    assert_int_equal(stored_slice(server, "hits", 3600, hour_s), 15);
    assert_int_equal(redis_server_integer(server, "EXISTS %s", stored_list_key("hits", 3600)), 0);
    gh_counter_read* read = counting_read(hits->game, "hits", 60, 120, false);
    assert_int_equal(read->count, 4);
    for (unsigned i = 0; i < 4; i++) assert_int_equal(read->samples[i].time_s, hour_s + 60 * i);
    assert_int_equal(read->samples[3].sum, 8);
}

static void newest_samples_are_kept_and_no_more(void** state)
{
    (void)state;
    redis_server* server = server_with_clock();
    gh_counters_config config = counting_config();
    config.precisions[0] = (gh_counter_precision){60, 3};
    config.precisions[1] = (gh_counter_precision){120, 1};
    config.precision_count = 2;
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), &config);
    uint64_t hour_s = next_hour_s();
    for (unsigned i = 0; i < 6; i++)
    {
        stand_at(server, hour_s + 60 * i);
        counting_add(hits, "hits", 10 + i);
        counting_settle(hits);
        assert_int_equal(redis_server_integer(server, "LLEN %s", stored_list_key("hits", 60)), i < 2 ? i : 2);
    }
    assert_int_equal(stored_sum(server, "hits", 60), 13 + 14 + 15);
    assert_int_equal(stored_sum(server, "hits", 120), 14 + 15); /* the open one is all that is kept */
    assert_int_equal(redis_server_integer(server, "EXISTS %s", stored_list_key("hits", 120)), 0);
}

/* One server was cut off for 90 seconds; what it counted then belongs to then. */
static void late_add_counts_in_the_slice_of_its_time(void** state)
{
    (void)state;
    static const unsigned seconds[] = {1, 5, 60, 300, 3600, 18000, 86400};
    redis_server* server = server_with_clock();
    counting* late = counting_start(game_start_ready(redis_server_address(server)), NULL);
    counting* other = counting_start(game_start_ready(redis_server_address(server)), NULL);
    uint64_t hour_s = next_hour_s();
    stand_at(server, hour_s + 100);
    counting_add(other, "hits", 1000);
    counting_settle(other);
    counting_add(late, "hits", 7);
    late->game->ahead_us += (int64_t)(90 * SECOND_US);
    stand_at(server, hour_s + 190);
    counting_add(other, "hits", 500);
    counting_settle(other);
    assert_true(counting_stats(late).oldest_us >= 90 * SECOND_US);
    counting_settle(late);
    assert_int_equal(stored_slice(server, "hits", 60, hour_s + 60), 1007);
    assert_int_equal(stored_slice(server, "hits", 60, hour_s + 180), 500);
    for (size_t i = 0; i < 7; i++) assert_int_equal(stored_sum(server, "hits", seconds[i]), 1507);
    assert_int_equal(stored_slice(server, "hits", 1, hour_s + 190), 500);
    keys_must_be_on_the_page(server, "gh:{counters:<shard>}");
}

static void add_later_than_what_is_kept_counts_where_it_is_kept(void** state)
{
    (void)state;
    redis_server* server = server_with_clock();
    counting* late = counting_start(game_start_ready(redis_server_address(server)), NULL);
    uint64_t hour_s = next_hour_s();
    stand_at(server, hour_s + 1000);
    counting_add(late, "hits", 1);
    counting_settle(late);
    stand_at(server, hour_s + 400);
    counting_add(late, "hits", 7);
    late->game->ahead_us += (int64_t)(600 * SECOND_US);
    game_tick(late->game);
    stand_at(server, hour_s + 1000);
    counting_settle(late);
    assert_int_equal(stored_sum(server, "hits", 1), 1); /* 120 s are kept    */
    assert_int_equal(stored_sum(server, "hits", 5), 1); /* 600 s, just not   */
    assert_int_equal(stored_sum(server, "hits", 60), 8);
    assert_int_equal(stored_slice(server, "hits", 300, hour_s + 300), 7);
    assert_int_equal(counting_stats(late).counted, 2);
}

/* ---- the script against a model ------------------------------------------------------------------------ */

#define MODEL_SPAN_S 400

/* Batches of three clients come in any order, and some of them twice. */
static void random_batches_are_where_a_model_has_them(void** state)
{
    (void)state;
    static int64_t model[3][MODEL_SPAN_S + 2];
    static const unsigned seconds[3] = {1, 5, 60};
    random_stream random = random_for_test("batches");
    redis_server* server = server_with_clock();
    const char* digest = store_script(server, "counters/counters_flush");
    uint64_t hour_s = next_hour_s();
    memset(model, 0, sizeof(model));
    for (unsigned i = 0; i < 600; i++)
    {
        unsigned client = (unsigned)random_below(&random, 3);
        unsigned age_s = random_below(&random, 3) == 0 ? (unsigned)random_below(&random, MODEL_SPAN_S) : 0;
        int delta = (int)random_below(&random, 2001) - 1000;
        stand_at(server, hour_s + MODEL_SPAN_S + random_below(&random, 2));
        for (unsigned times = 1 + (unsigned)random_below(&random, 2); times > 0; times--)
        {
            redisReply* reply = redis_server_command(
                server,
                "EVALSHA %s 6 %s %s %s %s %s %s 000000000000000%u %u %u000000 100 0 0 1 3 1 1000 5 1000 60 1000 %d",
                digest, stored_shard_key("hits", "w"), stored_shard_key("hits", "k"), stored_open_key("hits"),
                stored_list_key("hits", 1), stored_list_key("hits", 5), stored_list_key("hits", 60), client, i + 1,
                age_s, delta);
            long long numbers[3];
            assert_int_equal(redis_server_numbers(reply, numbers, 3), 3);
            assert_int_equal(numbers[1], 0);
            if (times == 1)
            {
                uint64_t at_s = (uint64_t)numbers[2] / SECOND_US - age_s - hour_s;
                assert_in_range(at_s, 1, MODEL_SPAN_S + 1);
                for (int j = 0; j < 3; j++) model[j][at_s / seconds[j]] += delta;
            }
            freeReplyObject(reply);
        }
    }
    for (int j = 0; j < 3; j++)
        for (unsigned k = 0; k <= (MODEL_SPAN_S + 1) / seconds[j]; k++)
            if (stored_slice(server, "hits", seconds[j], hour_s + k * seconds[j]) != model[j][k])
                fail_msg("precision %u: slice %u is not as it should be", seconds[j], k);
}

/* ---- many at once -------------------------------------------------------------------------------------- */

#define COMPETITORS 3
#define COMPETED    40

typedef struct competition
{
    const char* address;
    uint64_t seed;
    unsigned rounds;
} competition;

/* Tells what it has added and seen flushed, after each round. */
static int compete(void* context, int results)
{
    const competition* self = context;
    random_stream random = random_from_seed(self->seed);
    int64_t totals[COMPETED];
    memset(totals, 0, sizeof(totals));
    game_forget_all();
    gh_client_config config = game_config(self->address);
    fronted_dress(&config);
    size_t client_size = gh_client_memory(&config);
    gh_counters_config counters_config = counting_config();
    size_t size = gh_counters_memory(&counters_config);
    void* memory = NULL;
    void* client_memory = NULL;
    gh_client* client = NULL;
    gh_counters* counters = NULL;
    gh_counter handles[COMPETED];
    CHILD_CHECK(posix_memalign(&client_memory, 16, client_size) == 0 && posix_memalign(&memory, 16, size) == 0);
    CHILD_CHECK(gh_client_init(client_memory, client_size, &config, gh_platform_default(), &client) == GH_OK);
    CHILD_CHECK(gh_counters_init(&counters, client, &counters_config, memory, size) == GH_OK);
    for (int i = 0; i < COMPETED; i++)
        CHILD_CHECK(gh_counters_open(counters, gh_str_of(counting_text("c%d", i)), &handles[i]) == GH_OK);
    for (unsigned round = 0; round < self->rounds; round++)
    {
        for (int i = 0; i < 200; i++)
        {
            size_t which = (size_t)random_below(&random, COMPETED);
            int64_t delta = 1 + (int64_t)random_below(&random, 9);
            CHILD_CHECK(gh_counters_add(counters, handles[which], delta) == GH_OK);
            totals[which] += delta;
        }
        CHILD_CHECK(gh_counters_flush(counters) == GH_OK);
        while (gh_counters_poll(counters) == GH_PENDING) CHILD_CHECK(gh_tick(client, wait_now_us(), 0) == GH_OK);
        CHILD_CHECK(write(results, totals, sizeof(totals)) == (ssize_t)sizeof(totals));
    }
    gh_client_shutdown(client);
    return 0;
}

static void processes_that_compete_lose_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    child_process* children[COMPETITORS];
    competition contexts[COMPETITORS];
    int64_t totals[COMPETED];
    memset(totals, 0, sizeof(totals));
    for (unsigned i = 0; i < COMPETITORS; i++)
    {
        contexts[i] = (competition){redis_server_address(server), suite_seed() + i, 20};
        children[i] = child_start(compete, &contexts[i]);
    }
    for (unsigned i = 0; i < COMPETITORS; i++)
    {
        int64_t told[COMPETED];
        for (unsigned round = 0; round < 20; round++)
            assert_int_equal(child_read(children[i], told, sizeof(told)), sizeof(told));
        assert_int_equal(child_wait(children[i]), 0);
        for (int k = 0; k < COMPETED; k++) totals[k] += told[k];
    }
    for (int k = 0; k < COMPETED; k++)
    {
        const char* name = counting_text("c%d", k);
        assert_int_equal(stored_sum(server, name, 1), totals[k]);
        assert_int_equal(stored_sum(server, name, 60), totals[k]);
        assert_int_equal(stored_sum(server, name, 86400), totals[k]);
    }
}

/* What was told as flushed is there; of the round under way all, some or none. */
static void process_that_is_killed_loses_one_flush_at_most(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    competition context = {redis_server_address(server), suite_seed(), 1000000};
    child_process* child = child_start(compete, &context);
    int64_t told[COMPETED];
    for (int i = 0; i < 10; i++) assert_int_equal(child_read(child, told, sizeof(told)), sizeof(told));
    child_kill9(child);
    for (int64_t more[COMPETED]; child_read(child, more, sizeof(more)) == sizeof(more);)
        memcpy(told, more, sizeof(told));
    int64_t beyond = 0;
    for (int k = 0; k < COMPETED; k++)
    {
        int64_t stored = stored_sum(server, counting_text("c%d", k), 86400);
        assert_true(stored >= told[k]);
        assert_int_equal(stored_sum(server, counting_text("c%d", k), 1), stored);
        beyond += stored - told[k];
    }
    assert_true(beyond <= 200 * 9);
}

/* Each batch of a client to a shard has to wait for the one before, also if it is of other counters. */
static void two_sets_of_one_client_lose_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* self = game_start_ready(redis_server_address(server));
    counting* sets[2] = {counting_start(self, NULL), counting_start(self, NULL)};
    for (int round = 0; round < 20; round++)
    {
        for (int k = 0; k < 20; k++)
            for (int i = 0; i < 2; i++) counting_add(sets[i], counting_text("%d", k), 1 + i);
        for (int i = 0; i < 2; i++) assert_status(gh_counters_flush(sets[i]->counters), GH_OK);
        if (round % 5 == 0) redis_server_do(server, "SCRIPT FLUSH");
        for (int i = 0; i < 2; i++) GAME_UNTIL(gh_counters_poll(sets[i]->counters) == GH_OK);
    }
    for (int k = 0; k < 20; k++) assert_int_equal(stored_sum(server, counting_text("%d", k), 86400), 60);
    for (int i = 0; i < 2; i++) assert_int_equal(counting_stats(sets[i]).counted, 400);
}

/* 10,000 clients add to a shard within ten minutes: their marks take what they may, and whoever comes then is counted
   at once; the marks of ten minutes before go. */
static void any_number_of_clients_is_counted(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    const char* plant =
        "local now = redis.call('TIME')[1] - ARGV[1] for i = 1, 10000 do redis.call('HSET', KEYS[1], "
        "string.format('%016x', i), '1 ' .. now .. '000000 -') end return redis.call('MEMORY', 'USAGE', KEYS[1])";
    long long size = redis_server_integer(server, "EVAL %s 1 %s %d", plant, stored_shard_key("hits", "w"), 0);
    assert_in_range(size, 1, 1200000);
    counting* beyond = counting_start(game_start_ready(redis_server_address(server)), NULL);
    counting_add(beyond, "hits", 2);
    counting_settle(beyond);
    assert_int_equal(stored_sum(server, "hits", 60), 2);
    assert_int_equal(counting_stats(beyond).counted, 1);
    assert_in_range(redis_server_integer(server, "PTTL %s", stored_shard_key("hits", "w")), 1, 1200000);
    /* and the generation */
    assert_in_range(redis_server_integer(server, "HLEN %s", stored_shard_key("hits", "w")), 10001, 10002);
    redis_server_do(server, "EVAL %s 1 %s %d", plant, stored_shard_key("hits", "w"), 601);
    counting* next = counting_start(game_start_ready(redis_server_address(server)), NULL);
    counting_add(next, "hits", 1);
    counting_settle(next);
    assert_in_range(redis_server_integer(server, "HLEN %s", stored_shard_key("hits", "w")), 9990, 9999);
}

/* ---- outages and ends ---------------------------------------------------------------------------------- */

static void adds_of_an_outage_are_counted_after_it(void** state)
{
    (void)state;
    redis_server_options options = {.append_only = true};
    redis_server* server = redis_server_start(&options);
    gh_counters_config config = counting_config();
    config.flush_us = SECOND_US / 50;
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), &config);
    counting_add(hits, "hits", 1);
    counting_settle(hits);
    redis_server_stop(server);
    for (int i = 0; i < 300; i++)
    {
        counting_add(hits, counting_text("%d", i % 30), 1);
        game_tick_all();
    }
    assert_status(gh_counters_poll(hits->counters), GH_PENDING);
    assert_int_equal(counting_stats(hits).waiting, 300);
    assert_true(counting_stats(hits).oldest_us > 0);
    redis_server_restart(server);
    GAME_UNTIL(gh_counters_poll(hits->counters) == GH_OK);
    for (int i = 0; i < 30; i++) assert_int_equal(stored_sum(server, counting_text("%d", i), 86400), 10);
    assert_int_equal(counting_stats(hits).counted, 301);
}

static void drain_flushes_what_there_is(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    gh_counter counter = counting_open(hits, "hits");
    for (int i = 0; i < 200; i++) counting_add(hits, counting_text("%d", i), 1);
    assert_status(gh_client_drain(hits->game->client, 10 * SECOND_US), GH_OK);
    GAME_UNTIL(gh_client_drained(hits->game->client));
    assert_status(gh_counters_poll(hits->counters), GH_IDLE);
    for (int i = 0; i < 200; i++) assert_int_equal(stored_sum(server, counting_text("%d", i), 60), 1);
    assert_status(gh_counters_add(hits->counters, counter, 1), GH_CLOSED);
    assert_status(gh_counters_open(hits->counters, gh_str_literal("more"), &counter), GH_CLOSED);
    assert_int_equal(counting_stats(hits).dropped, 1);
    assert_int_equal(counting_stats(hits).counted, 200);
}

static void end_flushes_and_gives_the_memory_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* self = game_start_ready(redis_server_address(server));
    counting* hits = counting_start(self, NULL);
    counting_add(hits, "hits", 3);
    gh_counters_end(hits->counters);
    gh_counters_end(hits->counters);
    assert_status(gh_counters_poll(hits->counters), GH_PENDING);
    GAME_UNTIL(gh_counters_poll(hits->counters) != GH_PENDING);
    assert_status(gh_counters_poll(hits->counters), GH_IDLE);
    assert_int_equal(stored_sum(server, "hits", 60), 3);
    assert_int_equal(game_stats(self).ops_busy, 0);
    hits = counting_start(self, NULL);
    gh_counters_end(hits->counters); /* nothing to flush: over at once */
    assert_status(gh_counters_poll(hits->counters), GH_IDLE);
    gh_counters_end(NULL);
}

static void shutdown_tells_what_was_lost(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* self = game_start_ready(redis_server_address(server));
    counting* hits = counting_start(self, NULL);
    counting_add(hits, "hits", 1);
    counting_settle(hits);
    redis_server_freeze(server);
    counting_add(hits, "hits", 2);
    assert_status(gh_counters_flush(hits->counters), GH_OK);
    GAME_UNTIL(game_stats(self).requests_sent == 1);
    counting_add(hits, "hits", 3);
    gh_client_shutdown(self->client);
    assert_status(gh_counters_poll(hits->counters), GH_CANCELLED);
    gh_counters_stats stats = counting_stats(hits);
    assert_int_equal(stats.counted, 1);
    assert_int_equal(stats.unknown, 1);
    assert_int_equal(stats.refused, 1);
    assert_int_equal(stats.waiting, 0);
    redis_server_thaw(server);
}

static void store_that_lost_its_data_goes_on(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    counting_add(hits, "hits", 1);
    counting_settle(hits);
    redis_server_restart_empty(server);
    counting_add(hits, "hits", 2);
    counting_settle(hits);
    assert_int_equal(stored_sum(server, "hits", 60), 2);
}

TEST_FILE(counters_fleet, cmocka_unit_test(slices_close_as_time_goes_by),
          cmocka_unit_test(newest_samples_are_kept_and_no_more),
          cmocka_unit_test(late_add_counts_in_the_slice_of_its_time),
          cmocka_unit_test(add_later_than_what_is_kept_counts_where_it_is_kept),
          cmocka_unit_test(random_batches_are_where_a_model_has_them),
          cmocka_unit_test(processes_that_compete_lose_nothing),
          cmocka_unit_test(process_that_is_killed_loses_one_flush_at_most),
          cmocka_unit_test(two_sets_of_one_client_lose_nothing), cmocka_unit_test(any_number_of_clients_is_counted),
          cmocka_unit_test(adds_of_an_outage_are_counted_after_it), cmocka_unit_test(drain_flushes_what_there_is),
          cmocka_unit_test(end_flushes_and_gives_the_memory_back), cmocka_unit_test(shutdown_tells_what_was_lost),
          cmocka_unit_test(store_that_lost_its_data_goes_on));
