/* wire.c -- ENet hosts with the connections of the bots. Several hosts, because each has one socket, and its
   buffer in the kernel is small. */

#include "bots/wire.h"

#include <arpa/inet.h>
#include <enet/enet.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    BOTS_A_HOST = 128,
    PEERS_A_HOST = 2 * BOTS_A_HOST /* an old connection may end while the new one begins */
};

struct wire
{
    uint32_t host_count;
    ENetHost** hosts;
    ENetPeer** peers; /* of each bot; NULL: none */
    uint32_t host;    /* where wire_next goes on */
    ENetPacket* packet;
};

wire* wire_open(uint32_t bot_count)
{
    wire* w = calloc(1, sizeof *w);
    if (w == NULL || enet_initialize() != 0)
    {
        fputs("bots: no network\n", stderr);
        free(w);
        return NULL;
    }
    w->host_count = (bot_count + BOTS_A_HOST - 1) / BOTS_A_HOST;
    w->hosts = calloc(w->host_count, sizeof w->hosts[0]);
    w->peers = calloc(bot_count, sizeof w->peers[0]);
    bool good = w->hosts != NULL && w->peers != NULL;
    for (uint32_t i = 0; good && i < w->host_count; i++)
    {
        w->hosts[i] = enet_host_create(NULL, PEERS_A_HOST, MESSAGE_CHANNELS, 0, 0);
        good = w->hosts[i] != NULL;
    }
    if (good) return w;
    fputs("bots: cannot open sockets\n", stderr);
    wire_close(w);
    return NULL;
}

void wire_close(wire* w)
{
    if (w->packet != NULL) enet_packet_destroy(w->packet);
    for (uint32_t i = 0; w->hosts != NULL && i < w->host_count; i++)
    {
        ENetHost* host = w->hosts[i];
        if (host == NULL) continue;
        for (size_t k = 0; k < host->peerCount; k++) enet_peer_disconnect_now(&host->peers[k], 0);
        enet_host_destroy(host);
    }
    free(w->hosts);
    free(w->peers);
    free(w);
    enet_deinitialize();
}

bool wire_connect(wire* w, uint32_t bot, uint32_t port)
{
    ENetAddress address = {.host = htonl(INADDR_LOOPBACK), .port = (enet_uint16)port};
    ENetPeer* peer = enet_host_connect(w->hosts[bot / BOTS_A_HOST], &address, MESSAGE_CHANNELS, 0);
    if (peer == NULL) return false;
    peer->data = &w->peers[bot];
    w->peers[bot] = peer;
    return true;
}

void wire_send(wire* w, uint32_t bot, const message* m)
{
    unsigned char bytes[MESSAGE_SIZE_MAX];
    if (w->peers[bot] == NULL) return;
    size_t size = message_write(m, bytes);
    ENetPacket* packet = size == 0 ? NULL : enet_packet_create(bytes, size, ENET_PACKET_FLAG_RELIABLE);
    if (packet != NULL && enet_peer_send(w->peers[bot], 0, packet) != 0) enet_packet_destroy(packet);
}

/* From here on the peer is nobody's. */
static void part(ENetPeer* peer)
{
    ENetPeer** owner = peer->data;
    if (owner != NULL) *owner = NULL;
    peer->data = NULL;
}

void wire_hang_up(wire* w, uint32_t bot, bool at_once)
{
    ENetPeer* peer = w->peers[bot];
    if (peer == NULL) return;
    part(peer);
    if (at_once) enet_peer_disconnect(peer, 0);
    else enet_peer_disconnect_later(peer, 0);
}

/* False: it concerns nobody any more. */
static bool take(wire* w, const ENetEvent* from, wire_event* event)
{
    ENetPeer** owner = from->peer->data;
    if (owner != NULL) event->bot = (uint32_t)(owner - w->peers);
    switch (from->type)
    {
    case ENET_EVENT_TYPE_CONNECT: event->kind = WIRE_CONNECTED; break;
    case ENET_EVENT_TYPE_DISCONNECT:
        event->kind = WIRE_LOST;
        part(from->peer);
        break;
    case ENET_EVENT_TYPE_RECEIVE:
        w->packet = from->packet;
        bool good = message_read(&event->message, w->packet->data, w->packet->dataLength);
        event->kind = good ? WIRE_MESSAGE : WIRE_NONSENSE;
        break;
    case ENET_EVENT_TYPE_NONE: return false;
    }
    return owner != NULL;
}

bool wire_next(wire* w, wire_event* event)
{
    ENetEvent from;
    for (; w->host < w->host_count; w->host++)
    {
        for (;;)
        {
            if (w->packet != NULL) enet_packet_destroy(w->packet);
            w->packet = NULL;
            if (enet_host_service(w->hosts[w->host], &from, 0) <= 0) break;
            if (take(w, &from, event)) return true;
        }
    }
    w->host = 0;
    return false;
}

void wire_flush(wire* w)
{
    for (uint32_t i = 0; i < w->host_count; i++) enet_host_flush(w->hosts[i]);
}
