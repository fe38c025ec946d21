/* market.h -- the store's side of the market: its keys, and one call for each step of a trade.

       <world>:market                               hash  guard: what all game servers agree on
       <world>:market:offers                        zset  "<item> <seller> <version>" -> price: a signpost
       <world>:{lock:<player's lock>}:market:purse  hash  gold, earned, spent; number, hold: of the last
                                                          purchase; paid:<item> -> version
       <world>:{lock:<player's lock>}:market:bag    zset  item -> version: where to look for his items
       <world>:{lock:<item's lock>}:market:item     hash  version, holder, price (0: not for sale), sale;
                                                          back: version of the last offer taken back

   Look at one with redis-cli: hgetall 'fleet-1:{lock:player%3a7}:market:purse'

   A purchase is a sequence of steps, and each step is one script on one key:

       look     item            is it still what the offer says?       once the lock of the item is ours
       take     buyer's purse   gold to hold, if there is enough       under the purse's next number; fenced
       sell     item            sale = buyer and number                version v becomes v + 1; fenced
       (a worker is left a task, which begins with
       pay      seller's purse  gold and earned grow                   paid:<item> becomes v)
       deliver  item            holder = buyer                         version v + 1 becomes v + 2
       settle   buyer's purse   hold is spent, or goes back to gold    if that number is on hold; fenced
       hide     offers          the offer goes                         it names v: never a newer one

   Why steps, and not one script that moves item and money? On a Redis Cluster all keys of a script must be
   in one slot. The item has to be in the slot of its lock, or the fence could not be checked where the item
   is sold; the purses cannot be in the slots of all items. With everything in one slot it would be one
   script, and one core of one server for all the trade of the game. As it is, each item and each purse may
   live anywhere.

   Each step is decided by a number that only grows, so it is done once: a request that arrives twice, or
   late, from a connection that is closed since long, finds the number passed and changes nothing. So whatever
   happened to a request, it can be asked again (GH_REPEAT_SAFE; trade.c asks on even after GH_UNKNOWN) until
   the store has answered.

   If the game server dies in the middle, the coins are on hold, and hold says what for. The server where the
   player comes in next goes on from sell: what was done is not done again. The player's lock is a fence
   around the purse, so of two servers that both believe to have the player only one moves the coins.

   Guards of an item, for comparison:
       coarse   one lock for the whole market: correct, and everybody waits for everybody. Not on a Cluster,
                where that lock is in another slot than the items
       fine     a lock for each item: waits are for those who want the same
       script   no lock: who takes the coins out first and then finds the item sold, gets them back */

#ifndef GAME_SERVER_MARKET_H
#define GAME_SERVER_MARKET_H

#include "guildhall/guildhall.h"

enum
{
    MARKET_NAME_MAX = 24,
    MARKET_PLAYERS_MAX = 4096, /* in the whole world        */
    MARKET_ITEMS_EACH = 4,     /* what a new player brings  */
    MARKET_ITEMS_MAX = MARKET_PLAYERS_MAX * MARKET_ITEMS_EACH,
    MARKET_GOLD_EACH = 1000,
    MARKET_BROWSE_MAX = 10, /* offers that a player looks at */
    MARKET_HINTS_MAX = 96,  /* items that are looked for at once when a player comes in */
    MARKET_KEY_SIZE = 256,
    MARKET_REPLY_SIZE = (MARKET_HINTS_MAX + 6) * 72
};

typedef enum market_guard
{
    MARKET_COARSE = 0,
    MARKET_FINE,
    MARKET_SCRIPT
} market_guard;

/* What a step answers. */
typedef enum market_answer
{
    MARKET_DONE = 1,
    MARKET_REFUSED = 0,  /* too late, or too poor; not done, nor will a late copy of the request do it */
    MARKET_MISSING = -1, /* the key is not there: the store has lost data                              */
    MARKET_MISMATCH = -2 /* to open: the market was opened with another guard, stock or purse          */
} market_answer;

