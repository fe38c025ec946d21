/* ops_rows.c -- cached rows, their refreshers, and counters. */

#include "ops.h"

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static gh_status schedule_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_row_schedule_config config = gh_row_schedule_config_default();
    OPS_VARY(input, config.period_us, uint64_t);
    OPS_VARY(input, config.max_age_us, uint64_t);
    config.timeout_us = ops_time(input, config.timeout_us);
    config.now = fuzz_bit(input);
    gh_row_schedule* op = OPS_OP(place, gh_row_schedule);
    return fuzz_bit(input) ? gh_row_schedule_begin(op, client, ops_name(place, input), &config)
                           : gh_row_unschedule_begin(op, client, ops_name(place, input), &config);
}

static gh_status get_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_row_get_config config = gh_row_get_config_default();
    config.buffer = ops_room(place, input, 200, &config.buffer_size);
    if (fuzz_byte(input) > 128) config.version = ops_vary(input, 1);
    if (fuzz_byte(input) > 128) config.max_age_us = ops_time(input, WORLD_SECOND_US);
    config.timeout_us = ops_time(input, config.timeout_us);
    return gh_row_get_begin(OPS_OP(place, gh_row_get), client, ops_name(place, input), &config);
}

static void get_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_row_get* get = (const gh_row_get*)place->op;
    const gh_status status = gh_op_poll(&get->op);
    (void)client;
    (void)input;
    if (status != GH_OK && status != GH_OLD) return;
    FUZZ_MUST(get->value.size <= get->value_size);
    fuzz_touch(get->value);
}

#define LOADS_MAX 8u
#define SLOTS     3u

typedef struct refreshing
{
    gh_row_load loads[LOADS_MAX];
    size_t load_count;
} refreshing;

static void load_row(void* context, gh_row_load load, gh_str row)
{
    refreshing* more = context;
    FUZZ_MUST(row.size >= 1 && row.size <= GH_NAME_SIZE_MAX);
    fuzz_touch(row);
    if (more->load_count == LOADS_MAX) gh_row_complete(load, GH_EMPTY, gh_str_make(NULL, 0));
    else more->loads[more->load_count++] = load;
}

static gh_status refresher_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_rows_config config = gh_rows_config_default();
    refreshing* more = place->more = OPS_LEND(place, refreshing);
    config.loader = load_row;
    config.context = more;
    config.slots = OPS_LEND_ARRAY(place, gh_rows_slot, SLOTS);
    config.slot_count = ops_count(input, SLOTS);
    if (config.slot_count > SLOTS) config.slot_count = 0;
    config.memory = ops_room(place, input, SLOTS * 128, &config.memory_size);
    config.lease_us = ops_time(input, 2 * WORLD_SECOND_US);
    config.load_us = ops_time(input, 500000);
    OPS_VARY(input, config.backoff_min_us, uint64_t);
    return gh_rows_begin(OPS_OP(place, gh_rows), client, &config);
}

static void refresher_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    refreshing* more = place->more;
    (void)client;
    if (fuzz_byte(input) > 224) gh_rows_end((gh_rows*)place->op);
    if (more->load_count == 0) return;
    const size_t which = fuzz_below(input, (uint32_t)more->load_count);
    const gh_row_load load = more->loads[which];
    const gh_str value = ops_lent_text(place, input, 200);
    static const gh_status outcomes[] = {GH_OK, GH_EMPTY, GH_TIMEOUT};
    const bool wanted = gh_row_load_is_wanted(load);
    const gh_status status = gh_row_complete(load, outcomes[fuzz_below(input, 3)], value);
    if (!wanted) FUZZ_MUST(status != GH_OK);
    more->loads[which] = more->loads[--more->load_count];
    FUZZ_MUST(gh_row_complete(load, GH_OK, value) != GH_OK);
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

#define HANDLES 3u

typedef struct counting
{
    gh_counters* counters;
    gh_counter handles[HANDLES];
} counting;

