/* storm_rows.h -- what the records of the rows mean. */

#ifndef GUILDHALL_TESTS_STORM_STORM_ROWS_H
#define GUILDHALL_TESTS_STORM_STORM_ROWS_H

enum
{
    ROWS_NAMES = 6
};

enum
{
    ROWS_SCHEDULE = 1,
    ROWS_UNSCHEDULE,
    ROWS_GET,     /* a: version, b: the load whose value came, c: 1 if a value came                        */
    ROWS_LOAD,    /* a call of the loader, until it was completed; a: when it was called, by the tick's time,
                     b: until when it was wanted, by the tick's time                                       */
    ROWS_REFRESH  /* a refresher, from its begin to its end */
};

void check_rows(void);

#endif
