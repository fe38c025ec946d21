/* rate.c -- rows of "so many a second": beside a peer, and at ten times the size. */

#include "harness/bench.h"

static double median_of(const bench_side* side, double (*value)(const bench_sample* sample))
{
    bench_series series = bench_side_series(side, value);
    return bench_series_median(&series);
}

static double cpu_us(const bench_sample* sample)
{
    return sample->cpu_us / sample->cycles;
}

static double server_us(const bench_sample* sample)
{
    return sample->server_us / sample->cycles;
}

static double server_share(const bench_sample* sample)
{
    return sample->server_us / sample->wall_us;
}

static double client_share(const bench_sample* sample)
{
    return sample->cpu_us / sample->wall_us;
}

static double requests(const bench_sample* sample)
{
    return sample->evalsha_calls / sample->cycles;
}

static double heap(const bench_sample* sample)
{
    return sample->heap_calls;
}

void bench_figure_cost(bench_figure* figure, const bench_side* side)
{
    if (side->sample_count == 0)
    {
        return;
    }
    snprintf(figure->cost, sizeof figure->cost,
             "each: client CPU %.3g us (%.0f %% of a core), server CPU %.3g us (%.0f %%), %.3g scripts; heap "
             "calls in a round: %.0f",
             median_of(side, cpu_us), median_of(side, client_share) * 100.0, median_of(side, server_us),
             median_of(side, server_share) * 100.0, median_of(side, requests), median_of(side, heap));
}

/* What stands in the way of more: whichever of the two was busy, and what its CPU time allows. */
void bench_figure_limit_by_cpu(bench_figure* figure, const bench_side* side)
{
    double server = median_of(side, server_us);
    double client = median_of(side, cpu_us);
    bool by_server = server >= client;
    double each = by_server ? server : client;
    double share = median_of(side, by_server ? server_share : client_share) * 100.0;
    char times[48] = "";
    if (each <= 0.0)
    {
        return;
    }
    if (figure->peer.count > 0)
    {
        snprintf(times, sizeof times, ", %.1f x the peer", 1e6 / each / bench_series_median(&figure->peer));
    }
    bench_figure_limit(figure,
                       "each costs the client %.3g us and the server %.3g us of CPU; %s is the narrower side, "
                       "busy for %.0f %% of the time: one core of it gives %.0f/s at most%s",
                       client, server, by_server ? "the server" : "the client", share, 1e6 / each, times);
}

void bench_report_rate(bench* self, const bench_rate* rate)
{
    char unit[16];
    snprintf(unit, sizeof unit, "%s/s", rate->unit);
    bench_figure figure = bench_figure_make(rate->name, unit);
    figure.ours = bench_side_series(rate->ours, bench_cycles_per_s);
    if (rate->peer != NULL)
    {
        bench_figure_peer(&figure, rate->peer, bench_cycles_per_s);
    }
    bench_figure_goal(&figure, rate->goal > 0.0 ? BENCH_RATIO_AT_LEAST : BENCH_NO_GOAL, rate->goal);
    bench_figure_note(&figure, "%s", rate->note);
    bench_figure_cost(&figure, rate->ours);
    bench_figure_limit_by_cpu(&figure, rate->ours);
    bench_report(self, &figure);
}

void bench_report_slope(bench* self, const char* name, const char* unit, const bench_side* large,
                        const bench_side* small)
{
    char per_second[16];
    snprintf(per_second, sizeof per_second, "%s/s", unit);
    bench_figure figure = bench_figure_make(name, per_second);
    figure.ours = bench_side_series(large, bench_cycles_per_s);
    bench_figure_peer(&figure, small, bench_cycles_per_s);
    figure.slope = true;
    bench_figure_cost(&figure, large);
    bench_report(self, &figure);
}
