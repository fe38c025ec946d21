/* path_local.c -- paths that compute and hardly talk: an add, a look-up, a line, a key-stroke, an idle tick.
 */

#include "paths/path_local.h"

#include <stdlib.h>

enum
{
    COUNTERS = 64,
    RANGES = 20000,
    CONTACTS = 100,
    NAME_SIZE = 24,
    IDLE_LOCKS = 100,
    MEMORY_SIZE = 4 * 1024 * 1024
};

static _Alignas(64) char memory[MEMORY_SIZE];

static uint32_t next_random(uint32_t* state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state ^ *state >> 15;
}

bool bench_path_counter(bench_tape* tape, uint64_t count)
{
    gh_counters* counters = NULL;
    gh_counter handles[COUNTERS];
    gh_status status = gh_counters_init(&counters, bench_tape_client(tape), NULL, memory, sizeof memory);
    for (size_t i = 0; i < COUNTERS && status == GH_OK; i++)
    {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "kills_%zu", i);
        status = gh_counters_open(counters, gh_str_of(name), &handles[i]);
    }
    for (uint64_t i = 0; i < count && status == GH_OK; i++)
    {
        status = gh_counters_add(counters, handles[i % COUNTERS], 1);
    }
    return status == GH_OK;
}

static int address_text(uint32_t address, char* out)
{
    return snprintf(out, 16, "%u.%u.%u.%u", address >> 24, address >> 16 & 255u, address >> 8 & 255u, address & 255u);
}

static gh_geo* build_table(void)
{
    static _Alignas(64) char table_memory[MEMORY_SIZE];
    gh_geo_config config = gh_geo_config_default();
    gh_geo* table = NULL;
    gh_status status = gh_geo_init(&table, &config, table_memory, sizeof table_memory);
    for (uint32_t i = 0; i < RANGES && status == GH_OK; i++)
    {
        char first[16];
        char last[16];
        char city[NAME_SIZE];
        uint32_t begin = i * (uint32_t)(4294967296ull / RANGES);
        (void)address_text(begin, first);
        (void)address_text(begin + 150000, last);
        snprintf(city, sizeof city, "city %u", i % 1000);
        status = gh_geo_add(table, gh_str_of(first), gh_str_of(last), gh_str_literal("NL"), gh_str_literal(""),
                            gh_str_of(city));
    }
    return status == GH_OK && gh_geo_seal(table, 0) == GH_OK ? table : NULL;
}

bool bench_path_geo(bench_tape* tape, uint64_t count)
{
    const gh_geo* table = build_table();
    uint32_t random = 1;
    uint64_t found = 0;
    (void)tape;
    for (uint64_t i = 0; i < count && table != NULL; i++)
    {
        found += gh_geo_find_ipv4(table, next_random(&random)) != GH_GEO_NO_NODE ? 1u : 0u;
    }
    return found > 0;
}

bool bench_path_aggregate(bench_tape* tape, uint64_t count)
{
    const gh_geo* table = build_table();
    gh_aggregate_config config = gh_aggregate_config_default();
    gh_aggregate* aggregate = NULL;
    gh_aggregate_stats stats;
    uint32_t random = 1;
    static char lines[1000 * 64];
    size_t size = 0;
    (void)tape;
    for (int i = 0; i < 1000; i++)
    {
        size += (size_t)address_text(next_random(&random), lines + size);
        size += (size_t)snprintf(lines + size, 48, " 2011-10-10 13:55:%02d achievement-762\n", i % 60);
    }
    config.nodes_capacity = 4096;
    gh_status status = table == NULL ? GH_INVALID_TABLE : gh_aggregate_init(&aggregate, &config, memory, sizeof memory);
    status = status == GH_OK ? gh_aggregate_start(aggregate, table) : status;
    for (uint64_t done = 0; done < count && status == GH_OK; done += 1000)
    {
        status = gh_aggregate_add(aggregate, gh_str_make(lines, size));
    }
    return status == GH_OK && gh_aggregate_get_stats(aggregate, &stats) == GH_OK && stats.lines == count;
}

bool bench_path_contact(bench_tape* tape, uint64_t count)
{
    gh_contacts contacts = {0};
    gh_contacts_change change = {0};
    char names[CONTACTS][NAME_SIZE];
    uint64_t found = 0;
    gh_status status =
        gh_contacts_init(&contacts, bench_tape_client(tape), gh_str_literal("jason"), NULL, memory, sizeof memory);
    for (size_t i = 0; i < CONTACTS && status == GH_OK; i++)
    {
        snprintf(names[i], NAME_SIZE, "%c%cplayer_%zu", (int)('a' + i % 8), (int)('a' + i % 3), i);
        status = gh_contacts_touch_begin(&change, &contacts, gh_str_of(names[i]));
        status = status == GH_OK ? bench_tape_await(tape, &change.op) : status;
    }
    for (uint64_t i = 0; i < count && status == GH_OK; i++)
    {
        gh_contact hits[10];
        found += gh_contacts_complete(&contacts, gh_str_make(names[i * 37 % CONTACTS], 1 + i % 4), hits, 10);
    }
    return status == GH_OK && found > 0;
}

/* A hundred locks are held, nothing is due, nothing comes. */
bool bench_path_idle(bench_tape* tape, uint64_t count)
{
    static gh_lock locks[IDLE_LOCKS];
    static char names[IDLE_LOCKS][NAME_SIZE];
    gh_status status = GH_OK;
    for (size_t i = 0; i < IDLE_LOCKS && status == GH_OK; i++)
    {
        snprintf(names[i], NAME_SIZE, "idle_%zu", i);
        status = gh_lock_begin(&locks[i], bench_tape_client(tape), gh_str_of(names[i]), NULL);
    }
    for (size_t i = 0; i < IDLE_LOCKS && status == GH_OK; i++)
    {
        status = bench_tape_await(tape, &locks[i].op) == GH_HELD ? GH_OK : GH_ERROR;
    }
    for (uint64_t i = 0; i < count && status == GH_OK; i++)
    {
        gh_tick(bench_tape_client(tape), 2000000, 500);
    }
    return status == GH_OK;
}
