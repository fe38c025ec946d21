/* delays.h -- how long ops take, from their begin to their end: what a player would feel of a store that is slow or
   away for a moment. Told as the longest of the last seconds. */

#ifndef GAME_SERVER_DELAYS_H
#define GAME_SERVER_DELAYS_H

#include <stdint.h>

enum
{
    DELAYS_BUCKETS = 1024,
    DELAYS_EACH = 8, /* of the same bucket at once; more are not looked at */
    DELAYS_SPAN_US = 500000
};

typedef struct delay_begun
{
    const void* op; /* NULL: none */
    uint64_t at_us;
} delay_begun;

typedef struct delays
{
    delay_begun begun[DELAYS_BUCKETS][DELAYS_EACH];
    uint64_t span;  /* the number of the present one      */
    uint64_t now;   /* the longest that ended in it, in us */
    uint64_t before;
} delays;

void delays_begin(delays* d, const void* op, uint64_t now_us);
void delays_end(delays* d, const void* op, uint64_t now_us);

/* Of the ops that ended in the last half second, or a little more. */
uint64_t delays_longest(delays* d, uint64_t now_us);

#endif
