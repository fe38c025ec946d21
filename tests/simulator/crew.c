/* crew.c -- processes of players that are structs: frames, hitches, deaths. */

#include "simulator/crew.h"

#include "simulator/events.h"
#include "simulator/network.h"
#include "storm/fleet.h"
#include "storm/players.h"
#include "storm/seat.h"

#include <stdlib.h>
#include <string.h>

enum
{
    STALL_US = 60000,
    CALM_FRAME_US = 25000,
    DRAIN_US = 2000000,
    SLEEP_LEAST_US = 1000,
    SLEEP_MOST_US = 60000000,
    WAIT_STEP_US = 20000
};

/* One process. A frame is a row of steps, two for each client: its tick, and what its actors do with it. Between two
   steps the process may stand still for a while, as any process may, anywhere. */
typedef struct crew_process
{
    storm_who who;
    network_host host;
    player_seat seats[STORM_CLIENTS];
    random_stream random;
    uint64_t frame_us;
    unsigned turns;   /* of its actors, in a frame */
    uint64_t last_us; /* of its last frame */
    unsigned lives;   /* tells its events from those of the life before */
    unsigned step;
    bool idle; /* so far in this frame */
    bool runs;
    bool frozen;
    bool asleep; /* because it wants to be */
    bool missed; /* it had something to do while it was frozen */
    bool drains;
} crew_process;

static struct
{
    crew_process all[CREW_PROCESSES_MAX];
    unsigned clients[CREW_PROCESSES_MAX];
    crew_pace pace;
    bool plays;
    storm_stage stage;
} crew;

void crew_open(const unsigned clients[CREW_PROCESSES_MAX], crew_pace pace)
{
    memcpy(crew.clients, clients, sizeof crew.clients);
    crew.pace = pace;
    crew.plays = true;
    crew.stage = STAGE_RUN;
}

storm_stage storm_stage_now(void)
{
    return crew.stage;
}

void storm_set_stage(storm_stage stage)
{
    crew.stage = stage;
}

/* ---- frames ----------------------------------------------------------------------------------------------- */

static void go_on(void* context, uint64_t life);

static void later(crew_process* p, uint64_t us)
{
    events_at(history_now() + us, go_on, p, p->lives);
}

static void note_stall(crew_process* p)
{
    uint64_t now_us = history_now();
    storm_event event = {.system = STORM_CORE, .what = MARK_STALL, .a = p->last_us};
    if (now_us - p->last_us > STALL_US) (void)history_event(p->who, event);
    p->last_us = now_us;
}

/* A budget now and then: what it does not allow waits for the next tick. */
static uint64_t draw_budget(crew_process* p)
{
    return random_one_in(&p->random, 8) ? random_between(&p->random, 1, 200) : 0;
}

static void take_step(crew_process* p)
{
    player_seat* seat = &p->seats[p->step / 2];
    bool may_begin = crew.stage == STAGE_RUN && crew.plays, idle = true;
    p->host.spent_us = 0;
    if (p->step % 2 == 0) seat_tick(seat, history_now(), network_clock(&p->host), draw_budget(p));
    else
        for (unsigned i = 0; i < p->turns; i++) idle = seat_act(seat, may_begin);
    p->idle = p->idle && idle;
}

/* How long a process stands still between two steps; mostly not at all. */
static uint64_t draw_hitch(crew_process* p)
{
    if (!random_one_in(&p->random, 256)) return 0;
    if (!random_one_in(&p->random, 16)) return random_between(&p->random, 1, 4000);
    return random_between(&p->random, 4000, random_one_in(&p->random, 4) ? 1500000 : 120000);
}

static void begin_drain(crew_process* p)
{
    p->drains = true;
    for (unsigned i = 0; i < crew.clients[p->who.process]; i++)
    {
        seat_note_going(&p->seats[i]);
        (void)gh_client_drain(p->seats[i].client.client, DRAIN_US);
    }
}

static void leave_room(player_seat* seat)
{
    for (unsigned i = 0; i < seat->actor_count; i++) free(seat->actors[i].actor);
    free(seat->memory);
    memset(seat, 0, sizeof *seat);
}

static void drain(crew_process* p)
{
    bool drained = true;
    for (unsigned i = 0; i < crew.clients[p->who.process]; i++)
    {
        gh_client* client = p->seats[i].client.client;
        (void)gh_tick(client, network_clock(&p->host), 0);
        drained = drained && gh_client_drained(client);
    }
    if (!drained)
    {
        later(p, 1000);
        return;
    }
    for (unsigned i = 0; i < crew.clients[p->who.process]; i++)
    {
        gh_client_shutdown(p->seats[i].client.client);
        leave_room(&p->seats[i]);
    }
    p->runs = false;
}

/* Until one of its clients has something to do, or something arrives for it. */
static void sleep_long(crew_process* p)
{
    uint64_t now_us = history_now(), wake_us = now_us + SLEEP_MOST_US;
    uint64_t bytes_us = network_next_us(&p->host), clock_us = network_clock(&p->host);
    if (bytes_us < wake_us) wake_us = bytes_us;
    for (unsigned i = 0; i < crew.clients[p->who.process]; i++)
    {
        uint64_t due_us = gh_next_deadline(p->seats[i].client.client);
        uint64_t left_us = due_us > clock_us ? due_us - clock_us : 0;
        if (left_us < wake_us - now_us) wake_us = now_us + left_us;
    }
    p->asleep = true;
    later(p, wake_us > now_us + SLEEP_LEAST_US ? wake_us - now_us : SLEEP_LEAST_US);
}

