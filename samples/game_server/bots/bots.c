/* bots.c -- the players of the fleet: real connections, each with wishes of its own, that check what they are
   told. One loop, 100 times a second: what has arrived, what each bot does next, what goes out.

       PLAYING --> SETTLING: nobody wishes anything any more, answers come in
               --> LEAVING: who has still to read or hear something does it, or comes in for it once more, and
                   all leave with FAREWELL
               --> the checks are judged */

#include "aside.h"
#include "bots/crowd.h"
#include "frame.h"
#include "roles.h"
#include "stop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LOOP_US    10000ull
#define WANTED_US  100000ull   /* how often it is looked who has still to hear something */
#define SETTLE_US  35000000ull /* longer than any answer may take                        */
#define LEAVE_US   90000000ull
#define MUCH_ASKED 1000u /* then each check must have been made: of a hundred requests one is of the rarest kind */

typedef struct play
{
    crowd crowd;
    board_row row;
    board* board; /* NULL: nobody looks at us */
    uint32_t slot;
    uint64_t started_us;
    uint64_t closing_us;
    uint64_t judged_us;
} play;

/* ---- Open ---------------------------------------------------------------------------------------------- */

static bool open_play(play* p, const options* o)
{
    if (o->port_count == 0) fputs("bots: --servers PORT,... is needed\n", stderr);
    if (o->port_count == 0) return false;
    snprintf(p->row.role, sizeof p->row.role, "bots");
    snprintf(p->row.name, sizeof p->row.name, "%s", o->name);
    p->row.pid = getpid();
    p->slot = o->slot;
    if (o->board != NULL) p->board = board_open(o->board);
    if (o->board != NULL && p->board == NULL)
    {
        fprintf(stderr, "bots: no board %s: %s\n", o->board, strerror(errno));
        return false;
    }
    checks_open(&p->row);
    p->started_us = p->crowd.now_us = frame_now_us();
    bool good = crowd_open(&p->crowd, o, &p->row);
    if (!good) fputs("bots: no memory or no network\n", stderr);
    return good;
}

/* ---- Phases -------------------------------------------------------------------------------------------- */

static const char* phase_of(const crowd* c)
{
    return !c->closing ? "playing" : !c->settled ? "settling" : "leaving";
}

/* The last quarter of a short run, the last ten seconds of a long one, are for the end. */
static bool is_time_to_close(const play* p)
{
    uint64_t seconds = p->crowd.options->seconds;
    uint64_t end = seconds < 40 ? seconds / 4 : 10;
    bool late = seconds > 0 && p->crowd.now_us - p->started_us >= (seconds - end) * 1000000;
    return late || stop_signals() > 0;
}

static bool is_any_open(const crowd* c)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (request_is_open(&c->bots[i])) return true;
    return false;
}

static void phase_frame(play* p)
{
    crowd* c = &p->crowd;
    if (!c->closing && is_time_to_close(p))
    {
        c->closing = true;
        p->closing_us = c->now_us;
    }
    if (!c->closing) return;
    bool settled = c->settled || !is_any_open(c) || c->now_us - p->closing_us > SETTLE_US;
    if (!settled || c->now_us - p->judged_us < WANTED_US) return;
    judge_wanted(c);
    p->judged_us = c->now_us;
    c->settled = true;
}

static bool is_over(const play* p)
{
    const crowd* c = &p->crowd;
    if (stop_signals() > 1) return true;
    if (!c->settled) return false;
    if (c->now_us - p->closing_us > SETTLE_US + LEAVE_US) return true;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->bots[i].state != BOT_OVER) return false;
    return true;
}

/* ---- The loop ------------------------------------------------------------------------------------------ */

static void take_events(crowd* c)
{
    wire_event event;
    while (wire_next(c->wire, &event))
    {
        bot* b = &c->bots[event.bot];
        switch (event.kind)
        {
        case WIRE_CONNECTED: bot_connected(c, b); break;
        case WIRE_MESSAGE: bot_message(c, b, &event.message); break;
        case WIRE_NONSENSE:
            check_that(c->row, CHECK_ANSWERS, false, "bot %u gets bytes that are no message", b->number);
            break;
        case WIRE_LOST: bot_lost(c, b); break;
        }
    }
}

static void publish(play* p, const char* phase)
{
    const crowd* c = &p->crowd;
    p->row.players = p->row.queued = 0;
    for (uint32_t i = 0; i < c->count; i++)
    {
        p->row.players += c->bots[i].in;
        p->row.queued += c->bots[i].state == BOT_IN_LINE;
    }
    p->row.beat_us = c->now_us;
    p->row.frames++;
    snprintf(p->row.phase, sizeof p->row.phase, "%s", phase);
    if (p->board != NULL) board_publish(p->board, p->slot, &p->row);
}

static void sleep_until(uint64_t us)
{
    struct timespec until = {.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000 * 1000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void run(play* p)
{
    crowd* c = &p->crowd;
    while (!is_over(p))
    {
        c->now_us = frame_now_us();
        take_events(c);
        for (uint32_t i = 0; i < c->count; i++) bot_frame(c, &c->bots[i]);
        wire_flush(c->wire);
        phase_frame(p);
        publish(p, phase_of(c));
        sleep_until(c->now_us + LOOP_US);
    }
}

/* ---- The end ------------------------------------------------------------------------------------------- */

static bool summarize(play* p)
{
    uint64_t played_us = p->closing_us - p->started_us;
    fprintf(aside(), "%" PRIu32 " bots, seed %" PRIu64 ", %.1f s of play and %.1f s to the end\n", p->crowd.count,
            p->crowd.options->seed, (double)played_us / 1e6, (double)(frame_now_us() - p->closing_us) / 1e6);
    for (int i = 0; i < BOARD_COUNTS && p->row.counts[i].name[0] != '\0'; i++)
        fprintf(aside(), "  %-30s %10" PRIu64 "\n", p->row.counts[i].name, p->row.counts[i].value);
    return checks_hold(&p->row, tally_of(&p->crowd, TALLY_ASKED) >= MUCH_ASKED);
}

int bots_main(const options* o)
{
    static _Thread_local play p; /* zeroed, and too large for a stack */
    bool good = open_play(&p, o);
    if (good)
    {
        run(&p);
        if (p.closing_us == 0) p.closing_us = frame_now_us();
        judge_all(&p.crowd);
        good = summarize(&p) && stop_signals() < 2;
        publish(&p, good ? "over" : "failed");
    }
    crowd_close(&p.crowd);
    return good ? 0 : 1;
}
