/* Defects that the naive way to let groups talk has, each brought about on a real server: a naive way would
   fail the test. */

#include "support/process.h"
#include "support/scene/talk.h"

#include <stdio.h>
#include <string.h>

#define KEEP 1000
#define MANY 1000

/* ---- 4: asking without end ----------------------------------------------------------------------------- */

/* The naive way gets an entry for each chat, though nothing is in it, takes that for news, and asks again at
   once. Here a player of twenty silent chats costs a few requests a second. */
static void silent_chats_are_asked_in_pauses(void** state)
{
    (void)state;
    enum
    {
        CHATS = 20
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    for (int i = 0; i < CHATS; i++)
    {
        char name[24];
        snprintf(name, sizeof(name), "raid %d", i);
        assert_status(chat_make(a, name, "joe jeff", KEEP, MANY), GH_OK);
    }
    gh_chat_feed* feed = GAME_NEW(a, gh_chat_feed);
    gh_chat_feed_config config = gh_chat_feed_config_default();
    config.room_count = config.seat_count = CHATS;
    config.rooms = GAME_NEW_ARRAY(a, gh_chat_room, CHATS);
    config.seats = GAME_NEW_ARRAY(a, gh_chat_seat, CHATS);
    config.buffer_size = (size_t)CHATS * GH_CHAT_ROOM_SIZE_MIN;
    config.buffer = GAME_NEW_ARRAY(a, char, config.buffer_size);
    assert_status(gh_chat_feed_begin(feed, a->client, &config), GH_OK);
    assert_status(gh_chat_feed_add(feed, GAME_NEW(a, gh_chat_player), gh_str_literal("jeff")), GH_OK);
    GAME_UNTIL(game_stats(a).requests > 2 * CHATS && game_stats(a).requests_sent == 0); /* all are known */
    uint64_t requests = game_stats(a).requests;
    uint64_t end_us = game_now_us(a) + SECOND_US;
    gh_chat_room* room = NULL;
    GAME_UNTIL((room = gh_chat_feed_next(feed)) != NULL || game_now_us(a) >= end_us);
    assert_null(room); /* nothing is handed out of an empty chat */
    assert_true(game_stats(a).requests - requests < 4 * CHATS);
    chat_say_numbers(a, "raid 7", "joe", 1, 0);
    GAME_UNTIL((room = gh_chat_feed_next(feed)) != NULL);
    assert_true(gh_str_equal(room->name, gh_str_literal("raid 7")));
}

/* ---- 5: seen marks ------------------------------------------------------------------------------------- */

/* The naive way marks messages as seen when they are fetched: a server that dies before it has handled them
   has lost them. */
static void unhandled_messages_come_again(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    game* dies = game_start(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "joe", 5, 0);
    chat_reader* jeff = chat_reader_new(dies, "raid", "jeff");
    assert_status(chat_read(jeff), GH_OK);
    jeff->members[0].handled = 2;
    assert_status(chat_read(jeff), GH_EMPTY); /* says so */
    assert_int_equal(jeff->members[0].seen, 2);
    game_end(dies);
    game* heir = game_start(redis_server_address(server));
    jeff = chat_reader_new(heir, "raid", "jeff");
    assert_status(chat_read(jeff), GH_OK);
    assert_int_equal(jeff->fetch.count, 3);
    assert_numbers(jeff->fetch.messages, 3, 2, 3);
}

/* The naive way writes the mark as it comes: of two readers of one player the slower one moves it back. */
static void slower_reader_moves_nothing_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "joe", 5, 0);
    chat_reader* one = chat_reader_new(a, "raid", "jeff"); /* two readers of one player */
    chat_reader* two = chat_reader_new(a, "raid", "jeff");
    assert_status(chat_read(one), GH_OK);
    assert_status(chat_read(two), GH_OK);
    one->members[0].handled = 4;
    assert_status(chat_read(one), GH_EMPTY);
    two->members[0].handled = 2;
    assert_status(chat_read(two), GH_EMPTY);
    assert_int_equal(two->members[0].seen, 4);
    assert_int_equal(redis_server_integer(server, "ZSCORE gh:{chat:raid}:v jeff"), 4);
    two->members[0].handled = 1000; /* beyond the end */
    assert_status(chat_read(two), GH_EMPTY);
    assert_int_equal(redis_server_integer(server, "ZSCORE gh:{chat:raid}:v jeff"), 5);
    chat_say_numbers(a, "raid", "joe", 1, 5);
    assert_status(chat_read(two), GH_OK);
    assert_numbers(two->fetch.messages, 1, 5, 6);
}

