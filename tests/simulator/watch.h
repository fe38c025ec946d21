/* watch.h -- a master with replicas, and Sentinels that watch it, of the simulator's servers.

   A Sentinel is a server of its own, which says who is the master by what it has heard, and tells it to those who
   listen.

       the master dies or stands still --- a second ---> 0.1 to 0.7 s: a replica is elected
            the Sentinels, the other replicas and the former master hear of it one after the other */

#ifndef GUILDHALL_TESTS_SIMULATOR_WATCH_H
#define GUILDHALL_TESTS_SIMULATOR_WATCH_H

#include <stdbool.h>

enum
{
    WATCH_SERVERS = 3,
    WATCH_SENTINELS = 3,
    WATCH_FIRST_SENTINEL = WATCH_SERVERS /* among the simulator's servers */
};

void watch_open(const char* name);

unsigned watch_master(void);
long long watch_epoch(void);
bool watch_has_settled(void);

/* As of nodes.h. */
void watch_note_lost(unsigned server);
void watch_note_started(unsigned server);
void watch_note_thawed(unsigned server);

/* SENTINEL FAILOVER: nobody waits for what a replica lacks. */
void watch_replace(void);

/* A server that still takes itself for the master hears at once that it is not. */
void watch_make_replica(unsigned server);

#endif
