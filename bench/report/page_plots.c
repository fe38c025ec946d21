/* page_plots.c -- the drawings of the page, as SVG. Colours come from the page's style, so that they follow
   its light or dark side. */

#include "report/page_plots.h"

#include <math.h>

enum
{
    WIDTH = 860,
    LABEL = 330,
    BAR = 400,
    ROW = 22,
    PAIR = 44,
    PLOT_HEIGHT = 180
};

void bench_page_text(FILE* file, const char* text)
{
    for (; *text != 0; text++)
    {
        switch (*text)
        {
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        case '&': fputs("&amp;", file); break;
        case '"': fputs("&quot;", file); break;
        default: fputc(*text, file); break;
        }
    }
}

static void text_at(FILE* file, double x, double y, const char* kind, const char* text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, kind);
    bench_page_text(file, text);
    fputs("</text>\n", file);
}

static void open_plot(FILE* file, int height, const char* title)
{
    fprintf(file, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, height);
    bench_page_text(file, title);
    fputs("\">\n", file);
}

/* --- goals ---------------------------------------------------------------------------------------------- */

/* How good it is: 1 just reaches the goal. */
static double score(const bench_figure* figure)
{
    double value = bench_goal_is_of_ratio(figure) ? bench_ratio(figure) : bench_series_median(&figure->ours);
    bool at_least = bench_goal_is_at_least(figure);
    if (at_least ? figure->goal <= 0.0 : value <= 0.0)
    {
        return 100.0; /* nothing where at most something was allowed */
    }
    return at_least ? value / figure->goal : figure->goal / value;
}

static double place(double value)
{
    double least = -1.0; /* a tenth of the goal */
    double most = 2.0;
    double power = log10(value > 1e-9 ? value : 1e-9);
    power = power < least ? least : power > most ? most : power;
    return LABEL + (power - least) / (most - least) * BAR;
}

static void goal_bar(FILE* file, const bench_figure* figure, int y)
{
    char name[128];
    char says[64];
    double value = score(figure);
    bool reached = bench_judge(figure) == BENCH_REACHED;
    double from = place(1.0);
    double to = place(value);
    snprintf(name, sizeof name, "%s: %s", figure->bench, figure->figure);
    snprintf(says, sizeof says, "%s%.3g x", value >= 100.0 ? "over " : "", value > 100.0 ? 100.0 : value);
    text_at(file, LABEL - 8, y + 14, "end", name);
    fprintf(file, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"14\" class=\"%s\"/>\n", from < to ? from : to,
            y + 3, fabs(to - from) + 1.0, reached ? "good" : "bad");
    text_at(file, LABEL + BAR + 8, y + 14, "begin", says);
}

void bench_page_goals(FILE* file, const struct bench_report* report)
{
    static const double marks[] = {0.1, 1.0, 10.0, 100.0};
    int rows = 0;
    for (size_t i = 0; i < report->figure_count; i++)
    {
        rows += bench_judge(&report->figures[i]) != BENCH_NO_VERDICT ? 1 : 0;
    }
    int height = rows * ROW + 30;
    open_plot(file, height, "how far each goal is reached");
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
    {
        char says[32];
        snprintf(says, sizeof says, marks[i] == 1.0 ? "the goal" : "%g x", marks[i]);
        fprintf(file, "<line x1=\"%.1f\" y1=\"20\" x2=\"%.1f\" y2=\"%d\" class=\"%s\"/>\n", place(marks[i]),
                place(marks[i]), height, marks[i] == 1.0 ? "goal" : "grid");
        text_at(file, place(marks[i]), 14, "middle", says);
    }
    int y = 24;
    for (size_t i = 0; i < report->figure_count; i++)
    {
        if (bench_judge(&report->figures[i]) != BENCH_NO_VERDICT && report->figures[i].ours.count > 0)
        {
            goal_bar(file, &report->figures[i], y);
            y += ROW;
        }
    }
    fputs("</svg>\n", file);
}

/* --- pairs ---------------------------------------------------------------------------------------------- */

