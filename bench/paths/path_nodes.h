/* path_nodes.h -- ticks in which nothing happens, and commands, on nodes that are made up; no tape. */

#ifndef GUILDHALL_BENCH_PATH_NODES_H
#define GUILDHALL_BENCH_PATH_NODES_H

#include "paths/path_tape.h"

bool bench_path_nodes_3(bench_tape* tape, uint64_t count);
bool bench_path_nodes_100(bench_tape* tape, uint64_t count);
bool bench_path_nodes_one(bench_tape* tape, uint64_t count); /* of 100 nodes, with a link to one of them */

/* Sixty-four in a tick, at one server and at a Cluster. The made-up server's own work, the same for each, is in it. */
bool bench_path_commands_1(bench_tape* tape, uint64_t count);
bool bench_path_commands_3(bench_tape* tape, uint64_t count);

#endif
