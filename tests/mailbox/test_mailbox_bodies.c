/* Mail of any size: what goes out, what comes in, and what is told without its body, so that it blocks nobody. */

#include "support/scene/bodies.h"
#include "support/scene/on.h"
#include "support/server/redis_server.h"

#include <string.h>

#define NAME       gh_str_literal("jason")
#define REPLY_ROOM 2560u /* of a reply, besides messages: MAILBOX_REPLY_ROOM */
#define LARGEST    GH_MESSAGE_SIZE_MAX

typedef struct reader
{
    game* from;
    gh_mailbox_fetch fetch;
    gh_mailbox_fetch_config config;
} reader;

static reader* reader_new(game* from, size_t buffer_size)
{
    reader* self = GAME_NEW(from, reader);
    self->from = from;
    self->config = gh_mailbox_fetch_config_default();
    self->config.messages_max = 1000;
    self->config.buffer = GAME_NEW_ARRAY(from, char, buffer_size);
    self->config.buffer_size = buffer_size;
    return self;
}

static gh_status fetch(reader* self)
{
    assert_status(gh_mailbox_fetch_begin(&self->fetch, ON_MAILBOX(self->from->client, NAME), &self->config), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->fetch.op) != GH_PENDING);
    return gh_op_poll(&self->fetch.op);
}

static gh_status push_to(game* from, gh_str name, gh_post* posts, size_t count)
{
    gh_mailbox_push* op = GAME_NEW(from, gh_mailbox_push);
    gh_status status = gh_mailbox_push_begin(op, ON_MAILBOX(from->client, name), posts, count);
    if (status != GH_OK) return status;
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    return gh_op_poll(&op->op);
}

static gh_status push(game* from, gh_post* posts, size_t count)
{
    return push_to(from, NAME, posts, count);
}

static void push_sizes(game* from, const size_t* sizes, size_t count)
{
    for (size_t i = 0; i < count; i++) assert_status(push(from, bodies_posts(from, &sizes[i], 1), 1), GH_OK);
}

static gh_status commit(game* from, uint64_t epoch, uint64_t id)
{
    gh_mailbox_commit* op = GAME_NEW(from, gh_mailbox_commit);
    assert_status(gh_mailbox_commit_begin(op, ON_MAILBOX(from->client, NAME), epoch, id), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    return gh_op_poll(&op->op);
}

/* ---- out ----------------------------------------------------------------------------------------------- */

static void all_sizes_come_whole(void** state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4096, 4097, 8192, 40000, LARGEST - 1, LARGEST};
    enum
    {
        COUNT = sizeof(sizes) / sizeof(sizes[0])
    };
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    reader* self = reader_new(a, 512 * 1024);
    push_sizes(a, sizes, COUNT);
    assert_status(fetch(self), GH_OK);
    assert_int_equal(self->fetch.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) assert_true(bodies_is_whole(&self->fetch.messages[i], sizes[i]));
    static const size_t two[] = {LARGEST, GH_MESSAGES_BYTES_MAX - LARGEST};
    gh_post* both = bodies_posts(a, two, 2);
    both[0].sender = both[1].sender = gh_str_literal("");
    assert_status(push(a, both, 2), GH_OK);
    both[1].sender = gh_str_literal("x");
    assert_status(push(a, both, 2), GH_INVALID_MESSAGES);
    static const size_t over[] = {LARGEST + 1};
    assert_status(push(a, bodies_posts(a, over, 1), 1), GH_INVALID_MESSAGES);
}

#define OUT         (32u * 1024u)
#define LONG_PREFIX "12345678901234567890123456789012"
#define LONG_NAME   "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{"

/* The largest that begin takes does go out, and the next byte is refused. */
static size_t largest_that_goes_out(const char* address, gh_str prefix, gh_str name)
{
    gh_client_config config = game_config(address);
    config.out_bytes = OUT;
    config.prefix = prefix;
    game* a = game_start_with(&config);
    bool was_refused = false;
    size_t largest = 0;
    for (size_t size = OUT - 2048 - 100; size <= OUT; size++)
    {
        gh_status status = push_to(a, name, bodies_posts(a, &size, 1), 1);
        if (was_refused) assert_status(status, GH_TOO_LARGE);
        assert_true(status == GH_OK || status == GH_TOO_LARGE);
        was_refused = status == GH_TOO_LARGE;
        if (!was_refused) largest = size;
        if (size % 64 != 0 && !was_refused) size += 30;
    }
    assert_int_equal(game_stats(a).links_lost, 0);
    return largest;
}

/* As long as prefix and name can be, and as short: message.h names both. */
static void out_bytes_bounds_what_goes_out(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    const char* address = redis_server_address(server);
    size_t largest = largest_that_goes_out(address, gh_str_literal("gh"), NAME);
    assert_in_range(largest, OUT - 1024 - 64, OUT - 512);
    largest = largest_that_goes_out(address, gh_str_literal(LONG_PREFIX), gh_str_literal(LONG_NAME));
    assert_in_range(largest, OUT - 2048 - 64, OUT - 1536);
}

