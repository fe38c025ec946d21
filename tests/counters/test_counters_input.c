/* Bad input of every function of guildhall/counters.h. */

#include "support/faults/counting.h"

#include <stdio.h>
#include <string.h>

typedef struct input_scene
{
    redis_server* server;
    game* game;
    gh_counters_config config;
    void* memory;
    size_t size;
} input_scene;

static input_scene make_scene(void)
{
    input_scene scene;
    scene.server = redis_server_start(NULL);
    scene.game = game_start_ready(redis_server_address(scene.server));
    scene.config = counting_config();
    scene.size = gh_counters_memory(&scene.config);
    char* memory = GAME_NEW_ARRAY(scene.game, char, scene.size + 16);
    scene.memory = memory + ((16 - ((uintptr_t)memory & 15)) & 15);
    return scene;
}

/* The config is refused by both functions that take it, and nothing was begun. */
static void assert_refused(const input_scene* scene, const gh_counters_config* config, gh_status expected)
{
    gh_counters* counters = NULL;
    assert_status(gh_counters_init(&counters, scene->game->client, config, scene->memory, scene->size), expected);
    assert_null(counters);
    assert_int_equal(gh_counters_memory(config), 0);
    assert_int_equal(game_stats(scene->game).ops_busy, 0);
}

static void configs_that_are_refused(void** state)
{
    (void)state;
    input_scene scene = make_scene();
    gh_counters_config config = scene.config;
    config.struct_size = 0;
    assert_refused(&scene, &config, GH_INVALID_CONFIG);

    static const uint32_t bad_counts[] = {0, GH_COUNTERS_PRECISIONS_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < 3; i++)
    {
        config = scene.config;
        config.precision_count = bad_counts[i];
        assert_refused(&scene, &config, GH_INVALID_PRECISION);
    }
    static const uint32_t bad_seconds[] = {0, 1, GH_COUNTERS_SECONDS_MAX + 1, UINT32_MAX}; /* 1 is there before */
    for (size_t i = 0; i < 4; i++)
    {
        config = scene.config;
        config.precisions[1].seconds = bad_seconds[i];
        assert_refused(&scene, &config, GH_INVALID_PRECISION);
    }
    static const uint32_t bad_samples[] = {0, GH_COUNTERS_SAMPLES_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < 3; i++)
    {
        config = scene.config;
        config.precisions[6].samples = bad_samples[i];
        assert_refused(&scene, &config, GH_INVALID_SAMPLES);
    }
    static const uint32_t bad_max[] = {0, GH_COUNTERS_MAX + 1, UINT32_MAX};
    static const uint32_t bad_fleet[] = {0, 63, GH_COUNTERS_FLEET_MAX + 1};
    for (size_t i = 0; i < 3; i++)
    {
        config = scene.config;
        config.counters_max = bad_max[i];
        assert_refused(&scene, &config, GH_INVALID_COUNTERS_MAX);
        config = scene.config;
        config.fleet_max = bad_fleet[i];
        assert_refused(&scene, &config, GH_INVALID_COUNTERS_MAX);
    }
    static const uint64_t bad_flush[] = {0, 9999, 3600 * SECOND_US + 1, UINT64_MAX};
    static const uint64_t bad_clean[] = {1, 99999, 3600 * SECOND_US + 1, UINT64_MAX};
    for (size_t i = 0; i < 4; i++)
    {
        config = scene.config;
        config.flush_us = bad_flush[i];
        assert_refused(&scene, &config, GH_INVALID_FLUSH);
        config = scene.config;
        config.clean_us = bad_clean[i];
        assert_refused(&scene, &config, GH_INVALID_CLEAN);
    }
}

