/* nodes.c -- what the number of a Cluster's nodes costs a client that has nothing to do with most of them: a tick in
   which nothing happens, and a map that is read. On nodes that are made up in memory, so a look at a stream costs no
   call of the system here: how many looks there are is a figure of its own. */

#include "harness/made_nodes.h"

enum
{
    SERIES = 9,
    TICKS = 20000,
    LOOK_TICKS = 6000,
    FRAME_US = 16667,
    REST_TICKS = 1000,
    MAP_TICKS_MAX = 10000
};

typedef struct crowd
{
    const char* name;
    uint32_t nodes;
    bool all; /* links are there; else one */
    bench_made* made;
    bench_series still; /* ns of a tick */
    double looks;       /* of a tick, a frame after the one before */
} crowd;

static crowd crowds[] = {
    {.name = "1 node", .nodes = 1, .all = true},
    {.name = "3 nodes", .nodes = 3, .all = true},
    {.name = "100 nodes, links to all", .nodes = 100, .all = true},
    {.name = "100 nodes, a link to one", .nodes = 100, .all = false},
};

enum
{
    CROWDS = sizeof crowds / sizeof crowds[0]
};

/* The clock stands still: nothing is due, and no stream is looked at. */
static double still_ns(bench_made* made, int ticks)
{
    uint64_t now_us = bench_made_later(made, 0);
    uint64_t begun_ns = bench_thread_cpu_ns();
    for (int i = 0; i < ticks; i++)
    {
        gh_tick(bench_made_client(made), now_us, 0);
    }
    return (double)(bench_thread_cpu_ns() - begun_ns) / ticks;
}

static double looks_a_tick(bench_made* made)
{
    uint64_t looks = bench_made_looks(made);
    for (int i = 0; i < LOOK_TICKS; i++)
    {
        gh_tick(bench_made_client(made), bench_made_later(made, FRAME_US), 0);
    }
    return (double)(bench_made_looks(made) - looks) / LOOK_TICKS;
}

static bool open_all(void)
{
    bool good = true;
    for (size_t i = 0; i < CROWDS && good; i++)
    {
        crowds[i].made = bench_made_open(crowds[i].nodes);
        good = crowds[i].made != NULL && (!crowds[i].all || bench_made_reach(crowds[i].made));
        for (int t = 0; t < REST_TICKS && good; t++)
        {
            gh_tick(bench_made_client(crowds[i].made), bench_made_later(crowds[i].made, FRAME_US), 0);
        }
    }
    return good;
}

static void report_crowd(bench* self, const crowd* one)
{
    char name[64];
    snprintf(name, sizeof name, "idle tick, %s", one->name);
    bench_figure figure = bench_figure_make(name, "ns/tick");
    figure.ours = one->still;
    if (one != crowds)
    {
        figure.peer = crowds[0].still;
        snprintf(figure.peer_name, sizeof figure.peer_name, "1 node");
        bench_figure_goal(&figure, BENCH_VALUE_AT_MOST, bench_series_median(&crowds[0].still) + 1000.0);
    }
    bench_figure_note(&figure, "nothing due, the clock stands still; a frame later each, %.1f streams are looked at",
                      one->looks);
    bench_report(self, &figure);
}

/* The tick with which a map comes, less one with which none comes. */
static void report_map(bench* self, crowd* one)
{
    bench_figure figure = bench_figure_make("map of 100 nodes, its longest tick", "us");
    double still = bench_series_median(&one->still);
    for (int round = 0; round < SERIES; round++)
    {
        double longest = 0.0;
        gh_client_stats before;
        gh_client_stats after;
        gh_client_get_stats(bench_made_client(one->made), &before);
        after = before;
        for (int i = 0; i < MAP_TICKS_MAX && after.maps_read == before.maps_read; i++)
        {
            double took = still_ns(one->made, 1);
            (void)bench_made_later(one->made, FRAME_US);
            longest = took > longest ? took : longest;
            gh_client_get_stats(bench_made_client(one->made), &after);
        }
        if (after.maps_read > before.maps_read)
        {
            bench_series_add(&figure.ours, (longest - still) / 1e3);
        }
    }
    bench_figure_note(&figure, "%zu bytes at once: read, taken and looked at, with links to all nodes",
                      bench_made_map_bytes(one->made));
    bench_report(self, &figure);
}

void bench_nodes(bench* self)
{
    bool good = open_all();
    for (int i = 0; i < SERIES * CROWDS && good; i++)
    {
        bench_series_add(&crowds[i % CROWDS].still, still_ns(crowds[i % CROWDS].made, TICKS));
    }
    for (size_t i = 0; i < CROWDS && good; i++)
    {
        crowds[i].looks = looks_a_tick(crowds[i].made);
        report_crowd(self, &crowds[i]);
    }
    if (good)
    {
        report_map(self, &crowds[2]);
    }
    else
    {
        bench_report_gap(self, "not measured, see stderr");
    }
    for (size_t i = 0; i < CROWDS; i++)
    {
        bench_made_close(crowds[i].made);
    }
}
