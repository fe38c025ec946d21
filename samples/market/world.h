/* world.h -- the players, and what each of them does in a frame.

       ENTERING --> IDLE --> LISTING --> SHOWING --> IDLE
                     |
                     v
                  BROWSING --> LOCKING --> LOOKING --> TAKING --> SELLING --> PAYING --> DELIVERING
                                              |          |       |   | ^                     |
                                 sold already |     poor |  gone |   '-' CHECKING, if fenced |
                                              v          v       v                           v
                                            HIDING      IDLE  REFUNDING --> HIDING <----- SETTLING
                                              |                               |
                                              '--> IDLE                       '--> IDLE

   A player does one thing at a time, and no thing makes a frame wait: what takes longer than a frame is a
   state that the player is in. In every state but IDLE and LOCKING one call is on its way, and it is asked
   again, however it ended, until the store has answered: the steps of market.h allow it. That is all there is
   to failures.

   All look at the same cheapest offers, so the locks of those items are what they wait for. */

#ifndef GAME_SERVER_WORLD_H
#define GAME_SERVER_WORLD_H

#include "histogram.h"
#include "history.h"

typedef enum player_state
{
    PLAYER_ENTERING = 0, /* the purse, then each item                                            */
    PLAYER_IDLE,
    PLAYER_LISTING,
    PLAYER_SHOWING,  /* listed; the signpost is on its way                                       */
    PLAYER_BROWSING,
    PLAYER_LOCKING,  /* waits for the lock of trade.item                                         */
    PLAYER_LOOKING,  /* has it, as in the next two                                               */
    PLAYER_TAKING,
    PLAYER_SELLING,
    PLAYER_CHECKING, /* FENCED, perhaps in answer to a repeat: was it sold to us all the same?   */
    PLAYER_PAYING,   /* it is ours from here on                                                  */
    PLAYER_DELIVERING,
    PLAYER_SETTLING,
    PLAYER_REFUNDING, /* it never will be ours; the coins go back                                */
    PLAYER_HIDING     /* the offer is over, whoever bought it                                    */
} player_state;

enum
{
    WORLD_BAG_SIZE = 24,
    WORLD_AGAIN_US = 200000 /* pause before what failed is asked again */
};

typedef struct bag_item
{
    uint32_t item;
    int64_t version;
} bag_item;

typedef struct player
{
    uint32_t self; /* its number in the market */
    player_state state;
    uint32_t opened;   /* ENTERING: purse and items that are there                          */
    bool asking;       /* the call of the state is on its way                               */
    bool waited;       /* LOCKING: others had it or were before us                          */
    bool locked;       /* had the lock and has not given it back                            */
    uint64_t act_us;   /* IDLE: next wish; else, when not asking: when to ask               */
    uint64_t since_us; /* LOCKING: since when                                               */
    int64_t number;    /* of its last purchase                                              */
    bag_item bag[WORLD_BAG_SIZE];
    uint32_t bag_count;

    market_trade trade;
    market_call call;
    uint32_t object; /* sweep.h: what the call is about */
    gh_lock lock;
    gh_fence fence; /* of the grant under which trade is made */
    char lock_name[GH_NAME_SIZE_MAX + 1];
} player;

typedef struct world_counts
{
    uint64_t listings;
    uint64_t grants;
    uint64_t waits;    /* grants that others had to be waited for     */
    uint64_t too_late; /* sold already when we looked                 */
    uint64_t poor;
    uint64_t refunds;  /* coins taken, then the item was not for sale */

    /* ops that ended so; calls are asked again */
    uint64_t lost;
    uint64_t timeouts;
    uint64_t unknown;
    uint64_t fenced;
    uint64_t full;
    uint64_t others;
} world_counts;

typedef struct world
{
    market* market;
    history* history;
    player* players;
    uint32_t player_count;
    uint64_t random;

    uint32_t busy;        /* players that are in the middle of something                    */
    bool gone;            /* the store has lost data: nobody does anything any more         */
    gh_status last_other; /* of counts.others                                               */
    world_counts counts;
    histogram wait_us;    /* from wanting a lock to having it, if it was a wait             */
} world;

/* Players first .. first + count - 1 of the market; the rest of w is set by the caller. */
void world_init(world* w, uint32_t first);

/* Moves every player. While closing, nobody begins anything new; all are through when busy is 0. */
void world_frame(world* w, uint64_t now_us, bool closing);

#endif