static gh_status counters_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_counters_config config = gh_counters_config_default();
    counting* more = place->more = OPS_LEND(place, counting);
    config.counters_max = 1 + fuzz_below(input, 6);
    config.precision_count = 1 + fuzz_below(input, 3);
    for (uint32_t i = 0; i < config.precision_count; i++) OPS_VARY(input, config.precisions[i].samples, uint32_t);
    config.flush_us = ops_time(input, 100000);
    if (fuzz_bit(input)) config.clean_us = ops_time(input, 500000);
    size_t size = gh_counters_memory(&config);
    if (size > 65536) size = 0;
    void* memory = ops_lend(place, size);
    return gh_counters_init(&more->counters, client, &config, memory, size);
}

static void must_add_up(const gh_counters* counters)
{
    gh_counters_stats stats;
    FUZZ_MUST(gh_counters_get_stats(counters, &stats) == GH_OK);
    FUZZ_MUST(stats.added == stats.counted + stats.waiting + stats.unknown + stats.refused);
}

static void counters_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    counting* more = place->more;
    gh_counter* handle = &more->handles[fuzz_below(input, HANDLES)];
    if (more->counters == NULL || place->lent_count > OPS_LENT_MAX - 4) return;
    switch (fuzz_below(input, 8))
    {
    case 0:
    case 1: gh_counters_open(more->counters, ops_lent_name(place, input), handle); break;
    case 2:
    case 3: gh_counters_add(more->counters, *handle, (int64_t)fuzz_edge(input)); break;
    case 4:
        gh_counters_add_at(more->counters, *handle, (int64_t)ops_vary(input, 1),
                           WORLD_STORE_US + ops_vary(input, 1000000));
        break;
    case 5: gh_counters_flush(more->counters); break;
    case 6: gh_counters_close(more->counters, *handle); break;
    default:
        if (client == NULL || fuzz_byte(input) > 224) gh_counters_end(more->counters);
        break;
    }
    must_add_up(more->counters);
}

/* Their memory stays until they say that they have ended. */
static bool counters_leave(ops_place* place)
{
    const counting* more = place->more;
    if (more->counters == NULL) return true;
    gh_counters_end(more->counters);
    const gh_status status = gh_counters_poll(more->counters);
    return status == GH_IDLE || status == GH_CANCELLED;
}

static gh_status read_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_counter_read_config config = gh_counter_read_config_default();
    const size_t count = ops_count(input, 8), there = count > 9 ? 0 : count;
    config.samples = OPS_LEND_ARRAY(place, gh_counter_sample, there);
    config.sample_count = (uint32_t)there;
    config.seconds = fuzz_bit(input) ? 60 : (uint32_t)ops_vary(input, 1);
    if (fuzz_bit(input)) config.until_s = ops_vary(input, WORLD_STORE_US / WORLD_SECOND_US);
    config.fill_gaps = fuzz_bit(input);
    config.timeout_us = ops_time(input, config.timeout_us);
    return gh_counter_read_begin(OPS_OP(place, gh_counter_read), client, ops_name(place, input), &config);
}

static gh_status list_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_counters_list_config config = gh_counters_list_config_default();
    const size_t count = ops_count(input, 6), there = count > 7 ? 0 : count;
    config.names = OPS_LEND_ARRAY(place, gh_name, there);
    config.name_count = (uint32_t)there;
    if (fuzz_byte(input) > 192) config.after = ops_vary(input, 1);
    config.timeout_us = ops_time(input, config.timeout_us);
    return gh_counters_list_begin(OPS_OP(place, gh_counters_list), client, &config);
}

static void list_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_counters_list* list = (const gh_counters_list*)place->op;
    (void)client;
    (void)input;
    if (gh_op_poll(&list->op) != GH_OK) return;
    for (uint32_t i = 0; i < list->count; i++)
        FUZZ_MUST(list->names[i].size >= 1 && list->names[i].size <= GH_NAME_SIZE_MAX);
}

const ops_kind ops_rows[] = {
    {"row schedule", schedule_begin, NULL, NULL},
    {"row get", get_begin, get_use, NULL},
    {"rows", refresher_begin, refresher_use, NULL},
    {"counters", counters_begin, counters_use, counters_leave},
    {"counter read", read_begin, NULL, NULL},
    {"counters list", list_begin, list_use, NULL},
    {NULL, NULL, NULL, NULL},
};
