/* drill_rows.c -- the ops of rows and counters. */

#include "support/scene/drill.h"

#include "support/faults/counting.h"
#include "support/scene/refresher.h"

#include <stdio.h>
#include <string.h>

#define NAME gh_str_literal(DRILL_NAME)

/* ---- rows ---------------------------------------------------------------------------------------------- */

typedef struct rows_bag
{
    gh_row_schedule schedule;
    gh_row_get get;
    gh_rows rows;
    gh_rows_slot slots[4];
    gh_row_load open[4];
    unsigned open_count;
    bool keeps;
    char memory[4 * 256];
    char buffer[512];
} rows_bag;

/* Other names of the same shard. */
static const char* neighbour(unsigned which)
{
    static char name[16];
    unsigned found = 0;
    for (unsigned i = 0;; i++)
    {
        snprintf(name, sizeof(name), "n%u", i);
        if (row_shard(name) == row_shard(DRILL_NAME) && found++ == which) return name;
    }
}

static void prepare_no_rows(game* one, game* two)
{
    (void)one, (void)two;
}

/* Loaded and due in an hour; so is a neighbour that was never loaded, and another one was unscheduled. */
static void prepare_loaded(game* one, game* two)
{
    refresher* self = refresher_new(two, 2);
    gh_row_schedule_config later = gh_row_schedule_config_default();
    later.period_us = DRILL_HOUR;
    later.now = false;
    assert_status(row_schedule(one, DRILL_NAME, DRILL_HOUR), GH_OK);
    assert_status(row_schedule(one, neighbour(1), DRILL_HOUR), GH_OK);
    refresher_begin(self);
    GAME_UNTIL(self->rows.stored == 2);
    assert_status(row_unschedule(one, neighbour(1)), GH_OK);
    assert_status(row_schedule_with(one, neighbour(0), &later), GH_OK);
}

static void prepare_due(game* one, game* two)
{
    (void)two;
    assert_status(row_schedule(one, DRILL_NAME, 10 * SECOND_US), GH_OK);
    assert_status(row_schedule(one, neighbour(0), 10 * SECOND_US), GH_OK);
}

/* Somebody who died had it. */
static void prepare_claimed(game* one, game* two)
{
    refresher* self = refresher_new(two, 1);
    prepare_due(one, two);
    self->keeps = true;
    self->config.lease_us = GH_ROWS_LEASE_MIN_US;
    refresher_begin(self);
    GAME_UNTIL(self->open_count == 1);
}

static gh_status schedule_with(drill* self, const char* name, uint64_t period_us, bool now)
{
    rows_bag* bag = DRILL_NEW(self, rows_bag);
    gh_row_schedule_config config = gh_row_schedule_config_default();
    config.period_us = period_us;
    config.now = now;
    assert_status(gh_row_schedule_begin(&bag->schedule, self->game->client, gh_str_of(name), &config), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->schedule.op) != GH_PENDING);
    return gh_op_poll(&bag->schedule.op);
}

static gh_status run_schedule(drill* self)
{
    return schedule_with(self, neighbour(2), DRILL_HOUR, true);
}

static gh_status run_schedule_again(drill* self)
{
    return schedule_with(self, DRILL_NAME, 10 * SECOND_US, true);
}

static gh_status run_unschedule(drill* self)
{
    rows_bag* bag = DRILL_NEW(self, rows_bag);
    assert_status(gh_row_unschedule_begin(&bag->schedule, self->game->client, NAME, NULL), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->schedule.op) != GH_PENDING);
    return gh_op_poll(&bag->schedule.op);
}

static gh_status get_with(drill* self, rows_bag* bag, uint64_t version)
{
    gh_row_get_config config = gh_row_get_config_default();
    config.buffer = bag->buffer;
    config.buffer_size = sizeof(bag->buffer);
    config.version = version;
    assert_status(gh_row_get_begin(&bag->get, self->game->client, NAME, &config), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->get.op) != GH_PENDING);
    return gh_op_poll(&bag->get.op);
}

static gh_status run_get(drill* self)
{
    return get_with(self, DRILL_NEW(self, rows_bag), 0);
}

static gh_status run_get_missing(drill* self)
{
    return get_with(self, DRILL_NEW(self, rows_bag), 1);
}

