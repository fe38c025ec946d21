/* front.h -- with --cluster and --sentinel: a whole fleet in the place of the one server that a test asks for.

       test --- redis_server_start(NULL) ---> front ---> 3 masters and their replicas, or a master, a replica, Sentinels

       client --- "unix:/path" ---> front_find ---> seeds, and a topology        support/scene/fronted.h
       client --- a proxy -------> the same, and for each node the door by which the proxy leads there
       audit ---- "HGET key f" ---> the node that has the key's slot
       audit ---- "FLUSHALL" -----> all masters; whole numbers are added up, lists and texts are put together

   A start takes seconds, so a fleet is used by one test after the other: it is emptied, and gets back the settings,
   users and clock that it had. Its nodes take none of them for lost for a long time, so that a machine which stands
   still has no failovers. Nobody kills or freezes one: tests that do are in apart.c. */

#ifndef GUILDHALL_TESTS_FRONT_H
#define GUILDHALL_TESTS_FRONT_H

#include "support/server/redis_server.h"

#define FRONT_ADDRESS_SIZE 128
#define FRONT_NODES_MAX    8

typedef struct store_front store_front;

/* One that no other test uses, as empty as a new server. With `clock` front_shift_clock works. */
store_front* front_take(bool clock);
void front_give_back(store_front* front);

/* What clients connect to first. Valid until the end of the run. */
const char* front_seeds(store_front* front);

/* A command of a test; never NULL. */
redisReply* front_ask(store_front* front, const char* const* words, const size_t* sizes, size_t count);

/* Keys, with all epochs for one. */
long long front_keys(store_front* front);

void front_shift_clock(store_front* front, int64_t offset_us);

/* Where there is one master alone, its "unix:/path"; else NULL. */
const char* front_only_master(const store_front* front);

/* The nodes that clients speak to: "127.0.0.1:PORT", or NULL behind the last. */
const char* front_node(store_front* front, size_t index);

/* ---- how clients find it ---------------------------------------------------------------------------- */

typedef struct front_way
{
    char address[FRONT_ADDRESS_SIZE];
    store_front* front;
    char doors[FRONT_NODES_MAX][FRONT_ADDRESS_SIZE]; /* by node; "": straight to it */
} front_way;

/* From now on the address leads to the fleet. The doors may be written into the result. */
front_way* front_way_add(const char* address, store_front* front);
void front_way_remove(const char* address);

/* NULL: none leads there. */
const front_way* front_find(const char* address);

#endif
