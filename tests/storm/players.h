/* players.h -- the player processes, in the hands of the nemesis. */

#ifndef GUILDHALL_TESTS_STORM_PLAYERS_H
#define GUILDHALL_TESTS_STORM_PLAYERS_H

#include <stdbool.h>
#include <stdint.h>

void players_start(void);

void players_kill(unsigned player);
void players_revive(unsigned player); /* nothing, if it runs */
void players_freeze(unsigned player);
void players_thaw(unsigned player);

/* Counts those that ended without having been told to, with what they ended with, and starts them again. */
void players_look(void);

/* Waits until all have ended what they do. False at the cap. */
bool players_wait(uint64_t cap_us);

/* How many died by themselves; prints each. */
unsigned players_crashed(void);

#endif
