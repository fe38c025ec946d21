/* histogram.h -- percentiles of a stream of numbers in a fixed 31 KiB, to within 1.6 %. */

#ifndef GAME_SERVER_HISTOGRAM_H
#define GAME_SERVER_HISTOGRAM_H

#include "board.h"

enum
{
    HISTOGRAM_STEPS = 64, /* buckets for each doubling */
    HISTOGRAM_BUCKETS = HISTOGRAM_STEPS * 59,
    HISTOGRAM_RECENT = 60 /* a second of frames */
};

typedef struct histogram
{
    uint64_t buckets[HISTOGRAM_BUCKETS];
    uint64_t count;
    uint64_t max;
    uint64_t recent[HISTOGRAM_RECENT]; /* value n lies in n % HISTOGRAM_RECENT */
} histogram;

void histogram_add(histogram* h, uint64_t value);

/* The value that percent of all are not above; 0 if there are none. */
uint64_t histogram_percentile(const histogram* h, double percent);

/* What the board shows of it. Goes through all buckets: a few times a second is enough. */
void histogram_show(const histogram* h, board_histogram* shown);

#endif
