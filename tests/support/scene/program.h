/* program.h -- a program of this build, run as a user would run it: it stands beside the test binary. */

#ifndef GUILDHALL_TESTS_PROGRAM_H
#define GUILDHALL_TESTS_PROGRAM_H

#include "support/process.h"

#include <limits.h>

enum
{
    PROGRAM_OUTPUT_SIZE = 65536,
    PROGRAM_ARGUMENTS_MAX = 24
};

/* Large: keep it out of the stack. */
typedef struct program
{
    child_process* child;
    char path[PATH_MAX];
    const char* arguments[PROGRAM_ARGUMENTS_MAX]; /* NULL at the end; the first is the path           */
    char terminal[64]; /* stdout goes there if it is not empty, else where stderr goes */
    int status;
    char output[PROGRAM_OUTPUT_SIZE];
} program;

/* Forgets what p was, and finds the program of that name. */
void program_find(program* p, const char* name);
void program_argument(program* p, const char* argument);
void program_start(program* p);
void program_interrupt(program* p); /* SIGINT */

/* Waits for its end; all that it printed is in p->output then. */
int program_end(program* p);

/* As program_end; fails the test, with the output, if it ended otherwise. */
void program_expect_status(program* p, int expected);

/* After its end. */
void program_expect_text(const program* p, const char* text);

/* The number in front of a phrase, such as 2 for " times ready" in "2 times ready". */
long long program_number_before(const program* p, const char* phrase);

#endif
