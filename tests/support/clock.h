/* clock.h -- a wall clock that a test moves, for a server process.

   A small shared library (clock_shim.c) is compiled once a run and put in front of the server with
   LD_PRELOAD. It adds an offset that it reads from a file which both processes have mapped, so a jump takes
   hold at once. */

#ifndef GUILDHALL_TESTS_CLOCK_H
#define GUILDHALL_TESTS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct clock_offset clock_offset;

/* The offset's file is made in that folder. Skips the test when there is no C compiler or the source is not
   found. */
clock_offset* clock_open(const char* folder);

/* NULL is fine. */
void clock_close(clock_offset* clock);

/* In microseconds; positive: the server believes it is later than it is. */
void clock_shift(clock_offset* clock, int64_t offset_us);

/* In microseconds since 1970: it stands there, until it is held elsewhere, and rand() of that process is 0. 0: it goes
   on. */
void clock_hold(clock_offset* clock, int64_t moment_us);

/* True when a process has loaded the library and mapped the file. */
bool clock_is_attached(const clock_offset* clock);

const char* clock_library(const clock_offset* clock);
const char* clock_file(const clock_offset* clock);

#endif
