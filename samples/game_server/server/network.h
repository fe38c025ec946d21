/* network.h -- the players' side of a game server: an ENet host, polled once a frame. Each connection has a slot,
   0 .. players_max - 1, from its ENTER to its end. */

#ifndef GAME_SERVER_NETWORK_H
#define GAME_SERVER_NETWORK_H

#include "messages.h"

typedef struct network network;

/* Sends to the player of a slot; silently nothing if it is gone. What does not fit ENet's buffers ends the connection. */
void network_send(network* n, uint32_t slot, const message* m);

#endif
