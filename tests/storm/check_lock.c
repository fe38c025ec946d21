/* check_lock.c -- mutual exclusion, fences, fenced writes, ghosts: from the records of storm_lock.c alone. */

#include "storm/hold.h"
#include "storm/stale.h"
#include "storm/storm.h"
#include "storm/storm_lock.h"
#include "storm/verdict.h"

#include <stdlib.h>

enum
{
    UNEVEN_US = 10000 /* as clocks run */
};

static storm_hold* holds;
static size_t hold_count;

/* ---- holds --------------------------------------------------------------------------------------------- */

/* What the first was granted, the store may have forgotten when the second asked. With a quarantine as long as the
   lease it matters only if it came back with older data: of that the quarantine knows nothing. */
static bool may_be_forgotten(const storm_hold* first, uint64_t since_us, uint64_t to_us)
{
    bool waits = storm.other == NULL && storm_quarantine_us() >= history_at(first->op)->a;
    return waits ? excuse_last_loss(since_us, to_us) != 0 : excuse_loss_between(since_us, to_us);
}

static void check_holds(void)
{
    size_t last = 0;
    verdict_begin("lock: two are never told at once that a name is theirs");
    for (size_t i = 1; i < hold_count; i++)
    {
        const storm_hold* first = &holds[last];
        const storm_hold* second = &holds[i];
        bool together =
            first->name == second->name && second->from_us < first->to_us && second->to_us > second->from_us;
        if (first->name != second->name || second->to_us > first->to_us) last = i;
        verdict_cases(1);
        /* Who was frozen writes down late what he was told before. */
        uint64_t since_us = first->asked_us < second->asked_us ? first->asked_us : second->asked_us;
        if (!together || may_be_forgotten(first, since_us, second->from_us) ||
            excuse_clock_forward(since_us, second->from_us))
            continue;
        VIOLATION_2(
            first->event, second->event, "name %u is held twice for %llu us", first->name,
            (unsigned long long)((first->to_us < second->to_us ? first->to_us : second->to_us) - second->from_us));
    }
}

/* ---- losses -------------------------------------------------------------------------------------------- */

static bool is_held_with(const storm_record* sight, uint64_t fence)
{
    return sight->d == 'h' && sight->c == fence;
}

static void check_stale(void)
{
    verdict_begin("lock: who lost it with the store's data is told so when he is connected again");
    for (size_t i = 0; i < hold_count; i++)
    {
        const storm_hold* hold = &holds[i];
        uint64_t loss_us = excuse_next_loss(hold->from_us, hold->to_us, 0);
        if (loss_us == 0) continue;
        verdict_cases(1);
        const storm_stale told = {.who = history_at(hold->op)->who,
                                  .event = hold->event,
                                  .to_us = hold->to_us,
                                  .clock_us = hold->asked_us,
                                  .system = STORM_lock,
                                  .what = LOCK_SEEN,
                                  .object = hold->name,
                                  .is_his = is_held_with,
                                  .his = hold->fence};
        uint32_t sight = stale_sight(&told, &loss_us);
        if (sight == 0) continue;
        VIOLATION_2(hold->event, sight, "name %u is told OK until %llu us after the loss", hold->name,
                    (unsigned long long)(hold->to_us - loss_us));
    }
}

/* ---- leases ------------------------------------------------------------------------------------------- */

/* Else nobody gets the name of one who died when he may. */
static void check_leases(void)
{
    uint32_t at = 0;
    verdict_begin("lock: no more is left of a lease than a whole one");
    for (const storm_record* r; (r = history_next(&at, STORM_lock)) != NULL;)
    {
        if (r->what != LOCK_SEEN || r->d != 'h') continue;
        const storm_hold* hold = hold_of_fence(holds, hold_count, r->object, r->c);
        /* A fence may be another's after a loss, or his once more. */
        if (hold == NULL || history_at(hold->op)->c != r->a || hold->asked_us > r->begin_us) continue;
        uint64_t lease_us = history_at(hold->op)->a;
        verdict_cases(1);
        /* Set back behind the grant. Or set back before it, and the grant was lost: the fence is given again, to
           another op of the same client, too. */
        if (r->b <= lease_us + UNEVEN_US || excuse_clock_moved(hold->asked_us, r->begin_us)) continue;
        if (excuse_clock_went_back_over_loss(hold->asked_us, r->begin_us)) continue;
        VIOLATION_2(hold->event, at, "%llu us are left of a lease of %llu", (unsigned long long)r->b,
                    (unsigned long long)lease_us);
    }
}

/* ---- fenced writes ------------------------------------------------------------------------------------- */

static void check_writes(void)
{
    uint8_t* found = calloc((size_t)history_count() + 1, 1);
    uint32_t at = 0;
    if (found == NULL) abort();
    verdict_begin("lock: a fenced write that was not done is not in the register, one that was done is");
    for (const storm_record* r; (r = history_next(&at, STORM_lock)) != NULL;)
    {
        if (r->what != LOCK_REGISTER && r->what != LOCK_ENTRY) continue;
        const storm_record* write = history_at(r->about);
        if (write->outcome == STORM_NOT_DONE && !excuse_is_back(write))
            VIOLATION_2(r->about, at, "%s although it is written", gh_status_name((gh_status)write->status));
        if (found[r->about]++ != 0) VIOLATION_2(r->about, at, "%s", "written twice");
    }
    at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_lock)) != NULL;)
    {
        if (r->what != LOCK_WRITE_SAFE && r->what != LOCK_WRITE_ONCE) continue;
        verdict_cases(1);
        if (r->outcome == STORM_DONE && found[at] == 0 && !excuse_may_be_lost(r->begin_us, r->end_us))
            VIOLATION_1(at, "%s", "done, and not there");
    }
    free(found);
}

