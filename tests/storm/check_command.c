/* check_command.c -- what was to run once did, and was told what it had answered. */

#include "storm/storm.h"
#include "storm/storm_command.h"
#include "storm/verdict.h"

#include <stdlib.h>

static uint8_t* found; /* by op: how often it is in the lists */

static void check_entries(void)
{
    uint32_t at = 0;
    verdict_begin("command: what runs once is in the store once, or not at all");
    for (const storm_record* r; (r = history_next(&at, STORM_command)) != NULL;)
    {
        if (r->what != COMMAND_ENTRY) continue;
        verdict_cases(1);
        const storm_record* op = history_at(r->about);
        if (op->system != STORM_command || op->what != COMMAND_ONCE || op->object != r->object)
            VIOLATION_1(at, "%s", "nobody has put it there");
        else if (op->outcome == STORM_NOT_DONE && !excuse_is_back(op))
            VIOLATION_2(r->about, at, "%s although it was done", gh_status_name((gh_status)op->status));
        if (found[r->about]++ != 0) VIOLATION_2(r->about, at, "%s", "done twice");
    }
}

static void check_done(void)
{
    uint32_t at = 0;
    verdict_begin("command: what was told as done is there");
    for (const storm_record* r; (r = history_next(&at, STORM_command)) != NULL;)
    {
        if (r->what != COMMAND_ONCE) continue;
        verdict_cases(1);
        if (r->outcome == STORM_DONE && found[at] == 0 && !excuse_may_be_lost(r->begin_us, r->end_us))
            VIOLATION_1(at, "%s", "done, and not there");
    }
}

/* Where the store has lost nothing, the lists only grow. */
static void check_answers(void)
{
    uint32_t at = 0;
    verdict_begin("command: the answer is that of the one time that it ran");
    for (const storm_record* r; (r = history_next(&at, STORM_command)) != NULL;)
    {
        const storm_record* op = history_at(r->about);
        if (r->what != COMMAND_ENTRY || op->outcome != STORM_DONE || excuse_may_be_lost(0, UINT64_MAX)) continue;
        verdict_cases(1);
        if (op->a != r->a)
            VIOLATION_2(r->about, at, "told %llu, and is at %llu", (unsigned long long)op->a, (unsigned long long)r->a);
    }
}

void check_command(void)
{
    found = calloc((size_t)history_count() + 1, 1);
    if (found == NULL) abort();
    check_entries();
    check_done();
    check_answers();
    free(found);
}
