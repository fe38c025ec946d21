/* counters.c -- an add, and the flush of 256 and of 2,560 counters with all seven precisions. */

#include "harness/crew.h"
#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    FEW = 256,
    MANY = 2560,
    ADDS = 4096,
    FLUSH_WITHIN_US = 20 * 1000 * 1000
};

typedef struct counters_side
{
    bench_client client;
    void* memory;
    gh_counters* counters;
    gh_counter handles[MANY];
    size_t count;
} counters_side;

static bool open_side(bench* self, counters_side* side, size_t count)
{
    gh_client_config wanted = bench_client_config(self);
    gh_counters_config config = gh_counters_config_default();
    memset(side, 0, sizeof *side);
    config.counters_max = MANY;
    config.flush_us = 3600u * 1000000ull; /* only when we say so */
    config.clean_us = 0;
    size_t bytes = gh_counters_memory(&config);
    side->count = count;
    side->memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (side->memory == NULL || !bench_client_open(&side->client, &wanted, gh_platform_default()))
    {
        return false;
    }
    gh_status status = gh_counters_init(&side->counters, side->client.client, &config, side->memory, bytes);
    for (size_t i = 0; i < count && status == GH_OK; i++)
    {
        char name[32];
        snprintf(name, sizeof name, "kills_%zu", i);
        status = gh_counters_open(side->counters, gh_str_of(name), &side->handles[i]);
    }
    return status == GH_OK || bench_crew_complain("counters", count, status) != BENCH_STEP_FAILED;
}

static void close_side(counters_side* side)
{
    bench_client_close(&side->client);
    free(side->memory);
}

static bool run_flush(void* context, uint64_t duration_us, bench_sample* sample)
{
    counters_side* self = context;
    uint64_t end_us = bench_now_us() + duration_us;
    size_t flushed = 0;
    gh_status status = GH_OK;
    bench_client_wake(&self->client);
    bench_heap_begin();
    do
    {
        for (size_t i = 0; i < self->count; i++)
        {
            (void)gh_counters_add(self->counters, self->handles[i], 1);
        }
        (void)gh_counters_flush(self->counters);
        status = bench_await_counters(&self->client, self->counters);
        flushed += self->count;
    } while (status == GH_OK && bench_now_us() < end_us);
    sample->heap_calls = (double)bench_heap_end();
    sample->cycles = (double)flushed;
    return status == GH_OK || bench_crew_complain("flush", self->count, status) != BENCH_STEP_FAILED;
}

static bool run_add(void* context, uint64_t duration_us, bench_sample* sample)
{
    counters_side* self = context;
    uint64_t end_us = bench_now_us() + duration_us;
    size_t adds = 0;
    bool good = true;
    bench_heap_begin();
    while (bench_now_us() < end_us)
    {
        for (size_t i = 0; i < ADDS; i++)
        {
            good &= gh_counters_add(self->counters, self->handles[i % FEW], 1) == GH_OK;
        }
        adds += ADDS;
    }
    sample->heap_calls = (double)bench_heap_end();
    sample->cycles = (double)adds;
    return good;
}

/* Nothing may be lost on the way. */
static bool all_counted(counters_side* side)
{
    gh_counters_stats stats;
    (void)gh_counters_flush(side->counters);
    (void)bench_await_counters(&side->client, side->counters);
    gh_counters_get_stats(side->counters, &stats);
    return stats.added == stats.counted && stats.dropped == 0;
}

/* What the same loop costs when nothing is checked or noted. */
static double plain_add_ns(void)
{
    static volatile int64_t sums[FEW];
    uint64_t begun_ns = bench_thread_cpu_ns();
    for (size_t i = 0; i < 1000 * ADDS; i++)
    {
        sums[i % FEW] += 1;
    }
    return (double)(bench_thread_cpu_ns() - begun_ns) / (1000.0 * ADDS);
}

static void report(bench* self, bench_side* sides)
{
    bench_figure figure = bench_figure_make("an add", "ns");
    figure.ours = bench_side_series(&sides[2], bench_ns_per_cycle);
    bench_figure_goal(&figure, BENCH_VALUE_AT_MOST, 10.0);
    bench_figure_note(&figure, "256 counters in turn; CPU");
    bench_figure_limit(&figure, "adding to a plain array of 256 sums in such a loop takes %.2f ns", plain_add_ns());
    bench_figure_cost(&figure, &sides[2]);
    bench_report(self, &figure);
    bench_report_rate(self, &(bench_rate){"flush, 256 counters", "counters", &sides[0], &sides[3], 10.0,
                                          "7 precisions, as the listing's update"});
    sides[0].name = "256 counters";
    bench_report_slope(self, "the same, 2,560 counters", "counters", &sides[1], &sides[0]);
}

void bench_counters(bench* self)
{
    static counters_side few;
    static counters_side many;
    bench_asked_side listing = {self, BENCH_PEER_PYTHON, "counter"};
    bool good = open_side(self, &few, FEW);
    if (open_side(self, &many, MANY) && good)
    {
        bench_side sides[] = {
            {.name = "Guildhall, 256 counters", .run = run_flush, .context = &few},
            {.name = "Guildhall, 2,560 counters", .run = run_flush, .context = &many},
            {.name = "Guildhall, adds", .run = run_add, .context = &few},
            {.name = "listing (Python)", .run = bench_asked_run, .context = &listing},
        };
        sides[3].missing = bench_peer_missing(self, BENCH_PEER_PYTHON);
        sides[3].lacks = "counting once if an answer is lost; bounds; the store's clock";
        bench_alternate(self, sides, 4);
        if (!all_counted(&few) || !all_counted(&many))
        {
            bench_report_gap(self, "adds were lost, so the figures say nothing");
        }
        report(self, sides);
    }
    else
    {
        bench_report_gap(self, "not measured, see stderr");
    }
    close_side(&few);
    close_side(&many);
}
