/* What a push, a send or a fetch says at its end is true: also when its answer was lost and the next thing that is
   heard is a refusal, when a chat's numbers are odd, and for a player who has left. */

#include "support/server/proxy.h"
#include "support/scene/talk.h"

#include <stdio.h>
#include <string.h>

#define KEEP 1000
#define MANY 100
#define RAID gh_str_literal("raid")

/* ---- carried out, and then refused --------------------------------------------------------------------- */

typedef struct refusal
{
    redis_server* server;
    chaos_proxy* proxy;
    game* game;
    gh_mailbox_push push;
    gh_chat_send send;
    gh_post* posts;
} refusal;

static refusal* refusal_new(void)
{
    redis_server* server = redis_server_start(NULL);
    redis_server_do(server, "ACL SETUSER player on >secret ~* &* +@all");
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    gh_client_config config = game_config(proxy_address(proxy));
    config.user = gh_str_literal("player");
    config.password = gh_str_literal("secret");
    config.wake = false;
    game* made = game_start_with(&config);
    refusal* self = GAME_NEW(made, refusal);
    self->server = server;
    self->proxy = proxy;
    self->game = made;
    self->posts = talk_numbers(made, "joe", 4, 0);
    assert_status(chat_make(made, "raid", "joe", KEEP, MANY), GH_OK);
    chat_say_numbers(made, "raid", "joe", 1, 0);
    assert_status(gh_mailbox_push_begin(&self->push, ON_MAILBOX(made->client, RAID), self->posts, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->push.op) == GH_OK); /* all scripts are known from now on */
    return self;
}

/* The answer gets lost with the link, and there is no other link until both rules hold. */
static gh_status lose_answer(refusal* self, bool chat, const char* rule, const char* other)
{
    uint64_t fired = proxy_fired(self->proxy);
    gh_status status = GH_PENDING;
    proxy_arm(self->proxy, PROXY_REPLY, 0, PROXY_FIN);
    proxy_set_mode(self->proxy, PROXY_REFUSE);
    if (chat)
        assert_status(gh_chat_send_begin(&self->send, ON_CHAT_WITHIN(self->game->client, RAID, 10 * SECOND_US),
                                         self->posts + 1, 1),
                      GH_OK);
    else
        assert_status(gh_mailbox_push_begin(&self->push, ON_MAILBOX(self->game->client, RAID), self->posts + 1, 1),
                      GH_OK);
    GAME_UNTIL(proxy_fired(self->proxy) > fired);
    redis_server_do(self->server, rule);
    if (other != NULL) redis_server_do(self->server, other);
    proxy_set_mode(self->proxy, PROXY_PASS);
    GAME_UNTIL((status = chat ? gh_op_poll(&self->send.op) : gh_op_poll(&self->push.op)) != GH_PENDING);
    assert_int_equal(redis_server_integer(self->server, "LLEN gh:{%s:raid}:m", chat ? "chat" : "mailbox"), 2);
    return status;
}

static void push_that_was_stored_is_not_refused(void** state)
{
    (void)state;
    static const char* const rules[] = {"ACL SETUSER player -evalsha -eval", "ACL SETUSER player -rpush",
                                        "ACL SETUSER player resetpass >other", "ACL SETUSER player off"};
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        for (int chat = 0; chat < 2; chat++)
        {
            refusal* self = refusal_new();
            gh_status status = lose_answer(self, chat == 1, rules[i], NULL);
            if (status != GH_UNKNOWN)
                fail_msg("%s, after %s: %s", chat ? "send" : "push", rules[i], gh_status_name(status));
            proxy_end(self->proxy);
            redis_server_end(self->server);
            game_end(self->game);
        }
}

/* What was said may have been read before the store forgot who said it, and that he was there. */
static void sender_who_is_forgotten_is_not_told_that_he_said_nothing(void** state)
{
    (void)state;
    refusal* self = refusal_new();
    gh_status status = lose_answer(self, true, "HDEL gh:{chat:raid}:s w", "ZREM gh:{chat:raid}:v joe");
    assert_status(status, GH_UNKNOWN);
    assert_status(self->posts[1].status, GH_UNKNOWN);
}

