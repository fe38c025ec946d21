/* check_lock.c -- mutual exclusion, fences, fenced writes, ghosts: from the records of storm_lock.c alone. */

#include "storm/storm.h"
#include "storm/storm_lock.h"
#include "storm/verdict.h"

#include <stdlib.h>

enum
{
    STALE_US = 1500000, /* a link that has been ready for so long has told its client what the store knows */
    GHOST_US = 800000   /* twice the time after which a link without an answer is given up */
};

/* A time during which somebody was told that a name is his. */
typedef struct lock_hold
{
    uint64_t from_us;
    uint64_t to_us;
    uint64_t fence;
    uint64_t asked_us; /* when the op began */
    uint32_t op;
    uint32_t event;
    uint8_t name;
} lock_hold;

static lock_hold* holds;
static size_t hold_count;

/* For each op and name, the hold that its later events are about; ops have at most two. */
static uint32_t* hold_of[2];

static lock_hold* find_hold(const storm_record* event)
{
    for (int i = 0; i < 2; i++)
    {
        uint32_t at = hold_of[i][event->about];
        if (at != 0 && holds[at - 1].name == event->object && holds[at - 1].fence == event->b) return &holds[at - 1];
    }
    return NULL;
}

static void add_hold(const storm_record* event, uint32_t index)
{
    lock_hold* hold = &holds[hold_count++];
    hold->from_us = event->begin_us;
    hold->to_us = event->a;
    hold->fence = event->b;
    hold->op = event->about;
    hold->event = index;
    hold->name = event->object;
    hold->asked_us = history_at(event->about)->begin_us;
    int place = hold_of[0][event->about] == 0 ? 0 : 1;
    hold_of[place][event->about] = (uint32_t)hold_count;
}

static void gather(void)
{
    size_t count = (size_t)history_count() + 1;
    holds = calloc(count, sizeof holds[0]);
    hold_of[0] = calloc(count, sizeof hold_of[0][0]);
    hold_of[1] = calloc(count, sizeof hold_of[1][0]);
    if (holds == NULL || hold_of[0] == NULL || hold_of[1] == NULL) abort();
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_lock)) != NULL;)
    {
        if (r->what == LOCK_GRANTED) add_hold(r, at);
        lock_hold* hold = r->what == LOCK_LEASE || r->what == LOCK_OVER ? find_hold(r) : NULL;
        if (hold == NULL) continue;
        if (r->what == LOCK_LEASE && r->begin_us <= hold->to_us) hold->to_us = r->a;
        if (r->what == LOCK_OVER && r->begin_us < hold->to_us) hold->to_us = r->begin_us;
    }
    free(hold_of[0]);
    free(hold_of[1]);
}

static int by_name_and_time(const void* left, const void* right)
{
    const lock_hold* x = left;
    const lock_hold* y = right;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return x->from_us < y->from_us ? -1 : x->from_us > y->from_us;
}

static int by_name_and_fence(const void* left, const void* right)
{
    const lock_hold* x = left;
    const lock_hold* y = right;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return x->fence < y->fence ? -1 : x->fence > y->fence;
}

/* ---- holds --------------------------------------------------------------------------------------------- */

/* Both are told that it is theirs, and the first could long know better: a loss came, his link is up again. */
static bool is_stale(const lock_hold* first, const lock_hold* second)
{
    storm_who who = history_at(first->op)->who;
    uint64_t to_us = first->to_us < second->to_us ? first->to_us : second->to_us;
    uint64_t from_us = to_us - STALE_US;
    return to_us > second->from_us && !excuse_loss_between(from_us, to_us) &&
           link_ready_throughout(who, from_us, to_us) && !excuse_process_away(who.process, from_us, to_us, 200000) &&
           link_came_up_since_loss(who, first->from_us, to_us);
}

static void check_holds(void)
{
    size_t last = 0;
    qsort(holds, hold_count, sizeof holds[0], by_name_and_time);
    verdict_begin("lock: two are never told at once that a name is theirs");
    for (size_t i = 1; i < hold_count; i++)
    {
        const lock_hold* first = &holds[last];
        const lock_hold* second = &holds[i];
        bool together = first->name == second->name && second->from_us < first->to_us && second->to_us > second->from_us;
        if (first->name != second->name || second->to_us > first->to_us) last = i;
        verdict_cases(1);
        if (!together || excuse_loss_between(first->from_us, second->from_us) ||
            excuse_clock_forward(first->asked_us, second->from_us))
            continue;
        VIOLATION_2(first->event, second->event, "name %u is held twice for %llu us", first->name,
                    (unsigned long long)((first->to_us < second->to_us ? first->to_us : second->to_us) -
                                         second->from_us));
    }
}

