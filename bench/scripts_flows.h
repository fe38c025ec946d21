/* scripts_flows.h -- ops that run several scripts, at their caps, for scripts.c. Each gives its end. */

#ifndef GUILDHALL_BENCH_SCRIPTS_FLOWS_H
#define GUILDHALL_BENCH_SCRIPTS_FLOWS_H

#include "harness/bench.h"

/* 64 locks at once, and back. */
gh_status bench_flow_lock_set(bench_client* client);

/* A file's sums of 5,000 cities for a day, staged and added; number is of the file. */
gh_status bench_flow_aggregate(bench_client* client, unsigned number);

/* Rows of 8 KiB, which are due at once: a refresher claims and stores ten in a request. */
gh_status bench_flow_rows(bench_client* client);

#endif
