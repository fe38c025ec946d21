/* peer_hiredis.h -- the lock cycle done with hiredis, asynchronous and synchronous. */

#ifndef GUILDHALL_BENCH_PEER_HIREDIS_H
#define GUILDHALL_BENCH_PEER_HIREDIS_H

#include "lock_request.h"

struct bench_hiredis_async;
struct bench_hiredis_sync;

/* in_flight locks on one connection; NULL if it cannot connect. */
struct bench_hiredis_async* bench_hiredis_async_open(bench* self, const bench_lock_scripts* scripts, size_t in_flight);
void bench_hiredis_async_close(struct bench_hiredis_async* peer);
bool bench_hiredis_async_run(void* peer, uint64_t duration_us, bench_sample* sample);

/* One lock after the other: a request, then its answer. */
struct bench_hiredis_sync* bench_hiredis_sync_open(bench* self, const bench_lock_scripts* scripts);
void bench_hiredis_sync_close(struct bench_hiredis_sync* peer);
bool bench_hiredis_sync_run(void* peer, uint64_t duration_us, bench_sample* sample);

#endif
