/* check_rows.c -- versions only grow, a version is one value, and one refresher at a time loads a row: who knows that
   it is his, and hears when it is not any more. */

#include "storm/setting.h"
#include "storm/stale.h"
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
        if (excuse_loss_between(x->a - ROWS_LEASE_MOST_US, y->a) ||
            excuse_clock_forward(x->a - ROWS_LEASE_MOST_US, y->a))
            continue;
        if (was_unscheduled(x->object, x->a - ROWS_LEASE_MOST_US, y->a)) continue;
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

/* ---- claims as the witness saw them ------------------------------------------------------------------------------ */

/* A claim, from its first sight to its last. */
typedef struct row_sight
{
    uint64_t client;
    uint64_t claim;
    uint64_t from_us;
    uint64_t to_us;
    uint64_t watched_us; /* of that time */
    uint32_t event;
} row_sight;

/* The refresher of that client, if it went on all the while; NULL: none did. */
static const storm_record* refresher_of(uint64_t client, uint64_t from_us, uint64_t to_us)
{
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_rows)) != NULL;)
    {
        if (r->what != ROWS_REFRESH || r->b != client || r->begin_us > from_us) continue;
        uint64_t end_us = r->c != 0 ? r->c : history_over_us(r);
        if (end_us > to_us) return r;
    }
    return NULL;
}

/* Another refresher of that client had just ended: what it had asked for may be carried out yet, for nobody. */
static bool had_just_ended(uint64_t client, uint64_t seen_us)
{
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_rows)) != NULL;)
    {
        if (r->what != ROWS_REFRESH || r->b != client || r->end_us == 0) continue;
        if (r->end_us <= seen_us && r->end_us + STORM_LATEST_US >= seen_us) return true;
    }
    return false;
}

static bool is_of(const storm_record* r, storm_who who)
{
    return r->who.process == who.process && r->who.client == who.client && r->who.life == who.life;
}

/* Whether its loader was called for that claim. */
static bool is_loaded(storm_who who, uint8_t name, const row_sight* sight)
{
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_rows)) != NULL && r->begin_us <= sight->to_us;)
    {
        if (r->what == ROWS_LOAD && is_of(r, who) && r->object == name && (uint32_t)r->c == (uint32_t)sight->claim)
            return true;
    }
    return false;
}

static void judge_sight(uint8_t name, const row_sight* sight)
{
    uint64_t from_us = sight->from_us, to_us = sight->to_us;
    if (sight->client == 0 || sight->watched_us < STORM_GHOST_US) return;
    verdict_cases(1);
    const storm_record* refresher = refresher_of(sight->client, from_us, to_us);
    if (refresher == NULL || is_loaded(refresher->who, name, sight)) return;
    if (had_just_ended(sight->client, sight->from_us)) return;
    link_longest_ready(refresher->who, &from_us, &to_us);
    if (watched_within(sight->event, ROWS_SEEN, name, from_us, to_us) < STORM_GHOST_US) return;
    if (excuse_ghost(refresher->who, sight->from_us, from_us, to_us)) return;
    if (excuse_slots_moved(sight->from_us, to_us)) return; /* who asks again is told to wait */
    VIOLATION_2(index_of(refresher), sight->event, "row %u is claimed for %llu us by one who does not know of it", name,
                (unsigned long long)(sight->to_us - sight->from_us));
}

static void check_ghosts(void)
{
    row_sight sights[ROWS_NAMES] = {{0}};
    uint32_t at = 0;
    verdict_begin("rows: no row is claimed by a refresher that does not know of it");
    for (const storm_record* r; (r = history_next(&at, STORM_rows)) != NULL;)
    {
        if (r->what != ROWS_SEEN) continue;
        row_sight* sight = &sights[r->object];
        if (r->a == sight->client && r->b == sight->claim)
        {
            sight->watched_us += watched_between(sight->to_us, r->begin_us);
            sight->to_us = r->begin_us;
            continue;
        }
        judge_sight(r->object, sight);
        *sight = (row_sight){.client = r->a, .claim = r->b, .from_us = r->begin_us, .to_us = r->begin_us, .event = at};
    }
    for (uint8_t i = 0; i < ROWS_NAMES; i++) judge_sight(i, &sights[i]);
}

