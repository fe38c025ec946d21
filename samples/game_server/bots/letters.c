/* letters.c -- who gets mail, and what must hold of it. */

#include "letters.h"

/* ---- A mailbox ----------------------------------------------------------------------------------------- */

void box_enter(box* b)
{
    b->at = 0;
}

unsigned box_take(box* b, uint64_t epoch, uint64_t id, bool* again)
{
    unsigned faults = 0;
    *again = id <= b->heard;
    bool goes_on = *again ? epoch <= b->epoch : epoch >= b->epoch; /* ids go on when the store was started anew */
    if (b->epoch != 0 && !goes_on) faults |= LETTER_GAP;           /* its past is lost */
    if (epoch > b->epoch) b->epoch = epoch;
    if (b->at != 0 && id <= b->at) faults |= LETTER_TWICE;
    uint64_t most = b->at != 0 ? b->at + 1 : b->heard + 1;
    if (id > most) faults |= LETTER_GAP;
    b->at = id;
    if (id > b->heard) b->heard = id;
    return faults;
}

/* ---- Whispers ------------------------------------------------------------------------------------------ */

unsigned thread_hear(thread* t, uint32_t count)
{
    if (count == 0 || count > t->said.count) return LETTER_NONSENSE;
    if (count <= t->heard) return LETTER_TWICE;
    unsigned faults = said_may_miss(&t->said, t->heard + 1, count - 1) ? 0 : LETTER_GAP;
    t->heard = count;
    return faults;
}

bool thread_has_all(const thread* t)
{
    return said_may_miss(&t->said, t->heard + 1, t->said.count);
}

/* ---- Guild mail ---------------------------------------------------------------------------------------- */

bool round_has_room(const round* r)
{
    return r->said.count - r->oldest + 1 < ROUND_WINDOW;
}

uint32_t round_write(round* r, uint32_t wanted)
{
    if (r->oldest == 0) r->oldest = 1;
    uint32_t count = said_next(&r->said);
    r->wanted[count % ROUND_WINDOW] = wanted;
    r->got[count % ROUND_WINDOW] = 0;
    return count;
}

unsigned round_hear(round* r, uint32_t count, uint32_t member, bool* again)
{
    *again = false;
    if (count == 0 || count > r->said.count || member >= ROUND_MEMBERS_MAX) return LETTER_NONSENSE;
    uint32_t bit = UINT32_C(1) << member;
    *again = count < r->oldest || (r->got[count % ROUND_WINDOW] & bit) != 0; /* before oldest all have it */
    if (count >= r->oldest) r->got[count % ROUND_WINDOW] |= bit;
    return 0;
}

/* What is unsure may miss everybody. */
static uint32_t missing(const round* r, uint32_t count)
{
    if (said_may_miss(&r->said, count, count)) return 0;
    return r->wanted[count % ROUND_WINDOW] & ~r->got[count % ROUND_WINDOW];
}

uint32_t round_settle(round* r)
{
    uint32_t settled = 0;
    while (r->oldest != 0 && r->oldest <= r->said.count && missing(r, r->oldest) == 0)
    {
        r->oldest++;
        settled++;
    }
    return settled;
}

bool round_is_missed_by(const round* r, uint32_t member)
{
    uint32_t bit = UINT32_C(1) << member;
    for (uint32_t i = r->oldest; i != 0 && i <= r->said.count; i++)
        if ((missing(r, i) & bit) != 0) return true;
    return false;
}
