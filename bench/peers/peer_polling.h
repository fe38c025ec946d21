/* peer_polling.h -- waiting for a lock as the listing does: SETNX, and again after a millisecond. */

#ifndef GUILDHALL_BENCH_PEER_POLLING_H
#define GUILDHALL_BENCH_PEER_POLLING_H

#include "harness/bench.h"

/* So many want one lock, let go of it at once when they have it, and want it again. cycles are the grants. */
bool bench_polling_run(bench* self, size_t count, uint64_t duration_us, bench_sample* sample);

/* On how many connections so many waiters wait. */
size_t bench_polling_connections(size_t count);

#endif
