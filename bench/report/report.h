/* report.h -- what the report has collected, for those who write it out. */

#ifndef GUILDHALL_BENCH_REPORT_H
#define GUILDHALL_BENCH_REPORT_H

#include "harness/bench.h"

enum
{
    BENCH_FIGURES_MAX = 240,
    BENCH_REMARKS_MAX = 48,
    BENCH_HISTOGRAMS_MAX = 8
};

typedef struct bench_remark
{
    char bench[32];
    char text[BENCH_TEXT_MAX];
    bool gap;  /* it should have been measured */
} bench_remark;

struct bench_report
{
    bench_figure figures[BENCH_FIGURES_MAX];
    size_t figure_count;
    bench_remark remarks[BENCH_REMARKS_MAX];
    size_t remark_count;
    bench_histogram histograms[BENCH_HISTOGRAMS_MAX];
    size_t histogram_count;
    size_t dropped; /* rows that found no place here */
};

typedef enum bench_verdict
{
    BENCH_NO_VERDICT,
    BENCH_REACHED,
    BENCH_NOT_REACHED
} bench_verdict;

bench_verdict bench_judge(const bench_figure* figure);
bool bench_goal_is_of_ratio(const bench_figure* figure);
bool bench_goal_is_at_least(const bench_figure* figure);
bool bench_has_ratio(const bench_figure* figure);
double bench_ratio(const bench_figure* figure);

/* "yes", "NO", "moot", "unknown" or nothing: what the table says of the goal. */
const char* bench_verdict_word(const bench_figure* figure);

/* Text of a cell. */
typedef struct bench_cell
{
    char text[96];
} bench_cell;

bench_cell bench_cell_number(double value); /* 1,234,567 and 123 and 12.3 and 1.23 and 0.012 */
bench_cell bench_cell_series(const bench_series* series);
bench_cell bench_cell_peer(const bench_figure* figure);
bench_cell bench_cell_goal(const bench_figure* figure);
bench_cell bench_cell_ratio(const bench_figure* figure);

#endif
