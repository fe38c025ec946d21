/* sum.c -- a step for each eight bytes, and one for the rest. No step forgets anything: two strings of a length that
   differ in one of them have different sums of 64 bits, of which half is kept. */

#include "base/sum.h"

static inline uint64_t sum_on(uint64_t value, uint64_t word)
{
    value = (value ^ word) * 0x9e3779b97f4a7c15u;
    return value ^ value >> 32;
}

void gh_sum_add(gh_sum* sum, gh_str str)
{
    uint64_t value = sum->value ^ (uint64_t)str.size << 32;
    uint64_t word;
    if (!sum->is_asked) return;
    for (; str.size > sizeof word; str.size -= sizeof word, str.bytes += sizeof word)
    {
        memcpy(&word, str.bytes, sizeof word); /* of a size that is known: at once */
        value = sum_on(value, word);
    }
    word = 0;
    if (str.size > 0) memcpy(&word, str.bytes, str.size);
    value = sum_on(value, word);
    sum->value = (uint32_t)value;
}
