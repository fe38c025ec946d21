/* fleet_of_stores.c -- a Cluster, or servers with Sentinels, as storm/fleet.h and the storm's faults want to see them.
 */

#include "storm/fleet.h"

#include "simulator/network.h"
#include "simulator/nodes.h"
#include "simulator/replication.h"
#include "simulator/server.h"
#include "simulator/watch.h"
#include "storm/history.h"
#include "storm/store.h"
#include "storm/storm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MASTERS = 3,
    SETTLE_CAP_US = 60000000,
    HAS_ALL_CAP_US = 300000,
    STEP_US = 5000,
    ADDRESS_SIZE = 512
};

/* The names of the storm's things: what they are here is in nodes.h and watch.h. */
struct redis_server
{
    unsigned server;
};

struct cluster
{
    bool is;
};

struct sentinels
{
    bool is;
};

static redis_server handles[SERVERS_MAX];
static cluster the_cluster;
static sentinels the_sentinels;
static bool clear;
static char address[ADDRESS_SIZE];

static redis_server* handle_of(int server)
{
    return server < 0 || server == NODES_NOBODY ? NULL : &handles[server];
}

static bool is_cluster(void)
{
    return storm.store == STORM_CLUSTER;
}

/* ---- started ----------------------------------------------------------------------------------------------- */

static void list_addresses(unsigned first, unsigned count)
{
    size_t size = 0;
    for (unsigned i = first; i < first + count; i++)
        size += (size_t)snprintf(address + size, sizeof address - size, "%s127.0.0.1:%u", i == first ? "" : ",",
                                 SERVER_PORT + i);
}

void fleet_start(void)
{
    for (unsigned i = 0; i < SERVERS_MAX; i++) handles[i].server = i;
    server_open(is_cluster());
    replication_open(is_cluster());
    (void)snprintf(address, sizeof address, "unix:/store");
    if (is_cluster()) nodes_open(MASTERS);
    if (is_cluster()) list_addresses(0, 2 * MASTERS);
    if (storm.store == STORM_SENTINEL) watch_open(SENTINELS_NAME);
    if (storm.store == STORM_SENTINEL) list_addresses(WATCH_FIRST_SENTINEL, WATCH_SENTINELS);
    if (storm.store == STORM_PAIR) replication_follow(1, 0);
    if (storm.store >= STORM_CLUSTER) fleet_settle();
    clear = true;
}

void store_start(void)
{
    fleet_start();
}

cluster* fleet_cluster(void)
{
    return is_cluster() ? &the_cluster : NULL;
}

sentinels* fleet_sentinels(void)
{
    return storm.store == STORM_SENTINEL ? &the_sentinels : NULL;
}

const char* fleet_address(void)
{
    return address;
}

const char* fleet_direct_address(void)
{
    return address;
}

/* ---- who is who -------------------------------------------------------------------------------------------- */

bool fleet_has_settled(void)
{
    return is_cluster() ? nodes_have_settled() : watch_has_settled();
}

void fleet_settle(void)
{
    for (uint64_t end_us = history_now() + SETTLE_CAP_US; !fleet_has_settled(); history_pause(STEP_US))
        if (history_now() > end_us) abort();
}

void fleet_set_clear(bool is_clear)
{
    clear = is_clear;
}

bool fleet_is_clear(void)
{
    return clear;
}

unsigned fleet_slot(uint64_t x)
{
    return (unsigned)(x % CLUSTER_SLOTS);
}

redis_server* cluster_master(cluster* fleet, unsigned slot)
{
    (void)fleet;
    int owner = (int)nodes_owner(slot);
    return owner == NODES_NOBODY || server_is_down((unsigned)owner) ? NULL : handle_of(owner);
}

redis_server* fleet_master(uint64_t x)
{
    return is_cluster() ? cluster_master(NULL, fleet_slot(x)) : handle_of((int)watch_master());
}

redis_server* fleet_node(uint64_t x)
{
    unsigned count = 0, members[SERVERS_MAX] = {0};
    if (!is_cluster()) return handle_of((int)(x % WATCH_SERVERS));
    for (unsigned i = 0; i < SERVERS_MAX; i++)
        if (nodes_is_member(i)) members[count++] = i;
    return handle_of((int)members[x % count]);
}

unsigned fleet_slot_with_keys(redis_server* master, uint64_t x)
{
    static uint16_t counts[NODES_SLOTS];
    uint64_t sum = 0;
    nodes_count_keys(master->server, counts);
    for (unsigned i = 0; i < NODES_SLOTS; i++) sum += counts[i];
    uint64_t point = sum == 0 ? 0 : x % sum;
    for (unsigned i = 0; i < NODES_SLOTS && sum != 0; i++)
    {
        if (point < counts[i]) return i;
        point -= counts[i];
    }
    return fleet_slot(x);
}

