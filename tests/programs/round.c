/* round.c -- a client whose server answers a number, a text, and arrays within arrays, which hiredis reads; and which
   takes a lock, is a member of a chat, and leaves some mail. */

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#endif

#include "round.h"

#include "guildhall/guildhall.h"

#include <time.h>

#define ROUND_US 10000000u

static bool is_answer(const gh_reply* reply)
{
    const gh_reply* inner = gh_reply_at(gh_reply_at(reply, 1), 1);
    return reply != NULL && reply->count == 2 && gh_reply_at(reply, 0)->integer == 7 && inner != NULL &&
           gh_str_equal(inner->text, gh_str_literal("abc"));
}

static gh_status end_of(gh_client* client, const gh_op* op, uint64_t end_us)
{
    const gh_platform* platform = gh_platform_default();
    while (gh_op_poll(op) == GH_PENDING && platform->now_us(platform->context) < end_us)
    {
        gh_client_tick(client, 0);
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    }
    return gh_op_poll(op);
}

static bool ask(gh_client* client, uint64_t end_us)
{
    static const gh_script nested = {.text = {"return {7, {{}, 'abc'}}", 23}};
    _Alignas(8) char memory[1024];
    gh_script script = nested;
    gh_command command = {0};
    gh_command_config config = gh_command_config_default();
    config.reply_memory = memory;
    config.reply_size = sizeof memory;
    gh_script_begin(&command, client, &script, NULL, 0, NULL, 0, &config);
    return end_of(client, &command.op, end_us) == GH_OK && is_answer(gh_command_reply(&command));
}

/* Threads do the same at once, so some wait for others, and the chat may be there. The lock is given back by detach. */
static bool play(gh_client* client, uint64_t end_us)
{
    const gh_str name = gh_str_literal("round");
    gh_post post = {.sender = name, .body = gh_str_literal("hello")};
    gh_lock lock = {0};
    gh_chat_change change = {0};
    gh_chat_send send = {0};
    gh_mailbox_push push = {0};
    gh_chat chat;
    gh_mailbox mailbox;
    bool done;
    gh_chat_init(&chat, client, name, NULL);
    gh_mailbox_init(&mailbox, client, name, NULL);
    gh_lock_begin(&lock, client, name, NULL);
    gh_chat_create_begin(&change, &chat, &name, 1, NULL);
    done = end_of(client, &lock.op, end_us) == GH_HELD;
    gh_op_detach(&lock.op);
    end_of(client, &change.op, end_us);
    done = done && (gh_op_poll(&change.op) == GH_OK || gh_op_poll(&change.op) == GH_EXISTS);
    gh_chat_send_begin(&send, &chat, &post, 1);
    gh_mailbox_push_begin(&push, &mailbox, &post, 1);
    done = done && end_of(client, &send.op, end_us) == GH_OK && end_of(client, &push.op, end_us) == GH_OK;
    gh_client_drain(client, ROUND_US);
    while (!gh_client_drained(client)) gh_client_tick(client, 0);
    return done;
}

bool round_run(void* memory, const char* address)
{
    const gh_platform* platform = gh_platform_default();
    gh_client_config config = gh_client_config_default();
    gh_client* client = NULL;
    uint64_t end_us;
    bool done;
    config.address = gh_str_of(address);
    if (gh_client_init(memory, ROUND_MEMORY, &config, platform, &client) != GH_OK) return false;
    end_us = platform->now_us(platform->context) + ROUND_US;
    gh_client_tick(client, 0);
    done = ask(client, end_us) && play(client, end_us);
    gh_client_shutdown(client);
    return done;
}
