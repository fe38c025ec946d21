/* storm_rows.h -- what the records of the rows mean. */

#ifndef GUILDHALL_TESTS_STORM_STORM_ROWS_H
#define GUILDHALL_TESTS_STORM_STORM_ROWS_H

enum
{
    ROWS_STEADY = 6, /* the first, which are hardly ever unscheduled; the others are again and again */
    ROWS_NAMES = 8,
    ROWS_LEASE_MOST_US = 4000000
};

enum
{
    ROWS_SCHEDULE = 1, /* b: sequence, c: client id */
    ROWS_UNSCHEDULE,
    ROWS_GET,     /* a: version, b: the load whose value came, c: 1 if a value came                        */
    ROWS_LOAD,    /* a call of the loader, until it was completed; a: when it was called, by the tick's time,
                     b: until when it was wanted, by the tick's time, c: the number of its claim           */
    ROWS_REFRESH, /* a refresher, from its begin to its end; b: client id, c: when it was told to end; 0: not */
    ROWS_SEEN,    /* by the witness. a: whose claim it is, a client id, 0: nobody's, or its lease is over; b: which;
                     c, d: client id and sequence of who has scheduled it, or has unscheduled it last;
                     0: nobody, or long ago; and how many us before it was asked, times 2^32               */
    ROWS_OVER,    /* by the witness: the lease of that claim is over, and nobody else has it. a, b: as above */
    ROWS_ENDED    /* the same claim behind that, and what became of it is written down; c: what, see KEYS.md */
};

void check_rows(void);

#endif
