/* check_growth.c -- sums from which nobody takes anything away. */

#include "storm/storm.h"
#include "storm/verdict.h"

void check_growth(const char* promise, uint8_t system, uint8_t what)
{
    uint32_t before[256] = {0}; /* by object: the read of the largest sum so far */
    uint32_t at = 0;
    verdict_begin(promise);
    for (const storm_record* r; (r = history_next(&at, system)) != NULL;)
    {
        if (r->what != what || r->outcome != STORM_DONE) continue;
        const storm_record* old = history_at(before[r->object]);
        verdict_cases(1);
        bool later = before[r->object] != 0 && r->begin_us > old->end_us;
        if (later && r->a < old->a && !excuse_may_be_lost(old->begin_us - 5000000, r->end_us))
            VIOLATION_2(before[r->object], at, "%llu after %llu", (unsigned long long)r->a, (unsigned long long)old->a);
        if (before[r->object] == 0 || r->a >= old->a) before[r->object] = at;
    }
}
