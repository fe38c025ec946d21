/* game_server.c -- the game server of the samples with 1,000 players at 60 frames a second: what gh_tick
   takes of a frame, as its own summary says. */

#include "harness/bench.h"

#include <stdlib.h>

enum
{
    SUMMARY_SIZE = 1024 * 1024,
    PLAYERS = 1000,
    SECONDS = 20
};

/* Of all servers of the fleet together. */
typedef struct game_figures
{
    size_t servers;
    double frames;
    double late; /* frames, because of gh_tick */
    double wall_us;
    double cpu_us;
} game_figures;

/* The number behind a member, which is looked for between begin and end; -1: there is none. */
static double member_of(const char* begin, const char* end, const char* name)
{
    const char* at = strstr(begin, name);
    return at != NULL && at < end ? strtod(at + strlen(name), NULL) : -1.0;
}

/* The 99.9th percentile of a histogram of one process. */
static double percentile_of(const char* begin, const char* end, const char* histogram)
{
    const char* at = strstr(begin, histogram);
    return at != NULL && at < end ? member_of(at, end, "\"p999\":") : -1.0;
}

static double larger_of(double a, double b)
{
    return a > b ? a : b;
}

static game_figures figures_of(const char* summary)
{
    static const char role[] = "\"role\":\"";
    static const char server[] = "server\"";
    game_figures all = {0, 0.0, 0.0, -1.0, -1.0};
    const char* at = strstr(summary, role);
    while (at != NULL)
    {
        const char* begin = at + sizeof role - 1;
        const char* next = strstr(begin, role);
        const char* end = next != NULL ? next : summary + strlen(summary);
        if (strncmp(begin, server, sizeof server - 1) == 0)
        {
            all.servers++;
            all.frames += member_of(begin, end, "\"frames\":");
            all.late += member_of(begin, end, "\"late_by_tick\":");
            all.wall_us = larger_of(all.wall_us, percentile_of(begin, end, "\"tick_us\":"));
            all.cpu_us = larger_of(all.cpu_us, percentile_of(begin, end, "\"tick_cpu_us\":"));
        }
        at = next;
    }
    return all;
}

static bool read_summary(const char* path, char* out)
{
    FILE* file = fopen(path, "rb");
    size_t size = file != NULL ? fread(out, 1, SUMMARY_SIZE - 1, file) : 0;
    out[size] = 0;
    if (file != NULL)
    {
        fclose(file);
    }
    return size > 0;
}

static void report(bench* self, const game_figures* all)
{
    bench_figure figure = bench_figure_of("p99.9 of gh_tick, its own time", "us", all->cpu_us);
    bench_figure_goal(&figure, BENCH_VALUE_AT_MOST, 1000.0);
    bench_figure_note(&figure,
                      "%d players on %zu servers, %d s; the worse server; without what other programs took "
                      "of the core meanwhile",
                      PLAYERS, all->servers, SECONDS);
    bench_figure_limit(&figure, "by the clock it is %.0f us", all->wall_us);
    bench_report(self, &figure);
    figure = bench_figure_of("p99.9 of gh_tick, by the clock", "us", all->wall_us);
    bench_figure_note(&figure, "the fleet, its players and the store share this machine's cores");
    bench_report(self, &figure);
    figure = bench_figure_of("frames late because of gh_tick", "frames", all->late);
    bench_figure_goal(&figure, BENCH_VALUE_AT_MOST, 0.0);
    bench_figure_note(&figure, "over 16.6 ms; of %.0f frames", all->frames);
    bench_figure_limit(&figure, "by the clock, of which other programs on the same cores take their part");
    bench_report(self, &figure);
}

static void measure(bench* self, char* summary)
{
    char players[16];
    char seconds[16];
    char path[1024];
    char output[4096];
    snprintf(players, sizeof players, "%d", PLAYERS);
    snprintf(seconds, sizeof seconds, "%d", SECONDS);
    snprintf(path, sizeof path, "%s/game_server.json", self->options.out);
    (void)remove(path);
    /* It ends by itself; but one that does not must not keep the bench. */
    const char* words[] = {
        "timeout", "-k",    "10",        "120",   self->options.game, "--redis",    self->options.redis,
        "--bots",  players, "--seconds", seconds, "--quiet",          "--realtime", "--summary",
        path,      NULL};
    char* arguments[sizeof words / sizeof words[0]];
    memcpy(arguments, words, sizeof words);
    bench_progress(self, "a fleet plays for %d s", SECONDS);
    bool holds = bench_program(arguments, output, sizeof output);
    game_figures all = {0};
    if (read_summary(path, summary))
    {
        all = figures_of(summary);
    }
    if (all.servers > 0)
    {
        report(self, &all);
    }
    if (all.servers == 0 || !holds)
    {
        bench_report_gap(self, "the fleet %s; the end of what it said: %s",
                         all.servers == 0 ? "was not measured" : "did not end with all that it checks true",
                         strlen(output) > 200 ? output + strlen(output) - 200 : output);
    }
}

void bench_game_server(bench* self)
{
    if (self->options.quick || self->options.game == NULL)
    {
        bench_report_remark(self, self->options.quick
                                      ? "the game server is not measured in a quick run"
                                      : "the game server was not built: enet, sqlite3 or libmicrohttpd is missing");
        return;
    }
    char* summary = calloc(1, SUMMARY_SIZE);
    if (summary != NULL)
    {
        measure(self, summary);
    }
    free(summary);
}
