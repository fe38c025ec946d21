/* ledger.h -- a trace hook that keeps account of every op: it must begin once, end once, and be silent
   before and after.

       ledger* accounts = ledger_new();
       config.hooks.trace = ledger_trace;
       config.hooks.context = accounts;
       ...
       ledger_assert_closed(accounts);      // every op that began has ended

   What does not fit the rules is counted at once in `faults`, and the first one is described. */

#ifndef GUILDHALL_TESTS_LEDGER_H
#define GUILDHALL_TESTS_LEDGER_H

#include "guildhall/guildhall.h"

#define LEDGER_OPEN_MAX 16384 /* ops that are open at once */

typedef struct ledger_entry
{
    const void* op;
    const char* system;
    uint32_t sent;
    uint32_t replies;
} ledger_entry;

typedef struct ledger
{
    uint64_t begun;
    uint64_t ended;
    uint64_t sent;
    uint64_t replies;
    uint64_t ended_unknown;
    uint64_t events;
    uint64_t last_us; /* the time of the last event */
    uint64_t faults;
    char first_fault[128];
    const void* last_ended;   /* the op that ended last ... */
    gh_status last_status;    /* ... and how                */
    uint32_t open_count;
    ledger_entry open[LEDGER_OPEN_MAX];
} ledger;

/* Freed after the test, later than what was started after it. */
ledger* ledger_new(void);

/* For gh_hooks.trace, with the ledger as the context. */
void ledger_trace(void* context, const gh_trace_event* event);

/* No fault so far. */
void ledger_assert_sound(const ledger* self);

/* No fault, and nothing open. */
void ledger_assert_closed(const ledger* self);

#endif
