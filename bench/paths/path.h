/* path.h -- the hottest paths, each as a program that does nothing else, for a tool that counts
   instructions.

   What a path says over the wire is taken down once, with a real server, and played back under the tool: no
   sockets, no clock, the same bytes each time, so that counts repeat. bench/instructions.sh does both.

       path.c --> path_wire.c, path_local.c --> path_tape.c      which, how often; the work; the stream */

#ifndef GUILDHALL_BENCH_PATH_H
#define GUILDHALL_BENCH_PATH_H

/* --path NAME --count N [--tape FILE]; with redis the tape is taken down. The exit code. NULL as the name
   lists all. */
int bench_path_run(const char* name, const char* count, const char* tape, const char* redis);

#endif