static void configs_at_their_edges_are_taken(void** state)
{
    (void)state;
    input_scene scene = make_scene();
    gh_counters_config config = scene.config;
    config.precision_count = GH_COUNTERS_PRECISIONS_MAX;
    config.precisions[7] = (gh_counter_precision){GH_COUNTERS_SECONDS_MAX, GH_COUNTERS_SAMPLES_MAX};
    config.counters_max = 1;
    config.fleet_max = GH_COUNTERS_FLEET_MAX;
    config.flush_us = 10000;
    config.clean_us = SECOND_US / 10;
    counting* hits = counting_start(scene.game, &config);
    counting_add(hits, "hits", 4);
    counting_settle(hits);
    assert_int_equal(stored_sum(scene.server, "hits", GH_COUNTERS_SECONDS_MAX), 4);
    gh_counter_read* read = counting_read(scene.game, "hits", GH_COUNTERS_SECONDS_MAX, GH_COUNTERS_SAMPLES_MAX, true);
    assert_int_equal(read->count, GH_COUNTERS_SAMPLES_MAX);
    assert_int_equal(read->samples[0].time_s, 0); /* before 1970 */
    assert_int_equal(read->sum, 4);
    GAME_UNTIL(counting_stats(hits).rounds > 0);
    assert_int_equal(stored_sum(scene.server, "hits", GH_COUNTERS_SECONDS_MAX), 4);
}

static void init_refuses(void** state)
{
    (void)state;
    input_scene scene = make_scene();
    gh_counters* counters = NULL;
    assert_status(gh_counters_init(&counters, NULL, &scene.config, scene.memory, scene.size), GH_INVALID_CLIENT);
    assert_status(gh_counters_init(NULL, scene.game->client, &scene.config, scene.memory, scene.size), GH_INVALID_OUT);
    assert_status(gh_counters_init(&counters, scene.game->client, &scene.config, NULL, scene.size), GH_INVALID_MEMORY);
    assert_status(gh_client_drain(scene.game->client, SECOND_US), GH_OK);
    assert_status(gh_counters_init(&counters, scene.game->client, &scene.config, scene.memory, scene.size), GH_CLOSED);
    assert_null(counters);
}

static void counters_that_are_none(void** state)
{
    (void)state;
    input_scene scene = make_scene();
    gh_counters* none[2] = {NULL, scene.memory}; /* zeroed */
    for (int i = 0; i < 2; i++)
    {
        gh_counter counter = {7, 7};
        gh_counters_stats stats;
        assert_status(gh_counters_open(none[i], gh_str_literal("hits"), &counter), GH_INVALID_COUNTERS);
        assert_int_equal(counter.generation, 0);
        assert_status(gh_counters_add(none[i], counter, 1), GH_INVALID_COUNTERS);
        assert_status(gh_counters_close(none[i], counter), GH_INVALID_COUNTERS);
        assert_status(gh_counters_flush(none[i]), GH_INVALID_COUNTERS);
        assert_status(gh_counters_poll(none[i]), GH_INVALID_COUNTERS);
        assert_status(gh_counters_get_stats(none[i], &stats), GH_INVALID_COUNTERS);
        gh_counters_end(none[i]);
    }
}

static void names_and_handles_that_are_refused(void** state)
{
    (void)state;
    input_scene scene = make_scene();
    counting* hits = counting_start(scene.game, NULL);
    static const char long_name[GH_NAME_SIZE_MAX + 1] = "a";
    gh_counter counter;
    gh_str bad[] = {gh_str_make(NULL, 0), gh_str_make("", 0), gh_str_make(NULL, 3),
                    gh_str_make(long_name, sizeof(long_name)), gh_str_make(long_name, SIZE_MAX)};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_status(gh_counters_open(hits->counters, bad[i], &counter), GH_INVALID_NAME);
    assert_status(gh_counters_open(hits->counters, gh_str_literal("hits"), NULL), GH_INVALID_OUT);
    assert_status(gh_counters_get_stats(hits->counters, NULL), GH_INVALID_OUT);
    counter = counting_open(hits, "hits");
    static const uint32_t indexes[] = {1, 255, 256, UINT32_MAX};
    for (size_t i = 0; i < 4; i++)
    {
        gh_counter other = {indexes[i], counter.generation};
        assert_status(gh_counters_add(hits->counters, other, 1), GH_INVALID_COUNTER);
        assert_status(gh_counters_close(hits->counters, other), GH_INVALID_COUNTER);
    }
    gh_counter old = {counter.index, counter.generation + 1};
    assert_status(gh_counters_add(hits->counters, old, 1), GH_INVALID_COUNTER);
    assert_status(gh_counters_close(hits->counters, (gh_counter){0, 0}), GH_INVALID_COUNTER);
    assert_int_equal(counting_stats(hits).added, 0);
    assert_status(gh_counters_poll(hits->counters), GH_OK);
}

