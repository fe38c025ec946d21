/* cast.c -- who is in the fleet. */

#include "cast.h"

#include "logs/sender.h"

#include <inttypes.h>
#include <stdio.h>

/* All share one machine here, but the bots stand for machines of their own, and nobody waits for the others:
   who is late in a frame are the servers. */
#define GIVES_WAY 10

static child* add_child(children* all, const run_folder* folder, const char* role, uint32_t number, bool kept)
{
    char name[24];
    snprintf(name, sizeof name, "%s-%" PRIu32, role, number);
    child* c = children_add(all, role, name, all->count + 1, kept);
    child_argument(c, "--name"), child_argument(c, "%s", name);
    child_argument(c, "--board"), child_argument(c, "%s", folder->board);
    child_argument(c, "--slot"), child_argument(c, "%" PRIu32, c->slot);
    return c;
}

static child* add_member(children* all, const options* o, const run_folder* folder, const char* role, uint32_t number,
                         bool kept)
{
    child* c = add_child(all, folder, role, number, kept);
    child_argument(c, "--redis"), child_argument(c, "%s", o->redis);
    if (o->embedded) child_argument(c, "--embedded");
    if (o->cluster) child_argument(c, "--cluster");
    if (o->sentinel != NULL) child_argument(c, "--sentinel"), child_argument(c, "%s", o->sentinel);
    if (o->tls_roots != NULL) child_argument(c, "--tls-roots"), child_argument(c, "%s", o->tls_roots);
    child_argument(c, "--prefix"), child_argument(c, "%s", o->prefix);
    if (o->user[0] != '\0') child_argument(c, "--user"), child_argument(c, "%s", o->user);
    return c;
}

/* Fewer than players, so that some wait in line; what they wait for is that others leave. */
static uint32_t seats_of(const options* o)
{
    uint32_t each = o->bots / o->servers;
    if (o->seats > 0) return o->seats;
    return each < 10 ? 1 + each / 2 : each - each / 10;
}

/* A server that dies takes its players' connections with it, so it is not started again: that is no good
   end. */
static void add_server(children* all, const options* o, const run_folder* folder, uint32_t number)
{
    child* c = add_member(all, o, folder, "server", number, false);
    child_argument(c, "--seats"), child_argument(c, "%" PRIu32, seats_of(o));
    child_argument(c, "--players-max"), child_argument(c, "%" PRIu32, o->bots + 16);
    child_argument(c, "--guard"), child_argument(c, "%s", market_guard_name(o->guard));
    child_argument(c, "--logs"), child_argument(c, "%s", folder->path);
    child_argument(c, "--database"), child_argument(c, "%s", folder->database);
    child_argument(c, "--seed"), child_argument(c, "%" PRIu64, o->seed + number);
    if (o->realtime) child_argument(c, "--realtime");
}

child* cast_all(children* all, const options* o, const run_folder* folder)
{
    for (uint32_t i = 1; i <= o->servers; i++) add_server(all, o, folder, i);
    for (uint32_t i = 1; i <= o->workers; i++) add_member(all, o, folder, "worker", i, true)->niceness = GIVES_WAY;
    for (uint32_t i = 1; i <= LOGS_READERS; i++)
    {
        child* c = add_member(all, o, folder, "aggregator", i, true);
        c->niceness = GIVES_WAY;
        child_argument(c, "--addresses");
        child_argument(c, "%s", o->addresses == NULL ? folder->addresses : o->addresses);
    }
    child* bots = add_child(all, folder, "bots", 1, false);
    bots->niceness = GIVES_WAY;
    child_argument(bots, "--bots"), child_argument(bots, "%" PRIu32, o->bots);
    uint32_t seconds = o->events == NULL ? o->seconds : 0; /* they play until all has happened */
    child_argument(bots, "--seconds"), child_argument(bots, "%" PRIu32, seconds);
    child_argument(bots, "--seed"), child_argument(bots, "%" PRIu64, o->seed);
    return bots;
}

bool cast_ports(child* bots, const options* o, const snapshot* shown)
{
    char ports[80] = "";
    size_t size = 0;
    for (uint32_t i = 1; i <= o->servers; i++)
    {
        uint32_t port = shown->rows[i].port;
        if (port == 0) return false;
        size += (size_t)snprintf(ports + size, sizeof ports - size, "%s%" PRIu32, i > 1 ? "," : "", port);
    }
    child_argument(bots, "--servers"), child_argument(bots, "%s", ports);
    return true;
}
