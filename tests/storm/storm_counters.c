/* storm_counters.c -- adds of one to few counters, from every client; and reads of their sums.

   What a client has added stands in its record before it is added, and what the store has counted as soon as the
   library knows it: so the sum is known to lie between the two, also of a process that was killed. */

#include "guildhall/counters.h"

#include "storm/storm.h"
#include "storm/storm_counters.h"

#include <stdlib.h>

typedef struct counter_actor
{
    storm_client* me;
    random_stream random;
    gh_counters* counters;
    gh_counter counter;
    void* memory;
    uint32_t op;
    uint64_t noted_us; /* the tick behind which the op's record was brought up to date */
    uint8_t name;
    bool ending;
    gh_counter_read read;
    gh_counter_sample samples[COUNTERS_DAYS];
    uint32_t read_op;
} counter_actor;

static const char* const whats[] = {"?", "adds", "read", "read in the end"};
static const gh_str names[COUNTERS_NAMES] = {GH_STR_INIT("hits"), GH_STR_INIT("kills")};

static gh_counters_config configure(void)
{
    gh_counters_config config = gh_counters_config_default();
    config.precisions[0] = (gh_counter_precision){1, 20};
    config.precisions[1] = (gh_counter_precision){86400, COUNTERS_DAYS};
    config.precision_count = 2;
    config.counters_max = 4;
    config.flush_us = 20000;
    config.clean_us = 500000;
    return config;
}

static void start(void* actor, storm_client* me, random_stream random)
{
    counter_actor* a = actor;
    gh_counters_config config = configure();
    size_t size = gh_counters_memory(&config);
    a->me = me;
    a->random = random;
    a->memory = aligned_alloc(64, (size + 63) / 64 * 64);
    a->name = (uint8_t)(me->who.client % COUNTERS_NAMES);
    if (a->memory == NULL || gh_counters_init(&a->counters, me->client, &config, a->memory, size) != GH_OK ||
        gh_counters_open(a->counters, names[a->name], &a->counter) != GH_OK)
        abort();
    a->op = history_begin(me->who, STORM_counters, COUNTERS_ADDS, a->name);
}

static void note_stats(counter_actor* a)
{
    gh_counters_stats stats;
    a->noted_us = a->me->now_us;
    if (gh_counters_get_stats(a->counters, &stats) != GH_OK) return;
    storm_record* record = history_at(a->op);
    record->b = stats.counted;
    record->c = stats.unknown;
    record->d = stats.refused + stats.dropped;
}

static void turn_adds(counter_actor* a, bool may_begin)
{
    if (a->op == 0) return;
    uint64_t count = may_begin ? random_below(&a->random, 4) : 0;
    bool all_taken = true;
    history_at(a->op)->a += count;
    for (uint64_t i = 0; i < count; i++) all_taken = gh_counters_add(a->counters, a->counter, 1) == GH_OK && all_taken;
    if (!all_taken || a->noted_us != a->me->now_us) note_stats(a); /* else what a tick has brought is noted already */
    if (!may_begin && !a->ending)
    {
        a->ending = true;
        (void)gh_counters_flush(a->counters);
    }
    if (!a->ending || gh_counters_poll(a->counters) != GH_OK) return;
    note_stats(a);
    history_end(a->op, STORM_DONE, GH_OK);
    a->op = 0;
}

static gh_status begin_read(gh_counter_read* read, gh_client* client, uint8_t name, gh_counter_sample* samples,
                            uint64_t timeout_us)
{
    gh_counter_read_config config = gh_counter_read_config_default();
    config.seconds = 86400;
    config.samples = samples;
    config.sample_count = COUNTERS_DAYS;
    config.timeout_us = timeout_us;
    return gh_counter_read_begin(read, client, names[name], &config);
}

static void turn_read(counter_actor* a, bool may_begin)
{
    if (a->read_op == 0)
    {
        if (!may_begin || !storm_is_time(&a->random, 60)) return;
        uint8_t name = (uint8_t)random_below(&a->random, COUNTERS_NAMES);
        a->read_op = history_begin(a->me->who, STORM_counters, COUNTERS_READ, name);
        if (a->read_op == 0) return;
        gh_status status = begin_read(&a->read, a->me->client, name, a->samples, 1000000);
        if (status == GH_OK) return;
        history_end(a->read_op, STORM_NOT_DONE, status);
        a->read_op = 0;
        return;
    }
    gh_status status = gh_op_poll(&a->read.op);
    if (status == GH_PENDING) return;
    if (status == GH_OK) history_at(a->read_op)->a = (uint64_t)a->read.sum;
    history_end(a->read_op, storm_outcome_of(status), status);
    a->read_op = 0;
}

static void turn(void* actor, bool may_begin)
{
    counter_actor* a = actor;
    turn_adds(a, may_begin);
    turn_read(a, may_begin);
}

static bool idle(const void* actor)
{
    const counter_actor* a = actor;
    return a->op == 0 && a->read_op == 0;
}

static void audit(storm_look* look)
{
    for (uint8_t i = 0; i < COUNTERS_NAMES; i++)
    {
        static gh_counter_read read;
        static gh_counter_sample samples[COUNTERS_DAYS];
        uint32_t op = history_begin(look->who, STORM_counters, COUNTERS_LAST, i);
        gh_status status = begin_read(&read, look->client, i, samples, 10000000);
        while ((status = gh_op_poll(&read.op)) == GH_PENDING && storm_look_turn(look))
        {
        }
        history_at(op)->a = (uint64_t)read.sum;
        history_end(op, storm_outcome_of(status), status);
    }
}

const storm_system storm_counters = {.name = "counters",
                                     .whats = whats,
                                     .actor_size = sizeof(counter_actor),
                                     .start = start,
                                     .turn = turn,
                                     .idle = idle,
                                     .audit = audit,
                                     .check = check_counters};
