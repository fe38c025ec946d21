/* events.h -- what happens to the store while the game plays on: servers are killed, frozen and replaced, slots move,
   nodes come and go. One after the other, each until all is well again, and what players felt of it.

   Who does it is tests/fleet.sh, which has started these servers. It reads orders from a pipe and writes answers to a
   file, both in the folder that --events names:

       events --(DIR/orders: "kill 0")--> tests/fleet.sh --> the servers
          ^                                     |
          '-------(DIR/answers: all of them)----' */

#ifndef GAME_SERVER_EVENTS_H
#define GAME_SERVER_EVENTS_H

#include "options.h"
#include "snapshot.h"

enum
{
    EVENTS_MAX = 8,
    EVENTS_SERVERS = 32,
    EVENTS_LINE_SIZE = 512
};

typedef struct event
{
    const char* text;
    char address[32];   /* of the server that it happened to; empty: it was none alone */
    uint64_t begun_us;  /* 0: not yet */
    uint64_t took_us;   /* until all was well again; 0: it was not                       */
    uint64_t away_us;   /* until another server was in the place of this one; 0: none was meant to be */
    uint64_t delay_us;  /* the longest of an op that waits for nobody but the store      */
    uint64_t late;      /* frames that came late because of gh_tick                      */
    uint64_t losses;    /* ops that ended LOST or RESTARTED until the next one began     */
} event;

typedef struct events
{
    /* read-only */
    event calm; /* before the first of them */
    event list[EVENTS_MAX];
    uint32_t count;
    uint32_t done;
    bool failed; /* nothing more is done: no answer, or a refusal */
    uint64_t begun_us;

    /* private */
    const struct plan* plans;
    uint64_t end_us;
    int orders;
    int answers;
    const char* left; /* of the orders of this event */
    bool asked;
    uint64_t struck_us; /* when a server was last killed or frozen */
    uint64_t again_us;  /* when the next begins                    */
    uint64_t give_up_us;
    uint64_t late_before;
    uint64_t losses_before;
    int chosen; /* numbers of tests/fleet.sh; -1: none */
    int newest;
    bool is_master[EVENTS_SERVERS];
    char addresses[EVENTS_SERVERS][32];
    char line[EVENTS_LINE_SIZE];
    size_t line_size;
} events;

void events_begin(events* e, const options* o, uint64_t now_us);

/* Each frame while the game is played; on the row is said what happens. */
void events_frame(events* e, const snapshot* shown, board_row* row);

/* True when all is done, and the time of --seconds is up; never without --events. */
bool events_are_over(const events* e, uint64_t now_us);

/* How many ops were told of a loss, of all that is shown; and so many of them that nothing accounts for: no event loses
   what the store has answered, and no op waited so long meanwhile that a lease may have run out. */
uint64_t events_losses(const snapshot* shown);
uint64_t events_losses_unproven(const events* e, const snapshot* shown);

/* Half of the shortest lease that the game has, of a task: two missed renewals may be the end of it. */
#define EVENTS_LEASES_LAST_US 1000000u

/* The longest that a server was away and not replaced. From so much on an op may have waited for it in vain: the game's
   ops have five seconds, of which one is for the way to the new server. */
uint64_t events_away_us(const events* e);

#define EVENTS_OPS_WAIT_US 4000000u

void events_end(events* e);

#endif
