/* lock_states.h -- what the files of the lock share: the states of the drawing in lock.h, and what a set needs.

       lock.c         the states
       lock_encode.c  the request of each state
       lock_set.c     several locks, on top of lock.c; is told when one of its locks has moved */

#ifndef GH_LOCK_STATES_H
#define GH_LOCK_STATES_H

#include "client/op.h"
#include "guildhall/lock.h"

/* Of gh_lock.op.state; 0: ended. */
typedef enum gh_lock_state
{
    GH_LOCK_ASKING = 1,
    GH_LOCK_WAITING,
    GH_LOCK_HELD,
    GH_LOCK_RENEWING,
    GH_LOCK_LEAVING
} gh_lock_state;

static inline gh_lock* gh_lock_of(gh_op* op)
{
    return (gh_lock*)(void*)((char*)op - offsetof(gh_lock, op));
}

static inline bool gh_lock_is_busy(const gh_lock* lock)
{
    return lock != NULL && lock->op.kind != NULL && gh_op_is_busy(&lock->op);
}

/* lock_encode.c */
gh_script* gh_lock_script(gh_op* op);
void gh_lock_encode(gh_op* op, gh_request* request);

/* lock.c */
gh_status gh_lock_check_config(const gh_lock_config* config);

/* As gh_lock_begin, of a name and a config that are known to be valid; set is NULL, or is told what becomes of it. */
void gh_lock_start(gh_lock* lock, gh_client* client, gh_str name, const gh_lock_config* config, gh_lock_set* set);

/* lock_set.c: a lock of the set was granted, lost, or ended. */
void gh_lock_set_moved(gh_lock_set* set);

#endif
