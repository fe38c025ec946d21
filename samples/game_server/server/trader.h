/* trader.h -- a player who trades: the state that it is in, what it has, and what it is told. For
   server/trade*.c alone. */

#ifndef GAME_SERVER_TRADER_H
#define GAME_SERVER_TRADER_H

#include "market/market.h"
#include "random.h"
#include "server/bag.h"
#include "server/network.h"
#include "server/social.h"
#include "worker/jobs.h"

#define TRADER_AGAIN_US 200000u /* pause before what failed is asked again */

typedef enum trader_state
{
    TRADER_AWAY = 0,
    TRADER_ENTERING,   /* the purse, with the numbers of items that may be in the bag          */
    TRADER_FINDING,    /* looks at the next of them                                            */
    TRADER_OPENING,    /* it is new                                                            */
    TRADER_FORGETTING, /* it is somebody else's                                                */
    TRADER_RETURNING,  /* mail says that it has come back: is it there?                        */
    TRADER_IDLE,
    TRADER_BROWSING,
    TRADER_SEEING, /* wants to sell what was not in the bag: has it come back?             */
    TRADER_LISTING,
    TRADER_POSTING, /* listed; the tasks that open and end the offer                        */
    TRADER_SHOWING, /* the signpost is on its way                                           */
    TRADER_LOCKING, /* waits for the lock of trade.item                                     */
    TRADER_LOOKING, /* has it, as in the next two                                           */
    TRADER_TAKING,
    TRADER_SELLING,
    TRADER_TELLING, /* it is ours from here on; the task for the seller                     */
    TRADER_DELIVERING,
    TRADER_SETTLING,
    TRADER_REFUNDING, /* it never will be ours; the coins go back                             */
    TRADER_HIDING,    /* the offer is over, whoever bought it                                 */
    TRADER_COUNTING   /* leaves; how much is in the purse?                                    */
} trader_state;

typedef struct trader
{
    uint32_t slot;
    uint32_t self; /* the player's number */
    trader_state state;
    bool busy; /* among those that trade_frame looks at     */
    bool in;   /* the bag was loaded                        */
    bool leaving;
    bool abandoned;    /* the player's lock is lost                 */
    bool asking;       /* the request of the state is on its way    */
    bool wanting;      /* LOCKING: the lock was begun               */
    bool taken;        /* the coins are on hold                     */
    bool finishing;    /* a purchase of another session             */
    uint64_t again_us; /* not before */
    gh_fence player_lock;
    gh_fence item_lock;
    int64_t gold;
    int64_t hold;
    int64_t number; /* of the last purchase */

    bag bag;
    uint32_t hints[MARKET_HINTS_MAX];
    uint32_t hint_count;
    uint32_t hint;
    bool forgot;                     /* some of them, which makes room for others */
    uint32_t returns[BAG_MAX]; /* items that have come back, as mail says  */
    uint32_t return_count;
    message waiting; /* came in RETURNING; type 0: none. Trade has no texts */

    /* what the player asked for */
    uint32_t request;
    sorry_reason sorry; /* BUY: 0, it was bought */
    market_trade trade;
    uint64_t opens_ms;
    uint64_t ends_ms;

    market_call call;
    job_push push;
    gh_lock lock;
    char lock_name[GH_NAME_SIZE_MAX + 1];
} trader;

typedef enum trade_tally
{
    TRADE_LISTED = 0,
    TRADE_BOUGHT,
    TRADE_TOO_LATE,
    TRADE_POOR,
    TRADE_REFUNDS,
    TRADE_FINISHED, /* purchases that another session had begun */
    TRADE_FENCED,
    TRADE_AGAIN, /* requests that had to be asked again */
    TRADE_TALLIES
} trade_tally;

/* What all traders of this server share. */
typedef struct trade_floor
{
    gh_client* client;
    network* network;
    social* social;
    market* market;
    random_source random;
    uint64_t* tallies[TRADE_TALLIES]; /* on the board; NULL: no room there */
} trade_floor;

void trade_tally_add(trade_floor* f, trade_tally tally);

/* Asks in this very frame, if the state asks anything. */
void trader_go(trader* p, trader_state state);
void trader_rest(trader* p); /* to IDLE, or out, if the player leaves */

/* The answer to what the player asked for. */
void trader_tell(trade_floor* f, const trader* p, const message* m);
void trader_sorry(trade_floor* f, const trader* p, sorry_reason reason, const char* why);

/* The same for a request that was not begun, and for that which waits, if one does. */
void trader_sorry_for(trade_floor* f, const trader* p, const message* m, sorry_reason reason, const char* why);
void trader_drop_waiting(trade_floor* f, trader* p, sorry_reason reason, const char* why);

/* A task about the trade. */
job trader_job(const trader* p, job_kind kind, uint64_t delay_ms);

/* Of what a player says: is it a thing, and what one may cost? */
bool trade_is_item(int64_t item);
bool trade_is_price(int64_t price);

#endif
