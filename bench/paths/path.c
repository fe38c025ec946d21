/* path.c -- runs one of the hottest paths so many times, and nothing else. */

#include "paths/path.h"
#include "paths/path_local.h"
#include "paths/path_nodes.h"
#include "paths/path_wire.h"

#include <stdlib.h>

typedef struct bench_path
{
    const char* name;
    const char* unit; /* what is counted                         */
    bool (*run)(bench_tape* tape, uint64_t count);
    uint64_t counts[2]; /* the difference of two runs is the cost  */
    bool talks;         /* needs a tape                            */
} bench_path;

static const bench_path paths[] = {
    {"lock_cycle", "cycle", bench_path_lock, {640, 1280}, true},
    {"task", "task", bench_path_task, {1000, 2000}, true},
    {"chat_send", "message", bench_path_send, {1280, 2560}, true},
    {"chat_fetch", "message", bench_path_fetch, {1280, 2560}, true},
    {"guild_complete", "search", bench_path_guild, {320, 640}, true},
    {"counter_add", "add", bench_path_counter, {20000, 40000}, true},
    {"contact_complete", "key-stroke", bench_path_contact, {2000, 4000}, true},
    {"geo_find", "look-up", bench_path_geo, {20000, 40000}, false},
    {"aggregate_line", "line", bench_path_aggregate, {10000, 20000}, false},
    {"idle_tick", "tick", bench_path_idle, {5000, 10000}, true},
    {"idle_3_nodes", "tick", bench_path_nodes_3, {5000, 10000}, false},
    {"idle_100_nodes", "tick", bench_path_nodes_100, {5000, 10000}, false},
    {"idle_1_of_100", "tick", bench_path_nodes_one, {5000, 10000}, false},
    {"command_1_node", "command", bench_path_commands_1, {6400, 12800}, false},
    {"command_3_nodes", "command", bench_path_commands_3, {6400, 12800}, false},
};

enum
{
    PATH_COUNT = sizeof paths / sizeof paths[0]
};

int bench_path_run(const char* name, const char* count, const char* tape, const char* redis)
{
    for (size_t i = 0; i < PATH_COUNT; i++)
    {
        if (name == NULL)
        {
            printf("%s %s %llu %llu %s\n", paths[i].name, paths[i].unit, (unsigned long long)paths[i].counts[0],
                   (unsigned long long)paths[i].counts[1], paths[i].talks ? "tape" : "-");
        }
        else if (strcmp(paths[i].name, name) == 0)
        {
            bench_tape* opened = paths[i].talks ? bench_tape_open(redis, tape) : NULL;
            if ((paths[i].talks && opened == NULL) || count == NULL)
            {
                return 2;
            }
            bool good = paths[i].run(opened, strtoull(count, NULL, 10));
            good = (opened == NULL || bench_tape_close(opened)) && good;
            return good ? 0 : 1;
        }
    }
    if (name != NULL)
    {
        fprintf(stderr, "no path is called %s\n", name);
    }
    return name == NULL ? 0 : 2;
}