bool fleet_replicas_have_all(redis_server* master)
{
    uint64_t end_us = history_now() + HAS_ALL_CAP_US;
    while (!replication_has_all(master->server) && history_now() < end_us) history_pause(STEP_US);
    return replication_has_all(master->server);
}

long long fleet_epoch(void)
{
    return is_cluster() ? nodes_epoch() : watch_epoch();
}

void fleet_must(const char* command)
{
    for (unsigned i = 0; i < SERVERS_MAX; i++)
    {
        if (server_is_down(i) || (is_cluster() ? !nodes_is_member(i) : i >= WATCH_SERVERS)) continue;
        server_must(i, command);
    }
}

void store_choose(uint64_t x)
{
    if (storm.store < STORM_CLUSTER) return;
    const redis_server* master = fleet_master(x);
    if (master != NULL) server_count_on(master->server);
}

/* ---- what befalls a server ----------------------------------------------------------------------------------- */

static void note_lost(unsigned server)
{
    if (is_cluster()) nodes_note_lost(server);
    else watch_note_lost(server);
}

static void note_started(unsigned server)
{
    if (is_cluster()) nodes_note_started(server);
    else watch_note_started(server);
}

void redis_server_kill9(redis_server* server)
{
    server_kill(server->server);
    note_lost(server->server);
}

void redis_server_restart(redis_server* server)
{
    server_start(server->server);
    note_started(server->server);
}

void redis_server_freeze(redis_server* server)
{
    server_freeze(server->server);
    note_lost(server->server);
}

void redis_server_thaw(redis_server* server)
{
    server_thaw(server->server);
    if (is_cluster()) nodes_note_thawed(server->server);
    else watch_note_thawed(server->server);
}

void cluster_restart_empty(redis_server* node)
{
    server_kill(node->server);
    gh_store_flush(server_store(node->server));
    server_start(node->server);
    note_started(node->server);
}

redis_server* cluster_replica(cluster* fleet, const redis_server* master, size_t index)
{
    (void)fleet;
    return index > 0 ? NULL : handle_of(nodes_replica(master->server));
}

bool cluster_is_master(redis_server* node)
{
    return nodes_is_master(node->server);
}

unsigned cluster_slots_of(redis_server* node)
{
    return nodes_slot_count(node->server);
}

redis_server* cluster_failover(cluster* fleet, unsigned slot, cluster_failover_kind kind)
{
    (void)fleet;
    unsigned owner = nodes_owner(slot);
    nodes_replace(owner, kind == CLUSTER_PLANNED);
    return handle_of(nodes_replica(owner));
}

/* ---- slots on their way -------------------------------------------------------------------------------------- */

cluster_move cluster_move_begin(cluster* fleet, unsigned slot, redis_server* to)
{
    cluster_move move = {fleet, handle_of((int)nodes_owner(slot)), to, slot};
    if (move.from != NULL && move.from != to) nodes_open_slot(slot, to->server);
    return move;
}

size_t cluster_move_keys(const cluster_move* move, size_t most)
{
    if (move->from == NULL || move->from == move->to) return 0;
    return nodes_move_keys(move->slot, move->from->server, move->to->server, most);
}

void cluster_move_end(const cluster_move* move)
{
    if (move->from == NULL || move->from == move->to) return;
    (void)cluster_move_keys(move, SIZE_MAX);
    nodes_give_slot(move->slot, move->to->server);
}

void cluster_move_cancel(const cluster_move* move)
{
    if (move->from == NULL || move->from == move->to) return;
    (void)nodes_move_keys(move->slot, move->to->server, move->from->server, SIZE_MAX);
    nodes_close_slot(move->slot);
}

void cluster_move_slot(cluster* fleet, unsigned slot, redis_server* to)
{
    cluster_move move = cluster_move_begin(fleet, slot, to);
    cluster_move_end(&move);
}

void cluster_close_slots(cluster* fleet)
{
    (void)fleet;
    for (unsigned i = 0; i < NODES_SLOTS; i++) nodes_close_slot(i);
}

/* ---- many slots ----------------------------------------------------------------------------------------------- */

static redis_server* with_most(const redis_server* but, bool fewest)
{
    int best = -1;
    for (unsigned i = 0; i < SERVERS_MAX; i++)
    {
        if (!nodes_is_master(i) || server_is_down(i) || (but != NULL && but->server == i)) continue;
        unsigned count = nodes_slot_count(i), of_best = best < 0 ? 0 : nodes_slot_count((unsigned)best);
        if (best < 0 || (fewest ? count < of_best : count > of_best)) best = (int)i;
    }
    return handle_of(best);
}

