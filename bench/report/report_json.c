/* report_json.c -- the figures as bench.json:

       { "project": "guildhall", "quick": false, "machine": { name: value, ... },
         "figures": [ { "bench", "figure", "unit",
                        "guildhall": { "median", "least", "most", "rounds": [...] },
                        "peer_name": null or text,
                        "peer": null or as "guildhall", "peer_missing", "peer_lacks": null or text,
                        "ratio": null or number,
                        "slope": true where the peer is Guildhall at a tenth of the size,
                        "goal": null or { "of": "value" or "ratio", "kind": "at least" or "at most", "value"
   }, "reached": null, true or false, "goal_moot": null or text, "limit": null or why it is not reached,
   "cost": null or text, "note": text }, ... ], "remarks": [ { "bench", "text" }, ... ] } */

#include "report/report.h"

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
    fprintf(file, "{\"median\": %.9g, \"least\": %.9g, \"most\": %.9g, \"rounds\": [", bench_series_median(series),
            bench_series_least(series), bench_series_most(series));
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
        fprintf(file, ", \"goal\": {\"of\": \"%s\", \"kind\": \"%s\", \"value\": %.9g}",
                bench_goal_is_of_ratio(figure) ? "ratio" : "value",
                bench_goal_is_at_least(figure) ? "at least" : "at most", figure->goal);
    }
    fprintf(file, ", \"reached\": %s", verdicts[bench_judge(figure)]);
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
    if (bench_has_ratio(figure))
    {
        fprintf(file, ", \"ratio\": %.9g", bench_ratio(figure));
    }
    else
    {
        fputs(", \"ratio\": null", file);
    }
    fprintf(file, ", \"slope\": %s", figure->slope ? "true" : "false");
    write_goal(file, figure);
    write_text_or_null(file, "peer_lacks", figure->lacks);
    write_text_or_null(file, "limit", bench_judge(figure) == BENCH_NOT_REACHED ? figure->limit : "");
    write_text_or_null(file, "cost", figure->cost);
    fputs(", \"note\": ", file);
    write_text(file, figure->note);
    fputc('}', file);
}

static void write_head(const bench* self, FILE* file)
{
    fprintf(file, "{\n  \"project\": \"guildhall\",\n  \"quick\": %s,\n  \"machine\": {",
            self->options.quick ? "true" : "false");
    for (size_t i = 0; i < self->fact_count; i++)
    {
        fputs(i == 0 ? "" : ", ", file);
        write_text(file, self->facts[i].name);
        fputs(": ", file);
        write_text(file, self->facts[i].value);
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
