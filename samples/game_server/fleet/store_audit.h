/* store_audit.h -- reads the whole world from the store, when nobody changes it any more, and says what is
   wrong with it.

       purses   what is in one is what came in less what went out; nothing is on hold; all coins are still there
       items    each has one holder; none is sold and not delivered
       seats    nobody holds one
       logs     the totals of the days are the lines that the servers have written */

#ifndef GAME_SERVER_STORE_AUDIT_H
#define GAME_SERVER_STORE_AUDIT_H

#include "guildhall/semaphore.h"
#include "market/market.h"
#include "totals.h"

enum
{
    AUDIT_LANES = 16, /* purses and items that are read at once */
    AUDIT_FAULTS_SHOWN = 8,
    AUDIT_TEXT_SIZE = 128,
    AUDIT_DAYS = 3 /* yesterday, today, and tomorrow: a store's clock is not ours */
};

typedef struct audit_lane
{
    market_call call;
    uint32_t object;
    bool asked;
} audit_lane;

typedef struct store_audit
{
    /* read-only, once it is over */
    uint32_t purses;
    uint32_t items;
    int64_t gold;
    uint64_t lines; /* in the totals of all days */
    totals days[AUDIT_DAYS];
    uint64_t faults;
    char fault_texts[AUDIT_FAULTS_SHOWN][AUDIT_TEXT_SIZE];

    /* private */
    market* market;
    uint32_t players;
    uint32_t servers;
    uint64_t lines_written;
    uint32_t next;
    uint32_t ended;
    audit_lane lanes[AUDIT_LANES];
    uint32_t server; /* whose seats are looked at next */
    bool seats_are_known;
    char seats_name[32];
    gh_semaphore_look look;
    uint32_t day;
    totals_read read;
} store_audit;

/* Players are 0 .. players - 1, servers server-1 .. server-<servers>; lines_written is what they say to have
   logged. */
void store_audit_begin(store_audit* a, market* m, uint32_t players, uint32_t servers, uint64_t lines_written);

/* Each frame. True when it is over. */
bool store_audit_frame(store_audit* a);

#endif
