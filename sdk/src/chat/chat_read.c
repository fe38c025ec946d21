/* chat_read.c -- the requests that read chats and keep the lists of their members. */

#include "chat_read.h"

bool gh_chat_read_figures(const gh_reply* reply, gh_chat_figures* figures)
{
    uint64_t largest = (uint64_t)gh_reply_integer(reply, GH_CHAT_READ_LARGEST);
    figures->epochs.present = (uint64_t)gh_reply_integer(reply, GH_CHAT_READ_EPOCH);
    figures->epochs.ended = gh_reply_text(reply, GH_CHAT_READ_EPOCHS);
    figures->first_id = (uint64_t)gh_reply_integer(reply, GH_CHAT_READ_FIRST_ID);
    figures->last_id = (uint64_t)gh_reply_integer(reply, GH_CHAT_READ_LAST_ID);
    figures->now_us = (uint64_t)gh_reply_integer(reply, GH_CHAT_READ_NOW_US);
    figures->largest = (uint32_t)largest;
    if (gh_reply_integer(reply, GH_CHAT_READ_CODE) > GH_CHAT_READ_LOST) return false;
    return figures->epochs.present > 0 && figures->epochs.present < GH_CHAT_ID_MAX && figures->first_id > 0 &&
           figures->last_id < GH_CHAT_ID_MAX && figures->first_id <= figures->last_id + 1 &&
           largest <= GH_CHAT_ENTRY_MAX && gh_epochs_are_valid(&figures->epochs, figures->last_id);
}

bool gh_chat_is_seen(const gh_reply* value, uint64_t last_id)
{
    return value != NULL && value->type == GH_REPLY_INTEGER && value->integer >= -1 &&
           (value->integer < 0 || (uint64_t)value->integer <= last_id);
}

gh_script* gh_chat_read_script(gh_op* op)
{
    return gh_client_script(op->client, &gh_chat_read_lua);
}

void gh_chat_encode_read(gh_op* op, gh_request* request, const gh_chat_question* question)
{
    gh_request_op_script(request, op, 0, 2 * question->pairs);
    gh_request_object_keys(request, op->client, gh_chat_kind(), question->chat, "smvh");
    gh_request_op_id(request, op);
    gh_request_number(request, question->epoch);
    if (question->from_least) gh_request_str(request, gh_str_literal("-"));
    else gh_request_number(request, question->after);
    gh_request_number(request, question->count);
    gh_request_number(request, question->bytes);
    gh_request_number(request, question->wait_us);
    gh_request_number(request, question->room);
}

void gh_chat_encode_list(gh_op* op, gh_request* request, gh_str player, uint64_t place, uint64_t count,
                         uint64_t wait_us)
{
    gh_request_object_script(request, op, gh_str_literal("chats"), player, "lh");
    gh_request_op_id(request, op);
    gh_request_number(request, place);
    gh_request_number(request, count);
    gh_request_number(request, wait_us);
}

void gh_chat_encode_remove(gh_op* op, gh_request* request, gh_str player, gh_str chat, uint64_t until_us)
{
    const uint64_t asked_us = until_us == 0 ? gh_op_store_time(op, gh_client_now(op->client)) : 0;
    gh_request_op_script(request, op, 0, asked_us != 0 ? 1 : 0);
    gh_request_object_keys(request, op->client, gh_str_literal("chats"), player, "l");
    gh_request_number(request, op->sequence);
    gh_request_str(request, chat);
    gh_request_number(request, until_us);
    if (asked_us != 0) gh_request_number(request, asked_us);
}
