/* cleanup.h -- what has to be ended after a test, whichever way the test ended.

   A failed assertion jumps out of the test, so whatever owns a process, a thread or a file registers here
   when it starts. main runs the list after each test, and the exit of the process runs it again. */

#ifndef GUILDHALL_TESTS_CLEANUP_H
#define GUILDHALL_TESTS_CLEANUP_H

/* end(thing) will be called once, after the test, in the opposite order of registration. */
void cleanup_add(void (*end)(void* thing), void* thing);

/* Forgets a thing that was ended early. */
void cleanup_forget(const void* thing);

/* Ends everything that is registered. */
void cleanup_run(void);

#endif
