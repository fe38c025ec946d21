/* waiters.h -- many waiters for one lock, of one client or of several, all driven by this thread. */

#ifndef GUILDHALL_BENCH_WAITERS_H
#define GUILDHALL_BENCH_WAITERS_H

#include "harness/bench.h"

#define BENCH_WAITER_CLIENTS_MAX 10

/* An op that was told something in this tick, and its position before that. */
typedef struct bench_touched
{
    uint32_t op;
    uint32_t position;
} bench_touched;

typedef struct bench_waiters
{
    bench_client clients[BENCH_WAITER_CLIENTS_MAX];
    size_t client_count;
    gh_lock*
        locks; /* the i-th belongs to client i % client_count; its user field is set while it is wanted */
    size_t count;
    char name[32];
    gh_lock_config config;

    /* The trace hook collects them, so that looking for the one that was granted does not cost a walk over
     * all. */
    bench_touched* touched;
    size_t touched_count;
    size_t touched_capacity;

    uint64_t grants;
    uint64_t heartbeats;  /* answers "still waiting" to waiters that are not among the first few */
    uint64_t released_us; /* when the last holder let go; 0: nobody has yet */
    uint64_t worst_gap_us;
    bool again;   /* who has let go wants it anew     */
    bool ignored; /* nothing is collected any more    */
    bool failed;
} bench_waiters;

/* False: said why on stderr. Close it in any case. */
bool bench_waiters_open(bench* self, bench_waiters* waiters, size_t count, size_t client_count);
void bench_waiters_close(bench_waiters* waiters);

/* Begins all and ticks until the store has answered each: the first one holds the lock, the others wait. */
bool bench_waiters_queue(bench_waiters* waiters);

/* The client dies, and its waiters with it; the store is not told. */
void bench_waiters_kill(bench_waiters* waiters, size_t client);

/* From here on the clients are ticked by somebody else, who does not look after the locks. */
void bench_waiters_ignore(bench_waiters* waiters);

/* The first one lets go. */
void bench_waiters_start(bench_waiters* waiters);

/* One tick of each client, and a wait if nothing happened in it; who is granted lets go at once. */
void bench_waiters_move(bench_waiters* waiters);

#endif
