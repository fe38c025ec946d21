/* nodes.h -- a Cluster of the simulator's servers: who has which slot, who knows that, and how that changes.

   Truth is what the last election or hand-over has made so. Each node has a view of its own, which follows the truth a
   little later, and serves by it: it says MOVED, ASK, TRYAGAIN and CLUSTERDOWN, and CLUSTER SLOTS, as it knows things.

       master dies or stands still --- a second ---> its slots are nobody's: CLUSTERDOWN everywhere
                                                        |  0.1 to 0.7 s: its replica is elected, if one runs
                                                        v
       it comes back, and takes itself for the master until it hears --> a replica of who was elected */

#ifndef GUILDHALL_TESTS_SIMULATOR_NODES_H
#define GUILDHALL_TESTS_SIMULATOR_NODES_H

#include "simulator/server.h"

#include <stdbool.h>
#include <stdint.h>

enum
{
    NODES_SLOTS = 16384,
    NODES_NOBODY = 255
};

/* So many masters, each with a replica; all know everything. */
void nodes_open(unsigned masters);

unsigned nodes_slot(const char* key, size_t size);

bool nodes_is_member(unsigned node);
bool nodes_is_master(unsigned node);
unsigned nodes_slot_count(unsigned node);
int nodes_first_slot(unsigned node); /* -1: it has none */
unsigned nodes_owner(unsigned slot); /* NODES_NOBODY: nobody */
int nodes_replica(unsigned master);  /* the running one; -1: none is */
long long nodes_epoch(void);

/* Whoever runs knows everything, everybody runs, and each replica is fed. */
bool nodes_have_settled(void);

/* A node was killed or frozen; it was started again or thawed. */
void nodes_note_lost(unsigned node);
void nodes_note_started(unsigned node);
void nodes_note_thawed(unsigned node);

/* The replica takes over. Planned: it has all that the master has, who hears of it at once. */
void nodes_replace(unsigned master, bool planned);

/* A slot on its way: opened, keys moved (at most so many; returns how many are left), given to the other, or closed. */
void nodes_open_slot(unsigned slot, unsigned to);
size_t nodes_move_keys(unsigned slot, unsigned from, unsigned to, size_t most);
void nodes_give_slot(unsigned slot, unsigned to);
void nodes_close_slot(unsigned slot);

/* How many keys there are in each slot of that node. */
void nodes_count_keys(unsigned node, uint16_t counts[NODES_SLOTS]);

/* One joins, as a master without slots; it leaves, once it has none. -1: there is no room. */
int nodes_add(void);
void nodes_remove(unsigned node);

#endif
