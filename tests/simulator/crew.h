/* crew.h -- the players of a fleet: processes that are structs. What the nemesis does to them is in storm/players.h. */

#ifndef GUILDHALL_TESTS_SIMULATOR_CREW_H
#define GUILDHALL_TESTS_SIMULATOR_CREW_H

#include "storm/storm.h"

typedef struct crew_pace
{
    uint64_t frame_us; /* 0: as is drawn for each process */
    unsigned turns;    /* of the actors in a frame; 0: the same */
    unsigned rest;     /* and so many frames without, on average, behind each with */
} crew_pace;

/* How many clients each of storm.players has. */
void crew_open(const unsigned clients[STORM_PLAYERS_MAX], crew_pace pace);

#endif
