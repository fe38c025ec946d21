/* page.c -- the figures as one page with plots, bench.html. It needs nothing but itself, and follows the
   reader's choice of light or dark. */

#include "report/page_plots.h"

static const char page_style[] =
    "<style>\n"
    ":root { color-scheme: light dark; --paper: #fff; --ink: #1c1e21; --faint: #6b7076; --line: #d9dce0;\n"
    "  --ours: #2463a6; --peer: #b0b6bd; --small: #7fa8d1; --good: #2f8f5b; --bad: #c4442f; }\n"
    "@media (prefers-color-scheme: dark) { :root { --paper: #16181b; --ink: #e4e6e8; --faint: #979da4;\n"
    "  --line: #33373c; --ours: #6ba4e0; --peer: #5a6068; --small: #3f6690; --good: #55b983;\n"
    "  --bad: #e8705c; } }\n"
    "body { background: var(--paper); color: var(--ink); font: 15px/1.45 system-ui, sans-serif;\n"
    "  max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem;\n"
    "  border-bottom: 1px solid var(--line); }\n"
    ".scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }\n"
    "th { text-align: left; color: var(--faint); font-weight: normal; }\n"
    "th, td { padding: .25rem .6rem .1rem 0; vertical-align: top; }\n"
    "tr.row td:first-child { min-width: 13rem; }\n"
    "td.n { white-space: nowrap; font-variant-numeric: tabular-nums; } tr.row td { border-top: 1px solid\n"
    "  var(--line); } tr.more td { color: var(--faint); font-size: .85rem; padding: 0 0 .3rem; }\n"
    ".yes { color: var(--good); } .NO { color: var(--bad); font-weight: bold; }\n"
    ".faint { color: var(--faint); fill: var(--faint); } figure { margin: 1rem 0; }\n"
    "svg { width: 100%; height: auto; margin: .6rem 0; } svg text { font: 12px system-ui, sans-serif;\n"
    "  fill: var(--ink); } svg text.faint { fill: var(--faint); } svg text.tiny { font-size: 10px; }\n"
    "svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }\n"
    "svg .ours { fill: var(--ours); } svg .peer { fill: var(--peer); } svg .small { fill: var(--small); }\n"
    "svg .good { fill: var(--good); } svg .bad { fill: var(--bad); }\n"
    "svg .grid { stroke: var(--line); } svg .goal { stroke: var(--ink); stroke-dasharray: 4 3; }\n"
    "svg .spread { stroke: var(--ink); fill: none; }\n"
    "</style>\n";

static void head(const bench* self, FILE* file)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<title>Guildhall: the bench</title>\n",
          file);
    fputs(page_style, file);
    fputs("</head><body>\n<h1>Guildhall: the bench</h1>\n<p class=\"faint\">", file);
    for (size_t i = 0; i < self->fact_count; i++)
    {
        fputs(i == 0 ? "" : " &middot; ", file);
        bench_page_text(file, self->facts[i].name);
        fputc(' ', file);
        bench_page_text(file, self->facts[i].value);
    }
    fputs("</p>\n", file);
    if (self->options.quick)
    {
        fputs("<p>A quick run: short rounds, so mind the spread.</p>\n", file);
    }
}

static void overview(const bench* self, FILE* file)
{
    const struct bench_report* report = self->report;
    size_t reached = 0;
    size_t missed = 0;
    for (size_t i = 0; i < report->figure_count; i++)
    {
        bench_verdict verdict = bench_judge(&report->figures[i]);
        reached += verdict == BENCH_REACHED ? 1u : 0u;
        missed += verdict == BENCH_NOT_REACHED ? 1u : 0u;
    }
    fprintf(file,
            "<p>%zu goals reached, %zu not. A ratio is Guildhall by its peer within this run. Figures are "
            "medians of the rounds, &plusmn; half of the distance between the least and the most; the thin "
            "marks in the plots are those two.</p>\n",
            reached, missed);
    bench_page_goals(file, report);
}