/* The naive way keeps all messages for ever because of one member who is never there. */
static void absent_member_keeps_nothing_for_ever(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff", 10, MANY), GH_OK);
    chat_say_numbers(a, "raid", "joe", 9, 0);
    chat_reader* joe = chat_reader_new(a, "raid", "joe");
    assert_status(chat_read(joe), GH_OK);
    chat_handle_all(joe);
    chat_say_numbers(a, "raid", "joe", 1, 9); /* keep, exactly */
    assert_int_equal(redis_server_integer(server, "LLEN gh:{chat:raid}:m"), 10);
    chat_say_numbers(a, "raid", "joe", 15, 10);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{chat:raid}:m"), 10);
    chat_reader* both = chat_reader_new(a, "raid", "joe jeff");
    assert_status(chat_read(both), GH_OK);
    assert_int_equal(both->fetch.count, 10);
    assert_numbers(both->fetch.messages, 10, 15, 16);
    assert_int_equal(both->members[0].missed, 15); /* joe's handled ids were not said yet */
    assert_int_equal(both->members[1].missed, 15);
    assert_int_equal(both->members[1].unread, 10);
    assert_status(chat_read(joe), GH_OK);
    assert_int_equal(joe->members[0].missed, 6); /* 10 to 15 */
    assert_int_equal(joe->members[0].seen, 9);
    chat_handle_all(both);
    assert_status(chat_read(both), GH_EMPTY);
    assert_int_equal(both->members[1].missed, 0);
}

/* ---- 6: the end of a chat, and its next life ----------------------------------------------------------- */

/* The naive way counts the members and then deletes, in two steps: who joins or sends in between is lost, or
   leaves messages behind that no chat has. */
static void last_leave_beside_a_send_and_a_join_leaves_no_orphan(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    unsigned first = 0;
    for (int round = 0; round < 200; round++)
    {
        gh_str raid = gh_str_literal("raid");
        gh_chat_change* leave = GAME_NEW(a, gh_chat_change);
        gh_chat_change* join = GAME_NEW(b, gh_chat_change);
        gh_chat_send* send = GAME_NEW(b, gh_chat_send);
        gh_post* post = talk_numbers(b, "", 1, 0);
        assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
        assert_status(gh_chat_leave_begin(leave, ON_CHAT(a->client, raid), gh_str_literal("joe")), GH_OK);
        assert_status(gh_chat_send_begin(send, ON_CHAT(b->client, raid), post, 1), GH_OK);
        assert_status(gh_chat_join_begin(join, ON_CHAT(b->client, raid), gh_str_literal("jeff"), GH_CHAT_FROM_NOW),
                      GH_OK);
        if (round % 3 == 0) game_tick(b);
        GAME_UNTIL(gh_op_poll(&leave->op) != GH_PENDING && gh_op_poll(&send->op) != GH_PENDING &&
                   gh_op_poll(&join->op) != GH_PENDING);
        assert_status(gh_op_poll(&leave->op), GH_OK);
        gh_status joined = gh_op_poll(&join->op);
        gh_status sent = gh_op_poll(&send->op);
        assert_true(joined == GH_OK || joined == GH_GONE);
        assert_true(sent == GH_OK || sent == GH_GONE);
        if (sent == GH_OK) first++;
        assert_int_equal(redis_server_integer(server, "EXISTS gh:{chat:raid}:v"), joined == GH_OK);
        if (joined != GH_OK) assert_int_equal(redis_server_integer(server, "EXISTS gh:{chat:raid}:m"), 0);
        if (joined == GH_OK) assert_status(chat_quit(b, "raid", "jeff"), GH_OK);
        redis_server_do(server, "DEL gh:{chats:jeff}:l");
    }
    assert_true(first > 0);
}

/* The naive way to join a chat that is not there ends in an error of the program, or makes half of a chat. */
static void joining_a_missing_chat_makes_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_enter(a, "raid", "jeff", GH_CHAT_FROM_START), GH_GONE);
    assert_status(chat_say(a, "raid", talk_numbers(a, "jeff", 1, 0), 1), GH_GONE);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{chat:raid}:s gh:{chat:raid}:m gh:{chat:raid}:v"), 0);
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    assert_status(chat_enter(a, "raid", "jeff", GH_CHAT_FROM_START), GH_OK);
}

/* The naive way numbers the messages of a chat that is made anew from 1, under marks that are higher, and
   nobody sees them. */
