/* replication.h -- replicas: what a master has done reaches them a little later, and what was under way when it died
   never does.

   A replica holds what its master has told it so far, transaction by transaction; it refuses writes, and knows no
   scripts but those that it was sent itself. */

#ifndef GUILDHALL_TESTS_SIMULATOR_REPLICATION_H
#define GUILDHALL_TESTS_SIMULATOR_REPLICATION_H

#include "support/random.h"

#include <stdbool.h>
#include <stdint.h>

/* Nobody follows anybody. With the bus of a Cluster, what is published on one server is heard on all. */
void replication_open(bool with_bus);

/* The server forgets what it has and becomes a replica: at first of nothing, until it has got a copy of all. */
void replication_follow(unsigned replica, unsigned master);

/* It is a master from here on, with what it has. */
void replication_promote(unsigned replica);

/* It carries out all that is under way. */
void replication_catch_up(unsigned replica);

/* -1: it is a master. */
int replication_master(unsigned server);

/* It has had its copy of all, and is fed. */
bool replication_is_fed(unsigned replica);

/* There is nothing under way to any of them that runs; false too where it has none. */
bool replication_has_all(unsigned master);

/* What is told from now on does not arrive, until it is promoted. */
void replication_hold(unsigned replica);

/* A key goes from one master to another, and so it does with their replicas. */
void replication_move_key(unsigned from, unsigned to, const char* key, unsigned size);

#endif
