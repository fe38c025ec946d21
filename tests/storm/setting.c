/* setting.c -- see setting.h. */

#include "storm/setting.h"

#include "storm/verdict.h"

#include <stdlib.h>

enum
{
    KNOWN_MAX = 8 /* SETTERS_MAX of client/setters.lua */
};

static bool is_same(const setting_sight* x, const setting_sight* y)
{
    return x->client == y->client && x->sequence == y->sequence;
}

/* The op whose setting it is; 0: nobody's, whose record is lost with the process that was about to write it. */
static uint32_t op_of(const storm_setting* setting, const setting_sight* sight)
{
    for (uint32_t index = sight->event; --index > 0;)
    {
        const storm_record* r = history_at(index);
        if (r->system == setting->system && setting->sets(r) && r->b == sight->sequence && r->c == sight->client)
            return index;
    }
    return 0;
}

static bool may_be_excused(const storm_record* op, const setting_sight* sight)
{
    return excuse_may_be_lost(op->begin_us, sight->seen_us) ||
           excuse_clock_back(op->begin_us - STORM_CLOCK_STEP_US, sight->seen_us);
}

/* No copy of it is carried out later: of one that is not told as done, one may come for as long as it could be sent. */
static uint64_t over_of(const storm_record* op)
{
    if (op->end_us == 0) return UINT64_MAX;
    return op->end_us + (op->outcome == STORM_DONE ? 0 : STORM_LATEST_US);
}

/* Another that was begun when this one was over, and was told as done before the store was asked; 0: none was. */
static uint32_t set_since(const storm_setting* setting, uint32_t op, const setting_sight* sight)
{
    const uint64_t over_us = over_of(history_at(op));
    uint32_t at = op;
    for (const storm_record* r; (r = history_next(&at, setting->system)) != NULL && r->begin_us < sight->asked_us;)
    {
        if (!setting->sets(r) || r->object != setting->object || r->outcome != STORM_DONE) continue;
        if (r->begin_us > over_us && r->end_us < sight->asked_us) return at;
    }
    return 0;
}

/* Whether so many other clients may have set it while the op went on that the store cannot know it any more; its own
   client is one of those that it knows. Until it is told as done it may then be carried out twice. */
static bool is_forgotten(const storm_setting* setting, const storm_record* op)
{
    uint64_t clients[KNOWN_MAX];
    unsigned count = 0;
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, setting->system)) != NULL && count < KNOWN_MAX;)
    {
        bool is_beside = r->begin_us < over_of(op) && over_of(r) > op->begin_us;
        if (!setting->sets(r) || r->object != setting->object || r->outcome == STORM_NOT_DONE || !is_beside) continue;
        unsigned i = 0;
        while (i < count && clients[i] != r->c) i++;
        if (i == count && r->c != op->c) clients[count++] = r->c;
    }
    return count >= KNOWN_MAX;
}

static void judge(const storm_setting* setting, const setting_sight* sight)
{
    uint32_t op = op_of(setting, sight);
    const storm_record* r = history_at(op);
    if (op == 0) return;
    if (r->outcome == STORM_NOT_DONE)
        VIOLATION_2(op, sight->event, "%s although it is set", gh_status_name((gh_status)r->status));
    if (may_be_excused(r, sight)) return;
    uint32_t other = set_since(setting, op, sight);
    if (other != 0)
        VIOLATION_2(op, other, "another was set, and it is back at %llu", (unsigned long long)sight->seen_us);
    for (size_t i = 0; i + 1 < setting->count; i++)
    {
        if (!is_same(&setting->sights[i], sight) || is_forgotten(setting, r)) continue;
        VIOLATION_2(setting->sights[i].event, sight->event, "%s", "another was seen, and it is back");
    }
}

void setting_see(storm_setting* setting, setting_sight sight)
{
    verdict_cases(1);
    if (setting->count > 0 && is_same(&setting->sights[setting->count - 1], &sight)) return;
    if (sight.sequence != 0) judge(setting, &sight);
    setting->sights = realloc(setting->sights, (setting->count + 1) * sizeof setting->sights[0]);
    if (setting->sights == NULL) abort();
    setting->sights[setting->count++] = sight;
}

void setting_forget(storm_setting* setting)
{
    free(setting->sights);
    setting->sights = NULL;
    setting->count = 0;
}