/* A mailbox is full by the time a push is asked for again, because of that very push. */
static void full_is_not_said_of_what_was_stored(void** state)
{
    (void)state;
    refusal* self = refusal_new();
    gh_mailbox_config config = gh_mailbox_config_default();
    config.capacity = 2;
    config.timeout_us = 10 * SECOND_US;
    proxy_arm(self->proxy, PROXY_REPLY, 0, PROXY_FIN);
    assert_status(
        gh_mailbox_push_begin(&self->push, ON_MAILBOX_WITH(self->game->client, RAID, &config), self->posts + 1, 1),
        GH_OK);
    GAME_UNTIL(gh_op_poll(&self->push.op) != GH_PENDING);
    assert_status(gh_op_poll(&self->push.op), GH_OK); /* it is recognised */
    proxy_arm(self->proxy, PROXY_REPLY, 0, PROXY_FIN);
    assert_status(
        gh_mailbox_push_begin(&self->push, ON_MAILBOX_WITH(self->game->client, RAID, &config), self->posts + 2, 1),
        GH_OK);
    GAME_UNTIL(gh_op_poll(&self->push.op) != GH_PENDING);
    assert_status(gh_op_poll(&self->push.op), GH_UNKNOWN); /* the first copy may come late */
    assert_status(
        gh_mailbox_push_begin(&self->push, ON_MAILBOX_WITH(self->game->client, RAID, &config), self->posts + 3, 1),
        GH_OK);
    GAME_UNTIL(gh_op_poll(&self->push.op) != GH_PENDING);
    assert_status(gh_op_poll(&self->push.op), GH_FULL);
    assert_int_equal(redis_server_integer(self->server, "LLEN gh:{mailbox:raid}:m"), 2);
}

/* ---- odd numbers --------------------------------------------------------------------------------------- */

/* The size of the largest entry is what a long backlog is read by. */
static void odd_sizes_divide_nothing(void** state)
{
    (void)state;
    static const char* const sizes[] = {"4294967295", "4294967296", "18446744073709551615", "-1", "65665", "nan"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "joe", 320, 0);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
    {
        chat_reader* joe = chat_reader_new(a, "raid", "joe");
        joe->config.messages_max = 1000;
        redis_server_do(server, "HSET gh:{chat:raid}:s x %s", sizes[i]);
        assert_status(chat_read(joe), GH_CORRUPT);
        assert_status(chat_say(a, "raid", talk_numbers(a, "joe", 1, 0), 1), GH_CORRUPT);
    }
    redis_server_do(server, "HSET gh:{chat:raid}:s x 65664");
    chat_reader* joe = chat_reader_new(a, "raid", "joe");
    joe->config.messages_max = 1000;
    assert_status(chat_read(joe), GH_OK);
    assert_numbers(joe->fetch.messages, 320, 0, 1);
}

/* ---- who has left -------------------------------------------------------------------------------------- */

/* As the example of chat.h does it. */
static bool is_shown(const chat_reader* self, size_t member, const char* body)
{
    for (uint32_t i = 0; i < self->fetch.count; i++)
        if (self->fetch.messages[i].id > self->members[member].from &&
            gh_str_equal(self->fetch.messages[i].body, gh_str_of(body)))
            return true;
    return false;
}

static void who_has_left_is_shown_nothing_more(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff jenny", KEEP, MANY), GH_OK);
    chat_reader* here = chat_reader_new(b, "raid", "jeff jenny");
    chat_say_numbers(a, "raid", "joe", 1, 1);
    assert_status(chat_read(here), GH_OK);
    assert_true(is_shown(here, 0, "1") && is_shown(here, 1, "1"));
    assert_status(chat_quit(a, "raid", "jeff"), GH_OK);
    chat_say_numbers(a, "raid", "joe", 1, 2);
    assert_status(chat_read(here), GH_OK);
    assert_status(here->members[0].status, GH_NOT_MEMBER);
    assert_true(!is_shown(here, 0, "2") && is_shown(here, 1, "2"));
    chat_reader* stranger = chat_reader_new(b, "raid", "spy jenny"); /* was never one */
    assert_status(chat_read(stranger), GH_OK);
    assert_true(!is_shown(stranger, 0, "1") && is_shown(stranger, 1, "1"));
    assert_status(chat_enter(a, "raid", "jeff", GH_CHAT_FROM_NOW), GH_OK);
    chat_say_numbers(a, "raid", "joe", 1, 3);
    assert_status(chat_read(here), GH_OK);
    assert_true(is_shown(here, 0, "3") && !is_shown(here, 0, "2") && is_shown(here, 1, "3"));
}

