/* files_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_FILES_SCRIPTS_H
#define GH_FILES_SCRIPTS_H

/* files_chunk.lua */
enum
{
    GH_FILES_CHUNK_SEQUENCE = 0,
    GH_FILES_CHUNK_CODE = 1,
    GH_FILES_CHUNK_CHUNKS = 2,
    GH_FILES_CHUNK_AGAIN = 3
};
typedef enum gh_files_chunk_code
{
    GH_FILES_CHUNK_STORED = 0,
    GH_FILES_CHUNK_FULL = 1,
    GH_FILES_CHUNK_EARLY = 2,
    GH_FILES_CHUNK_TAKEN = 3,
    GH_FILES_CHUNK_GONE = 4,
    GH_FILES_CHUNK_DIFFERS = 5
} gh_files_chunk_code;

/* files_list.lua */
enum
{
    GH_FILES_LIST_SEQUENCE = 0,
    GH_FILES_LIST_FILES = 1
};

/* files_look.lua */
enum
{
    GH_FILES_LOOK_SEQUENCE = 0,
    GH_FILES_LOOK_CODE = 1,
    GH_FILES_LOOK_ID = 2,
    GH_FILES_LOOK_BYTES = 3,
    GH_FILES_LOOK_STORED = 4,
    GH_FILES_LOOK_LEFT = 5,
    GH_FILES_LOOK_DONE = 6,
    GH_FILES_LOOK_LOST = 7,
    GH_FILES_LOOK_VISIBLE = 8,
    GH_FILES_LOOK_SEALED = 9,
    GH_FILES_LOOK_READ = 10,
    GH_FILES_LOOK_DIGEST = 11
};
typedef enum gh_files_look_code
{
    GH_FILES_LOOK_THERE = 0,
    GH_FILES_LOOK_GONE = 1,
    GH_FILES_LOOK_ENDED = 2
} gh_files_look_code;

/* files_open.lua */
enum
{
    GH_FILES_OPEN_SEQUENCE = 0,
    GH_FILES_OPEN_CODE = 1,
    GH_FILES_OPEN_ID = 2,
    GH_FILES_OPEN_CHUNK_BYTES = 3,
    GH_FILES_OPEN_CHUNKS = 4,
    GH_FILES_OPEN_BYTES = 5,
    GH_FILES_OPEN_SHOWN = 6,
    GH_FILES_OPEN_DIGEST = 7
};
typedef enum gh_files_open_code
{
    GH_FILES_OPEN_OPEN = 0,
    GH_FILES_OPEN_SEALED = 1,
    GH_FILES_OPEN_OTHER_READERS = 2,
    GH_FILES_OPEN_TAKEN = 3,
    GH_FILES_OPEN_STALE = 4
} gh_files_open_code;
typedef enum gh_files_open_shown
{
    GH_FILES_OPEN_HIDDEN = 0,
    GH_FILES_OPEN_VISIBLE = 1,
    GH_FILES_OPEN_ENDED = 2
} gh_files_open_shown;

/* files_read.lua */
enum
{
    GH_FILES_READ_SEQUENCE = 0,
    GH_FILES_READ_CODE = 1,
    GH_FILES_READ_ID = 2,
    GH_FILES_READ_CHUNK_BYTES = 3,
    GH_FILES_READ_CHUNKS = 4,
    GH_FILES_READ_BYTES = 5,
    GH_FILES_READ_OFFSET = 6,
    GH_FILES_READ_LEFT = 7,
    GH_FILES_READ_SEALED = 8,
    GH_FILES_READ_LEASE_US = 9,
    GH_FILES_READ_DIGEST = 10
};
typedef enum gh_files_read_code
{
    GH_FILES_READ_NOTED = 0,
    GH_FILES_READ_GONE = 1,
    GH_FILES_READ_NO_READER = 2,
    GH_FILES_READ_DONE_BEFORE = 3,
    GH_FILES_READ_GIVEN_UP = 4,
    GH_FILES_READ_NOT_YET = 5,
    GH_FILES_READ_BEYOND = 6
} gh_files_read_code;

/* files_remove.lua */
enum
{
    GH_FILES_REMOVE_SEQUENCE = 0,
    GH_FILES_REMOVE_CODE = 1
};
typedef enum gh_files_remove_code
{
    GH_FILES_REMOVE_DONE = 0,
    GH_FILES_REMOVE_NOT_THERE = 1
} gh_files_remove_code;

/* files_reserve.lua */
enum
{
    GH_FILES_RESERVE_SEQUENCE = 0,
    GH_FILES_RESERVE_CODE = 1,
    GH_FILES_RESERVE_NUMBER = 2,
    GH_FILES_RESERVE_PROBE_ID = 3,
    GH_FILES_RESERVE_PROBE = 4
};
typedef enum gh_files_reserve_code
{
    GH_FILES_RESERVE_DONE = 0,
    GH_FILES_RESERVE_FULL = 1,
    GH_FILES_RESERVE_STALE = 2
} gh_files_reserve_code;

/* files_seal.lua */
enum
{
    GH_FILES_SEAL_SEQUENCE = 0,
    GH_FILES_SEAL_CODE = 1
};
typedef enum gh_files_seal_code
{
    GH_FILES_SEAL_DONE = 0,
    GH_FILES_SEAL_EARLY = 2,
    GH_FILES_SEAL_TAKEN = 3,
    GH_FILES_SEAL_GONE = 4,
    GH_FILES_SEAL_DIFFERS = 5
} gh_files_seal_code;

/* files_withdraw.lua */
enum
{
    GH_FILES_WITHDRAW_SEQUENCE = 0,
    GH_FILES_WITHDRAW_CODE = 1
};
typedef enum gh_files_withdraw_code
{
    GH_FILES_WITHDRAW_DONE = 0,
    GH_FILES_WITHDRAW_NOT_THERE = 1
} gh_files_withdraw_code;

#endif
