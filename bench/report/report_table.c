/* report_table.c -- the table on the terminal. */

#include "report/report.h"

#include <math.h>

/* Three digits that mean something, or all of a large number. */
bench_cell bench_cell_number(double value)
{
    bench_cell made;
    if (value != 0.0 && fabs(value) < 1000.0)
    {
        int digits = fabs(value) >= 100.0 ? 0 : fabs(value) >= 10.0 ? 1 : fabs(value) >= 1.0 ? 2 : 3;
        snprintf(made.text, sizeof made.text, "%.*f", digits, value);
        return made;
    }
    char plain[64];
    size_t length = (size_t)snprintf(plain, sizeof plain, "%.0f", value);
    size_t used = 0;
    for (size_t i = 0; i < length && used + 2 < sizeof made.text; i++)
    {
        if (i > 0 && (length - i) % 3 == 0 && plain[i - 1] != '-')
        {
            made.text[used++] = ',';
        }
        made.text[used++] = plain[i];
    }
    made.text[used] = 0;
    return made;
}

bench_cell bench_cell_series(const bench_series* series)
{
    bench_cell made = bench_cell_number(bench_series_median(series));
    double median = bench_series_median(series);
    if (series->count > 1 && median > 0.0)
    {
        double half = (bench_series_most(series) - bench_series_least(series)) / 2.0 / median * 100.0;
        size_t used = strlen(made.text);
        snprintf(made.text + used, sizeof made.text - used, " +-%.*f%%", half < 9.5 ? 1 : 0, half);
    }
    return made;
}

bench_cell bench_cell_peer(const bench_figure* figure)
{
    bench_cell made = {""};
    if (figure->peer.count > 0)
    {
        bench_cell value = bench_cell_series(&figure->peer);
        snprintf(made.text, sizeof made.text, "%.40s %s", value.text, figure->peer_name);
    }
    else if (figure->peer_name[0] != 0)
    {
        snprintf(made.text, sizeof made.text, "- %s", figure->peer_name);
    }
    return made;
}

bench_cell bench_cell_goal(const bench_figure* figure)
{
    bench_cell made = {""};
    if (figure->goal_kind != BENCH_NO_GOAL)
    {
        bench_cell value = bench_cell_number(figure->goal);
        snprintf(made.text, sizeof made.text, "%s %.40s%s", bench_goal_is_at_least(figure) ? ">=" : "<=", value.text,
                 bench_goal_is_of_ratio(figure) ? " x" : "");
    }
    return made;
}

bench_cell bench_cell_ratio(const bench_figure* figure)
{
    bench_cell made = {""};
    if (bench_has_ratio(figure))
    {
        bench_cell value = bench_cell_number(bench_ratio(figure));
        snprintf(made.text, sizeof made.text, "%.40s x", value.text);
    }
    return made;
}

static void print_row(const bench_figure* figure, FILE* file)
{
    char name[96];
    snprintf(name, sizeof name, "%s%s%s", figure->figure, figure->unit[0] == 0 ? "" : ", ", figure->unit);
    fprintf(file, "  %-42s %18s  %-34s %8s %9s  %s\n", name,
            figure->ours.count == 0 ? "-" : bench_cell_series(&figure->ours).text, bench_cell_peer(figure).text,
            bench_cell_ratio(figure).text, bench_cell_goal(figure).text, bench_verdict_word(figure));
}

static void print_remarks_on(const bench_figure* figure, FILE* file)
{
    if (figure->note[0] != 0)
    {
        fprintf(file, "      %s\n", figure->note);
    }
    if (figure->cost[0] != 0)
    {
        fprintf(file, "      %s\n", figure->cost);
    }
    if (figure->lacks[0] != 0 && figure->peer.count > 0)
    {
        fprintf(file, "      %s lacks: %s\n", figure->peer_name, figure->lacks);
    }
    if (figure->peer_missing[0] != 0)
    {
        fprintf(file, "      %s was not measured: %s\n", figure->peer_name, figure->peer_missing);
    }
    if (figure->goal_moot[0] != 0)
    {
        fprintf(file, "      the goal does not apply: %s\n", figure->goal_moot);
    }
    if (bench_judge(figure) == BENCH_NOT_REACHED && figure->limit[0] != 0)
    {
        fprintf(file, "      not reached: %s\n", figure->limit);
    }
}

static void print_facts(const bench* self, FILE* file)
{
    for (size_t i = 0; i < self->fact_count; i++)
    {
        fprintf(file, "%s%s %s", i == 0 ? "" : "; ", self->facts[i].name, self->facts[i].value);
    }
    fprintf(file, "\n%s", self->options.quick ? "quick: short rounds, so mind the spread\n" : "");
}

void bench_report_print(const bench* self, FILE* file)
{
    const struct bench_report* report = self->report;
    const char* last = "";
    print_facts(self, file);
    fprintf(file, "medians of the rounds, +- half of the distance between the least and the most\n");
    for (size_t i = 0; i < report->figure_count; i++)
    {
        const bench_figure* figure = &report->figures[i];
        if (strcmp(last, figure->bench) != 0)
        {
            last = figure->bench;
            fprintf(file, "\n%-44s %18s  %-34s %8s %9s  %s\n", last, "Guildhall", "peer", "ratio", "goal", "reached");
        }
        print_row(figure, file);
        print_remarks_on(figure, file);
    }
    for (size_t i = 0; i < report->remark_count; i++)
    {
        fprintf(file, "%s%s: %s\n", i == 0 ? "\n" : "", report->remarks[i].bench, report->remarks[i].text);
    }
}