static void check_stale(void)
{
    verdict_begin("lock: who lost it with the store's data is told so when he is connected again");
    for (size_t i = 0; i < hold_count; i++)
    {
        for (size_t k = i + 1; k < hold_count && holds[k].name == holds[i].name; k++)
        {
            if (holds[k].from_us >= holds[i].to_us) break;
            if (!excuse_loss_between(holds[i].from_us, holds[k].from_us)) continue;
            verdict_cases(1);
            if (is_stale(&holds[i], &holds[k]))
                VIOLATION_2(holds[i].event, holds[k].event, "both are told OK for %llu us",
                            (unsigned long long)((holds[i].to_us < holds[k].to_us ? holds[i].to_us : holds[k].to_us) -
                                                 holds[k].from_us));
        }
    }
}

/* ---- fences -------------------------------------------------------------------------------------------- */

/* Holds are in order of time: whoever began to ask after another was told has a larger fence than he. */
static void check_fence_order(void)
{
    verdict_begin("lock: a later grant has a larger fence, also across losses");
    for (size_t first = 0; first < hold_count;)
    {
        size_t end = first, told = first;
        const lock_hold* largest = NULL;
        while (end < hold_count && holds[end].name == holds[first].name) end++;
        for (size_t i = first; i < end; i++)
        {
            /* asked_us is not in order, so those told before are looked for from the beginning of what may count */
            while (told > first && holds[told - 1].from_us >= holds[i].asked_us) told--;
            while (told < end && holds[told].from_us < holds[i].asked_us) told++;
            verdict_cases(1);
            largest = NULL;
            for (size_t k = told; k-- > first && told - k < 50;)
                if (largest == NULL || holds[k].fence > largest->fence) largest = &holds[k];
            if (largest != NULL && largest->fence >= holds[i].fence &&
                !excuse_clock_went_back_over_loss(largest->asked_us, holds[i].from_us))
                VIOLATION_2(largest->event, holds[i].event, "fences go back at name %u", holds[i].name);
        }
        first = end;
    }
}

static void check_fence_distinct(void)
{
    verdict_begin("lock: no fence is given twice");
    qsort(holds, hold_count, sizeof holds[0], by_name_and_fence);
    verdict_cases(hold_count);
    for (size_t i = 1; i < hold_count; i++)
    {
        const lock_hold* x = &holds[i - 1];
        const lock_hold* y = &holds[i];
        uint64_t from_us = x->asked_us < y->asked_us ? x->asked_us : y->asked_us;
        uint64_t to_us = x->from_us > y->from_us ? x->from_us : y->from_us;
        if (x->name == y->name && x->fence == y->fence && !excuse_clock_went_back_over_loss(from_us, to_us))
            VIOLATION_2(x->event, y->event, "fence %llu twice", (unsigned long long)y->fence);
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
        if (write->outcome == STORM_NOT_DONE)
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
    uint32_t event;
    bool told;
} lock_sight;

static bool was_told(uint8_t name, uint64_t fence)
{
    lock_hold wanted = {.name = name, .fence = fence};
    return bsearch(&wanted, holds, hold_count, sizeof holds[0], by_name_and_fence) != NULL;
}

/* Who has that client id, and whether an op of his on that name ended UNKNOWN at such a time that it explains a
   grant that nobody was told of. */
static bool explains(uint8_t name, const lock_sight* sight, storm_who* who)
{
    bool known = false, unknown = false;
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_lock)) != NULL;)
    {
        if ((r->what != LOCK_OP && r->what != LOCK_SET) || r->c != sight->client) continue;
        known = true;
        *who = r->who;
        if (r->begin_us > sight->to_us) break;
        bool here = r->object == name || (r->what == LOCK_SET && r->b == name);
        bool open = r->end_us == 0 || r->outcome == STORM_UNKNOWN;
        if (here && open && (r->end_us == 0 || r->end_us + 10000000 > sight->from_us)) unknown = true;
    }
    return unknown || !known;
}

static void judge_sight(uint8_t name, const lock_sight* sight)
{
    storm_who who;
    uint64_t from_us = sight->from_us, to_us = sight->to_us;
    if (sight->fence == 0 || to_us - from_us < GHOST_US) return;
    verdict_cases(1);
    if (was_told(name, sight->fence) || explains(name, sight, &who)) return;
    link_longest_ready(who, &from_us, &to_us);
    if (to_us < from_us + GHOST_US || excuse_process_away(who.process, from_us, to_us, 150000)) return;
    if (excuse_server_away(from_us, to_us) || excuse_clock_moved(sight->from_us, to_us)) return;
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
        if (same) sight->to_us = r->begin_us;
        if (same) continue;
        judge_sight(r->object, sight);
        *sight = (lock_sight){.client = r->a, .fence = r->d == 'h' ? r->c : 0, .from_us = r->begin_us,
                              .to_us = r->begin_us, .event = at};
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
    gather();
    check_holds();
    check_stale();
    check_fence_order();
    check_fence_distinct();
    check_writes();
    check_write_order();
    check_ghosts();
    check_free();
    free(holds);
}
