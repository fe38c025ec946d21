/* sum.c -- a step for each eight bytes, and one for the rest. No step forgets anything: two strings of a length that
   differ in one of them have different sums of 64 bits, of which half is kept. */

#include "base/sum.h"

void gh_sum_add(gh_sum* sum, gh_str str)
{
    uint64_t value = sum->value ^ (uint64_t)str.size << 32;
    if (!sum->is_asked) return;
    for (;;)
    {
        uint64_t word = 0;
        const size_t size = str.size < sizeof word ? str.size : sizeof word;
        if (size > 0) memcpy(&word, str.bytes, size);
        value = (value ^ word) * 0x9e3779b97f4a7c15u;
        value ^= value >> 32;
        str.size -= size;
        if (str.size == 0) break;
        str.bytes += size;
    }
    sum->value = (uint32_t)value;
}
