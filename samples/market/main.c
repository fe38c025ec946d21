/* game_server -- a game server as it would use Guildhall: 60 frames a second, players that trade, one thread.

       main.c      the frame loop, from joining the market to leaving it       <- begin to read here
       world.c     the players: what each does, one state after the other      <- and go on here
       market.c    the steps of a trade, each one script on one key; market.h says why, market_scripts.h how
       history.c   what was acknowledged           audit.c   does the store agree?
       frame.c     the clock of the loop           view.c    the picture and the summary
       sweep.c     one call for each of many       options.c, histogram.c */

#include "audit.h"
#include "frame.h"
#include "options.h"
#include "platform.h"
#include "view.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define TICK_BUDGET_US 500
#define ENDING_US 30000000ull /* for all that comes after the trading, the store being away perhaps */
#define DRAIN_US 2000000ull

typedef enum game_phase
{
    GAME_JOINING = 0, /* until the market has told which players are ours          */
    GAME_TRADING,     /* until the time is up, or Ctrl-C                           */
    GAME_CLOSING,     /* nobody begins anything new; what is under way is finished */
    GAME_AUDITING,
    GAME_REMOVING, /* of a market of our own                                    */
    GAME_DRAINING, /* nothing is left to do: locks are given back, ops end      */
    GAME_OVER
} game_phase;

typedef struct game
{
    options options;
    game_phase phase;
    uint64_t give_up_us; /* once trading is over */
    void* memory; /* all there is besides this struct; the system takes it back */
    gh_client* client;
    frame_clock clock;
    market market;
    history history;
    world world;
    sweep sweep;
    audit audit;
    view view;
} game;

/* ---- Ctrl-C -------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t stop_signals; /* one: end in good order; two: end now */

static void on_stop(int number)
{
    (void)number;
    stop_signals = stop_signals + 1;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* our own output may be a pipe that nobody reads any more */
}

/* ---- Memory: reserved once, before the first frame ----------------------------------------------------- */

static size_t round_up(size_t size)
{
    return (size + 63) & ~(size_t)63;
}

static void* cut(unsigned char** memory, size_t size)
{
    void* piece = *memory;
    *memory += round_up(size);
    return piece;
}

static gh_client_config client_config(game* g)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(g->options.redis);
    config.user = gh_str_of(g->options.user);
    config.password = gh_str_of(g->options.password);
    config.client_name = gh_str_literal("game_server");
    config.ops_capacity = 2 * g->options.players; /* each has a lock and a call */
    config.out_bytes = 256 * 1024;
    config.hooks.context = &g->view;
    config.hooks.log = view_log;
    return config;
}

/* False: it is said why not. */
static bool open_game(game* g)
{
    uint32_t players = g->options.players;
    gh_client_config config = client_config(g);
    size_t client_size = gh_client_memory(&config);
    size_t players_size = players * sizeof(player);
    size_t purses_size = players * sizeof(purse_history);
    size_t items_size = MARKET_ITEMS_MAX * sizeof(item_history);
    size_t size = round_up(client_size);
    size += round_up(players_size) + round_up(purses_size) + round_up(items_size);
    unsigned char* memory = g->memory = aligned_alloc(64, size);
    if (memory == NULL)
    {
        fprintf(stderr, "game_server: no memory\n");
        return false;
    }
    memset(memory, 0, size);

    void* client_memory = cut(&memory, client_size);
    gh_status status = gh_client_init(client_memory, client_size, &config, gh_platform_default(), &g->client);
    if (status != GH_OK)
    {
        fprintf(stderr, "game_server: %s: %s\n", g->options.redis, gh_status_text(status));
        return false;
    }
    g->world.market = &g->market;
    g->world.history = &g->history;
    g->world.random = g->options.seed;
    g->world.player_count = players;
    g->world.players = cut(&memory, players_size);
    g->history.player_count = players;
    g->history.purses = cut(&memory, purses_size);
    g->history.items = cut(&memory, items_size);

    char own[MARKET_NAME_MAX + 1];
    snprintf(own, sizeof own, "%016" PRIx64, gh_client_id(g->client));
    market_init(&g->market, g->client, g->options.market == NULL ? own : g->options.market, g->options.guard);
    return true;
}

/* ---- Phases -------------------------------------------------------------------------------------------- */

static void start_draining(game* g)
{
    gh_client_drain(g->client, DRAIN_US);
    g->phase = GAME_DRAINING;
}

static gh_status join_begin(void* context, market_call* call, uint32_t object)
{
    game* g = context;
    (void)object;
    return market_join(&g->market, call, g->options.players);
}

