/* cleanup.h -- what has to be ended after a test, whichever way the test ended.

   A failed assertion jumps out of the test, so whatever owns a process, a thread or a file registers here
   when it starts. main runs the list after each test, and the exit of the process runs it again. */

#ifndef GUILDHALL_TESTS_CLEANUP_H
#define GUILDHALL_TESTS_CLEANUP_H

#include <stddef.h>

/* end(thing) will be called once, after the test, in the opposite order of registration. */
void cleanup_add(void (*end)(void* thing), void* thing);

/* Forgets a thing that was ended early. */
void cleanup_forget(const void* thing);

/* Ends everything that is registered and not kept. */
void cleanup_run(void);

/* For what is slow to start and may serve many tests: what was registered since the mark is kept until cleanup_end. */
size_t cleanup_mark(void);
void cleanup_keep(size_t mark);

/* Ends everything. For main alone. */
void cleanup_end(void);

#endif
