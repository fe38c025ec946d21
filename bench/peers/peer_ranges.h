/* peer_ranges.h -- a file's bytes written with SETRANGE and read with GETRANGE, pipelined; or written by a
   script of one line, whatever else a script would do, and read with HGET. */

#ifndef GUILDHALL_BENCH_PEER_RANGES_H
#define GUILDHALL_BENCH_PEER_RANGES_H

#include "harness/bench.h"

typedef struct bench_ranges
{
    bench* owner;
    const char* bytes;
    size_t size;
    size_t chunk;
    size_t in_flight; /* requests at once */
    bool by_script;
    char digest[41]; /* of the script */
} bench_ranges;

/* cycles are bytes, each of which went there and back. */
bool bench_ranges_run(void* ranges, uint64_t duration_us, bench_sample* sample);

#endif
