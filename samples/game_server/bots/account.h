/* account.h -- what a player should have by what it was told: gold, and things with their versions. It knows
   nothing of the network. What the server says at WELCOME and FAREWELL must fit.

   Three things keep the account from being exact for a while: what is on sale may be sold and paid before the
   mail about it comes; it may be in the bag again before that mail comes; and after SORRY_UNSURE a sale or a
   purchase has happened or not. So gold and things lie in ranges. Mail closes them, and so do the BAG
   messages that follow WELCOME.

   A sale that is unsure may even happen after the next visit has begun: when its server had lost the player,
   but the store had the request. So it is settled by the visit after that.

   A player does not buy a thing while its own sale of it is not settled: then a thing in the bag that was on
   sale has come back, without doubt. */

#ifndef GAME_SERVER_ACCOUNT_H
#define GAME_SERVER_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

enum
{
    ACCOUNT_THINGS_MAX = 64
};

typedef enum thing_state
{
    THING_IN_BAG = 1,
    THING_ON_SALE,       /* until there is mail about it, or it is in the bag again */
    THING_MAYBE_ON_SALE, /* SELL was unsure */
    THING_MAYBE_BOUGHT   /* BUY was unsure  */
} thing_state;

typedef struct thing
{
    uint32_t item;
    int64_t version; /* of the thing in the bag, or of its offer; 0: not known */
    int64_t price;   /* not in the bag: what it was offered for                */
    thing_state state;
    bool seen;    /* in this visit                                              */
    bool back;    /* told by mail, and not by BAG yet                            */
    bool doubted; /* MAYBE_ON_SALE, and was in the bag when the next visit began */
} thing;

typedef struct account
{
    int64_t gold;
    int64_t earned; /* by all sales that were told of */
    uint32_t count;
    thing things[ACCOUNT_THINGS_MAX];
} account;

void account_open(account* a, uint32_t first_item, uint32_t item_count, int64_t gold);

/* NULL: the player has nothing to do with it. */
const thing* account_thing(const account* a, uint32_t item);

/* Of the things in the bag one, by any number; NULL if there are none. */
const thing* account_pick(const account* a, uint32_t any);

/* False: there is no room for one more. */
bool account_may_buy(const account* a, uint32_t item);

/* Answers to SELL and BUY; nothing happens after a refusal. False: it cannot be so. */
bool account_listed(account* a, uint32_t item, int64_t version, int64_t price);
bool account_list_unsure(account* a, uint32_t item, int64_t price);
bool account_bought(account* a, uint32_t item, int64_t version, int64_t price);
bool account_buy_unsure(account* a, uint32_t item, int64_t version, int64_t price);

/* Mail of which the caller knows that it is new. False: no such thing was on sale. */
bool account_sold(account* a, uint32_t item, int64_t version, int64_t price);
bool account_back(account* a, uint32_t item, int64_t version);

/* A visit begins: what BAG tells, and what comes back meanwhile, is all that is in the bag. */
void account_enter(account* a);

/* BAG. False: this thing cannot be here. */
bool account_bag(account* a, uint32_t item, int64_t version);

/* The last BAG of WELCOME has come: what is not in the bag is not. False: a thing is lost. */
bool account_settle(account* a);

/* What the server says the player has. earned: of the account, when the server was asked; mail that has come
   since may tell more than the server knew when it answered. */
bool account_fits_gold(const account* a, int64_t gold, int64_t hold, int64_t earned);

/* The server need not count what has come back by mail alone. */
bool account_awaits_bag(const account* a); /* there is such a thing */
bool account_fits_items(const account* a, int64_t items);

/* True if the gold was enough, whatever became of unsure purchases. */
bool account_could_pay(const account* a, int64_t price, int64_t earned);

/* True if there are no ranges: everything must be as told to the last coin. */
bool account_is_exact(const account* a);

#endif
