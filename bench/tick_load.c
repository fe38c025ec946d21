/* tick_load.c -- how long a tick takes under load, with a budget: thousands of locks that are taken and given
   back all the time, a tick every 10 ms. */

#include "harness/bench.h"
#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    LOAD_LOCKS = 8192,
    LOAD_LOCKS_MANY = 81920,
    BUDGET_US = 500,
    LOAD_FRAME_US = 10000,
    NAME_SIZE = 32
};

typedef struct load
{
    bench_client client;
    size_t count;
    gh_lock_config config;
    gh_lock* locks;
    char (*names)[NAME_SIZE];
    uint64_t cycles;
} load;

static bool load_open(bench* self, load* made, size_t count)
{
    gh_client_config config = bench_client_config(self);
    memset(made, 0, sizeof *made);
    made->count = count;
    made->config = gh_lock_config_default();
    made->config.wait_us = 600u * 1000u * 1000u; /* in short ticks, so many take long */
    made->config.lease_us = 60u * 1000u * 1000u;
    config.ops_capacity = (uint32_t)count;
    config.requests_capacity = LOAD_LOCKS;
    config.out_bytes = 4 * 1024 * 1024;
    made->locks = calloc(count, sizeof *made->locks);
    made->names = calloc(count, sizeof *made->names);
    for (size_t i = 0; made->names != NULL && i < count; i++)
    {
        snprintf(made->names[i], sizeof made->names[i], "load_%zu", i);
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
    for (size_t i = 0; i < self->count; i++)
    {
        gh_lock* lock = &self->locks[i];
        gh_status status = gh_op_poll(&lock->op);
        if (status == GH_HELD)
        {
            gh_lock_release(lock);
            self->cycles++;
        }
        else if (status == GH_IDLE || status == GH_OK)
        {
            gh_lock_begin(lock, self->client.client, gh_str_of(self->names[i]), &self->config);
        }
        else if (status != GH_PENDING)
        {
            fprintf(stderr, "  lock %zu ended: %s\n", i, gh_status_text(status));
            return false;
        }
    }
    return true;
}

/* What the ticks took, by the thread's CPU and by the wall clock. */
typedef struct load_times
{
    bench_histogram cpu;
    bench_histogram wall;
    uint64_t worst_cpu_ns;
    uint64_t worst_wall_ns;
    uint64_t worst_kernel_ns; /* of the worst tick by CPU: in send and receive */
} load_times;

static void report_load(bench* self, load* made, load_times* times)
{
    gh_client_stats stats;
    char name[64];
    gh_client_get_stats(made->client.client, &stats);
    snprintf(name, sizeof name, "worst tick, %zu locks", made->count);
    bench_figure figure = bench_figure_of(name, "us", (double)times->worst_cpu_ns / 1e3);
    snprintf(figure.peer_name, sizeof figure.peer_name, "budget");
    bench_series_add(&figure.peer, BUDGET_US);
    bench_figure_goal(&figure, BENCH_RATIO_AT_MOST, 1.1);
    if (stats.ticks_over_budget == 0)
    {
        snprintf(figure.goal_moot, sizeof figure.goal_moot, "no tick had too much to do");
    }
    bench_figure_note(&figure,
                      "CPU; %zu locks taken and given back, %llu of %llu ticks had not budget enough, %llu cycles",
                      made->count, (unsigned long long)stats.ticks_over_budget, (unsigned long long)stats.ticks,
                      (unsigned long long)made->cycles);
    bench_figure_limit(&figure,
                       "of that tick, %.0f us were the kernel's send and receive, which cannot be cut once begun",
                       (double)times->worst_kernel_ns / 1e3);
    bench_report(self, &figure);
    snprintf(name, sizeof name, "the same by the wall clock");
    figure = bench_figure_of(name, "us", (double)times->worst_wall_ns / 1e3);
    bench_figure_note(&figure, "includes the time in which something else had the core");
    bench_report(self, &figure);
    snprintf(times->cpu.name, sizeof times->cpu.name, "ticks with %zu locks, CPU", made->count);
    times->cpu.mark_us = BUDGET_US;
    bench_report_histogram(self, &times->cpu);
}

static bool load_run(bench* self, load* made, load_times* times)
{
    bool good = true;
    uint64_t frame_us = bench_now_us();
    uint64_t end_us = frame_us + self->rounds * self->round_us;
    bench_kernel_time_watch(true);
    bench_progress(self, "%zu locks, a frame every %d us", made->count, LOAD_FRAME_US);
    while (good && frame_us < end_us)
    {
        uint64_t kernel_ns = bench_kernel_time_read().inside_ns;
        uint64_t cpu_ns = bench_thread_cpu_ns();
        uint64_t wall_ns = bench_now_ns();
        gh_tick(made->client.client, wall_ns / 1000u, BUDGET_US);
        wall_ns = bench_now_ns() - wall_ns;
        cpu_ns = bench_thread_cpu_ns() - cpu_ns;
        bench_histogram_add(&times->cpu, cpu_ns);
        if (cpu_ns > times->worst_cpu_ns)
        {
            times->worst_kernel_ns = bench_kernel_time_read().inside_ns - kernel_ns;
        }
        times->worst_cpu_ns = cpu_ns > times->worst_cpu_ns ? cpu_ns : times->worst_cpu_ns;
        times->worst_wall_ns = wall_ns > times->worst_wall_ns ? wall_ns : times->worst_wall_ns;
        good = load_look(made);
        frame_us += LOAD_FRAME_US;
        uint64_t now_us = bench_now_us();
        bench_sleep_us(now_us < frame_us ? frame_us - now_us : 0);
    }
    bench_kernel_time_watch(false);
    return good;
}

void bench_tick_worst(bench* self)
{
    static const size_t counts[] = {LOAD_LOCKS, LOAD_LOCKS_MANY};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    {
        load made;
        load_times times = {.worst_cpu_ns = 0};
        if (load_open(self, &made, counts[i]) && load_run(self, &made, &times))
        {
            report_load(self, &made, &times);
        }
        else
        {
            bench_report_gap(self, "%zu locks were not measured, see stderr", counts[i]);
        }
        load_close(&made);
    }
}
