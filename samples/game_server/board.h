/* board.h -- how every process of the fleet is: a file in shared memory with a row for each process. A
   process writes its own row once a frame, the view reads them all. It works just as well while the store is
   down.

   A row is guarded by a count: odd while its owner writes. A reader copies the row and takes the copy only if
   the count was even and the same before and after; so nobody waits for anybody. */

#ifndef GAME_SERVER_BOARD_H
#define GAME_SERVER_BOARD_H

#include "guildhall/client.h"

#include <stdatomic.h>

enum
{
    BOARD_ROWS = 16,
    BOARD_TEXT_SIZE = 96,
    BOARD_EVENTS = 16,  /* the newest of a process      */
    BOARD_COUNTS = 24,  /* what a role counts, by name  */
    BOARD_CHECKS = 16,  /* what a role checks, by name  */
    BOARD_SYSTEMS = 24, /* of Guildhall, by name       */
    BOARD_ENDS = 32,    /* that an op had below zero, by system and status */
    BOARD_BARS = 18,    /* of frames by their length, each of 1 ms: below 10 ms, 10, 11, ... 25, and the rest */
    BOARD_BARS_FROM_MS = 10
};

typedef struct board_histogram
{
    uint64_t p50_us;
    uint64_t p99_us;
    uint64_t p999_us;
    uint64_t max_us;
    uint64_t recent_us; /* the largest of the last 60 values: a second of frames */
} board_histogram;

typedef struct board_event
{
    uint64_t number; /* of this process, from 1; 0: none      */
    uint64_t at_us;  /* CLOCK_MONOTONIC, of the machine       */
    int32_t level;   /* a gh_log_level                        */
    char text[BOARD_TEXT_SIZE];
} board_event;

typedef struct board_count
{
    char name[24]; /* "chat.sent"; empty: the end of the list */
    uint64_t value;
} board_count;

typedef struct board_ended
{
    char system[16]; /* empty: the end of the list */
    int32_t status;  /* a gh_status below zero     */
    uint64_t count;
} board_ended;

typedef struct board_check
{
    char name[32]; /* "chat: no gap" */
    uint64_t passed;
    uint64_t failed;
} board_check;

typedef struct board_row
{
    char role[16]; /* server, worker, bots, aggregator; empty: nobody has this row */
    char name[24];
    char phase[24]; /* "open", "closing"; "over" when it ended in good order */
    int64_t pid;
    uint64_t beat_us; /* when it wrote this, CLOCK_MONOTONIC */
    uint64_t frames;
    uint64_t frames_late_by_tick;    /* over 16.6 ms because of gh_tick       */
    uint64_t frames_late_by_own;     /* of those: by what it computed, by the processor's own clock */
    uint64_t ticks_blocked;          /* in which the kernel put the process to sleep */
    uint64_t frames_late_by_machine; /* because of others, the game included  */
    uint32_t port;                   /* of a server: where players connect    */
    uint32_t players;                /* in the world                          */
    uint32_t queued;                 /* in line for a seat                    */
    gh_link_state link;
    board_histogram frame_us;
    uint64_t frame_bars[BOARD_BARS];
    board_histogram tick_us;     /* in gh_tick, in a frame, by the wall clock */
    board_histogram tick_cpu_us; /* the same, without what other programs took meanwhile */
    gh_client_stats stats;
    board_count counts[BOARD_COUNTS];
    board_count ops[BOARD_SYSTEMS]; /* that ended, by system: "lock", "chat", ... */
    board_ended ends[BOARD_ENDS];
    uint64_t delay_us; /* the longest of the last ops that wait for nobody but the store */
    board_check checks[BOARD_CHECKS];
    board_event events[BOARD_EVENTS]; /* event n lies in n % BOARD_EVENTS */
} board_row;

typedef struct board_slot
{
    _Atomic uint64_t count;
    board_row row;
} board_slot;

typedef struct board
{
    board_slot slots[BOARD_ROWS];
} board;

/* Makes the file and maps it (the fleet), or maps one that is there (all others). NULL and errno if that
   cannot be done. */
board* board_create(const char* path);
board* board_open(const char* path);

/* Shows row as it is now. Between calls a process keeps its row as it likes. */
void board_publish(board* b, uint32_t slot, const board_row* row);

/* False: its owner is in the middle of writing it, time after time; the caller keeps what it had. */
bool board_look(const board* b, uint32_t slot, board_row* row);

/* Adds an event to the row; the oldest goes. */
void board_say(board_row* row, uint64_t now_us, int level, gh_str text);

/* The count or check of that name, made at its first use; NULL if there are too many. */
uint64_t* board_count_of(board_row* row, const char* name);
uint64_t* board_ops_of(board_row* row, const char* system);

/* Counts an op that ended so; what comes when there are too many kinds of it, is not counted. */
void board_end(board_row* row, const char* system, gh_status status);
void board_check_that(board_row* row, const char* name, bool holds);

#endif
