/* path_tape.h -- what a client says over the wire, taken down and played back. */

#ifndef GUILDHALL_BENCH_PATH_TAPE_H
#define GUILDHALL_BENCH_PATH_TAPE_H

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

#endif
