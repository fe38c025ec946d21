/* least.h -- the smaller of two numbers, for counts, sizes and times. */

#ifndef GH_LEAST_H
#define GH_LEAST_H

#include <stdint.h>

static inline uint64_t gh_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

#endif
