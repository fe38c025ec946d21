/* fleet.h -- the servers of a storm with --cluster or --sentinel: which there are, and who is master.

                  one event at a time, and only where the fleet has settled
       SETTLED ------------------------- an event -------------------------> UNSETTLED
          ^                                                                      |
          '---- all running nodes agree, and each replica is fed by its master --'

   What the nemesis does to it stands in nemesis_fleet.c. Players reach the nodes of a Cluster through doors of the
   wire; servers with Sentinels they reach directly, because a Sentinel tells everybody the same address.

   A master that was replaced although no fault was to do that (the machine stood still) is noticed: from then on it
   counts as a loss, and is printed. */

#ifndef GUILDHALL_TESTS_STORM_FLEET_H
#define GUILDHALL_TESTS_STORM_FLEET_H

#include "support/server/cluster.h"
#include "support/server/sentinels.h"

#include <stdbool.h>
#include <stdint.h>

/* Starts the storm's kind of fleet; returns when it has settled, and the wire leads to it. */
void fleet_start(void);

/* One of the two is NULL; both in a storm of one server. For the first process alone. */
cluster* fleet_cluster(void);
sentinels* fleet_sentinels(void);

/* For config.address of players, and of who looks past the wire. */
const char* fleet_address(void);
const char* fleet_direct_address(void);

/* ---- for the first process ------------------------------------------------------------------------------- */

bool fleet_has_settled(void);
void fleet_settle(void);

/* The master of what the number chooses: with Sentinels there is one alone. */
redis_server* fleet_master(uint64_t x);

/* What the number chooses. */
redis_server* fleet_node(uint64_t x);
unsigned fleet_slot(uint64_t x);

/* A slot of that master in which there are keys, if it has any. */
unsigned fleet_slot_with_keys(redis_server* master, uint64_t x);

/* True when all running replicas of that master have all that had been done when this was called. */
bool fleet_replicas_have_all(redis_server* master);

/* Elections and the like so far, as the nodes count them: what is the same before and after, replaced nobody. */
long long fleet_epoch(void);

/* Gives a node that has joined a door of its own, or takes it back. */
bool fleet_has_free_door(void);
void fleet_open_door(redis_server* node);
void fleet_close_door(const redis_server* node);

/* One command to each node that runs, until none refuses it. */
void fleet_must(const char* command);

/* ---- for all processes ----------------------------------------------------------------------------------- */

/* False while a master may be one that nobody believes any more: who looks past the wire waits so long. */
void fleet_set_clear(bool clear);
bool fleet_is_clear(void);

/* The unix socket of a node, by its number, and whose number is behind that port; -1: nobody's. */
const char* fleet_path(int node);
int fleet_behind(unsigned port);
int fleet_first(void);

#endif
