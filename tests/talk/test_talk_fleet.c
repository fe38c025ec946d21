/* Two processes that compete for a chat and a mailbox: their whole history is held against the store, with
   hiredis alone and by the layout of KEYS.md. */

#include "support/process.h"
#include "support/scene/talk.h"

#include <stdio.h>
#include <string.h>

#define KEEP 1000
#define MANY 1000

typedef struct fleet
{
    const char* address;
    unsigned number;
} fleet;

#define FLEET_POSTS 300

/* One process of the fleet: sends its numbers to the chat and pushes them into the mailbox, up to eight a
   request. Tells what was taken: the id of each, or 0 if it does not know. */
static int send_numbers(void* context, int results)
{
    const fleet* self = context;
    game_forget_all();
    game* from = game_start_ready(self->address);
    char sender[16];
    snprintf(sender, sizeof(sender), "p%u", self->number);
    for (unsigned done = 0; done < FLEET_POSTS;)
    {
        unsigned count = 1 + done % 8;
        if (count > FLEET_POSTS - done) count = FLEET_POSTS - done;
        gh_post* posts = talk_numbers(from, sender, count, done);
        gh_post* copies = talk_numbers(from, sender, count, done);
        gh_chat_send* send = GAME_NEW(from, gh_chat_send);
        gh_mailbox_push* push = GAME_NEW(from, gh_mailbox_push);
        gh_mailbox_config config = gh_mailbox_config_default();
        config.capacity = GH_MAILBOX_CAPACITY_MAX;
        config.timeout_us = 60 * SECOND_US;
        CHILD_CHECK(gh_chat_send_begin(send, ON_CHAT_WITHIN(from->client, gh_str_literal("raid"), 60 * SECOND_US),
                                       posts, count) == GH_OK);
        CHILD_CHECK(gh_mailbox_push_begin(push, ON_MAILBOX_WITH(from->client, gh_str_literal("raid"), &config), copies,
                                          count) == GH_OK);
        while (gh_op_poll(&send->op) == GH_PENDING || gh_op_poll(&push->op) == GH_PENDING) game_tick_all();
        CHILD_CHECK(gh_op_poll(&send->op) == GH_OK && gh_op_poll(&push->op) == GH_OK);
        for (unsigned i = 0; i < count; i++)
        {
            uint64_t ids[2] = {posts[i].id, copies[i].id};
            CHILD_CHECK(write(results, ids, sizeof(ids)) == (ssize_t)sizeof(ids));
        }
        done += count;
    }
    return 0;
}

/* Holds the list of a chat or mailbox against what two processes were told. */
static void audit_list(redis_server* server, const char* key, uint64_t ids[2][FLEET_POSTS])
{
    unsigned next[2] = {0, 0};
    redisReply* reply = redis_server_command(server, "LRANGE %s 0 -1", key);
    assert_int_equal(reply->elements, 2 * FLEET_POSTS);
    for (size_t i = 0; i < reply->elements; i++)
    {
        unsigned long long id, time_ms;
        unsigned size, process, number;
        assert_int_equal(sscanf(reply->element[i]->str, "%llu %llu %u p%1u%u", &id, &time_ms, &size, &process, &number),
                         5);
        assert_int_equal(id, i + 1);
        assert_int_equal(size, 2);
        assert_true(process < 2);
        assert_int_equal(number, next[process]); /* each sender's own order, each once */
        assert_int_equal(ids[process][next[process]++], id);
    }
    freeReplyObject(reply);
}

static void two_processes_send_without_loss_or_copy(void** state)
{
    (void)state;
    static uint64_t ids[2][2][FLEET_POSTS]; /* chat or mailbox, process, post */
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "p0 p1 joe", 10000, MANY), GH_OK);
    child_process* children[2];
    fleet fleets[2];
    for (unsigned i = 0; i < 2; i++)
    {
        fleets[i] = (fleet){redis_server_address(server), i};
        children[i] = child_start(send_numbers, &fleets[i]);
    }
    GAME_UNTIL(redis_server_integer(server, "LLEN gh:{chat:raid}:m") > 50);
    redis_server_do(server, "SCRIPT FLUSH");
    redis_server_do(server, "CLIENT KILL TYPE normal SKIPME yes");
    redis_server_kill9(server);
    redis_server_restart(server);
    for (unsigned i = 0; i < 2; i++)
    {
        for (unsigned post = 0; post < FLEET_POSTS; post++)
        {
            uint64_t pair[2];
            assert_int_equal(child_read(children[i], pair, sizeof(pair)), sizeof(pair));
            ids[0][i][post] = pair[0];
            ids[1][i][post] = pair[1];
        }
        assert_int_equal(child_wait(children[i]), 0);
    }
    audit_list(server, "gh:{chat:raid}:m", ids[0]);
    audit_list(server, "gh:{mailbox:raid}:m", ids[1]);
    assert_int_equal(redis_server_integer(server, "HGET gh:{chat:raid}:s n"), 2 * FLEET_POSTS);
    assert_int_equal(redis_server_integer(server, "HGET gh:{mailbox:raid}:s n"), 2 * FLEET_POSTS);
}

TEST_FILE(talk_fleet, cmocka_unit_test(two_processes_send_without_loss_or_copy));
