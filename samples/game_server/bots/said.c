/* said.c -- what somebody has said, and what of it is unsure. */

#include "said.h"

static uint64_t* word_of(said* s, uint32_t count)
{
    return &s->unsure[count % SAID_WINDOW / 64];
}

static uint64_t bit_of(uint32_t count)
{
    return UINT64_C(1) << (count % 64);
}

uint32_t said_next(said* s)
{
    s->count++;
    *word_of(s, s->count) &= ~bit_of(s->count);
    return s->count;
}

void said_not(said* s)
{
    if (s->count > 0) s->count--;
}

void said_unsure(said* s)
{
    *word_of(s, s->count) |= bit_of(s->count);
}

bool said_may_miss(const said* s, uint32_t first, uint32_t last)
{
    for (uint32_t i = last; i >= first && i > 0; i--)
    {
        if (i > s->count) return false; /* never said: how could it be missed? */
        if (s->count - i >= SAID_WINDOW) return true;
        if ((s->unsure[i % SAID_WINDOW / 64] & bit_of(i)) == 0) return false;
    }
    return true;
}
