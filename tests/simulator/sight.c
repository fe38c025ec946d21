/* sight.c -- who looks at the store: the witness, now and then through the run, and the auditor behind it. */

#include "simulator/sight.h"

#include "guildhall/cluster.h"
#include "guildhall/sentinel.h"
#include "simulator/events.h"
#include "simulator/network.h"
#include "simulator/nodes.h"
#include "simulator/server.h"
#include "simulator/watch.h"
#include "storm/fleet.h"
#include "storm/storm.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum
{
    WITNESS_PAUSE_US = 80000, /* what is seen twice within 100 ms was there all the time: watched_between */
    AUDIT_CAP_US = 60000000,
    STEP_MOST_US = 20000
};

static const storm_who witness_name = {STORM_PLAYERS_MAX, 0, 0};
static const storm_who auditor_name = {STORM_PLAYERS_MAX + 1, 0, 0};

static network_host auditor;
static uint64_t audit_end_us;

/* Where the key is, past whoever may not know it. */
static unsigned server_of(const char* key)
{
    if (storm.store == STORM_SENTINEL) return watch_master();
    if (storm.store != STORM_CLUSTER) return server_primary();
    unsigned owner = nodes_owner(key == NULL ? 0 : nodes_slot(key, strlen(key)));
    return owner == NODES_NOBODY ? 0 : owner;
}

redisReply* storm_look_command(storm_look* look, const char* key, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply* reply = fleet_is_clear() ? server_ask(server_of(key), format, arguments) : NULL;
    va_end(arguments);
    if (look->client != NULL) (void)gh_tick(look->client, network_clock(&auditor), 0);
    return reply;
}

/* ---- the witness ------------------------------------------------------------------------------------------ */

static bool begun, sleeps;

static void witness_looks(void* context, uint64_t x)
{
    storm_look look = {.who = witness_name};
    (void)context;
    (void)x;
    if (storm_stage_now() == STAGE_STOP) return;
    if (sleeps) return;
    for (uint8_t i = 1; i < STORM_SYSTEM_END && !history_has_overflowed(); i++)
        if (storm_system_is_on(i) && storm_system_of(i)->witness != NULL) storm_system_of(i)->witness(&look);
    events_at(history_now() + WITNESS_PAUSE_US, witness_looks, NULL, 0);
}

void witness_sleep(void)
{
    sleeps = true;
}

void witness_begin(void)
{
    if (begun && !sleeps) return;
    begun = true;
    sleeps = false;
    events_at(history_now() + WITNESS_PAUSE_US, witness_looks, NULL, 0);
}

/* ---- the auditor ------------------------------------------------------------------------------------------ */

static uint64_t earlier(uint64_t x, uint64_t y)
{
    return x < y ? x : y;
}

/* On to when something happens that is of interest to its client. */
bool storm_look_turn(storm_look* look)
{
    (void)gh_tick(look->client, network_clock(&auditor), 0);
    uint64_t next_us = earlier(events_next(), network_next_us(&auditor));
    next_us = earlier(next_us, gh_next_deadline(look->client)); /* its clock is ours */
    next_us = earlier(next_us, history_now() + STEP_MOST_US);
    events_run(next_us > history_now() ? next_us : history_now() + 1);
    return history_now() < audit_end_us;
}

void audit_run(void)
{
    gh_client_config config = gh_client_config_default();
    network_host_start(&auditor, STORM_PLAYERS_MAX + 1, 0, true);
    config.address = gh_str_of(fleet_direct_address());
    if (storm.store == STORM_CLUSTER) config.topology = gh_topology_cluster();
    if (storm.store == STORM_SENTINEL) config.topology = gh_topology_sentinel();
    if (storm.store == STORM_SENTINEL) config.sentinel_name = gh_str_literal(SENTINELS_NAME);
    config.user = gh_str_literal("game");
    config.password = gh_str_literal("storm");
    config.out_bytes = 128 * 1024;
    config.reply_bytes = 1024 * 1024;
    config.reply_nodes = 16384;
    size_t size = gh_client_memory(&config);
    void* memory = aligned_alloc(64, (size + 63) / 64 * 64);
    storm_look look = {.who = auditor_name, .limit_us = AUDIT_CAP_US};
    if (memory == NULL || gh_client_init(memory, size, &config, &auditor.platform, &look.client) != GH_OK) abort();
    (void)gh_tick(look.client, network_clock(&auditor), 0);
    audit_end_us = history_now() + AUDIT_CAP_US;
    storm_look_await(&look);
    for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
    {
        audit_end_us = history_now() + AUDIT_CAP_US;
        if (storm_system_is_on(i) && storm_system_of(i)->audit != NULL) storm_system_of(i)->audit(&look);
    }
    gh_client_shutdown(look.client);
    free(memory);
}
