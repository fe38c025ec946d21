/* lock_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_LOCK_SCRIPTS_H
#define GH_LOCK_SCRIPTS_H

/* lock_look.lua */
enum
{
    GH_LOCK_LOOK_SEQUENCE = 0,
    GH_LOCK_LOOK_CODE = 1,
    GH_LOCK_LOOK_FENCE = 2,
    GH_LOCK_LOOK_REMAINING_US = 3,
    GH_LOCK_LOOK_WAITERS = 4,
    GH_LOCK_LOOK_NOW_US = 5,
    GH_LOCK_LOOK_TOKEN = 6
};
typedef enum gh_lock_look_code
{
    GH_LOCK_LOOK_HELD = 0,
    GH_LOCK_LOOK_KEPT = 1,
    GH_LOCK_LOOK_NOBODYS = 2
} gh_lock_look_code;

/* lock_release.lua */
enum
{
    GH_LOCK_RELEASE_SEQUENCE = 0,
    GH_LOCK_RELEASE_CODE = 1
};
typedef enum gh_lock_release_code
{
    GH_LOCK_RELEASE_RELEASED = 0,
    GH_LOCK_RELEASE_NOT_OWNER = 1,
    GH_LOCK_RELEASE_RELEASED_BEFORE = 2,
    GH_LOCK_RELEASE_MORE = 3
} gh_lock_release_code;

/* lock_renew.lua */
enum
{
    GH_LOCK_RENEW_SEQUENCE = 0,
    GH_LOCK_RENEW_CODE = 1,
    GH_LOCK_RENEW_FENCE = 2,
    GH_LOCK_RENEW_REMAINING_US = 3,
    GH_LOCK_RENEW_NOW_US = 4
};
typedef enum gh_lock_renew_code
{
    GH_LOCK_RENEW_RENEWED = 0,
    GH_LOCK_RENEW_LOST = 1
} gh_lock_renew_code;

#endif
