/* report.c -- collects the figures and judges them. */

#include "report/report.h"

#include <stdarg.h>
#include <stdlib.h>

struct bench_report* bench_report_open(void)
{
    return calloc(1, sizeof(struct bench_report));
}

void bench_report_close(struct bench_report* report)
{
    free(report);
}

/* --- making figures ------------------------------------------------------------------------------------- */

bench_figure bench_figure_make(const char* figure, const char* unit)
{
    bench_figure made;
    memset(&made, 0, sizeof made);
    snprintf(made.figure, sizeof made.figure, "%s", figure);
    snprintf(made.unit, sizeof made.unit, "%s", unit);
    return made;
}

bench_figure bench_figure_of(const char* figure, const char* unit, double value)
{
    bench_figure made = bench_figure_make(figure, unit);
    bench_series_add(&made.ours, value);
    return made;
}

void bench_figure_peer(bench_figure* figure, const bench_side* side, double (*value)(const bench_sample* sample))
{
    snprintf(figure->peer_name, sizeof figure->peer_name, "%s", side->name);
    figure->peer = bench_side_series(side, value);
    if (side->lacks != NULL)
    {
        snprintf(figure->lacks, sizeof figure->lacks, "%s", side->lacks);
    }
    if (side->missing != NULL)
    {
        figure->peer.count = 0;
        snprintf(figure->peer_missing, sizeof figure->peer_missing, "%s", side->missing);
    }
}

void bench_figure_goal(bench_figure* figure, bench_goal_kind kind, double goal)
{
    figure->goal_kind = kind;
    figure->goal = goal;
}

void bench_figure_note(bench_figure* figure, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(figure->note, sizeof figure->note, format, arguments);
    va_end(arguments);
}

void bench_figure_limit(bench_figure* figure, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(figure->limit, sizeof figure->limit, format, arguments);
    va_end(arguments);
}

void bench_report(bench* self, const bench_figure* figure)
{
    struct bench_report* report = self->report;
    if (report->figure_count < BENCH_FIGURES_MAX)
    {
        bench_figure* copy = &report->figures[report->figure_count++];
        *copy = *figure;
        snprintf(copy->bench, sizeof copy->bench, "%s", self->name);
        if (copy->limit[0] == '\0')
        {
            bench_figure_limit(copy, "elsewhere it is, so no limit is measured; run it again on a quiet machine");
        }
    }
    else
    {
        report->dropped++;
    }
}

static void remark(bench* self, bool gap, const char* format, va_list arguments)
{
    struct bench_report* report = self->report;
    if (report->remark_count < BENCH_REMARKS_MAX)
    {
        bench_remark* line = &report->remarks[report->remark_count++];
        line->gap = gap;
        snprintf(line->bench, sizeof line->bench, "%s", self->name);
        vsnprintf(line->text, sizeof line->text, format, arguments);
    }
    else
    {
        report->dropped++;
    }
}

void bench_report_remark(bench* self, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark(self, false, format, arguments);
    va_end(arguments);
}

void bench_report_gap(bench* self, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark(self, true, format, arguments);
    va_end(arguments);
}

void bench_histogram_add(bench_histogram* histogram, uint64_t ns)
{
    size_t bar = 0;
    for (uint64_t us = ns / 1000u; us > 0 && bar + 1 < BENCH_BARS; us >>= 1)
    {
        bar++;
    }
    histogram->counts[bar]++;
}

void bench_report_histogram(bench* self, const bench_histogram* histogram)
{
    struct bench_report* report = self->report;
    if (report->histogram_count < BENCH_HISTOGRAMS_MAX)
    {
        bench_histogram* copy = &report->histograms[report->histogram_count++];
        *copy = *histogram;
        snprintf(copy->bench, sizeof copy->bench, "%s", self->name);
    }
}

/* --- is it whole? ----------------------------------------------------------------------------------------- */

/* Ours, or what it is held against while both were there: a peer that was begun and failed is no peer that is away. */
static const char* lacks_side(const bench_figure* figure)
{
    if (figure->ours.count == 0)
    {
        return "Guildhall";
    }
    return strcmp(figure->peer_missing, bench_side_failed) == 0 ? figure->peer_name : NULL;
}

bool bench_report_is_whole(const bench* self, FILE* file)
{
    const struct bench_report* report = self->report;
    size_t lacking = report->dropped;
    for (size_t i = 0; i < report->figure_count; i++)
    {
        const bench_figure* figure = &report->figures[i];
        if (lacks_side(figure) != NULL)
        {
            lacking++;
            fprintf(file, "not measured: %s: %s: %s\n", figure->bench, figure->figure, lacks_side(figure));
        }
    }
    for (size_t i = 0; i < report->remark_count; i++)
    {
        if (report->remarks[i].gap)
        {
            lacking++;
            fprintf(file, "not measured: %s: %s\n", report->remarks[i].bench, report->remarks[i].text);
        }
    }
    if (report->dropped > 0)
    {
        fprintf(file, "not kept: %zu rows, for which the report has no room\n", report->dropped);
    }
    return lacking == 0;
}

/* --- judging them --------------------------------------------------------------------------------------- */

bool bench_has_ratio(const bench_figure* figure)
{
    return figure->ours.count > 0 && figure->peer.count > 0 && bench_series_median(&figure->peer) != 0.0;
}

double bench_ratio(const bench_figure* figure)
{
    return bench_series_median(&figure->ours) / bench_series_median(&figure->peer);
}

bool bench_goal_is_of_ratio(const bench_figure* figure)
{
    return figure->goal_kind == BENCH_RATIO_AT_LEAST || figure->goal_kind == BENCH_RATIO_AT_MOST;
}

bool bench_goal_is_at_least(const bench_figure* figure)
{
    return figure->goal_kind == BENCH_VALUE_AT_LEAST || figure->goal_kind == BENCH_RATIO_AT_LEAST;
}

bench_verdict bench_judge(const bench_figure* figure)
{
    if (figure->goal_kind == BENCH_NO_GOAL || figure->goal_moot[0] != 0)
    {
        return BENCH_NO_VERDICT;
    }
    if (figure->ours.count == 0)
    {
        return BENCH_NOT_REACHED; /* we could not even do the work */
    }
    if (bench_goal_is_of_ratio(figure) && !bench_has_ratio(figure))
    {
        return BENCH_NO_VERDICT;
    }
    double value = bench_goal_is_of_ratio(figure) ? bench_ratio(figure) : bench_series_median(&figure->ours);
    return (bench_goal_is_at_least(figure) ? value >= figure->goal : value <= figure->goal) ? BENCH_REACHED
                                                                                            : BENCH_NOT_REACHED;
}

const char* bench_verdict_word(const bench_figure* figure)
{
    static const char* const words[] = {"", "yes", "NO"};
    bench_verdict verdict = bench_judge(figure);
    bool unknown = figure->goal_kind != BENCH_NO_GOAL && verdict == BENCH_NO_VERDICT;
    return figure->goal_moot[0] != 0 ? "moot" : unknown ? "unknown" : words[verdict];
}
