/* frame.h -- a loop of 60 frames a second, and whose fault it was when a frame came late. */

#ifndef GAME_SERVER_FRAME_H
#define GAME_SERVER_FRAME_H

#include "guildhall/client.h"
#include "histogram.h"

#define FRAME_US 16667ull

typedef struct frame_clock
{
    uint64_t now_us;        /* when this frame began; the time for everything that happens in it */
    uint64_t last_frame_us; /* how long the one before took, with its sleep */
    uint64_t started_us;

    histogram frame_us;    /* from the begin of a frame to the begin of the next */
    uint64_t frame_bars[BOARD_BARS]; /* the same */
    histogram tick_us;     /* in gh_tick, all ticks of a frame, by the wall clock */
    histogram tick_cpu_us; /* the same, without what other programs took meanwhile */
    uint64_t frames;

    bool in_play; /* no frame is called late before: players do not wait while a process connects, and a hand-shake
                     with certificates computes for some ms */

    /* A frame is late when its work ended after the next one should have begun. */
    uint64_t late_by_tick;
    uint64_t late_by_own; /* of those: by what gh_tick computed, whatever the machine did meanwhile */
    uint64_t late_by_machine;
    uint64_t tick_blocked; /* ticks in which the kernel put us to sleep: must stay 0 */

    /* private */
    uint64_t planned_us;
    uint64_t tick_wall_us; /* of all ticks in this frame */
    uint64_t tick_cost_us; /* the same, without what other programs took */
    uint64_t tick_own_us;  /* the processor's time in them               */
} frame_clock;

uint64_t frame_now_us(void); /* monotonic */

/* A frame is: begin, tick, your game, tick, end. The first tick brings what has arrived, the second sends
   what the game has just asked for; with one tick each question would take a frame longer. They share the
   budget of the frame. end sleeps until the next frame is due. */
void frame_begin(frame_clock* clock);
void frame_tick(frame_clock* clock, gh_client* client, uint64_t budget_us);
void frame_end(frame_clock* clock);

#endif
