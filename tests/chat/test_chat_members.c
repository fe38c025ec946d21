/* Tests of the list of a chat's members: each once, however many there are, and whatever happens between the pages. */

#include "support/scene/talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHAT "raid"

typedef struct roster
{
    gh_chat_members op;
    gh_chat_member_item items[2000];
    game* from;
} roster;

static roster* roster_new(game* from)
{
    roster* self = GAME_NEW(from, roster);
    self->from = from;
    memset(self->items, 0xa5, sizeof(self->items)); /* needs no set-up */
    return self;
}

static void roster_begin(roster* self, size_t capacity)
{
    assert_status(gh_chat_members_begin(&self->op, ON_CHAT(self->from->client, gh_str_of(CHAT)), self->items, capacity),
                  GH_OK);
}

static gh_status roster_settle(roster* self)
{
    GAME_UNTIL(gh_op_poll(&self->op.op) != GH_PENDING);
    return gh_op_poll(&self->op.op);
}

static gh_status roster_list(roster* self, size_t capacity)
{
    roster_begin(self, capacity);
    return roster_settle(self);
}

/* How often each of p0, p1, ... is in it. */
static void assert_each_once(const roster* self, unsigned count, const char* form)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++)
    {
        char name[80];
        unsigned times = 0;
        snprintf(name, sizeof(name), form, i);
        for (uint32_t k = 0; k < self->op.count; k++) times += gh_str_equal(self->items[k].name, gh_str_of(name));
        if (times != 1) fail_msg("%s is there %u times", name, times);
        found += times;
    }
    assert_true(found <= self->op.count);
}

/* Straight into the store, which is faster than to join. */
static void crowd(redis_server* server, unsigned from, unsigned to, const char* form)
{
    for (unsigned i = from; i < to; i++)
    {
        char name[80];
        snprintf(name, sizeof(name), form, i);
        redis_server_do(server, "ZADD gh:{chat:" CHAT "}:v %u %s", i % 4, name);
    }
}

static void lists_each_member_once(void** state)
{
    (void)state;
    static const unsigned counts[] = {2, 63, 64, 65, 127, 128, 129, 500, 1500};
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.reply_bytes = 16384;
    config.reply_nodes = 64;
    game* small = game_start_with(&config);
    game* a = game_start_ready(redis_server_address(server));
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
    {
        roster* self = roster_new(i % 2 == 0 ? a : small);
        redis_server_do(server, "FLUSHDB");
        assert_status(chat_make(a, CHAT, "p0 p1", 100, 2000), GH_OK);
        chat_say_numbers(a, CHAT, "p0", 3, 0);
        crowd(server, 0, counts[i], "p%u");
        assert_status(roster_list(self, 2000), GH_OK);
        assert_int_equal(self->op.count, counts[i]);
        assert_true(self->op.epoch > 0);
        assert_each_once(self, counts[i], "p%u");
        for (uint32_t k = 0; k < self->op.count; k++)
            assert_int_equal(self->items[k].seen, strtoul(self->items[k].name.bytes + 1, NULL, 10) % 4);
        assert_status(roster_list(self, counts[i]), GH_OK);
        assert_status(roster_list(self, counts[i] - 1), GH_TOO_SMALL);
        assert_int_equal(self->op.count, counts[i] - 1);
        assert_int_equal(self->op.needed, counts[i]);
    }
}

/* A set that the store keeps as one block comes as a whole, and so large a reply would cost the link. */
static void large_block_is_cut(void** state)
{
    (void)state;
    const char* form = "%060u";
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.reply_bytes = 16384;
    game* a = game_start_with(&config);
    roster* self = roster_new(a);
    redis_server_do(server, "CONFIG SET zset-max-ziplist-entries 1000");
    assert_status(chat_make(a, CHAT, "joe", 100, 2000), GH_OK);
    chat_say_numbers(a, CHAT, "", 3, 0);
    crowd(server, 0, 900, form);
    assert_status(roster_list(self, 2000), GH_OK);
    assert_int_equal(self->op.count, 901);
    assert_each_once(self, 900, form);
    assert_int_equal(game_stats(a).links_lost, 0);
}

#define STAY 100