static void cell(FILE* file, const char* kind, const char* text)
{
    fprintf(file, "<td class=\"%s\">", kind);
    bench_page_text(file, text);
    fputs("</td>", file);
}

static void more(FILE* file, const char* before, const char* text)
{
    if (text[0] != 0)
    {
        fputs("<tr class=\"more\"><td></td><td colspan=\"5\">", file);
        bench_page_text(file, before);
        bench_page_text(file, text);
        fputs("</td></tr>\n", file);
    }
}

static void row(FILE* file, const bench_figure* figure)
{
    char before[64];
    char name[96];
    const char* word = bench_verdict_word(figure);
    snprintf(name, sizeof name, "%s%s%s", figure->figure, figure->unit[0] != 0 ? ", " : "", figure->unit);
    fputs("<tr class=\"row\">", file);
    cell(file, "", name);
    cell(file, "n", figure->ours.count == 0 ? "-" : bench_cell_series(&figure->ours).text);
    cell(file, "n", bench_cell_peer(figure).text);
    cell(file, "n", bench_cell_ratio(figure).text);
    cell(file, "n", bench_cell_goal(figure).text);
    cell(file, word, word);
    fputs("</tr>\n", file);
    more(file, "", figure->note);
    more(file, "", figure->cost);
    snprintf(before, sizeof before, "%s lacks: ", figure->peer_name);
    more(file, before, figure->peer.count > 0 ? figure->lacks : "");
    snprintf(before, sizeof before, "%s was not measured: ", figure->peer_name);
    more(file, before, figure->peer_missing);
    more(file, "the goal does not apply: ", figure->goal_moot);
    more(file, "not reached: ", bench_judge(figure) == BENCH_NOT_REACHED ? figure->limit : "");
}

static void section(const struct bench_report* report, const char* name, FILE* file)
{
    fputs("<h2>", file);
    bench_page_text(file, name);
    fputs("</h2>\n<div "
          "class=\"scroll\"><table>\n<tr><th>figure</th><th>Guildhall</th><th>peer</th><th>ratio</th>"
          "<th>goal</th><th>reached</th></tr>\n",
          file);
    for (size_t i = 0; i < report->figure_count; i++)
    {
        if (strcmp(report->figures[i].bench, name) == 0)
        {
            row(file, &report->figures[i]);
        }
    }
    fputs("</table></div>\n", file);
    bench_page_pairs(file, report, name);
    for (size_t i = 0; i < report->histogram_count; i++)
    {
        if (strcmp(report->histograms[i].bench, name) == 0)
        {
            bench_page_histogram(file, &report->histograms[i]);
        }
    }
}

static void remarks(const struct bench_report* report, FILE* file)
{
    if (report->remark_count == 0)
    {
        return;
    }
    fputs("<h2>remarks</h2>\n<ul>\n", file);
    for (size_t i = 0; i < report->remark_count; i++)
    {
        fputs("<li>", file);
        bench_page_text(file, report->remarks[i].bench);
        fputs(": ", file);
        bench_page_text(file, report->remarks[i].text);
        fputs("</li>\n", file);
    }
    fputs("</ul>\n", file);
}

bool bench_report_write_page(const bench* self)
{
    const struct bench_report* report = self->report;
    char path[1024];
    const char* last = "";
    snprintf(path, sizeof path, "%s/bench.html", self->options.out);
    FILE* file = fopen(path, "w");
    if (file == NULL)
    {
        fprintf(stderr, "cannot write %s\n", path);
        return false;
    }
    head(self, file);
    overview(self, file);
    for (size_t i = 0; i < report->figure_count; i++)
    {
        if (strcmp(last, report->figures[i].bench) != 0)
        {
            last = report->figures[i].bench;
            section(report, last, file);
        }
    }
    remarks(report, file);
    fputs("</body></html>\n", file);
    return fclose(file) == 0;
}
