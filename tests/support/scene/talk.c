/* talk.c -- chats and mailboxes begun, awaited and judged. */

#include "support/scene/talk.h"

#include <stdio.h>
#include <string.h>

#define BUFFER_SIZE (64 * 1024)

gh_post* talk_numbers(game* owner, const char* sender, size_t count, unsigned first)
{
    gh_post* posts = GAME_NEW_ARRAY(owner, gh_post, count);
    for (size_t i = 0; i < count; i++)
    {
        char* text = GAME_NEW_ARRAY(owner, char, 16);
        snprintf(text, 16, "%u", first + (unsigned)i);
        posts[i].sender = gh_str_of(sender);
        posts[i].body = gh_str_of(text);
    }
    return posts;
}

bool talk_are_numbers(const gh_message* messages, size_t count, unsigned first, uint64_t first_id)
{
    for (size_t i = 0; i < count; i++)
    {
        char text[16];
        snprintf(text, sizeof(text), "%u", first + (unsigned)i);
        if (messages[i].id != first_id + i || !gh_str_equal(messages[i].body, gh_str_of(text)) ||
            messages[i].time_us < UINT64_C(1500000000000000))
        {
            fprintf(stderr, "message %zu has id %llu and says %.*s\n", i, (unsigned long long)messages[i].id,
                    (int)messages[i].body.size, messages[i].body.bytes);
            return false;
        }
    }
    return true;
}

gh_str* talk_names(game* owner, const char* line, size_t* count)
{
    gh_str* names = GAME_NEW_ARRAY(owner, gh_str, strlen(line) / 2 + 1);
    char* text = GAME_NEW_ARRAY(owner, char, strlen(line) + 1);
    strcpy(text, line);
    *count = 0;
    for (char* word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) names[(*count)++] = gh_str_of(word);
    return names;
}

static gh_status settle_change(const gh_chat_change* change)
{
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    return gh_op_poll(&change->op);
}

gh_status chat_make(game* from, const char* chat, const char* members, uint32_t keep, uint32_t members_max)
{
    gh_chat_change* change = GAME_NEW(from, gh_chat_change);
    gh_chat_config config = gh_chat_config_default();
    size_t count;
    gh_str* names = talk_names(from, members, &count);
    config.timeout_us = 60 * SECOND_US;
    config.keep = keep;
    config.members_max = members_max;
    assert_status(
        gh_chat_create_begin(change, ON_CHAT_WITH(from->client, gh_str_of(chat), &config), names, count, NULL), GH_OK);
    return settle_change(change);
}

gh_status chat_enter(game* from, const char* chat, const char* player, gh_chat_from from_where)
{
    gh_chat_change* change = GAME_NEW(from, gh_chat_change);
    assert_status(gh_chat_join_begin(change, ON_CHAT(from->client, gh_str_of(chat)), gh_str_of(player), from_where),
                  GH_OK);
    return settle_change(change);
}

gh_status chat_quit(game* from, const char* chat, const char* player)
{
    gh_chat_change* change = GAME_NEW(from, gh_chat_change);
    assert_status(gh_chat_leave_begin(change, ON_CHAT(from->client, gh_str_of(chat)), gh_str_of(player)), GH_OK);
    return settle_change(change);
}

gh_status chat_say(game* from, const char* chat, gh_post* posts, size_t count)
{
    gh_chat_send* send = GAME_NEW(from, gh_chat_send);
    assert_status(gh_chat_send_begin(send, ON_CHAT(from->client, gh_str_of(chat)), posts, count), GH_OK);
    GAME_UNTIL(gh_op_poll(&send->op) != GH_PENDING);
    return gh_op_poll(&send->op);
}

gh_status mailbox_push_one(game* from, const char* mailbox)
{
    gh_mailbox_push* push = GAME_NEW(from, gh_mailbox_push);
    gh_post* posts = talk_numbers(from, "joe", 1, 0);
    assert_status(gh_mailbox_push_begin(push, ON_MAILBOX(from->client, gh_str_of(mailbox)), posts, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&push->op) != GH_PENDING);
    return gh_op_poll(&push->op);
}

void chat_say_numbers(game* from, const char* chat, const char* sender, size_t count, unsigned first)
{
    for (size_t done = 0; done < count; done += GH_MESSAGES_MAX)
    {
        size_t part = count - done < GH_MESSAGES_MAX ? count - done : GH_MESSAGES_MAX;
        gh_post* posts = talk_numbers(from, sender, part, first + (unsigned)done);
        assert_status(chat_say(from, chat, posts, part), GH_OK);
    }
}

chat_reader* chat_reader_new(game* from, const char* chat, const char* members)
{
    chat_reader* self = GAME_NEW(from, chat_reader);
    gh_str* names = talk_names(from, members, &self->count);
    self->from = from;
    self->chat = gh_str_of(chat);
    self->members = GAME_NEW_ARRAY(from, gh_chat_member, self->count);
    for (size_t i = 0; i < self->count; i++) self->members[i].name = names[i];
    self->buffer = GAME_NEW_ARRAY(from, char, BUFFER_SIZE);
    self->config = gh_chat_fetch_config_default();
    self->config.buffer = self->buffer;
    self->config.buffer_size = BUFFER_SIZE;
    return self;
}

void chat_read_begin(chat_reader* self)
{
    assert_status(gh_chat_fetch_begin(&self->fetch, ON_CHAT(self->from->client, self->chat), self->members, self->count,
                                      &self->config),
                  GH_OK);
}

gh_status chat_read_settle(chat_reader* self)
{
    GAME_UNTIL(gh_op_poll(&self->fetch.op) != GH_PENDING);
    return gh_op_poll(&self->fetch.op);
}

gh_status chat_read(chat_reader* self)
{
    chat_read_begin(self);
    return chat_read_settle(self);
}

void chat_handle_all(chat_reader* self)
{
    assert_true(self->fetch.count > 0);
    for (size_t i = 0; i < self->count; i++) self->members[i].handled = self->fetch.messages[self->fetch.count - 1].id;
}
