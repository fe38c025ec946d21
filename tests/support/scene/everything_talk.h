/* everything_talk.h -- the part of everything.h that lists chats and their members. */

#ifndef GUILDHALL_TESTS_EVERYTHING_TALK_H
#define GUILDHALL_TESTS_EVERYTHING_TALK_H

#include "support/scene/game.h"

typedef struct everything_talk
{
    gh_chat_list list;
    gh_chat_item items[4];
    gh_chat_members members;
    gh_chat_member_item who[4];
} everything_talk;

void everything_talk_begin(everything_talk* talk, gh_client* client, const gh_chat* hall, bool live);
void everything_talk_touch(everything_talk* talk);
void everything_talk_detach(everything_talk* talk);

#endif
