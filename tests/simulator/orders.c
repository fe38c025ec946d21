/* orders.c -- what the storm's nemesis does to the network, as storm/wire.h has it. */

#include "simulator/events.h"
#include "simulator/network_inside.h"
#include "simulator/replication.h"
#include "storm/history.h"

enum
{
    CUT_MOST = 300 /* bytes that are still passed on by a link that is cut in the middle of what is said */
};

/* The number tells a link from the next one in its place. */
static void sever_later(void* context, uint64_t number)
{
    network_link* link = context;
    if (link->used && link->number == number && !link->severed) network_sever(link);
}

static void move_later(void* context, uint64_t number)
{
    network_link* link = context;
    if (link->used && link->number == number) network_move(link);
}

static void hold(network_link* link, const wire_order* order)
{
    uint64_t until_us = history_now() + order->for_us;
    for (int way = 0; way < 2; way++)
    {
        if (order->way != WIRE_BOTH && (int)order->way != way) continue;
        if (link->flows[way].outlasts) continue;
        link->flows[way].held_until_us = until_us;
        link->flows[way].swallow = order->what == WIRE_SWALLOW;
        link->flows[way].outlasts = order->outlasts;
    }
    events_at(until_us, move_later, link, link->number);
    if (order->sever_us != 0) events_at(history_now() + order->sever_us, sever_later, link, link->number);
}

/* At once, or in the middle of the next words. */
static void cut(network_link* link, random_stream* random)
{
    uint64_t where = random_below(random, 4);
    if (where < 2) network_cut(link);
    else link->flows[where - 2].cut_after = random_below(random, CUT_MOST);
}

static void to_some(const wire_order* order)
{
    random_stream random = random_from_seed(order->seed);
    unsigned most = network.most;
    for (unsigned i = 0; i < most; i++)
    {
        network_link* link = &network.links[i];
        random_stream own = random_from_seed(random_next(&random));
        bool chosen = random_below(&own, 1000) < order->share;
        if (!chosen || !link->used || link->severed || link->far == NULL || link->host->perfect) continue;
        if (order->what == WIRE_CUT) cut(link, &own);
        else hold(link, order);
    }
}

static void heal(void)
{
    network.shut_until_us = network.chop_until_us = 0;
    for (unsigned i = 0; i < network.most; i++)
    {
        network_link* link = &network.links[i];
        if (!link->used) continue;
        for (int way = 0; way < 2; way++)
        {
            link->flows[way].cut_after = UINT64_MAX;
            if (!link->flows[way].outlasts) link->flows[way].held_until_us = 0;
        }
        events_at(history_now(), move_later, link, link->number);
    }
}

void wire_do(wire_order order)
{
    switch (order.what)
    {
    case WIRE_CUT:
    case WIRE_HOLD:
    case WIRE_SWALLOW: to_some(&order); break;
    case WIRE_CHOP:
        network.chop_until_us = history_now() + order.for_us;
        network.chop_size = order.size;
        break;
    case WIRE_SHUT: network.shut_until_us = history_now() + order.for_us; break;
    case WIRE_HEAL: heal(); break;
    case WIRE_LAG: replication_hold(1 - server_primary()); break;
    case WIRE_SERVER:
    case WIRE_UPSTREAM_OF_REPLICA:
    case WIRE_UPSTREAM_OF_DOOR: break; /* of processes alone */
    }
}
