/* histogram.c -- buckets, fine where values are small. */

#include "histogram.h"

/* Values below 128 have a bucket each. Above, the six bits behind the leading one choose among the 64 buckets
   of their doubling. */
static uint32_t bucket_of(uint64_t value)
{
    uint32_t doublings = 0;
    while ((value >> doublings) >= 2 * HISTOGRAM_STEPS)
    {
        doublings++;
    }
    return doublings * HISTOGRAM_STEPS + (uint32_t)(value >> doublings);
}

static uint64_t largest_in(uint32_t bucket)
{
    uint32_t doublings = bucket < 2 * HISTOGRAM_STEPS ? 0 : bucket / HISTOGRAM_STEPS - 1;
    uint64_t leading = bucket - doublings * HISTOGRAM_STEPS;
    return ((leading + 1) << doublings) - 1;
}

void histogram_add(histogram* h, uint64_t value)
{
    h->buckets[bucket_of(value)]++;
    h->recent[h->count++ % HISTOGRAM_RECENT] = value;
    h->max = value > h->max ? value : h->max;
}

uint64_t histogram_percentile(const histogram* h, double percent)
{
    uint64_t wanted = (uint64_t)((double)h->count * percent / 100.0 + 0.5);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
    {
        seen += h->buckets[i];
        if (seen > 0 && seen >= wanted) return largest_in(i) < h->max ? largest_in(i) : h->max;
    }
    return 0;
}

void histogram_show(const histogram* h, board_histogram* shown)
{
    *shown = (board_histogram){.max_us = h->max};
    for (uint32_t i = 0; i < HISTOGRAM_RECENT; i++)
    {
        if (h->recent[i] > shown->recent_us) shown->recent_us = h->recent[i];
    }
    shown->p50_us = histogram_percentile(h, 50);
    shown->p99_us = histogram_percentile(h, 99);
    shown->p999_us = histogram_percentile(h, 99.9);
}
