/* wire.h -- the bad network between players and store, a process of its own.

   Carries bytes both ways. On orders it holds the bytes of connections back, also when their client has long gone,
   and hands them to the server later: the late copies that a real network makes. */

#ifndef GUILDHALL_TESTS_STORM_WIRE_H
#define GUILDHALL_TESTS_STORM_WIRE_H

#include <stdbool.h>
#include <stdint.h>

enum
{
    WIRE_PATH_SIZE = 108,
    WIRE_DOORS = 12
};

typedef enum wire_what
{
    WIRE_CUT,    /* ends connections; abrupt: with a reset on TCP                                          */
    WIRE_HOLD,   /* keeps the bytes of a direction for so long, then passes them on. With sever_us the
                    client's side is closed that much later: the client connects anew, and its old bytes
                    reach the server at the end of the hold                                                */
    WIRE_SWALLOW,/* as hold, but the connection is cut in the end and the bytes are gone                   */
    WIRE_CHOP,   /* passes on a few bytes at a time                                                        */
    WIRE_SHUT,   /* accepts and closes new connections for so long                                         */
    WIRE_SERVER, /* new connections go to another server: path; the old ones are cut                       */
    WIRE_LAG,    /* holds what the primary says to its replica, until WIRE_CUT_LAG                         */
    WIRE_UPSTREAM_OF_REPLICA, /* which server (port) the replica's entrance leads to                       */
    WIRE_UPSTREAM_OF_DOOR, /* the same for a door; the door's connections are cut                         */
    WIRE_HEAL    /* ends all of that: what is held is passed on                                            */
} wire_what;

typedef enum wire_way
{
    WIRE_REQUESTS = 0,
    WIRE_REPLIES = 1,
    WIRE_BOTH = 2
} wire_way;

typedef struct wire_order
{
    wire_what what;
    wire_way way;
    bool abrupt;
    bool outlasts;      /* WIRE_HOLD: WIRE_HEAL does not end it, nor any other order; of the simulator alone */
    uint32_t share;     /* of 1000 connections */
    uint32_t size;      /* of a piece, WIRE_CHOP */
    uint16_t port;
    uint16_t door;
    uint64_t for_us;
    uint64_t sever_us;  /* 0: never */
    uint64_t seed;      /* which connections */
    char path[WIRE_PATH_SIZE];
} wire_order;

/* Starts the process in front of the server at that path. */
void wire_start(const char* server_path, const char* folder);
void wire_do(wire_order order);

/* What players connect to: by unix socket or by TCP. */
const char* wire_address(bool tcp);

/* Where a replica connects to. */
uint16_t wire_replica_port(void);

/* Entrances to nodes of a Cluster, 0 .. WIRE_DOORS - 1, each to one of them. Replicas come through them too, which look
   for their master where it says that it is: they begin with PING, and are let through as if there was no wire. */
const char* wire_door_address(unsigned door);
uint16_t wire_door_port(unsigned door);

#endif
