/* talk.c -- bodies that lead back to who sent them. */

#include "storm/talk.h"
#include "wire/slot.h"

#include <stdio.h>
#include <stdlib.h>

const gh_str talk_mailboxes[TALK_NAMES] = {GH_STR_INIT("anna"), GH_STR_INIT("bert"), GH_STR_INIT("carl")};
const gh_str talk_chats[TALK_NAMES] = {GH_STR_INIT("raid"), GH_STR_INIT("trade"), GH_STR_INIT("party")};

unsigned talk_slot(uint8_t system, uint8_t name)
{
    const bool is_chat = system == STORM_chat;
    const gh_str of = is_chat ? talk_chats[name] : talk_mailboxes[name];
    char key[64];
    int size = snprintf(key, sizeof key, "{%s:%.*s}", is_chat ? "chat" : "mailbox", (int)of.size, of.bytes);
    return gh_slot_of_key(gh_str_make(key, (size_t)size));
}

uint64_t talk_bit(uint8_t system, uint8_t name)
{
    return UINT64_C(1) << (name + (system == STORM_chat ? TALK_NAMES : 0));
}

gh_str talk_body(random_stream* random, char room[TALK_BODY_SIZE], uint32_t op, uint32_t post)
{
    int size = snprintf(room, TALK_BODY_SIZE, "%u:%u:", op, post);
    uint64_t end = (uint64_t)size + random_below(random, TALK_BODY_SIZE - (uint64_t)size);
    for (uint64_t i = (uint64_t)size; i < end; i++) room[i] = (char)('a' + i % 26);
    return gh_str_make(room, (size_t)end);
}

void talk_enlarge(random_stream* random, gh_post* post)
{
    static char large[GH_MESSAGE_SIZE_MAX];
    if (!random_one_in(random, 50)) return;
    post->sender = gh_str_make(post->body.bytes, post->body.size < 32 ? post->body.size : 32);
    post->body = gh_str_make(large, random_between(random, TALK_BODY_SIZE, sizeof large));
}

gh_str talk_lead(const gh_message* message)
{
    return message->body_size < TALK_BODY_SIZE ? message->body : message->sender;
}

static unsigned read_number(const char** at, const char* end)
{
    unsigned number = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) number = number * 10 + (unsigned)(**at - '0');
    return number;
}

void talk_note(storm_who who, storm_event event, gh_str body)
{
    const char* at = body.bytes;
    const char* end = at + body.size;
    unsigned op = read_number(&at, end);
    unsigned post = at < end && *at++ == ':' ? read_number(&at, end) : 0;
    if (op > history_count()) op = 0;
    event.about = op;
    event.c = post;
    (void)history_event(who, event);
}
