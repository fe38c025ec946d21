/* streams.c -- the platform of a host: its clock, its entropy, and its ends of links. */

#include "simulator/network_inside.h"
#include "storm/history.h"
#include "storm/storm.h"

#include <stdlib.h>
#include <string.h>

enum
{
    WINDOW = 256 * 1024, /* so many bytes may be under way before a send has to wait */
    AHEAD_MOST_US = 2000000000,
    UNEVEN_MOST = 3000, /* leases are counted with a hundredth to spare: lock.h */
    HANGS_US = 20000000
};

/* ---- the host --------------------------------------------------------------------------------------------- */

uint64_t network_clock(const network_host* host)
{
    int64_t now_us = (int64_t)history_now();
    return host->ahead_us + (uint64_t)(now_us + now_us / 1000000 * host->uneven);
}

static uint64_t now_us(void* context)
{
    network_host* host = context;
    host->spent_us += 1 + random_below(&host->random, 20);
    return network_clock(host) + host->spent_us;
}

static bool entropy(void* context, void* bytes, size_t size)
{
    network_host* host = context;
    random_fill(&host->random, bytes, size);
    return true;
}

/* ---- streams ---------------------------------------------------------------------------------------------- */

static network_link* link_of(intptr_t stream)
{
    return &network.links[stream];
}

static network_link* free_link(void)
{
    for (unsigned i = 0; i < NETWORK_LINKS; i++)
    {
        if (network.links[i].used) continue;
        if (i >= network.most) network.most = i + 1;
        return &network.links[i];
    }
    return NULL;
}

static void clear(network_link* link)
{
    for (int way = 0; way < 2; way++)
    {
        network_flow kept = link->flows[way];
        link->flows[way] = (network_flow){.bytes = kept.bytes,
                                          .room = kept.room,
                                          .pieces = kept.pieces,
                                          .pieces_room = kept.pieces_room,
                                          .cut_after = UINT64_MAX};
    }
    link->closed = link->severed = link->refused = false;
    link->far = NULL;
}

/* Near, in the same city, or far away. */
static uint64_t draw_distance(random_stream* random)
{
    switch (random_below(random, 16))
    {
    case 0: return random_between(random, 3000, 20000);
    case 1:
    case 2:
    case 3: return random_between(random, 300, 3000);
    default: return random_between(random, 20, 300);
    }
}

static void begin_link(network_link* link, network_host* host, const gh_address* address)
{
    clear(link);
    link->used = true;
    link->number = ++network.made;
    link->host = host;
    link->server = address->kind == GH_ADDRESS_UNIX ? network.server : (unsigned)(address->port - SERVER_PORT);
    link->random = random_from_seed(random_next(&host->random));
    link->delay_us = host->perfect ? 10 : draw_distance(&link->random);
    link->connect_us = history_now() + link->delay_us * 2;
}

static void let_in(network_link* link)
{
    static const char full[] = "-ERR max number of clients reached\r\n";
    if (!server_is_full(link->server) || link->host->perfect)
    {
        link->far = gh_store_connect(server_store(link->server));
        network_collect(link->server);
        return;
    }
    network_put(link, WIRE_REPLIES, full, sizeof full - 1);
    link->flows[WIRE_REQUESTS].ended = link->flows[WIRE_REPLIES].ended = true;
}

static gh_status open_stream(void* context, const gh_address* address, intptr_t* stream)
{
    network_host* host = context;
    network_link* link = free_link();
    if (link == NULL) return GH_REFUSED;
    begin_link(link, host, address);
    bool shut = history_now() < network.shut_until_us && !host->perfect;
    link->refused = shut || server_is_down(link->server);
    /* Where nobody listens, nobody answers either, now and then. */
    if (link->refused && random_one_in(&link->random, 8)) link->connect_us += HANGS_US;
    if (link->refused && random_one_in(&link->random, 2))
    {
        link->used = false;
        return GH_REFUSED;
    }
    if (!link->refused) let_in(link);
    *stream = link - network.links;
    return random_one_in(&link->random, 4) && !link->refused ? GH_OK : GH_PENDING;
}