void crew_let_play(bool plays)
{
    crew.plays = plays;
    for (unsigned i = 0; plays && i < storm.players; i++)
    {
        crew_process* p = &crew.all[i];
        if (!p->asleep || !p->runs) continue;
        p->lives++; /* when it would have woken up is of no interest any more */
        later(p, random_below(&p->random, p->frame_us));
    }
}

static void end_frame(crew_process* p)
{
    p->step = 0;
    if (p->idle && !crew.plays && crew.stage == STAGE_RUN)
    {
        sleep_long(p);
        return;
    }
    if (p->idle && crew.stage != STAGE_RUN) begin_drain(p);
    uint64_t frame_us = p->frame_us;
    if (crew.stage != STAGE_RUN && frame_us < CALM_FRAME_US) frame_us = CALM_FRAME_US;
    later(p, frame_us - frame_us / 4 + random_below(&p->random, frame_us / 2 + 1));
}

static void go_on(void* context, uint64_t life)
{
    crew_process* p = context;
    if (!p->runs || p->lives != life) return;
    p->missed = p->frozen;
    if (p->frozen) return;
    if (p->drains)
    {
        drain(p);
        return;
    }
    if (p->step == 0)
    {
        if (p->asleep) p->last_us = history_now();
        p->asleep = false;
        note_stall(p);
        p->idle = true;
    }
    while (p->step < crew.clients[p->who.process] * 2)
    {
        take_step(p);
        p->step++;
        uint64_t hitch_us = draw_hitch(p);
        if (hitch_us == 0) continue;
        later(p, hitch_us);
        return;
    }
    end_frame(p);
}

/* ---- lives ------------------------------------------------------------------------------------------------ */

static uint64_t draw_frame(random_stream* random)
{
    static const uint64_t lengths_us[] = {1000, 4000, 8000, 16667, 16667, 33333};
    return lengths_us[random_below(random, sizeof lengths_us / sizeof lengths_us[0])];
}

static void start(unsigned player)
{
    crew_process* p = &crew.all[player];
    storm_event build = {.system = STORM_CORE, .what = MARK_BUILD, .a = gh_version()};
    p->who.process = (uint8_t)player;
    p->who.client = 0;
    p->frozen = p->missed = p->drains = p->asleep = false;
    p->runs = true;
    p->lives++;
    p->step = 0;
    p->last_us = history_now();
    p->random = storm_random("process", player, p->who.life, 0);
    p->frame_us = crew.pace.frame_us != 0 ? crew.pace.frame_us : draw_frame(&p->random);
    p->turns = crew.pace.turns != 0 ? crew.pace.turns : (unsigned)random_between(&p->random, 1, 4);
    network_host_start(&p->host, player, p->who.life, false);
    (void)history_event(p->who, build);
    for (uint8_t i = 0; i < crew.clients[player]; i++)
    {
        storm_who who = {p->who.process, i, p->who.life};
        seat_start(&p->seats[i], who, fleet_address(), &p->host.platform, network_clock(&p->host));
    }
    later(p, random_below(&p->random, p->frame_us));
}

void players_start(void)
{
    memset(crew.all, 0, sizeof crew.all);
    for (unsigned i = 0; i < storm.players; i++) start(i);
}

void players_kill(unsigned player)
{
    crew_process* p = &crew.all[player];
    storm_event event = {.system = STORM_CORE, .what = MARK_KILLED, .object = (uint8_t)player};
    if (!p->runs) return;
    p->runs = false;
    network_host_end(&p->host);
    for (unsigned i = 0; i < crew.clients[player]; i++) leave_room(&p->seats[i]);
    p->who.life++;
    (void)history_event((storm_who){0, 0, 0}, event);
}

void players_revive(unsigned player)
{
    if (!crew.all[player].runs && crew.stage == STAGE_RUN) start(player);
}

void players_freeze(unsigned player)
{
    crew.all[player].frozen = crew.all[player].runs;
}

void players_thaw(unsigned player)
{
    crew_process* p = &crew.all[player];
    if (!p->frozen) return;
    p->frozen = false;
    if (p->missed) later(p, 0);
    p->missed = false;
}

bool players_wait(uint64_t cap_us)
{
    uint64_t end_us = history_now() + cap_us;
    for (unsigned i = 0; i < storm.players; i++)
        while (crew.all[i].runs && history_now() < end_us) history_pause(WAIT_STEP_US);
    for (unsigned i = 0; i < storm.players; i++)
        if (crew.all[i].runs) return false;
    return true;
}

/* Dead is who was killed: a crash ends the simulator. */
void players_look(void)
{
}

unsigned players_crashed(void)
{
    return 0;
}

/* Of storms with two builds alone. */
bool players_send_off(unsigned player)
{
    (void)player;
    return false;
}

bool players_has_gone(unsigned player)
{
    return !crew.all[player].runs;
}

void players_replace(unsigned player)
{
    players_kill(player);
    players_revive(player);
}
