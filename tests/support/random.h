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

uint64_t random_next(random_stream* stream);

/* Evenly from 0 .. limit - 1; limit must not be 0. */
uint64_t random_below(random_stream* stream, uint64_t limit);

/* Evenly from low .. high, both included. */
uint64_t random_between(random_stream* stream, uint64_t low, uint64_t high);

/* True once in `odds` draws on average. */
bool random_one_in(random_stream* stream, uint64_t odds);

void random_fill(random_stream* stream, void* bytes, size_t size);

#endif