/* ---- in ------------------------------------------------------------------------------------------------ */

static void large_one_blocks_nobody(void** state)
{
    (void)state;
    static const size_t sizes[] = {5, LARGEST, 6, 40000, 7};
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    game* b = game_start(redis_server_address(server));
    reader* little = reader_new(b, 16384);
    reader* much = reader_new(a, 512 * 1024);
    push_sizes(a, sizes, 5);
    assert_status(fetch(little), GH_OK);
    assert_int_equal(little->fetch.count, 5);
    assert_int_equal(little->fetch.unread, 5);
    for (uint64_t i = 0; i < 5; i++)
    {
        const gh_message* message = &little->fetch.messages[i];
        assert_int_equal(message->id, i + 1);
        assert_true(i % 2 == 0 ? bodies_is_whole(message, sizes[i]) : bodies_is_head(message, sizes[i]));
    }
    little->config.newest = true;
    little->config.messages_max = 2;
    assert_status(fetch(little), GH_OK);
    assert_int_equal(little->fetch.count, 2);
    assert_true(bodies_is_head(&little->fetch.messages[0], 40000));
    assert_true(bodies_is_whole(&little->fetch.messages[1], 7));
    little->config.newest = false;
    little->config.messages_max = 1; /* it alone is an answer, too */
    little->config.after = 1;
    little->config.epoch = little->fetch.epoch;
    assert_status(fetch(little), GH_OK);
    assert_int_equal(little->fetch.count, 1);
    assert_true(bodies_is_head(&little->fetch.messages[0], LARGEST));
    assert_status(fetch(much), GH_OK);
    assert_int_equal(much->fetch.count, 5); /* nothing was lost by that */
    for (size_t i = 0; i < 5; i++) assert_true(bodies_is_whole(&much->fetch.messages[i], sizes[i]));
    assert_status(commit(b, little->fetch.epoch, 2), GH_OK); /* passed over */
    little->config.after = 0;
    assert_status(fetch(little), GH_OK);
    assert_int_equal(little->fetch.messages[0].id, 3);
    assert_true(bodies_is_whole(&little->fetch.messages[0], 6));
}

/* One byte more than a reply of this client holds. */
static void reply_bytes_bounds_what_comes_in(void** state)
{
    (void)state;
    enum
    {
        REPLY = 20 * 1024,
        ROOM = REPLY - REPLY_ROOM
    };
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    game* b = bodies_game_with(redis_server_address(server), 16 * 1024, REPLY);
    reader* self = reader_new(b, 64 * 1024);
    size_t sizes[8];
    for (uint64_t i = 0; i < 8; i++) sizes[i] = ROOM - 4 + (size_t)i - bodies_entry(i + 1, 0);
    push_sizes(a, sizes, 8);
    assert_status(fetch(self), GH_OK);
    assert_int_equal(self->fetch.count, 3); /* whole; the fourth has no room in what is left of the buffer */
    self->config.after = 3;
    self->config.epoch = self->fetch.epoch;
    self->config.buffer_size = REPLY; /* what is passed over takes no more of it than is told */
    assert_status(fetch(self), GH_OK);
    assert_int_equal(self->fetch.count, 5);
    assert_true(bodies_is_whole(&self->fetch.messages[0], sizes[3]));
    for (size_t i = 1; i < 5; i++) assert_true(bodies_is_head(&self->fetch.messages[i], sizes[3 + i]));
}

/* One byte more than the buffer holds; then not the sender either; then nothing of it. */
static void buffer_bounds_what_comes_in(void** state)
{
    (void)state;
    const size_t head = sizeof(gh_message);
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    reader* self = reader_new(a, 8192);
    static const size_t sizes[] = {3000, 2};
    push_sizes(a, sizes, 2);
    self->config.buffer_size = head + 4 + 3000;
    assert_status(fetch(self), GH_OK);
    assert_int_equal(self->fetch.count, 1);
    assert_true(bodies_is_whole(&self->fetch.messages[0], 3000));
    for (size_t size = head + 4 + 2999; size > head + 4 + 2990; size--)
    {
        self->config.buffer_size = size;
        assert_status(fetch(self), GH_OK);
        assert_int_equal(self->fetch.count, 2);
        assert_true(bodies_is_head(&self->fetch.messages[0], 3000));
        assert_true(bodies_is_whole(&self->fetch.messages[1], 2));
    }
    for (size_t size = head; size < 2 * head + 4; size++)
    {
        self->config.buffer_size = size;
        assert_status(fetch(self), GH_OK);
        assert_int_equal(self->fetch.count, 1);
        assert_status(self->fetch.messages[0].status, GH_TOO_LARGE);
        assert_int_equal(self->fetch.messages[0].body_size, 3000);
        assert_int_equal(self->fetch.messages[0].sender.size, size < head + 4 ? 0 : 4);
    }
    for (size_t size = 0; size < head; size++)
    {
        self->config.buffer_size = size;
        assert_status(fetch(self), GH_TOO_SMALL);
        assert_int_equal(self->fetch.buffer_needed, head + 4 + 3000);
    }
    self->config.buffer_size = self->fetch.buffer_needed;
    assert_status(fetch(self), GH_OK);
    assert_true(bodies_is_whole(&self->fetch.messages[0], 3000));
}