static void load_one(void* context, gh_row_load load, gh_str row)
{
    rows_bag* bag = context;
    (void)row;
    if (!bag->keeps) (void)gh_row_complete(load, GH_OK, gh_str_literal("value"));
    else if (bag->open_count < 4) bag->open[bag->open_count++] = load;
}

static rows_bag* begin_rows(drill* self, bool keeps)
{
    rows_bag* bag = DRILL_NEW(self, rows_bag);
    gh_rows_config config = gh_rows_config_default();
    config.loader = load_one;
    config.context = bag;
    config.slots = bag->slots;
    config.slot_count = 4;
    config.memory = bag->memory;
    config.memory_size = sizeof(bag->memory);
    config.lease_us = DRILL_HOUR;
    config.load_us = DRILL_HOUR;
    bag->keeps = keeps;
    assert_status(gh_rows_begin(&bag->rows, self->game->client, &config), GH_OK);
    return bag;
}

static gh_status end_rows(drill* self, rows_bag* bag)
{
    gh_op_cancel(&bag->rows.op);
    DRILL_UNTIL(self, gh_op_poll(&bag->rows.op) != GH_PENDING);
    gh_status status = gh_op_poll(&bag->rows.op);
    return status == GH_CANCELLED ? GH_OK : status;
}

/* The shard's turn comes within a few ticks. */
static gh_status run_refresh(drill* self)
{
    rows_bag* bag = begin_rows(self, false);
    uint64_t end_us = wait_now_us() + 40000;
    while (bag->rows.stored < 2 && wait_now_us() < end_us && drill_goes_on(self)) continue;
    return end_rows(self, bag);
}

static void arm_load(drill* self)
{
    rows_bag* bag = self->bag = begin_rows(self, true);
    DRILL_UNTIL(self, bag->open_count == 2);
    assert_int_equal(bag->open_count, 2);
}

static gh_status run_finish_load(drill* self)
{
    rows_bag* bag = self->bag;
    (void)gh_row_complete(bag->open[0], GH_OK, gh_str_literal("value"));
    (void)gh_row_complete(bag->open[1], GH_UNKNOWN, gh_str_literal(""));
    uint64_t end_us = wait_now_us() + 10000;
    while (bag->rows.loading > 0 && wait_now_us() < end_us && drill_goes_on(self)) continue;
    return end_rows(self, bag);
}

static gh_status run_renew_load(drill* self)
{
    rows_bag* bag = self->bag;
    drill_jump(self, DRILL_HOUR * 2 / 5);
    drill_tick_for(self, 10000);
    return end_rows(self, bag);
}

static const drill_case rows_cases[] = {
    {"schedule_first", prepare_no_rows, NULL, run_schedule, GH_OK, false, 0},
    {"schedule", prepare_loaded, NULL, run_schedule, GH_OK, false, 0},
    {"schedule_again", prepare_loaded, NULL, run_schedule_again, GH_OK, false, 0},
    {"unschedule", prepare_loaded, NULL, run_unschedule, GH_OK, false, 0},
    {"get", prepare_loaded, NULL, run_get, GH_OK, false, 0},
    {"get_missing", prepare_due, NULL, run_get_missing, GH_GONE, false, 0},
    {"refresh", prepare_due, NULL, run_refresh, GH_OK, false, 200},
    {"refresh_claimed", prepare_claimed, NULL, run_refresh, GH_OK, false, 200},
    {"finish", prepare_due, arm_load, run_finish_load, GH_OK, false, 200},
    {"renew", prepare_due, arm_load, run_renew_load, GH_OK, false, 200},
};

/* A row that is scheduled is loaded and can be got; one that is unscheduled stays away. */
static bool heal_rows(drill* self, char why[256])
{
    if (self->current->prepare != prepare_no_rows &&
        redis_server_text(self->server, "ZSCORE %s %s", drill_key("gh:{rows:<shard>}:d"), neighbour(0)) == NULL)
        return snprintf(why, 256, "a row that was scheduled is not due any more") < 0;
    gh_status status = schedule_with(self, DRILL_NAME, 10 * SECOND_US, true);
    if (status != GH_OK) return snprintf(why, 256, "schedule: %s", gh_status_name(status)) < 0;
    rows_bag* bag = begin_rows(self, false);
    uint64_t end_us = wait_now_us() + (self->later ? self->within_us : 100000); /* somebody may have a lease of it */
    rows_bag* read = DRILL_NEW(self, rows_bag);
    do status = get_with(self, read, 0);
    while ((status == GH_GONE || status == GH_OLD) && wait_now_us() < end_us && drill_goes_on(self));
    gh_status ended = end_rows(self, bag);
    bool claimed = status == GH_GONE && !self->later;
    if ((status != GH_OK && !claimed) || ended != GH_OK)
        return snprintf(why, 256, "get: %s, refresher: %s", gh_status_name(status), gh_status_name(ended)) < 0;
    status = run_unschedule(self);
    if (status != GH_OK) return snprintf(why, 256, "unschedule: %s", gh_status_name(status)) < 0;
    status = get_with(self, read, 0);
    if (status != GH_GONE) return snprintf(why, 256, "get after it: %s", gh_status_name(status)) < 0;
    if (redis_server_text(self->server, "ZSCORE %s %s", drill_key("gh:{rows:<shard>}:d"), DRILL_NAME) != NULL)
        return snprintf(why, 256, "unscheduled, and still due") < 0;
    return true;
}

