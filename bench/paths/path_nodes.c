/* path_nodes.c -- ticks in which nothing happens, at clients of Clusters; and what an op costs there beside one server.
 */

#include "paths/path_nodes.h"

#include "harness/made_nodes.h"

enum
{
    STEP_US = 1000,
    REST_TICKS = 1000,
    COMMANDS = 64, /* in a tick */
    TICKS_MAX = 100
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

/* All are begun, and ticked until the last has its answer. */
static bool ask_round(bench_made* made, gh_command* ops, gh_str words[COMMANDS][2])
{
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_SAFE;
    for (int i = 0; i < COMMANDS; i++)
    {
        if (gh_command_begin(&ops[i], bench_made_client(made), words[i], 2, &config) != GH_OK)
        {
            return false;
        }
    }
    for (int ticks = 0; ticks < TICKS_MAX; ticks++)
    {
        int left = 0;
        gh_tick(bench_made_client(made), bench_made_later(made, STEP_US), 0);
        for (int i = 0; i < COMMANDS; i++)
        {
            left += gh_op_poll(&ops[i].op) != GH_OK;
        }
        if (left == 0)
        {
            return true;
        }
    }
    return false;
}

static bool ask(uint32_t nodes, uint64_t count)
{
    static gh_command ops[COMMANDS];
    static char names[COMMANDS][24];
    gh_str words[COMMANDS][2];
    bench_made* made = bench_made_open(nodes);
    bool good = made != NULL && bench_made_reach(made);
    for (int i = 0; i < COMMANDS; i++)
    {
        snprintf(names[i], sizeof names[i], "value:%d", i);
        words[i][0] = gh_str_literal("GET");
        words[i][1] = gh_str_of(names[i]);
    }
    for (uint64_t done = 0; done < count && good; done += COMMANDS)
    {
        good = ask_round(made, ops, words);
    }
    bench_made_close(made);
    return good;
}

bool bench_path_commands_1(bench_tape* tape, uint64_t count)
{
    (void)tape;
    return ask(1, count);
}

bool bench_path_commands_3(bench_tape* tape, uint64_t count)
{
    (void)tape;
    return ask(3, count);
}
