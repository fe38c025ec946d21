/* Tests of guildhall/chat.h against real servers: create, join, leave, send, fetch, commit, list. */

#include "support/scene/talk.h"

#include <stdio.h>
#include <string.h>

#define KEEP 1000
#define MANY 1000

/* ---- the ordinary way ---------------------------------------------------------------------------------- */

/* Three members, four messages, and both readers see the same. */
static void three_members_see_the_same_messages(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    game* b = game_start(redis_server_address(server));
    size_t count;
    gh_str* members = talk_names(a, "joe jeff jenny", &count);
    gh_post* first = talk_numbers(a, "joe", 1, 0);
    gh_chat_change* change = GAME_NEW(a, gh_chat_change);
    assert_status(gh_chat_create_begin(change, ON_CHAT(a->client, gh_str_literal("raid")), members, count, first),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    assert_status(gh_op_poll(&change->op), GH_OK);
    assert_true(change->epoch > 0);
    chat_say_numbers(a, "raid", "joe", 3, 1);

    chat_reader* jeff = chat_reader_new(a, "raid", "jeff");
    chat_reader* jenny = chat_reader_new(b, "raid", "jenny");
    assert_status(chat_read(jeff), GH_OK);
    assert_status(chat_read(jenny), GH_OK);
    assert_int_equal(jeff->fetch.count, 4);
    assert_int_equal(jenny->fetch.count, 4);
    assert_numbers(jeff->fetch.messages, 4, 0, 1);
    assert_numbers(jenny->fetch.messages, 4, 0, 1);
    assert_int_equal(jeff->fetch.epoch, change->epoch);
    assert_int_equal(jeff->members[0].unread, 4);
    assert_status(chat_read(jeff), GH_EMPTY); /* goes on where it was, though nothing is handled yet */
}

static void what_all_have_seen_goes(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "joe", 5, 0);
    chat_reader* both = chat_reader_new(a, "raid", "joe jeff");
    assert_status(chat_read(both), GH_OK);
    both->members[0].handled = 5;
    both->members[1].handled = 3;
    assert_status(chat_read(both), GH_EMPTY);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{chat:raid}:m"), 2);
    assert_status(chat_quit(a, "raid", "jeff"), GH_OK); /* the one who held the rest */
    assert_int_equal(redis_server_integer(server, "LLEN gh:{chat:raid}:m"), 0);
    chat_say_numbers(a, "raid", "joe", 1, 5);
    chat_reader* joe = chat_reader_new(a, "raid", "joe");
    assert_status(chat_read(joe), GH_OK);
    assert_numbers(joe->fetch.messages, 1, 5, 6);
}

static void joins_from_now_or_from_the_start(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "joe", 4, 0);
    assert_status(chat_enter(a, "raid", "jeff", GH_CHAT_FROM_NOW), GH_OK);
    assert_status(chat_enter(a, "raid", "jenny", GH_CHAT_FROM_START), GH_OK);
    assert_status(chat_enter(a, "raid", "jenny", GH_CHAT_FROM_NOW), GH_OK); /* is in it already: nothing changes */
    chat_say_numbers(a, "raid", "jeff", 1, 4);
    chat_reader* two = chat_reader_new(a, "raid", "jeff jenny");
    assert_status(chat_read(two), GH_OK);
    assert_int_equal(two->fetch.count, 5);
    assert_numbers(two->fetch.messages, 5, 0, 1);
    assert_int_equal(two->members[0].from, 4); /* the last alone is for jeff */
    assert_int_equal(two->members[1].from, 0);
    assert_int_equal(two->members[0].unread, 1);
    assert_int_equal(two->members[1].unread, 5);
}

