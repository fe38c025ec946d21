/* page_plots.h -- the drawings of the page. */

#ifndef GUILDHALL_BENCH_PAGE_PLOTS_H
#define GUILDHALL_BENCH_PAGE_PLOTS_H

#include "report/report.h"

/* Text with what HTML would misread replaced. */
void bench_page_text(FILE* file, const char* text);

/* Each goal as a bar on one scale: how many times the goal was reached, or how far it was missed. */
void bench_page_goals(FILE* file, const struct bench_report* report);

/* Guildhall and its peer, for each figure of one bench that has one: bars of one length scale a pair. */
void bench_page_pairs(FILE* file, const struct bench_report* report, const char* name);

/* How often ticks took how long. */
void bench_page_histogram(FILE* file, const bench_histogram* histogram);

#endif
