/* random.h -- seeded random numbers (splitmix64): the same seed gives the same numbers on every machine. */

#ifndef GAME_SERVER_RANDOM_H
#define GAME_SERVER_RANDOM_H

#include <stdint.h>

typedef struct random_source
{
    uint64_t state;
} random_source;

static inline uint64_t random_draw(random_source* source)
{
    source->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = source->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A stream of its own for each label: the draws of one player do not disturb those of another. */
static inline random_source random_seeded(uint64_t seed, uint64_t label)
{
    random_source labels = {seed};
    random_source source = {random_draw(&labels) ^ (label * UINT64_C(0xd1b54a32d192ed03))};
    return source;
}

/* From 0 .. limit - 1; limit must not be 0. What the modulo favours is far below what a game notices. */
static inline uint32_t random_under(random_source* source, uint32_t limit)
{
    return (uint32_t)(random_draw(source) % limit);
}

#endif
