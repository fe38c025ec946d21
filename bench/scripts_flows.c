/* scripts_flows.c -- ops that run several scripts, at their caps: a set of locks, a file's sums, rows. */

#include "scripts_flows.h"
#include "harness/crew.h"

#include <stdlib.h>

enum
{
    CITIES = 5000,
    CITY_STEP = 65536,
    ROWS = 1280, /* about 20 in a shard: claims are full */
    ROW_SLOTS = 250,
    NAME_SIZE = 32,
    LINE_SIZE = 64
};

static const uint64_t flow_us = 10000000; /* the longest that one takes */

static void await_released(bench_client* client, const gh_lock_set* set)
{
    while (!gh_status_is_over(gh_op_poll(&set->op)))
    {
        gh_tick(client->client, bench_now_us(), 0);
        bench_clients_wait(client, 1, 1000);
    }
}

gh_status bench_flow_lock_set(bench_client* client)
{
    static gh_lock locks[GH_LOCK_SET_MAX];
    static char texts[GH_LOCK_SET_MAX][NAME_SIZE];
    static gh_str names[GH_LOCK_SET_MAX];
    gh_lock_set set = {0};
    for (size_t i = 0; i < GH_LOCK_SET_MAX; i++)
    {
        snprintf(texts[i], NAME_SIZE, "purse_%zu", i);
        names[i] = gh_str_of(texts[i]);
    }
    memset(locks, 0, sizeof locks);
    gh_status status = gh_lock_set_begin(&set, client->client, locks, names, GH_LOCK_SET_MAX, NULL);
    if (status == GH_OK && bench_await(client, &set.op) == GH_HELD)
    {
        gh_lock_set_release(&set);
        await_released(client, &set);
    }
    return status == GH_OK ? gh_op_poll(&set.op) : status;
}

/* ---- a file's sums ------------------------------------------------------------------------------------- */

typedef struct sums
{
    gh_geo* table;
    void* table_memory;
    gh_aggregate* aggregate;
    void* memory;
} sums;

static void address_text(uint32_t address, char* out)
{
    snprintf(out, 16, "%u.%u.%u.%u", address >> 24, address >> 16 & 255u, address >> 8 & 255u, address & 255u);
}

static gh_status add_cities(gh_geo* table)
{
    gh_status status = GH_OK;
    for (uint32_t i = 0; i < CITIES && status == GH_OK; i++)
    {
        char first[16];
        char last[16];
        char city[NAME_SIZE];
        address_text(i * CITY_STEP, first);
        address_text(i * CITY_STEP + CITY_STEP - 1, last);
        snprintf(city, sizeof city, "city %u", i);
        status = gh_geo_add(table, gh_str_of(first), gh_str_of(last), gh_str_literal("NL"), gh_str_literal(""),
                            gh_str_of(city));
    }
    return status == GH_OK ? gh_geo_seal(table, 0) : status;
}

static gh_status open_sums(sums* self)
{
    gh_geo_config places = gh_geo_config_default();
    gh_aggregate_config config = gh_aggregate_config_default();
    size_t table_size = gh_geo_memory(&places);
    size_t size = gh_aggregate_memory(&config);
    self->table_memory = aligned_alloc(64, (table_size + 63) / 64 * 64);
    self->memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (self->table_memory == NULL || self->memory == NULL)
    {
        return GH_INVALID_MEMORY;
    }
    gh_status status = gh_geo_init(&self->table, &places, self->table_memory, table_size);
    status = status == GH_OK ? add_cities(self->table) : status;
    status = status == GH_OK ? gh_aggregate_init(&self->aggregate, &config, self->memory, size) : status;
    return status == GH_OK ? gh_aggregate_start(self->aggregate, self->table) : status;
}

static gh_status flush_sums(bench_client* client, const sums* self, unsigned number)
{
    gh_aggregate_flush flush = {0};
    char file[NAME_SIZE];
    gh_status status = GH_OK;
    for (uint32_t i = 0; i < CITIES && status == GH_OK; i++)
    {
        char address[16];
        char line[LINE_SIZE];
        address_text(i * CITY_STEP + 7, address);
        snprintf(line, sizeof line, "%s 2011-10-10 12:00:00 login", address);
        status = gh_aggregate_add_line(self->aggregate, gh_str_of(line));
    }
    snprintf(file, sizeof file, "log_%u", number);
    status = status == GH_OK ? gh_aggregate_flush_begin(&flush, client->client, self->aggregate,
                                                        gh_str_literal("logins"), gh_str_of(file), NULL)
                             : status;
    return status == GH_OK ? bench_await(client, &flush.op) : status;
}

gh_status bench_flow_aggregate(bench_client* client, unsigned number)
{
    sums self = {0};
    gh_status status = open_sums(&self);
    status = status == GH_OK ? flush_sums(client, &self, number) : status;
    free(self.table_memory);
    free(self.memory);
    return status;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static void load_row(void* context, gh_row_load load, gh_str row)
{
    (void)row;
    (void)gh_row_complete(load, GH_OK, gh_str_make(context, GH_ROW_SIZE_MAX));
}

static gh_status schedule_rows(bench_client* client)
{
    gh_row_schedule_config config = gh_row_schedule_config_default();
    gh_status status = GH_OK;
    config.period_us = GH_ROWS_PERIOD_MAX_US;
    config.now = true;
    for (size_t i = 0; i < ROWS && status == GH_OK; i++)
    {
        gh_row_schedule op = {0};
        char row[NAME_SIZE];
        snprintf(row, sizeof row, "item_%zu", i);
        status = gh_row_schedule_begin(&op, client->client, gh_str_of(row), &config);
        status = status == GH_OK ? bench_await(client, &op.op) : status;
    }
    return status;
}

static gh_status refresh_rows(bench_client* client, const gh_rows_config* config)
{
    static gh_rows refresher;
    memset(&refresher, 0, sizeof refresher);
    gh_status status = gh_rows_begin(&refresher, client->client, config);
    if (status != GH_OK)
    {
        return status;
    }
    uint64_t end_us = bench_now_us() + flow_us;
    while (refresher.stored < ROWS && bench_now_us() < end_us)
    {
        gh_tick(client->client, bench_now_us(), 0);
        bench_clients_wait(client, 1, 1000);
    }
    status = refresher.stored < ROWS ? GH_TIMEOUT : GH_OK;
    gh_op_cancel(&refresher.op);
    while (gh_op_poll(&refresher.op) == GH_PENDING && bench_now_us() < end_us + flow_us)
    {
        gh_tick(client->client, bench_now_us(), 0);
        bench_clients_wait(client, 1, 1000);
    }
    return status;
}

gh_status bench_flow_rows(bench_client* client)
{
    static gh_rows_slot slots[ROW_SLOTS];
    static char value[GH_ROW_SIZE_MAX];
    gh_rows_config config = gh_rows_config_default();
    memset(slots, 0, sizeof slots);
    memset(value, 'x', sizeof value);
    config.loader = load_row;
    config.context = value;
    config.slots = slots;
    config.slot_count = ROW_SLOTS;
    config.memory_size = (size_t)ROW_SLOTS * GH_ROW_SIZE_MAX;
    config.memory = aligned_alloc(64, config.memory_size);
    gh_status status = config.memory == NULL ? GH_INVALID_MEMORY : schedule_rows(client);
    status = status == GH_OK ? refresh_rows(client, &config) : status;
    free(config.memory);
    return status;
}
