/* look.c -- the witness, who reads keys all through the run, and the auditor, who reads the store after it. */

#include "storm/look.h"

#include "guildhall/cluster.h"
#include "guildhall/platform.h"
#include "guildhall/sentinel.h"
#include "storm/fleet.h"
#include "storm/store.h"
#include "storm/storm.h"
#include "storm/wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    WITNESS_PAUSE_US = 12000,
    WITNESS_CAP_US = 400000, /* it has more to see than a server that stands still */
    AUDIT_CAP_US = 60000000
};

static const storm_who witness_name = {STORM_PLAYERS_MAX, 0, 0};
static const storm_who auditor_name = {STORM_PLAYERS_MAX + 1, 0, 0};

/* ---- where to look ------------------------------------------------------------------------------------- */

/* Of a fleet: a connection to each node, and which of them was last found to have a slot. */
static struct
{
    redisContext* nodes[WIRE_DOORS];
    char paths[WIRE_DOORS][WIRE_PATH_SIZE];
    int of_slot[CLUSTER_SLOTS]; /* 1 and up; 0: not known */
} asked;

static redisContext* connect_to(const char* path, uint64_t limit_us)
{
    struct timeval limit = {(time_t)(limit_us / 1000000), (suseconds_t)(limit_us % 1000000)};
    redisContext* context = redisConnectUnixWithTimeout(path, limit);
    if (context != NULL && context->err == 0)
    {
        (void)redisSetTimeout(context, limit);
        return context;
    }
    if (context != NULL) redisFree(context);
    return NULL;
}

static void leave_node(int node)
{
    if (asked.nodes[node] != NULL) redisFree(asked.nodes[node]);
    asked.nodes[node] = NULL;
}

static redisReply* ask_node(int node, uint64_t limit_us, const char* format, va_list arguments)
{
    if (strcmp(asked.paths[node], fleet_path(node)) != 0) leave_node(node); /* another one lives there now */
    (void)snprintf(asked.paths[node], sizeof asked.paths[node], "%s", fleet_path(node));
    if (asked.nodes[node] == NULL) asked.nodes[node] = connect_to(fleet_path(node), limit_us);
    if (asked.nodes[node] == NULL) return NULL;
    redisReply* reply = redisvCommand(asked.nodes[node], format, arguments);
    if (reply == NULL) leave_node(node);
    return reply;
}

/* "MOVED 93 127.0.0.1:10001": whom it leads to; -1: it is something else. */
static int led_to(const redisReply* reply)
{
    const char* port = reply->type == REDIS_REPLY_ERROR ? strrchr(reply->str, ':') : NULL;
    return port == NULL || strncmp(reply->str, "MOVED ", 6) != 0 ? -1 : fleet_behind((unsigned)atoi(port + 1));
}

static redisReply* ask_fleet(const storm_look* look, const char* key, const char* format, va_list arguments)
{
    unsigned slot = storm.store == STORM_CLUSTER && key != NULL ? cluster_slot(key) : 0;
    int node = storm.store == STORM_SENTINEL || asked.of_slot[slot] == 0 ? fleet_first() : asked.of_slot[slot] - 1;
    redisReply* reply = NULL;
    for (int times = 0; times < 4; times++)
    {
        va_list again;
        va_copy(again, arguments);
        if (reply != NULL) freeReplyObject(reply);
        reply = fleet_is_clear() ? ask_node(node, look->limit_us, format, again) : NULL;
        va_end(again);
        int other = reply == NULL ? -1 : led_to(reply);
        asked.of_slot[slot] = reply == NULL ? 0 : node + 1;
        if (other < 0) break;
        node = other;
    }
    if (reply == NULL || fleet_is_clear()) return reply;
    freeReplyObject(reply); /* it may be of one that nobody believes any more */
    return NULL;
}