/* ---- leases that are over ---------------------------------------------------------------------------------------- */

static void check_over(void)
{
    uint32_t over[ROWS_NAMES] = {0};
    uint32_t at = 0;
    verdict_begin("rows: who had a row until his lease was over stores nothing any more");
    for (const storm_record* r; (r = history_next(&at, STORM_rows)) != NULL;)
    {
        if (r->what == ROWS_OVER)
        {
            over[r->object] = at;
            verdict_cases(1);
        }
        if (r->what != ROWS_ENDED) continue;
        uint64_t over_us = history_at(over[r->object])->begin_us;
        if (excuse_loss_between(over_us, r->begin_us) || excuse_clock_back(over_us, r->begin_us)) continue;
        VIOLATION_2(over[r->object], at, "row %u has become \"%c\" by a claim that was over", r->object, (char)r->c);
    }
}

/* ---- losses -------------------------------------------------------------------------------------------------- */

static uint64_t client_of(storm_who who)
{
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_rows)) != NULL;)
    {
        if (r->what == ROWS_REFRESH && is_of(r, who)) return r->b;
    }
    return 0;
}

static bool is_claimed_by(const storm_record* sight, uint64_t client)
{
    return sight->a == client;
}

static void check_stale(void)
{
    uint32_t at = 0;
    verdict_begin("rows: who lost a row with the store's data is told so when he is connected again");
    for (const storm_record* r; (r = history_next(&at, STORM_rows)) != NULL;)
    {
        uint64_t loss_us = r->what == ROWS_LOAD ? excuse_next_loss(r->a, r->b, 0) : 0;
        if (loss_us == 0) continue;
        verdict_cases(1);
        const uint64_t since_us = r->a - ROWS_LEASE_MOST_US;
        const storm_stale told = {.who = r->who,
                                  .event = at,
                                  .to_us = r->b,
                                  .clock_us = since_us,
                                  .system = STORM_rows,
                                  .what = ROWS_SEEN,
                                  .object = r->object,
                                  .is_his = is_claimed_by,
                                  .his = client_of(r->who)};
        uint32_t sight = stale_sight(&told, &loss_us);
        if (sight == 0 || was_unscheduled(r->object, since_us, history_at(sight)->begin_us)) continue;
        VIOLATION_2(at, sight, "row %u is wanted until %llu us after the loss", r->object,
                    (unsigned long long)(r->b - loss_us));
    }
}

/* ---- schedules ----------------------------------------------------------------------------------------------- */

static bool sets_schedule(const storm_record* r)
{
    return r->what == ROWS_SCHEDULE || r->what == ROWS_UNSCHEDULE;
}

static void check_schedules(void)
{
    storm_setting rows[ROWS_NAMES];
    uint32_t at = 0;
    verdict_begin("rows: what is told as not done is not, and nothing that was scheduled or unscheduled comes back");
    for (uint8_t i = 0; i < ROWS_NAMES; i++)
        rows[i] = (storm_setting){.system = STORM_rows, .object = i, .sets = sets_schedule};
    for (const storm_record* r; (r = history_next(&at, STORM_rows)) != NULL;)
    {
        if (r->what != ROWS_SEEN) continue;
        uint64_t asked_us = r->begin_us - (r->d >> 32);
        setting_see(&rows[r->object], (setting_sight){r->c, (uint32_t)r->d, asked_us, r->begin_us, at});
    }
    for (uint8_t i = 0; i < ROWS_NAMES; i++) setting_forget(&rows[i]);
}

void check_rows(void)
{
    check_loads();
    check_versions();
    check_values();
    check_ghosts();
    check_over();
    check_stale();
    check_schedules();
}
