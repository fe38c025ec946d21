/* permits.h -- short words for tests of semaphores, and their audit by the layout of KEYS.md. */

#ifndef GUILDHALL_TESTS_PERMITS_H
#define GUILDHALL_TESTS_PERMITS_H

#include "support/scene/game.h"
#include "support/scene/on.h"
#include "support/server/redis_server.h"

/* "<limit> <used> <fence> <waiters> <setter>", and what the zset of permits says. */
typedef struct stored_semaphore
{
    bool exists;
    uint32_t limit;
    uint32_t used;
    uint64_t fence;
    uint32_t waiters;
    uint32_t held;       /* permits in :h whose lease is not over, turns that are kept included */
    uint32_t turns;      /* of those, the kept ones                                             */
    uint32_t lapsed;     /* permits in :h whose time is over and that nobody has cleared away   */
    bool lates;          /* requests of ops that are over are refused that may still come   */
    uint32_t queued;     /* members of :q                                                   */
} stored_semaphore;

stored_semaphore semaphore_stored(redis_server* server, const char* name);

/* What has to be true of a semaphore at any time. */
void semaphore_must_be_sound(redis_server* server, const char* name);

gh_permit_config permit_config(uint32_t permits, uint64_t lease_us, uint64_t wait_us);

/* One permit; begins to want it. */
gh_permit* permit_want(game* from, const char* name, uint32_t limit, uint64_t lease_us, uint64_t wait_us);
gh_permit* permit_want_many(game* from, const char* name, uint32_t limit, uint32_t permits);
gh_permit* permit_hold_one(game* from, const char* name, uint32_t limit, uint64_t lease_us);
gh_status permit_settle(const gh_permit* permit);
gh_status permit_give_back(gh_permit* permit);

/* Sets the limit, and waits until it is done. */
gh_semaphore_limit* semaphore_set_limit(game* from, const char* name, uint32_t limit);

#endif
