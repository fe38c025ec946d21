/* check_semaphore.c -- never more permits than the limit, and none lost. */

#include "storm/setting.h"
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

static bool sets_limit(const storm_record* r)
{
    return r->what == SEMAPHORE_LIMIT;
}

static void check_setters(void)
{
    storm_setting gate = {.system = STORM_semaphore, .object = SEMAPHORE_GATE, .sets = sets_limit};
    uint32_t at = 0;
    verdict_begin("semaphore: a limit that is told as not set is not, and none comes back");
    for (const storm_record* r; (r = history_next(&at, STORM_semaphore)) != NULL;)
    {
        if (r->what != SEMAPHORE_SETTER) continue;
        setting_see(&gate, (setting_sight){r->c, r->b, r->d, r->begin_us, at});
    }
    setting_forget(&gate);
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
