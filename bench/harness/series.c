/* series.c -- the values of a figure, one a round: the median, the least, the most. */

#include "harness/bench.h"

#include <stdlib.h>

void bench_series_add(bench_series* series, double value)
{
    if (series->count < BENCH_ROUNDS_MAX)
    {
        series->values[series->count++] = value;
    }
}

static int by_size(const void* a, const void* b)
{
    double left = *(const double*)a;
    double right = *(const double*)b;
    return (left > right) - (left < right);
}

static bench_series sorted(const bench_series* series)
{
    bench_series copy = *series;
    qsort(copy.values, copy.count, sizeof copy.values[0], by_size);
    return copy;
}

double bench_series_median(const bench_series* series)
{
    if (series->count == 0)
    {
        return 0.0;
    }
    bench_series order = sorted(series);
    double upper = order.values[order.count / 2];
    return order.count % 2 == 1 ? upper : (upper + order.values[order.count / 2 - 1]) / 2.0;
}

double bench_series_least(const bench_series* series)
{
    return series->count == 0 ? 0.0 : sorted(series).values[0];
}

double bench_series_most(const bench_series* series)
{
    return series->count == 0 ? 0.0 : sorted(series).values[series->count - 1];
}
