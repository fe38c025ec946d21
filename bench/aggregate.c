/* aggregate.c -- log lines counted by day and place: 32 MB and 320 MB of them, beside a copy of the same
   bytes. */

#include "harness/crew.h"
#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    FILE_SIZE = 32 * 1024 * 1024,
    TIMES = 10, /* the large one is so many of the small one, one after another */
    PIECE = 128 * 1024,
    RANGES = 100000,
    CITIES = 5000
};

typedef struct aggregate_side
{
    bench* owner;
    gh_geo* table;
    void* table_memory;
    gh_aggregate* aggregate;
    void* memory;
    char* file;
    char* copy;
    size_t size;
    uint64_t lines; /* in the file */
    unsigned times;
} aggregate_side;

static uint32_t next_random(uint32_t* state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state ^ *state >> 15;
}

static int address_text(uint32_t address, char* out)
{
    return snprintf(out, 16, "%u.%u.%u.%u", address >> 24, address >> 16 & 255u, address >> 8 & 255u, address & 255u);
}

static bool build_table(aggregate_side* self)
{
    gh_geo_config config = gh_geo_config_default();
    config.ipv4_capacity = RANGES;
    config.nodes_capacity = 2 * CITIES;
    size_t size = gh_geo_memory(&config);
    self->table_memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (self->table_memory == NULL || gh_geo_init(&self->table, &config, self->table_memory, size) != GH_OK)
    {
        return false;
    }
    gh_status status = GH_OK;
    for (uint32_t i = 0; i < RANGES && status == GH_OK; i++)
    {
        char first[16];
        char last[16];
        char city[24];
        uint32_t begin = i * (uint32_t)(4294967296ull / RANGES);
        uint32_t number = i * 2654435761u % CITIES;
        (void)address_text(begin, first);
        (void)address_text(begin + 40000, last);
        snprintf(city, sizeof city, "city %u", number);
        status = gh_geo_add(self->table, gh_str_of(first), gh_str_of(last), gh_str_of(number % 2 ? "NL" : "FR"),
                            gh_str_of(""), gh_str_of(city));
    }
    return status == GH_OK && gh_geo_seal(self->table, 0) == GH_OK;
}

static void write_file(aggregate_side* self)
{
    static const char* const events[] = {"achievement-762", "login", "kill-12", "trade-4711", "logout"};
    uint32_t random = 7;
    size_t used = 0;
    while (used + 96 < FILE_SIZE)
    {
        uint32_t second = next_random(&random) % 86400u;
        used += (size_t)address_text(next_random(&random), self->file + used);
        used += (size_t)snprintf(self->file + used, 80, " 2011-10-1%u %02u:%02u:%02u %s\n", second % 3, second / 3600,
                                 second / 60 % 60, second % 60, events[random % 5]);
        self->lines++;
    }
    self->size = used;
}

static bool open_side(bench* self, aggregate_side* side)
{
    gh_aggregate_config config = gh_aggregate_config_default();
    memset(side, 0, sizeof *side);
    side->owner = self;
    side->file = malloc(FILE_SIZE);
    side->copy = malloc(FILE_SIZE);
    config.nodes_capacity = 2 * CITIES;
    size_t size = gh_aggregate_memory(&config);
    side->memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (side->file == NULL || side->copy == NULL || side->memory == NULL || !build_table(side) ||
        gh_aggregate_init(&side->aggregate, &config, side->memory, size) != GH_OK)
    {
        return false;
    }
    write_file(side);
    memset(side->copy, 1, FILE_SIZE); /* its pages are there */
    return true;
}

static bool run_lines(void* context, uint64_t duration_us, bench_sample* sample)
{
    aggregate_side* self = context;
    gh_aggregate_stats stats = {0};
    gh_status status = gh_aggregate_start(self->aggregate, self->table);
    (void)duration_us;
    bench_heap_begin();
    for (unsigned time = 0; time < self->times && status == GH_OK; time++)
    {
        for (size_t at = 0; at < self->size && status == GH_OK; at += PIECE)
        {
            size_t piece = self->size - at < PIECE ? self->size - at : PIECE;
            status = gh_aggregate_add(self->aggregate, gh_str_make(self->file + at, piece));
        }
    }
    sample->heap_calls = (double)bench_heap_end();
    (void)gh_aggregate_get_stats(self->aggregate, &stats);
    sample->cycles = (double)stats.lines;
    if (stats.lines != self->lines * self->times || stats.lines_malformed != 0)
    {
        fprintf(stderr, "  %llu lines of %llu were counted: %s\n", (unsigned long long)stats.lines,
                (unsigned long long)(self->lines * self->times), gh_status_text(status));
        return false;
    }
    return true;
}

static bool run_copy(void* context, uint64_t duration_us, bench_sample* sample)
{
    aggregate_side* self = context;
    uint64_t end_us = bench_now_us() + duration_us / 2;
    do
    {
        memcpy(self->copy, self->file, self->size);
        sample->cycles += (double)self->lines;
    } while (bench_now_us() < end_us);
    return self->copy[self->size - 1] == self->file[self->size - 1];
}

static void report(bench* self, bench_side* sides, const aggregate_side* side)
{
    bench_figure figure = bench_figure_make("lines of a log", "lines/s");
    double bytes = (double)side->size / (double)side->lines;
    figure.ours = bench_side_series(&sides[0], bench_cycles_per_cpu_s);
    bench_figure_peer(&figure, &sides[2], bench_cycles_per_cpu_s);
    bench_figure_goal(&figure, BENCH_VALUE_AT_LEAST, 10e6);
    bench_figure_note(&figure,
                      "a second of CPU of one core; %.1f bytes a line, so %.0f MB/s; the ratio is the share "
                      "of a copy's speed",
                      bytes, bench_series_median(&figure.ours) * bytes / 1e6);
    bench_figure_cost(&figure, &sides[0]);
    bench_figure_limit_by_cpu(&figure, &sides[0]);
    bench_report(self, &figure);
    sides[0].name = "32 MB";
    bench_report_slope(self, "320 MB beside 32 MB", "lines", &sides[1], &sides[0]);
}

void bench_aggregate(bench* self)
{
    static aggregate_side small;
    static aggregate_side large;
    if (open_side(self, &small))
    {
        large = small;
        small.times = 1;
        large.times = TIMES;
        bench_side sides[] = {
            {.name = "Guildhall, 32 MB", .run = run_lines, .context = &small},
            {.name = "Guildhall, 320 MB", .run = run_lines, .context = &large, .no_warm_up = true},
            {.name = "memcpy", .run = run_copy, .context = &small},
        };
        sides[2].missing = bench_peer_missing(self, BENCH_PEER_MEMCPY);
        bench_alternate(self, sides, 3);
        report(self, sides, &small);
    }
    else
    {
        bench_report_gap(self, "not measured: no memory");
    }
    free(small.table_memory);
    free(small.memory);
    free(small.file);
    free(small.copy);
}
