/* wait.c -- the pauses between two looks at a condition. */

#include "support/wait.h"

#include <time.h>

uint64_t wait_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

uint64_t wait_cap_us(void)
{
    return wait_now_us() + UINT64_C(60000000) * suite_patience();
}

void wait_briefly(void)
{
    struct timespec pause = {0, 200 * 1000};
    nanosleep(&pause, NULL);
}
