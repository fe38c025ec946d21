/* wait.c -- the pauses between two looks at a condition. */

#include "support/wait.h"

#include "support/cleanup.h"

#include <time.h>

#define OFTEN 50 /* looks, before they become fewer */

static void (*meanwhile)(void);
static _Thread_local unsigned looks; /* since the wait began */

uint64_t wait_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

uint64_t thread_time_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t wait_cap_us(void)
{
    looks = 0;
    return wait_now_us() + UINT64_C(60000000) * suite_patience();
}

void wait_briefly(void)
{
    const struct timespec pause = {0, looks++ < OFTEN ? 200 * 1000 : 1000 * 1000};
    nanosleep(&pause, NULL);
}

static void forget_meanwhile(void* thing)
{
    (void)thing;
    meanwhile = NULL;
}

void wait_meanwhile(void (*tick)(void))
{
    cleanup_forget(&meanwhile);
    if (tick != NULL) cleanup_add(forget_meanwhile, &meanwhile);
    meanwhile = tick;
}

void wait_a_while(void)
{
    const uint64_t end_us = wait_now_us() + 4000;
    do
    {
        if (meanwhile != NULL) meanwhile();
        wait_briefly();
    } while (wait_now_us() < end_us);
}
