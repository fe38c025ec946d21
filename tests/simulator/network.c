/* network.c -- moves bytes between clients and store, piece by piece. */

#include "simulator/events.h"
#include "simulator/network_inside.h"
#include "storm/history.h"

#include <stdlib.h>
#include <string.h>

enum
{
    PIECE_MOST = 64 * 1024
};

network_state network;

void network_open(void)
{
    for (unsigned i = 0; i < network.most; i++)
    {
        for (int way = 0; way < 2; way++)
        {
            free(network.links[i].flows[way].bytes);
            free(network.links[i].flows[way].pieces);
        }
        memset(&network.links[i], 0, sizeof network.links[i]);
    }
    network.most = network.made = network.server = network.chop_size = 0;
    network.shut_until_us = network.chop_until_us = 0;
    memset(network.told, 0, sizeof network.told);
}

/* ---- a direction ----------------------------------------------------------------------------------------- */

static void* grown(void* memory, size_t size)
{
    memory = realloc(memory, size);
    if (memory == NULL) abort();
    return memory;
}

static void append_bytes(network_flow* flow, const void* bytes, size_t size)
{
    if (flow->begin == flow->end) flow->begin = flow->end = 0;
    if (flow->end + size > flow->room && flow->begin > 0)
    {
        memmove(flow->bytes, flow->bytes + flow->begin, flow->end - flow->begin);
        flow->end -= flow->begin;
        flow->begin = 0;
    }
    if (flow->end + size > flow->room)
    {
        flow->room = (flow->end + size) * 2 + 1024;
        flow->bytes = grown(flow->bytes, flow->room);
    }
    memcpy(flow->bytes + flow->end, bytes, size);
    flow->end += size;
}

/* A piece never overtakes the one before it. */
static void append_piece(network_flow* flow, uint64_t at_us, size_t size)
{
    if (flow->count == 0) flow->first = 0;
    network_piece* last = flow->count == 0 ? NULL : &flow->pieces[flow->first + flow->count - 1];
    if (last != NULL && last->at_us >= at_us)
    {
        last->size += size;
        return;
    }
    if (flow->first + flow->count == flow->pieces_room && flow->first > 0)
    {
        memmove(flow->pieces, flow->pieces + flow->first, flow->count * sizeof flow->pieces[0]);
        flow->first = 0;
    }
    if (flow->first + flow->count == flow->pieces_room)
    {
        flow->pieces_room = flow->pieces_room * 2 + 8;
        flow->pieces = grown(flow->pieces, flow->pieces_room * sizeof flow->pieces[0]);
    }
    flow->pieces[flow->first + flow->count++] = (network_piece){at_us, size};
}

static uint64_t draw_delay(network_link* link)
{
    uint64_t delay_us = link->delay_us + random_below(&link->random, link->delay_us / 2 + 1);
    return random_one_in(&link->random, 64) ? delay_us * 4 : delay_us;
}

static size_t draw_size(network_link* link, size_t size)
{
    size_t most = history_now() < network.chop_until_us ? network.chop_size : PIECE_MOST;
    if (size > 1 && random_one_in(&link->random, 16)) size = random_between(&link->random, 1, size - 1);
    return size < most ? size : most;
}

void network_put(network_link* link, wire_way way, const void* bytes, size_t size)
{
    network_flow* flow = &link->flows[way];
    const char* at = bytes;
    uint64_t at_us = history_now();
    if (flow->ended || (way == WIRE_REPLIES && (link->closed || link->severed))) return;
    while (size > 0)
    {
        size_t part = draw_size(link, size);
        at_us += draw_delay(link);
        append_bytes(flow, at, part);
        append_piece(flow, at_us, part);
        at += part;
        size -= part;
    }
}

size_t network_arrived(const network_flow* flow)
{
    uint64_t now_us = history_now();
    if (flow->count == 0 || flow->held_until_us > now_us || flow->pieces[flow->first].at_us > now_us) return 0;
    size_t size = flow->pieces[flow->first].size;
    return size < flow->cut_after ? size : (size_t)flow->cut_after;
}

void network_drop(network_flow* flow, size_t size)
{
    flow->begin += size;
    if (flow->cut_after != UINT64_MAX) flow->cut_after -= size;
    network_piece* piece = &flow->pieces[flow->first];
    piece->size -= size;
    if (piece->size > 0) return;
    flow->first++;
    flow->count--;
}

static void empty(network_flow* flow)
{
    flow->begin = flow->end = 0;
    flow->first = flow->count = 0;
}

/* ---- ends ------------------------------------------------------------------------------------------------- */

void network_release(network_link* link)
{
    if (!link->closed || link->far != NULL || !link->used) return;
    link->used = false;
    empty(&link->flows[WIRE_REQUESTS]);
    empty(&link->flows[WIRE_REPLIES]);
}