static gh_status connected(void* context, intptr_t stream)
{
    (void)context;
    const network_link* link = link_of(stream);
    if (link->severed) return GH_REFUSED;
    if (history_now() < link->connect_us) return GH_PENDING;
    return link->refused ? GH_REFUSED : GH_OK;
}

static int64_t send_bytes(void* context, intptr_t stream, const void* bytes, size_t size)
{
    (void)context;
    network_link* link = link_of(stream);
    network_flow* flow = &link->flows[WIRE_REQUESTS];
    if (link->severed) return GH_STREAM_CLOSED;
    size_t under_way = flow->end - flow->begin;
    if (under_way >= WINDOW) return GH_STREAM_WOULD_BLOCK;
    if (size > WINDOW - under_way) size = WINDOW - under_way;
    if (size > 1 && random_one_in(&link->random, 32)) size = random_between(&link->random, 1, size - 1);
    network_put(link, WIRE_REQUESTS, bytes, size); /* of a far end that is gone, nobody has told the near one yet */
    network_move(link);
    return (int64_t)size;
}

static int64_t receive_bytes(void* context, intptr_t stream, void* bytes, size_t size)
{
    (void)context;
    network_link* link = link_of(stream);
    network_flow* flow = &link->flows[WIRE_REPLIES];
    if (link->severed) return GH_STREAM_CLOSED;
    size_t arrived = network_arrived(flow);
    if (flow->cut_after == 0 || (flow->swallow && flow->held_until_us <= history_now()))
    {
        network_cut(link);
        return GH_STREAM_CLOSED;
    }
    if (arrived == 0) return flow->count == 0 && flow->ended ? GH_STREAM_CLOSED : GH_STREAM_WOULD_BLOCK;
    if (arrived < size) size = arrived;
    if (size > 1 && random_one_in(&link->random, 32)) size = random_between(&link->random, 1, size - 1);
    memcpy(bytes, flow->bytes + flow->begin, size);
    network_drop(flow, size);
    return (int64_t)size;
}

static void close_stream(void* context, intptr_t stream)
{
    (void)context;
    network_link* link = link_of(stream);
    link->closed = true;
    network_sever(link);
    network_release(link);
}

/* ---- a life of it ----------------------------------------------------------------------------------------- */

void network_host_start(network_host* host, unsigned name, unsigned life, bool perfect)
{
    *host = (network_host){.name = name, .life = life, .perfect = perfect};
    host->random = storm_random("host", name, life, 0);
    host->ahead_us = random_below(&host->random, AHEAD_MOST_US);
    host->uneven = (int64_t)random_below(&host->random, 2 * UNEVEN_MOST + 1) - UNEVEN_MOST;
    if (perfect) host->ahead_us = 0;
    if (perfect) host->uneven = 0;
    host->platform = (gh_platform){.context = host,
                                   .now_us = now_us,
                                   .entropy = entropy,
                                   .open = open_stream,
                                   .connected = connected,
                                   .send = send_bytes,
                                   .receive = receive_bytes,
                                   .close = close_stream};
}

void network_host_end(const network_host* host)
{
    for (unsigned i = 0; i < network.most; i++)
    {
        network_link* link = &network.links[i];
        if (link->used && !link->closed && link->host == host) close_stream(NULL, (intptr_t)i);
    }
}

uint64_t network_next_us(const network_host* host)
{
    uint64_t next_us = UINT64_MAX;
    for (unsigned i = 0; i < network.most; i++)
    {
        const network_link* link = &network.links[i];
        const network_flow* flow = &link->flows[WIRE_REPLIES];
        if (!link->used || link->closed || link->host != host) continue;
        if (link->severed || (flow->count == 0 && flow->ended)) return history_now();
        if (link->connect_us > history_now() && link->connect_us < next_us) next_us = link->connect_us;
        if (flow->count > 0 && flow->pieces[flow->first].at_us < next_us) next_us = flow->pieces[flow->first].at_us;
    }
    return next_us;
}
