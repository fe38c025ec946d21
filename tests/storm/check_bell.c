/* check_bell.c -- each push of the bell that was told stored is handed out once, to somebody who is told so; and the
   others never are. */

#include "storm/stale.h"
#include "storm/storm_bell.h"
#include "storm/storm_tasks.h"
#include "storm/verdict.h"

#include <stdlib.h>

static uint32_t* heard; /* by push: the event of who was handed it last; 0: nobody */
static uint32_t* times; /* by push: how often it was handed out */

/* Requeues or cancels of its id that may have been carried out between these times. */
static uint32_t count_edits(uint8_t what, const storm_record* push, uint64_t to_us)
{
    uint32_t at = 0, count = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL && r->begin_us <= to_us;)
    {
        bool may = r->what == what && r->object == push->object && r->outcome != STORM_NOT_DONE;
        if (may && history_over_us(r) >= push->begin_us) count++;
    }
    return count;
}

static void check_heard(void)
{
    uint32_t at = 0;
    verdict_begin("tasks: what was told as not stored is handed to nobody, what was stored once, and once a requeue");
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL;)
    {
        const storm_record* push = history_at(r->about);
        if (r->what != TASKS_HEARD) continue;
        verdict_cases(1);
        if (push->system != STORM_tasks || push->what != TASKS_RING) VIOLATION_1(at, "%s", "nobody has pushed it");
        else if (push->outcome == STORM_NOT_DONE && !excuse_may_be_lost(push->begin_us, push->end_us))
            VIOLATION_2(r->about, at, "%s, and it is handed out", gh_status_name((gh_status)push->status));
        else if (++times[r->about] > 1 && times[r->about] > 1 + count_edits(TASKS_LIFT, push, r->begin_us) &&
                 !excuse_may_be_lost(push->begin_us, r->begin_us))
            VIOLATION_2(heard[r->about], at, "#%u is handed out %u times", r->about, times[r->about]);
        heard[r->about] = at;
    }
}

/* A take that ended without an answer, or not at all, may have been given it. */
static bool may_be_taken_unheard(const storm_record* push)
{
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL;)
    {
        if (r->what != TASKS_LISTEN || (r->end_us != 0 && r->end_us + STORM_LATEST_US < push->begin_us)) continue;
        if (r->end_us == 0 || (r->status != GH_OK && r->status != GH_EMPTY)) return true;
    }
    return false;
}

/* A loss forgets who has left: then a late copy of his take may be given it. */
static bool is_excused(const storm_record* push)
{
    return bell_has_workers() || excuse_may_be_lost(push->begin_us - STORM_LATEST_US, UINT64_MAX) ||
           excuse_rights_taken(push->begin_us, UINT64_MAX) || excuse_clock_forward(push->begin_us, UINT64_MAX) ||
           may_be_taken_unheard(push) || count_edits(TASKS_MUTE, push, UINT64_MAX) > 0;
}

/* In the end it waits, or somebody was told of it; who cancels its id later, has meant another. */
static void check_unheard(void)
{
    uint8_t* waits = calloc((size_t)history_count() + 1, 1);
    uint32_t at = 0;
    if (waits == NULL) abort();
    verdict_begin("tasks: what was stored is handed out to somebody who is told, or waits");
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL;)
    {
        if (r->what == TASKS_UNHEARD) waits[r->about] = r->a == '-' || r->a == 'R';
    }
    at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL;)
    {
        if (r->what != TASKS_RING || r->outcome != STORM_DONE) continue;
        verdict_cases(1);
        if (heard[at] == 0 && waits[at] == 0 && !is_excused(r)) VIOLATION_1(at, "%s", "nobody was told of it");
    }
    free(waits);
}

/* ---- losses ---------------------------------------------------------------------------------------------------- */

/* Until when a worker went on with what it had heard; 0: it was killed before it could say. */
static uint64_t went_on_until(uint32_t index)
{
    const storm_record* h = history_at(index);
    uint32_t at = index;
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL;)
    {
        bool same = r->what == TASKS_OVER_HEARD && r->about == h->about && r->a == h->a;
        if (same && r->who.process == h->who.process && r->who.client == h->who.client) return r->d;
    }
    return 0;
}

static bool is_handed_with(const storm_record* sight, uint64_t fence)
{
    return sight->a == fence;
}

static void check_stale(void)
{
    uint32_t at = 0;
    verdict_begin("tasks: a worker whose task was lost with the store's data is told so when it is connected again");
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL;)
    {
        uint64_t to_us = r->what == TASKS_HEARD && r->b == 1 ? went_on_until(at) : 0;
        uint64_t loss_us = to_us == 0 ? 0 : excuse_next_loss(r->begin_us, to_us, 0);
        if (loss_us == 0) continue;
        verdict_cases(1);
        const storm_stale told = {.who = r->who,
                                  .event = at,
                                  .to_us = to_us,
                                  .clock_us = r->begin_us - BELL_LEASE_US,
                                  .system = STORM_tasks,
                                  .what = TASKS_HEARD_SEEN,
                                  .object = history_at(r->about)->object,
                                  .is_his = is_handed_with,
                                  .his = r->a};
        uint32_t sight = stale_sight(&told, &loss_us);
        if (sight == 0) continue;
        VIOLATION_2(at, sight, "it goes on until %llu us after the loss", (unsigned long long)(to_us - loss_us));
    }
}

void check_bell(void)
{
    heard = calloc((size_t)history_count() + 1, sizeof heard[0]);
    times = calloc((size_t)history_count() + 1, sizeof times[0]);
    if (heard == NULL || times == NULL) abort();
    check_heard();
    check_unheard();
    check_stale();
    free(heard);
    free(times);
}