/* A fetch of several requests: who leaves between two of them is not shown what is said then. */
static void who_leaves_in_the_middle_is_shown_nothing_later(void** state)
{
    (void)state;
    enum
    {
        OTHERS = 70 /* more than one request asks about */
    };
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(proxy_address(proxy));
    char names[OTHERS * 5 + 16] = "jeff";
    for (int i = 0; i < OTHERS; i++) snprintf(names + strlen(names), 6, " p%d", i);
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    for (int i = 0; i < OTHERS; i++)
    {
        char name[8];
        snprintf(name, sizeof(name), "p%d", i);
        assert_status(chat_enter(a, "raid", name, GH_CHAT_FROM_NOW), GH_OK);
    }
    chat_reader* here = chat_reader_new(b, "raid", names);
    chat_say_numbers(a, "raid", "joe", 1, 1);
    assert_status(chat_read(here), GH_OK);
    chat_say_numbers(a, "raid", "joe", 1, 2);
    proxy_arm(proxy, PROXY_REPLY, 1, PROXY_HOLD); /* the first answer is on its way: jeff is a member */
    chat_read_begin(here);
    long long asked = redis_server_calls(server, "evalsha");
    GAME_UNTIL(redis_server_calls(server, "evalsha") > asked);
    assert_status(chat_quit(a, "raid", "jeff"), GH_OK);
    chat_say_numbers(a, "raid", "joe", 1, 3);
    proxy_release(proxy);
    assert_status(chat_read_settle(here), GH_OK);
    assert_true(is_shown(here, 0, "2") && is_shown(here, 1, "2"));
    assert_true(!is_shown(here, 0, "3"));
    assert_status(chat_read(here), GH_OK);
    assert_true(!is_shown(here, 0, "3") && is_shown(here, 1, "3"));
}

/* Who has left has the note taken away that was made until then. When the answer comes late, another client may have
   let the player in again: what it has noted is about a member. */
static void late_answer_of_a_leave_takes_no_younger_note(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* b = game_start_deaf(proxy_address(proxy));
    gh_chat_change* leave = GAME_NEW(b, gh_chat_change);
    assert_status(chat_make(b, "raid", "joe jeff mia", KEEP, MANY), GH_OK);
    assert_status(chat_quit(b, "raid", "mia"), GH_OK); /* the script is known from now on */
    proxy_arm(proxy, PROXY_REPLY, 0, PROXY_FIN);
    proxy_set_mode(proxy, PROXY_REFUSE);
    assert_status(gh_chat_leave_begin(leave, ON_CHAT_WITHIN(b->client, RAID, 20 * SECOND_US), gh_str_of("jeff")),
                  GH_OK);
    GAME_UNTIL(proxy_fired(proxy) > 0);
    assert_status(chat_enter(a, "raid", "jeff", GH_CHAT_FROM_NOW), GH_OK);
    proxy_set_mode(proxy, PROXY_PASS);
    GAME_UNTIL(gh_op_poll(&leave->op) != GH_PENDING);
    assert_status(gh_op_poll(&leave->op), GH_OK);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chat:raid}:v"), 2);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chats:jeff}:l"), 1);
}

TEST_FILE(talk_outcomes, cmocka_unit_test(push_that_was_stored_is_not_refused),
          cmocka_unit_test(sender_who_is_forgotten_is_not_told_that_he_said_nothing),
          cmocka_unit_test(full_is_not_said_of_what_was_stored), cmocka_unit_test(odd_sizes_divide_nothing),
          cmocka_unit_test(who_has_left_is_shown_nothing_more),
          cmocka_unit_test(who_leaves_in_the_middle_is_shown_nothing_later),
          cmocka_unit_test(late_answer_of_a_leave_takes_no_younger_note));
