/* everything_talk.c -- lists of chats and of members, begun, touched and detached as in everything.c. */

#include "support/scene/everything_talk.h"

#include "support/scene/everything.h"

#include <string.h>

static char name_bytes[GH_NAME_SIZE_MAX];

/* A name that is there only during the call of begin. */
static gh_str passing(const char* text)
{
    memcpy(name_bytes, text, strlen(text));
    return gh_str_make(name_bytes, strlen(text));
}

static void must_begin(bool live, const char* what, gh_status got)
{
    memset(name_bytes, EVERYTHING_GONE, sizeof(name_bytes));
    if (got != (live ? GH_OK : GH_INVALID_CLIENT)) fail_msg("%s is %s", what, gh_status_name(got));
}

#define BEGIN(function, ...) (note(#function), must_begin(live, #function, function(__VA_ARGS__)))

void everything_talk_begin(everything_talk* talk, gh_client* client, bool live, void (*note)(const char* function))
{
    BEGIN(gh_chat_list_begin, &talk->list, client, passing("jeff"), talk->items, 4, 0);
    BEGIN(gh_chat_members_begin, &talk->members, client, passing("hall"), talk->who, 4, 0);
}

static void must_be_over(gh_op* op)
{
    assert_false(gh_op_is_busy(op));
    assert_int_not_equal(gh_op_poll(op), GH_PENDING);
    gh_op_cancel(op);
    gh_op_detach(op);
    assert_int_not_equal(gh_op_poll(op), GH_PENDING);
}

void everything_talk_touch(everything_talk* talk)
{
    must_be_over(&talk->list.op);
    must_be_over(&talk->members.op);
}

void everything_talk_detach(everything_talk* talk)
{
    gh_op_detach(&talk->list.op);
    gh_op_detach(&talk->members.op);
    memset(talk, EVERYTHING_GONE, sizeof(*talk));
}
