/* matchmaking.c -- whoever looks for a match is pushed into a queue; a match is four of them, the first come first.

       matchmaking unix:/tmp/redis.sock */

#include "guildhall/guildhall.h"

#include <stdio.h>

static _Alignas(16) unsigned char memory[GH_CLIENT_MEMORY_DEFAULT];
static char letters[4 * GH_TASK_BYTES_MAX];

static gh_status end_of(gh_client* client, gh_op* op)
{
    while (gh_op_is_busy(op)) gh_client_tick(client, 500); /* a game would draw a frame meanwhile */
    return gh_op_poll(op);
}

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    gh_client* client = NULL;
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    if (gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client) != GH_OK) return 1;

    const char* names[] = {"jason", "jeff", "jenny", "mia"};
    gh_queue duels, foursomes; /* the same queue, looked at by players and by those who make matches */
    gh_tasks_push enter = GH_ZERO;
    gh_tasks_take pick = GH_ZERO;
    gh_tasks_finish start = GH_ZERO;
    gh_task match[4];
    gh_queue_config four = gh_queue_config_default();
    four.count_min = 4, four.wait_us = 60 * 1000 * 1000; /* nobody is taken before the fourth is there */
    gh_queue_init(&duels, client, gh_str_literal("duels"), NULL);
    gh_queue_init(&foursomes, client, gh_str_literal("duels"), &four);
    gh_tasks_take_begin(&pick, &foursomes, match, 4, letters, sizeof letters);
    for (size_t i = 0; i < 4; i++)
    {
        gh_task_spec player = {.id = gh_str_of(names[i])};
        gh_tasks_push_begin(&enter, &duels, &player, 1);
        printf("%s looks: %s\n", names[i], gh_status_name(end_of(client, &enter.op)));
    }
    if (end_of(client, &pick.op) != GH_OK) return 1;
    for (uint32_t i = 0; i < pick.count; i++)
    {
        printf("plays: %.*s\n", GH_STR_ARG(match[i].id));
        match[i].action = GH_TASK_ACTION_DONE;
    }
    gh_tasks_finish_begin(&start, &duels, match, pick.count);
    gh_status status = end_of(client, &start.op);
    gh_client_shutdown(client);
    return status == GH_OK ? 0 : 1;
}
