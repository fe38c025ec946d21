/* heap_watch.c -- counts calls of the heap, with the counter of the tests. */

#include "harness/bench.h"

#include "support/faults/heap.h"

void bench_heap_begin(void)
{
    heap_watch_begin();
}

int64_t bench_heap_end(void)
{
    bool counted = heap_watch_works();
    heap_counts seen = heap_watch_end();
    return counted ? (int64_t)seen.total : -1;
}
