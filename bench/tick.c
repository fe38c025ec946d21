/* tick.c -- what a tick costs when nothing happens, and how long it takes when 100,000 ops are due at once.

   Waiting locks ask by themselves every few seconds, and 100,000 of them make that 20,000 times a second. To
   see what a tick costs in which none of them does, the clock that is given to gh_tick stands still while it
   is measured. */

#include "guildhall/platform.h"
#include "harness/waiters.h"

#include <stdlib.h>

enum
{
    FEW = 10,
    MIDDLE = 10000,
    MANY = 100000,
    BUDGET_US = 500,
    SERIES = 9,
    TICKS = 20000,
    LOOKING_TICKS =
        30, /* of a frame each; all series together stay below the 5 s after which a link is asked for life */
    FRAME_US = 16667,
    HITCH_US = 60 * 1000 * 1000, /* longer than any waiter stays silent */
    HITCH_TICKS_MAX = 2000,
    QUIET_WITHIN_US = 10 * 1000 * 1000
};

/* --- idle ----------------------------------------------------------------------------------------------- */

/* Nothing on the wire and nothing due: ticks at one and the same time until that is so. A link that a loaded machine
   has cost needs time to come back. */
static bool quiet(gh_client* client, uint64_t* still_us)
{
    uint64_t give_up_us = bench_now_us() + QUIET_WITHIN_US;
    gh_client_stats stats;
    do
    {
        if (!gh_client_ready(client)) *still_us += 1000;
        gh_tick(client, *still_us, 0);
        gh_client_get_stats(client, &stats);
    } while (stats.requests_sent + stats.requests_waiting > 0 && bench_now_us() < give_up_us);
    return stats.requests_sent + stats.requests_waiting == 0;
}

static double ns_per_tick(gh_client* client, uint64_t now_us, uint64_t step_us, int ticks)
{
    uint64_t begun_ns = bench_thread_cpu_ns();
    for (int i = 0; i < ticks; i++)
    {
        now_us += step_us;
        gh_tick(client, now_us, BUDGET_US);
    }
    return (double)(bench_thread_cpu_ns() - begun_ns) / ticks;
}

static void report_idle(bench* self, const bench_series* few, const bench_series* middle, const bench_series* many)
{
    bench_figure figure = bench_figure_make("100,000 waiting locks", "ns/tick");
    figure.ours = *many;
    figure.peer = *few;
    snprintf(figure.peer_name, sizeof figure.peer_name, "10 waiting locks");
    bench_figure_goal(&figure, BENCH_RATIO_AT_MOST, 1.2);
    bench_figure_note(&figure, "nothing due, nothing on the wire, budget %d us", BUDGET_US);
    bench_report(self, &figure);

    figure = bench_figure_make("100,000 beside 10,000", "ns/tick");
    figure.ours = *many;
    figure.peer = *middle;
    figure.slope = true;
    snprintf(figure.peer_name, sizeof figure.peer_name, "10,000 waiting locks");
    bench_report(self, &figure);

    figure = bench_figure_make("10 waiting locks", "ns/tick");
    figure.ours = *few;
    bench_figure_goal(&figure, BENCH_VALUE_AT_MOST, 200.0);
    bench_report(self, &figure);
}

/* No op at all, but each tick is a frame later than the one before: what a game at 60 Hz pays in any case. */
static void measure_looking(bench* self)
{
    bench_client alone;
    gh_client_config config = bench_client_config(self);
    bench_figure figure = bench_figure_make("no op, a frame later each time", "ns/tick");
    if (!bench_client_open(&alone, &config, gh_platform_default()))
    {
        return;
    }
    uint64_t now_us = bench_now_us();
    for (int i = 0; i < SERIES && quiet(alone.client, &now_us); i++)
    {
        bench_series_add(&figure.ours, ns_per_tick(alone.client, now_us, FRAME_US, LOOKING_TICKS));
        now_us += LOOKING_TICKS * FRAME_US;
    }
    bench_figure_note(&figure, "CPU with the kernel's: each tick looks at both sockets");
    bench_report(self, &figure);
    bench_client_close(&alone);
}

