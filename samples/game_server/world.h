/* world.h -- the players, and what each of them does in a frame.

       ENTERING --> IDLE --> LISTING ----------------------------------------.
                     |                                                       |
                     '--> BROWSING --> LOCKING --> BUYING --> RELEASING --> IDLE
                                                     |            ^
                        LISTING or BUYING: not known '- SETTLING -'

   A player does one thing at a time, and no thing makes a frame wait: what takes longer than a frame is a state that
   the player is in. All look at the same cheapest offers, so the locks of those items are what they wait for. */

#ifndef GAME_SERVER_WORLD_H
#define GAME_SERVER_WORLD_H

#include "histogram.h"
#include "history.h"

typedef enum player_state
{
    PLAYER_ENTERING = 0, /* purse and bag are on their way                        */
    PLAYER_IDLE,
    PLAYER_LISTING,
    PLAYER_BROWSING,
    PLAYER_LOCKING, /* waits for the lock of trade.item                           */
    PLAYER_BUYING,  /* has it; the purchase is on its way                         */
    PLAYER_SETTLING, /* asks until the store has said what became of the deed     */
    PLAYER_RELEASING
} player_state;

typedef struct player
{
    player_state state;
    bool asking;       /* ENTERING, SETTLING: a call is on its way                */
    uint64_t act_us;   /* IDLE: next wish; ENTERING, SETTLING: next attempt       */
    uint64_t since_us; /* LOCKING: since when                                     */
    bool waited;       /* LOCKING: others had it or were before us                */
    market_trade trade;
    gh_lock lock;
    char lock_name[MARKET_TEXT_SIZE];
    market_call call;
} player;

typedef struct world_counts
{
    uint64_t grants;
    uint64_t waits; /* grants that others had to be waited for */
    uint64_t listings;
    uint64_t trades;
    uint64_t too_late; /* somebody else bought it first, or at another price */
    uint64_t declined; /* not enough gold, or the bag is full */
    uint64_t contradicted; /* the store denies what it has acknowledged: it lost data */

    /* ops that ended so */
    uint64_t lost;
    uint64_t timeouts;
    uint64_t unknown;
    uint64_t fenced;
    uint64_t full;
    uint64_t others;

    uint64_t settled_done; /* what became of the unknown */
    uint64_t settled_void;
} world_counts;

typedef struct world
{
    market* market;
    history* history;
    player* players;
    uint32_t player_count;
    uint32_t items_each;
    int64_t gold_each;
    uint64_t random;

    uint32_t busy;  /* players that are not IDLE, in the last frame                */
    bool gone;      /* the store does not know the market any more: nobody trades  */
    world_counts counts;
    gh_status last_other;  /* of counts.others */
    histogram wait_us;     /* from wanting a lock to having it, if it was a wait */
} world;

/* Moves every player. While closing, nobody begins anything new; all are through when busy is 0. */
void world_frame(world* w, uint64_t now_us, bool closing);

#endif