static void series_bar(FILE* file, const bench_series* series, double most, int y, const char* kind)
{
    double scale = BAR / most;
    double median = bench_series_median(series) * scale;
    double least = bench_series_least(series) * scale;
    double greatest = bench_series_most(series) * scale;
    fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"13\" class=\"%s\"/>\n", LABEL, y,
            median > 1.0 ? median : 1.0, kind);
    if (series->count > 1)
    {
        fprintf(file, "<path d=\"M%.1f %d h%.1f m0 -4 v8 M%.1f %d v8\" class=\"spread\"/>\n", LABEL + least, y + 7,
                greatest - least, LABEL + least, y + 3);
    }
    text_at(file, LABEL + BAR + 8, y + 11, "begin", bench_cell_series(series).text);
}

static void pair(FILE* file, const bench_figure* figure, int y)
{
    char name[128];
    double most = bench_series_most(&figure->ours);
    double other = bench_series_most(&figure->peer);
    most = other > most ? other : most;
    snprintf(name, sizeof name, "%s, %s", figure->figure, figure->unit);
    text_at(file, LABEL - 8, y + 13, "end", name);
    series_bar(file, &figure->ours, most, y + 2, "ours");
    text_at(file, LABEL - 8, y + 29, "end faint", figure->peer_name);
    series_bar(file, &figure->peer, most, y + 18, figure->slope ? "small" : "peer");
}

static bool is_pair(const bench_figure* figure, const char* name)
{
    return strcmp(figure->bench, name) == 0 && bench_has_ratio(figure);
}

void bench_page_pairs(FILE* file, const struct bench_report* report, const char* name)
{
    int rows = 0;
    for (size_t i = 0; i < report->figure_count; i++)
    {
        rows += is_pair(&report->figures[i], name) ? 1 : 0;
    }
    if (rows == 0)
    {
        return;
    }
    open_plot(file, rows * PAIR, "Guildhall beside its peers");
    int y = 0;
    for (size_t i = 0; i < report->figure_count; i++)
    {
        if (is_pair(&report->figures[i], name))
        {
            pair(file, &report->figures[i], y);
            y += PAIR;
        }
    }
    fputs("</svg>\n", file);
}

/* --- histograms ----------------------------------------------------------------------------------------- */

static void histogram_bars(FILE* file, const bench_histogram* histogram, double most)
{
    double wide = (double)(WIDTH - 80) / BENCH_BARS;
    for (size_t i = 0; i < BENCH_BARS; i++)
    {
        char says[32];
        double x = 40.0 + (double)i * wide;
        double count = (double)histogram->counts[i];
        double height = count > 0.0 ? log10(count + 1.0) / most * PLOT_HEIGHT : 0.0;
        fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"ours\"/>\n", x + 2.0,
                20.0 + PLOT_HEIGHT - height, wide - 4.0, height);
        if (count > 0.0)
        {
            snprintf(says, sizeof says, "%.0f", count);
            text_at(file, x + wide / 2.0, 14.0 + PLOT_HEIGHT - height, "middle tiny", says);
        }
        bool last = i + 1 == BENCH_BARS;
        snprintf(says, sizeof says, "%s %.0f", last ? "over" : "<", ldexp(1.0, (int)i - (last ? 1 : 0)));
        text_at(file, x + wide / 2.0, PLOT_HEIGHT + 36, "middle tiny", says);
    }
}

void bench_page_histogram(FILE* file, const bench_histogram* histogram)
{
    double most = 1.0;
    for (size_t i = 0; i < BENCH_BARS; i++)
    {
        double high = log10((double)histogram->counts[i] + 1.0);
        most = high > most ? high : most;
    }
    fputs("<figure><figcaption>", file);
    bench_page_text(file, histogram->name);
    fputs(": how many took less than so many microseconds, and more than the bar before; "
          "logarithmic</figcaption>",
          file);
    open_plot(file, PLOT_HEIGHT + 44, histogram->name);
    histogram_bars(file, histogram, most);
    if (histogram->mark_us > 0.0)
    {
        double x = 40.0 + (log2(histogram->mark_us) + 1.0) * (WIDTH - 80) / BENCH_BARS;
        fprintf(file, "<line x1=\"%.1f\" y1=\"16\" x2=\"%.1f\" y2=\"%d\" class=\"goal\"/>\n", x, x, PLOT_HEIGHT + 20);
        text_at(file, x + 4.0, 26, "begin tiny", "budget");
    }
    fputs("</svg></figure>\n", file);
}
