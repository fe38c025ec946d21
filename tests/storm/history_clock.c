/* history_clock.c -- the time of a storm whose processes are real: CLOCK_MONOTONIC. */

#include "storm/history.h"

#include <time.h>

uint64_t history_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

void history_pause(uint64_t us)
{
    struct timespec pause = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)};
    (void)nanosleep(&pause, NULL);
}
