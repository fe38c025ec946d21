/* Mailboxes as objects: what init refuses, each begin says; a value, which nothing needs behind a begin. */

#include "support/scene/talk.h"

#include <string.h>

#define JASON gh_str_literal("jason")

typedef struct mail
{
    game* from;
    gh_mailbox_push push;
    gh_mailbox_fetch fetch;
    gh_mailbox_fetch_config config;
    gh_mailbox_commit commit;
    gh_post* posts;
    _Alignas(8) char buffer[4096];
} mail;

static mail* mail_of(game* from)
{
    mail* self = GAME_NEW(from, mail);
    self->from = from;
    self->posts = talk_numbers(from, "joe", 3, 1);
    self->config = gh_mailbox_fetch_config_default();
    self->config.buffer = self->buffer;
    self->config.buffer_size = sizeof(self->buffer);
    return self;
}

static void begins_must_say(game* a, const gh_mailbox* bad, gh_status status)
{
    mail* m = mail_of(a);
    uint64_t begun = game_stats(a).ops_begun;
    ON_BAD(a, &m->push, gh_mailbox_push_begin(&m->push, bad, m->posts, 3), status);
    ON_BAD(a, &m->fetch, gh_mailbox_fetch_begin(&m->fetch, bad, &m->config), status);
    ON_BAD(a, &m->commit, gh_mailbox_commit_begin(&m->commit, bad, 1, 1), status);
    assert_int_equal(game_stats(a).ops_begun, begun);
}

static void must_be_refused(game* a, gh_client* client, gh_str name, const gh_mailbox_config* config, gh_status status)
{
    gh_mailbox bad;
    assert_status(gh_mailbox_init(&bad, client, name, config), status);
    begins_must_say(a, &bad, status);
    bad = mailbox_made(a->client, JASON, NULL); /* made again, it is a good one */
    mail* m = mail_of(a);
    assert_status(gh_mailbox_fetch_begin(&m->fetch, &bad, &m->config), GH_OK);
    gh_op_cancel(&m->fetch.op);
}

static void bad_mailboxes_are_told_by_init_and_by_begin(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_mailbox_config config = gh_mailbox_config_default();
    gh_mailbox zeroed = {0};
    char bytes[GH_NAME_SIZE_MAX + 1];
    memset(bytes, 'x', sizeof(bytes));
    assert_int_equal(config.capacity, 1000);
    assert_int_equal(config.timeout_us, 5 * SECOND_US);
    assert_status(gh_mailbox_init(NULL, a->client, JASON, NULL), GH_INVALID_OBJECT);
    begins_must_say(a, NULL, GH_INVALID_OBJECT);
    begins_must_say(a, &zeroed, GH_INVALID_OBJECT);
    must_be_refused(a, NULL, JASON, NULL, GH_INVALID_CLIENT);
    const gh_str names[] = {{"", 0}, {NULL, 3}, {bytes, sizeof(bytes)}, {bytes, SIZE_MAX}};
    for (int i = 0; i < 4; i++) must_be_refused(a, a->client, names[i], &config, GH_INVALID_NAME);
    static const uint32_t capacities[] = {0, GH_MAILBOX_CAPACITY_MAX + 1, UINT32_MAX};
    for (int i = 0; i < 3; i++)
    {
        config.capacity = capacities[i];
        must_be_refused(a, a->client, JASON, &config, GH_INVALID_LIMIT);
    }
    config.capacity = GH_MAILBOX_CAPACITY_MAX;
    static const uint64_t timeouts[] = {0, 999, 60 * SECOND_US + 1, UINT64_MAX};
    for (int i = 0; i < 4; i++)
    {
        config.timeout_us = timeouts[i];
        must_be_refused(a, a->client, JASON, &config, GH_INVALID_TIMEOUT);
    }
    memset(&config, 0, sizeof(config));
    must_be_refused(a, a->client, JASON, &config, GH_INVALID_CONFIG);
}

static void ends_of_each_range_work(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    mail* m = mail_of(a);
    gh_mailbox_config config = gh_mailbox_config_default();
    config.timeout_us = 60 * SECOND_US;
    config.capacity = GH_MAILBOX_CAPACITY_MAX;
    assert_status(gh_mailbox_push_begin(&m->push, ON_MAILBOX_WITH(a->client, JASON, &config), m->posts, 3), GH_OK);
    GAME_UNTIL(gh_op_poll(&m->push.op) != GH_PENDING);
    assert_status(gh_op_poll(&m->push.op), GH_OK);
    config.timeout_us = 1000;
    config.capacity = 1;
    assert_status(gh_mailbox_push_begin(&m->push, ON_MAILBOX_WITH(a->client, JASON, &config), m->posts, 1), GH_OK);
    gh_op_cancel(&m->push.op);
    assert_status(gh_op_poll(&m->push.op), GH_CANCELLED);
}