cluster_reshard cluster_reshard_begin(cluster* fleet, redis_server* from, redis_server* to, unsigned slots)
{
    return (cluster_reshard){.fleet = fleet, .from = from, .to = to, .left = slots};
}

static bool begin_next_slot(cluster_reshard* work)
{
    redis_server* to = work->to != NULL ? work->to : with_most(work->from, true);
    redis_server* from = work->from != NULL ? work->from : with_most(to, false);
    int slot = from == NULL || to == NULL || from == to ? -1 : nodes_first_slot(from->server);
    if (slot < 0) return false;
    work->move = cluster_move_begin(work->fleet, (unsigned)slot, to);
    work->moving = true;
    return true;
}

/* A step takes time, as it does with real servers. */
bool cluster_reshard_step(cluster_reshard* work)
{
    history_pause(200);
    if (work->left == 0) return false;
    if (!work->moving && !begin_next_slot(work)) work->left = 0;
    else if (work->moving && cluster_move_keys(&work->move, 16) == 0)
    {
        cluster_move_end(&work->move);
        work->moving = false;
        work->left--;
    }
    return work->left > 0;
}

/* ---- who comes and goes ---------------------------------------------------------------------------------------- */

bool fleet_has_free_door(void)
{
    unsigned members = 0;
    for (unsigned i = 0; i < SERVERS_MAX; i++) members += nodes_is_member(i) ? 1 : 0;
    return members < SERVERS_MAX;
}

void fleet_open_door(redis_server* node)
{
    (void)node;
}

void fleet_close_door(const redis_server* node)
{
    (void)node;
}

redis_server* cluster_add(cluster* fleet)
{
    (void)fleet;
    return handle_of(nodes_add());
}

void cluster_remove(cluster* fleet, redis_server* node)
{
    (void)fleet;
    nodes_remove(node->server);
}

/* ---- Sentinels -------------------------------------------------------------------------------------------------- */

void sentinels_make_replica(const sentinels* fleet, redis_server* server)
{
    (void)fleet;
    if (watch_master() != server->server) watch_make_replica(server->server);
}

void sentinels_failover(const sentinels* fleet)
{
    (void)fleet;
    watch_replace();
}

size_t sentinels_sentinel_count(const sentinels* fleet)
{
    (void)fleet;
    return WATCH_SENTINELS;
}

redis_server* sentinels_sentinel(const sentinels* fleet, size_t index)
{
    (void)fleet;
    return &handles[WATCH_FIRST_SENTINEL + index];
}

void sentinels_restart(const sentinels* fleet, redis_server* sentinel)
{
    (void)fleet;
    redis_server_restart(sentinel);
}

/* ---- a primary and its replica ---------------------------------------------------------------------------------- */

bool store_replica_has_all(void)
{
    return fleet_replicas_have_all(&handles[server_primary()]);
}

/* The old one comes back as a replica, empty. */
void store_fail_over(void)
{
    unsigned old = server_primary(), heir = 1 - old;
    server_kill(old);
    replication_promote(heir);
    server_count_on(heir);
    network_lead_to(heir);
    server_start(old);
    replication_follow(old, heir);
}

void store_lead_away(void)
{
    unsigned heir = 1 - server_primary();
    replication_promote(heir);
    server_count_on(heir);
    network_lead_to(heir);
}

void store_lead_back(void)
{
    unsigned heir = server_primary(), old = 1 - heir;
    server_count_on(old);
    network_lead_to(old);
    replication_follow(heir, old);
}

/* ---- when something does not end ----------------------------------------------------------------------------------
 */

void cluster_show(cluster* fleet)
{
    (void)fleet;
    for (unsigned i = 0; i < SERVERS_MAX; i++)
        fprintf(stderr, "server %u: %s%s%s, follows %d, %u slots\n", i, nodes_is_member(i) ? "member" : "no member",
                server_is_down(i) ? ", down" : "", server_stands_still(i) ? ", frozen" : "", replication_master(i),
                nodes_slot_count(i));
}

void sentinels_show(const sentinels* fleet)
{
    (void)fleet;
    for (unsigned i = 0; i < WATCH_SERVERS; i++)
        fprintf(stderr, "server %u: %s%s, follows %d\n", i, server_is_down(i) ? "down" : "up",
                server_stands_still(i) ? ", frozen" : "", replication_master(i));
}
