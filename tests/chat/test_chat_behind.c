/* Members who are behind: who joins between two fetches, and who has missed something, when a fetch ends before it
   tells; and a long backlog that is read on over another link. */

#include "support/scene/talk.h"
#include "support/server/proxy.h"

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

/* Its fetch has found out that the chat was made anew, and was cancelled. */
static chat_reader* reader_of_a_renewed_chat(game* a)
{
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
    return self;
}

static void renewal_is_told_behind_a_fetch_that_was_cancelled(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chat_reader* self = reader_of_a_renewed_chat(game_start_ready(redis_server_address(server)));
    assert_status(chat_read(self), GH_OK);
    assert_true(self->fetch.renewed);
    assert_numbers(self->fetch.messages, 2, 0, 1);
    assert_status(chat_read(self), GH_EMPTY);
    assert_false(self->fetch.renewed);
}

/* The same op, for another chat. */
static void renewal_is_told_of_no_other_chat(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    chat_reader* self = reader_of_a_renewed_chat(a);
    assert_status(chat_make(a, "hall", "joe", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "hall", "joe", 1, 0);
    self->members = chat_reader_new(a, "hall", "joe")->members;
    self->chat = gh_str_literal("hall");
    assert_status(chat_read(self), GH_OK);
    assert_false(self->fetch.renewed);
}

/* ---- another link ------------------------------------------------------------------------------------------- */

enum
{
    SAVED = 100, /* messages that the store has when it is back */
    SAID = 320
};

/* A long backlog is on its way when the store comes back with older data and with a clock that is behind. What was said
   there since has ids that look right, and was stored before the last look at the chat. */
static void backlog_is_not_read_on_in_an_older_store(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.clock = true});
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_patient(proxy_address(proxy));
    chat_reader* self = chat_reader_new(b, "raid", "joe");
    self->config.messages_max = 1000;
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "jeff", SAVED, 0);
    redis_server_do(server, "SAVE");
    chat_say_numbers(a, "raid", "jeff", SAID - SAVED, SAVED);
    proxy_chop(proxy, PROXY_REPLY, 256, 1000); /* the link ends in the middle of a long answer */
    assert_status(gh_chat_fetch_begin(&self->fetch, ON_CHAT_WITHIN(b->client, self->chat, 60 * SECOND_US),
                                      self->members, self->count, &self->config),
                  GH_OK);
    GAME_UNTIL(self->fetch.count > 0);
    assert_status(gh_op_poll(&self->fetch.op), GH_PENDING);
    const uint64_t before = self->fetch.epoch;
    proxy_set_mode(proxy, PROXY_REFUSE);
    proxy_cut_now(proxy, PROXY_FIN);
    proxy_chop(proxy, PROXY_REPLY, 0, 0);
    redis_server_kill9(server);
    redis_server_restart(server);
    redis_server_shift_clock(server, -60 * (int64_t)SECOND_US);
    GAME_UNTIL(gh_client_ready(a->client));
    chat_say_numbers(a, "raid", "jeff", SAID - SAVED, 1000);
    proxy_set_mode(proxy, PROXY_PASS);
    assert_status(chat_read_settle(self), GH_OK);
    for (uint32_t i = 0; i < self->fetch.count; i++)
        if ((self->fetch.messages[i].epoch == before) != (self->fetch.messages[i].id <= SAVED))
            fail_msg("%llu is of the epoch %s", (unsigned long long)self->fetch.messages[i].id,
                     self->fetch.messages[i].epoch == before ? "before the loss" : "behind the loss");
}

TEST_FILE(chat_behind, cmocka_unit_test(who_joins_from_the_start_is_given_all),
          cmocka_unit_test(who_joins_from_the_start_ends_a_wait),
          cmocka_unit_test(gap_is_told_behind_a_fetch_that_was_cancelled),
          cmocka_unit_test(renewal_is_told_behind_a_fetch_that_was_cancelled),
          cmocka_unit_test(renewal_is_told_of_no_other_chat),
          cmocka_unit_test(backlog_is_not_read_on_in_an_older_store));
