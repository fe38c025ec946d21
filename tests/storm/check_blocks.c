/* check_blocks.c -- whom somebody has blocked: is in no list, is kept out by each touch, and stays blocked. */

#include "storm/storm.h"
#include "storm/storm_contacts.h"
#include "storm/verdict.h"

#include <stdlib.h>

/* The changes of one name in one list that may have been carried out, in order of their begin. */
static uint32_t* changes;
static size_t change_count;

static void collect(uint8_t owner, uint64_t name)
{
    uint32_t at = 0;
    change_count = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_contacts)) != NULL;)
    {
        bool change = r->what == SET_IN || r->what == SET_OUT || r->what == SET_BLOCK || r->what == SET_UNBLOCK;
        bool perhaps = r->end_us == 0 || r->outcome != STORM_NOT_DONE;
        if (change && perhaps && r->object == owner && r->a == name) changes[change_count++] = at;
    }
}

/* Whether it is blocked (SET_BLOCK) or not (SET_UNBLOCK) beyond doubt all through these times; *made: the op that made
   it so, or 0 if it never was otherwise. */
static bool is_certain(uint8_t what, uint64_t from_us, uint64_t to_us, uint32_t* made)
{
    uint8_t opposite = what == SET_BLOCK ? SET_UNBLOCK : SET_BLOCK;
    uint64_t since_us = 0;
    *made = 0;
    for (size_t i = change_count; i-- > 0 && *made == 0;)
    {
        const storm_record* r = history_at(changes[i]);
        if (r->what != what || r->outcome != STORM_DONE || r->end_us >= from_us) continue;
        if (excuse_may_be_lost(r->begin_us - 5000000, to_us)) return false;
        *made = changes[i];
        since_us = r->begin_us;
    }
    if (*made == 0 && what == SET_BLOCK) return false;
    for (size_t i = 0; i < change_count; i++)
    {
        const storm_record* r = history_at(changes[i]);
        if (r->what == opposite && history_over_us(r) >= since_us && r->begin_us <= to_us) return false;
    }
    return true;
}

/* What a touch was told of its contact, and what the mirror made of that. */
static void check_touches(void)
{
    for (size_t i = 0; i < change_count; i++)
    {
        const storm_record* r = history_at(changes[i]);
        uint32_t made = 0;
        if (r->what != SET_IN || r->outcome != STORM_DONE) continue;
        verdict_cases(1);
        if (is_certain(r->b == 0 ? SET_BLOCK : SET_UNBLOCK, r->begin_us, r->end_us, &made))
            VIOLATION_2(changes[i], made, "%s", r->b == 0 ? "it was blocked" : "it was not blocked");
    }
}

static void check_mirrors(void)
{
    for (size_t i = 0; i < change_count; i++)
    {
        const storm_record* r = history_at(changes[i]);
        if (r->outcome != STORM_DONE || r->c == IN_MIRROR_UNSEEN || r->what == SET_UNBLOCK) continue;
        verdict_cases(1);
        bool wanted = r->what == SET_IN && r->b == 0;
        if (wanted != (r->c == IN_MIRROR_YES)) VIOLATION_1(changes[i], "it is%s in the mirror", wanted ? " not" : "");
    }
}

/* What a load showed, of the contacts or of those who are blocked. */
static void check_loads(uint8_t owner, uint64_t name)
{
    uint32_t at = 0, made = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_contacts)) != NULL;)
    {
        if (r->what != SET_LOAD || r->object != owner || r->outcome != STORM_DONE) continue;
        bool shown = (r->b >> name & 1u) != 0;
        verdict_cases(1);
        if (r->c == 0 && shown && is_certain(SET_BLOCK, r->begin_us, r->end_us, &made))
            VIOLATION_2(made, at, "name %u is blocked, and in the list", (unsigned)name);
        if (r->c == 1 && !shown && is_certain(SET_BLOCK, r->begin_us, r->end_us, &made))
            VIOLATION_2(made, at, "name %u is blocked, and not among those who are", (unsigned)name);
        if (r->c == 1 && shown && is_certain(SET_UNBLOCK, r->begin_us, r->end_us, &made))
            VIOLATION_2(made, at, "name %u is not blocked, and among those who are", (unsigned)name);
    }
}