static void check_write_order(void)
{
    const storm_record* before = NULL;
    uint32_t at = 0;
    verdict_begin("lock: writes follow one another in the order of their fences");
    for (const storm_record* r; (r = history_next(&at, STORM_lock)) != NULL;)
    {
        if (r->what != LOCK_ENTRY) continue;
        verdict_cases(1);
        if (before != NULL && before->object == r->object && before->a > r->a &&
            !excuse_clock_went_back_over_loss(0, UINT64_MAX))
            VIOLATION_2(before->about, r->about, "an older owner wrote after a newer one, name %u", r->object);
        before = r;
    }
}

/* ---- ghosts -------------------------------------------------------------------------------------------- */

/* A grant as the witness saw it, from its first sight to its last. */
typedef struct lock_sight
{
    uint64_t client;
    uint64_t fence;
    uint64_t from_us;
    uint64_t to_us;
    uint64_t watched_us; /* of that time */
    uint32_t event;
} lock_sight;

static bool wants(const storm_record* op, uint8_t name)
{
    return (op->what == HOLD_OP && op->object == name) ||
           (op->what == HOLD_SET && (op->object == name || op->b == name));
}

/* Who has that client id, and whether an op of his on that name ended UNKNOWN at such a time that it explains a
   grant that nobody was told of; or ended well, and the store may have forgotten that: then it blocks until its lease
   is over, as if its owner had died. So it does where he was told of a FLUSHALL only when his link was lost, and took
   what he had been granted since for lost with the rest. */
static bool explains(uint8_t name, const lock_sight* sight, storm_who* who)
{
    bool known = false, unknown = false;
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_lock)) != NULL;)
    {
        if ((r->what != HOLD_OP && r->what != HOLD_SET) || r->c != sight->client) continue;
        known = true;
        *who = r->who;
        if (r->begin_us > sight->to_us) break;
        bool here = wants(r, name);
        bool open = r->end_us == 0 || r->outcome == STORM_UNKNOWN;
        if (here && r->end_us != 0 && excuse_may_be_lost(r->begin_us - STORM_LATEST_US, r->end_us)) unknown = true;
        if (here && open && (r->end_us == 0 || r->end_us + STORM_LATEST_US > sight->from_us)) unknown = true;
    }
    return unknown || !known;
}

/* An op of that client on that name was not over all the while: it may be giving the grant back, which are two requests
   where it has to bring the script before. */
static bool is_under_way(uint8_t name, const lock_sight* sight)
{
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_lock)) != NULL && r->begin_us <= sight->from_us;)
    {
        if (wants(r, name) && r->c == sight->client && history_over_us(r) >= sight->to_us) return true;
    }
    return false;
}

static void judge_sight(uint8_t name, const lock_sight* sight)
{
    storm_who who;
    uint64_t from_us = sight->from_us, to_us = sight->to_us;
    if (sight->fence == 0 || sight->watched_us < STORM_GHOST_US) return;
    verdict_cases(1);
    if (hold_of_fence(holds, hold_count, name, sight->fence) != NULL) return;
    if (sight->watched_us < 2 * STORM_GHOST_US && is_under_way(name, sight)) return;
    if (explains(name, sight, &who)) return;
    link_longest_ready(who, &from_us, &to_us);
    if (watched_within(sight->event, LOCK_SEEN, name, from_us, to_us) < STORM_GHOST_US) return;
    if (excuse_ghost(who, sight->from_us, from_us, to_us)) return;
    VIOLATION_1(sight->event,
                "name %u is blocked for %llu us by a grant that nobody was told of; its client (process %u, life %u,"
                " client %u) was connected for %llu us of them",
                name, (unsigned long long)(sight->to_us - sight->from_us), who.process, who.life, who.client,
                (unsigned long long)(to_us - from_us));
}

static void check_ghosts(void)
{
    lock_sight sights[LOCK_NAMES] = {{0}};
    uint32_t at = 0;
    verdict_begin("lock: no lock is blocked by a grant that nobody waits for");
    for (const storm_record* r; (r = history_next(&at, STORM_lock)) != NULL;)
    {
        if (r->what != LOCK_SEEN) continue;
        lock_sight* sight = &sights[r->object];
        bool same = r->d == 'h' && r->a == sight->client && r->c == sight->fence;
        if (same)
        {
            sight->watched_us += watched_between(sight->to_us, r->begin_us);
            sight->to_us = r->begin_us;
            continue;
        }
        judge_sight(r->object, sight);
        *sight = (lock_sight){
            .client = r->a, .fence = r->d == 'h' ? r->c : 0, .from_us = r->begin_us, .to_us = r->begin_us, .event = at};
    }
    for (uint8_t i = 0; i < LOCK_NAMES; i++) judge_sight(i, &sights[i]);
}

static void check_free(void)
{
    uint32_t at = 0;
    verdict_begin("lock: in the end every lock can be had");
    for (const storm_record* r; (r = history_next(&at, STORM_lock)) != NULL;)
    {
        if (r->what != LOCK_FREE) continue;
        verdict_cases(1);
        if (r->outcome != STORM_DONE) VIOLATION_1(at, "name %u cannot be had", r->object);
    }
}

void check_lock(void)
{
    holds = hold_gather(STORM_lock, &hold_count);
    hold_sort_by_time(holds, hold_count);
    check_holds();
    check_stale();
    verdict_begin("lock: a later grant has a larger fence, also across losses");
    hold_check_fence_order(holds, hold_count);
    hold_sort_by_fence(holds, hold_count);
    verdict_begin("lock: no fence is given twice");
    hold_check_fence_distinct(holds, hold_count);
    check_leases();
    check_writes();
    check_write_order();
    check_ghosts();
    check_free();
    free(holds);
}
