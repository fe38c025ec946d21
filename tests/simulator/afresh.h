/* afresh.h -- the program's own variables and its heap as they were, so that one process can do many runs.

   The storm's checkers and the simulator are written for processes that do one run: what they keep in static variables
   is never put back. A process for each run is what fork is for, and costs a seventh of the run: pages that are
   copied when they are first written, and memory that the kernel has to clear. */

#ifndef GUILDHALL_TESTS_SIMULATOR_AFRESH_H
#define GUILDHALL_TESTS_SIMULATOR_AFRESH_H

#include <stdbool.h>

/* Whether it can be done: not with a sanitizer, which has its marks between variables, and on Linux alone. */
bool afresh_can(void);

/* Notes all static variables and the heap as they are. Once in a process. */
void afresh_note(void);

/* They are what they were when they were noted. What was taken from the heap since then is forgotten. */
void afresh_put_back(void);

#endif
