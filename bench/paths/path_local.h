/* path_local.h -- paths that compute and hardly talk: each does its work so many times. The tape is NULL for
   those that do not talk at all. */

#ifndef GUILDHALL_BENCH_PATH_LOCAL_H
#define GUILDHALL_BENCH_PATH_LOCAL_H

#include "paths/path_tape.h"

bool bench_path_counter(bench_tape* tape, uint64_t count);
bool bench_path_geo(bench_tape* tape, uint64_t count);
bool bench_path_aggregate(bench_tape* tape, uint64_t count);
bool bench_path_contact(bench_tape* tape, uint64_t count);
bool bench_path_idle(bench_tape* tape, uint64_t count);

#endif
