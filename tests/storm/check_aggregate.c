/* check_aggregate.c -- the totals in the end against what was told of each file: counted once, never, or not known. */

#include "storm/storm.h"
#include "storm/storm_aggregate.h"
#include "storm/verdict.h"

#include <stdlib.h>
#include <string.h>

enum
{
    PASSES = 2, /* what was there before the auditor brought all files once more, and after it */
    PLACES = AGGREGATE_CITIES,
    ANSWER_US = 2000000 /* an answer is not on its way for longer */
};

typedef uint64_t day_totals[AGGREGATE_DAYS][AGGREGATE_LEVELS][PLACES];

static day_totals* totals; /* of each pass */

/* What is known of a file from those who brought it. */
typedef struct file_fate
{
    uint32_t first[AGGREGATE_VARIANTS]; /* the first op that brought it, and the second */
    uint32_t second[AGGREGATE_VARIANTS];
    uint32_t flushes;
    bool maybe; /* somebody was told that it is counted, or that this is not known */
} file_fate;

static file_fate fates[AGGREGATE_FILES];

static uint64_t own_total(int pass, uint32_t day, uint32_t file)
{
    return totals[pass][day][2][AGGREGATE_SHARED + file];
}

static void gather_totals(void)
{
    uint32_t at = 0;
    totals = calloc(PASSES, sizeof totals[0]);
    if (totals == NULL) abort();
    verdict_begin("aggregate: the totals can be read, and name places that are");
    for (const storm_record* r; (r = history_next(&at, STORM_aggregate)) != NULL;)
    {
        if (r->what == AGGREGATE_LAST && r->outcome != STORM_DONE) VIOLATION_1(at, "%s", "the auditor could not read");
        if (r->what != AGGREGATE_TOTAL) continue;
        verdict_cases(1);
        uint64_t* place = r->c < PLACES ? &totals[r->b][r->object][r->a][r->c] : NULL;
        if (place == NULL || *place != 0) VIOLATION_1(at, "%s", "no such place, or for the second time");
        else *place = r->d;
    }
}

static void gather_fates(void)
{
    uint32_t at = 0;
    memset(fates, 0, sizeof fates);
    for (const storm_record* r; (r = history_next(&at, STORM_aggregate)) != NULL;)
    {
        if (r->what != AGGREGATE_FLUSH) continue;
        file_fate* fate = &fates[r->a];
        if (fate->first[r->b] == 0) fate->first[r->b] = at;
        else if (fate->second[r->b] == 0) fate->second[r->b] = at;
        fate->flushes++;
        /* Who brings the other one finishes what is there before being told that it differs. */
        if (r->outcome != STORM_NOT_DONE || r->status == GH_DIFFERS || excuse_is_back(r)) fate->maybe = true;
    }
}

/* Its city has nothing, or what one variant has that somebody brought: on each of its days, and on no other. */
static void check_never_twice(void)
{
    verdict_begin("aggregate: no file is counted twice");
    for (int pass = 0; pass < PASSES; pass++)
    {
        for (uint32_t file = 0; file < AGGREGATE_FILES; file++)
        {
            const file_fate* fate = &fates[file];
            for (uint32_t day = 0; day < AGGREGATE_DAYS; day++)
            {
                uint64_t count = own_total(pass, day, file);
                bool good = count == 0;
                for (uint32_t variant = 0; variant < AGGREGATE_VARIANTS; variant++)
                {
                    if (fate->first[variant] != 0 && aggregate_has_day(file, day) &&
                        count == aggregate_own_lines(variant))
                        good = true;
                }
                if (fate->flushes > 0) verdict_cases(1);
                if (!good)
                    VIOLATION_2(fate->first[0], fate->first[1], "file %u stands with %llu on day %u, and has 1 or 100",
                                file, (unsigned long long)count, day + 1);
            }
        }
    }
}

static bool is_there_whole(int pass, uint32_t file, uint32_t variant)
{
    for (uint32_t day = 0; day < AGGREGATE_DAYS; day++)
    {
        if (aggregate_has_day(file, day) && own_total(pass, day, file) != aggregate_own_lines(variant)) return false;
    }
    return true;
}

/* A flush that ends well has found all of the file in the store by its last answer. */
static bool may_be_lost(const storm_record* flush)
{
    uint64_t from_us = flush->end_us - ANSWER_US;
    bool away = excuse_process_away(flush->who.process, flush->begin_us, flush->end_us, 200000);
    if (from_us < flush->begin_us || away) from_us = flush->begin_us;
    return excuse_may_be_lost(from_us, flush->end_us);
}

static void check_told_counted(void)
{
    uint32_t at = 0;
    verdict_begin("aggregate: what was told counted is in the totals");
    for (const storm_record* r; (r = history_next(&at, STORM_aggregate)) != NULL;)
    {
        if (r->what != AGGREGATE_FLUSH || r->outcome != STORM_DONE) continue;
        verdict_cases(1);
        if (!is_there_whole(0, (uint32_t)r->a, (uint32_t)r->b) && !may_be_lost(r))
            VIOLATION_1(at, "file %llu is not there, or not as this one", (unsigned long long)r->a);
    }
}