static void only_members_speak_and_read(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    gh_post* posts = talk_numbers(a, "joe", 4, 0);
    posts[1].sender = gh_str_literal("spy");
    posts[3].sender = gh_str_literal(""); /* the server */
    assert_status(chat_say(a, "raid", posts, 4), GH_OK);
    assert_status(posts[0].status, GH_OK);
    assert_status(posts[1].status, GH_NOT_MEMBER);
    assert_int_equal(posts[1].id, 0);
    assert_int_equal(posts[2].id, 2);
    assert_int_equal(posts[3].id, 3);
    assert_status(chat_say(a, "raid", talk_numbers(a, "spy", 2, 9), 2), GH_NOT_MEMBER);
    chat_reader* spy = chat_reader_new(a, "raid", "spy");
    assert_status(chat_read(spy), GH_NOT_MEMBER);
    chat_reader* mixed = chat_reader_new(a, "raid", "spy jeff");
    assert_status(chat_read(mixed), GH_OK);
    assert_status(mixed->members[0].status, GH_NOT_MEMBER);
    assert_status(mixed->members[1].status, GH_OK);
    assert_int_equal(mixed->fetch.count, 3);
    assert_status(chat_quit(a, "raid", "jeff"), GH_OK);
    assert_status(chat_say(a, "raid", talk_numbers(a, "jeff", 1, 9), 1), GH_NOT_MEMBER); /* after leave */
    assert_status(chat_quit(a, "raid", "jeff"), GH_NOT_MEMBER);
    assert_status(chat_read(mixed), GH_NOT_MEMBER);
}

/* ---- the end of a chat, and its next life -------------------------------------------------------------- */

static void goes_with_its_last_member(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    assert_status(chat_make(a, "raid", "jenny", KEEP, MANY), GH_EXISTS);
    chat_say_numbers(a, "raid", "joe", 4, 0);
    assert_status(chat_quit(a, "raid", "joe"), GH_OK);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{chat:raid}:m"), 4);
    assert_status(chat_quit(a, "raid", "jeff"), GH_OK);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{chat:raid}:m gh:{chat:raid}:v"), 0);
    assert_true(redis_server_integer(server, "PTTL gh:{chat:raid}:s") > 0); /* the last trace goes by itself */
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{chats:joe}:l gh:{chats:jeff}:l"), 0);
    assert_status(chat_say(a, "raid", talk_numbers(a, "joe", 1, 0), 1), GH_GONE);
    assert_status(chat_enter(a, "raid", "joe", GH_CHAT_FROM_NOW), GH_GONE);
    assert_status(chat_quit(a, "raid", "joe"), GH_GONE);
    chat_reader* joe = chat_reader_new(a, "raid", "joe");
    assert_status(chat_read(joe), GH_GONE);
}

/* ---- bounds -------------------------------------------------------------------------------------------- */

static void members_are_capped(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    assert_status(chat_make(a, "raid", "a b", KEEP, 4), GH_OK);
    assert_status(chat_enter(a, "raid", "c", GH_CHAT_FROM_NOW), GH_OK);
    assert_status(chat_enter(a, "raid", "d", GH_CHAT_FROM_NOW), GH_OK);
    assert_status(chat_enter(a, "raid", "e", GH_CHAT_FROM_NOW), GH_FULL);
    assert_status(chat_enter(a, "raid", "d", GH_CHAT_FROM_NOW), GH_OK); /* is one */
    assert_status(chat_quit(a, "raid", "a"), GH_OK);
    assert_status(chat_enter(a, "raid", "e", GH_CHAT_FROM_NOW), GH_OK);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chat:raid}:v"), 4);
}

/* 64 members, and more messages than one reply or the client's array of values can hold. */
static void reads_a_long_backlog_for_many(void** state)
{
    (void)state;
    char names[1024] = "";
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.reply_nodes = 64;
    config.reply_bytes = 16 * 1024;
    game* a = game_start_with(&config);
    for (int i = 0; i < 64; i++) snprintf(names + strlen(names), 16, "p%d ", i);
    assert_status(chat_make(a, "raid", names, 3000, MANY), GH_OK);
    chat_say_numbers(a, "raid", "p0", 2500, 0);
    chat_reader* all = chat_reader_new(a, "raid", names);
    char* large = GAME_NEW_ARRAY(a, char, 512 * 1024);
    all->config.buffer = large;
    all->config.buffer_size = 512 * 1024;
    all->config.messages_max = 2000;
    assert_status(chat_read(all), GH_OK);
    assert_int_equal(all->fetch.count, 2000);
    assert_numbers(all->fetch.messages, 2000, 0, 1);
    assert_true(redis_server_calls(server, "lrange") > 20);
    chat_handle_all(all);
    assert_status(chat_read(all), GH_OK);
    assert_int_equal(all->fetch.count, 500);
    assert_numbers(all->fetch.messages, 500, 2000, 2001);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{chat:raid}:m"), 500);
    chat_handle_all(all);
    assert_status(chat_read(all), GH_EMPTY);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{chat:raid}:m"), 0);
    for (size_t i = 0; i < all->count; i++) assert_int_equal(all->members[i].seen, 2500);
    assert_int_equal(game_stats(a).protocol_errors, 0);
}

