/* check_semaphore.c -- never more permits than the limit, and none lost. */

#include "storm/storm.h"
#include "storm/storm_semaphore.h"
#include "storm/verdict.h"

#include <stdlib.h>

enum
{
    TOGETHER_MAX = 64
};

/* Those that are held at the moment when another one is granted. */
typedef struct permit_company
{
    const storm_hold* holds[TOGETHER_MAX];
    unsigned count;
} permit_company;

static void leave(permit_company* company, const storm_hold* next)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < company->count; i++)
    {
        const storm_hold* hold = company->holds[i];
        if (hold->name == next->name && hold->to_us > next->from_us) company->holds[kept++] = hold;
    }
    company->count = kept;
}

static void check_company(const permit_company* company, const storm_hold* last)
{
    uint32_t sum = 0;
    uint64_t since_us = last->from_us;
    for (unsigned i = 0; i < company->count; i++)
    {
        sum += company->holds[i]->permits;
        if (company->holds[i]->asked_us < since_us) since_us = company->holds[i]->asked_us;
    }
    verdict_cases(1);
    if (sum <= semaphore_limits[last->name] || excuse_loss_between(since_us, last->from_us) ||
        excuse_clock_forward(since_us, last->from_us))
        return;
    VIOLATION_2(company->holds[0]->event, last->event, "%u permits of %u are held", sum, semaphore_limits[last->name]);
}

static void check_limit(const storm_hold* holds, size_t count)
{
    permit_company company = {{NULL}, 0};
    for (size_t i = 0; i < count; i++)
    {
        if (holds[i].name == SEMAPHORE_GATE || holds[i].to_us <= holds[i].from_us) continue;
        leave(&company, &holds[i]);
        if (company.count == TOGETHER_MAX) abort();
        company.holds[company.count++] = &holds[i];
        check_company(&company, &holds[i]);
    }
}

/* ---- the gate's limit ------------------------------------------------------------------------------------------ */

/* The op that set what was seen; 0: nobody's, whose record is lost with the process that was about to write it. */
static uint32_t op_of_setter(const storm_record* seen, uint32_t index)
{
    while (--index > 0)
    {
        const storm_record* r = history_at(index);
        bool is_limit = r->system == STORM_semaphore && r->what == SEMAPHORE_LIMIT;
        if (is_limit && r->b == seen->b && r->c == seen->c) return index;
    }
    return 0;
}

/* A copy may come, and be carried out, until the time that it carries; later, others may have set another limit, and
   were told so. */
static void check_setter(const storm_record* seen, uint32_t index, uint32_t before)
{
    uint32_t op = op_of_setter(seen, index);
    const storm_record* limit = history_at(op);
    verdict_cases(1);
    if (op == 0) return;
    if (limit->outcome == STORM_NOT_DONE)
        VIOLATION_2(op, index, "%s although it is set", gh_status_name((gh_status)limit->status));
    if (before == 0 || limit->end_us == 0) return;
    uint64_t other_us = history_at(before)->begin_us;
    if (other_us < limit->end_us + STORM_LATEST_US || excuse_may_be_lost(limit->begin_us, seen->begin_us) ||
        excuse_clock_back(limit->begin_us - STORM_CLOCK_STEP_US, seen->begin_us))
        return;
    VIOLATION_2(op, index, "another had been set, and %llu us after its end it is back",
                (unsigned long long)(seen->begin_us - limit->end_us));
}

static void check_setters(void)
{
    uint32_t at = 0, last = 0;
    verdict_begin("semaphore: a limit that is told as not set is not, and none comes back");
    for (const storm_record* r; (r = history_next(&at, STORM_semaphore)) != NULL;)
    {
        if (r->what != SEMAPHORE_SETTER) continue;
        const storm_record* before = history_at(last);
        if (last == 0 || before->b != r->b || before->c != r->c) check_setter(r, at, last);
        last = at;
    }
}

void check_semaphore(void)
{
    size_t count = 0;
    storm_hold* holds = hold_gather(STORM_semaphore, &count);
    hold_sort_by_time(holds, count);
    verdict_begin("semaphore: never more permits than the limit");
    check_limit(holds, count);
    verdict_begin("semaphore: a later grant has a larger fence, also across losses");
    hold_check_fence_order(holds, count);
    hold_sort_by_fence(holds, count);
    verdict_begin("semaphore: no fence is given twice");
    hold_check_fence_distinct(holds, count);
    verdict_begin("semaphore: in the end all permits can be had at once");
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_semaphore)) != NULL;)
    {
        if (r->what != SEMAPHORE_ALL) continue;
        verdict_cases(1);
        if (r->outcome != STORM_DONE) VIOLATION_1(at, "the %u permits cannot be had", semaphore_limits[r->object]);
    }
    free(holds);
    check_setters();
}