const drill_system drill_rows = {"rows",    "rows", rows_cases, sizeof(rows_cases) / sizeof(rows_cases[0]),
                                 heal_rows, true};

/* ---- counters ------------------------------------------------------------------------------------------ */

static gh_counters_config counters_of_two(void)
{
    gh_counters_config config = counting_config();
    config.precision_count = 3;
    config.precisions[0] = (gh_counter_precision){1, 1};
    config.precisions[1] = (gh_counter_precision){60, 100};
    config.precisions[2] = (gh_counter_precision){300, 100};
    return config;
}

static void prepare_no_counters(game* one, game* two)
{
    (void)one, (void)two;
}

/* With closed slices of a second, more than are kept. */
static void prepare_counters(game* one, game* two)
{
    gh_counters_config config = counters_of_two();
    counting* self = counting_start(one, &config);
    for (int i = 0; i < 3; i++)
    {
        uint64_t end_us = wait_now_us() + SECOND_US;
        counting_add(self, DRILL_NAME, 5);
        counting_settle(self);
        if (i < 2) GAME_UNTIL(wait_now_us() > end_us);
    }
    gh_counters_end(self->counters);
    (void)two;
}

typedef struct counters_bag
{
    gh_counters* counters;
    gh_counter_read read;
    gh_counters_list list;
    gh_name names[4];
    gh_counter_sample samples[8];
    _Alignas(16) char memory[256 * 1024];
} counters_bag;

static counters_bag* begin_counters(drill* self, uint64_t clean_us)
{
    counters_bag* bag = DRILL_NEW(self, counters_bag);
    gh_counters_config config = counters_of_two();
    config.counters_max = 8;
    config.clean_us = clean_us;
    assert_true(gh_counters_memory(&config) <= sizeof(bag->memory));
    assert_status(gh_counters_init(&bag->counters, self->game->client, &config, bag->memory, sizeof(bag->memory)),
                  GH_OK);
    return bag;
}

static gh_status flush_some(drill* self, counters_bag* bag, int64_t delta)
{
    gh_counter counter;
    assert_status(gh_counters_open(bag->counters, NAME, &counter), GH_OK);
    assert_status(gh_counters_add(bag->counters, counter, delta), GH_OK);
    assert_status(gh_counters_flush(bag->counters), GH_OK);
    DRILL_UNTIL(self, gh_counters_poll(bag->counters) != GH_PENDING);
    gh_status status = gh_counters_poll(bag->counters);
    if (status != GH_OK) return status;
    gh_counters_stats stats;
    assert_status(gh_counters_get_stats(bag->counters, &stats), GH_OK);
    return stats.refused > 0 ? stats.last_refusal : stats.unknown > 0 ? GH_UNKNOWN : GH_OK;
}

/* Its memory is ours again when it says so. */
static gh_status end_counters(drill* self, counters_bag* bag, gh_status status)
{
    gh_counters_end(bag->counters);
    DRILL_UNTIL(self, gh_counters_poll(bag->counters) != GH_PENDING);
    return gh_counters_poll(bag->counters) == GH_PENDING ? GH_PENDING : status;
}

static gh_status run_count_up(drill* self)
{
    counters_bag* bag = begin_counters(self, 0);
    return end_counters(self, bag, flush_some(self, bag, 7));
}