static void any_byte_in_any_name(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    char* bytes = GAME_NEW_ARRAY(a, char, 256);
    for (int i = 0; i < 256; i++) bytes[i] = (char)i;
    gh_str chat = gh_str_make(bytes, 64);
    gh_str* players = GAME_NEW_ARRAY(a, gh_str, 2);
    players[0] = gh_str_make(bytes + 64, 64);
    players[1] = gh_str_make(bytes, 1); /* a zero byte */
    gh_post* first = GAME_NEW(a, gh_post);
    first->sender = players[1];
    first->body = gh_str_make(bytes, 256);
    gh_chat_change* change = GAME_NEW(a, gh_chat_change);
    assert_status(gh_chat_create_begin(change, ON_CHAT(a->client, chat), players, 2, first), GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    assert_status(gh_op_poll(&change->op), GH_OK);
    chat_reader* self = chat_reader_new(a, "x", "x");
    self->chat = chat;
    self->members[0].name = players[0];
    assert_status(chat_read(self), GH_OK);
    assert_true(gh_str_equal(self->fetch.messages[0].sender, players[1]));
    assert_true(gh_str_equal(self->fetch.messages[0].body, first->body));
    gh_chat_item* items = GAME_NEW_ARRAY(a, gh_chat_item, 2);
    gh_chat_list* list = GAME_NEW(a, gh_chat_list);
    assert_status(gh_chat_list_begin(list, a->client, players[0], items, 2, NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&list->op) != GH_PENDING);
    assert_status(gh_op_poll(&list->op), GH_OK);
    assert_true(gh_str_equal(items[0].name, chat));
}

/* ---- waiting and listing ------------------------------------------------------------------------------- */

/* Begins a fetch that finds nothing, lets it wait, sends: it is the hint that ends it, not a pause. */
static void expect_hint(redis_server* server, game* from, chat_reader* to, unsigned number, uint64_t id)
{
    to->config.wait_us = 60 * SECOND_US;
    GAME_UNTIL(gh_client_link_state(to->from->client, GH_LINK_WAKE) == GH_LINK_READY);
    chat_read_begin(to);
    GAME_UNTIL(to->fetch.polls > 0);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chat:raid}:h"), 1);
    long long before = redis_server_calls(server, "evalsha") - to->fetch.polls;
    uint64_t hints = game_stats(to->from).hints;
    chat_say_numbers(from, "raid", "joe", 1, number);
    assert_status(chat_read_settle(to), GH_OK);
    assert_int_equal(to->fetch.count, 1);
    assert_numbers(to->fetch.messages, 1, number, id);
    assert_int_equal(game_stats(to->from).hints, hints + 1);
    assert_int_equal(redis_server_calls(server, "evalsha") - before, 2 + to->fetch.polls); /* send, fetch */
}

/* Jeff reads on another game than that of Joe, who speaks. */
static chat_reader* jeff_whom_joe_joins(redis_server* server, game* joes)
{
    game* jeffs = game_start_ready(redis_server_address(server));
    assert_status(chat_make(joes, "raid", "jeff", KEEP, MANY), GH_OK);
    assert_status(chat_enter(joes, "raid", "joe", GH_CHAT_FROM_NOW), GH_OK);
    return chat_reader_new(jeffs, "raid", "jeff");
}

static void waits_for_a_hint(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    chat_reader* jeff = jeff_whom_joe_joins(server, a);
    for (unsigned round = 0; round < 3; round++)
    {
        expect_hint(server, a, jeff, round, round + 1);
        if (round > 0) chat_handle_all(jeff); /* goes out with the next fetch */
    }
}

/* The same player on another server has handled more than this one knows of: all is gone from the store, and
   its ids are larger than what this one asks for. */
