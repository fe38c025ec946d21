/* talk.h -- chats and mailboxes as the tests use them: an op begun, awaited and judged in one line. */

#ifndef GUILDHALL_TESTS_TALK_H
#define GUILDHALL_TESTS_TALK_H

#include "support/scene/game.h"
#include "support/scene/on.h"
#include "support/server/redis_server.h"

/* Posts of one sender whose bodies are the numbers first, first + 1, ... */
gh_post* talk_numbers(game* owner, const char* sender, size_t count, unsigned first);

/* True if the messages are those numbers, and their ids first_id, first_id + 1, ... */
bool talk_are_numbers(const gh_message* messages, size_t count, unsigned first, uint64_t first_id);

/* Strings of a line, split at its blanks. */
gh_str* talk_names(game* owner, const char* line, size_t* count);

/* Each begins, ticks all games until it is over, and says how it ended. */
gh_status chat_make(game* from, const char* chat, const char* members, uint32_t keep, uint32_t members_max);
gh_status chat_enter(game* from, const char* chat, const char* player, gh_chat_from from_where);
gh_status chat_quit(game* from, const char* chat, const char* player);
gh_status chat_say(game* from, const char* chat, gh_post* posts, size_t count);
gh_status mailbox_push_one(game* from, const char* mailbox);

/* As above; must be taken. */
void chat_say_numbers(game* from, const char* chat, const char* sender, size_t count, unsigned first);

/* Everything that a reader of one chat needs. */
typedef struct chat_reader
{
    gh_chat_fetch fetch;
    gh_chat_fetch_config config;
    gh_chat_member* members;
    size_t count;
    gh_str chat;
    game* from;
    char* buffer;
} chat_reader;

chat_reader* chat_reader_new(game* from, const char* chat, const char* members);
void chat_read_begin(chat_reader* self);
gh_status chat_read_settle(chat_reader* self);
gh_status chat_read(chat_reader* self);

/* All members of the reader are done with all messages of the last fetch. */
void chat_handle_all(chat_reader* self);

#define assert_numbers(messages, count, first, first_id)                                                     \
    assert_true(talk_are_numbers((messages), (count), (first), (first_id)))

#endif
