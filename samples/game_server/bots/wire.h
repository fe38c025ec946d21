/* wire.h -- the bots' side of the network: a connection for each bot, by its number, on a few ENet hosts. */

#ifndef GAME_SERVER_WIRE_H
#define GAME_SERVER_WIRE_H

#include "messages.h"

typedef struct wire wire;

/* NULL: it was said on stderr why not. */
wire* wire_open(uint32_t bot_count);
void wire_close(wire* w);

/* To a server on this machine. False: no connection is free, because old ones still end; try again. */
bool wire_connect(wire* w, uint32_t bot, uint32_t port);

/* Silently nothing if the connection has ended. */
void wire_send(wire* w, uint32_t bot, const message* m);

/* Ends the connection, at once or after what was sent before has arrived; there is no event for that. */
void wire_hang_up(wire* w, uint32_t bot, bool at_once);

typedef enum wire_event_kind
{
    WIRE_CONNECTED = 1,
    WIRE_MESSAGE,
    WIRE_NONSENSE, /* bytes that are no message */
    WIRE_LOST      /* the connection has ended  */
} wire_event_kind;

typedef struct wire_event
{
    wire_event_kind kind;
    uint32_t bot;
    message message; /* its texts live until the next call */
} wire_event;

/* Never waits. False: nothing more has arrived. */
bool wire_next(wire* w, wire_event* event);

/* What was sent goes out. */
void wire_flush(wire* w);

#endif
