/* chat_read.h -- what the files of the chat share: its keys, its bounds, and the one script that reads. */

#ifndef GH_CHAT_READ_H
#define GH_CHAT_READ_H

#include "client/op.h"
#include "guildhall/chat.h"
#include "scripts/chat_scripts.h"
#include "talk/entry.h"
#include "talk/epochs.h"

#define GH_CHAT_ID_MAX (1ull << 53)
#define GH_CHAT_INLINE_MAX 64u  /* messages in the answer of chat_read.lua                        */
#define GH_CHAT_ENTRY_MAX GH_ENTRY_SIZE_MAX

static inline gh_str gh_chat_kind(void)
{
    return gh_str_literal("chat");
}

/* A question to chat_read.lua; pairs of member and handled id follow it in the request. */
typedef struct gh_chat_question
{
    gh_str chat;
    uint64_t epoch;
    uint64_t after;
    uint64_t wait_us;
    size_t bytes;
    size_t room; /* of an empty page; at least bytes */
    uint32_t count;
    uint32_t pairs;
    bool from_least; /* after the least that the members have seen, instead of `after` */
} gh_chat_question;

/* What the figures of an answer of chat_read.lua say; false: no chat can be like that. */
typedef struct gh_chat_figures
{
    gh_epochs epochs; /* in the reply */
    uint64_t first_id;
    uint64_t last_id;
    uint64_t now_us;
    uint32_t largest;
} gh_chat_figures;

bool gh_chat_read_figures(const gh_reply* reply, gh_chat_figures* figures);

/* What an answer says that a member has seen: an id, or -1: is no member. False: neither. */
bool gh_chat_is_seen(const gh_reply* value, uint64_t last_id);

gh_script* gh_chat_read_script(gh_op* op);
void gh_chat_encode_read(gh_op* op, gh_request* request, const gh_chat_question* question);

/* As gh_chat_fetch_begin, over a chain of members whose names are known to be valid, on a chat that was made well. */
gh_status gh_chat_fetch_start(gh_chat_fetch* op, const gh_chat* chat, gh_chat_member* first,
                              const gh_chat_fetch_config* config);

/* Requests to a player's own list, and the scripts that they run. */
void gh_chat_encode_list(gh_op* op, gh_request* request, gh_str player, uint64_t place, uint64_t count,
                         uint64_t wait_us);
void gh_chat_encode_remove(gh_op* op, gh_request* request, gh_str player, gh_str chat, uint64_t until_us);

#endif
