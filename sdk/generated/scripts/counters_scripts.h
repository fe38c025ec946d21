/* counters_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_COUNTERS_SCRIPTS_H
#define GH_COUNTERS_SCRIPTS_H

/* counters_clean.lua */
enum
{
    GH_COUNTERS_CLEAN_SEQUENCE = 0,
    GH_COUNTERS_CLEAN_CODE = 1,
    GH_COUNTERS_CLEAN_COUNTERS = 2,
    GH_COUNTERS_CLEAN_SAMPLES = 3,
    GH_COUNTERS_CLEAN_DUE = 4
};
typedef enum gh_counters_clean_code
{
    GH_COUNTERS_CLEAN_DONE = 0,
    GH_COUNTERS_CLEAN_MORE = 1
} gh_counters_clean_code;

/* counters_flush.lua */
enum
{
    GH_COUNTERS_FLUSH_SEQUENCE = 0,
    GH_COUNTERS_FLUSH_CODE = 1,
    GH_COUNTERS_FLUSH_NOW_US = 2,
    GH_COUNTERS_FLUSH_ANSWERS = 3
};
typedef enum gh_counters_flush_code
{
    GH_COUNTERS_FLUSH_TAKEN = 0,
    GH_COUNTERS_FLUSH_OLD = 1,
    GH_COUNTERS_FLUSH_STALE = 2
} gh_counters_flush_code;
typedef enum gh_counters_flush_answers
{
    GH_COUNTERS_FLUSH_COUNTED = 'k',
    GH_COUNTERS_FLUSH_AT_LIMIT = 's',
    GH_COUNTERS_FLUSH_FULL = 'f',
    GH_COUNTERS_FLUSH_CORRUPT = 'c'
} gh_counters_flush_answers;

/* counters_lease.lua */
enum
{
    GH_COUNTERS_LEASE_SEQUENCE = 0,
    GH_COUNTERS_LEASE_CODE = 1,
    GH_COUNTERS_LEASE_REMAINING_MS = 2,
    GH_COUNTERS_LEASE_NOW_US = 3
};
typedef enum gh_counters_lease_code
{
    GH_COUNTERS_LEASE_YOURS = 0,
    GH_COUNTERS_LEASE_ANOTHERS = 1,
    GH_COUNTERS_LEASE_GIVEN_BACK = 2,
    GH_COUNTERS_LEASE_STALE = 3
} gh_counters_lease_code;

/* counters_read.lua */
enum
{
    GH_COUNTERS_READ_SEQUENCE = 0,
    GH_COUNTERS_READ_CODE = 1,
    GH_COUNTERS_READ_NEWEST_S = 2,
    GH_COUNTERS_READ_NOW_US = 3,
    GH_COUNTERS_READ_SLICES = 4
};
typedef enum gh_counters_read_code
{
    GH_COUNTERS_READ_ALL = 0,
    GH_COUNTERS_READ_MORE = 1
} gh_counters_read_code;

#endif
