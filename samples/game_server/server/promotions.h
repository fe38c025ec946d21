/* promotions.h -- what is cheaper today: rows of a SQLite database that are kept in the store, refreshed
   every few seconds by whichever server has time. One place in a game for rows.h.

       SQLite: promotion, promotion_item --(a few items each frame)--> the row's text --> store --> LOOK

   A row: its title, then a line "<item> <price>" for each item. */

#ifndef GAME_SERVER_PROMOTIONS_H
#define GAME_SERVER_PROMOTIONS_H

#include "guildhall/rows.h"

#include "messages.h"

#include <stdio.h>

enum
{
    PROMOTIONS_OPS = PROMOTIONS + 2, /* places of ops_capacity */
    PROMOTION_NAME_SIZE = 24,
    PROMOTION_SIZE_MAX = 2000
};

typedef struct promotions promotions;

/* Makes the database if it is not there. NULL: it was said on stderr why not. */
promotions* promotions_open(gh_client* client, const char* database);

/* Nothing is under way any more: the client was drained or shut down. */
void promotions_close(promotions* p);

void promotions_frame(promotions* p, uint64_t now_us);

/* The row's name: "promotion-3". */
static inline gh_str promotion_name(uint32_t number, char out[PROMOTION_NAME_SIZE])
{
    return gh_str_make(out, (size_t)snprintf(out, PROMOTION_NAME_SIZE, "promotion-%u", number));
}

#endif
