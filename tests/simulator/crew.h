/* crew.h -- the players of a fleet: processes that are structs. What the nemesis does to them is in storm/players.h. */

#ifndef GUILDHALL_TESTS_SIMULATOR_CREW_H
#define GUILDHALL_TESTS_SIMULATOR_CREW_H

#include "storm/storm.h"

enum
{
    CREW_PROCESSES_MAX = 25 /* of large fleets, which nobody judges; others have STORM_PLAYERS_MAX at most */
};

typedef struct crew_pace
{
    uint64_t frame_us; /* 0: as is drawn for each process */
    unsigned turns;    /* of the actors in a frame; 0: the same */
} crew_pace;

/* While nobody plays, what is held is given back, and whoever has nothing to do sleeps for as long as he may. */
void crew_let_play(bool plays);

/* How many clients each of storm.players has. */
void crew_open(const unsigned clients[CREW_PROCESSES_MAX], crew_pace pace);

#endif