static void joined(void* context, const market_call* call, uint32_t object)
{
    game* g = context;
    int64_t first = market_number(call);
    (void)object;
    if (first < 0)
    {
        fprintf(stderr, "game_server: cannot join the market %s: %s\n", g->market.name,
                first == MARKET_FULL ? "it has too many players"
                                     : "it was opened with another --guard or by another version");
        start_draining(g);
        return;
    }
    g->history.first_player = (uint32_t)first;
    world_init(&g->world, (uint32_t)first);
    g->phase = GAME_TRADING;
}

static gh_status remove_begin(void* context, market_call* call, uint32_t object)
{
    game* g = context;
    uint32_t players = g->audit.players;
    uint32_t items = players * MARKET_ITEMS_EACH;
    if (object < players) return market_remove_purse(&g->market, call, object);
    if (object < players + items) return market_remove_item(&g->market, call, object - players);
    if (object == players + items) return market_remove_offers(&g->market, call);
    return market_remove(&g->market, call);
}

static void start_joining(game* g)
{
    g->sweep = (sweep){.count = 1, .context = g, .begin = join_begin, .take = joined};
    sweep_begin(&g->sweep, &g->world);
}

static void start_removing(game* g)
{
    uint32_t count = g->audit.players * (1 + MARKET_ITEMS_EACH) + 2;
    g->sweep = (sweep){.count = count, .context = g, .begin = remove_begin};
    sweep_begin(&g->sweep, &g->world);
    g->phase = GAME_REMOVING;
}

static bool is_time_up(const game* g)
{
    uint64_t seconds_us = g->options.seconds * 1000000ull;
    if (stop_signals > 0 || g->world.gone) return true;
    return seconds_us > 0 && g->clock.now_us - g->clock.started_us >= seconds_us;
}

/* What the game does in a frame. */
static void game_frame(game* g)
{
    uint64_t now = g->clock.now_us;
    if (g->give_up_us == 0 && is_time_up(g)) g->give_up_us = now + ENDING_US;

    bool too_long = g->give_up_us > 0 && (now >= g->give_up_us || stop_signals > 1);
    if (too_long && g->phase < GAME_DRAINING) start_draining(g);

    switch (g->phase)
    {
    case GAME_JOINING:
        if (sweep_frame(&g->sweep, &g->world, now)) break; /* joined() has moved us on */
        if (g->give_up_us > 0) start_draining(g);
        break;
    case GAME_TRADING:
        world_frame(&g->world, now, false);
        if (g->give_up_us > 0) g->phase = GAME_CLOSING;
        break;
    case GAME_CLOSING:
        world_frame(&g->world, now, true);
        if (g->world.busy > 0) break;
        audit_begin(&g->audit, &g->world);
        g->phase = GAME_AUDITING;
        break;
    case GAME_AUDITING:
        if (!audit_frame(&g->audit, now)) break;
        /* What is wrong is left where it is, to be looked at. */
        if (g->options.market == NULL && audit_holds(&g->audit)) start_removing(g);
        else start_draining(g);
        break;
    case GAME_REMOVING:
        if (sweep_frame(&g->sweep, &g->world, now)) start_draining(g);
        break;
    case GAME_DRAINING:
        if (gh_client_drained(g->client)) g->phase = GAME_OVER;
        break;
    case GAME_OVER: break;
    }
}

static const char* phase_text(game_phase phase)
{
    static const char* const texts[] = {"joining", "trading",    "closing", "audit",
                                        "removing", "leaving", "over"};
    return texts[phase];
}

static void run(game* g)
{
    start_joining(g);
    while (g->phase != GAME_OVER)
    {
        frame_begin(&g->clock);
        frame_tick(&g->clock, g->client, TICK_BUDGET_US);
        game_frame(g);
        frame_tick(&g->clock, g->client, TICK_BUDGET_US);
        g->view.doing = phase_text(g->phase);
        view_frame(&g->view);
        frame_end(&g->clock);
    }
}

int main(int argc, char** argv)
{
    static game g; /* zeroed, and too large for a stack */
    int exit_code = 0;
    if (!options_parse(&g.options, argc, argv, &exit_code)) return exit_code;
    if (!open_game(&g)) return 1;

    catch_signals();
    g.view.clock = &g.clock;
    g.view.world = &g.world;
    g.view.client = g.client;
    view_open(&g.view, g.options.quiet);
    run(&g);
    view_close(&g.view);

    gh_client_stats stats = {0};
    gh_client_get_stats(g.client, &stats);
    gh_client_shutdown(g.client);
    view_summary(&g.view, &stats, &g.audit);
    return audit_holds(&g.audit) ? 0 : 1;
}
