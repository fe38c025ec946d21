/* random.h -- seeded random streams: the same seed gives the same run.

   Each test derives its streams from the run's seed, its own name and a label, so a test draws the same
   numbers whether it runs alone or among others, and two streams of one test do not disturb each other. */

#ifndef GUILDHALL_TESTS_RANDOM_H
#define GUILDHALL_TESTS_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct random_stream
{
    uint64_t state;
} random_stream;

random_stream random_from_seed(uint64_t seed);

/* The stream of that label in the test that is running. */
random_stream random_for_test(const char* label);

/* Any number. Here, as are the two that follow: who draws most of the time, and mostly below what the compiler knows,
   neither calls a function for it nor divides. */
static inline uint64_t random_next(random_stream* stream) /* splitmix64 */
{
    uint64_t x = stream->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Evenly from 0 .. limit - 1; limit must not be 0. */
static inline uint64_t random_below(random_stream* stream, uint64_t limit)
{
    /* The first 2^64 mod limit values, which are less than limit, would make the small results likelier: draw again. */
    uint64_t x = random_next(stream);
    if ((limit & (limit - 1)) == 0 && limit != 0) return x & (limit - 1); /* the same, without dividing */
    while (x < limit && x < (UINT64_MAX - limit + 1) % limit) x = random_next(stream);
    return x % limit;
}

/* Evenly from low .. high, both included. */
uint64_t random_between(random_stream* stream, uint64_t low, uint64_t high);

/* True once in `odds` draws on average. */
static inline bool random_one_in(random_stream* stream, uint64_t odds)
{
    return random_below(stream, odds) == 0;
}

void random_fill(random_stream* stream, void* bytes, size_t size);

#endif