/* Each op has begun on a mailbox that is nothing any more when the store is asked. */
static void mailbox_is_a_value(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    mail* m = mail_of(a);
    mail* more = mail_of(a);
    gh_mailbox_config config = gh_mailbox_config_default();
    config.capacity = 3;
    gh_mailbox first = mailbox_made(a->client, JASON, &config);
    memset(&config, '!', sizeof(config));
    gh_mailbox copy = first;
    gh_mailbox* moved = GAME_NEW(a, gh_mailbox);
    assert_status(gh_mailbox_push_begin(&m->push, &first, m->posts, 3), GH_OK);
    memset(&first, '!', sizeof(first));
    assert_status(gh_mailbox_push_begin(&more->push, &copy, more->posts, 1), GH_OK); /* one more than it takes */
    memcpy(moved, &copy, sizeof(copy));
    memset(&copy, '!', sizeof(copy));
    GAME_UNTIL(gh_op_poll(&more->push.op) != GH_PENDING);
    assert_status(gh_op_poll(&m->push.op), GH_OK);
    assert_status(gh_op_poll(&more->push.op), GH_FULL);
    assert_status(gh_mailbox_fetch_begin(&m->fetch, moved, &m->config), GH_OK);
    memset(&m->config, '!', sizeof(m->config));
    first = *moved;
    memset(moved, '!', sizeof(*moved));
    GAME_UNTIL(gh_op_poll(&m->fetch.op) != GH_PENDING);
    assert_status(gh_op_poll(&m->fetch.op), GH_OK);
    assert_int_equal(m->fetch.count, 3);
    assert_numbers(m->fetch.messages, m->fetch.count, 1, 1);
    assert_status(gh_mailbox_commit_begin(&m->commit, &first, m->fetch.epoch, 2), GH_OK);
    memset(&first, '!', sizeof(first));
    GAME_UNTIL(gh_op_poll(&m->commit.op) != GH_PENDING);
    assert_status(gh_op_poll(&m->commit.op), GH_OK);
    assert_int_equal(m->commit.unread, 1);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{mailbox:jason}:m"), 1);
    assert_int_equal(redis_server_integer(server, "EVAL %s 0", "return #redis.call('KEYS', '*!!*')"), 0);
}

/* The capacity is that of the mailbox that is pushed through; the store knows none. */
static void capacity_is_of_who_pushes(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    mail* m = mail_of(a);
    gh_mailbox_config config = gh_mailbox_config_default();
    static const uint32_t capacities[] = {3, 5, 6, 6};
    static const gh_status ends[] = {GH_OK, GH_FULL, GH_OK, GH_FULL};
    for (int i = 0; i < 4; i++)
    {
        config.capacity = capacities[i];
        gh_mailbox jason = mailbox_made(a->client, JASON, &config);
        assert_status(gh_mailbox_push_begin(&m->push, &jason, m->posts, 3), GH_OK);
        GAME_UNTIL(gh_op_poll(&m->push.op) != GH_PENDING);
        assert_status(gh_op_poll(&m->push.op), ends[i]);
    }
}

/* timeout_us is that of each op, also of one that waits for news: without an answer, it does not wait on. Others do. */
static void timeout_is_of_each_op(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    mail* m = mail_of(a);
    gh_mailbox hasty = mailbox_within(a->client, JASON, 50000);
    mail* other = mail_of(a);
    m->config.wait_us = 3600 * SECOND_US;
    redis_server_freeze(server);
    assert_status(
        gh_mailbox_fetch_begin(&other->fetch, ON_MAILBOX_WITHIN(a->client, JASON, 60 * SECOND_US), &other->config),
        GH_OK);
    assert_status(gh_mailbox_push_begin(&m->push, &hasty, m->posts, 1), GH_OK);
    assert_status(gh_mailbox_fetch_begin(&m->fetch, &hasty, &m->config), GH_OK);
    assert_status(gh_mailbox_commit_begin(&m->commit, &hasty, 1, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&m->push.op) != GH_PENDING && gh_op_poll(&m->fetch.op) != GH_PENDING &&
               gh_op_poll(&m->commit.op) != GH_PENDING);
    if (gh_op_poll(&m->push.op) != GH_TIMEOUT) assert_status(gh_op_poll(&m->push.op), GH_UNKNOWN);
    assert_status(gh_op_poll(&m->fetch.op), GH_TIMEOUT);
    if (gh_op_poll(&m->commit.op) != GH_TIMEOUT) assert_status(gh_op_poll(&m->commit.op), GH_UNKNOWN);
    assert_status(gh_op_poll(&other->fetch.op), GH_PENDING);
    redis_server_thaw(server);
    GAME_UNTIL(gh_op_poll(&other->fetch.op) != GH_PENDING);
    assert_int_not_equal(gh_op_poll(&other->fetch.op), GH_TIMEOUT);
}

static void mailbox_of_a_client_that_was_shut_down(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    mail* m = mail_of(a);
    gh_mailbox jason = mailbox_made(a->client, JASON, NULL);
    gh_client_shutdown(a->client);
    assert_status(gh_mailbox_push_begin(&m->push, &jason, m->posts, 1), GH_INVALID_CLIENT);
    assert_status(gh_mailbox_fetch_begin(&m->fetch, &jason, &m->config), GH_INVALID_CLIENT);
    assert_status(gh_mailbox_commit_begin(&m->commit, &jason, 1, 1), GH_INVALID_CLIENT);
    assert_status(gh_op_poll(&m->push.op), GH_INVALID_CLIENT);
    assert_status(gh_op_poll(&m->fetch.op), GH_INVALID_CLIENT);
    assert_status(gh_op_poll(&m->commit.op), GH_INVALID_CLIENT);
    assert_status(gh_mailbox_init(&jason, a->client, JASON, NULL), GH_INVALID_CLIENT);
}

TEST_FILE(mailbox_object, cmocka_unit_test(bad_mailboxes_are_told_by_init_and_by_begin),
          cmocka_unit_test(ends_of_each_range_work), cmocka_unit_test(mailbox_is_a_value),
          cmocka_unit_test(capacity_is_of_who_pushes), cmocka_unit_test(timeout_is_of_each_op),
          cmocka_unit_test(mailbox_of_a_client_that_was_shut_down));
