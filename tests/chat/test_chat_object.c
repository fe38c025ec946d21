/* Chats as objects: what init refuses, each begin says; a value, which nothing needs behind a begin. */

#include "support/scene/talk.h"

#include <string.h>

#define RAID gh_str_literal("raid")

static const gh_str players[] = {GH_STR_INIT("jason"), GH_STR_INIT("jeff"), GH_STR_INIT("jenny")};

/* One of each op. */
typedef struct talk
{
    gh_chat_change create;
    gh_chat_change join;
    gh_chat_change leave;
    gh_chat_send send;
    gh_post* posts;
    chat_reader* reader;
    gh_chat_commit commit;
    gh_chat_member done;
    gh_chat_members members;
    gh_chat_member_item items[3];
} talk;

static talk* talk_of(game* from)
{
    talk* self = GAME_NEW(from, talk);
    self->posts = talk_numbers(from, "jason", 3, 1);
    self->reader = chat_reader_new(from, "raid", "jason jeff");
    self->done = (gh_chat_member){.name = players[1], .handled = 1};
    return self;
}

static gh_status end_of(const gh_op* op)
{
    GAME_UNTIL(gh_op_poll(op) != GH_PENDING);
    return gh_op_poll(op);
}

static void begins_must_say(game* a, const gh_chat* bad, gh_status status)
{
    talk* t = talk_of(a);
    chat_reader* r = t->reader;
    uint64_t begun = game_stats(a).ops_begun;
    ON_BAD(a, &t->create, gh_chat_create_begin(&t->create, bad, players, 2, NULL), status);
    ON_BAD(a, &t->join, gh_chat_join_begin(&t->join, bad, players[2], GH_CHAT_FROM_NOW), status);
    ON_BAD(a, &t->leave, gh_chat_leave_begin(&t->leave, bad, players[2]), status);
    ON_BAD(a, &t->send, gh_chat_send_begin(&t->send, bad, t->posts, 3), status);
    ON_BAD(a, &r->fetch, gh_chat_fetch_begin(&r->fetch, bad, r->members, r->count, &r->config), status);
    ON_BAD(a, &t->commit, gh_chat_commit_begin(&t->commit, bad, 1, &t->done, 1), status);
    ON_BAD(a, &t->members, gh_chat_members_begin(&t->members, bad, t->items, 3), status);
    assert_int_equal(game_stats(a).ops_begun, begun);
}

static void must_be_refused(game* a, gh_client* client, gh_str name, const gh_chat_config* config, gh_status status)
{
    gh_chat bad;
    assert_status(gh_chat_init(&bad, client, name, config), status);
    begins_must_say(a, &bad, status);
    bad = chat_made(a->client, RAID, NULL); /* made again, it is a good one */
    talk* t = talk_of(a);
    assert_status(gh_chat_members_begin(&t->members, &bad, t->items, 3), GH_OK);
    gh_op_cancel(&t->members.op);
}

static void bad_chats_are_told_by_init_and_by_begin(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_chat_config config = gh_chat_config_default();
    gh_chat zeroed = {0};
    char bytes[GH_NAME_SIZE_MAX + 1];
    memset(bytes, 'x', sizeof(bytes));
    assert_status(gh_chat_init(NULL, a->client, RAID, NULL), GH_INVALID_OBJECT);
    begins_must_say(a, NULL, GH_INVALID_OBJECT);
    begins_must_say(a, &zeroed, GH_INVALID_OBJECT);
    must_be_refused(a, NULL, RAID, NULL, GH_INVALID_CLIENT);
    const gh_str names[] = {{"", 0}, {NULL, 3}, {bytes, sizeof(bytes)}, {bytes, SIZE_MAX}};
    for (int i = 0; i < 4; i++) must_be_refused(a, a->client, names[i], &config, GH_INVALID_NAME);
#define REFUSES(field, value, status)                                                                                  \
    config = gh_chat_config_default();                                                                                 \
    config.field = value;                                                                                              \
    must_be_refused(a, a->client, RAID, &config, status)
    REFUSES(struct_size, 0, GH_INVALID_CONFIG);
    REFUSES(timeout_us, 0, GH_INVALID_TIMEOUT);
    REFUSES(timeout_us, 999, GH_INVALID_TIMEOUT);
    REFUSES(timeout_us, 60 * SECOND_US + 1, GH_INVALID_TIMEOUT);
    REFUSES(timeout_us, UINT64_MAX, GH_INVALID_TIMEOUT);
    REFUSES(keep, 0, GH_INVALID_LIMIT);
    REFUSES(keep, GH_CHAT_KEEP_MAX + 1, GH_INVALID_LIMIT);
    REFUSES(keep, UINT32_MAX, GH_INVALID_LIMIT);
    REFUSES(members_max, 0, GH_INVALID_LIMIT);
    REFUSES(members_max, GH_CHAT_MEMBERS_MAX + 1, GH_INVALID_LIMIT);
    REFUSES(members_max, UINT32_MAX, GH_INVALID_LIMIT);
#undef REFUSES
}