redisReply* storm_look_command(storm_look* look, const char* key, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply* reply = storm.store < STORM_CLUSTER ? redisvCommand(look->redis, format, arguments)
                                                    : ask_fleet(look, key, format, arguments);
    va_end(arguments);
    if (look->client != NULL) (void)gh_tick(look->client, history_now(), 0); /* what begins next, begins now */
    return reply;
}

/* ---- the witness --------------------------------------------------------------------------------------- */

static void look_at_all(storm_look* look)
{
    for (uint8_t i = 1; i < STORM_SYSTEM_END && (look->redis == NULL || look->redis->err == 0); i++)
    {
        if (storm_system_is_on(i) && storm_system_of(i)->witness != NULL) storm_system_of(i)->witness(look);
    }
}

static void look_at_server(storm_look* look, char path[WIRE_PATH_SIZE])
{
    if (look->redis != NULL && strcmp(path, store_path()) != 0) /* another server counts now */
    {
        redisFree(look->redis);
        look->redis = NULL;
    }
    (void)snprintf(path, WIRE_PATH_SIZE, "%s", store_path());
    if (look->redis == NULL) look->redis = store_connect(WITNESS_CAP_US);
    if (look->redis == NULL) return;
    look_at_all(look);
    if (look->redis->err == 0 && !history_has_overflowed()) return;
    redisFree(look->redis);
    look->redis = NULL;
}

int witness_run(void* context, int results)
{
    storm_look look = {.who = witness_name, .limit_us = WITNESS_CAP_US};
    char path[WIRE_PATH_SIZE] = "";
    (void)context;
    (void)results;
    while (storm_stage_now() != STAGE_STOP)
    {
        history_pause(WITNESS_PAUSE_US);
        if (storm.store < STORM_CLUSTER) look_at_server(&look, path);
        else if (!history_has_overflowed()) look_at_all(&look);
    }
    return 0;
}

/* ---- the auditor --------------------------------------------------------------------------------------- */

static uint64_t audit_end_us;

bool storm_look_turn(storm_look* look)
{
    (void)gh_tick(look->client, history_now(), 0);
    history_pause(500);
    return history_now() < audit_end_us;
}

static void find_store(gh_client_config* config, char address[160])
{
    (void)snprintf(address, 160, "unix:%s", store_path());
    config->address = gh_str_of(storm.store < STORM_CLUSTER ? address : fleet_direct_address());
    if (storm.store == STORM_CLUSTER) config->topology = gh_topology_cluster();
    if (storm.store == STORM_SENTINEL) config->topology = gh_topology_sentinel();
    if (storm.store == STORM_SENTINEL) config->sentinel_name = gh_str_literal(SENTINELS_NAME);
}

void audit_run(void)
{
    gh_client_config config = gh_client_config_default();
    char address[160];
    find_store(&config, address);
    config.user = gh_str_literal("game");
    config.password = gh_str_literal("storm");
    config.out_bytes = 1024 * 1024;
    config.reply_bytes = 1024 * 1024;
    config.reply_nodes = 65536;
    size_t size = gh_client_memory(&config);
    void* memory = aligned_alloc(64, (size + 63) / 64 * 64);
    bool fleet = storm.store >= STORM_CLUSTER;
    storm_look look = {
        .who = auditor_name, .limit_us = AUDIT_CAP_US, .redis = fleet ? NULL : store_connect(AUDIT_CAP_US)};
    if (memory == NULL || (look.redis == NULL && !fleet) ||
        gh_client_init(memory, size, &config, gh_platform_default(), &look.client) != GH_OK)
    {
        fprintf(stderr, "storm: the auditor cannot begin\n");
        exit(2);
    }
    audit_end_us = history_now() + AUDIT_CAP_US;
    storm_look_await(&look);
    for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
    {
        audit_end_us = history_now() + AUDIT_CAP_US;
        if (storm_system_is_on(i) && storm_system_of(i)->audit != NULL) storm_system_of(i)->audit(&look);
    }
    gh_client_shutdown(look.client);
    free(memory);
    if (look.redis != NULL) redisFree(look.redis);
}
