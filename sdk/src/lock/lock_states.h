/* lock_states.h -- what the files of the lock share.

       lock.c         a lock on its own: a row of client/lease.h
       lock_set.c     several locks, on top of lock.c, which knows of a set that it owns the lock */

#ifndef GH_LOCK_STATES_H
#define GH_LOCK_STATES_H

#include "client/lease.h"
#include "guildhall/lock.h"

static inline bool gh_lock_is_busy(const gh_lock* lock)
{
    return lock != NULL && gh_lease_is_busy(&lock->lease);
}

/* lock.c */
gh_status gh_lock_check_config(const gh_lock_config* config, gh_client* client);

/* As gh_lock_begin, of a name and a config that are known to be valid; set is NULL, or owns it. */
void gh_lock_start(gh_lock* lock, gh_client* client, gh_str name, const gh_lock_config* config, gh_lock_set* set);

#endif
