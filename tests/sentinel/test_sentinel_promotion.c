/* What a master says that is about to be replaced: from the moment at which that is heard it counts no more, as it may
   have been done after its successor had become one. */

#include "support/scene/game.h"
#include "support/server/scripted.h"

#include <stdio.h>
#include <string.h>

#define MASTER_PORT    7000
#define SUCCESSOR_PORT 7001
#define SENTINEL_PORT  26379

static const char promotion[] = "*3\r\n$7\r\nmessage\r\n$34\r\n+failover-state-send-slaveof-noone\r\n$54\r\n"
                                "slave 10.0.0.1:7001 10.0.0.1 7001 @ game 10.0.0.1 7000\r\n";

/* Whether the successor has become a master. */
static bool is_promoted;

static void say(byte_buffer* reply, const char* text)
{
    buffer_add(reply, text, strlen(text));
}

static bool answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    if (gh_str_equal(words[0], gh_str_literal("SENTINEL"))) say(reply, "*2\r\n$8\r\n10.0.0.1\r\n$4\r\n7000\r\n");
    else if (world->asked->port == SENTINEL_PORT && gh_str_equal(words[0], gh_str_literal("SUBSCRIBE")))
    {
        for (size_t i = 1; i < count; i++)
        {
            char text[128];
            snprintf(text, sizeof text, "*3\r\n$9\r\nsubscribe\r\n$%zu\r\n%.*s\r\n:%zu\r\n", words[i].size,
                     (int)words[i].size, words[i].bytes, i);
            say(reply, text);
        }
    }
    else if (world->asked->port == SUCCESSOR_PORT && !is_promoted && gh_str_equal(words[0], gh_str_literal("INFO")))
        buffer_add_bulk(reply, "redis_version:7.0.15\r\nrole:slave\r\nrun_id:%040d\r\n", 1);
    else return false;
    return true;
}

static scripted_stream* stream_to(scripted* world, uint16_t port)
{
    for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (world->streams[i].open && world->streams[i].port == port) return &world->streams[i];
    fail_msg("no stream to %u is open", (unsigned)port);
    return NULL;
}

static scripted* start(void)
{
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.address = gh_str_literal("10.0.0.9:26379");
    config.topology = gh_topology_sentinel();
    config.sentinel_name = gh_str_literal("game");
    world->answer = answer;
    is_promoted = false;
    scripted_start_ready(world, &config);
    return world;
}

/* The lock is asked for; the old master's answer and the news of its end arrive together. */
static void answer_that_comes_with_the_news_is_not_believed(void** state)
{
    (void)state;
    scripted* world = start();
    gh_lock* first = scripted_want(world, "window", 10000000, 60000000); /* the script is there now */
    SCRIPTED_UNTIL(world, gh_op_poll(&first->op) == GH_HELD, 5000, 1000000);
    world->silent = true;
    gh_lock* lock = scripted_want(world, "door", 10000000, 60000000);
    scripted_tick(world, 5000);
    world->silent = false;
    scripted_speak(world);
    assert_true(stream_to(world, MASTER_PORT)->replies.size > 0);
    buffer_add(&stream_to(world, SENTINEL_PORT)->replies, promotion, sizeof promotion - 1);
    scripted_tick(world, 300000);
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    is_promoted = true;
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, 5000, 1000000);
    (void)stream_to(world, SUCCESSOR_PORT);
    assert_true(scripted_stats(world).resends >= 1);
}

/* Before the news they count. */
static void answer_before_the_news_is_believed(void** state)
{
    (void)state;
    scripted* world = start();
    gh_lock* lock = scripted_want(world, "door", 10000000, 60000000);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, 5000, 1000000);
    buffer_add(&stream_to(world, SENTINEL_PORT)->replies, promotion, sizeof promotion - 1);
    scripted_tick(world, 300000);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    is_promoted = true;
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), 5000, 1000000);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
}

TEST_FILE(sentinel_promotion, cmocka_unit_test(answer_that_comes_with_the_news_is_not_believed),
          cmocka_unit_test(answer_before_the_news_is_believed));
