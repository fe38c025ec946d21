/* redis_process.h -- finding the server program, its command line, and the fork. For redis_server.c,
   and its log for who has several. */

#ifndef GUILDHALL_TESTS_REDIS_PROCESS_H
#define GUILDHALL_TESTS_REDIS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "support/clock.h"

typedef struct redis_process_plan
{
    const char* folder; /* socket, log and data/ go here */
    const char* file;   /* its configuration, or NULL    */
    bool sentinel;      /* it watches other servers      */
    bool append_only;
    uint16_t port;           /* 0: no TCP */
    bool six;                /* on ::1 as well */
    uint16_t tls_port;       /* 0: no TLS; else none is asked of clients */
    const char* certificate; /* of papers.h, for it; NULL: "server" */
    const clock_offset* clock;
    const char* const* arguments; /* NULL at the end, or NULL */
} redis_process_plan;

/* Forks and executes; the server dies with this process. Fails the test when no server program is in the
   PATH. */
pid_t redis_process_spawn(const redis_process_plan* plan);

/* Skips the test where the server was built without TLS; so does the start of one that is to speak it. */
void redis_process_needs_tls(void);

/* Writes the end of the server's log to stderr. */
void redis_process_show_log(const char* folder);

#endif
