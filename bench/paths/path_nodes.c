/* path_nodes.c -- ticks in which nothing happens, at clients of Clusters. */

#include "paths/path_nodes.h"

#include "harness/made_nodes.h"

enum
{
    STEP_US = 1000,
    REST_TICKS = 1000
};

static bool idle(uint32_t nodes, bool all, uint64_t count)
{
    bench_made* made = bench_made_open(nodes);
    bool good = made != NULL && (!all || bench_made_reach(made));
    for (int i = 0; i < REST_TICKS && good; i++)
    {
        gh_tick(bench_made_client(made), bench_made_later(made, STEP_US), 0);
    }
    for (uint64_t i = 0; i < count && good; i++)
    {
        gh_tick(bench_made_client(made), bench_made_later(made, 0), 500);
    }
    bench_made_close(made);
    return good;
}

bool bench_path_nodes_3(bench_tape* tape, uint64_t count)
{
    (void)tape;
    return idle(3, true, count);
}

bool bench_path_nodes_100(bench_tape* tape, uint64_t count)
{
    (void)tape;
    return idle(100, true, count);
}

bool bench_path_nodes_one(bench_tape* tape, uint64_t count)
{
    (void)tape;
    return idle(100, false, count);
}
