/* waiters.h -- one process that wants the same lock many times over. */

#ifndef GUILDHALL_BENCH_WAITERS_H
#define GUILDHALL_BENCH_WAITERS_H

#include "bench.h"

typedef struct bench_waiters
{
    bench_client client;
    gh_lock* locks;
    size_t count;
    const char* name;
    gh_lock_config config;

    /* Which ops got an answer in this tick. The trace hook collects them, so that looking for the one that was
       granted does not cost a walk over all of them. */
    uint32_t* touched;
    size_t touched_count;
    size_t touched_capacity;

    uint64_t grants;
    uint64_t released_us; /* when the last holder let go; 0: nobody has yet */
    uint64_t worst_gap_us;
    size_t busy;
    bool again; /* who has let go wants it anew */
    bool failed;
} bench_waiters;

bool bench_waiters_open(bench* self, bench_waiters* waiters, const char* name, size_t count);
void bench_waiters_close(bench_waiters* waiters);

/* Begins the ops first..last-1 and ticks until the store has answered each: it waits, or it holds. */
bool bench_waiters_queue(bench_waiters* waiters, size_t first, size_t last);

/* One tick; who is granted lets go at once. */
void bench_waiters_move(bench_waiters* waiters);

/* Cancels all and ticks until they have ended. */
void bench_waiters_stop(bench_waiters* waiters);

#endif