static void recreated_chat_shows_new_messages(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    game* b = game_start(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "joe", 6, 0);
    chat_reader* jeff = chat_reader_new(b, "raid", "jeff");
    assert_status(chat_read(jeff), GH_OK);
    chat_handle_all(jeff);
    assert_status(chat_read(jeff), GH_EMPTY);
    uint64_t epoch = jeff->fetch.epoch;
    assert_false(jeff->fetch.renewed);
    assert_status(chat_quit(a, "raid", "joe"), GH_OK);
    assert_status(chat_quit(a, "raid", "jeff"), GH_OK);
    assert_status(chat_make(a, "raid", "jenny jeff", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "jenny", 2, 70);
    jeff->members[0].handled = 6; /* of the old one: must not count for the new one */
    assert_status(chat_read(jeff), GH_OK);
    assert_true(jeff->fetch.renewed);
    assert_true(jeff->fetch.epoch > epoch);
    assert_int_equal(jeff->fetch.count, 2);
    assert_numbers(jeff->fetch.messages, 2, 70, 1);
    assert_int_equal(jeff->members[0].handled, 0);

    gh_chat_commit* commit = GAME_NEW(b, gh_chat_commit);
    jeff->members[0].handled = 2;
    assert_status(gh_chat_commit_begin(commit, ON_CHAT(b->client, jeff->chat), epoch, jeff->members, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&commit->op) != GH_PENDING);
    assert_status(gh_op_poll(&commit->op), GH_RESTARTED);
    assert_int_equal(redis_server_integer(server, "ZSCORE gh:{chat:raid}:v jeff"), 0);
    assert_status(gh_chat_commit_begin(commit, ON_CHAT(b->client, jeff->chat), jeff->fetch.epoch, jeff->members, 1),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&commit->op) != GH_PENDING);
    assert_status(gh_op_poll(&commit->op), GH_OK);
    assert_int_equal(jeff->members[0].seen, 2);
}

/* ---- 7: the caller's list, and senders that die -------------------------------------------------------- */

/* The naive way adds the sender to the list of members that the caller gave. */
static void list_of_members_stays_as_it_was(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    size_t count;
    gh_str* members = talk_names(a, "joe jeff jenny", &count);
    gh_str* before = GAME_NEW_ARRAY(a, gh_str, count);
    memcpy(before, members, count * sizeof(*members));
    gh_post* first = talk_numbers(a, "joe", 1, 0);
    gh_chat_change* change = GAME_NEW(a, gh_chat_change);
    for (int i = 0; i < 2; i++) /* the same list serves for the next chat */
    {
        char* name = GAME_NEW_ARRAY(a, char, 24);
        snprintf(name, 24, "raid %d", i);
        assert_status(gh_chat_create_begin(change, ON_CHAT(a->client, gh_str_of(name)), members, count, first), GH_OK);
        GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
        assert_status(gh_op_poll(&change->op), GH_OK);
        assert_memory_equal(members, before, count * sizeof(*members));
        assert_int_equal(redis_server_integer(server, "ZCARD gh:{chat:raid%%20%d}:v", i), 3);
    }
}

/* Sends as fast as it can until it is killed. */
static int send_on(void* context, int results)
{
    game_forget_all();
    game* self = game_start(context);
    gh_chat_send* send = GAME_NEW(self, gh_chat_send);
    gh_post* posts = talk_numbers(self, "joe", 1, 0);
    for (bool told = false;; game_tick_all())
    {
        gh_status status = gh_op_poll(&send->op);
        CHILD_CHECK(status == GH_IDLE || status == GH_PENDING || status == GH_OK);
        if (status == GH_OK && !told) told = write(results, "!", 1) == 1;
        if (status == GH_PENDING) continue;
        CHILD_CHECK(gh_chat_send_begin(send, ON_CHAT(self->client, gh_str_literal("raid")), posts, 1) == GH_OK);
    }
}

/* The naive way sends under a lock without a lease: who dies with it ends the chat for everybody. */
static void sender_that_dies_stops_nobody(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    for (int i = 0; i < 5; i++)
    {
        char byte;
        child_process* child = child_start(send_on, (void*)(uintptr_t)redis_server_address(server));
        assert_int_equal(child_read(child, &byte, 1), 1); /* it is in the middle of it */
        child_kill9(child);
        gh_post* post = talk_numbers(a, "jeff", 1, 0);
        assert_status(chat_say(a, "raid", post, 1), GH_OK); /* under such a lock it would end with its timeout */
        assert_true(post->id > 0);
    }
}

TEST_FILE(defects_talk, cmocka_unit_test(silent_chats_are_asked_in_pauses),
          cmocka_unit_test(unhandled_messages_come_again), cmocka_unit_test(slower_reader_moves_nothing_back),
          cmocka_unit_test(absent_member_keeps_nothing_for_ever),
          cmocka_unit_test(last_leave_beside_a_send_and_a_join_leaves_no_orphan),
          cmocka_unit_test(joining_a_missing_chat_makes_nothing), cmocka_unit_test(recreated_chat_shows_new_messages),
          cmocka_unit_test(list_of_members_stays_as_it_was), cmocka_unit_test(sender_that_dies_stops_nobody));
