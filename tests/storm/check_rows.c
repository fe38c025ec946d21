/* check_rows.c -- versions only grow, a version is one value, and one refresher at a time loads a row. */

#include "storm/storm.h"
#include "storm/storm_rows.h"
#include "storm/verdict.h"

#include <stdlib.h>

static const storm_record** loads;
static size_t load_count;

static uint32_t index_of(const storm_record* r)
{
    return (uint32_t)(r - history_at(0));
}

static int by_name_and_call(const void* left, const void* right)
{
    const storm_record* x = *(const storm_record* const*)left;
    const storm_record* y = *(const storm_record* const*)right;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    return x->a < y->a ? -1 : x->a > y->a;
}

/* Whoever takes a row away and schedules it again has it loaded anew; the load of before is not wanted any more, and
   hears of it when it asks the store next. */
static bool was_unscheduled(uint8_t name, uint64_t from_us, uint64_t to_us)
{
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_rows)) != NULL;)
    {
        if (r->what != ROWS_UNSCHEDULE || r->object != name || r->outcome == STORM_NOT_DONE) continue;
        if (r->begin_us <= to_us && history_over_us(r) >= from_us) return true;
    }
    return false;
}

/* A call of the loader says that the row is ours at that moment, and so does each look at whether it is wanted. */
static void check_loads(void)
{
    uint32_t at = 0;
    loads = calloc((size_t)history_count() + 1, sizeof loads[0]);
    if (loads == NULL) abort();
    load_count = 0;
    verdict_begin("rows: one refresher at a time loads a row");
    for (const storm_record* r; (r = history_next(&at, STORM_rows)) != NULL;)
    {
        if (r->what == ROWS_LOAD && r->a != 0) loads[load_count++] = r;
    }
    qsort(loads, load_count, sizeof loads[0], by_name_and_call);
    size_t last = 0;
    for (size_t i = 1; i < load_count; i++)
    {
        const storm_record* x = loads[last];
        const storm_record* y = loads[i];
        verdict_cases(1);
        if (x->object != y->object || y->b > x->b) last = i;
        if (x->object != y->object || y->a >= x->b) continue;
        if (excuse_loss_between(x->a - 1000000, y->a) || excuse_clock_forward(x->a - 1000000, y->a)) continue;
        if (was_unscheduled(x->object, x->a - 1000000, y->a)) continue;
        VIOLATION_2(index_of(x), index_of(y), "row %u is loaded twice at once", x->object);
    }
    free(loads);
}

/* Versions are times of the store: of a row that was taken away and scheduled again they go on from the clock, which
   may have been set back. */
static bool was_made_anew(const storm_record* old, const storm_record* get)
{
    return excuse_clock_back(0, get->end_us) && was_unscheduled(get->object, old->begin_us - 5000000, get->end_us);
}

static void check_versions(void)
{
    uint32_t before[ROWS_NAMES] = {0};
    uint32_t at = 0;
    verdict_begin("rows: never an older version after a newer one");
    for (const storm_record* r; (r = history_next(&at, STORM_rows)) != NULL;)
    {
        if (r->what != ROWS_GET || r->c != 1) continue;
        const storm_record* old = history_at(before[r->object]);
        bool later = before[r->object] != 0 && r->begin_us > old->end_us;
        verdict_cases(1);
        bool older = later && r->a < old->a;
        if (older && !excuse_may_be_lost(old->begin_us - 5000000, r->end_us) && !was_made_anew(old, r))
            VIOLATION_2(before[r->object], at, "version %llu after %llu", (unsigned long long)r->a,
                        (unsigned long long)old->a);
        if (before[r->object] == 0 || r->a >= old->a) before[r->object] = at;
    }
}

static int by_name_and_version(const void* left, const void* right)
{
    const storm_record* x = *(const storm_record* const*)left;
    const storm_record* y = *(const storm_record* const*)right;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    return x->a < y->a ? -1 : x->a > y->a;
}

static void check_values(void)
{
    uint32_t at = 0;
    size_t count = 0;
    const storm_record** gets = calloc((size_t)history_count() + 1, sizeof gets[0]);
    if (gets == NULL) abort();
    verdict_begin("rows: a version is one value, and some load made it");
    for (const storm_record* r; (r = history_next(&at, STORM_rows)) != NULL;)
    {
        if (r->what == ROWS_GET && r->c == 1) gets[count++] = r;
    }
    qsort(gets, count, sizeof gets[0], by_name_and_version);
    for (size_t i = 0; i < count; i++)
    {
        const storm_record* made_by = history_at((uint32_t)gets[i]->b);
        verdict_cases(1);
        if (gets[i]->b == 0 || made_by->system != STORM_rows || made_by->what != ROWS_LOAD ||
            made_by->object != gets[i]->object)
            VIOLATION_1(index_of(gets[i]), "%s", "no load of this row made this value");
        if (i == 0 || by_name_and_version(&gets[i - 1], &gets[i]) != 0 || gets[i - 1]->b == gets[i]->b) continue;
        if (!excuse_clock_went_back_over_loss(0, UINT64_MAX))
            VIOLATION_2(index_of(gets[i - 1]), index_of(gets[i]), "version %llu has two values",
                        (unsigned long long)gets[i]->a);
    }
    free(gets);
}

void check_rows(void)
{
    check_loads();
    check_versions();
    check_values();
}