static void reads_that_are_refused(void** state)
{
    (void)state;
    input_scene scene = make_scene();
    gh_client* client = scene.game->client;
    gh_str name = gh_str_literal("hits");
    gh_counter_sample samples[2];
    gh_counter_read* read = GAME_NEW(scene.game, gh_counter_read);
    gh_counter_read_config good = gh_counter_read_config_default();
    good.samples = samples;
    good.sample_count = 2;
    assert_status(gh_op_poll(&read->op), GH_IDLE);
    gh_op_cancel(&read->op);
    assert_status(gh_counter_read_begin(NULL, client, name, &good), GH_INVALID_OP);
    assert_status(gh_counter_read_begin(read, NULL, name, &good), GH_INVALID_CLIENT);
    assert_status(gh_counter_read_begin(read, client, gh_str_literal(""), &good), GH_INVALID_NAME);
    assert_status(gh_counter_read_begin(read, client, name, NULL), GH_INVALID_CONFIG);
    gh_counter_read_config bad = good;
    bad.struct_size--;
    assert_status(gh_counter_read_begin(read, client, name, &bad), GH_INVALID_CONFIG);
    static const uint64_t timeouts[] = {0, 999, 60 * SECOND_US + 1, UINT64_MAX};
    for (size_t i = 0; i < 4; i++)
    {
        bad = good;
        bad.timeout_us = timeouts[i];
        assert_status(gh_counter_read_begin(read, client, name, &bad), GH_INVALID_TIMEOUT);
    }
    static const uint32_t seconds[] = {0, GH_COUNTERS_SECONDS_MAX + 1, UINT32_MAX};
    static const uint32_t counts[] = {0, GH_COUNTERS_SAMPLES_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < 3; i++)
    {
        bad = good;
        bad.seconds = seconds[i];
        assert_status(gh_counter_read_begin(read, client, name, &bad), GH_INVALID_PRECISION);
        bad = good;
        bad.sample_count = counts[i];
        assert_status(gh_counter_read_begin(read, client, name, &bad), GH_INVALID_SAMPLES);
    }
    bad = good;
    bad.samples = NULL;
    assert_status(gh_counter_read_begin(read, client, name, &bad), GH_INVALID_SAMPLES);
    assert_status(gh_op_poll(&read->op), GH_INVALID_SAMPLES);
    assert_int_equal(game_stats(scene.game).ops_begun, 0);

    good.until_s = UINT64_MAX; /* later than now is now */
    assert_status(gh_counter_read_begin(read, client, name, &good), GH_OK);
    assert_status(gh_counter_read_begin(read, client, name, &good), GH_INVALID_OP);
    GAME_UNTIL(gh_op_poll(&read->op) != GH_PENDING);
    assert_status(gh_op_poll(&read->op), GH_EMPTY);
    assert_true(read->newest_s > UINT64_C(1500000000));
}

TEST_FILE(counters_input, cmocka_unit_test(configs_that_are_refused),
          cmocka_unit_test(configs_at_their_edges_are_taken), cmocka_unit_test(init_refuses),
          cmocka_unit_test(counters_that_are_none), cmocka_unit_test(names_and_handles_that_are_refused),
          cmocka_unit_test(reads_that_are_refused));
