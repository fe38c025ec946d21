/* geo.c -- look-ups of addresses in tables of 300,000 and of 3,000,000 ranges. */

#include "harness/bench.h"

#include <stdlib.h>

enum
{
    FEW = 300000,
    MANY = 3000000,
    CITIES = 50000,
    LOOKUPS = 4096
};

typedef struct geo_side
{
    gh_geo* table;
    void* memory;
    size_t size;
    uint32_t random;
    uint64_t found;
} geo_side;

static uint32_t next_random(uint32_t* state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state ^ *state >> 15;
}

static gh_str address_text(uint32_t address, char out[16])
{
    int size =
        snprintf(out, 16, "%u.%u.%u.%u", address >> 24, address >> 16 & 255u, address >> 8 & 255u, address & 255u);
    return gh_str_make(out, (size_t)size);
}

/* Ranges over the whole space; the last fourth of each is a gap. */
static gh_status fill(gh_geo* table, uint32_t ranges)
{
    uint32_t step = (uint32_t)(4294967296ull / ranges);
    gh_status status = GH_OK;
    for (uint32_t i = 0; i < ranges && status == GH_OK; i++)
    {
        char first[16];
        char last[16];
        char city[24];
        char region[24];
        char country[24];
        uint32_t number = i * 2654435761u % CITIES;
        snprintf(city, sizeof city, "city %u", number);
        snprintf(region, sizeof region, "region %u", number / 50);
        snprintf(country, sizeof country, "country %u", number / 250);
        status = gh_geo_add(table, address_text(i * step, first), address_text(i * step + step / 4 * 3, last),
                            gh_str_of(country), gh_str_of(region), gh_str_of(city));
    }
    return status == GH_OK ? gh_geo_seal(table, 0) : status;
}

static bool open_side(geo_side* side, uint32_t ranges)
{
    gh_geo_config config = gh_geo_config_default();
    memset(side, 0, sizeof *side);
    config.ipv4_capacity = ranges;
    config.ipv6_capacity = 0;
    config.nodes_capacity = 2 * CITIES;
    config.text_bytes = 4 * 1024 * 1024;
    size_t size = gh_geo_memory(&config);
    side->memory = aligned_alloc(64, (size + 63) / 64 * 64);
    side->size = size;
    side->random = 1;
    gh_status status = GH_INVALID_MEMORY;
    if (side->memory != NULL && gh_geo_init(&side->table, &config, side->memory, size) == GH_OK)
    {
        status = fill(side->table, ranges);
    }
    if (status != GH_OK)
    {
        fprintf(stderr, "  a table of %u ranges: %s\n", ranges, gh_status_text(status));
    }
    return status == GH_OK;
}

static bool run_numbers(void* context, uint64_t duration_us, bench_sample* sample)
{
    geo_side* self = context;
    uint64_t end_us = bench_now_us() + duration_us;
    uint64_t lookups = 0;
    bench_heap_begin();
    while (bench_now_us() < end_us)
    {
        for (size_t i = 0; i < LOOKUPS; i++)
        {
            uint32_t node = gh_geo_find_ipv4(self->table, next_random(&self->random));
            self->found += node != GH_GEO_NO_NODE ? 1u : 0u;
        }
        lookups += LOOKUPS;
    }
    sample->heap_calls = (double)bench_heap_end();
    sample->cycles = (double)lookups;
    return self->found > 0;
}

/* The address as text, the place as names: what the listing's function does. */
static bool run_texts(void* context, uint64_t duration_us, bench_sample* sample)
{
    geo_side* self = context;
    static char texts[LOOKUPS][16];
    static gh_str addresses[LOOKUPS];
    for (size_t i = 0; i < LOOKUPS; i++)
    {
        addresses[i] = address_text(next_random(&self->random), texts[i]);
    }
    uint64_t begun_us = bench_now_us();
    uint64_t lookups = 0;
    while (bench_now_us() < begun_us + duration_us)
    {
        for (size_t i = 0; i < LOOKUPS; i++)
        {
            gh_geo_place place;
            self->found += gh_geo_find(self->table, addresses[i], &place) == GH_OK ? 1u : 0u;
        }
        lookups += LOOKUPS;
    }
    sample->wall_us = (double)(bench_now_us() - begun_us);
    sample->cycles = (double)lookups;
    return self->found > 0;
}