/* Reads on to the end: every id once, in order, and each as this reader can take it. */
static void expect_all(reader* self, const size_t* sizes, size_t count)
{
    uint64_t id = 0;
    self->config.after = 0;
    while (fetch(self) == GH_OK)
    {
        assert_true(self->fetch.count > 0);
        for (uint32_t i = 0; i < self->fetch.count; i++)
        {
            const gh_message* message = &self->fetch.messages[i];
            assert_int_equal(message->id, ++id);
            assert_true(id <= count);
            size_t size = sizes[id - 1];
            bool fits = bodies_entry(id, size) + REPLY_ROOM < self->from->config.reply_bytes &&
                        sizeof(gh_message) + 4 + size <= self->config.buffer_size;
            assert_true(fits ? bodies_is_whole(message, size) : bodies_is_head(message, size));
        }
        self->config.after = id;
        self->config.epoch = self->fetch.epoch;
    }
    assert_status(gh_op_poll(&self->fetch.op), GH_EMPTY);
    assert_int_equal(id, count);
}

/* The newest, as many as fit: up to the last, without a gap. */
static void expect_newest(reader* self, const size_t* sizes, size_t count)
{
    self->config.after = 0;
    self->config.newest = true;
    assert_status(fetch(self), GH_OK);
    assert_true(self->fetch.count > 0);
    for (uint32_t i = 0; i < self->fetch.count; i++)
    {
        const gh_message* message = &self->fetch.messages[i];
        assert_int_equal(message->id, count - self->fetch.count + 1 + i);
        assert_true(bodies_is_whole(message, sizes[message->id - 1]) ||
                    bodies_is_head(message, sizes[message->id - 1]));
    }
    self->config.newest = false;
}

static void readers_of_any_room_read_the_same(void** state)
{
    (void)state;
    enum
    {
        COUNT = 150
    };
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    game* b = bodies_game_with(redis_server_address(server), 16 * 1024, 16 * 1024);
    size_t sizes[COUNT];
    bodies_draw_sizes(sizes, COUNT);
    push_sizes(a, sizes, COUNT);
    static const size_t buffers[] = {100, 1000, 14000, 30000, 100000, 1000000};
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
    {
        game* both[] = {a, b};
        for (int k = 0; k < 2; k++)
        {
            reader* self = reader_new(both[k], buffers[i]);
            expect_all(self, sizes, COUNT);
            expect_newest(self, sizes, COUNT);
        }
    }
}

/* A script reads no more of them than 128 KiB at a time. */
static void many_large_ones_are_passed_over_a_few_at_a_time(void** state)
{
    (void)state;
    enum
    {
        COUNT = 40
    };
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    game* b = game_start(redis_server_address(server));
    reader* self = reader_new(b, 16384);
    size_t sizes[COUNT];
    for (size_t i = 0; i < COUNT; i++) sizes[i] = LARGEST;
    push_sizes(a, sizes, COUNT);
    long long before = redis_server_calls(server, "evalsha");
    assert_status(fetch(self), GH_OK);
    assert_int_equal(self->fetch.count, COUNT);
    assert_in_range(redis_server_calls(server, "evalsha") - before, 10, 11);
    expect_all(self, sizes, COUNT);
    expect_newest(self, sizes, COUNT);
    assert_int_equal(self->fetch.count, 4);
    redis_server_do(server, "HDEL gh:{mailbox:jason}:s x"); /* as where the state was lost: it is only slower */
    expect_all(self, sizes, COUNT);
    expect_newest(self, sizes, COUNT);
}

