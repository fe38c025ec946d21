/* market.h -- the store's side of the market: its keys, its scripts, and one call for each thing a player does.

   Every key begins with market:{<market>}: where <market> is the client's id, so that each run has its own market.

       ...:meta               hash    day: number of the trading day; serial: number of the last deed
       ...:funds              hash    player -> gold
       ...:inventory:<player> set     the items in the player's bag
       ...:offers             zset    "<item>.<seller>" -> price
       ...:ledger             hash    id of a deed -> "<serial> list <item> <seller> <price>",
                                      "<serial> buy <item> <seller> <buyer> <price>" or "void"; this day's only

   Look at one with redis-cli: hgetall market:{9f3c01d2a4b56e78}:funds

   A deed is what changes the market: to list or to buy. Each is one script, so purse and item move in one step or not
   at all, and each writes its id into the ledger in that same step. A request that arrives twice finds its own id and
   answers as it did the first time; that is what makes it GH_REPEAT_SAFE.

   The buyer holds the lock of the item, and the fence of that lock is the condition of the purchase: a server that
   slept through its lease, woke up and still wants to buy writes nothing.

   The hash tag keeps the market in one slot of a Redis Cluster. The locks of the items have slots of their own, so
   on a Cluster the market would be locked as a whole and its keys would begin with gh_lock_tag's text. */

#ifndef GAME_SERVER_MARKET_H
#define GAME_SERVER_MARKET_H

#include "guildhall/guildhall.h"

enum
{
    MARKET_BAG_SIZE = 24,   /* items that a player can carry; also bounds the replies */
    MARKET_BROWSE_MAX = 10, /* offers that a player looks at                          */
    MARKET_ENTER_MAX = 8,   /* items that a new player brings                         */
    MARKET_TEXT_SIZE = 64
};

/* What a deed answers. Above 0 it is done, and the number is its serial. */
typedef enum market_answer
{
    MARKET_SOLD = 0,     /* not for sale any more, or never was                  */
    MARKET_PRICE = -1,   /* for sale at another price                            */
    MARKET_POOR = -2,    /* the buyer has not enough gold                        */
    MARKET_BAG_FULL = -3,
    MARKET_NOT_YOURS = -4, /* to list: not in the seller's bag                   */
    MARKET_VOID = -5,    /* was not done, and now never will be (market_settle)  */
    MARKET_GONE = -6     /* the store does not know this market on this day      */
} market_answer;

typedef struct market
{
    gh_client* client;
    char name[17];
    uint32_t day;

    char meta[MARKET_TEXT_SIZE];
    char funds[MARKET_TEXT_SIZE];
    char offers[MARKET_TEXT_SIZE];
    char ledger[MARKET_TEXT_SIZE];

    gh_script enter;
    gh_script list;
    gh_script buy;
    gh_script settle;
    gh_script close;
} market;

typedef struct market_trade
{
    uint32_t item;
    uint32_t seller;
    uint32_t buyer; /* the seller itself: a listing */
    int64_t price;
} market_trade;

/* One request and all that it borrows. Stays in place until it ends; one at a time. */
typedef struct market_call
{
    gh_command op;
    char id[GH_UNIQUE_SIZE]; /* of the deed */

    gh_str keys[5];
    gh_str arguments[MARKET_ENTER_MAX + 2];
    char texts[MARKET_ENTER_MAX + 2][24];
    char inventory[MARKET_TEXT_SIZE];
    uint64_t reply[256];
} market_call;

void market_init(market* m, gh_client* client);

/* Writes the name of the player's inventory key. */
gh_str market_inventory(const market* m, uint32_t player, char out[MARKET_TEXT_SIZE]);

/* Writes the name of the item's lock. */
gh_str market_lock_name(const market* m, uint32_t item, char out[MARKET_TEXT_SIZE]);

/* Each begins a call and returns what gh_command_begin returned; poll call->op. */
gh_status market_enter(market* m, market_call* call, uint32_t player, int64_t gold, uint32_t item, uint32_t items);
gh_status market_browse(market* m, market_call* call);
gh_status market_list(market* m, market_call* call, const market_trade* trade);
gh_status market_buy(market* m, market_call* call, const market_trade* trade, gh_fence fence);

/* Finds out what became of the deed whose call ended GH_UNKNOWN. If it was not done it is made void in that same
   step: its request may still lie in some buffer on its way to the store, and must find the door shut. */
gh_status market_settle(market* m, market_call* call);

/* Ends the trading day: the ledger is emptied, and a request of the day before is refused from now on. */
gh_status market_close(market* m, market_call* call);

/* After GH_OK of enter (the gold), list, buy, settle (market_answer or serial) and close. */
int64_t market_reply(const market_call* call);

/* After GH_OK of browse: the cheapest offers; returns how many. */
uint32_t market_offers(const market_call* call, market_trade out[MARKET_BROWSE_MAX]);

/* Parses "<item>.<seller>" and whole numbers. False if the text is neither. */
bool market_parse_offer(gh_str text, uint32_t* item, uint32_t* seller);
bool market_parse_number(gh_str text, int64_t* number);

#endif
