/* tick.c -- what a tick costs when nothing happens, and how long it takes when too much does.

   Waiting locks ask by themselves every few seconds, and 100,000 of them make that 20,000 times a second. To
   see what a tick costs in which none of them does, the clock that is given to gh_tick stands still while it
   is measured. */

#include "platform.h"
#include "waiters.h"

#include <stdlib.h>

enum
{
    FEW = 10,
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

/* Nothing on the wire and nothing due: ticks at one and the same time until that is so. */
static bool quiet(gh_client* client, uint64_t still_us)
{
    uint64_t give_up_us = bench_now_us() + QUIET_WITHIN_US;
    gh_client_stats stats;
    do
    {
        gh_tick(client, still_us, 0);
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

static void report_idle(bench* self, const bench_series* few, const bench_series* many)
{
    bench_figure figure = bench_figure_make("100,000 waiting locks", "ns/tick");
    figure.ours = *many;
    figure.peer = *few;
    snprintf(figure.peer_name, sizeof figure.peer_name, "10 waiting locks");
    bench_figure_goal(&figure, BENCH_RATIO_AT_MOST, 1.2);
    bench_figure_note(&figure, "nothing due, nothing on the wire, budget %d us", BUDGET_US);
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
    for (int i = 0; i < SERIES && quiet(alone.client, now_us); i++)
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
    gh_client_stats before;
    gh_client_stats after;
    gh_client_get_stats(client, &before);
    for (int i = 0; i < HITCH_TICKS_MAX; i++)
    {
        uint64_t now_us = still_us + HITCH_US + (bench_now_us() - begun_us);
        uint64_t begun_ns = bench_thread_cpu_ns();
        gh_tick(client, now_us, BUDGET_US);
        uint64_t took_ns = bench_thread_cpu_ns() - begun_ns;
        worst_ns = took_ns > worst_ns ? took_ns : worst_ns;
    }
    gh_client_get_stats(client, &after);

    bench_figure figure = bench_figure_of("worst tick after a hitch of 60 s", "us", (double)worst_ns / 1e3);
    snprintf(figure.peer_name, sizeof figure.peer_name, "budget");
    bench_series_add(&figure.peer, BUDGET_US);
    bench_figure_goal(&figure, BENCH_RATIO_AT_MOST, 1.1);
    bench_figure_note(&figure, "100,000 waiting locks due at once; of %d ticks %llu had not budget enough",
                      HITCH_TICKS_MAX,
                      (unsigned long long)(after.ticks_over_budget - before.ticks_over_budget));
    if (after.ticks_over_budget == before.ticks_over_budget)
    {
        snprintf(figure.goal_moot, sizeof figure.goal_moot, "no tick had too much to do");
    }
    bench_report(self, &figure);
}

static void measure_idle(bench* self, gh_client* few_client, gh_client* many_client)
{
    bench_series few = {.count = 0};
    bench_series many = {.count = 0};
    uint64_t few_us = bench_now_us();
    bool good = quiet(few_client, few_us);
    uint64_t many_us = bench_now_us();
    good = good && quiet(many_client, many_us);
    for (int i = 0; i < SERIES && good; i++)
    {
        bench_series_add(&few, ns_per_tick(few_client, few_us, 0, TICKS));
        bench_series_add(&many, ns_per_tick(many_client, many_us, 0, TICKS));
    }
    if (!good)
    {
        bench_report_remark(self, "not measured: the client did not come to rest");
        return;
    }
    report_idle(self, &few, &many);
    measure_hitch(self, many_client, many_us);
}

void bench_tick_idle(bench* self)
{
    bench_waiters few;
    bench_waiters many;
    bench_progress(self, "%d locks enqueue", MANY);
    bool good = bench_waiters_open(self, &many, MANY, 1) && bench_waiters_queue(&many);
    bool good_few = bench_waiters_open(self, &few, FEW, 1) && bench_waiters_queue(&few);
    if (good && good_few)
    {
        bench_waiters_ignore(&few);
        bench_waiters_ignore(&many);
        measure_idle(self, few.clients[0].client, many.clients[0].client);
    }
    else
    {
        bench_report_remark(self, "not measured, see stderr");
    }
    bench_waiters_close(&few);
    bench_waiters_close(&many);
    measure_looking(self);
}

/* --- under load ----------------------------------------------------------------------------------------- */

enum
{
    LOAD_LOCKS = 8192,
    LOAD_FRAME_US = 10000,
    NAME_SIZE = 24
};

typedef struct load
{
    bench_client client;
    gh_lock* locks;
    char (*names)[NAME_SIZE];
    uint64_t cycles;
} load;

static bool load_open(bench* self, load* made)
{
    gh_client_config config = bench_client_config(self);
    memset(made, 0, sizeof *made);
    config.ops_capacity = LOAD_LOCKS;
    config.requests_capacity = LOAD_LOCKS;
    config.out_bytes = 4 * 1024 * 1024;
    made->locks = calloc(LOAD_LOCKS, sizeof *made->locks);
    made->names = calloc(LOAD_LOCKS, sizeof *made->names);
    for (int i = 0; made->names != NULL && i < LOAD_LOCKS; i++)
    {
        snprintf(made->names[i], sizeof made->names[i], "load_%d", i);
    }
    return made->locks != NULL && made->names != NULL &&
           bench_client_open(&made->client, &config, gh_platform_default());
}

static void load_close(load* made)
{
    bench_client_close(&made->client);
    free(made->locks);
    free(made->names);
}

/* What a game does between two ticks: takes what was granted, and wants what is free. */
static bool load_look(load* self)
{
    for (int i = 0; i < LOAD_LOCKS; i++)
    {
        gh_lock* lock = &self->locks[i];
        gh_status status = gh_lock_poll(lock);
        if (status == GH_OK)
        {
            gh_lock_release(lock);
            self->cycles++;
        }
        else if (status == GH_IDLE)
        {
            gh_lock_begin(lock, self->client.client, gh_str_of(self->names[i]), NULL);
        }
        else if (status != GH_PENDING)
        {
            fprintf(stderr, "  lock %d ended: %s\n", i, gh_status_text(status));
            return false;
        }
    }
    return true;
}

static void report_load(bench* self, load* made, uint64_t worst_cpu_ns, uint64_t worst_wall_ns)
{
    gh_client_stats stats;
    gh_client_get_stats(made->client.client, &stats);
    bench_figure figure = bench_figure_of("worst tick under load", "us", (double)worst_cpu_ns / 1e3);
    snprintf(figure.peer_name, sizeof figure.peer_name, "budget");
    bench_series_add(&figure.peer, BUDGET_US);
    bench_figure_goal(&figure, BENCH_RATIO_AT_MOST, 1.1);
    if (stats.ticks_over_budget == 0)
    {
        snprintf(figure.goal_moot, sizeof figure.goal_moot, "no tick had too much to do");
    }
    bench_figure_note(
        &figure, "CPU; %d locks taken and given back, %llu of %llu ticks had not budget enough, %llu cycles",
        LOAD_LOCKS, (unsigned long long)stats.ticks_over_budget, (unsigned long long)stats.ticks,
        (unsigned long long)made->cycles);
    bench_report(self, &figure);
    figure = bench_figure_of("the same by the wall clock", "us", (double)worst_wall_ns / 1e3);
    bench_figure_note(&figure, "includes the time in which something else had the core");
    bench_report(self, &figure);
}

void bench_tick_worst(bench* self)
{
    load made;
    uint64_t worst_cpu_ns = 0;
    uint64_t worst_wall_ns = 0;
    bool good = load_open(self, &made);
    uint64_t frame_us = bench_now_us();
    uint64_t end_us = frame_us + self->rounds * self->round_us * 2;
    bench_progress(self, "%d locks, a frame every %d us", LOAD_LOCKS, LOAD_FRAME_US);
    while (good && frame_us < end_us)
    {
        uint64_t cpu_ns = bench_thread_cpu_ns();
        uint64_t wall_ns = bench_now_ns();
        gh_tick(made.client.client, wall_ns / 1000u, BUDGET_US);
        wall_ns = bench_now_ns() - wall_ns;
        cpu_ns = bench_thread_cpu_ns() - cpu_ns;
        worst_cpu_ns = cpu_ns > worst_cpu_ns ? cpu_ns : worst_cpu_ns;
        worst_wall_ns = wall_ns > worst_wall_ns ? wall_ns : worst_wall_ns;
        good = load_look(&made);
        frame_us += LOAD_FRAME_US;
        uint64_t now_us = bench_now_us();
        bench_sleep_us(now_us < frame_us ? frame_us - now_us : 0);
    }
    if (good)
    {
        report_load(self, &made, worst_cpu_ns, worst_wall_ns);
    }
    else
    {
        bench_report_remark(self, "not measured, see stderr");
    }
    load_close(&made);
}
