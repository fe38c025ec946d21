/* snapshot.h -- the board as it is now: what the screen, the page and the summary show. */

#ifndef GAME_SERVER_SNAPSHOT_H
#define GAME_SERVER_SNAPSHOT_H

#include "board.h"
#include "text.h"
#include "totals.h"

enum
{
    SNAPSHOT_EVENTS = 12
};

typedef struct snapshot_event
{
    const char* who; /* name of the process */
    const board_event* event;
} snapshot_event;

typedef struct snapshot
{
    uint64_t started_us;
    uint64_t now_us;
    board_row rows[BOARD_ROWS];             /* a row with an empty role is nobody's */
    snapshot_event events[SNAPSHOT_EVENTS]; /* of all processes, the newest first */
    uint32_t event_count;
    totals totals; /* of today; whoever reads them from the store puts them here */
} snapshot;

/* A row that is being written keeps what the last snapshot had. */
void snapshot_take(snapshot* s, const board* b, uint64_t now_us);

/* What all processes count under the same name, together: counts and ops of sum. */
void snapshot_sum(const snapshot* s, board_row* sum);

const char* snapshot_link_text(gh_link_state state);

/* The warnings of a client as text, "" if there are none. */
const char* snapshot_warnings(uint32_t warnings, char* out, size_t out_size);

/* All of it. */
void snapshot_add_json(const snapshot* s, text* t);

#endif
