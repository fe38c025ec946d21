/* fleet.c -- the fleet of tests/support, its doors, and what all processes have to know of it. */

#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "storm/fleet.h"

#include "storm/history.h"
#include "storm/storm.h"
#include "storm/wire.h"
#include "support/scratch.h"
#include "support/wait.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum
{
    NODES_MAX = WIRE_DOORS,
    NODE_TIMEOUT_MS = 1000,
    DOWN_AFTER_MS = 1000, /* the machine has more to do than to answer Sentinels */
    FAILOVER_MS = 5000,   /* and who leads a failover asks once a second whether it is done */
    ADDRESSES_SIZE = 512
};

/* Read by the witness while the first process writes it: who joins is filled in before it is counted. */
typedef struct fleet_board
{
    _Atomic bool clear;
    _Atomic int master; /* with Sentinels */
    struct
    {
        _Atomic unsigned door; /* its port; 0: nobody is there */
        unsigned port;
        char path[WIRE_PATH_SIZE];
    } nodes[NODES_MAX];
} fleet_board;

static struct
{
    fleet_board* board;
    cluster* nodes;
    sentinels* watched;
    const redis_server* behind[NODES_MAX]; /* whom each door leads to */
    char doors[ADDRESSES_SIZE];
    char direct[ADDRESSES_SIZE];
} fleet;

cluster* fleet_cluster(void)
{
    return fleet.nodes;
}

sentinels* fleet_sentinels(void)
{
    return fleet.watched;
}

const char* fleet_address(void)
{
    return fleet.nodes != NULL ? fleet.doors : fleet.direct;
}

const char* fleet_direct_address(void)
{
    return fleet.direct;
}

/* ---- doors --------------------------------------------------------------------------------------------- */

static unsigned port_of(const redis_server* server)
{
    return (unsigned)atoi(strrchr(redis_server_tcp_address(server), ':') + 1);
}

static void put_on_board(int place, const redis_server* server, unsigned door)
{
    (void)snprintf(fleet.board->nodes[place].path, WIRE_PATH_SIZE, "%s", redis_server_address(server) + 5);
    fleet.board->nodes[place].port = port_of(server);
    fleet.board->nodes[place].door = door;
}

static int door_of(const redis_server* node)
{
    for (int i = 0; i < NODES_MAX; i++)
        if (fleet.behind[i] == node) return i;
    return -1;
}

bool fleet_has_free_door(void)
{
    return door_of(NULL) >= 0;
}

void fleet_open_door(redis_server* node)
{
    int place = door_of(NULL);
    if (place < 0) fail_msg("%s", "the wire has no more doors");
    fleet.behind[place] = node;
    wire_do((wire_order){.what = WIRE_UPSTREAM_OF_DOOR, .door = (uint16_t)place, .port = (uint16_t)port_of(node)});
    cluster_announce(fleet.nodes, node, wire_door_address((unsigned)place));
    put_on_board(place, node, wire_door_port((unsigned)place));
}

void fleet_close_door(const redis_server* node)
{
    int place = door_of(node);
    if (place < 0) return;
    fleet.board->nodes[place].door = 0;
    fleet.behind[place] = NULL;
}

/* ---- started ------------------------------------------------------------------------------------------- */

static const char user[] = "game on >storm ~* &* +@all";

static void start_cluster(void)
{
    size_t size = 0;
    fleet.nodes =
        cluster_start(&(cluster_options){.masters = 3,
                                         .replicas = 1,
                                         .node_timeout_ms = NODE_TIMEOUT_MS,
                                         .append_only = true,
                                         .user = user,
                                         .settings = "appendfsync no\nauto-aof-rewrite-percentage 0\n"
                                                     "repl-timeout 60\ncluster-allow-replica-migration no\n"});
    (void)snprintf(fleet.direct, sizeof fleet.direct, "%s", cluster_seeds(fleet.nodes));
    for (size_t i = 0; i < cluster_count(fleet.nodes); i++)
    {
        fleet_open_door(cluster_node(fleet.nodes, i));
        size += (size_t)snprintf(fleet.doors + size, sizeof fleet.doors - size, "%s%s", i == 0 ? "" : ",",
                                 wire_door_address((unsigned)i));
    }
}

static void start_sentinels(void)
{
    fleet.watched = sentinels_start(&(sentinels_options){.replicas = 2,
                                                         .down_after_ms = DOWN_AFTER_MS,
                                                         .failover_timeout_ms = FAILOVER_MS,
                                                         .quick = true,
                                                         .append_only = true,
                                                         .user = user});
    (void)snprintf(fleet.direct, sizeof fleet.direct, "%s", sentinels_seeds(fleet.watched));
    for (size_t i = 0; i < sentinels_server_count(fleet.watched); i++)
        put_on_board((int)i, sentinels_server(fleet.watched, i), port_of(sentinels_server(fleet.watched, i)));
}

void fleet_start(void)
{
    char folder[SCRATCH_PATH_SIZE];
    fleet.board = mmap(NULL, sizeof *fleet.board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fleet.board == MAP_FAILED) exit(2);
    scratch_folder(folder);
    wire_start("/nowhere", folder);
    if (storm.store == STORM_CLUSTER) start_cluster();
    else start_sentinels();
    fleet_settle();
    fleet_set_clear(true);
}

