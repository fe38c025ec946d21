/* rows_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_ROWS_SCRIPTS_H
#define GH_ROWS_SCRIPTS_H

/* rows_claim.lua */
enum
{
    GH_ROWS_CLAIM_SEQUENCE = 0,
    GH_ROWS_CLAIM_CODE = 1,
    GH_ROWS_CLAIM_NOW_US = 2,
    GH_ROWS_CLAIM_DUE_US = 3,
    GH_ROWS_CLAIM_LATE_US = 4,
    GH_ROWS_CLAIM_REMAINING_US = 5,
    GH_ROWS_CLAIM_ROWS = 6
};
typedef enum gh_rows_claim_code
{
    GH_ROWS_CLAIM_GIVEN = 0,
    GH_ROWS_CLAIM_STALE = 4,
    GH_ROWS_CLAIM_CORRUPT = 5
} gh_rows_claim_code;

/* rows_finish.lua */
enum
{
    GH_ROWS_FINISH_SEQUENCE = 0,
    GH_ROWS_FINISH_CODE = 1,
    GH_ROWS_FINISH_NOW_US = 2,
    GH_ROWS_FINISH_DUE_US = 3
};
typedef enum gh_rows_finish_code
{
    GH_ROWS_FINISH_DONE = 0,
    GH_ROWS_FINISH_LOST = 1
} gh_rows_finish_code;

/* rows_get.lua */
enum
{
    GH_ROWS_GET_SEQUENCE = 0,
    GH_ROWS_GET_CODE = 1,
    GH_ROWS_GET_VERSION = 2,
    GH_ROWS_GET_AGE_US = 3,
    GH_ROWS_GET_MAX_AGE_US = 4,
    GH_ROWS_GET_SIZE = 5,
    GH_ROWS_GET_NOW_US = 6,
    GH_ROWS_GET_BYTES = 7
};
typedef enum gh_rows_get_code
{
    GH_ROWS_GET_VALUE = 0,
    GH_ROWS_GET_ABSENT = 1,
    GH_ROWS_GET_NOTHING = 2,
    GH_ROWS_GET_SAME = 3,
    GH_ROWS_GET_TOO_SMALL = 4
} gh_rows_get_code;

/* rows_renew.lua */
typedef enum gh_rows_renew_code
{
    GH_ROWS_RENEW_STALE = 4
} gh_rows_renew_code;

/* rows_change.lua */
enum
{
    GH_ROWS_CHANGE_SEQUENCE = 0,
    GH_ROWS_CHANGE_CODE = 1,
    GH_ROWS_CHANGE_NOW_US = 2
};
typedef enum gh_rows_change_code
{
    GH_ROWS_CHANGE_DONE = 0,
    GH_ROWS_CHANGE_OLDER = 1,
    GH_ROWS_CHANGE_NOT_THERE = 2,
    GH_ROWS_CHANGE_FULL = 3,
    GH_ROWS_CHANGE_STALE = 4,
    GH_ROWS_CHANGE_AGAIN = 5
} gh_rows_change_code;

#endif
