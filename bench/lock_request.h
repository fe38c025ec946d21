/* lock_request.h -- the two requests of a lock cycle as arguments, for the peers that send them without Guildhall.
   See sdk/scripts/lock_acquire.lua and lock_release.lua for what they mean. */

#ifndef GUILDHALL_BENCH_LOCK_REQUEST_H
#define GUILDHALL_BENCH_LOCK_REQUEST_H

#include "bench.h"

enum
{
    BENCH_ACQUIRE_ARGUMENTS = 13,
    BENCH_RELEASE_ARGUMENTS = 9
};

/* The digests of the scripts, loaded into the server. */
typedef struct bench_lock_scripts
{
    char acquire[41];
    char release[41];
} bench_lock_scripts;

/* One lock: everything but token and sequence stays as it is, so that a peer pays for no more than it must. */
typedef struct bench_lock_request
{
    const char* acquire[BENCH_ACQUIRE_ARGUMENTS];
    size_t acquire_size[BENCH_ACQUIRE_ARGUMENTS];
    const char* release[BENCH_RELEASE_ARGUMENTS];
    size_t release_size[BENCH_RELEASE_ARGUMENTS];
    char keys[3][48];
    char token[34];
    char sequence[24];
} bench_lock_request;

bool bench_lock_scripts_load(bench* self, bench_lock_scripts* scripts);

/* Must stay where it is: its arguments point into it. */
void bench_lock_request_make(bench_lock_request* self, const bench_lock_scripts* scripts, unsigned number,
                             uint64_t client_id);

/* The next cycle has a token of its own. */
void bench_lock_request_next(bench_lock_request* self, uint64_t sequence);

#endif
