/* network.c -- ENet's peers, and the slots of those who have said who they are. */

#include "server/network.h"

#include <arpa/inet.h>
#include <enet/enet.h>
#include <stdio.h>
#include <stdlib.h>

#define EVENTS_MAX  512          /* in one frame: what comes faster waits with ENet      */
#define WAITING_MAX (256 * 1024) /* bytes that a player has not acknowledged, all together */

typedef struct slot
{
    ENetPeer* peer;  /* NULL: the connection has ended         */
    uint32_t number; /* its own                                */
    bool taken;      /* from ENTER to network_free             */
    size_t waiting;  /* bytes that the player has yet to take  */
    uint32_t next_free;
} slot;

struct network
{
    ENetHost* host;
    ENetPacket* packet; /* of the event that was handed out last */
    uint32_t events;    /* in this frame                         */
    uint32_t slot_count;
    uint32_t first_free; /* slot_count: none */
    slot slots[];
};

/* ---- Open and close ------------------------------------------------------------------------------------ */

network* network_open(uint32_t port, uint32_t players_max)
{
    network* n = calloc(1, sizeof *n + players_max * sizeof n->slots[0]);
    if (n == NULL || enet_initialize() != 0)
    {
        fputs("network: no memory\n", stderr);
        free(n);
        return NULL;
    }
    ENetAddress address = {.host = htonl(INADDR_LOOPBACK), .port = (enet_uint16)port};
    n->host = enet_host_create(&address, players_max, MESSAGE_CHANNELS, 0, 0);
    if (n->host == NULL)
    {
        fprintf(stderr, "network: cannot listen on UDP port %u\n", port);
        enet_deinitialize();
        free(n);
        return NULL;
    }
    n->host->maximumPacketSize = MESSAGE_SIZE_MAX; /* a larger one ends its connection */
    n->host->maximumWaitingData = 16 * MESSAGE_SIZE_MAX;
    n->slot_count = players_max;
    for (uint32_t i = 0; i < players_max; i++) n->slots[i] = (slot){.number = i, .next_free = i + 1};
    return n;
}

void network_close(network* n)
{
    if (n->packet != NULL) enet_packet_destroy(n->packet);
    for (uint32_t i = 0; i < n->slot_count; i++)
    {
        if (n->slots[i].peer != NULL) enet_peer_disconnect_now(n->slots[i].peer, 0);
    }
    enet_host_destroy(n->host);
    enet_deinitialize();
    free(n);
}

uint32_t network_port(const network* n)
{
    return n->host->address.port;
}

/* ---- Slots --------------------------------------------------------------------------------------------- */

static slot* take_slot(network* n, ENetPeer* peer)
{
    if (n->first_free == n->slot_count) return NULL;
    slot* s = &n->slots[n->first_free];
    n->first_free = s->next_free;
    s->peer = peer;
    s->taken = true;
    peer->data = s;
    return s;
}

static void part(slot* s)
{
    if (s->peer != NULL) s->peer->data = NULL;
    s->peer = NULL;
}

void network_end(network* n, uint32_t number)
{
    slot* s = &n->slots[number];
    if (s->peer != NULL) enet_peer_disconnect_later(s->peer, 0);
    part(s);
}

void network_free(network* n, uint32_t number)
{
    slot* s = &n->slots[number];
    network_end(n, number);
    s->taken = false;
    s->next_free = n->first_free;
    n->first_free = number;
}

/* ---- In ------------------------------------------------------------------------------------------------ */

/* Who has no slot yet has to enter. */
static bool take_message(network* n, ENetPeer* peer, network_event* event)
{
    slot* s = peer->data;
    if (peer->state != ENET_PEER_STATE_CONNECTED) return false; /* its last words, after we have hung up */
    bool good = message_read(&event->message, n->packet->data, n->packet->dataLength);
    if (good && s == NULL && event->message.type == MESSAGE_ENTER) s = take_slot(n, peer);
    if (good && s != NULL)
    {
        event->slot = s->number;
        return true;
    }
    /* Nonsense, or the house is full: the end of the connection is the answer. */
    if (s == NULL) enet_peer_disconnect(peer, 0);
    if (s == NULL) return false;
    enet_peer_reset(peer);
    part(s);
    *event = (network_event){.slot = s->number, .gone = true};
    return true;
}

static bool take_event(network* n, const ENetEvent* from, network_event* event)
{
    slot* s = from->peer->data;
    switch (from->type)
    {
    case ENET_EVENT_TYPE_RECEIVE: n->packet = from->packet; return take_message(n, from->peer, event);
    case ENET_EVENT_TYPE_DISCONNECT:
        if (s == NULL) return false;
        part(s);
        event->slot = s->number;
        event->gone = true;
        return true;
    case ENET_EVENT_TYPE_CONNECT: from->peer->data = NULL; return false;
    case ENET_EVENT_TYPE_NONE: return false;
    }
    return false;
}

bool network_next(network* n, network_event* event)
{
    ENetEvent from;
    *event = (network_event){0};
    if (n->packet != NULL) enet_packet_destroy(n->packet);
    n->packet = NULL;
    while (n->events++ < EVENTS_MAX && enet_host_service(n->host, &from, 0) > 0)
    {
        if (take_event(n, &from, event)) return true;
        if (n->packet != NULL) enet_packet_destroy(n->packet);
        n->packet = NULL;
    }
    return false;
}

/* ---- Out ----------------------------------------------------------------------------------------------- */

/* The player has it, or is gone. */
static void on_packet_done(ENetPacket* packet)
{
    slot* s = packet->userData;
    s->waiting -= packet->dataLength;
}

void network_send(network* n, uint32_t number, const message* m)
{
    slot* s = &n->slots[number];
    unsigned char bytes[MESSAGE_SIZE_MAX];
    if (s->peer == NULL) return;
    size_t size = message_write(m, bytes);
    ENetPacket* packet = size == 0 ? NULL : enet_packet_create(bytes, size, ENET_PACKET_FLAG_RELIABLE);
    if (packet == NULL) return;
    packet->userData = s;
    packet->freeCallback = on_packet_done;
    s->waiting += size;
    if (s->waiting <= WAITING_MAX && enet_peer_send(s->peer, 0, packet) == 0) return;
    enet_packet_destroy(packet);
    enet_peer_disconnect(s->peer,
                         0); /* forgets what is queued; the event comes when the player has heard of it, or not */
}

void network_flush(network* n)
{
    enet_host_flush(n->host);
    n->events = 0;
}
