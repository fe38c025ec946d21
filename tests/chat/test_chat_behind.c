/* Members who are behind: who joins between two fetches. */

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

TEST_FILE(chat_behind, cmocka_unit_test(who_joins_from_the_start_is_given_all),
          cmocka_unit_test(who_joins_from_the_start_ends_a_wait));