/* In one step: those who stay, and others beside them or not. Alone they are few enough to lie in one block, which a
   scan in its middle gets as a whole: everybody whom it has had comes again. */
static void others_come(redis_server* server)
{
    redis_server_do(server, "EVAL %s 1 gh:{chat:" CHAT "}:v",
                    "for i = 1, 1800 do redis.call('ZADD', KEYS[1], 0, 'x' .. i) end");
}

static void others_go(redis_server* server)
{
    redis_server_do(server, "EVAL %s 1 gh:{chat:" CHAT "}:v",
                    "redis.call('DEL', KEYS[1]) for i = 0, 99 do redis.call('ZADD', KEYS[1], 0, 'p' .. i) end");
}

static void assert_none_twice(const roster* self)
{
    for (uint32_t i = 0; i < self->op.count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (gh_str_equal(self->items[i].name, self->items[k].name))
                fail_msg("%.*s is there twice", (int)self->items[i].name.size, self->items[i].name.bytes);
}

/* Between two pages many come or go, so that the set is built anew under the list. */
static void who_stays_is_listed_whoever_comes_and_goes(void** state)
{
    (void)state;
    enum
    {
        ROUNDS = 30
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    roster* self = roster_new(a);
    assert_status(chat_make(a, CHAT, "p0", 100, 2000), GH_OK);
    chat_say_numbers(a, CHAT, "", 3, 0);
    for (uint32_t round = 0; round < ROUNDS; round++)
    {
        others_go(server);
        others_come(server);
        roster_begin(self, 2000);
        GAME_UNTIL(self->op.count > round * 40);
        assert_status(gh_op_poll(&self->op.op), GH_PENDING);
        others_go(server);
        if (round % 2 == 0) others_come(server);
        assert_status(roster_settle(self), GH_OK);
        if (round % 2 > 0) assert_each_once(self, STAY, "p%u");
        assert_none_twice(self);
    }
}

/* Names of the old chat are not mixed with those of the new one. */
static void chat_that_is_made_anew_is_listed_anew(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    roster* self = roster_new(a);
    assert_status(roster_list(self, 10), GH_GONE);
    assert_status(chat_make(a, CHAT, "p0", 100, 2000), GH_OK);
    chat_say_numbers(a, CHAT, "", 3, 0);
    crowd(server, 0, 1000, "old%u");
    roster_begin(self, 2000);
    GAME_UNTIL(self->op.count > 0);
    assert_status(gh_op_poll(&self->op.op), GH_PENDING);
    a->asleep = true;
    game* b = game_start_ready(redis_server_address(server));
    redis_server_do(server, "DEL gh:{chat:" CHAT "}:v gh:{chat:" CHAT "}:s gh:{chat:" CHAT "}:m");
    assert_status(chat_make(b, CHAT, "p0 p1", 100, 2000), GH_OK);
    a->asleep = false;
    assert_status(roster_settle(self), GH_OK);
    assert_int_equal(self->op.count, 2);
    assert_each_once(self, 2, "p%u");
}

/* Another server's cursors mean something else. */
static void list_begins_anew_on_a_new_link(void** state)
{
    (void)state;
    redis_server_options options = {.append_only = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start_ready(redis_server_address(server));
    roster* self = roster_new(a);
    assert_status(chat_make(a, CHAT, "p0", 100, 2000), GH_OK);
    chat_say_numbers(a, CHAT, "", 3, 0);
    crowd(server, 0, 1000, "p%u");
    roster_begin(self, 2000);
    GAME_UNTIL(self->op.count > 500);
    assert_status(gh_op_poll(&self->op.op), GH_PENDING);
    redis_server_kill9(server);
    redis_server_restart(server);
    assert_status(roster_settle(self), GH_OK);
    assert_int_equal(self->op.count, 1000);
    assert_each_once(self, 1000, "p%u");
}

TEST_FILE(chat_members, cmocka_unit_test(lists_each_member_once), cmocka_unit_test(large_block_is_cut),
          cmocka_unit_test(who_stays_is_listed_whoever_comes_and_goes),
          cmocka_unit_test(chat_that_is_made_anew_is_listed_anew), cmocka_unit_test(list_begins_anew_on_a_new_link));
