/* rounds.c -- those who do the same work, in alternation; and what each round cost. */

#include "harness/bench.h"

#include <stdarg.h>

void bench_progress(const bench* self, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "  %s: ", self->name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static bool measure(bench* self, bench_side* side, uint64_t duration_us, bench_sample* sample)
{
    memset(sample, 0, sizeof *sample);
    bench_calls calls_before = bench_server_evalsha(self->server);
    double server_before = bench_server_cpu_us(self->server);
    bench_kernel_time_watch(true);
    bench_kernel_time kernel_before = bench_kernel_time_read();
    double user_before = bench_user_us();
    uint64_t cpu_before = bench_process_cpu_ns();
    uint64_t wall_before = bench_now_ns();

    bool done = side->run(side->context, duration_us, sample);

    uint64_t wall = bench_now_ns() - wall_before;
    uint64_t cpu = bench_process_cpu_ns() - cpu_before;
    sample->user_us = bench_user_us() - user_before;
    bench_kernel_time kernel = bench_kernel_time_read();
    bench_kernel_time_watch(false);
    sample->server_us = bench_server_cpu_us(self->server) - server_before;
    bench_calls calls = bench_server_evalsha(self->server);

    sample->cpu_us = (double)cpu / 1e3;
    if (sample->wall_us <= 0.0)
    {
        sample->wall_us = (double)wall / 1e3;
    }
    sample->kernel_calls = (double)(kernel.calls - kernel_before.calls);
    sample->outside_us = ((double)cpu - (double)(kernel.inside_ns - kernel_before.inside_ns) -
                          (double)(kernel.overhead_ns - kernel_before.overhead_ns)) /
                         1e3;
    if (sample->evalsha_calls <= 0.0)
    {
        sample->evalsha_calls = (double)(calls.calls - calls_before.calls);
    }
    sample->evalsha_us = (double)(calls.us - calls_before.us);
    return done && sample->cycles > 0.0;
}

const char bench_side_failed[] = "failed, see above";

void bench_alternate(bench* self, bench_side* sides, size_t count)
{
    for (unsigned round = 0; round <= self->rounds; round++)
    {
        for (size_t i = 0; i < count; i++)
        {
            bench_side* side = &sides[i];
            bench_sample sample;
            bool warm_up = round == 0;
            if (side->missing != NULL || (warm_up && side->no_warm_up))
            {
                continue;
            }
            bench_progress(self, "%s, round %u%s", side->name, round, warm_up ? " (warm-up)" : "");
            if (!measure(self, side, warm_up ? self->warm_up_us : self->round_us, &sample))
            {
                side->missing = bench_side_failed;
                side->sample_count = 0;
            }
            else if (!warm_up)
            {
                side->samples[side->sample_count++] = sample;
            }
        }
    }
}

bench_series bench_side_series(const bench_side* side, double (*value)(const bench_sample* sample))
{
    bench_series series = {.count = 0};
    for (size_t i = 0; i < side->sample_count; i++)
    {
        bench_series_add(&series, value(&side->samples[i]));
    }
    return series;
}

double bench_cycles_per_s(const bench_sample* sample)
{
    return sample->cycles * 1e6 / sample->wall_us;
}

double bench_cycles_per_cpu_s(const bench_sample* sample)
{
    return sample->cycles * 1e6 / sample->cpu_us;
}

double bench_ns_per_cycle(const bench_sample* sample)
{
    return sample->cpu_us * 1e3 / sample->cycles;
}
