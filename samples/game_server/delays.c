/* delays.c -- ops that are under way, by their addresses. */

#include "delays.h"

#include <stddef.h>

static delay_begun* bucket_of(delays* d, const void* op)
{
    uint64_t mixed = (uint64_t)(uintptr_t)op * 0x9e3779b97f4a7c15ull;
    return d->begun[mixed >> 32 & (DELAYS_BUCKETS - 1)];
}

static delay_begun* find(delays* d, const void* op, const void* wanted)
{
    delay_begun* bucket = bucket_of(d, op);
    for (int i = 0; i < DELAYS_EACH; i++)
        if (bucket[i].op == wanted) return &bucket[i];
    return NULL;
}

void delays_begin(delays* d, const void* op, uint64_t now_us)
{
    delay_begun* place = find(d, op, op);
    if (place == NULL) place = find(d, op, NULL);
    if (place != NULL) *place = (delay_begun){op, now_us};
}

uint64_t delays_longest(delays* d, uint64_t now_us)
{
    uint64_t span = now_us / DELAYS_SPAN_US;
    if (span != d->span)
    {
        d->before = span == d->span + 1 ? d->now : 0;
        d->now = 0;
        d->span = span;
    }
    return d->now > d->before ? d->now : d->before;
}

void delays_end(delays* d, const void* op, uint64_t now_us)
{
    delay_begun* place = find(d, op, op);
    if (place == NULL) return;
    uint64_t took_us = now_us - place->at_us;
    place->op = NULL;
    delays_longest(d, now_us);
    if (took_us > d->now) d->now = took_us;
}
