/* aggregate_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_AGGREGATE_SCRIPTS_H
#define GH_AGGREGATE_SCRIPTS_H

/* aggregate_add.lua */
enum
{
    GH_AGGREGATE_ADD_SEQUENCE = 0,
    GH_AGGREGATE_ADD_CODE = 1,
    GH_AGGREGATE_ADD_ADDED = 2,
    GH_AGGREGATE_ADD_PIECES = 3
};
typedef enum gh_aggregate_add_code
{
    GH_AGGREGATE_ADD_DONE = 0,
    GH_AGGREGATE_ADD_EARLY = 1,
    GH_AGGREGATE_ADD_NONE = 2
} gh_aggregate_add_code;

/* aggregate_read.lua */
enum
{
    GH_AGGREGATE_READ_SEQUENCE = 0,
    GH_AGGREGATE_READ_TOTALS = 1
};

/* aggregate_stage.lua */
enum
{
    GH_AGGREGATE_STAGE_SEQUENCE = 0,
    GH_AGGREGATE_STAGE_CODE = 1,
    GH_AGGREGATE_STAGE_STAGED = 2,
    GH_AGGREGATE_STAGE_ADDED = 3,
    GH_AGGREGATE_STAGE_PIECES = 4
};
typedef enum gh_aggregate_stage_code
{
    GH_AGGREGATE_STAGE_DONE = 0,
    GH_AGGREGATE_STAGE_NONE = 1,
    GH_AGGREGATE_STAGE_EARLY = 2,
    GH_AGGREGATE_STAGE_DIFFERS = 3,
    GH_AGGREGATE_STAGE_AT_WORK = 4
} gh_aggregate_stage_code;

#endif
