/* network.h -- the players' side of a game server: an ENet host, polled once a frame. Each connection has a
   slot, 0 .. players_max - 1, from its ENTER on; the slot stays taken until network_free, because what the
   player has begun outlives the connection.

   Each frame:   network_next ... until false --> (network_send ...) --> network_flush */

#ifndef GAME_SERVER_NETWORK_H
#define GAME_SERVER_NETWORK_H

#include "messages.h"

typedef struct network network;

/* On the loopback interface; port 0: any. NULL: it was said on stderr why not. */
network* network_open(uint32_t port, uint32_t players_max);
void network_close(network* n);

uint32_t network_port(const network* n);

typedef struct network_event
{
    uint32_t slot;
    bool gone;       /* the connection has ended, and nothing can be sent to the slot any more */
    message message; /* if not; its texts live until the next call. The first of a slot is ENTER */
} network_event;

/* What has arrived, one after the other; never waits. False: nothing more, or enough for one frame. */
bool network_next(network* n, network_event* event);

/* Sends to the player of a slot; silently nothing if it is gone. A player who lets too much pile up is gone
   soon. */
void network_send(network* n, uint32_t slot, const message* m);

/* What was sent before goes out, then the connection ends; there is no event for that. */
void network_end(network* n, uint32_t slot);

/* The slot may be somebody else's from now on. */
void network_free(network* n, uint32_t slot);

/* The end of a frame: what it has said goes out. */
void network_flush(network* n);

#endif
