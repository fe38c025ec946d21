/* clerks.h -- ops that count without an end while a store's servers come and go, and what must be true behind it.

       clerks all = clerks_start(game, 8);           // each adds one to a key of its own, once, again and again
       clerks_until(&all, 100);                      // every one has been told of 100 more
       ... a master is killed, or gives way ...
       clerks_until(&all, 100);
       assert_int_equal(clerks_lost(&all, server), 0); // what was acknowledged is there, and nothing twice

   Any end but GH_OK fails the test. */

#ifndef GUILDHALL_TESTS_CLERKS_H
#define GUILDHALL_TESTS_CLERKS_H

#include "support/scene/game.h"
#include "support/server/cluster.h"
#include "support/server/sentinels.h"

#define CLERKS_MAX 16

typedef struct clerk
{
    gh_command_line op;
    gh_command_config config;
    uint64_t begun_us;
    uint64_t acknowledged;
} clerk;

typedef struct clerks
{
    game* owner;
    clerk* each;
    unsigned count;
    uint64_t longest_us; /* from begin to end, of any of them */
} clerks;

clerks clerks_start(game* owner, unsigned count);

/* What has ended is begun again. To be called between ticks. */
void clerks_work(clerks* self);

/* Ticks all games until each has so many acknowledged more. */
void clerks_until(clerks* self, uint64_t more);

/* Ends them, each with its answer. */
void clerks_rest(clerks* self);

/* They work on while the master of that slot gives way, as it is asked to, and until each has so many more; and end. */
void clerks_outlive_handover(clerks* self, cluster* fleet, unsigned slot, uint64_t more);

/* The same behind Sentinels. Returns who is the master then. */
redis_server* clerks_outlive_failover(clerks* self, const sentinels* fleet, uint64_t more);

/* Their owner asks for the key of the first while its slot is on its way, with all its keys: out of turn (ASK). */
void clerks_ask_out_of_turn(const clerks* self, cluster* fleet);

/* Of all that was acknowledged, so many are not in that server. What is there and was not acknowledged fails the test:
   it was done twice. To be called behind clerks_rest. */
uint64_t clerks_lost(const clerks* self, redis_server* server);

/* The same of all masters, each of which has the keys of its slots. */
uint64_t clerks_lost_in(const clerks* self, cluster* fleet);

#endif
