/* storm_semaphore.h -- what storm_semaphore.c and check_semaphore.c agree on; the records are those of hold.h. */

#ifndef GUILDHALL_TESTS_STORM_STORM_SEMAPHORE_H
#define GUILDHALL_TESTS_STORM_STORM_SEMAPHORE_H

#include "storm/hold.h"

enum
{
    SEMAPHORE_NAMES = 2,              /* with a limit that stays */
    SEMAPHORE_GATE = SEMAPHORE_NAMES, /* the next: its limit is set anew all the time */
    SEMAPHORE_LEASE_MOST_US = 1500000,
    SEMAPHORE_ALL = HOLD_FIRST_OWN_NUMBER, /* an op of the auditor: all permits at once                        */
    SEMAPHORE_LIMIT,                       /* an op: the gate's limit is set. a: limit, b: sequence, c: client */
    SEMAPHORE_SETTER                       /* seen: by whom it was set. a: limit, b: sequence, c: client,
                                              d: when the store was asked                                  */
};

extern const uint32_t semaphore_limits[SEMAPHORE_NAMES];

void check_semaphore(void);

#endif
