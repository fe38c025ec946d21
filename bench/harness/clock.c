/* clock.c -- what time it is, and how much CPU was spent. */

#include "harness/bench.h"

#include <sys/resource.h>
#include <time.h>

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t bench_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t bench_now_us(void)
{
    return bench_now_ns() / 1000u;
}

uint64_t bench_process_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t bench_thread_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void bench_sleep_us(uint64_t us)
{
    struct timespec rest = {(time_t)(us / 1000000u), (long)(us % 1000000u) * 1000L};
    nanosleep(&rest, NULL);
}

double bench_user_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec * 1e6 + (double)usage.ru_utime.tv_usec;
}
