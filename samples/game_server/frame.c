/* frame.c -- the clock of a loop, and who was late. */

#define _GNU_SOURCE /* getrusage with its counts of context switches, of a thread where the system knows them */

#include "frame.h"

#include <sys/resource.h>
#include <time.h>

static uint64_t clock_us(clockid_t id)
{
    struct timespec now = {0};
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t frame_now_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

#if defined(RUSAGE_THREAD)
#define WHOSE RUSAGE_THREAD
#else
#define WHOSE RUSAGE_SELF
#endif

/* Times that this thread gave up the processor by itself, because a call had to wait. */
static long times_blocked(void)
{
    struct rusage usage = {0};
    getrusage(WHOSE, &usage);
    return usage.ru_nvcsw;
}

/* In whole ms around the time of a frame; the first and the last have what is outside. */
static uint32_t bar_of(uint64_t us)
{
    uint64_t ms = us / 1000;
    if (ms < BOARD_BARS_FROM_MS) return 0;
    uint64_t bar = ms - BOARD_BARS_FROM_MS + 1;
    return bar < BOARD_BARS ? (uint32_t)bar : BOARD_BARS - 1;
}

void frame_begin(frame_clock* clock)
{
    uint64_t now = frame_now_us();
    if (clock->frames++ == 0)
    {
        clock->started_us = now;
        clock->planned_us = now;
    }
    else
    {
        clock->last_frame_us = now - clock->now_us;
        histogram_add(&clock->frame_us, clock->last_frame_us);
        clock->frame_bars[bar_of(clock->last_frame_us)]++;
    }
    clock->now_us = now;
    clock->tick_wall_us = 0;
    clock->tick_cost_us = 0;
    clock->tick_own_us = 0;
}

void frame_tick(frame_clock* clock, gh_client* client, uint64_t budget_us)
{
    long blocked = times_blocked();
    uint64_t cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID);
    uint64_t wall_us = frame_now_us();

    /* 0 would be no bound at all; and what must be done in a tick is done in any. */
    gh_tick(client, wall_us, clock->tick_wall_us < budget_us ? budget_us - clock->tick_wall_us : 1);

    wall_us = frame_now_us() - wall_us;
    cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID) - cpu_us;
    blocked = times_blocked() - blocked;

    clock->tick_wall_us += wall_us;
    clock->tick_blocked += blocked > 0;

    /* A tick that computes pays for what it computes, one that blocks pays for the wait. The rest of the wall
       time is what other programs took from us meanwhile. */
    clock->tick_cost_us += blocked > 0 ? wall_us : cpu_us;
    clock->tick_own_us += cpu_us;
}

void frame_end(frame_clock* clock)
{
    uint64_t now = frame_now_us();
    uint64_t due = clock->planned_us + FRAME_US;
    histogram_add(&clock->tick_us, clock->tick_wall_us);
    histogram_add(&clock->tick_cpu_us, clock->tick_cost_us);
    if (now > due && clock->in_play)
    {
        bool tick_to_blame = clock->tick_cost_us > (now - clock->planned_us) / 2;
        clock->late_by_tick += tick_to_blame;
        clock->late_by_own += clock->tick_own_us > (now - clock->planned_us) / 2;
        clock->late_by_machine += !tick_to_blame;
    }
    if (now > due)
    {
        clock->planned_us = now; /* a missed frame is gone: running after it would make more of them late */
        return;
    }
    clock->planned_us = due;

    /* An absolute time, so that what happens between now and the sleep does not add up. A signal ends the
       sleep early, which is what one wants of Ctrl-C. */
    struct timespec until = {.tv_sec = (time_t)(due / 1000000), .tv_nsec = (long)(due % 1000000) * 1000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}