/* What the memory itself allows: three reads anywhere in a block as large as the table, which is what a
   look-up takes as a rule. */
static double three_reads_per_s(const geo_side* side)
{
    const unsigned char* bytes = side->memory;
    uint32_t random = 3;
    volatile uint32_t seen = 0;
    uint64_t begun_ns = bench_thread_cpu_ns();
    for (size_t i = 0; i < 256 * LOOKUPS; i++)
    {
        uint32_t sum = 0;
        for (int k = 0; k < 3; k++)
        {
            sum += bytes[(uint64_t)next_random(&random) * side->size >> 32];
        }
        seen += sum;
    }
    return 256.0 * LOOKUPS * 1e9 / (double)(bench_thread_cpu_ns() - begun_ns);
}

static void report_numbers(bench* self, const bench_side* large, const bench_side* small, const geo_side* table)
{
    bench_figure figure = bench_figure_make("3 M ranges, address a number", "look-ups/s");
    figure.ours = bench_side_series(large, bench_cycles_per_cpu_s);
    bench_figure_goal(&figure, BENCH_VALUE_AT_LEAST, 100.0 * 200000.0);
    bench_figure_note(&figure, "a second of CPU of one core; random addresses; the goal is 100 x the 200,000/s of "
                               "the listing's text");
    bench_figure_cost(&figure, large);
    bench_figure_limit(&figure, "three reads anywhere in the table's %.0f MB alone come to %.3g/s",
                       (double)table->size / 1e6, three_reads_per_s(table));
    bench_report(self, &figure);
    figure = bench_figure_make("3 M beside 300,000 ranges", "look-ups/s");
    figure.ours = bench_side_series(large, bench_cycles_per_cpu_s);
    bench_figure_peer(&figure, small, bench_cycles_per_cpu_s);
    figure.slope = true;
    bench_figure_note(&figure, "the small table fits the caches better");
    bench_report(self, &figure);
}

static void report(bench* self, bench_side* sides, const geo_side* table)
{
    sides[0].name = "300,000 ranges";
    report_numbers(self, &sides[1], &sides[0], table);
    bench_report_rate(self, &(bench_rate){"3 M ranges, address a text", "look-ups", &sides[2], &sides[3], 100.0,
                                          "place as names; the peer's table has 20,000 ranges, in Redis"});
}

void bench_geo(bench* self)
{
    static geo_side few;
    static geo_side many;
    bench_asked_side listing = {self, BENCH_PEER_PYTHON, "geo"};
    bench_progress(self, "tables of 300,000 and 3,000,000 ranges are built");
    bool good = open_side(&few, FEW);
    if (open_side(&many, MANY) && good)
    {
        bench_side sides[] = {
            {.name = "Guildhall, 300,000", .run = run_numbers, .context = &few},
            {.name = "Guildhall, 3 M", .run = run_numbers, .context = &many},
            {.name = "Guildhall, 3 M, texts", .run = run_texts, .context = &many},
            {.name = "listing (Python)", .run = bench_asked_run, .context = &listing},
        };
        sides[3].missing = bench_peer_missing(self, BENCH_PEER_PYTHON);
        sides[3].lacks = "ends of ranges: an address in a gap gets the place before it; IPv6";
        bench_alternate(self, sides, 4);
        report(self, sides, &many);
    }
    else
    {
        bench_report_gap(self, "not measured, see stderr");
    }
    free(few.memory);
    free(many.memory);
}
