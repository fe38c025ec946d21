/* history.h -- what this process knows: every deed that the store has acknowledged, and the world they add up to.

   The audit compares it with the store. Deeds may be acknowledged in another order than they were done in, so the
   serial says which of two came first. */

#ifndef GAME_SERVER_HISTORY_H
#define GAME_SERVER_HISTORY_H

#include "market.h"

typedef struct deed
{
    char id[GH_UNIQUE_SIZE];
    int64_t serial; /* 0: made void */
    market_trade trade;
} deed;

typedef struct item
{
    uint32_t holder;
    int64_t price;  /* 0: in the holder's bag; else for sale */
    int64_t serial; /* of the deed that put it there         */
} item;

typedef struct history
{
    item* items;
    uint32_t item_count;
    int64_t* gold; /* by player */
    uint32_t player_count;

    /* of this trading day */
    deed* deeds;
    uint32_t deed_count;
    uint32_t deed_capacity;
} history;

/* Player p begins with the given gold and the items from p * items_each on. */
void history_enter(history* h, uint32_t player, int64_t gold, uint32_t items_each);

/* The store said: done, with this serial (0: void). */
void history_add(history* h, const char* id, int64_t serial, const market_trade* trade);

/* Room for that many more deeds? */
bool history_has_room(const history* h, uint32_t deeds);

/* What the ledger must say of the deed. */
gh_str history_text(const deed* d, char* out, size_t size);

#endif
