/* made_nodes.h -- a store that is made up in memory, one server or a Cluster of so many: what is measured on it is the
   client's own work, without a kernel and without servers.

       bench_made* made = bench_made_open(100);      // ready, and with one link, or none
       bench_made_reach(made);                       // has asked each of them something: all links are there
       gh_tick(bench_made_client(made), bench_made_later(made, 0), 0);
       bench_made_close(made); */

#ifndef GUILDHALL_BENCH_MADE_NODES_H
#define GUILDHALL_BENCH_MADE_NODES_H

#include "harness/bench.h"

typedef struct bench_made bench_made;

/* 1: one server, and no topology. NULL: the client did not become ready, which was said. */
bench_made* bench_made_open(uint32_t nodes);
void bench_made_close(bench_made* made);

/* False: not all were reached, which was said. */
bool bench_made_reach(bench_made* made);

gh_client* bench_made_client(bench_made* made);

/* The client's clock, so much later. */
uint64_t bench_made_later(bench_made* made, uint64_t us);

/* How often streams were looked at so far, and how many bytes a map has. */
uint64_t bench_made_looks(const bench_made* made);
size_t bench_made_map_bytes(const bench_made* made);

#endif