static void waits_for_a_hint_where_another_has_handled_all(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    chat_reader* here = chat_reader_new(b, "raid", "joe");
    chat_say_numbers(a, "raid", "joe", 1, 0);
    assert_status(chat_read(here), GH_OK);
    chat_say_numbers(a, "raid", "joe", 1, 1);
    chat_reader* there = chat_reader_new(a, "raid", "joe");
    assert_status(chat_read(there), GH_OK);
    chat_handle_all(there);
    assert_status(chat_read(there), GH_EMPTY);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{chat:raid}:m"), 0);
    expect_hint(server, a, here, 2, 3);
}

/* Raised while the fetch waited, to what no message has: the largest text that a member can have in a request. Nothing
   of it is noted. The next begin names the field. */
static void numbers_of_no_message_go_out_whole(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    chat_reader* jeff = jeff_whom_joe_joins(server, a);
    jeff->config.wait_us = 60 * SECOND_US;
    chat_read_begin(jeff);
    GAME_UNTIL(jeff->fetch.polls > 0);
    jeff->members[0].handled = UINT64_MAX;
    jeff->members[0].handled_epoch = UINT64_MAX;
    chat_say_numbers(a, "raid", "joe", 1, 0);
    assert_status(chat_read_settle(jeff), GH_OK);
    assert_numbers(jeff->fetch.messages, 1, 0, 1);
    assert_int_equal(jeff->members[0].seen, 0);
    assert_int_equal(redis_server_integer(server, "ZSCORE gh:{chat:raid}:v jeff"), 0);
    assert_status(
        gh_chat_fetch_begin(&jeff->fetch, ON_CHAT(jeff->from->client, jeff->chat), jeff->members, 1, &jeff->config),
        GH_INVALID_ID);
}

static void at_most_sixteen_hints_a_send(void** state)
{
    (void)state;
    enum
    {
        READERS = 20
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    chat_reader* readers[READERS];
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    for (int i = 0; i < READERS; i++)
    {
        readers[i] = chat_reader_new(a, "raid", "jeff");
        readers[i]->config.wait_us = 60 * SECOND_US;
        chat_read_begin(readers[i]);
    }
    GAME_UNTIL(redis_server_integer(server, "ZCARD gh:{chat:raid}:h") == READERS);
    long long before = redis_server_calls(server, "publish");
    chat_say_numbers(a, "raid", "joe", 2, 0);
    assert_int_equal(redis_server_calls(server, "publish") - before, 16);
    for (int i = 0; i < READERS; i++) /* the others by their heartbeat */
    {
        assert_status(chat_read_settle(readers[i]), GH_OK);
        assert_numbers(readers[i]->fetch.messages, 2, 0, 1);
    }
}

static gh_status list_chats(game* from, const char* player, gh_chat_list* list, gh_chat_item* items, size_t capacity)
{
    assert_status(gh_chat_list_begin(list, from->client, gh_str_of(player), items, capacity, NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&list->op) != GH_PENDING);
    return gh_op_poll(&list->op);
}

static void lists_chats_with_unread_counts(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_chat_list* list = GAME_NEW(a, gh_chat_list);
    gh_chat_item* items = GAME_NEW_ARRAY(a, gh_chat_item, 100);
    assert_status(list_chats(a, "jeff", list, items, 100), GH_EMPTY);
    for (int i = 0; i < 60; i++)
    {
        char chat[16];
        snprintf(chat, sizeof(chat), "c%d", i);
        assert_status(chat_make(a, chat, "joe jeff", 5, MANY), GH_OK);
    }
    chat_say_numbers(a, "c7", "joe", 3, 0);
    chat_say_numbers(a, "c9", "joe", 30, 0);
    assert_status(chat_quit(a, "c8", "jeff"), GH_OK);
    assert_status(list_chats(a, "jeff", list, items, 100), GH_OK);
    assert_int_equal(list->count, 59);
    for (uint32_t i = 0; i < list->count; i++)
    {
        bool c7 = gh_str_equal(items[i].name, gh_str_literal("c7"));
        bool c9 = gh_str_equal(items[i].name, gh_str_literal("c9"));
        assert_int_equal(items[i].unread, c7 ? 3 : c9 ? 5 : 0);
        assert_false(gh_str_equal(items[i].name, gh_str_literal("c8")));
        assert_true(items[i].epoch > 0);
    }
    assert_status(list_chats(a, "jeff", list, items, 59), GH_OK);
    assert_status(list_chats(a, "jeff", list, items, 58), GH_TOO_SMALL);
    assert_int_equal(list->count, 58);
    assert_int_equal(list->needed, 59);
}

/* An entry of a chat that is gone, older than anybody takes to make one, is not shown and does not stay. */
static void stale_entries_are_mended(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_chat_list* list = GAME_NEW(a, gh_chat_list);
    gh_chat_item* items = GAME_NEW_ARRAY(a, gh_chat_item, 10);
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    redis_server_do(server, "ZADD gh:{chats:jeff}:l 1000 gone");
    assert_status(chat_enter(a, "young", "jeff", GH_CHAT_FROM_NOW), GH_GONE); /* noted just now */
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chats:jeff}:l"), 3);
    assert_status(list_chats(a, "jeff", list, items, 10), GH_OK);
    assert_int_equal(list->count, 1);
    assert_true(gh_str_equal(items[0].name, gh_str_literal("raid")));
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chats:jeff}:l"),
                     2); /* the young one may be in the making */
    assert_null(redis_server_text(server, "ZSCORE gh:{chats:jeff}:l gone"));
}

