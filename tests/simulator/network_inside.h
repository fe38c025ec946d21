/* network_inside.h -- a link: shared by network.c, which moves bytes, streams.c, which is its end at a client, and
   orders.c, which does to it what the nemesis wants. */

#ifndef GUILDHALL_TESTS_SIMULATOR_NETWORK_INSIDE_H
#define GUILDHALL_TESTS_SIMULATOR_NETWORK_INSIDE_H

#include "simulator/network.h"
#include "simulator/server.h"
#include "storm/wire.h"

enum
{
    NETWORK_LINKS = 1024
};

/* Bytes that arrive together. */
typedef struct network_piece
{
    uint64_t at_us;
    size_t size;
} network_piece;

/* One direction: pieces in their order, and their bytes behind one another. */
typedef struct network_flow
{
    char* bytes;
    size_t begin;
    size_t end;
    size_t room;
    network_piece* pieces;
    size_t first;
    size_t count;
    size_t pieces_room;
    uint64_t held_until_us;
    uint64_t cut_after; /* so many bytes more, and the link is cut; UINT64_MAX: it is not */
    bool swallow;       /* what is held will not be passed on */
    bool outlasts;      /* it is held for so long whatever is ordered meanwhile */
    bool ended;         /* who talks has ended, behind the last byte */
    bool awaited;       /* an event will look at it */
} network_flow;

typedef struct network_link
{
    bool used;
    bool closed;  /* by its client */
    bool severed; /* its client is told that it has ended */
    bool refused;
    unsigned number; /* the how-manieth of the run */
    unsigned server;
    network_host* host;
    gh_store_link* far; /* NULL: the store's end is gone */
    uint64_t connect_us;
    uint64_t delay_us;
    random_stream random;
    network_flow flows[2]; /* by wire_way */
} network_link;

typedef struct network_state
{
    network_link links[NETWORK_LINKS];
    unsigned most; /* all links that are used lie below */
    unsigned made;
    unsigned server;
    uint64_t told[SERVERS_MAX]; /* gh_store_told when the server's links were last looked at */
    uint64_t shut_until_us;
    uint64_t chop_until_us;
    uint32_t chop_size;
} network_state;

extern network_state network;

/* Bytes set out on their way; nothing comes of it where the direction has ended. */
void network_put(network_link* link, wire_way way, const void* bytes, size_t size);

/* Takes the first bytes of a direction away, once they have been read. */
void network_drop(network_flow* flow, size_t size);

/* How many bytes of the first piece have arrived and may be read. */
size_t network_arrived(const network_flow* flow);

/* Requests go to the store as far as they have arrived, now and later. */
void network_move(network_link* link);

/* Both ends are gone at once, and what was under way. */
void network_cut(network_link* link);

/* The client's end is gone; what it has said is under way. */
void network_sever(network_link* link);

/* The link is forgotten when nobody needs it any more. */
void network_release(network_link* link);

#endif
