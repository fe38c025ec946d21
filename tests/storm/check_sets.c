/* check_sets.c -- who is in a list or a guild in the end: what the ops that were told done say, where they say it
   beyond doubt. */

#include "storm/storm.h"
#include "storm/storm_contacts.h"
#include "storm/verdict.h"

#include <stdlib.h>
#include <string.h>

enum
{
    LATEST_US = 2600000 /* so late a copy of a request may come */
};

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
        bool audited = r->what == SET_LOAD && r->who.process > STORM_PLAYERS_MAX && r->c == 0;
        if (audited) known[r->object] = r->outcome == STORM_DONE;
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

/* What that op undid may have been done again: a copy of its request was late, and the store had forgotten that it knew
   it. */
static bool may_be_undone(uint8_t system, const storm_record* op)
{
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, system)) != NULL && r->begin_us < op->begin_us;)
    {
        bool opposite = (r->what == SET_IN || r->what == SET_OUT) && r->what != op->what;
        if (!opposite || r->object != op->object || r->a != op->a) continue;
        bool is_late = storm.ancient || history_over_us(r) + LATEST_US > op->begin_us;
        if (is_late && excuse_may_be_lost(r->begin_us, history_over_us(op) + LATEST_US)) return true;
    }
    return false;
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

/* In a contact list only of those whom nobody blocks. */
static void check_last(uint8_t system, bool bounded)
{
    uint64_t names = bounded ? SET_FREE_NAMES : SET_NAMES;
    for (uint8_t owner = 0; owner < SET_OWNERS; owner++)
    {
        for (uint64_t name = 0; known[owner] && name < names; name++)
        {
            uint32_t last = find_last(system, owner, name);
            const storm_record* op = history_at(last);
            if (last == 0 || excuse_may_be_lost(op->begin_us, op->end_us) || may_be_undone(system, op)) continue;
            verdict_cases(1);
            if (op->what == SET_OUT && there[owner][name] != 0) VIOLATION_1(last, "%s", "it is there all the same");
            bool pushed_out = bounded && count_newer(op) >= SET_CAPACITY;
            bool missing = op->what == SET_IN && there[owner][name] == 0 && !pushed_out;
            if (missing) VIOLATION_1(last, "%s", "it is not there");
        }
    }
}

/* ---- what joins and leaves were told ------------------------------------------------------------------------- */

/* The changes of one name in one guild, in order of their begin. */
typedef struct name_changes
{
    uint32_t* ops;
    size_t count;
} name_changes;

static bool is_change_of(const storm_record* r, uint8_t owner, uint64_t name)
{
    bool change = r->what == SET_IN || r->what == SET_OUT;
    bool perhaps = r->end_us == 0 || r->outcome != STORM_NOT_DONE;
    return change && perhaps && r->object == owner && r->a == name;
}

static name_changes collect(uint8_t system, uint8_t owner, uint64_t name)
{
    name_changes changes = {NULL, 0};
    for (int pass = 0; pass < 2; pass++)
    {
        uint32_t at = 0;
        changes.count = 0;
        for (const storm_record* r; (r = history_next(&at, system)) != NULL;)
        {
            if (!is_change_of(r, owner, name)) continue;
            if (pass == 1) changes.ops[changes.count] = at;
            changes.count++;
        }
        if (pass == 0) changes.ops = malloc((changes.count + 1) * sizeof changes.ops[0]);
        if (changes.ops == NULL) abort();
    }
    return changes;
}

/* Whether the name is in (SET_IN) or out (SET_OUT) beyond doubt from before the op's begin until its end: the op that
   made it so, or 0. */
static uint32_t find_certain(const name_changes* changes, const storm_record* op, uint8_t what)
{
    for (size_t i = changes->count; i-- > 0;)
    {
        const storm_record* made = history_at(changes->ops[i]);
        if (made->what != what || made->outcome != STORM_DONE || made->end_us >= op->begin_us) continue;
        bool certain = !excuse_may_be_lost(made->begin_us - 5000000, op->end_us) &&
                       !excuse_rights_taken(op->begin_us, op->end_us); /* a copy that was stopped, and a repeat of it */
        for (size_t k = 0; k < changes->count && certain; k++)
        {
            const storm_record* other = history_at(changes->ops[k]);
            if (other == op || other == made || other->what == what) continue;
            certain = history_over_us(other) < made->begin_us || other->begin_us > op->end_us;
        }
        return certain ? changes->ops[i] : 0; /* an earlier one is no surer */
    }
    return 0;
}

static void check_told(void)
{
    for (uint8_t owner = 0; owner < SET_OWNERS; owner++)
    {
        for (uint64_t name = 0; name < SET_NAMES; name++)
        {
            name_changes changes = collect(STORM_guild, owner, name);
            for (size_t i = 0; i < changes.count; i++)
            {
                const storm_record* op = history_at(changes.ops[i]);
                if (op->outcome != STORM_DONE) continue;
                verdict_cases(1);
                bool was_in = op->what == SET_IN ? op->b == GH_EXISTS : op->b == GH_OK;
                uint32_t certain = find_certain(&changes, op, was_in ? SET_OUT : SET_IN);
                if (certain != 0)
                    VIOLATION_2(certain, changes.ops[i], "it was told %s, which cannot be",
                                gh_status_name((gh_status)(int64_t)op->b));
            }
            free(changes.ops);
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
    check_blocks();
}

void check_guild(void)
{
    read_end(STORM_guild);
    verdict_begin("guild: each member is there once");
    check_shape(STORM_guild, SET_GUILD_CAPACITY);
    verdict_begin("guild: who joined last is there, who left last is not");
    check_last(STORM_guild, false);
    verdict_begin("guild: a join or leave is told truly whether the player was a member");
    check_told();
}
