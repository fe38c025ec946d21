/* audit.h -- reads the whole market from the store and compares it with what this game server was told.

   Always     every purse and item of ours is there; no item is older than what was acknowledged, and what
              is not newer is the same; our purses have spent to the coin what our players bought, and hold
              nothing back; nothing that our players paid for is still with its seller.
   Conserved  the coins of all purses, with those on hold, are the coins that came in. Reading takes several
              frames, so this is known only if nobody trades meanwhile: a market that other servers share is
              read until it reads the same twice, or the time is up. The server that ends last gets there.

   A server that died may have left purchases half done; their coins on hold have reached the seller or not.
   So what is checked is a range, which is one number if nothing is on hold. */

#ifndef GAME_SERVER_AUDIT_H
#define GAME_SERVER_AUDIT_H

#include "sweep.h"

enum
{
    AUDIT_FAULTS_SHOWN = 6,
    AUDIT_TEXT_SIZE = 128
};

typedef struct audit
{
    world* world;
    uint32_t players;  /* of all game servers that ever joined          */
    bool conserved;    /* the coins could be counted, and are all there */
    uint64_t readings; /* of the whole market                           */

    int64_t brought; /* by the players, into their purses */
    int64_t gold;
    int64_t hold;
    uint64_t faults;
    char fault_texts[AUDIT_FAULTS_SHOWN][AUDIT_TEXT_SIZE];

    /* private */
    sweep reading;
    bool counting;
    uint64_t digest;
    uint64_t last_digest;
} audit;

void audit_begin(audit* a, world* w);

/* Each frame. True when it is over. */
bool audit_frame(audit* a, uint64_t now_us);

/* Nothing is wrong; whether the coins could be counted too is in conserved. */
bool audit_holds(const audit* a);

#endif
