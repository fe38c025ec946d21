/* hold.h -- the times during which somebody was told that a lock or a permit is his; for both the same records.

   An op of either is followed by events about it: granted, a new lease, over. Their numbers are the same in both
   systems. */

#ifndef GUILDHALL_TESTS_STORM_HOLD_H
#define GUILDHALL_TESTS_STORM_HOLD_H

#include "storm/history.h"

enum
{
    HOLD_OP = 1,  /* an op that may be granted: a: lease, b: wait, c: client id, d: permits            */
    HOLD_SET,     /* object and b: two names, a: lease, c: client id                                   */
    HOLD_GRANTED, /* about: the op; a: end of the lease, b: fence, c: client id                        */
    HOLD_LEASE,   /* the same, after a renewal                                                         */
    HOLD_OVER,    /* about: the op; it is not held any more, or is about to be given back; b: fence    */
    HOLD_FIRST_OWN_NUMBER
};

typedef struct storm_hold
{
    uint64_t from_us;
    uint64_t to_us;
    uint64_t fence;
    uint64_t asked_us; /* when the op began */
    uint32_t op;
    uint32_t event;
    uint32_t permits;
    uint8_t name;
} storm_hold;

/* All holds of the system; free them. */
storm_hold* hold_gather(uint8_t system, size_t* count);

void hold_sort_by_time(storm_hold* holds, size_t count);  /* of each name */
void hold_sort_by_fence(storm_hold* holds, size_t count); /* of each name */
const storm_hold* hold_of_fence(const storm_hold* holds, size_t count, uint8_t name, uint64_t fence);

/* Whoever began to ask after another was told has a larger fence than he. Sorted by time. */
void hold_check_fence_order(const storm_hold* holds, size_t count);

/* Sorted by fence. */
void hold_check_fence_distinct(const storm_hold* holds, size_t count);

#endif
