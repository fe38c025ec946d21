/* Every fault of support/fault.h over flushing, reading and cleaning. */

#include "support/faults/counting.h"
#include "support/faults/fault.h"

#include <stdio.h>
#include <string.h>

#define FAULT_COUNTERS 3
#define LATE_ADDS      6

typedef struct flushing
{
    _Alignas(16) char memory[24 * 1024];
    gh_counters* counters;
    gh_counter counter[FAULT_COUNTERS];
    unsigned late; /* adds after the flush was asked for        */
    bool frozen;   /* one of them while batches were on the wire */
} flushing;

static const char* counter_name(const fault_scene* scene, int i)
{
    return counting_text("%s-%d", scene->name, i);
}

static void start_counters(fault_scene* scene, gh_counters_config config)
{
    flushing* self = scene->op;
    config.counters_max = FAULT_COUNTERS;
    assert_true(gh_counters_memory(&config) <= sizeof(self->memory));
    assert_status(gh_counters_init(&self->counters, scene->game->client, &config, self->memory, sizeof(self->memory)),
                  GH_OK);
}

static void end_counters(fault_scene* scene)
{
    flushing* self = scene->op;
    gh_counters_end(self->counters);
    GAME_UNTIL(gh_counters_poll(self->counters) != GH_PENDING);
    assert_status(gh_counters_poll(self->counters), GH_IDLE);
}

static gh_counters_stats stats_of(fault_scene* scene)
{
    flushing* self = scene->op;
    gh_counters_stats stats;
    assert_status(gh_counters_get_stats(self->counters, &stats), GH_OK);
    return stats;
}

/* ---- flushing ------------------------------------------------------------------------------------------ */

static void prepare_flush(fault_scene* scene)
{
    flushing* self = scene->op;
    start_counters(scene, counting_config());
    for (int i = 0; i < FAULT_COUNTERS; i++)
        assert_status(gh_counters_open(self->counters, gh_str_of(counter_name(scene, i)), &self->counter[i]), GH_OK);
}

static void begin_flush(fault_scene* scene)
{
    flushing* self = scene->op;
    for (int i = 0; i < FAULT_COUNTERS; i++)
        assert_status(gh_counters_add(self->counters, self->counter[i], 5 + i), GH_OK);
    assert_status(gh_counters_flush(self->counters), GH_OK);
}

static gh_status poll_flush(const void* op)
{
    return gh_counters_poll(((const flushing*)op)->counters);
}

static void audit_flush(fault_scene* scene, gh_status status)
{
    assert_status(status, GH_OK);
    assert_int_equal(stats_of(scene).counted, FAULT_COUNTERS);
    for (int i = 0; i < FAULT_COUNTERS; i++)
    {
        assert_int_equal(stored_sum(scene->server, counter_name(scene, i), 1), 5 + i);
        assert_int_equal(stored_sum(scene->server, counter_name(scene, i), 86400), 5 + i);
    }
    end_counters(scene);
}

static const fault_operation flush = {"flush",     sizeof(flushing), 0,    5,    prepare_flush,
                                      begin_flush, poll_flush,       NULL, NULL, audit_flush};

/* The same while the game goes on counting: what is added while a batch is frozen comes with a later one. */
static bool busy_flush_is_over(fault_scene* scene)
{
    flushing* self = scene->op;
    if (self->late == LATE_ADDS) return poll_flush(self) != GH_PENDING;
    if (gh_client_ready(scene->game->client) && game_stats(scene->game).requests_sent > 0) self->frozen = true;
    assert_status(gh_counters_add(self->counters, self->counter[0], 100), GH_OK);
    assert_status(gh_counters_flush(self->counters), GH_OK);
    self->late++;
    return false;
}

static void audit_busy_flush(fault_scene* scene, gh_status status)
{
    assert_status(status, GH_OK);
    gh_counters_stats stats = stats_of(scene);
    assert_int_equal(stats.counted, FAULT_COUNTERS + LATE_ADDS);
    unsigned shards = 0;
    for (int i = 0; i < FAULT_COUNTERS; i++)
    {
        unsigned shard = stored_shard(counter_name(scene, i));
        bool first = true;
        for (int j = 0; j < i; j++) first = first && stored_shard(counter_name(scene, j)) != shard;
        shards += first;
    }
    if (((flushing*)scene->op)->frozen) assert_true(stats.batches > shards);
    for (int i = 0; i < FAULT_COUNTERS; i++)
    {
        long long expected = 5 + i + (i == 0 ? 100 * LATE_ADDS : 0);
        assert_int_equal(stored_sum(scene->server, counter_name(scene, i), 1), expected);
        assert_int_equal(stored_sum(scene->server, counter_name(scene, i), 86400), expected);
    }
    end_counters(scene);
}

