/* Members who are behind: who joins between two fetches, and who has missed something, when a fetch ends before it
   tells. */

#include "support/scene/talk.h"

#define KEEP 1000
#define MANY 100

/* ---- who joins between two fetches -------------------------------------------------------------------------- */

static chat_reader* joe_and_mia(redis_server* server, game* a)
{
    game* b = game_start_ready(redis_server_address(server));
    chat_reader* self = chat_reader_new(b, "raid", "joe mia");
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "jeff", 20, 0);
    assert_status(chat_read(self), GH_OK);
    assert_int_equal(self->fetch.count, 20);
    assert_status(self->members[1].status, GH_NOT_MEMBER);
    return self;
}

static void assert_mia_is_given_all(const chat_reader* self, uint32_t count)
{
    assert_int_equal(self->fetch.count, count);
    assert_numbers(self->fetch.messages, count, 0, 1);
    assert_int_equal(self->members[0].from, 20);
    assert_int_equal(self->members[1].from, 0);
    assert_int_equal(self->members[1].missed, 0);
}

static void who_joins_from_the_start_is_given_all(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    chat_reader* self = joe_and_mia(server, a);
    assert_status(chat_enter(a, "raid", "mia", GH_CHAT_FROM_START), GH_OK);
    chat_say_numbers(a, "raid", "jeff", 1, 20);
    assert_status(chat_read(self), GH_OK);
    assert_mia_is_given_all(self, 21);
    assert_status(chat_read(self), GH_EMPTY);
}

/* The one who is with her waits already, and there is nothing new to him. */
static void who_joins_from_the_start_ends_a_wait(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    chat_reader* self = joe_and_mia(server, a);
    self->config.wait_us = 60 * SECOND_US;
    chat_read_begin(self);
    long long calls = redis_server_calls(server, "evalsha");
    GAME_UNTIL(redis_server_calls(server, "evalsha") > calls);
    assert_status(chat_enter(a, "raid", "mia", GH_CHAT_FROM_START), GH_OK);
    assert_status(chat_read_settle(self), GH_OK);
    assert_mia_is_given_all(self, 20);
}

/* ---- a gap, and a chat that was made anew ------------------------------------------------------------------- */

static void gap_is_told_behind_a_fetch_that_was_cancelled(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    chat_reader* self = chat_reader_new(a, "raid", "joe");
    self->config.messages_max = 1000;
    assert_status(chat_make(a, "raid", "joe jeff", 200, MANY), GH_OK);
    chat_say_numbers(a, "raid", "jeff", 500, 0);
    chat_read_begin(self);
    GAME_UNTIL(self->fetch.count > 0);
    assert_status(gh_op_poll(&self->fetch.op), GH_PENDING);
    gh_op_cancel(&self->fetch.op);
    assert_status(gh_op_poll(&self->fetch.op), GH_CANCELLED);
    assert_status(chat_read(self), GH_OK);
    assert_int_equal(self->members[0].missed, 300);
    assert_int_equal(self->members[0].from, 300);
    assert_numbers(self->fetch.messages, 200, 300, 301);
    chat_say_numbers(a, "raid", "jeff", 1, 500);
    assert_status(chat_read(self), GH_OK);
    assert_int_equal(self->members[0].missed, 0);
}

static void renewal_is_told_behind_a_fetch_that_was_cancelled(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    chat_reader* self = chat_reader_new(a, "raid", "joe");
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "joe", 3, 0);
    assert_status(chat_read(self), GH_OK);
    assert_status(chat_quit(a, "raid", "joe"), GH_OK);
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "joe", 2, 0);
    chat_read_begin(self);
    GAME_UNTIL(self->fetch.renewed);
    assert_status(gh_op_poll(&self->fetch.op), GH_PENDING);
    gh_op_cancel(&self->fetch.op);
    assert_status(chat_read(self), GH_OK);
    assert_true(self->fetch.renewed);
    assert_numbers(self->fetch.messages, 2, 0, 1);
    assert_status(chat_read(self), GH_EMPTY);
    assert_false(self->fetch.renewed);
}

TEST_FILE(chat_behind, cmocka_unit_test(who_joins_from_the_start_is_given_all),
          cmocka_unit_test(who_joins_from_the_start_ends_a_wait),
          cmocka_unit_test(gap_is_told_behind_a_fetch_that_was_cancelled),
          cmocka_unit_test(renewal_is_told_behind_a_fetch_that_was_cancelled));
