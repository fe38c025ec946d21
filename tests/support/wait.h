/* wait.h -- waiting for something to become true, never for time to pass. */

#ifndef GUILDHALL_TESTS_WAIT_H
#define GUILDHALL_TESTS_WAIT_H

#include <stdint.h>

#include "support/suite.h"

/* Waits until the condition holds, looking every 200 us, and every millisecond when it takes longer; fails the test
   after a cap that only a fault can reach. */
#define WAIT_FOR(condition)                                                                                  \
    do                                                                                                       \
    {                                                                                                        \
        uint64_t wait_end_us = wait_cap_us();                                                                \
        while (!(condition))                                                                                 \
        {                                                                                                    \
            if (wait_now_us() >= wait_end_us) fail_msg("waited too long for: %s", #condition);               \
            wait_briefly();                                                                                  \
        }                                                                                                    \
    } while (0)

/* The monotonic clock, in microseconds. */
uint64_t wait_now_us(void);

/* What the processor has spent on this thread, in nanoseconds: what else the machine does is not in it. */
uint64_t thread_time_ns(void);

/* The moment (monotonic, in microseconds) at which a wait that begins now has failed: a minute away, or ten
   with GUILDHALL_SLOW_MACHINE=1. To ask is to begin a wait. */
uint64_t wait_cap_us(void);

/* Gives the processor away for about 200 us, or for a millisecond in a wait that has had fifty of these. */
void wait_briefly(void);

/* The same for a condition that costs those something who are asked: looks every few milliseconds. Before it fails the
   test, it says `last_words`, a statement. */
#define WAIT_SELDOM(condition, last_words)                                                                   \
    do                                                                                                       \
    {                                                                                                        \
        uint64_t wait_end_us = wait_cap_us();                                                                \
        while (!(condition))                                                                                 \
        {                                                                                                    \
            if (wait_now_us() >= wait_end_us)                                                                \
            {                                                                                                \
                last_words;                                                                                  \
                fail_msg("waited too long for: %s", #condition);                                             \
            }                                                                                                \
            wait_a_while();                                                                                  \
        }                                                                                                    \
    } while (0)

/* Some milliseconds. */
void wait_a_while(void);

/* What is done again and again meanwhile, until the end of the test: game_tick_all, say. NULL: nothing. */
void wait_meanwhile(void (*tick)(void));

#endif
