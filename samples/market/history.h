/* history.h -- what the store has acknowledged to this game server. The audit compares it with the store. */

#ifndef GAME_SERVER_HISTORY_H
#define GAME_SERVER_HISTORY_H

#include "market.h"

/* Of an item, the last that this game server knows; others may have traded it since. version 0: nothing. */
typedef struct item_history
{
    int64_t version;
    int64_t price;
    uint32_t holder;
    bool sold;            /* and not delivered yet                         */
    int64_t sold_version; /* of the last offer that was sold to our player */
} item_history;

/* Of the purse of one of our players. */
typedef struct purse_history
{
    int64_t number;
    int64_t spent;
    int64_t earned; /* from our players; others may have bought from it too */
} purse_history;

typedef struct history
{
    uint32_t first_player; /* ours are first_player .. first_player + player_count - 1 */
    uint32_t player_count;
    purse_history* purses; /* of ours             */
    item_history* items;   /* MARKET_ITEMS_MAX    */

    uint64_t purchases;    /* settled: item and coins are where they belong      */
    uint64_t sold_twice;   /* the same offer, to two of our players              */
    uint64_t contradicted; /* the store denied what it had acknowledged before   */
} history;

bool history_is_ours(const history* h, uint32_t player);

/* A player enters, with its purse and these items. */
void history_entered(history* h, uint32_t player);

/* Each step of market.h, once it has answered MARKET_DONE; taken also when it was refused, for the number is
   used up then too. */
void history_listed(history* h, const market_trade* trade);
void history_taken(history* h, const market_trade* trade);
void history_sold(history* h, const market_trade* trade);
void history_paid(history* h, const market_trade* trade);
void history_delivered(history* h, const market_trade* trade);
void history_bought(history* h, const market_trade* trade);

#endif
