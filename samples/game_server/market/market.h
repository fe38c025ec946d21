/* market.h -- the store's side of the market: its keys, and one request for each step of a trade.

       market_steps.h     a request for each step      market_replies.h    what the store has answered
           |                                               |
           v                                               |
       market_call.h      keys and arguments               |
           |                                               |
           '------> market.h, market_scripts.h <-----------'

   In the store:

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
   happened to a request, it can be asked again (GH_REPEAT_SAFE; trade_steps.c asks on even after GH_UNKNOWN)
   until the store has answered.

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
#include "market/market_scripts.h"

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
   has. An item's own lock says where the item lies, whatever guards it. */
gh_str market_lock_name(const market* m, uint32_t item, char out[GH_NAME_SIZE_MAX + 1]);
gh_str market_player_lock_name(uint32_t player, char out[GH_NAME_SIZE_MAX + 1]);
gh_str market_item_lock_name(uint32_t item, char out[GH_NAME_SIZE_MAX + 1]);

#endif
