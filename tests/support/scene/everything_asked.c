/* everything_asked.c -- a command of words, begun, touched and detached. */

#include "support/scene/everything_asked.h"

#include <string.h>

#define CALL(function) (everything_note(#function), function)

void everything_asked_begin(everything_asked* all, gh_client* client, gh_status expected)
{
    char name[] = "jeff";
    assert_status(CALL(gh_command_format)(&all->line, client, NULL, "GET player:%s", name), expected);
    memset(name, EVERYTHING_GONE, sizeof(name));
}

static void touch(gh_op* op)
{
    assert_false(gh_op_is_busy(op));
    assert_int_not_equal(gh_op_poll(op), GH_PENDING);
    gh_op_cancel(op);
    gh_op_detach(op);
    assert_int_not_equal(gh_op_poll(op), GH_PENDING);
}

void everything_asked_touch(everything_asked* all)
{
    touch(&all->line.op);
}

void everything_asked_detach(everything_asked* all)
{
    gh_op_detach(&all->line.op);
    memset(all, EVERYTHING_GONE, sizeof(*all));
}
