/* peer_hiredis_sync.h -- the lock cycle done with hiredis, one command at a time; and its reader alone. */

#ifndef GUILDHALL_BENCH_PEER_HIREDIS_SYNC_H
#define GUILDHALL_BENCH_PEER_HIREDIS_SYNC_H

#include "harness/lock_request.h"

struct bench_hiredis_sync;

/* NULL if it cannot connect. */
struct bench_hiredis_sync* bench_hiredis_sync_open(bench* self, const bench_recording* recording);
void bench_hiredis_sync_close(struct bench_hiredis_sync* peer);
bool bench_hiredis_sync_run(void* peer, uint64_t duration_us, bench_sample* sample);

/* CPU time for one reply of a grant's form, when nothing is built from it. */
double bench_hiredis_reader_ns(void);

#endif