/* Each op has begun on a chat that is nothing any more when the store is asked. */
static void chat_is_a_value(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    talk* t = talk_of(a);
    chat_reader* r = t->reader;
    gh_chat_config config = gh_chat_config_default();
    config.keep = 2;
    config.members_max = 2;
    gh_chat chat = chat_made(a->client, RAID, &config);
    memset(&config, '!', sizeof(config));
#define GONE(begin)                                                                                                    \
    do                                                                                                                 \
    {                                                                                                                  \
        gh_chat* moved = GAME_NEW(a, gh_chat);                                                                         \
        memcpy(moved, &chat, sizeof(chat));                                                                            \
        assert_status((begin), GH_OK);                                                                                 \
        memset(moved, '!', sizeof(*moved));                                                                            \
    } while (0)
    GONE(gh_chat_create_begin(&t->create, moved, players, 2, NULL));
    assert_status(end_of(&t->create.op), GH_OK);
    GONE(gh_chat_send_begin(&t->send, moved, t->posts, 3)); /* one more than it keeps */
    GONE(gh_chat_join_begin(&t->join, moved, players[2], GH_CHAT_FROM_START));
    assert_status(end_of(&t->send.op), GH_OK);
    assert_status(end_of(&t->join.op), GH_FULL);
    GONE(gh_chat_leave_begin(&t->leave, moved, players[0]));
    assert_status(end_of(&t->leave.op), GH_OK);
    GONE(gh_chat_join_begin(&t->join, moved, players[2], GH_CHAT_FROM_START));
    assert_status(end_of(&t->join.op), GH_OK);
    assert_int_equal(t->join.seen, 1);
    GONE(gh_chat_fetch_begin(&r->fetch, moved, r->members, r->count, &r->config));
    assert_status(end_of(&r->fetch.op), GH_OK);
    assert_int_equal(r->fetch.count, 2);
    assert_numbers(r->fetch.messages, 2, 2, 2);
    t->done.handled = 2;
    GONE(gh_chat_commit_begin(&t->commit, moved, r->fetch.epoch, &t->done, 1));
    assert_status(end_of(&t->commit.op), GH_OK);
    assert_int_equal(t->done.seen, 2);
    GONE(gh_chat_members_begin(&t->members, moved, t->items, 3));
    assert_status(end_of(&t->members.op), GH_OK);
    assert_int_equal(t->members.count, 2);
#undef GONE
    assert_int_equal(redis_server_integer(server, "EVAL %s 0", "return #redis.call('KEYS', '*!!*')"), 0);
}

/* keep, members_max and refuse_when_full are of the create that made the chat: what others say changes nothing. */
static void settings_of_who_creates_count(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    talk* t = talk_of(a);
    gh_chat_config least = gh_chat_config_default();
    least.keep = 1;
    least.members_max = 1;
    least.refuse_when_full = true;
    gh_chat wide = chat_made(a->client, RAID, NULL);
    gh_chat narrow = chat_made(b->client, RAID, &least);
    assert_status(gh_chat_create_begin(&t->create, &wide, players, 1, NULL), GH_OK);
    assert_status(end_of(&t->create.op), GH_OK);
    assert_status(gh_chat_create_begin(&t->create, &narrow, players, 1, NULL), GH_OK);
    assert_status(end_of(&t->create.op), GH_EXISTS);
    assert_status(gh_chat_join_begin(&t->join, &narrow, players[1], GH_CHAT_FROM_NOW), GH_OK);
    assert_status(end_of(&t->join.op), GH_OK);
    assert_status(gh_chat_send_begin(&t->send, &narrow, t->posts, 3), GH_OK);
    assert_status(end_of(&t->send.op), GH_OK);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{chat:raid}:m"), 3);
    assert_string_equal(redis_server_text(server, "HGET gh:{chat:raid}:s k"), "1000");
}

