/* storm_lock.h -- what the records of the locks mean, for storm_lock.c, which writes them, and check_lock.c. */

#ifndef GUILDHALL_TESTS_STORM_STORM_LOCK_H
#define GUILDHALL_TESTS_STORM_STORM_LOCK_H

#include "storm/hold.h"

enum
{
    LOCK_NAMES = 12,
    LOCK_LONG = 6, /* from here on: the names with the long leases */
    LOCK_LEASE_MOST_US = 2500000,
    LOCK_LEASE_LONG_US = 12000000
};

enum
{
    LOCK_WRITE_SAFE = HOLD_FIRST_OWN_NUMBER, /* a: fence; into the hash */
    LOCK_WRITE_ONCE, /* a: fence; into the list                                                               */
    LOCK_SEEN,       /* by the witness; a: client id, b: left of the lease, c: fence, d: state h, r, f or -   */
    LOCK_REGISTER,   /* in the hash in the end; about: the write, a: fence                                    */
    LOCK_ENTRY,      /* in the list in the end; about: the write, a: fence, b: place                          */
    LOCK_FREE        /* an op of the auditor                                                                  */
};

void check_lock(void);

#endif