/* ---- who is who ---------------------------------------------------------------------------------------- */

bool fleet_has_settled(void)
{
    return fleet.nodes != NULL ? cluster_has_settled(fleet.nodes) : sentinels_has_settled(fleet.watched);
}

void fleet_settle(void)
{
    if (fleet.nodes != NULL) cluster_settle(fleet.nodes);
    else sentinels_settle(fleet.watched);
}

unsigned fleet_slot(uint64_t x)
{
    return (unsigned)(x % CLUSTER_SLOTS);
}

redis_server* fleet_master(uint64_t x)
{
    return fleet.nodes != NULL ? cluster_master(fleet.nodes, fleet_slot(x)) : sentinels_master(fleet.watched);
}

redis_server* fleet_node(uint64_t x)
{
    return fleet.nodes != NULL ? cluster_node(fleet.nodes, (size_t)(x % cluster_count(fleet.nodes)))
                               : sentinels_server(fleet.watched, (size_t)(x % sentinels_server_count(fleet.watched)));
}

unsigned fleet_slot_with_keys(redis_server* master, uint64_t x)
{
    unsigned slot = CLUSTER_SLOTS;
    redisReply* reply = redis_server_command(master, "RANDOMKEY");
    if (reply->type == REDIS_REPLY_STRING) slot = cluster_slot(reply->str);
    freeReplyObject(reply);
    return slot < CLUSTER_SLOTS ? slot : fleet_slot(x);
}

/* WAIT is for what its link has seen: the PING before it sees all. */
bool fleet_replicas_have_all(redis_server* master)
{
    int replicas = fleet.nodes == NULL ? (int)sentinels_server_count(fleet.watched) - 1 : 0;
    while (fleet.nodes != NULL && cluster_replica(fleet.nodes, master, (size_t)replicas) != NULL) replicas++;
    if (replicas == 0) return false;
    redis_server_do(master, "PING");
    redisReply* reply = redis_server_command(master, "WAIT %d 300", replicas);
    bool all = reply->type == REDIS_REPLY_INTEGER && reply->integer >= replicas;
    freeReplyObject(reply);
    return all;
}

static long long epoch_of_sentinels(void)
{
    long long epoch = -1;
    for (size_t i = 0; i < sentinels_sentinel_count(fleet.watched); i++)
    {
        redis_server* sentinel = sentinels_sentinel(fleet.watched, i);
        if (!redis_server_runs(sentinel)) continue;
        redisReply* reply = redis_server_command(sentinel, "SENTINEL MASTER " SENTINELS_NAME);
        for (size_t k = 0; reply->type == REDIS_REPLY_ARRAY && k + 1 < reply->elements; k += 2)
        {
            long long told = atoll(reply->element[k + 1]->str);
            if (strcmp(reply->element[k]->str, "config-epoch") == 0 && told > epoch) epoch = told;
        }
        freeReplyObject(reply);
    }
    return epoch;
}

long long fleet_epoch(void)
{
    if (fleet.nodes == NULL) return epoch_of_sentinels();
    long long epoch = -1;
    for (size_t i = 0; i < cluster_count(fleet.nodes); i++)
    {
        redis_server* node = cluster_node(fleet.nodes, i);
        if (!redis_server_runs(node)) continue;
        long long told = redis_server_told(node, "CLUSTER INFO", "cluster_current_epoch:");
        if (told > epoch) epoch = told;
    }
    return epoch;
}

static void must_one(redis_server* node, const char* command)
{
    uint64_t end_us = wait_cap_us();
    while (redis_server_runs(node))
    {
        redisReply* reply = redis_server_try(node, command);
        bool good = reply != NULL && reply->type != REDIS_REPLY_ERROR;
        if (reply != NULL) freeReplyObject(reply);
        if (good) return;
        if (wait_now_us() > end_us) fail_msg("a node did not do \"%s\"", command);
        wait_a_while();
    }
}

void fleet_must(const char* command)
{
    size_t count = fleet.nodes != NULL ? cluster_count(fleet.nodes) : sentinels_server_count(fleet.watched);
    for (size_t i = 0; i < count; i++) must_one(fleet_node(i), command);
}

/* ---- for all processes --------------------------------------------------------------------------------- */

void fleet_set_clear(bool clear)
{
    if (clear && fleet.watched != NULL)
        fleet.board->master = fleet_behind(port_of(sentinels_await_master(fleet.watched, NULL)));
    fleet.board->clear = clear;
}

bool fleet_is_clear(void)
{
    return fleet.board->clear;
}

const char* fleet_path(int node)
{
    return fleet.board->nodes[node].path;
}

int fleet_behind(unsigned port)
{
    for (int i = 0; i < NODES_MAX; i++)
    {
        unsigned door = fleet.board->nodes[i].door;
        if (door != 0 && (door == port || fleet.board->nodes[i].port == port)) return i;
    }
    return -1;
}

int fleet_first(void)
{
    return storm.store == STORM_CLUSTER ? 0 : (int)fleet.board->master;
}
