/* report.c -- the table on the terminal, and the same figures as bench.json.

   bench.json:
       { "project": "guildhall", "quick": false, "machine": { name: value, ... },
         "figures": [ { "bench", "figure", "unit",
                        "guildhall": { "median", "least", "most", "rounds": [...] },
                        "peer_name": null or text,
                        "peer": null or as "guildhall", "peer_missing": null or text,
                        "ratio": null or number,
                        "goal": null or { "of": "value" or "ratio", "kind": "at least" or "at most", "value"
   }, "reached": null, true or false, "goal_moot": null or text, "note": text }, ... ], "remarks": [ {
   "bench", "text" }, ... ] } */

#include "bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

enum
{
    FIGURES_MAX = 160,
    REMARKS_MAX = 32
};

typedef struct remark
{
    char bench[32];
    char text[BENCH_TEXT_MAX];
} remark;

struct bench_report
{
    bench_figure figures[FIGURES_MAX];
    size_t figure_count;
    remark remarks[REMARKS_MAX];
    size_t remark_count;
};

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

void bench_figure_peer(bench_figure* figure, const bench_side* side,
                       double (*value)(const bench_sample* sample))
{
    snprintf(figure->peer_name, sizeof figure->peer_name, "%s", side->name);
    figure->peer = bench_side_series(side, value);
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

void bench_report(bench* self, const bench_figure* figure)
{
    struct bench_report* report = self->report;
    if (report->figure_count < FIGURES_MAX)
    {
        bench_figure* copy = &report->figures[report->figure_count++];
        *copy = *figure;
        snprintf(copy->bench, sizeof copy->bench, "%s", self->name);
    }
}

void bench_report_remark(bench* self, const char* format, ...)
{
    struct bench_report* report = self->report;
    if (report->remark_count < REMARKS_MAX)
    {
        remark* line = &report->remarks[report->remark_count++];
        va_list arguments;
        va_start(arguments, format);
        snprintf(line->bench, sizeof line->bench, "%s", self->name);
        vsnprintf(line->text, sizeof line->text, format, arguments);
        va_end(arguments);
    }
}

/* --- judging them --------------------------------------------------------------------------------------- */

static bool has_ratio(const bench_figure* figure)
{
    return figure->ours.count > 0 && figure->peer.count > 0 && bench_series_median(&figure->peer) != 0.0;
}

static double ratio_of(const bench_figure* figure)
{
    return bench_series_median(&figure->ours) / bench_series_median(&figure->peer);
}

typedef enum verdict
{
    NO_VERDICT,
    REACHED,
    NOT_REACHED
} verdict;

static bool goal_is_of_ratio(const bench_figure* figure)
{
    return figure->goal_kind == BENCH_RATIO_AT_LEAST || figure->goal_kind == BENCH_RATIO_AT_MOST;
}

static verdict judge(const bench_figure* figure)
{
    if (figure->goal_kind == BENCH_NO_GOAL || figure->goal_moot[0] != 0)
    {
        return NO_VERDICT;
    }
    if (figure->ours.count == 0)
    {
        return NOT_REACHED; /* we could not even do the work */
    }
    if (goal_is_of_ratio(figure) && !has_ratio(figure))
    {
        return NO_VERDICT;
    }
    double value = goal_is_of_ratio(figure) ? ratio_of(figure) : bench_series_median(&figure->ours);
    bool at_least = figure->goal_kind == BENCH_VALUE_AT_LEAST || figure->goal_kind == BENCH_RATIO_AT_LEAST;
    return (at_least ? value >= figure->goal : value <= figure->goal) ? REACHED : NOT_REACHED;
}

/* --- the table ------------------------------------------------------------------------------------------ */

typedef struct cell
{
    char text[96];
} cell;

/* 1,234,567 and 123 and 12.3 and 1.23 and 0.0123: three digits that mean something, or all of a large number.
 */
static cell number(double value)
{
    cell made;
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

static cell with_spread(const bench_series* series)
{
    cell made = number(bench_series_median(series));
    double median = bench_series_median(series);
    if (series->count > 1 && median > 0.0)
    {
        double half = (bench_series_most(series) - bench_series_least(series)) / 2.0 / median * 100.0;
        size_t used = strlen(made.text);
        snprintf(made.text + used, sizeof made.text - used, " +-%.*f%%", half < 9.5 ? 1 : 0, half);
    }
    return made;
}

static cell peer_cell(const bench_figure* figure)
{
    cell made = {""};
    if (figure->peer.count > 0)
    {
        cell value = with_spread(&figure->peer);
        snprintf(made.text, sizeof made.text, "%.40s %s", value.text, figure->peer_name);
    }
    else if (figure->peer_name[0] != 0)
    {
        snprintf(made.text, sizeof made.text, "- %s", figure->peer_name);
    }
    return made;
}

static cell goal_cell(const bench_figure* figure)
{
    cell made = {""};
    if (figure->goal_kind != BENCH_NO_GOAL)
    {
        bool at_least =
            figure->goal_kind == BENCH_VALUE_AT_LEAST || figure->goal_kind == BENCH_RATIO_AT_LEAST;
        cell value = number(figure->goal);
        snprintf(made.text, sizeof made.text, "%s %.40s%s", at_least ? ">=" : "<=", value.text,
                 goal_is_of_ratio(figure) ? " x" : "");
    }
    return made;
}

static cell ratio_cell(const bench_figure* figure)
{
    cell made = {""};
    if (has_ratio(figure))
    {
        cell value = number(ratio_of(figure));
        snprintf(made.text, sizeof made.text, "%.40s x", value.text);
    }
    return made;
}

static void print_row(const bench_figure* figure, FILE* file)
{
    static const char* const words[] = {"", "yes", "NO"};
    bool unknown = figure->goal_kind != BENCH_NO_GOAL && judge(figure) == NO_VERDICT;
    char name[96];
    snprintf(name, sizeof name, "%s%s%s", figure->figure, figure->unit[0] == 0 ? "" : ", ", figure->unit);
    const char* word = figure->goal_moot[0] != 0 ? "moot" : unknown ? "unknown" : words[judge(figure)];
    fprintf(file, "  %-38s %15s  %-30s %8s %9s  %s\n", name,
            figure->ours.count == 0 ? "-" : with_spread(&figure->ours).text, peer_cell(figure).text,
            ratio_cell(figure).text, goal_cell(figure).text, word);
    if (figure->note[0] != 0)
    {
        fprintf(file, "      %s\n", figure->note);
    }
    if (figure->peer_missing[0] != 0)
    {
        fprintf(file, "      %s was not measured: %s\n", figure->peer_name, figure->peer_missing);
    }
    if (figure->goal_moot[0] != 0)
    {
        fprintf(file, "      the goal does not apply: %s\n", figure->goal_moot);
    }
}

static void print_facts(const bench* self, FILE* file)
{
    bench_fact facts[BENCH_FACTS];
    bench_facts(self, facts);
    for (size_t i = 0; i < BENCH_FACTS; i++)
    {
        fprintf(file, "%s%s %s", i == 0 ? "" : "; ", facts[i].name, facts[i].value);
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
            fprintf(file, "\n%-40s %15s  %-30s %8s %9s  %s\n", last, "Guildhall", "peer", "ratio", "goal",
                    "reached");
        }
        print_row(figure, file);
    }
    for (size_t i = 0; i < report->remark_count; i++)
    {
        fprintf(file, "%s%s: %s\n", i == 0 ? "\n" : "", report->remarks[i].bench, report->remarks[i].text);
    }
}

/* --- bench.json ----------------------------------------------------------------------------------------- */

static void write_text(FILE* file, const char* text)
{
    fputc('"', file);
    for (; *text != 0; text++)
    {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
        {
            fprintf(file, "\\%c", byte);
        }
        else if (byte < 0x20)
        {
            fprintf(file, "\\u%04x", byte);
        }
        else
        {
            fputc(byte, file);
        }
    }
    fputc('"', file);
}

static void write_text_or_null(FILE* file, const char* name, const char* text)
{
    fprintf(file, ", \"%s\": ", name);
    if (text[0] == 0)
    {
        fputs("null", file);
    }
    else
    {
        write_text(file, text);
    }
}

static void write_series(FILE* file, const char* name, const bench_series* series)
{
    fprintf(file, ", \"%s\": ", name);
    if (series->count == 0)
    {
        fputs("null", file);
        return;
    }
    fprintf(file, "{\"median\": %.9g, \"least\": %.9g, \"most\": %.9g, \"rounds\": [",
            bench_series_median(series), bench_series_least(series), bench_series_most(series));
    for (size_t i = 0; i < series->count; i++)
    {
        fprintf(file, "%s%.9g", i == 0 ? "" : ", ", series->values[i]);
    }
    fputs("]}", file);
}

static void write_goal(FILE* file, const bench_figure* figure)
{
    static const char* const verdicts[] = {"null", "true", "false"};
    if (figure->goal_kind == BENCH_NO_GOAL)
    {
        fputs(", \"goal\": null", file);
    }
    else
    {
        bool at_least =
            figure->goal_kind == BENCH_VALUE_AT_LEAST || figure->goal_kind == BENCH_RATIO_AT_LEAST;
        fprintf(file, ", \"goal\": {\"of\": \"%s\", \"kind\": \"%s\", \"value\": %.9g}",
                goal_is_of_ratio(figure) ? "ratio" : "value", at_least ? "at least" : "at most",
                figure->goal);
    }
    fprintf(file, ", \"reached\": %s", verdicts[judge(figure)]);
    write_text_or_null(file, "goal_moot", figure->goal_moot);
}

static void write_figure(FILE* file, const bench_figure* figure)
{
    fputs("    {\"bench\": ", file);
    write_text(file, figure->bench);
    fputs(", \"figure\": ", file);
    write_text(file, figure->figure);
    fputs(", \"unit\": ", file);
    write_text(file, figure->unit);
    write_series(file, "guildhall", &figure->ours);
    write_text_or_null(file, "peer_name", figure->peer_name);
    write_series(file, "peer", &figure->peer);
    write_text_or_null(file, "peer_missing", figure->peer_missing);
    if (has_ratio(figure))
    {
        fprintf(file, ", \"ratio\": %.9g", ratio_of(figure));
    }
    else
    {
        fputs(", \"ratio\": null", file);
    }
    write_goal(file, figure);
    fputs(", \"note\": ", file);
    write_text(file, figure->note);
    fputc('}', file);
}

static void write_head(const bench* self, FILE* file)
{
    bench_fact facts[BENCH_FACTS];
    bench_facts(self, facts);
    fprintf(file, "{\n  \"project\": \"guildhall\",\n  \"quick\": %s,\n  \"machine\": {",
            self->options.quick ? "true" : "false");
    for (size_t i = 0; i < BENCH_FACTS; i++)
    {
        fputs(i == 0 ? "" : ", ", file);
        write_text(file, facts[i].name);
        fputs(": ", file);
        write_text(file, facts[i].value);
    }
    fputs("},\n  \"figures\": [\n", file);
}

bool bench_report_write(const bench* self)
{
    const struct bench_report* report = self->report;
    char path[1024];
    snprintf(path, sizeof path, "%s/bench.json", self->options.out);
    FILE* file = fopen(path, "w");
    if (file == NULL)
    {
        fprintf(stderr, "cannot write %s\n", path);
        return false;
    }
    write_head(self, file);
    for (size_t i = 0; i < report->figure_count; i++)
    {
        write_figure(file, &report->figures[i]);
        fputs(i + 1 < report->figure_count ? ",\n" : "\n", file);
    }
    fputs("  ],\n  \"remarks\": [\n", file);
    for (size_t i = 0; i < report->remark_count; i++)
    {
        fputs("    {\"bench\": ", file);
        write_text(file, report->remarks[i].bench);
        fputs(", \"text\": ", file);
        write_text(file, report->remarks[i].text);
        fputs(i + 1 < report->remark_count ? "},\n" : "}\n", file);
    }
    fputs("  ]\n}\n", file);
    return fclose(file) == 0;
}
