/* everything_talk.c -- lists of chats and of members, begun, touched and detached as in everything.c. */

#include "support/scene/everything_talk.h"

#include "support/scene/everything_part.h"

#include <string.h>

#define BEGIN(function, ...) BEGIN_AS(live, function, __VA_ARGS__)

void everything_talk_begin(everything_talk* talk, gh_client* client, const gh_chat* hall, bool live)
{
    BEGIN(gh_chat_list_begin, &talk->list, client, PASSING("jeff"), talk->items, 4, NULL);
    BEGIN(gh_chat_members_begin, &talk->members, hall, talk->who, 4);
}

void everything_talk_touch(everything_talk* talk)
{
    everything_must_be_over(&talk->list.op);
    everything_must_be_over(&talk->members.op);
}

void everything_talk_detach(everything_talk* talk)
{
    gh_op_detach(&talk->list.op);
    gh_op_detach(&talk->members.op);
    memset(talk, EVERYTHING_GONE, sizeof(*talk));
}
