/* trader.h -- a player in trade.c and trade_steps.c, and nowhere else. */

#ifndef GAME_SERVER_TRADER_H
#define GAME_SERVER_TRADER_H

#include "market/market_replies.h"
#include "market/market_steps.h"
#include "server/trade.h"
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
    bool locked;       /* had the lock and has not given it back    */
    bool taken;        /* the coins are on hold                     */
    bool finishing;    /* a purchase of another session             */
    uint64_t again_us; /* not before */
    gh_fence player_lock;
    gh_fence item_lock;
    int64_t gold;
    int64_t hold;
    int64_t number; /* of the last purchase */

    trade_item bag[TRADE_BAG_MAX];
    uint32_t bag_count;
    uint32_t hints[MARKET_HINTS_MAX];
    uint32_t hint_count;
    uint32_t hint;
    bool forgot;                     /* some of them, which makes room for others */
    uint32_t returns[TRADE_BAG_MAX]; /* items that have come back, as mail says  */
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

struct trade
{
    trade_config config;
    uint64_t* tallies[TRADE_TALLIES];
    trader* traders; /* by slot */
    uint32_t* busy;  /* the slots of those that are */
    uint32_t busy_count;
};

void trade_tally_add(trade* t, trade_tally tally);
void trade_tell(trade* t, const trader* p, const message* m);
void trade_sorry(trade* t, const trader* p, sorry_reason reason, const char* why);

/* ---- trade_steps.c: the request of each state ---------------------------------------------------------- */

/* Asks in this very frame, if the state asks anything. */
void trader_go(trader* p, trader_state state);
void trader_rest(trader* p); /* to IDLE, or out, if the player leaves */
void trader_step(trade* t, trader* p, uint64_t now_us);

/* ---- What the answers lead to -------------------------------------------------------------------------- */

/* trade_enter.c */
void trader_entered(trader* p);
void trader_found(trader* p);
void trader_forgot(trader* p);
void trader_next_hint(trader* p);
void trader_all_found(trader* p);
void trader_counted(trader* p);

/* trade_back.c */
void trader_returned(trade* t, trader* p);

/* trade_sell.c */
void trader_tell_offers(trade* t, trader* p);
void trader_seen(trade* t, trader* p);
void trader_listed(trade* t, trader* p, bool done);
gh_status trader_post(trade* t, trader* p); /* the tasks that open and end the offer */
void trader_offer_shown(trade* t, trader* p);

/* trade_buy.c */
void trader_want_lock(trader* p);
void trader_locking_step(trade* t, trader* p, uint64_t now_us);
void trader_give_lock_back(trader* p);
void trader_looked(trade* t, trader* p);
void trader_took(trade* t, trader* p, bool done);
void trader_sold(trade* t, trader* p, bool done);
gh_status trader_tell_seller(trade* t, trader* p); /* the task that pays and tells */
void trader_settled(trade* t, trader* p);
void trader_purchase_over(trade* t, trader* p);
job trader_job(const trader* p, job_kind kind, uint64_t delay_ms);

/* ---- trade.c ------------------------------------------------------------------------------------------- */

bool bag_add(trader* p, uint32_t item, int64_t version); /* false: it is full */
bool bag_has(const trader* p, uint32_t item);
bool bag_take(trader* p, uint32_t item, int64_t* version); /* false: it is not in there */

void trade_wake(trade* t, trader* p);
void trade_drop_waiting(trade* t, trader* p, sorry_reason reason, const char* why);

#endif
