/* history.h -- how the fleet was in the last minutes, a point a second: kept here, so that it is there when a page is
   opened. */

#ifndef GAME_SERVER_HISTORY_H
#define GAME_SERVER_HISTORY_H

#include "snapshot.h"

enum
{
    HISTORY_POINTS = 300
};

/* Point n lies in n % HISTORY_POINTS; 0 where there was nothing to see. */
typedef struct history_server
{
    char name[24]; /* empty: no server has this row of the board */
    uint32_t frame_us[HISTORY_POINTS]; /* the longest frame of that second */
    uint32_t tick_us[HISTORY_POINTS];  /* the longest gh_tick             */
} history_server;

typedef struct history_system
{
    char name[24]; /* empty: the end of the list */
    uint64_t total;
    uint32_t ops_each_s[HISTORY_POINTS];
} history_system;

/* Zero is empty. */
typedef struct history
{
    uint64_t count; /* of points, those that were overwritten included */
    uint64_t taken_us;
    history_server servers[BOARD_ROWS];
    history_system systems[BOARD_SYSTEMS];
} history;

/* Takes a point if a second is over. Once a frame. */
void history_take(history* h, const snapshot* s);

/* {"points":2,"servers":[{"name":"server-1","frame_us":[17000,16900],"tick_us":[..]}],"systems":[{"name":"lock",
   "ops_each_s":[3,0],"total":40}]}, the oldest point first. */
void history_add_json(const history* h, text* t);

#endif
