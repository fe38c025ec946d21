/* storm_counters.h -- what the records of the counters mean. */

#ifndef GUILDHALL_TESTS_STORM_STORM_COUNTERS_H
#define GUILDHALL_TESTS_STORM_STORM_COUNTERS_H

enum
{
    COUNTERS_NAMES = 2,
    COUNTERS_DAYS = 3
};

enum
{
    COUNTERS_ADDS = 1, /* of a client's life; a: added, b: counted, c: unknown, d: refused or dropped */
    COUNTERS_READ,     /* a: the sum */
    COUNTERS_LAST      /* the auditor's; a: the sum */
};

void check_counters(void);

#endif
