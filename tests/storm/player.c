/* player.c -- a game server: clients, an actor for each system on each of them, and a frame loop. */

#include "storm/storm.h"

#include "guildhall/cluster.h"
#include "guildhall/platform.h"
#include "guildhall/sentinel.h"
#include "storm/board.h"
#include "storm/fleet.h"
#include "support/process.h"

#include <execinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum
{
    STALL_US = 60000,
    FORGET_US = 4000000,
    HANDLES_MAX = 32,
    PAUSE_MS = 1
};

typedef struct player_seat
{
    storm_client client;
    void* memory;
    void* actors[STORM_SYSTEMS_MAX];
    uint64_t links;    /* of a Cluster: how many were ready */
    uint64_t whole_us; /* when they last were */
} player_seat;

static player_seat seats[STORM_CLIENTS];

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

static void configure(gh_client_config* config, player_seat* seat)
{
    *config = gh_client_config_default();
    config->address = gh_str_of(board->addresses[seat->client.who.client % 2]);
    if (storm.store == STORM_CLUSTER) config->topology = gh_topology_cluster();
    if (storm.store == STORM_SENTINEL) config->topology = gh_topology_sentinel();
    if (storm.store == STORM_SENTINEL) config->sentinel_name = gh_str_literal(SENTINELS_NAME);
    config->user = gh_str_literal("game");
    config->password = gh_str_literal("storm");
    config->connect_timeout_us = 400000;
    config->request_timeout_us = 400000;
    config->backoff_min_us = 5000;
    config->backoff_max_us = 100000;
    config->wake = seat->client.who.client != 2 || seat->client.who.process != 0; /* one lives without hints */
    config->out_bytes = 256 * 1024;
    config->reply_bytes = 256 * 1024;
    config->reply_nodes = 4096;
    config->hooks.context = &seat->client;
    config->hooks.assertion = note_assertion;
    if (storm.verbose) config->hooks.log = note_log;
}

static void start_seat(player_seat* seat, storm_who who)
{
    gh_client_config config;
    seat->client.who = who;
    configure(&config, seat);
    size_t size = gh_client_memory(&config);
    seat->memory = aligned_alloc(64, (size + 63) / 64 * 64);
    CHILD_CHECK(seat->memory != NULL);
    gh_status status = gh_client_init(seat->memory, size, &config, gh_platform_default(), &seat->client.client);
    CHILD_CHECK(status == GH_OK);
    (void)gh_tick(seat->client.client, history_now(), 0);
    for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
    {
        if (!storm_system_is_on(i)) continue;
        const storm_system* system = storm_system_of(i);
        seat->actors[i] = calloc(1, system->actor_size);
        CHILD_CHECK(seat->actors[i] != NULL);
        uint64_t place = ((uint64_t)who.life << 16) | ((uint64_t)who.process << 8) | who.client;
        system->start(seat->actors[i], &seat->client, storm_random(system->name, place, 0, 0));
    }
}

/* Of a Cluster, all links that there were are there again; a node that is gone for good is forgotten after a while. */
static bool all_links_are_ready(player_seat* seat)
{
    gh_client_stats stats = {.struct_size = sizeof stats};
    (void)gh_client_get_stats(seat->client.client, &stats);
    uint64_t alive = stats.links_ready - stats.links_lost;
    if (alive >= seat->links || seat->client.now_us > seat->whole_us + FORGET_US)
    {
        seat->links = alive;
        seat->whole_us = seat->client.now_us;
    }
    return alive > 0 && alive >= seat->links;
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

static bool turn_seat(player_seat* seat, bool may_begin)
{
    bool idle = true;
    seat->client.now_us = history_now();
    (void)gh_tick(seat->client.client, seat->client.now_us, 0);
    note_link(seat);
    for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
    {
        if (seat->actors[i] == NULL) continue;
        const storm_system* system = storm_system_of(i);
        system->turn(seat->actors[i], may_begin && !history_is_full());
        idle = idle && system->idle(seat->actors[i]);
    }
    return idle;
}

/* Sleeps until a byte arrives, or for a frame. */
static void wait_for_bytes(void)
{
    struct pollfd descriptors[STORM_CLIENTS * HANDLES_MAX];
    nfds_t count = 0;
    for (int i = 0; i < STORM_CLIENTS; i++)
    {
        gh_client_handle handles[HANDLES_MAX];
        uint32_t have = gh_client_handles(seats[i].client.client, handles, HANDLES_MAX);
        for (uint32_t k = 0; k < have && k < HANDLES_MAX; k++)
        {
            descriptors[count].fd = (int)handles[k].handle;
            descriptors[count++].events = POLLIN;
        }
    }
    (void)poll(descriptors, count, PAUSE_MS);
}

static void note_stall(uint64_t* last_us, storm_who who)
{
    uint64_t now_us = history_now();
    if (now_us - *last_us > STALL_US)
    {
        storm_event event = {.system = STORM_CORE, .what = MARK_STALL, .a = *last_us};
        (void)history_event(who, event);
    }
    *last_us = now_us;
}

/* From here on its links are of no use to anybody. */
static void note_going(void)
{
    for (int i = 0; i < STORM_CLIENTS; i++)
    {
        storm_event event = {.system = STORM_CORE, .what = MARK_LINK, .a = 0};
        (void)history_event(seats[i].client.who, event);
    }
}

static void drain(void)
{
    bool drained = false;
    note_going();
    for (int i = 0; i < STORM_CLIENTS; i++) (void)gh_client_drain(seats[i].client.client, 2000000);
    while (!drained)
    {
        drained = true;
        for (int i = 0; i < STORM_CLIENTS; i++)
        {
            (void)gh_tick(seats[i].client.client, history_now(), 0);
            drained = drained && gh_client_drained(seats[i].client.client);
        }
        (void)poll(NULL, 0, PAUSE_MS);
    }
    for (int i = 0; i < STORM_CLIENTS; i++) gh_client_shutdown(seats[i].client.client);
}

/* Says where it died, for addr2line. */
static void on_crash(int signal_number)
{
    void* places[40];
    backtrace_symbols_fd(places, backtrace(places, 40), 2);
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}

static void listen_to_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) (void)signal(signals[i], on_crash);
    (void)signal(SIGINT, SIG_IGN); /* the first process ends all */
}

static bool is_to_end(uint8_t process)
{
    return storm_stage_now() != STAGE_RUN || atomic_load_explicit(&board->leaves[process], memory_order_relaxed);
}

int player_run(void* context, int results)
{
    storm_who who = *(const storm_who*)context;
    uint64_t last_us = history_now();
    storm_event build = {.system = STORM_CORE, .what = MARK_BUILD, .a = gh_version()};
    (void)results;
    (void)history_event(who, build);
    listen_to_crashes();
    for (uint8_t i = 0; i < STORM_CLIENTS; i++)
    {
        who.client = i;
        start_seat(&seats[i], who);
    }
    who.client = 0;
    bool idle = false;
    while (!idle || !is_to_end(who.process))
    {
        wait_for_bytes();
        note_stall(&last_us, who);
        idle = true;
        bool may_begin = !is_to_end(who.process);
        for (int i = 0; i < STORM_CLIENTS; i++) idle = turn_seat(&seats[i], may_begin) && idle;
    }
    drain();
    return 0;
}
