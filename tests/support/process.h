/* process.h -- game servers in processes of their own, for contention and sudden death.

   A child is a fork of the test binary that runs one function and leaves with _exit. It dies with its parent.
   It must not use cmocka's assertions (CHILD_CHECK instead), servers, proxies or fake servers other than by
   address: it has the parent's memory but not its threads. */

#ifndef GUILDHALL_TESTS_PROCESS_H
#define GUILDHALL_TESTS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

typedef struct child_process child_process;

/* What the child does. It writes results to the descriptor (a pipe of 64 KiB: more waits for the parent to
   read); what it returns becomes the exit status, 0..99. */
typedef int (*child_body)(void* context, int results);

/* In a child: says what is not so, and ends the child with status 100. */
#define CHILD_CHECK(condition)                                                                               \
    do                                                                                                       \
    {                                                                                                        \
        if (!(condition))                                                                                    \
        {                                                                                                    \
            fprintf(stderr, "%s:%d: in a child: %s does not hold\n", __FILE__, __LINE__, #condition);        \
            _exit(100);                                                                                      \
        }                                                                                                    \
    } while (0)

child_process* child_start(child_body body, void* context);

pid_t child_pid(const child_process* child);

/* Reads exactly that many bytes of results, waiting for them; fewer only when the child ended before. */
size_t child_read(child_process* child, void* bytes, size_t size);

/* Waits for the end and returns the exit status, or 128 + the signal that killed it. Fails the test at the
   cap. */
int child_wait(child_process* child);

/* True once it has ended; never waits. */
bool child_has_ended(child_process* child);

/* kill9 returns when it is gone. freeze returns when it stands still. */
void child_kill9(child_process* child);
void child_freeze(child_process* child);
void child_thaw(child_process* child);

/* Kills it if needed and forgets it; the pointer is invalid then. Happens by itself after the test. */
void child_end(child_process* child);

#endif
