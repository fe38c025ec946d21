/* seat.h -- one client of a player, with an actor for each system: what it is made of, and what it does in a frame.

   A frame is a tick, and then the turns of the actors. Who runs it decides on the clock and on the platform: a player
   process (player.c) or a simulator. */

#ifndef GUILDHALL_TESTS_STORM_SEAT_H
#define GUILDHALL_TESTS_STORM_SEAT_H

#include "guildhall/platform.h"
#include "storm/storm.h"

typedef struct seat_actor
{
    const storm_system* system;
    void* actor;
} seat_actor;

typedef struct player_seat
{
    storm_client client;
    void* memory;
    seat_actor actors[STORM_SYSTEMS_MAX];
    unsigned actor_count;
    uint32_t nodes;      /* of a Cluster: how many are ready */
    uint64_t changed_us; /* since when it is so many */
    uint64_t shaken;     /* how many hand-shakes have come to their end */
} player_seat;

/* Begins the client and its actors; ends the process if that cannot be. clock_us is the first time that the client is
   told. */
void seat_start(player_seat* seat, storm_who who, const char* address, const gh_platform* platform, uint64_t clock_us);

/* It is now_us, and the client is told that it is clock_us. */
void seat_tick(player_seat* seat, uint64_t now_us, uint64_t clock_us, uint64_t budget_us);

/* The actors' turns. True: nothing is going on. */
bool seat_act(player_seat* seat, bool may_begin);

/* From here on its links are of no use to anybody. */
void seat_note_going(const player_seat* seat);

#endif
