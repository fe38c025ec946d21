/* seats.h -- who plays on this server: a seat is a permit of a semaphore, so there is a line in front of a
   full server, and a lock of the player, so that nobody plays on two servers at once.

       ENTER --> WAITING for a permit --> LOCKING the player --> LOADING the bag --> IN --> LEAVING --> GIVING
                  |    ^                                                                 ^              back
                  '----' QUEUED: place in line                LEAVE, the connection's end, permit or lock lost

   Who leaves has finished what was under way before the lock goes: so the next server finds it done. */

#ifndef GAME_SERVER_SEATS_H
#define GAME_SERVER_SEATS_H

#include "server/trade.h"

enum
{
    SEATS_OPS = 2 /* of the client that a player can have under way: a permit, a lock */
};

typedef struct seats seats;

typedef struct seats_config
{
    gh_client* client;
    network* network;
    trade* trade;
    social* social;
    board_row* row; /* players, queued, and counts */
    uint32_t players_max;
    uint32_t seat_count; /* permits                */
    const char* server;  /* the name of this server */
} seats_config;

/* NULL: no memory. */
seats* seats_open(const seats_config* config);
void seats_close(seats* s);

/* False: not one of ours, and the player is in: it is for others. */
bool seats_message(seats* s, uint32_t slot, const message* m);

/* The connection has ended. */
void seats_gone(seats* s, uint32_t slot);

/* All have to leave, and nobody comes in any more. */
void seats_empty(seats* s);
bool seats_are_empty(const seats* s);

void seats_frame(seats* s, uint64_t now_us);

#endif
