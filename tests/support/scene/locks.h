/* locks.h -- locks that games ask for. */

#ifndef GUILDHALL_TESTS_LOCKS_H
#define GUILDHALL_TESTS_LOCKS_H

#include "support/scene/game.h"

#include "guildhall/lock.h"

/* It lives as long as the game. */
gh_lock* lock_begun(game* from, const char* name, uint64_t lease_us, uint64_t wait_us);

/* The same, and ours: it is waited for a minute at most. */
gh_lock* lock_held(game* from, const char* name, uint64_t lease_us);

#endif
