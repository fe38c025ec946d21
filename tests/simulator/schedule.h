/* schedule.h -- one run of a fleet, from its seed to the verdict.

   The seed draws the fleet (how many processes and clients, which systems, how many ops), its weather (which faults,
   when, and for how long), and all that follows. What is said here beside the seed narrows it: that is how a run that
   fails is made smaller. */

#ifndef GUILDHALL_TESTS_SIMULATOR_SCHEDULE_H
#define GUILDHALL_TESTS_SIMULATOR_SCHEDULE_H

#include "storm/storm.h"

#include <stdbool.h>
#include <stdint.h>

enum
{
    SCHEDULE_CLIENTS_LEAST = 2,
    SCHEDULE_CLIENTS_MOST = 16,
    SCHEDULE_PROMISE_SIZE = 96
};

typedef struct schedule_wish
{
    uint64_t seed;
    const char* systems;             /* with commas; NULL: as drawn */
    const char* faults;              /* the same */
    const char* history;             /* a file; NULL: none */
    const char* trace;               /* the same: what went over the wire, among all that happened */
    uint32_t ops;                    /* at most so many; 0: as drawn */
    uint32_t clients;                /* the same */
    uint32_t days;                   /* a large fleet for so long, with a fault an hour; 0: a run as drawn */
    uint32_t speed_clients;          /* exactly so many, in good weather, and nothing is judged; 0: a fleet as drawn */
    bool left_out[STORM_FAULTS_MAX]; /* the first, second, ... fault of the weather */
    storm_store store;               /* 0: as drawn */
    bool print;                      /* what was found */
    bool verbose;
} schedule_wish;

typedef struct schedule_result
{
    uint64_t digest; /* of the whole history: the same seed has the same */
    uint64_t ops;
    uint64_t records;
    uint64_t requests;
    uint64_t virtual_us;
    double played_s; /* of the processor, while ops were begun */
    uint32_t clients;
    uint32_t faults;
    uint32_t drawn;                      /* faults, also those that could not be */
    uint32_t broken;                     /* promises */
    char promise[SCHEDULE_PROMISE_SIZE]; /* the first of these, or how the process ended; empty: all is well */
    bool finished;
} schedule_result;

/* Once in a process' life, or in a child of it: the checkers keep what they found. */
void schedule_run(const schedule_wish* wish, schedule_result* result);

/* Or many times, with the first of these before the first run, and the other between two. What a run does does not
   depend on how many were before it. Where afresh_can alone. */
void schedule_begin_many(void);
void schedule_forget(void);

#endif