/* The request that the server was sent with this one key, in its log of slow ones, where all are. */
static const redisReply* words_with(const redisReply* log, const char* key)
{
    for (size_t i = 0; i < log->elements; i++)
    {
        const redisReply* words = log->element[i]->element[3];
        if (words->elements > 4 && strcmp(words->element[2]->str, "1") == 0 && strcmp(words->element[3]->str, key) == 0)
            return words;
    }
    fail_msg("nobody has asked about %s", key);
    return log;
}

/* A copy of what took the entry away comes when the player is in that chat, and has been for long. */
static void late_copy_of_a_mend_takes_no_note(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start(redis_server_address(server));
    gh_chat_list* list = GAME_NEW(a, gh_chat_list);
    gh_chat_item* items = GAME_NEW_ARRAY(a, gh_chat_item, 10);
    const char* words[16];
    size_t sizes[16];
    redis_server_do(server, "ZADD gh:{chats:jeff}:l 1000 raid");
    redis_server_do(server, "CONFIG SET slowlog-log-slower-than 0");
    assert_status(list_chats(a, "jeff", list, items, 10), GH_EMPTY);
    redisReply* log = redis_server_command(server, "SLOWLOG GET -1");
    const redisReply* copy = words_with(log, "gh:{chats:jeff}:l");
    assert_in_range(copy->elements, 5, 16);
    for (size_t i = 0; i < copy->elements; i++) words[i] = copy->element[i]->str, sizes[i] = copy->element[i]->len;
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chats:jeff}:l"), 0);
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    redis_server_shift_clock(server, (int64_t)(1300 * SECOND_US));
    freeReplyObject(redis_server_words(server, words, sizes, copy->elements));
    freeReplyObject(log);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chats:jeff}:l"), 1);
}

/* A stale entry takes no place: what is behind it comes in its stead. */
static void stale_entries_take_no_places(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_chat_list* list = GAME_NEW(a, gh_chat_list);
    gh_chat_item* items = GAME_NEW_ARRAY(a, gh_chat_item, 10);
    assert_status(chat_enter(a, "young", "jeff", GH_CHAT_FROM_NOW), GH_GONE); /* it is not shown, and stays */
    static const char* const chats[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) assert_status(chat_make(a, chats[i], "jeff", KEEP, MANY), GH_OK);
    for (int i = 0; i < 60; i++) redis_server_do(server, "ZADD gh:{chats:jeff}:l %d gone%d", i, i);
    assert_status(list_chats(a, "jeff", list, items, 2), GH_TOO_SMALL);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->needed, 4); /* with the one that may be in the making */
    for (int i = 0; i < 60; i++) redis_server_do(server, "ZADD gh:{chats:jeff}:l %d gone%d", i, i);
    assert_status(list_chats(a, "jeff", list, items, 3), GH_OK);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->needed, 0);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(items[i].name.bytes[0], 'a' + (char)i);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chats:jeff}:l"), 4);
}

