/* everything_asked.c -- a command of words, begun, touched and detached. */

#include "support/scene/everything_asked.h"

#include "support/scene/everything_part.h"

#include <string.h>

void everything_asked_begin(everything_asked* all, gh_client* client, bool live)
{
    char name[] = "jeff";
    BEGIN_AS(live, gh_command_format, &all->line, client, NULL, "GET player:%s", name);
    memset(name, EVERYTHING_GONE, sizeof(name));
}

void everything_asked_touch(everything_asked* all)
{
    everything_must_be_over(&all->line.op);
}

void everything_asked_detach(everything_asked* all)
{
    gh_op_detach(&all->line.op);
    memset(all, EVERYTHING_GONE, sizeof(*all));
}
