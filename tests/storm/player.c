/* player.c -- a game server: clients, an actor for each system on each of them, and a frame loop. */

#include "storm/storm.h"

#include "storm/board.h"
#include "storm/seat.h"
#include "support/process.h"

#include <execinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum
{
    STALL_US = 60000,
    HANDLES_MAX = 32,
    PAUSE_MS = 1
};

static player_seat seats[STORM_CLIENTS];

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

static bool turn_seat(player_seat* seat, bool may_begin)
{
    uint64_t now_us = history_now();
    seat_tick(seat, now_us, now_us, 0);
    return seat_act(seat, may_begin);
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

static void drain(void)
{
    bool drained = false;
    for (int i = 0; i < STORM_CLIENTS; i++) seat_note_going(&seats[i]);
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
        seat_start(&seats[i], who, board->addresses[i % 2], gh_platform_default(), history_now());
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
