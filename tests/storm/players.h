/* players.h -- the player processes, in the hands of the nemesis. */

#ifndef GUILDHALL_TESTS_STORM_PLAYERS_H
#define GUILDHALL_TESTS_STORM_PLAYERS_H

#include <stdbool.h>
#include <stdint.h>

void players_start(void);

void players_kill(unsigned player);
void players_revive(unsigned player); /* nothing, if it runs */

/* Asks it to end what it does and to go, as before a new version of it is started. False: it does not run. */
bool players_send_off(unsigned player);
bool players_has_gone(unsigned player);

/* Starts it as the other build, once it has gone; one that is still there is killed. */
void players_replace(unsigned player);

void players_freeze(unsigned player);
void players_thaw(unsigned player);

/* Counts those that ended without having been told to, with what they ended with, and starts them again. */
void players_look(void);

/* Waits until all have ended what they do. False at the cap. */
bool players_wait(uint64_t cap_us);

/* How many died by themselves; prints each. */
unsigned players_crashed(void);

#endif