/* Nor does one commit free them all at once. */
static void many_large_ones_go_in_steps(void** state)
{
    (void)state;
    enum
    {
        COUNT = 70
    };
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    reader* self = reader_new(a, 4096);
    size_t sizes[COUNT];
    for (size_t i = 0; i < COUNT; i++) sizes[i] = 8193;
    push_sizes(a, sizes, COUNT);
    assert_status(fetch(self), GH_OK);
    uint64_t epoch = self->fetch.epoch;
    long long before = redis_server_calls(server, "evalsha");
    assert_status(commit(a, epoch, COUNT), GH_OK);
    assert_int_equal(redis_server_calls(server, "evalsha") - before, 2);
    assert_status(fetch(self), GH_EMPTY);
    assert_true(self->fetch.read_store_us > 0);
    for (size_t i = 0; i < COUNT; i++) sizes[i] = 1;
    push_sizes(a, sizes, COUNT); /* small ones go at once again */
    assert_status(fetch(self), GH_OK);
    before = redis_server_calls(server, "evalsha");
    assert_status(commit(a, self->fetch.epoch, 2 * COUNT), GH_OK);
    assert_int_equal(redis_server_calls(server, "evalsha") - before, 1);
}

static void large_one_ends_a_wait(void** state)
{
    (void)state;
    static const size_t sizes[] = {LARGEST};
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    reader* self = reader_new(b, 4096);
    self->config.wait_us = 60 * SECOND_US;
    assert_status(gh_mailbox_fetch_begin(&self->fetch, ON_MAILBOX(b->client, NAME), &self->config), GH_OK);
    GAME_UNTIL(self->fetch.polls > 0);
    push_sizes(a, sizes, 1);
    GAME_UNTIL(gh_op_poll(&self->fetch.op) != GH_PENDING);
    assert_status(gh_op_poll(&self->fetch.op), GH_OK);
    assert_true(bodies_is_head(&self->fetch.messages[0], LARGEST));
}

/* ---- what is no message -------------------------------------------------------------------------------- */

static void plant(redis_server* server, const char* head, size_t size)
{
    static char entry[2 * LARGEST];
    memset(entry, 'x', sizeof(entry));
    memcpy(entry, head, strlen(head));
    redis_server_do(server, "DEL gh:{mailbox:jason}:m gh:{mailbox:jason}:s");
    redis_server_do(server, "HSET gh:{mailbox:jason}:s e 1795250000123456 n 2");
    redis_server_do(server, "RPUSH gh:{mailbox:jason}:m %s", "1 1795250000123 4 jeffgood");
    redis_server_do(server, "RPUSH gh:{mailbox:jason}:m %b", entry, size);
}

static void what_is_no_message_is_corrupt(void** state)
{
    (void)state;
    static const char* const heads[] = {"x",
                                        "2",
                                        "2 1795250000123",
                                        "2 1795250000123 x ",
                                        "2 1795250000123 65 ",
                                        "2 1795250000123 100 ",
                                        "2 1795250000123 99999999999999999999 ",
                                        "-2 1 1 "};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    reader* self = reader_new(a, 16384);
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
    {
        plant(server, heads[i], 40000); /* would be passed over */
        assert_status(fetch(self), GH_CORRUPT);
    }
    static const char* const told[] = {"-65537 2 1795250000123 0 ",
                                       "- 2 1795250000123 0 ",
                                       "--5 2 1795250000123 0 ",
                                       "-5 2 1795250000123 1 ",
                                       "-5 2 1795250000123 0 x",
                                       "-5 ",
                                       "-",
                                       "-5 0 1795250000123 0 "};
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
    {
        plant(server, told[i], strlen(told[i]));
        assert_status(fetch(self), GH_CORRUPT);
    }
    plant(server, "2 1795250000123 4 ", GH_MESSAGE_SIZE_MAX + 129); /* longer than any that is written */
    assert_status(fetch(self), GH_CORRUPT);
    plant(server, "2 1795250000123 64 ", GH_MESSAGE_SIZE_MAX + 128);
    assert_status(fetch(self), GH_CORRUPT); /* no body is as long as that */
    plant(server, "2 1795250000123 64 ", GH_MESSAGE_SIZE_MAX + strlen("2 1795250000123 64 ") + 64);
    assert_status(fetch(self), GH_OK);
    assert_int_equal(self->fetch.count, 2);
    assert_int_equal(self->fetch.messages[1].body_size, GH_MESSAGE_SIZE_MAX);
    assert_int_equal(self->fetch.messages[1].sender.size, 64);
    assert_status(self->fetch.messages[1].status, GH_TOO_LARGE);
}

TEST_FILE(mailbox_bodies, cmocka_unit_test(all_sizes_come_whole), cmocka_unit_test(out_bytes_bounds_what_goes_out),
          cmocka_unit_test(large_one_blocks_nobody), cmocka_unit_test(reply_bytes_bounds_what_comes_in),
          cmocka_unit_test(buffer_bounds_what_comes_in), cmocka_unit_test(readers_of_any_room_read_the_same),
          cmocka_unit_test(many_large_ones_are_passed_over_a_few_at_a_time),
          cmocka_unit_test(many_large_ones_go_in_steps), cmocka_unit_test(large_one_ends_a_wait),
          cmocka_unit_test(what_is_no_message_is_corrupt));