/* Who joins from now on is told what comes; from the start, all that is kept. Who is a member stays where it is. */
static void joiners_say_from_where(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_chat raid = chat_made(a->client, RAID, NULL);
    talk* t = talk_of(a);
    const gh_chat_from ways[] = {GH_CHAT_FROM_NOW, GH_CHAT_FROM_START, GH_CHAT_FROM_START};
    const gh_str joiners[] = {players[1], players[2], players[1]};
    const uint64_t seen[] = {3, 0, 3};
    assert_int_equal(GH_CHAT_FROM_NOW, 0);
    assert_status(gh_chat_create_begin(&t->create, &raid, players, 1, NULL), GH_OK);
    assert_status(end_of(&t->create.op), GH_OK);
    assert_status(gh_chat_send_begin(&t->send, &raid, t->posts, 3), GH_OK);
    assert_status(end_of(&t->send.op), GH_OK);
    for (int i = 0; i < 3; i++)
    {
        assert_status(gh_chat_join_begin(&t->join, &raid, joiners[i], ways[i]), GH_OK);
        assert_status(end_of(&t->join.op), GH_OK);
        assert_int_equal(t->join.seen, seen[i]);
    }
}

/* timeout_us is that of each op, also of one that waits for news: without an answer, it does not wait on. Others do. */
static void timeout_is_of_each_op(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_chat hasty = chat_within(a->client, RAID, 50000);
    talk* t = talk_of(a);
    chat_reader* r = t->reader;
    const gh_op* ops[] = {&t->create.op, &t->join.op,   &t->leave.op,  &t->send.op,
                          &r->fetch.op,  &t->commit.op, &t->members.op};
    r->config.wait_us = 3600 * SECOND_US;
    talk* other = talk_of(a);
    redis_server_freeze(server);
    assert_status(
        gh_chat_members_begin(&other->members, ON_CHAT_WITHIN(a->client, RAID, 60 * SECOND_US), other->items, 3),
        GH_OK);
    assert_status(gh_chat_create_begin(&t->create, &hasty, players, 2, NULL), GH_OK);
    assert_status(gh_chat_join_begin(&t->join, &hasty, players[2], GH_CHAT_FROM_NOW), GH_OK);
    assert_status(gh_chat_leave_begin(&t->leave, &hasty, players[2]), GH_OK);
    assert_status(gh_chat_send_begin(&t->send, &hasty, t->posts, 3), GH_OK);
    assert_status(gh_chat_fetch_begin(&r->fetch, &hasty, r->members, r->count, &r->config), GH_OK);
    assert_status(gh_chat_commit_begin(&t->commit, &hasty, 1, &t->done, 1), GH_OK);
    assert_status(gh_chat_members_begin(&t->members, &hasty, t->items, 3), GH_OK);
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
    {
        gh_status status = end_of(ops[i]);
        if (status != GH_TIMEOUT) assert_status(status, GH_UNKNOWN);
    }
    assert_status(gh_op_poll(&other->members.op), GH_PENDING);
    redis_server_thaw(server);
    assert_int_not_equal(end_of(&other->members.op), GH_TIMEOUT);
}

static void chat_of_a_client_that_was_shut_down(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    talk* t = talk_of(a);
    chat_reader* r = t->reader;
    gh_chat raid = chat_made(a->client, RAID, NULL);
    gh_client_shutdown(a->client);
    assert_status(gh_chat_create_begin(&t->create, &raid, players, 2, NULL), GH_INVALID_CLIENT);
    assert_status(gh_chat_join_begin(&t->join, &raid, players[2], GH_CHAT_FROM_NOW), GH_INVALID_CLIENT);
    assert_status(gh_chat_leave_begin(&t->leave, &raid, players[2]), GH_INVALID_CLIENT);
    assert_status(gh_chat_send_begin(&t->send, &raid, t->posts, 3), GH_INVALID_CLIENT);
    assert_status(gh_chat_fetch_begin(&r->fetch, &raid, r->members, r->count, &r->config), GH_INVALID_CLIENT);
    assert_status(gh_chat_commit_begin(&t->commit, &raid, 1, &t->done, 1), GH_INVALID_CLIENT);
    assert_status(gh_chat_members_begin(&t->members, &raid, t->items, 3), GH_INVALID_CLIENT);
    assert_status(gh_op_poll(&t->send.op), GH_INVALID_CLIENT);
    assert_status(gh_op_poll(&r->fetch.op), GH_INVALID_CLIENT);
    assert_status(gh_chat_init(&raid, a->client, RAID, NULL), GH_INVALID_CLIENT);
}

TEST_FILE(chat_object, cmocka_unit_test(bad_chats_are_told_by_init_and_by_begin), cmocka_unit_test(chat_is_a_value),
          cmocka_unit_test(settings_of_who_creates_count), cmocka_unit_test(joiners_say_from_where),
          cmocka_unit_test(timeout_is_of_each_op), cmocka_unit_test(chat_of_a_client_that_was_shut_down));
