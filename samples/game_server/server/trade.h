/* trade.h -- what the players of this server sell and buy: a state machine for each, one request at a time.

       BROWSE   BROWSING
       SELL     (SEEING) --> LISTING --> POSTING tasks --> SHOWING
       BUY      LOCKING --> LOOKING --> TAKING --> SELLING --> TELLING --> DELIVERING --> SETTLING --> HIDING
                               |           |        |  ^                                                 ^
                   sold before |      poor |   gone |  '-- LOCKING again, if fenced                      |
                               v           v        v                                                    |
                            HIDING        IDLE   REFUNDING ----------------------------------------------'

       enter    ENTERING --> SELLING ... if coins are on hold from another session --> ENTERING
                         --> FINDING each item of the bag
       leave    COUNTING the coins

   No thing makes a frame wait: what takes longer than a frame is a state that the player is in. In every
   state but IDLE and LOCKING one request is on its way, and it is asked again, however it ended, until the
   store has answered: the steps of market.h allow it. That is all there is to failures.

   A sale leaves a task to the workers (worker/jobs.h): who sold is paid and told, wherever they are. So do an
   offer that opens later and one that ends. When a letter passes that says so, a player at rest goes through
   RETURNING: what is really there goes into the bag. A request that comes meanwhile waits.

   Who does it, each knowing only what is below:

       trade.c             who trades, what they ask for, who is looked at in a frame
         |
         v
       trade_steps.c       the request of each state, asked again until there is an answer
         |
         |--> trade_enter.c, trade_back.c, trade_sell.c, trade_buy.c      where the answers lead
         |--> trade_lock.c                                                the lock of the item
         v
       trader.h, bag.h     the player that is in the state, what it has, what it is told

   A player of slot s:   trade_enter --> until trade_is_in --> (trade_message ...) --> trade_leave -->
                         until trade_is_busy is false */

#ifndef GAME_SERVER_TRADE_H
#define GAME_SERVER_TRADE_H

#include "board.h"
#include "market/market.h"
#include "random.h"
#include "server/bag.h"
#include "server/network.h"
#include "server/social.h"

enum
{
    TRADE_OPS = 3 /* of the client that a player can have under way: a request, a task, a lock */
};

typedef struct trade trade;

typedef struct trade_config
{
    gh_client* client;
    network* network;
    social* social; /* counts what was traded */
    board_row* row; /* counts go here         */
    market* market;
    uint32_t players_max;
    random_source random; /* where in the market a player begins to look */
} trade_config;

/* NULL: no memory. */
trade* trade_open(const trade_config* config);
void trade_close(trade* t);

/* player_lock: the fence of the player's lock; its name has to stay where it is until the player is not busy
   any more. */
void trade_enter(trade* t, uint32_t slot, uint32_t player, const gh_fence* player_lock);

/* The bag is there: trade_look says what to tell. */
bool trade_is_in(const trade* t, uint32_t slot);

/* False: not one of ours. It is answered, now or in a later frame. */
bool trade_message(trade* t, uint32_t slot, const message* m);

/* A letter of the market, told to the player; messages.h says what is in there. */
void trade_letter(trade* t, uint32_t slot, gh_str words);

/* Begins; what is under way is finished first. With lost: the player's lock is not ours any more, so it is
   not, and the next server where the player comes in will do it. */
void trade_leave(trade* t, uint32_t slot, bool lost);
bool trade_is_busy(const trade* t, uint32_t slot);

void trade_frame(trade* t, uint64_t now_us);

/* When the player has come in, and when no longer busy. */
typedef struct trade_view
{
    int64_t gold;
    int64_t hold;
    const bag* bag;
} trade_view;

trade_view trade_look(const trade* t, uint32_t slot);

#endif
