/* seat.c -- a client and its actors. */

#include "storm/seat.h"

#include "guildhall/cluster.h"
#include "guildhall/sentinel.h"
#include "storm/fleet.h"
#include "support/process.h"

#include <stdio.h>
#include <stdlib.h>

enum
{
    SETTLED_US = 15000000
};

static bool note_assertion(void* context, const char* file, int line, const char* expression)
{
    (void)expression;
    const storm_client* client = context;
    storm_event event = {.system = STORM_CORE, .what = MARK_ASSERTION, .a = (uint64_t)line};
    (void)history_event(client->who, event);
    if (storm.verbose) fprintf(stderr, "storm: assertion at %s:%d: %s\n", file, line, expression);
    return false;
}

static void note_log(void* context, gh_log_level level, gh_str text)
{
    const storm_client* client = context;
    if (level == GH_LOG_DEBUG) return;
    fprintf(stderr, "storm: process %u life %u client %u: %.*s\n", client->who.process, client->who.life,
            client->who.client, (int)text.size, text.bytes);
}

static void configure(gh_client_config* config, player_seat* seat, const char* address)
{
    *config = gh_client_config_default();
    config->address = gh_str_of(address);
    if (storm.store == STORM_CLUSTER) config->topology = gh_topology_cluster();
    if (storm.store == STORM_SENTINEL) config->topology = gh_topology_sentinel();
    if (storm.store == STORM_SENTINEL) config->sentinel_name = gh_str_literal(SENTINELS_NAME);
    config->user = gh_str_literal("game");
    config->password = gh_str_literal("storm");
    config->connect_timeout_us = 400000;
    config->request_timeout_us = 400000;
    config->backoff_min_us = 5000;
    config->backoff_max_us = 100000;
    config->quarantine_us = storm_quarantine_us();
    config->wake = seat->client.who.client != 2 || seat->client.who.process != 0; /* one lives without hints */
    config->out_bytes = storm.small ? 80 * 1024 : 256 * 1024;
    config->reply_bytes = storm.small ? 80 * 1024 : 256 * 1024;
    config->reply_nodes = storm.small ? 1024 : 4096;
    if (storm.small) config->ops_capacity = 256;
    config->hooks.context = &seat->client;
    config->hooks.assertion = note_assertion;
    if (storm.verbose) config->hooks.log = note_log;
}

void seat_start(player_seat* seat, storm_who who, const char* address, const gh_platform* platform, uint64_t clock_us)
{
    gh_client_config config;
    seat->client.who = who;
    configure(&config, seat, address);
    size_t size = gh_client_memory(&config);
    seat->memory = aligned_alloc(64, (size + 63) / 64 * 64);
    CHILD_CHECK(seat->memory != NULL);
    gh_status status = gh_client_init(seat->memory, size, &config, platform, &seat->client.client);
    CHILD_CHECK(status == GH_OK);
    (void)gh_tick(seat->client.client, clock_us, 0);
    for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
    {
        if (!storm_system_is_on(i)) continue;
        const storm_system* system = storm_system_of(i);
        void* actor = calloc(1, system->actor_size);
        CHILD_CHECK(actor != NULL);
        uint64_t place = ((uint64_t)who.life << 16) | ((uint64_t)who.process << 8) | who.client;
        system->start(actor, &seat->client, storm_random(system->name, place, 0, 0));
        seat->actors[seat->actor_count++] = (seat_actor){system, actor};
    }
}

static void note_hand_shakes(player_seat* seat, uint64_t count)
{
    storm_event event = {.system = STORM_CORE, .what = MARK_SHAKEN};
    if (count != seat->shaken) (void)history_event(seat->client.who, event);
    seat->shaken = count;
}

/* Of a Cluster: all masters that are known can be asked. Or some of them, as for a long while: of the others nothing
   is wanted. */
static bool all_links_are_ready(player_seat* seat)
{
    gh_client_stats stats = {.struct_size = sizeof stats};
    (void)gh_client_get_stats(seat->client.client, &stats);
    if (stats.nodes_ready != seat->nodes) seat->changed_us = seat->client.now_us;
    seat->nodes = stats.nodes_ready;
    note_hand_shakes(seat, stats.links_ready);
    bool settled = seat->client.now_us > seat->changed_us + SETTLED_US;
    return stats.nodes_ready > 0 && (settled || stats.nodes_ready >= stats.nodes_known);
}

static void note_link(player_seat* seat)
{
    storm_client* client = &seat->client;
    bool ready = storm.store == STORM_CLUSTER ? all_links_are_ready(seat) : gh_client_ready(client->client);
    if (ready == client->ready) return;
    client->ready = ready;
    storm_event event = {.system = STORM_CORE, .what = MARK_LINK, .a = ready ? 1 : 0};
    (void)history_event(client->who, event);
}

void seat_tick(player_seat* seat, uint64_t now_us, uint64_t clock_us, uint64_t budget_us)
{
    seat->client.now_us = now_us;
    seat->client.clock_us = clock_us;
    (void)gh_tick(seat->client.client, clock_us, budget_us);
    note_link(seat);
}

bool seat_act(player_seat* seat, bool may_begin)
{
    bool idle = true;
    may_begin = may_begin && !history_is_full();
    for (unsigned i = 0; i < seat->actor_count; i++)
    {
        const seat_actor* a = &seat->actors[i];
        a->system->turn(a->actor, may_begin);
        idle = idle && a->system->idle(a->actor);
    }
    return idle;
}

void seat_note_going(const player_seat* seat)
{
    storm_event event = {.system = STORM_CORE, .what = MARK_LINK, .a = 0};
    (void)history_event(seat->client.who, event);
}
