/* judge.c -- the verdict, and what is printed and written down beside it. */

#include "storm/judge.h"

#include "storm/storm.h"
#include "storm/verdict.h"

#include <stdio.h>

void judge_print_ops(void)
{
    static unsigned long long counts[STORM_SYSTEMS_MAX][4];
    unsigned long long sum = 0;
    for (uint32_t i = 1; i <= history_count(); i++)
    {
        const storm_record* r = history_at(i);
        if (r->is_event || r->system == STORM_CORE || r->begin_us == 0) continue;
        counts[r->system][r->outcome & 3u]++;
        sum++;
    }
    printf("ops: %llu, %llu a second\n", sum, sum / storm.seconds);
    for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
    {
        if (!storm.on[i]) continue;
        printf("  %-10s %8llu: %llu done, %llu not done, %llu unknown, %llu cut off by a kill\n",
               storm_system_of(i)->name, counts[i][0] + counts[i][1] + counts[i][2] + counts[i][3],
               counts[i][STORM_DONE], counts[i][STORM_NOT_DONE], counts[i][STORM_UNKNOWN], counts[i][STORM_OPEN]);
    }
}

static bool is_of_the_living(const storm_record* op)
{
    return !excuse_process_away(op->who.process, op->begin_us, UINT64_MAX, UINT64_MAX);
}

/* What holds for every system. */
static void check_core(const storm_end* end)
{
    verdict_begin("every op ends");
    if (!end->all_ended) VIOLATION("the players did not come to an end within %u s", end->cap_s);
    for (uint32_t i = 1; i <= history_count(); i++)
    {
        const storm_record* r = history_at(i);
        if (r->is_event || r->system == STORM_CORE || r->begin_us == 0) continue;
        verdict_cases(1);
        if (r->end_us == 0 && is_of_the_living(r)) VIOLATION_1(i, "%s", "this op never ended");
    }
    verdict_begin("no process dies by itself");
    verdict_cases(storm.players);
    if (end->crashed != 0) VIOLATION("%u died", end->crashed);
    if (storm.failovers != 0) verdict_begin("as many masters were replaced as were to be");
    if (storm.failovers != 0) verdict_cases(storm.failovers);
    if (storm.failovers > end->replaced) VIOLATION("only %u were", end->replaced);
    verdict_begin("no assertion fails");
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_CORE)) != NULL;)
    {
        if (r->what == MARK_ASSERTION) VIOLATION_1(at, "%s", "an assertion");
    }
    verdict_begin("nothing is CORRUPT");
    for (uint32_t i = 1; i <= history_count(); i++)
    {
        const storm_record* r = history_at(i);
        if (r->is_event || r->system == STORM_CORE || r->end_us == 0) continue;
        verdict_cases(1);
        if (r->status == GH_CORRUPT) VIOLATION_1(i, "%s", "nobody but Guildhall writes here");
    }
}

void judge_write_history(void)
{
    FILE* file = storm.history == NULL ? NULL : fopen(storm.history, "w");
    if (storm.history != NULL && file == NULL) perror(storm.history);
    if (file == NULL) return;
    for (uint32_t i = 1; i <= history_count(); i++) fprintf(file, "%s\n", history_line(i));
    (void)fclose(file);
}

/* Who does not know all that was seen takes what he does not know for lost. */
static bool all_is_known(void)
{
    verdict_begin("all that happened is written down");
    verdict_cases(history_count());
    if (history_has_overflowed())
        VIOLATION("there was no room for more: nothing is judged, %s", "fewer seconds are better");
    return !history_has_overflowed();
}

bool judge_all(const storm_end* end)
{
    if (!all_is_known()) return false;
    excuse_prepare();
    check_core(end);
    for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
    {
        if (storm.on[i]) storm_system_of(i)->check();
    }
    return true;
}
