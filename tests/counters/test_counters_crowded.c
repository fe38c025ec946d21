/* Many counters of one shard, and several places of one counter: each add counts in its time, and once. */

#include "support/faults/counting.h"
#include "support/server/scripted.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

#define CROWD    16
#define FRAME_US UINT64_C(16000)
#define AGE_AT   2 /* of the arguments */
#define COUNT_AT 6

typedef struct crowd
{
    gh_counters* counters;
    gh_counter all[CROWD];
    uint64_t age_max_us;
    uint64_t counted;
    unsigned batches;
} crowd;

static bool answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    crowd* self = world->context;
    if (!scripted_runs_on(words, count, "gh:{counters:")) return false;
    const gh_str* arguments = words + 3 + scripted_number(words[2]);
    const uint64_t age_us = (uint64_t)scripted_number(arguments[AGE_AT]);
    if (age_us > self->age_max_us) self->age_max_us = age_us;
    self->counted += (uint64_t)scripted_number(arguments[COUNT_AT]);
    self->batches++;
    buffer_add_bulk(reply, "%lld 0 1000000000000000 -", scripted_number(arguments[1]));
    return true;
}

/* Names of one shard. */
static void open_crowd(crowd* self)
{
    char name[16];
    unsigned found = 0;
    for (unsigned i = 0; found < CROWD; i++)
    {
        const size_t size = (size_t)snprintf(name, sizeof(name), "c%u", i);
        if (gh_hash_shard(name, size, 64) != 7) continue;
        assert_status(gh_counters_open(self->counters, gh_str_make(name, size), &self->all[found++]), GH_OK);
    }
}

static crowd* start_crowd(scripted* world)
{
    crowd* self = SCRIPTED_NEW(world, crowd);
    gh_counters_config config = gh_counters_config_default();
    config.clean_us = 0;
    config.precision_count = 1;
    world->context = self;
    world->answer = answer;
    scripted_start_ready(world, NULL);
    const size_t size = gh_counters_memory(&config);
    char* memory = scripted_keep(world, size + 16);
    memory += (16 - (uintptr_t)memory % 16) % 16;
    assert_status(gh_counters_init(&self->counters, world->client, &config, memory, size), GH_OK);
    open_crowd(self);
    return self;
}

/* More counters than a batch takes, each added to in every frame: something of the shard waits at any time. */
static void counters_that_are_always_busy_count_in_their_time(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    crowd* self = start_crowd(world);
    for (int frame = 0; frame < 2000; frame++)
    {
        for (int i = 0; i < CROWD; i++) assert_status(gh_counters_add(self->counters, self->all[i], 1), GH_OK);
        scripted_tick(world, FRAME_US);
    }
    assert_true(self->batches > 100);
    assert_in_range(self->age_max_us, 0, 1200 * 1000);
}

/* Both places of it wait for the same batch. */
static void counter_that_is_closed_and_opened_again_counts_all(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    counting_add(hits, "hits", 1);
    assert_status(gh_counters_close(hits->counters, counting_open(hits, "hits")), GH_OK);
    counting_add(hits, "hits", 2);
    counting_settle(hits);
    assert_int_equal(counting_stats(hits).counted, 2);
    assert_int_equal(stored_sum(server, "hits", 86400), 3);
}

static void memory_is_left_alone_where_there_is_no_room(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config client = scripted_config();
    gh_counters_config config = gh_counters_config_default();
    gh_counters* counters = NULL;
    client.ops_capacity = GH_COUNTERS_OPS - 1;
    scripted_start(world, &client);
    const size_t size = gh_counters_memory(&config);
    char* memory = scripted_keep(world, size + 16);
    memory += (16 - (uintptr_t)memory % 16) % 16;
    memset(memory, 'x', size);
    assert_status(gh_counters_init(&counters, world->client, &config, memory, size), GH_NO_ROOM);
    assert_null(counters);
    for (size_t i = 0; i < size; i++) assert_int_equal(memory[i], 'x');
}

TEST_FILE(counters_crowded, cmocka_unit_test(memory_is_left_alone_where_there_is_no_room),
          cmocka_unit_test(counters_that_are_always_busy_count_in_their_time),
          cmocka_unit_test(counter_that_is_closed_and_opened_again_counts_all));
