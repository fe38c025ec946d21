/* check_counters.c -- the sum in the store against what every client knows of its own adds. */

#include "storm/storm.h"
#include "storm/storm_counters.h"
#include "storm/verdict.h"

/* What is known of a counter when all is over. */
static void sum_up(uint8_t name, uint64_t* sure, uint64_t* most)
{
    uint32_t at = 0;
    *sure = *most = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_counters)) != NULL;)
    {
        if (r->what != COUNTERS_ADDS || r->object != name) continue;
        *sure += r->b;
        /* Cut off by a kill: what was refused is not known for sure. */
        *most += r->end_us == 0 ? r->a : r->b + r->c;
    }
}

static void check_sums(void)
{
    uint32_t at = 0;
    verdict_begin("counters: the sum is what was added, no more and no less");
    for (const storm_record* r; (r = history_next(&at, STORM_counters)) != NULL;)
    {
        uint64_t sure = 0, most = 0;
        if (r->what != COUNTERS_LAST) continue;
        verdict_cases(1);
        sum_up(r->object, &sure, &most);
        /* a flush that was stopped when rights were taken, and met another one before it came again, counts twice */
        bool too_much = r->a > most && !excuse_rights_taken(0, UINT64_MAX);
        if (too_much || (r->a < sure && !excuse_may_be_lost(0, UINT64_MAX)))
            VIOLATION_1(at, "counter %u stands at %llu, and must lie within %llu..%llu", r->object,
                        (unsigned long long)r->a, (unsigned long long)sure, (unsigned long long)most);
    }
}

void check_counters(void)
{
    check_sums();
    check_growth("counters: a sum never goes back", STORM_counters, COUNTERS_READ);
}