/* An offer; with a buyer and a number, a purchase. */
typedef struct market_trade
{
    uint32_t item;
    uint32_t seller;
    int64_t version; /* of the item, while it is for sale */
    int64_t price;
    uint32_t buyer;
    int64_t number; /* of the buyer's purchases */
} market_trade;

typedef enum market_script
{
    MARKET_OPEN = 0,
    MARKET_ENTER,
    MARKET_OPEN_ITEM,
    MARKET_BROWSE,
    MARKET_LIST,
    MARKET_TAKE_BACK,
    MARKET_TAKE,
    MARKET_SELL,
    MARKET_PAY,
    MARKET_DELIVER,
    MARKET_SETTLE,
    MARKET_SCRIPTS
} market_script;

typedef struct market
{
    gh_client* client;
    market_guard guard;
    char world[MARKET_NAME_MAX + 1];
    gh_script scripts[MARKET_SCRIPTS];
} market;

/* One request and all that it borrows. Stays in place until it ends; one at a time. */
typedef struct market_call
{
    gh_command op;

    /* private */
    gh_str keys[2];
    uint32_t key_count;
    gh_str arguments[8];
    uint32_t argument_count;
    char key_texts[2][MARKET_KEY_SIZE];
    char texts[8][48];
    uint64_t reply[MARKET_REPLY_SIZE / 8];
} market_call;

/* world: the prefix of all keys; letters, digits, _ . and -, at most MARKET_NAME_MAX. Who only pays, shows
   and takes back may give any guard. */
void market_init(market* m, gh_client* client, const char* world, market_guard guard);

const char* market_guard_name(market_guard guard);

/* The name of the lock that guards the item (not for MARKET_SCRIPT), and of the one that a player's server
   has. */
gh_str market_lock_name(const market* m, uint32_t item, char out[GH_NAME_SIZE_MAX + 1]);
gh_str market_player_lock_name(uint32_t player, char out[GH_NAME_SIZE_MAX + 1]);

/* Each begins a call and returns what gh_command_begin returned; poll call->op.
   open answers DONE or MISMATCH. enter makes the purse if there is none, and answers it with what is in the
   bag. */
gh_status market_open(market* m, market_call* call);
gh_status market_enter(market* m, market_call* call, uint32_t player);
gh_status market_open_item(market* m, market_call* call, uint32_t item, uint32_t holder);

/* Of an item that the player does not have any more. */
gh_status market_forget(market* m, market_call* call, uint32_t player, uint32_t item);

/* trade->version is the item's before it is listed; the offer has the next one. take_back: of an offer that
   nobody took; REFUSED: it was sold, or it is another offer by now. Asked again it answers DONE again, also
   when the seller has listed the item anew since. browse: draw, any number, says where the page begins. */
gh_status market_list(market* m, market_call* call, const market_trade* trade);
gh_status market_take_back(market* m, market_call* call, const market_trade* offer);
gh_status market_show(market* m, market_call* call, const market_trade* offer);
gh_status market_hide(market* m, market_call* call, const market_trade* offer);
gh_status market_browse(market* m, market_call* call, uint32_t draw);

/* The steps of a purchase. player: the fence of the buyer's lock; item: of the item's, NULL for
   MARKET_SCRIPT. settle answers the gold that is left. */
gh_status market_take(market* m, market_call* call, const market_trade* trade, const gh_fence* player);
gh_status market_sell(market* m, market_call* call, const market_trade* trade, const gh_fence* item);
gh_status market_pay(market* m, market_call* call, const market_trade* trade);
gh_status market_deliver(market* m, market_call* call, const market_trade* trade);
gh_status market_settle(market* m, market_call* call, const market_trade* trade, bool bought,
                        const gh_fence* player);

/* To look, and for the audit. */
gh_status market_read_purse(market* m, market_call* call, uint32_t player);
gh_status market_read_item(market* m, market_call* call, uint32_t item);

/* ---- After GH_OK --------------------------------------------------------------------------------------- */

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
