/* stale.c -- see stale.h. */

#include "storm/stale.h"

#include "storm/verdict.h"

enum
{
    STALE_US = 500000, /* a link that has been ready for so long, while the store answered, has told its client */
    AWAY_US = 200000
};

/* His link was ready for so long behind the loss, up to that time, and the store answered: to him as to the witness. */
static bool was_answered(const storm_stale* told, uint64_t loss_us, uint64_t seen_us)
{
    uint64_t since_us = link_ready_since(told->who, seen_us);
    if (since_us < loss_us) since_us = loss_us;
    if (since_us >= seen_us || seen_us - since_us <= STALE_US) return false;
    if (!link_was_made(told->who, history_at(told->event)->begin_us, seen_us - STALE_US)) return false;
    return watched_within(told->event, told->what, told->object, since_us, seen_us) > STALE_US;
}

static uint32_t find_sight(const storm_stale* told, uint64_t loss_us)
{
    uint32_t at = told->event;
    for (const storm_record* r; (r = history_next(&at, told->system)) != NULL && r->begin_us < told->to_us;)
    {
        if (r->what != told->what || r->object != told->object || r->begin_us < loss_us + STALE_US) continue;
        if (told->is_his(r, told->his)) continue;
        if (excuse_loss_between(loss_us + 1, r->begin_us)) return 0; /* a FLUSHALL may have taken it */
        if (was_answered(told, loss_us, r->begin_us)) return at;
    }
    return 0;
}

static uint32_t sight_behind(const storm_stale* told, uint64_t loss_us)
{
    uint32_t sight = find_sight(told, loss_us);
    if (sight == 0) return 0;
    uint64_t seen_us = history_at(sight)->begin_us;
    bool excused = excuse_process_away(told->who.process, loss_us, seen_us, AWAY_US) ||
                   excuse_clock_forward(told->clock_us, seen_us) ||
                   excuse_rights_taken(loss_us, seen_us); /* who is refused asks a third later */
    return excused ? 0 : sight;
}

uint32_t stale_sight(const storm_stale* told, uint64_t* loss_us)
{
    const uint64_t first_us = *loss_us;
    uint32_t sight = 0;
    for (uint64_t next_us = first_us; next_us != 0 && sight == 0;)
    {
        *loss_us = next_us;
        sight = sight_behind(told, next_us);
        next_us = excuse_next_loss(first_us, told->to_us, next_us);
    }
    return sight;
}
