/* lock_request.h -- the two requests of a lock cycle, for the peers that send them without Guildhall.

   They are not written down here but recorded from Guildhall itself, so that the peers send what it sends,
   whatever the scripts' arguments are. */

#ifndef GUILDHALL_BENCH_LOCK_REQUEST_H
#define GUILDHALL_BENCH_LOCK_REQUEST_H

#include "harness/bench.h"

enum
{
    BENCH_REQUEST_ARGUMENTS_MAX = 24,
    BENCH_REQUEST_SIZE_MAX = 1024,
    BENCH_LOCK_STATE_SIZE_MAX = 256
};

/* One command with its arguments, and where in them stands what differs from cycle to cycle. */
typedef struct bench_request
{
    const char* arguments[BENCH_REQUEST_ARGUMENTS_MAX];
    size_t sizes[BENCH_REQUEST_ARGUMENTS_MAX];
    int count;
    char* token;  /* the 16 hex digits of the sequence in it                    */
    int sequence; /* index of the argument that is the sequence; -1: there is none */
    char sequence_text[24];
    char bytes[BENCH_REQUEST_SIZE_MAX];
} bench_request;

/* A lock cycle as Guildhall does it, and what the store keeps meanwhile. */
typedef struct bench_recording
{
    bench_request acquire;
    bench_request release;
    char held[BENCH_LOCK_STATE_SIZE_MAX]; /* the value of :s between the two */
    char free[BENCH_LOCK_STATE_SIZE_MAX]; /* and behind them                 */
} bench_recording;

/* Takes a lock and gives it back, and keeps what went over the wire. False: said why on stderr. */
bool bench_record_lock(bench* self, bench_recording* recording);

/* The length of a lock's name that can stand in for the recorded one. */
enum
{
    BENCH_LOCK_NAME_SIZE = 13
};

/* The same request for another lock. copy must stay where it is: its arguments point into it. */
void bench_request_copy(bench_request* copy, const bench_request* recorded,
                        const char name[BENCH_LOCK_NAME_SIZE]);

/* Bytes on the wire. */
size_t bench_request_size(const bench_request* request);

/* The next cycle has a token of its own. */
void bench_request_next(bench_request* request, uint64_t sequence);

#endif