/* Days that a flush added before it was stopped are there, and said so; but not all of them. Of two who brought a file,
   each may have added what the other has not. */
static void check_told_not_counted(void)
{
    verdict_begin("aggregate: a file that one alone brought, who could not count it, is not in the totals whole");
    for (uint32_t file = 0; file < AGGREGATE_FILES; file++)
    {
        const file_fate* fate = &fates[file];
        if (fate->flushes != 1 || fate->maybe) continue;
        verdict_cases(1);
        if (is_there_whole(0, file, 0) || is_there_whole(0, file, 1))
            VIOLATION_2(fate->first[0], fate->first[1], "file %u is there", file);
    }
}

/* Also after losses: whoever brings the file again adds what is missing of it, and nothing else. */
static void check_finished(void)
{
    uint32_t at = 0;
    verdict_begin("aggregate: a file that is brought again is counted once, whatever was there of it");
    for (const storm_record* r; (r = history_next(&at, STORM_aggregate)) != NULL;)
    {
        if (r->what != AGGREGATE_FINISH) continue;
        verdict_cases(1);
        bool whole = is_there_whole(1, (uint32_t)r->a, (uint32_t)r->b);
        if (r->outcome == STORM_DONE ? !whole : r->status != GH_DIFFERS)
            VIOLATION_1(at, "file %llu is not there whole", (unsigned long long)r->a);
    }
}

/* It was counted before, or is another one: then there is somebody who brought that. */
static void check_answers(void)
{
    uint32_t at = 0;
    verdict_begin("aggregate: who is told of another with that name is not the only one who brought it");
    for (const storm_record* r; (r = history_next(&at, STORM_aggregate)) != NULL;)
    {
        if (r->what != AGGREGATE_FLUSH && r->what != AGGREGATE_FINISH) continue;
        if (r->end_us == 0 || (r->status != GH_EXISTS && r->status != GH_DIFFERS)) continue;
        uint64_t variant = r->status == GH_EXISTS ? r->b : 1 - r->b;
        const file_fate* fate = &fates[r->a];
        uint32_t other = fate->first[variant] == at ? fate->second[variant] : fate->first[variant];
        verdict_cases(1);
        if (other == 0 || history_at(other)->begin_us > r->end_us)
            VIOLATION_1(at, "nobody else had brought file %llu so", (unsigned long long)r->a);
    }
}

/* ---- sums -------------------------------------------------------------------------------------------------- */

static void expect(uint64_t sums[AGGREGATE_LEVELS][PLACES], uint32_t city, uint64_t count)
{
    sums[0][aggregate_country_of(city)] += count;
    sums[1][aggregate_region_of(city)] += count;
    sums[2][city] += count;
}

/* What the day's totals are, if the files' own cities are right. */
static void sum_up(uint64_t sums[AGGREGATE_LEVELS][PLACES], uint32_t day)
{
    memset(sums, 0, sizeof(uint64_t) * AGGREGATE_LEVELS * PLACES);
    for (uint32_t file = 0; file < AGGREGATE_FILES; file++)
    {
        uint64_t own = own_total(1, day, file);
        if (own == 0) continue;
        expect(sums, AGGREGATE_SHARED + file, own);
        for (uint32_t city = 0; city < AGGREGATE_SHARED; city++)
            expect(sums, city, aggregate_shared_lines(file, day, city));
        sums[0][AGGREGATE_NOWHERE] += aggregate_lines_nowhere(file);
    }
}

static void check_sums(void)
{
    static uint64_t sums[AGGREGATE_LEVELS][PLACES];
    verdict_begin("aggregate: each total is the sum over the files that are counted");
    for (uint32_t day = 0; day < AGGREGATE_DAYS; day++)
    {
        sum_up(sums, day);
        for (uint32_t level = 0; level < AGGREGATE_LEVELS; level++)
        {
            for (uint32_t place = 0; place < PLACES; place++)
            {
                uint64_t total = totals[1][day][level][place];
                if (total == 0 && sums[level][place] == 0) continue;
                verdict_cases(1);
                if (total != sums[level][place])
                    VIOLATION("day %u, level %u, place %u has %llu, not %llu", day + 1, level, place,
                              (unsigned long long)total, (unsigned long long)sums[level][place]);
            }
        }
    }
}

void check_aggregate(void)
{
    gather_totals();
    gather_fates();
    check_never_twice();
    check_told_counted();
    check_told_not_counted();
    check_finished();
    check_answers();
    check_sums();
    check_growth("aggregate: a day's sum never goes back", STORM_aggregate, AGGREGATE_READ);
    free(totals);
}
