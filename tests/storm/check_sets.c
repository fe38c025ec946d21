/* check_sets.c -- who is in a list or a guild in the end: what the ops that were told done say, where they say it
   beyond doubt. */

#include "storm/storm.h"
#include "storm/storm_contacts.h"
#include "storm/verdict.h"

#include <string.h>

/* What is there in the end: counts by owner and name. */
static unsigned there[SET_OWNERS][SET_NAMES + 1];
static unsigned sizes[SET_OWNERS];
static bool known[SET_OWNERS];

static void read_end(uint8_t system)
{
    uint32_t at = 0;
    memset(there, 0, sizeof there);
    memset(sizes, 0, sizeof sizes);
    memset(known, 0, sizeof known);
    for (const storm_record* r; (r = history_next(&at, system)) != NULL;)
    {
        if (r->what == SET_LOAD && r->who.process > STORM_PLAYERS_MAX) known[r->object] = r->outcome == STORM_DONE;
        if (r->what != SET_THERE) continue;
        there[r->object][r->a < SET_NAMES ? r->a : SET_NAMES]++;
        sizes[r->object]++;
    }
}

/* The op on that name that began after all others on it had ended, if there is one that was done. */
static uint32_t find_last(uint8_t system, uint8_t owner, uint64_t name)
{
    uint32_t last = 0, at = 0;
    uint64_t over_us = 0;
    for (const storm_record* r; (r = history_next(&at, system)) != NULL;)
    {
        bool change = (r->what == SET_IN || r->what == SET_OUT) && r->object == owner && r->a == name;
        if (!change || (r->end_us != 0 && r->outcome == STORM_NOT_DONE)) continue;
        if (r->begin_us > over_us) last = at;
        else last = 0; /* two at once: either may be the last */
        if (history_over_us(r) > over_us) over_us = history_over_us(r);
    }
    return last != 0 && history_at(last)->outcome == STORM_DONE ? last : 0;
}

/* How many other names were touched later than that op, perhaps. */
static unsigned count_newer(const storm_record* op)
{
    bool newer[SET_NAMES] = {false};
    unsigned count = 0;
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_contacts)) != NULL;)
    {
        if (r->what != SET_IN || r->object != op->object || r->a == op->a) continue;
        if (r->end_us != 0 && r->outcome == STORM_NOT_DONE) continue;
        if (history_over_us(r) >= op->begin_us) newer[r->a % SET_NAMES] = true;
    }
    for (int i = 0; i < SET_NAMES; i++) count += newer[i] ? 1u : 0u;
    return count;
}

static void check_shape(uint8_t system, unsigned capacity)
{
    for (uint8_t owner = 0; owner < SET_OWNERS; owner++)
    {
        verdict_cases(1);
        if (!known[owner]) VIOLATION("number %u could not be read in the end", owner);
        if (sizes[owner] > capacity) VIOLATION("number %u has %u names, not %u", owner, sizes[owner], capacity);
        for (unsigned name = 0; name <= SET_NAMES; name++)
        {
            if (there[owner][name] > 1 || (name == SET_NAMES && there[owner][name] != 0))
                VIOLATION("number %u of system %u has name %u %u times", owner, system, name, there[owner][name]);
        }
    }
}

static void check_last(uint8_t system, bool bounded)
{
    for (uint8_t owner = 0; owner < SET_OWNERS; owner++)
    {
        for (uint64_t name = 0; known[owner] && name < SET_NAMES; name++)
        {
            uint32_t last = find_last(system, owner, name);
            const storm_record* op = history_at(last);
            if (last == 0 || excuse_may_be_lost(op->begin_us, op->end_us)) continue;
            verdict_cases(1);
            if (op->what == SET_OUT && there[owner][name] != 0) VIOLATION_1(last, "%s", "it is there all the same");
            bool pushed_out = bounded && count_newer(op) >= SET_CAPACITY;
            bool missing = op->what == SET_IN && there[owner][name] == 0 && !pushed_out;
            if (missing) VIOLATION_1(last, "%s", "it is not there");
        }
    }
}

void check_contacts(void)
{
    read_end(STORM_contacts);
    verdict_begin("contacts: a list has each name once, and no more than it may have");
    check_shape(STORM_contacts, SET_CAPACITY);
    verdict_begin("contacts: who was touched last is there, who was removed last is not");
    check_last(STORM_contacts, true);
}

void check_guild(void)
{
    read_end(STORM_guild);
    verdict_begin("guild: each member is there once");
    check_shape(STORM_guild, SET_GUILD_CAPACITY);
    verdict_begin("guild: who joined last is there, who left last is not");
    check_last(STORM_guild, false);
}
