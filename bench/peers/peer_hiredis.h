/* peer_hiredis.h -- the lock cycle done with hiredis, asynchronously. */

#ifndef GUILDHALL_BENCH_PEER_HIREDIS_H
#define GUILDHALL_BENCH_PEER_HIREDIS_H

#include "harness/lock_request.h"

struct bench_hiredis_async;

/* in_flight locks on one connection; NULL if it cannot connect. */
struct bench_hiredis_async* bench_hiredis_async_open(bench* self, const bench_recording* recording,
                                                     size_t in_flight);
void bench_hiredis_async_close(struct bench_hiredis_async* peer);
bool bench_hiredis_async_run(void* peer, uint64_t duration_us, bench_sample* sample);

#endif
