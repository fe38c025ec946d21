/* everything_part.c -- passing names, begins and ends of the ops of everything.h. */

#include "support/scene/everything_part.h"

#include <string.h>

static char passing_bytes[2][GH_NAME_SIZE_MAX];
static unsigned passing_next;

gh_str everything_passing(const char* text)
{
    char* bytes = passing_bytes[passing_next++ % 2];
    assert_true(strlen(text) <= GH_NAME_SIZE_MAX);
    memcpy(bytes, text, strlen(text));
    return gh_str_make(bytes, strlen(text));
}

void everything_must_begin(bool live, const char* what, gh_status got)
{
    memset(passing_bytes, EVERYTHING_GONE, sizeof(passing_bytes));
    if (got != (live ? GH_OK : GH_INVALID_CLIENT)) fail_msg("%s is %s", what, gh_status_name(got));
}

void everything_must_be_over(gh_op* op)
{
    assert_false(gh_op_is_busy(op));
    if (gh_op_poll(op) == GH_PENDING) fail_msg("an op that is over is PENDING");
    gh_op_cancel(op);
    gh_op_detach(op);
    if (gh_op_poll(op) == GH_PENDING) fail_msg("an op is PENDING after its end");
}
