/* semaphore_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_SEMAPHORE_SCRIPTS_H
#define GH_SEMAPHORE_SCRIPTS_H

/* semaphore_acquire.lua */
enum
{
    GH_SEMAPHORE_ACQUIRE_LIMIT = 6
};

/* semaphore_limit.lua */
enum
{
    GH_SEMAPHORE_LIMIT_SEQUENCE = 0,
    GH_SEMAPHORE_LIMIT_CODE = 1,
    GH_SEMAPHORE_LIMIT_LIMIT = 2,
    GH_SEMAPHORE_LIMIT_USED = 3,
    GH_SEMAPHORE_LIMIT_WAITERS = 4,
    GH_SEMAPHORE_LIMIT_MORE = 5,
    GH_SEMAPHORE_LIMIT_NOW_US = 6
};
typedef enum gh_semaphore_limit_code
{
    GH_SEMAPHORE_LIMIT_SET = 0,
    GH_SEMAPHORE_LIMIT_OLDER = 1,
    GH_SEMAPHORE_LIMIT_STALE = 2,
    GH_SEMAPHORE_LIMIT_AGAIN = 5
} gh_semaphore_limit_code;

/* semaphore_look.lua */
enum
{
    GH_SEMAPHORE_LOOK_SEQUENCE = 0,
    GH_SEMAPHORE_LOOK_LIMIT = 1,
    GH_SEMAPHORE_LOOK_USED = 2,
    GH_SEMAPHORE_LOOK_WAITERS = 3,
    GH_SEMAPHORE_LOOK_NOW_US = 4,
    GH_SEMAPHORE_LOOK_HOLDERS = 5
};

/* semaphore_refresh.lua */
enum
{
    GH_SEMAPHORE_REFRESH_SEQUENCE = 0,
    GH_SEMAPHORE_REFRESH_NOW_US = 1,
    GH_SEMAPHORE_REFRESH_LETTERS = 2
};
typedef enum gh_semaphore_refresh_letters
{
    GH_SEMAPHORE_REFRESH_RENEWED = '1',
    GH_SEMAPHORE_REFRESH_LOST = '0'
} gh_semaphore_refresh_letters;

/* semaphore_release.lua */
enum
{
    GH_SEMAPHORE_RELEASE_SEQUENCE = 0,
    GH_SEMAPHORE_RELEASE_CODE = 1,
    GH_SEMAPHORE_RELEASE_MORE = 2
};
typedef enum gh_semaphore_release_code
{
    GH_SEMAPHORE_RELEASE_RELEASED = 0,
    GH_SEMAPHORE_RELEASE_NOT_OWNER = 1
} gh_semaphore_release_code;

#endif