static gh_status make_refusing(game* from, const char* chat, const char* members, uint32_t keep)
{
    gh_chat_change* change = GAME_NEW(from, gh_chat_change);
    gh_chat_config config = gh_chat_config_default();
    size_t count;
    gh_str* names = talk_names(from, members, &count);
    config.keep = keep;
    config.refuse_when_full = true;
    assert_status(
        gh_chat_create_begin(change, ON_CHAT_WITH(from->client, gh_str_of(chat), &config), names, count, NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    return gh_op_poll(&change->op);
}

/* Nothing is dropped: the sender is told; and room is what all have handled. */
static void full_chat_refuses_if_it_was_made_so(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    assert_status(make_refusing(a, "raid", "joe jeff", 5), GH_OK);
    chat_reader* both[2] = {chat_reader_new(a, "raid", "joe"), chat_reader_new(a, "raid", "jeff")};
    assert_status(chat_say(a, "raid", talk_numbers(a, "joe", 6, 0), 6), GH_FULL);
    chat_say_numbers(a, "raid", "joe", 4, 0);
    assert_status(chat_say(a, "raid", talk_numbers(a, "joe", 2, 4), 2), GH_FULL);
    assert_status(chat_say(a, "raid", talk_numbers(a, "spy", 2, 4), 2), GH_NOT_MEMBER);
    chat_say_numbers(a, "raid", "joe", 1, 4);
    assert_status(chat_say(a, "raid", talk_numbers(a, "joe", 1, 5), 1), GH_FULL);
    assert_status(chat_read(both[0]), GH_OK);
    chat_handle_all(both[0]);
    assert_status(chat_read(both[0]), GH_EMPTY);
    assert_status(chat_say(a, "raid", talk_numbers(a, "joe", 1, 5), 1), GH_FULL); /* jeff has not */
    assert_status(chat_read(both[1]), GH_OK);
    assert_int_equal(both[1]->fetch.count, 5);
    assert_numbers(both[1]->fetch.messages, 5, 0, 1);
    both[1]->members[0].handled = 3;
    (void)chat_read(both[1]);
    chat_say_numbers(a, "raid", "joe", 3, 5);
    assert_status(chat_say(a, "raid", talk_numbers(a, "joe", 1, 8), 1), GH_FULL);
    assert_status(chat_enter(a, "raid", "jenny", GH_CHAT_FROM_START), GH_OK); /* the other scripts know such a chat */
    assert_status(chat_quit(a, "raid", "jeff"), GH_OK);
    assert_status(chat_quit(a, "raid", "jenny"), GH_OK);
    redis_server_do(server, "ZADD gh:{chat:raid}:v 8 joe"); /* all is handled, and still lies there */
    chat_say_numbers(a, "raid", "joe", 5, 8);
    assert_status(chat_say(a, "raid", talk_numbers(a, "joe", 1, 13), 1), GH_FULL);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{chat:raid}:m"), 5);
    assert_status(make_refusing(a, "raid", "joe", 5), GH_EXISTS);
}

TEST_FILE(chat, cmocka_unit_test(full_chat_refuses_if_it_was_made_so),
          cmocka_unit_test(three_members_see_the_same_messages), cmocka_unit_test(what_all_have_seen_goes),
          cmocka_unit_test(joins_from_now_or_from_the_start), cmocka_unit_test(only_members_speak_and_read),
          cmocka_unit_test(goes_with_its_last_member), cmocka_unit_test(members_are_capped),
          cmocka_unit_test(reads_a_long_backlog_for_many), cmocka_unit_test(any_byte_in_any_name),
          cmocka_unit_test(waits_for_a_hint), cmocka_unit_test(waits_for_a_hint_where_another_has_handled_all),
          cmocka_unit_test(numbers_of_no_message_go_out_whole), cmocka_unit_test(at_most_sixteen_hints_a_send),
          cmocka_unit_test(lists_chats_with_unread_counts), cmocka_unit_test(stale_entries_are_mended),
          cmocka_unit_test(late_copy_of_a_mend_takes_no_note), cmocka_unit_test(stale_entries_take_no_places));
