/* sleeper.h -- whoever drives a client and sleeps in between, until gh_next_deadline or until a link has something. */

#ifndef GUILDHALL_TESTS_SLEEPER_H
#define GUILDHALL_TESTS_SLEEPER_H

#include "support/scene/game.h"
#include "support/server/scripted.h"

/* Sleeps as poll() would, 50 us being the least that a sleep takes, and ticks. */
void sleeper_tick(scripted* world);

/* Sleeps in poll() until one of the games has something to do, but no longer than most_us. True: it slept until
   then, and no link had anything. */
bool sleeper_poll(game** games, int count, uint64_t most_us);

/* Fails the test when it takes more ticks, or more time. */
#define SLEEP_UNTIL(world, condition, most_ticks, most_us)                                                   \
    do                                                                                                       \
    {                                                                                                        \
        uint64_t sleep_begin_us = (world)->now_us;                                                           \
        for (uint64_t sleep_ticks = 0; !(condition); sleep_ticks++)                                          \
        {                                                                                                    \
            if (sleep_ticks >= (uint64_t)(most_ticks)) fail_msg("ticks too often for: %s", #condition);      \
            if ((world)->now_us - sleep_begin_us > (most_us)) fail_msg("sleeps too long: %s", #condition);   \
            sleeper_tick(world);                                                                             \
        }                                                                                                    \
    } while (0)

#endif
