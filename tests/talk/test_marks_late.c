/* Copies of changes that hang on the way for longer than the store keeps marks of their clients: they do nothing. And
   whoever has the store's clock wrong is told so, and is carried out all the same. */

#include "support/scene/social.h"
#include "support/scene/talk.h"
#include "support/server/proxy.h"

#include "client/state.h"

#define NAME   gh_str_of(object)
#define FRIEND gh_str_literal("jeff")

enum
{
    MARKS_S = 1300 /* later there is none any more */
};

static const char* object = "jason"; /* whose mailbox, chat, guild and contacts */

/* ---- one change of each kind ----------------------------------------------------------------------------- */

static gh_status push_mail(game* from)
{
    gh_mailbox_push* op = GAME_NEW(from, gh_mailbox_push);
    assert_status(gh_mailbox_push_begin(op, ON_MAILBOX(from->client, NAME), talk_numbers(from, "jeff", 1, 1), 1),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    return gh_op_poll(&op->op);
}

static gh_status say_it(game* from)
{
    return chat_say(from, object, talk_numbers(from, "jeff", 1, 1), 1);
}

static gh_status make_chat(game* from)
{
    return chat_make(from, object, "jeff", 100, 10);
}

static gh_status change_guild(game* from, bool join)
{
    gh_guild_change* op = GAME_NEW(from, gh_guild_change);
    gh_guild_member* member = GAME_NEW(from, gh_guild_member);
    const gh_guild* guild = a_guild(from->client, NAME, NULL);
    member->name = FRIEND;
    if (join) assert_status(gh_guild_join_begin(op, guild, member, 1), GH_OK);
    else assert_status(gh_guild_leave_begin(op, guild, member, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    return gh_op_poll(&op->op);
}

static gh_status join_guild(game* from)
{
    return change_guild(from, true);
}

static gh_status leave_guild(game* from)
{
    return change_guild(from, false);
}

static gh_status touch_contact(game* from)
{
    gh_contacts_change* op = GAME_NEW(from, gh_contacts_change);
    assert_status(gh_contacts_touch_begin(op, some_contacts(from->client, NAME, NULL), FRIEND), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    return gh_op_poll(&op->op);
}

static gh_status remove_contact(game* from)
{
    gh_contacts_change* op = GAME_NEW(from, gh_contacts_change);
    assert_status(gh_contacts_remove_begin(op, some_contacts(from->client, NAME, NULL), FRIEND), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    return gh_op_poll(&op->op);
}

/* What is there first; what hangs; what another does since; and what is there then. */
typedef struct late_change
{
    gh_status (*before)(game* from); /* NULL: nothing */
    gh_status (*change)(game* from);
    gh_status (*since)(game* from);
    const char* look;
    long long there;
} late_change;

static const late_change changes[] = {
    {NULL, push_mail, push_mail, "LLEN gh:{mailbox:jason}:m", 2},
    {make_chat, say_it, say_it, "LLEN gh:{chat:jason}:m", 2},
    {NULL, join_guild, leave_guild, "ZCARD gh:{guild:jason}:m", 0},
    {join_guild, leave_guild, join_guild, "ZCARD gh:{guild:jason}:m", 1},
    {NULL, touch_contact, remove_contact, "LLEN gh:{contacts:jason}:l", 0},
    {touch_contact, remove_contact, touch_contact, "LLEN gh:{contacts:jason}:l", 1},
};

/* ---- tests -------------------------------------------------------------------------------------------------- */

static game* start_behind(chaos_proxy* proxy)
{
    gh_client_config config = game_config(proxy_address(proxy));
    config.wake = false;
    config.request_timeout_us = SECOND_US / 20 * suite_patience();
    game* self = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(self->client));
    return self;
}

static void copy_that_outlives_its_mark(const late_change* late)
{
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* near = game_start_ready(redis_server_address(server));
    game* far = start_behind(proxy);
    object = "steve"; /* the far one loads the script that it will want */
    if (late->before != NULL) assert_status(late->before(near), GH_OK);
    assert_status(late->change(far), GH_OK);
    object = "jason";
    if (late->before != NULL) assert_status(late->before(near), GH_OK);
    proxy_arm_connection(proxy, proxy_connections(proxy), PROXY_REQUEST, 0, PROXY_HOLD);
    assert_status(late->change(far), GH_OK);
    assert_int_equal(proxy_fired(proxy), 1);
    GAME_UNTIL(gh_client_ready(far->client));
    redis_server_shift_clock(server, (int64_t)(MARKS_S * SECOND_US));
    assert_status(late->since(near), GH_OK);
    assert_int_equal(redis_server_integer(server, late->look), late->there);
    long long calls = redis_server_calls(server, "evalsha");
    proxy_release(proxy);
    WAIT_FOR(redis_server_calls(server, "evalsha") > calls);
    assert_int_equal(redis_server_integer(server, late->look), late->there);
    game_end(far);
    game_end(near);
}

static void copy_that_outlives_its_mark_does_nothing(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) copy_that_outlives_its_mark(&changes[i]);
}

/* The store's clock is set forward, and then back: neither is heard of by whoever asks nothing. */
static void clock_that_was_set_costs_a_round_trip(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    game* self = game_start_ready(redis_server_address(server));
    redis_server_shift_clock(server, (int64_t)(100 * SECOND_US));
    assert_status(join_guild(self), GH_OK);
    assert_int_equal(game_stats(self).retries, 1);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{guild:jason}:m"), 1);
    assert_status(push_mail(self), GH_OK); /* of another object, and by now it is known */
    assert_int_equal(game_stats(self).retries, 1);
    redis_server_shift_clock(server, 0);
    assert_status(touch_contact(self), GH_OK);
    assert_int_equal(game_stats(self).retries, 1);
}

TEST_FILE(marks_late, cmocka_unit_test(copy_that_outlives_its_mark_does_nothing),
          cmocka_unit_test(clock_that_was_set_costs_a_round_trip));
