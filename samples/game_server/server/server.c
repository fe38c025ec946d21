/* server.c -- a game server: 60 frames a second, each of them

       frame_begin
       gh_tick        what the store has answered
       network        what the players ask
       trade, social  each request goes a step further
       seats          who comes, who goes
       gh_tick        what this frame has asked goes out
       frame_end      sleeps until the next frame

   and nothing in it waits. */

#include "market/market_replies.h"
#include "market/market_steps.h"
#include "member.h"
#include "roles.h"
#include "server/seats.h"
#include "stop.h"

#include <sched.h>
#include <stdio.h>

#define CLOSING_US 30000000ull /* for those who leave, the store being away perhaps */
#define DRAIN_US   2000000ull

typedef enum server_phase
{
    SERVER_OPENING = 0, /* until the store has said that we play by the same rules      */
    SERVER_OPEN,
    SERVER_CLOSING, /* the players leave                                                */
    SERVER_DRAINING,
    SERVER_OVER
} server_phase;

typedef struct server
{
    member member;
    server_phase phase;
    uint64_t give_up_us; /* when closing */
    bool failed;
    network* network;
    market market;
    market_call opening;
    bool asking;
    sender sender;
    event_log log;
    trade* trade;
    social* social;
    seats* seats;
    uint64_t* lines; /* that were logged, on the board */
} server;

/* ---- Open and close ------------------------------------------------------------------------------------ */

/* Everything that all players could want at once; then no capacity is ever full. */
static gh_client_config capacities(const options* o)
{
    gh_client_config config = gh_client_config_default();
    config.ops_capacity = (TRADE_OPS + SEATS_OPS) * o->players_max + social_ops(o->players_max) + 64;
    config.requests_capacity = 4096;
    config.out_bytes = 1024 * 1024;
    config.reply_bytes = 1024 * 1024;
    config.reply_nodes = 16384;
    return config;
}

/* The frames that come late on a shared machine come late because the kernel gives the processor to others;
   among processes of a real-time class it does not. A server sleeps in each frame, so the others get their
   share. */
static void ask_for_realtime(server* s)
{
    struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_RR)};
    if (sched_setscheduler(0, SCHED_RR, &lowest) == 0) return;
    board_say(&s->member.row, frame_now_us(), GH_LOG_WARNING, gh_str_literal("no real-time class: it is not allowed"));
}

/* Social life knows nothing of trade, so this tells one of the other. */
static void on_market_letter(void* context, uint32_t slot, gh_str words)
{
    server* s = context;
    trade_letter(s->trade, slot, words);
}

static bool open_world(server* s, const options* o)
{
    market_init(&s->market, s->member.client, o->prefix == NULL ? "gh" : o->prefix, o->guard);
    s->network = network_open(o->port, o->players_max);
    if (s->network == NULL) return false;
    if (!sender_open(&s->sender, s->member.client)) return false;
    if (!event_log_open(&s->log, o->logs, o->name, &s->sender)) return false;
    s->lines = board_count_of(&s->member.row, "log.lines");
    s->social = social_open(&(social_config){.client = s->member.client,
                                             .network = s->network,
                                             .row = &s->member.row,
                                             .log = &s->log,
                                             .players_max = o->players_max,
                                             .database = o->database,
                                             .on_market_letter = on_market_letter,
                                             .context = s});
    if (s->social == NULL) return false;
    s->trade = trade_open(&(trade_config){.client = s->member.client,
                                          .network = s->network,
                                          .social = s->social,
                                          .row = &s->member.row,
                                          .market = &s->market,
                                          .players_max = o->players_max,
                                          .random = random_seeded(o->seed, 0)});
    if (s->trade == NULL) return false;
    s->seats = seats_open(&(seats_config){.client = s->member.client,
                                          .network = s->network,
                                          .trade = s->trade,
                                          .social = s->social,
                                          .row = &s->member.row,
                                          .players_max = o->players_max,
                                          .seat_count = o->seats == 0 ? o->players_max : o->seats,
                                          .server = o->name});
    return s->seats != NULL;
}