static void end_far(network_link* link)
{
    if (link->far != NULL) gh_store_disconnect(link->far);
    link->far = NULL;
    link->flows[WIRE_REQUESTS].ended = true;
    link->flows[WIRE_REPLIES].ended = true;
    empty(&link->flows[WIRE_REQUESTS]);
    network_release(link);
}

void network_sever(network_link* link)
{
    link->severed = true;
    link->flows[WIRE_REQUESTS].ended = true;
    empty(&link->flows[WIRE_REPLIES]);
    network_move(link);
}

void network_cut(network_link* link)
{
    link->severed = true;
    empty(&link->flows[WIRE_REPLIES]);
    end_far(link);
}

/* ---- requests and replies --------------------------------------------------------------------------------- */

/* The number tells a link from the next one in its place. */
static void look_again(void* context, uint64_t number)
{
    network_link* link = context;
    if (!link->used || link->number != number) return;
    link->flows[WIRE_REQUESTS].awaited = false;
    network_move(link);
}

static void await(network_link* link, uint64_t at_us)
{
    if (link->flows[WIRE_REQUESTS].awaited) return;
    link->flows[WIRE_REQUESTS].awaited = true;
    events_at(at_us, look_again, link, link->number);
}

static void collect_from(network_link* link)
{
    char bytes[16 * 1024];
    for (size_t size; (size = gh_store_take(link->far, bytes, sizeof bytes)) > 0;)
        network_put(link, WIRE_REPLIES, bytes, size);
    if (gh_store_is_closed(link->far)) end_far(link);
}

/* Others than who asked may have something to get. */
static bool has_told(unsigned server)
{
    return network.told[server] != gh_store_told(server_store(server));
}

static void feed(network_link* link, size_t size)
{
    network_flow* flow = &link->flows[WIRE_REQUESTS];
    server_feed(link->server, link->far, flow->bytes + flow->begin, size);
    network_drop(flow, size);
    if (has_told(link->server)) network_collect(link->server);
    else if (link->far != NULL) collect_from(link);
}

/* When there is something to do; UINT64_MAX: never. */
static uint64_t due(const network_flow* flow)
{
    if (flow->count == 0) return flow->ended ? flow->held_until_us : UINT64_MAX;
    uint64_t at_us = flow->pieces[flow->first].at_us;
    return flow->held_until_us > at_us ? flow->held_until_us : at_us;
}

uint64_t network_next_ancient_us(void)
{
    uint64_t next_us = UINT64_MAX;
    for (unsigned i = 0; i < network.most; i++)
    {
        const network_link* link = &network.links[i];
        const network_flow* flow = &link->flows[WIRE_REQUESTS];
        if (!link->used || link->far == NULL || !flow->outlasts || flow->count == 0) continue;
        if (due(flow) < next_us) next_us = due(flow);
    }
    return next_us;
}

void network_move(network_link* link)
{
    network_flow* flow = &link->flows[WIRE_REQUESTS];
    while (link->far != NULL && !server_stands_still(link->server))
    {
        uint64_t at_us = due(flow);
        if (at_us == UINT64_MAX) return;
        if (at_us > history_now())
        {
            await(link, at_us);
            return;
        }
        if (flow->swallow) network_cut(link);
        else if (flow->count == 0) end_far(link);
        else if (flow->cut_after == 0) network_cut(link);
        else feed(link, network_arrived(flow));
    }
}

/* ---- what was not asked for ------------------------------------------------------------------------------- */

void network_collect(unsigned server)
{
    if (!has_told(server)) return;
    network.told[server] = gh_store_told(server_store(server));
    for (unsigned i = 0; i < network.most; i++)
    {
        network_link* link = &network.links[i];
        if (link->used && link->far != NULL && link->server == server) collect_from(link);
    }
}

/* ---- servers ---------------------------------------------------------------------------------------------- */

/* Its links are gone; what it has said may arrive or not. */
void network_server_died(unsigned server)
{
    for (unsigned i = 0; i < network.most; i++)
    {
        network_link* link = &network.links[i];
        if (!link->used || link->far == NULL || link->server != server) continue;
        if (random_one_in(&link->random, 2)) network_cut(link);
        else end_far(link);
    }
}

void network_server_resumes(unsigned server)
{
    for (unsigned i = 0; i < network.most; i++)
    {
        network_link* link = &network.links[i];
        if (link->used && link->far != NULL && link->server == server) network_move(link);
    }
}

void network_lead_to(unsigned server)
{
    network.server = server;
    for (unsigned i = 0; i < network.most; i++)
    {
        network_link* link = &network.links[i];
        if (!link->used || link->far == NULL || link->server == server) continue;
        if (server_is_down(link->server)) network_cut(link);
        else network_sever(link); /* what was said to it comes there yet */
    }
}

bool network_who(const void* store_link, unsigned* host, unsigned* link)
{
    for (unsigned i = 0; i < network.most; i++)
    {
        if (!network.links[i].used || network.links[i].far != store_link) continue;
        *host = network.links[i].host->name;
        *link = network.links[i].number;
        return true;
    }
    return false;
}