/* All 100,000 have something to ask at once, because the game stood still for some seconds. */
static void measure_hitch(bench* self, gh_client* client, uint64_t still_us)
{
    uint64_t begun_us = bench_now_us();
    uint64_t worst_ns = 0;
    uint64_t worst_kernel_ns = 0;
    gh_client_stats before;
    gh_client_stats after;
    gh_client_get_stats(client, &before);
    bench_kernel_time_watch(true);
    for (int i = 0; i < HITCH_TICKS_MAX; i++)
    {
        uint64_t now_us = still_us + HITCH_US + (bench_now_us() - begun_us);
        uint64_t kernel_ns = bench_kernel_time_read().inside_ns;
        uint64_t begun_ns = bench_thread_cpu_ns();
        gh_tick(client, now_us, BUDGET_US);
        uint64_t took_ns = bench_thread_cpu_ns() - begun_ns;
        kernel_ns = bench_kernel_time_read().inside_ns - kernel_ns;
        worst_kernel_ns = took_ns > worst_ns ? kernel_ns : worst_kernel_ns;
        worst_ns = took_ns > worst_ns ? took_ns : worst_ns;
    }
    gh_client_get_stats(client, &after);
    bench_kernel_time_watch(false);

    bench_figure figure = bench_figure_of("worst tick after a hitch of 60 s", "us", (double)worst_ns / 1e3);
    snprintf(figure.peer_name, sizeof figure.peer_name, "budget");
    bench_series_add(&figure.peer, BUDGET_US);
    bench_figure_goal(&figure, BENCH_RATIO_AT_MOST, 1.1);
    bench_figure_note(&figure, "100,000 waiting locks due at once; of %d ticks %llu had not budget enough",
                      HITCH_TICKS_MAX, (unsigned long long)(after.ticks_over_budget - before.ticks_over_budget));
    bench_figure_limit(&figure, "of that tick, %.0f us were the kernel's send and receive, which cannot be cut",
                       (double)worst_kernel_ns / 1e3);
    if (after.ticks_over_budget == before.ticks_over_budget)
    {
        snprintf(figure.goal_moot, sizeof figure.goal_moot, "no tick had too much to do");
    }
    bench_report(self, &figure);
}

static void measure_idle(bench* self, bench_waiters crowds[3])
{
    bench_series series[3] = {{.count = 0}};
    uint64_t still_us[3] = {0};
    bool good = true;
    for (int k = 0; k < 3; k++)
    {
        bench_waiters_ignore(&crowds[k]);
        still_us[k] = bench_now_us();
        good = good && quiet(crowds[k].clients[0].client, &still_us[k]);
    }
    for (int i = 0; i < SERIES * 3 && good; i++)
    {
        int k = i % 3;
        bench_series_add(&series[k], ns_per_tick(crowds[k].clients[0].client, still_us[k], 0, TICKS));
    }
    if (!good)
    {
        bench_report_gap(self, "not measured: the client did not come to rest");
        return;
    }
    report_idle(self, &series[0], &series[1], &series[2]);
    measure_hitch(self, crowds[2].clients[0].client, still_us[2]);
}

void bench_tick_idle(bench* self)
{
    static const size_t counts[3] = {FEW, MIDDLE, MANY};
    static bench_waiters crowds[3];
    bool good = true;
    memset(crowds, 0, sizeof crowds);
    bench_progress(self, "%d locks enqueue", MANY);
    for (int k = 2; k >= 0; k--) /* the large one first: its queueing is long, and the others shall not wait */
    {
        good = good && bench_waiters_open(self, &crowds[k], counts[k], 1) && bench_waiters_queue(&crowds[k]);
    }
    if (good)
    {
        measure_idle(self, crowds);
    }
    else
    {
        bench_report_gap(self, "not measured, see stderr");
    }
    for (int k = 0; k < 3; k++)
    {
        bench_waiters_close(&crowds[k]);
    }
    measure_looking(self);
}