static const fault_operation busy_flush = {"busy",        sizeof(flushing), 0,          19,
                                           prepare_flush, begin_flush,      poll_flush, busy_flush_is_over,
                                           NULL,          audit_busy_flush};

/* ---- reading ------------------------------------------------------------------------------------------- */

typedef struct reading_one
{
    gh_counter_read read;
    gh_counter_sample samples[4];
} reading_one;

static void prepare_read(fault_scene* scene)
{
    redis_server_do(scene->server, "HSET %s 60 %s", stored_open_key(scene->name), "1200 5");
    redis_server_do(scene->server, "RPUSH %s %s %s", stored_list_key(scene->name, 60), "1140 7", "1020 -2");
}

static void begin_read(fault_scene* scene)
{
    reading_one* self = scene->op;
    gh_counter_read_config config = gh_counter_read_config_default();
    config.samples = self->samples;
    config.sample_count = 4;
    config.until_s = 1200;
    config.fill_gaps = true;
    assert_status(gh_counter_read_begin(&self->read, scene->game->client, fault_name(scene), &config), GH_OK);
}

static gh_status poll_read(const void* op)
{
    return gh_op_poll(&((const reading_one*)op)->read.op);
}

static void cancel_read(void* op)
{
    gh_op_cancel(&((reading_one*)op)->read.op);
}

static void audit_read(fault_scene* scene, gh_status status)
{
    reading_one* self = scene->op;
    if (status != GH_OK) return;
    assert_int_equal(self->read.count, 4);
    assert_int_equal(self->read.stored, 3);
    assert_int_equal(self->samples[0].sum, -2);
    assert_int_equal(self->samples[1].sum, 0);
    assert_int_equal(self->samples[2].sum, 7);
    assert_int_equal(self->samples[3].sum, 5);
    assert_int_equal(self->read.sum, 10);
}

static const fault_operation read_one = {"read",     sizeof(reading_one), 0,    3,           prepare_read,
                                         begin_read, poll_read,           NULL, cancel_read, audit_read};

/* ---- cleaning ------------------------------------------------------------------------------------------ */

static void prepare_clean(fault_scene* scene)
{
    redis_server_do(scene->server, "HSET %s 60 %s", stored_open_key(scene->name), "1200 5");
    redis_server_do(scene->server, "RPUSH %s %s %s", stored_list_key(scene->name, 60), "1140 7", "1020 -2");
    redis_server_do(scene->server, "ZADD %s 1 %s", stored_shard_key(scene->name, "k"), scene->name);
}

static void begin_clean(fault_scene* scene)
{
    gh_counters_config config = counting_config();
    config.clean_us = SECOND_US / 10;
    start_counters(scene, config);
}

static bool clean_is_over(fault_scene* scene)
{
    return stats_of(scene).rounds > 0;
}

static void audit_clean(fault_scene* scene, gh_status status)
{
    assert_status(status, GH_OK);
    assert_int_equal(redis_server_integer(scene->server, "EXISTS %s %s %s", stored_open_key(scene->name),
                                          stored_list_key(scene->name, 60), stored_shard_key(scene->name, "k")),
                     0);
    end_counters(scene);
    assert_int_equal(redis_server_integer(scene->server, "EXISTS gh:{counters:clean}:l"), 0);
}

static const fault_operation clean = {"clean",    sizeof(flushing), 0,    2000,       prepare_clean, begin_clean,
                                      poll_flush, clean_is_over,    NULL, audit_clean};

FAULT_TESTS(flush)
FAULT_TESTS(busy_flush)
FAULT_TESTS(read_one)
FAULT_TESTS(clean)
FAULT_CANCEL_TEST(read_one)

TEST_FILE(counters_faults, FAULT_TEST_LIST(flush), FAULT_TEST_LIST(busy_flush), FAULT_TEST_LIST(read_one),
          FAULT_TEST_LIST(clean), FAULT_CANCEL_TEST_LIST(read_one));
