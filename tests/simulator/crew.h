/* crew.h -- the players of a fleet: processes that are structs. What the nemesis does to them is in storm/players.h. */

#ifndef GUILDHALL_TESTS_SIMULATOR_CREW_H
#define GUILDHALL_TESTS_SIMULATOR_CREW_H

#include "storm/storm.h"

/* How many clients each of storm.players has; how long a frame is, and how often the actors have their turn in it: 0:
   as is drawn for each process. */
void crew_open(const unsigned clients[STORM_PLAYERS_MAX], uint64_t frame_us, unsigned turns);

#endif