static void close_world(server* s)
{
    if (s->seats != NULL) seats_close(s->seats);
    if (s->trade != NULL) trade_close(s->trade);
    if (s->social != NULL) social_close(s->social);
    if (s->network != NULL) network_close(s->network);
    sender_close(&s->sender);
}

/* ---- Phases -------------------------------------------------------------------------------------------- */

static void open_market(server* s)
{
    gh_status status = s->asking ? gh_op_poll(&s->opening.op.op) : GH_IDLE;
    if (status == GH_PENDING) return;
    if (status != GH_OK)
    {
        s->asking = market_open(&s->market, &s->opening) == GH_OK;
        return;
    }
    s->failed = market_number(&s->opening) != MARKET_DONE;
    s->phase = s->failed ? SERVER_CLOSING : SERVER_OPEN;
    if (s->failed) fputs("server: the market was opened with another --guard\n", stderr);
}

static void drain(server* s)
{
    gh_client_drain(s->member.client, DRAIN_US);
    s->phase = SERVER_DRAINING;
}

static void phase_frame(server* s)
{
    uint64_t now = s->member.clock.now_us;
    bool stop = stop_signals() > 0 && s->phase < SERVER_CLOSING;
    if (stop) s->phase = SERVER_CLOSING;
    if (s->phase == SERVER_CLOSING && s->give_up_us == 0)
    {
        s->give_up_us = now + CLOSING_US;
        seats_empty(s->seats);
    }
    switch (s->phase)
    {
    case SERVER_OPENING: open_market(s); break;
    case SERVER_OPEN: break;
    case SERVER_CLOSING:
        if (seats_are_empty(s->seats)) event_log_close(&s->log);
        if (now >= s->give_up_us || (seats_are_empty(s->seats) && sender_is_idle(&s->sender))) drain(s);
        break;
    case SERVER_DRAINING:
        if (gh_client_drained(s->member.client)) s->phase = SERVER_OVER;
        break;
    case SERVER_OVER: break;
    }
}

static const char* phase_text(server_phase phase)
{
    static const char* const texts[] = {"opening", "open", "closing", "leaving", "over"};
    return texts[phase];
}

/* ---- The frame ----------------------------------------------------------------------------------------- */

static void hear(server* s, uint32_t slot, const message* m)
{
    if (seats_message(s->seats, slot, m)) return;
    if (trade_message(s->trade, slot, m)) return;
    if (social_message(s->social, slot, m)) return;
    network_send(s->network, slot, &(message){.type = MESSAGE_SORRY, .number = m->number, .values = {SORRY_NONSENSE}});
}

static void network_frame(server* s)
{
    network_event event;
    while (network_next(s->network, &event))
    {
        if (event.gone) seats_gone(s->seats, event.slot);
        else hear(s, event.slot, &event.message);
    }
}

static void server_frame(server* s)
{
    uint64_t now = s->member.clock.now_us;
    network_frame(s);
    trade_frame(s->trade, now);
    social_frame(s->social, now, s->member.clock.last_frame_us);
    seats_frame(s->seats, now);
    event_log_frame(&s->log, now);
    sender_frame(&s->sender, now);
    if (s->lines != NULL) *s->lines = s->log.lines;
    phase_frame(s);
    network_flush(s->network);
}

static void run(server* s)
{
    while (s->phase != SERVER_OVER && stop_signals() < 2)
    {
        frame_begin(&s->member.clock);
        member_tick(&s->member);
        server_frame(s);
        member_phase(&s->member, phase_text(s->phase));
        member_tick(&s->member);
        member_end_frame(&s->member);
    }
}

int server_main(const options* o)
{
    static _Thread_local server s; /* zeroed, and too large for a stack */
    gh_client_config config = capacities(o);
    if (!member_open(&s.member, o, "server", &config)) return 1;
    if (o->realtime) ask_for_realtime(&s);
    s.failed = !open_world(&s, o);
    if (!s.failed)
    {
        s.member.row.port = network_port(s.network);
        run(&s);
    }
    bool good = !s.failed && s.phase == SERVER_OVER;
    member_close(&s.member, good);
    close_world(&s);
    return good ? 0 : 1;
}
