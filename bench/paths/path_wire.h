/* path_wire.h -- paths over the wire: each does its work so many times, on a tape. */

#ifndef GUILDHALL_BENCH_PATH_WIRE_H
#define GUILDHALL_BENCH_PATH_WIRE_H

#include "paths/path_tape.h"

bool bench_path_lock(bench_tape* tape, uint64_t count);
bool bench_path_task(bench_tape* tape, uint64_t count);
bool bench_path_send(bench_tape* tape, uint64_t count);
bool bench_path_fetch(bench_tape* tape, uint64_t count);
bool bench_path_guild(bench_tape* tape, uint64_t count);

#endif
