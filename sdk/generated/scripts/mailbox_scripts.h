/* mailbox_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_MAILBOX_SCRIPTS_H
#define GH_MAILBOX_SCRIPTS_H

/* mailbox_commit.lua */
enum
{
    GH_MAILBOX_COMMIT_SEQUENCE = 0,
    GH_MAILBOX_COMMIT_CODE = 1,
    GH_MAILBOX_COMMIT_FIRST_ID = 2,
    GH_MAILBOX_COMMIT_LAST_ID = 3
};
typedef enum gh_mailbox_commit_code
{
    GH_MAILBOX_COMMIT_DONE = 0,
    GH_MAILBOX_COMMIT_NOT_THERE = 1,
    GH_MAILBOX_COMMIT_MORE = 2
} gh_mailbox_commit_code;

/* mailbox_fetch.lua */
enum
{
    GH_MAILBOX_FETCH_SEQUENCE = 0,
    GH_MAILBOX_FETCH_CODE = 1,
    GH_MAILBOX_FETCH_EPOCH = 2,
    GH_MAILBOX_FETCH_FIRST_ID = 3,
    GH_MAILBOX_FETCH_LAST_ID = 4,
    GH_MAILBOX_FETCH_NOW_US = 5,
    GH_MAILBOX_FETCH_OLDEST_MS = 6,
    GH_MAILBOX_FETCH_READ_US = 7,
    GH_MAILBOX_FETCH_EPOCHS = 8,
    GH_MAILBOX_FETCH_ENTRIES = 9
};
typedef enum gh_mailbox_fetch_code
{
    GH_MAILBOX_FETCH_THERE = 0
} gh_mailbox_fetch_code;

/* mailbox_push.lua */
enum
{
    GH_MAILBOX_PUSH_SEQUENCE = 0,
    GH_MAILBOX_PUSH_CODE = 1,
    GH_MAILBOX_PUSH_FIRST_ID = 2,
    GH_MAILBOX_PUSH_EPOCH = 3,
    GH_MAILBOX_PUSH_NOW_US = 4
};
typedef enum gh_mailbox_push_code
{
    GH_MAILBOX_PUSH_TAKEN = 0,
    GH_MAILBOX_PUSH_FULL = 1,
    GH_MAILBOX_PUSH_OLD = 2
} gh_mailbox_push_code;

#endif