/* How many other names may have been touched between these times: beyond the capacity they push a name out. */
static unsigned count_newer(const storm_record* touch, uint64_t to_us)
{
    bool newer[SET_NAMES] = {false};
    unsigned count = 0;
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_contacts)) != NULL && r->begin_us <= to_us;)
    {
        bool perhaps = r->end_us == 0 || r->outcome != STORM_NOT_DONE;
        if (r->what != SET_IN || r->object != touch->object || r->a == touch->a || !perhaps) continue;
        if (history_over_us(r) >= touch->begin_us) newer[r->a % SET_NAMES] = true;
    }
    for (int i = 0; i < SET_NAMES; i++) count += newer[i] ? 1u : 0u;
    return count;
}

/* Somebody may have taken it out of the list again, or blocked it. */
static bool may_be_out(const storm_record* touch, uint64_t to_us)
{
    for (size_t i = 0; i < change_count; i++)
    {
        const storm_record* r = history_at(changes[i]);
        bool takes = r->what == SET_OUT || r->what == SET_BLOCK;
        if (takes && history_over_us(r) >= touch->begin_us && r->begin_us <= to_us) return true;
    }
    return false;
}

/* The next load of that list; 0: there is none. */
static uint32_t load_behind(uint32_t touch)
{
    const storm_record* op = history_at(touch);
    uint32_t at = touch;
    for (const storm_record* r; (r = history_next(&at, STORM_contacts)) != NULL;)
    {
        bool later = r->what == SET_LOAD && r->object == op->object && r->begin_us > op->end_us;
        if (later && r->c == 0 && r->outcome == STORM_DONE) return at;
    }
    return 0;
}

/* Who was told that a touch was done, and not kept out, finds it in the list. */
static void check_touched(uint64_t name)
{
    for (size_t i = 0; i < change_count; i++)
    {
        const storm_record* r = history_at(changes[i]);
        if (r->what != SET_IN || r->outcome != STORM_DONE || r->b != 0) continue;
        uint32_t load = load_behind(changes[i]);
        const storm_record* found = history_at(load);
        verdict_cases(1);
        if (load == 0 || (found->b >> name & 1u) != 0 || may_be_out(r, found->end_us)) continue;
        if (count_newer(r, found->end_us) >= SET_CAPACITY) continue;
        if (!excuse_may_be_lost(r->begin_us - 5000000, found->end_us))
            VIOLATION_2(changes[i], load, "name %u was touched, and is not in the list", (unsigned)name);
    }
}

/* A block that was stopped between its two steps, because a right was taken away: that is told UNKNOWN. */
static bool may_be_half_blocked(void)
{
    for (size_t i = 0; i < change_count; i++)
    {
        const storm_record* r = history_at(changes[i]);
        bool doubtful = r->what == SET_BLOCK && r->outcome != STORM_DONE;
        if (doubtful && excuse_rights_taken(r->begin_us, UINT64_MAX)) return true;
    }
    return false;
}

/* Also when it is not known who was carried out last: nobody is both. */
static void check_end(uint8_t owner, uint64_t name)
{
    uint32_t at = 0, list = 0, blocked = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_contacts)) != NULL;)
    {
        if (r->what != SET_LOAD || r->object != owner || r->who.process <= STORM_PLAYERS_MAX) continue;
        if (r->outcome != STORM_DONE) return; /* is told elsewhere */
        if (r->c == 0) list = at;
        else blocked = at;
    }
    verdict_cases(1);
    if (list == 0 || blocked == 0) return;
    bool both = (history_at(list)->b & history_at(blocked)->b & 1u << name) != 0;
    if (both && !may_be_half_blocked())
        VIOLATION_2(list, blocked, "name %u is in the list, and blocked", (unsigned)name);
}

/* 0: what a touch is told; 1: what mirrors follow; 2: what loads show; 3: what is there in the end; 4: who was touched.
 */
static void check_each(const char* promise, int which)
{
    verdict_begin(promise);
    for (uint8_t owner = 0; owner < SET_OWNERS; owner++)
    {
        for (uint64_t name = 0; name < SET_NAMES; name++)
        {
            collect(owner, name);
            if (which == 0) check_touches();
            if (which == 1) check_mirrors();
            if (which == 2) check_loads(owner, name);
            if (which == 3) check_end(owner, name);
            if (which == 4) check_touched(name);
        }
    }
}

void check_blocks(void)
{
    changes = calloc((size_t)history_count() + 1, sizeof changes[0]);
    if (changes == NULL) abort();
    check_each("contacts: a touch is told truly whether its contact is blocked", 0);
    check_each("contacts: a mirror that follows has who was touched, not who is blocked or was removed", 1);
    check_each("contacts: a load shows who is blocked, and none of them in the list", 2);
    check_each("contacts: in the end nobody is in a list and blocked", 3);
    check_each("contacts: who was touched, and not kept out, is in the list", 4);
    free(changes);
}
