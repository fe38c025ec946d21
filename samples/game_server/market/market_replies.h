/* market_replies.h -- what the store has answered to a step of market.h, after GH_OK.

   It is looked at, not believed: somebody may have written to these keys by hand. */

#ifndef GAME_SERVER_MARKET_REPLIES_H
#define GAME_SERVER_MARKET_REPLIES_H

#include "market/market.h"

/* What a step answers. */
typedef enum market_answer
{
    MARKET_DONE = 1,
    MARKET_REFUSED = 0,  /* too late, or too poor; not done, nor will a late copy of the request do it */
    MARKET_MISSING = -1, /* the key is not there: the store has lost data                              */
    MARKET_MISMATCH = -2 /* to open: the market was opened with another guard, stock or purse          */
} market_answer;

int64_t market_number(const market_call* call); /* MARKET_MISSING if the reply is none */
uint32_t market_offers(const market_call* call, market_trade out[MARKET_BROWSE_MAX]);

typedef struct market_purse
{
    int64_t gold;
    int64_t earned;
    int64_t spent;
    int64_t number;
    int64_t hold;      /* coins of a purchase that is not settled: the price */
    market_trade held; /* that purchase, its buyer left out                  */
} market_purse;

typedef struct market_item
{
    int64_t version;
    int64_t price;
    uint32_t holder;
    bool sold;      /* and not delivered yet */
    uint32_t buyer; /* if sold               */
    int64_t number;
} market_item;

/* False if the key is missing or does not look like one of ours. */
bool market_purse_of(const market_call* call, market_purse* purse);
bool market_item_of(const market_call* call, market_item* item);

/* After enter, the items to look for. */
uint32_t market_hints(const market_call* call, uint32_t items[MARKET_HINTS_MAX]);

#endif
