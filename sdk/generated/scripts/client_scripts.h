/* client_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_CLIENT_SCRIPTS_H
#define GH_CLIENT_SCRIPTS_H

/* epoch.lua */
enum
{
    GH_EPOCH_BIRTH_US = 0,
    GH_EPOCH_NOW_US = 1,
    GH_EPOCH_GENERATION = 2
};

/* lease_acquire.lua */
enum
{
    GH_LEASE_ACQUIRE_SEQUENCE = 0,
    GH_LEASE_ACQUIRE_CODE = 1,
    GH_LEASE_ACQUIRE_FENCE = 2,
    GH_LEASE_ACQUIRE_REMAINING_US = 3,
    GH_LEASE_ACQUIRE_POSITION = 4,
    GH_LEASE_ACQUIRE_NOW_US = 5
};
typedef enum gh_lease_acquire_code
{
    GH_LEASE_ACQUIRE_GRANTED = 0,
    GH_LEASE_ACQUIRE_WAITING = 1,
    GH_LEASE_ACQUIRE_BUSY = 2,
    GH_LEASE_ACQUIRE_ENDED = 3,
    GH_LEASE_ACQUIRE_STALE = 4,
    GH_LEASE_ACQUIRE_QUARANTINE = 5,
    GH_LEASE_ACQUIRE_FULL = 6,
    GH_LEASE_ACQUIRE_OVER_LIMIT = 7
} gh_lease_acquire_code;

#endif
