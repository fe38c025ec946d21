/* heap_calls.c -- how often the heap was called while the other benches kept ops of Guildhall going. */

#include "harness/bench.h"

void bench_heap(bench* self)
{
    if (self->heap_ops == 0)
    {
        bench_report_remark(self, "no bench before this one kept ops going, or their calls cannot be counted");
        return;
    }
    bench_figure figure = bench_figure_of("calls of the heap", "", (double)self->heap_calls);
    bench_figure_goal(&figure, BENCH_VALUE_AT_MOST, 0.0);
    bench_figure_note(&figure,
                      "malloc, calloc, realloc, free, strdup, posix_memalign in all rounds of all benches that "
                      "keep ops going: %llu ops",
                      (unsigned long long)self->heap_ops);
    bench_figure_limit(&figure, "%.3g calls an op", (double)self->heap_calls / (double)self->heap_ops);
    bench_report(self, &figure);
}
