/* path.h -- the ten hottest paths, each as a program that does nothing else, for a tool that counts
   instructions.

   What a path says over the wire is taken down once, with a real server, and played back under the tool: no
   sockets, no clock, the same bytes each time, so that counts repeat. bench/instructions.sh does both. */

#ifndef GUILDHALL_BENCH_PATH_H
#define GUILDHALL_BENCH_PATH_H

#include "harness/bench.h"
#include "guildhall/platform.h"

/* A client whose stream is taken down or played back. */
typedef struct bench_tape bench_tape;

/* redis: address of the server to take down from; NULL: play back what is in the file. NULL: cannot, and said
   why. */
bench_tape* bench_tape_open(const char* redis, const char* file);
bool bench_tape_close(bench_tape* tape); /* false: it did not match, or could not be written */
gh_client* bench_tape_client(bench_tape* tape);

/* One tick; while the tape is taken down, waits for what the server answers. */
void bench_tape_tick(bench_tape* tape);

/* Ticks until the op is not GH_PENDING any more. */
gh_status bench_tape_await(bench_tape* tape, const gh_op* op);

typedef struct bench_path
{
    const char* name;
    const char* unit; /* what is counted                         */
    bool (*run)(bench_tape* tape, uint64_t count);
    uint64_t counts[2]; /* the difference of two runs is the cost  */
    bool talks;         /* needs a tape                            */
} bench_path;

/* --path NAME --count N [--tape FILE]; with redis the tape is taken down. The exit code. NULL as the name
   lists all. */
int bench_path_run(const char* name, const char* count, const char* tape, const char* redis);

/* path_local.c and path_wire.c */
bool bench_path_counter(bench_tape* tape, uint64_t count);
bool bench_path_geo(bench_tape* tape, uint64_t count);
bool bench_path_aggregate(bench_tape* tape, uint64_t count);
bool bench_path_contact(bench_tape* tape, uint64_t count);
bool bench_path_idle(bench_tape* tape, uint64_t count);
bool bench_path_lock(bench_tape* tape, uint64_t count);
bool bench_path_task(bench_tape* tape, uint64_t count);
bool bench_path_send(bench_tape* tape, uint64_t count);
bool bench_path_fetch(bench_tape* tape, uint64_t count);
bool bench_path_guild(bench_tape* tape, uint64_t count);

#endif