/* A cleaner takes its lease, and goes through all shards. */
static gh_status run_clean(drill* self)
{
    counters_bag* bag = begin_counters(self, SECOND_US / 10);
    gh_counters_stats stats = {0};
    uint64_t end_us = wait_now_us() + 250000;
    do assert_status(gh_counters_get_stats(bag->counters, &stats), GH_OK);
    while (stats.rounds < 1 && wait_now_us() < end_us && drill_goes_on(self));
    return end_counters(self, bag, GH_OK);
}

static gh_status read_samples(drill* self, counters_bag* bag, uint32_t seconds, bool fill)
{
    gh_counter_read_config config = gh_counter_read_config_default();
    config.seconds = seconds;
    config.samples = bag->samples;
    config.sample_count = 8;
    config.fill_gaps = fill;
    assert_status(gh_counter_read_begin(&bag->read, self->game->client, NAME, &config), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->read.op) != GH_PENDING);
    return gh_op_poll(&bag->read.op);
}

static gh_status run_read_seconds(drill* self)
{
    return read_samples(self, DRILL_NEW(self, counters_bag), 1, false);
}

static gh_status run_read_filled(drill* self)
{
    return read_samples(self, DRILL_NEW(self, counters_bag), 1, true);
}

static gh_status run_read_minutes(drill* self)
{
    return read_samples(self, DRILL_NEW(self, counters_bag), 60, false);
}

static gh_status run_list_counters(drill* self)
{
    counters_bag* bag = DRILL_NEW(self, counters_bag);
    gh_counters_list_config config = gh_counters_list_config_default();
    config.names = bag->names;
    config.name_count = 4;
    config.after = UINT64_C(50) << 32; /* a request a shard: those from just before the one of NAME on */
    assert_status(gh_counters_list_begin(&bag->list, self->game->client, &config), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->list.op) != GH_PENDING);
    return gh_op_poll(&bag->list.op);
}

static const drill_case counters_cases[] = {
    {"count_first", prepare_no_counters, NULL, run_count_up, GH_OK, false, 0},
    {"count", prepare_counters, NULL, run_count_up, GH_OK, false, 0},
    {"read", prepare_counters, NULL, run_read_seconds, GH_OK, false, 0},
    {"read_filled", prepare_counters, NULL, run_read_filled, GH_OK, false, 0},
    {"read_minutes", prepare_counters, NULL, run_read_minutes, GH_OK, false, 0},
    {"list", prepare_counters, NULL, run_list_counters, GH_OK, false, 0},
    {"clean", prepare_counters, NULL, run_clean, GH_OK, false, 200},
};

/* 15 were there; what the case counts, and the 3 of the heal. Precisions that forget nothing meanwhile agree. */
static bool sums_are_exact(drill* self, int64_t minutes, int64_t longer, char why[256])
{
    int64_t base = self->current->prepare == prepare_counters ? 15 + 3 : 3;
    int64_t counts = strncmp(self->current->name, "count", 5) == 0 ? 7 : 0;
    bool exact = minutes == base + counts || (minutes == base && !self->repeated);
    if (exact && minutes == longer) return true;
    return snprintf(why, 256, "sums %lld and %lld, not %lld", (long long)minutes, (long long)longer,
                    (long long)(base + counts)) < 0;
}

/* What is counted now is the difference that a read sees. */
static bool heal_counters(drill* self, char why[256])
{
    counters_bag* bag = begin_counters(self, 0);
    gh_status status = flush_some(self, bag, 3);
    gh_status before = status == GH_OK ? read_samples(self, bag, 60, false) : status;
    int64_t sum = bag->read.sum;
    if (before == GH_OK) before = read_samples(self, bag, 300, false);
    int64_t longer = bag->read.sum;
    if (before == GH_OK) status = flush_some(self, bag, 10);
    gh_status after = status == GH_OK && before == GH_OK ? read_samples(self, bag, 60, false) : status;
    status = end_counters(self, bag, status);
    if (status != GH_OK || before != GH_OK || after != GH_OK)
        return snprintf(why, 256, "flush %s, read %s, %s", gh_status_name(status), gh_status_name(before),
                        gh_status_name(after)) < 0;
    if (bag->read.sum != sum + 10)
        return snprintf(why, 256, "%lld and 10 more are %lld", (long long)sum, (long long)bag->read.sum) < 0;
    return sums_are_exact(self, sum, longer, why);
}

const drill_system drill_counters = {
    "counters", "counters", counters_cases, sizeof(counters_cases) / sizeof(counters_cases[0]), heal_counters, false};
