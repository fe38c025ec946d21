/* Messages of any size in chats: what is said, what is read, and what is told without its body, by fetches and by
   feeds, so that it blocks nobody. */

#include "support/random.h"
#include "support/scene/bodies.h"
#include "support/scene/talk.h"
#include "support/server/proxy.h"

#include <string.h>

#define CHAT       "raid"
#define REPLY_ROOM 4096u /* of a reply, besides messages: CHAT_REPLY_ROOM */
#define LARGEST    GH_MESSAGE_SIZE_MAX

static chat_reader* reader_with(game* from, const char* who, size_t buffer_size)
{
    chat_reader* self = chat_reader_new(from, CHAT, who);
    self->config.messages_max = 1000;
    self->config.buffer = GAME_NEW_ARRAY(from, char, buffer_size);
    self->config.buffer_size = buffer_size;
    return self;
}

static void say_sizes(game* from, const size_t* sizes, size_t count)
{
    for (size_t i = 0; i < count; i++) assert_status(chat_say(from, CHAT, bodies_posts(from, &sizes[i], 1), 1), GH_OK);
}

static void make(game* from)
{
    assert_status(chat_make(from, CHAT, BODIES_SENDER " jason jenny", 1000, 10), GH_OK);
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
    make(a);
    say_sizes(a, sizes, COUNT);
    assert_int_equal(redis_server_integer(server, "HGET gh:{chat:raid}:s x"), bodies_entry(8, LARGEST));
    chat_reader* jason = reader_with(a, "jason", 512 * 1024);
    assert_status(chat_read(jason), GH_OK);
    assert_int_equal(jason->fetch.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) assert_true(bodies_is_whole(&jason->fetch.messages[i], sizes[i]));
    static const size_t two[] = {LARGEST, LARGEST + 1};
    gh_post* posts = bodies_posts(a, two, 2);
    posts[1].body.size = GH_MESSAGES_BYTES_MAX - LARGEST;
    posts[0].sender = posts[1].sender = gh_str_literal("");
    assert_status(chat_say(a, CHAT, posts, 2), GH_OK);
    gh_chat_send* send = GAME_NEW(a, gh_chat_send);
    posts[0].sender = gh_str_literal("x");
    assert_status(gh_chat_send_begin(send, ON_CHAT(a->client, gh_str_literal(CHAT)), posts, 2), GH_INVALID_MESSAGES);
    posts[1].body.size = LARGEST + 1;
    assert_status(gh_chat_send_begin(send, ON_CHAT(a->client, gh_str_literal(CHAT)), posts + 1, 1),
                  GH_INVALID_MESSAGES);
}

/* With the longest sender and the largest id, which make the longest entry. */
static void longest_entry_is_none_too_long(void** state)
{
    (void)state;
    static const size_t size = LARGEST;
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    char sender[GH_NAME_SIZE_MAX + 1];
    memset(sender, 'j', GH_NAME_SIZE_MAX);
    sender[GH_NAME_SIZE_MAX] = '\0';
    assert_status(chat_make(a, CHAT, sender, 1000, 10), GH_OK);
    redis_server_do(server, "HSET gh:{chat:raid}:s n 9007199254730000");
    redis_server_do(server, "ZADD gh:{chat:raid}:v 9007199254730000 %s", sender);
    gh_post* post = bodies_posts(a, &size, 1);
    post->sender = gh_str_of(sender);
    assert_status(chat_say(a, CHAT, post, 1), GH_OK);
    chat_reader* self = reader_with(a, sender, 512 * 1024);
    assert_status(chat_read(self), GH_OK);
    assert_int_equal(self->fetch.messages[0].body.size, LARGEST);
    assert_true(self->fetch.messages[0].id == UINT64_C(9007199254730001));
    assert_true(redis_server_integer(server, "HGET gh:{chat:raid}:s x") <= LARGEST + 128);
    assert_status(chat_say(a, CHAT, post, 1), GH_OK); /* nor does that number keep anybody out */
    assert_status(chat_enter(a, CHAT, "jenny", GH_CHAT_FROM_START), GH_OK);
}

static void out_bytes_bounds_what_goes_out(void** state)
{
    (void)state;
    static const size_t fits = 32 * 1024 - 1024 - 100;
    static const size_t over = 32 * 1024 - 512;
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game_with(redis_server_address(server), 32 * 1024, 32 * 1024);
    gh_chat_change* change = GAME_NEW(a, gh_chat_change);
    gh_chat_send* send = GAME_NEW(a, gh_chat_send);
    gh_str member = gh_str_literal(BODIES_SENDER);
    gh_post* good = bodies_posts(a, &fits, 1);
    gh_post* bad = bodies_posts(a, &over, 1);
    assert_status(gh_chat_create_begin(change, ON_CHAT(a->client, gh_str_literal(CHAT)), &member, 1, bad),
                  GH_TOO_LARGE);
    assert_status(gh_chat_create_begin(change, ON_CHAT(a->client, gh_str_literal(CHAT)), &member, 1, good), GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) == GH_OK);
    assert_status(gh_chat_send_begin(send, ON_CHAT(a->client, gh_str_literal(CHAT)), bad, 1), GH_TOO_LARGE);
    assert_status(chat_say(a, CHAT, good, 1), GH_OK);
    chat_reader* self = reader_with(a, BODIES_SENDER, 512 * 1024);
    assert_status(chat_read(self), GH_OK); /* it goes out by more than comes in */
    assert_int_equal(self->fetch.count, 2);
    for (int i = 0; i < 2; i++) assert_true(bodies_is_head(&self->fetch.messages[i], fits));
}

/* ---- in ------------------------------------------------------------------------------------------------ */

static void large_one_blocks_nobody(void** state)
{
    (void)state;
    static const size_t sizes[] = {5, LARGEST, 6, 40000, 7};
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    game* b = game_start(redis_server_address(server));
    make(a);
    say_sizes(a, sizes, 5);
    chat_reader* little = reader_with(b, "jason", 16384);
    chat_reader* much = reader_with(a, "jenny", 512 * 1024);
    little->config.messages_max = 2;
    for (uint64_t id = 1; id <= 5;)
    {
        assert_status(chat_read(little), GH_OK);
        for (uint32_t i = 0; i < little->fetch.count; i++, id++)
        {
            const gh_message* message = &little->fetch.messages[i];
            assert_int_equal(message->id, id);
            assert_true(id % 2 == 1 ? bodies_is_whole(message, sizes[id - 1]) : bodies_is_head(message, sizes[id - 1]));
        }
        chat_handle_all(little); /* passed over */
    }
    assert_status(chat_read(little), GH_EMPTY);
    assert_int_equal(little->members[0].seen, 5);
    assert_int_equal(little->members[0].missed, 0);
    assert_status(chat_read(much), GH_OK);
    assert_int_equal(much->fetch.count, 5);
    for (size_t i = 0; i < 5; i++) assert_true(bodies_is_whole(&much->fetch.messages[i], sizes[i]));
}

static void reply_and_buffer_bound_what_comes_in(void** state)
{
    (void)state;
    enum
    {
        REPLY = 20 * 1024,
        ROOM = REPLY - REPLY_ROOM
    };
    const size_t head = sizeof(gh_message) + 4;
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    game* b = bodies_game_with(redis_server_address(server), 16 * 1024, REPLY);
    make(a);
    const size_t sizes[] = {ROOM - 1 - bodies_entry(1, 0), ROOM - bodies_entry(2, 0)};
    say_sizes(a, sizes, 2);
    chat_reader* self = reader_with(b, "jason", 64 * 1024);
    assert_status(chat_read(self), GH_OK);
    assert_int_equal(self->fetch.count, 2);
    assert_true(bodies_is_whole(&self->fetch.messages[0], sizes[0]));
    assert_true(bodies_is_head(&self->fetch.messages[1], sizes[1]));
    for (size_t i = 0; i < 6; i++)
    {
        self = reader_with(b, "jason", head + sizes[0]);
        self->config.buffer_size = head + sizes[0] - i;
        assert_status(chat_read(self), GH_OK);
        assert_true(i == 0 ? bodies_is_whole(&self->fetch.messages[0], sizes[0])
                           : bodies_is_head(&self->fetch.messages[0], sizes[0]));
    }
    for (size_t size = sizeof(gh_message) - 1; size <= head; size++)
    {
        self = reader_with(b, "jason", 2 * head);
        self->config.buffer_size = size;
        assert_status(chat_read(self), size < sizeof(gh_message) ? GH_TOO_SMALL : GH_OK);
        assert_int_equal(self->fetch.count, size < sizeof(gh_message) ? 0 : 1);
        if (size < sizeof(gh_message)) assert_int_equal(self->fetch.buffer_needed, head + sizes[0]);
        if (self->fetch.count > 0) assert_int_equal(self->fetch.messages[0].sender.size, size < head ? 0 : 4);
    }
}

/* Reads on to the end: every id once, in order, and each as this reader can take it. */
static void expect_all(chat_reader* self, const size_t* sizes, size_t count)
{
    uint64_t id = 0;
    while (chat_read(self) == GH_OK)
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
    }
    assert_status(gh_op_poll(&self->fetch.op), GH_EMPTY);
    assert_int_equal(id, count);
}

static void readers_of_any_room_read_the_same(void** state)
{
    (void)state;
    enum
    {
        COUNT = 220
    };
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    game* b = bodies_game_with(redis_server_address(server), 16 * 1024, 16 * 1024);
    size_t sizes[COUNT];
    bodies_draw_sizes(sizes, COUNT);
    make(a);
    say_sizes(a, sizes, COUNT);
    static const size_t buffers[] = {100, 1000, 14000, 30000, 100000, 1000000};
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
    {
        expect_all(reader_with(a, "jason", buffers[i]), sizes, COUNT);
        expect_all(reader_with(b, "jason", buffers[i]), sizes, COUNT);
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
    size_t sizes[COUNT];
    for (size_t i = 0; i < COUNT; i++) sizes[i] = LARGEST;
    make(a);
    say_sizes(a, sizes, COUNT);
    chat_reader* self = reader_with(b, "jason", 16384);
    long long before = redis_server_calls(server, "evalsha");
    assert_status(chat_read(self), GH_OK);
    assert_int_equal(self->fetch.count, COUNT);
    assert_in_range(redis_server_calls(server, "evalsha") - before, 10, 11);
    assert_in_range(redis_server_calls(server, "lrange"), COUNT / 4, COUNT / 4 + 3);
}

/* The size of the largest is too small, as where a range finds other messages than those that it was asked for: what
   does not fit an answer is asked for again. */
static void range_of_what_is_larger_is_asked_again(void** state)
{
    (void)state;
    enum
    {
        COUNT = 300
    };
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    game* b = game_start(redis_server_address(server));
    size_t sizes[COUNT];
    for (size_t i = 0; i < COUNT; i++) sizes[i] = i % 50 == 49 ? 30000 : 300;
    make(a);
    say_sizes(a, sizes, COUNT);
    redis_server_do(server, "HSET gh:{chat:raid}:s x 400");
    chat_reader* self = reader_with(b, "jason", 512 * 1024);
    assert_status(chat_read(self), GH_OK);
    assert_int_equal(self->fetch.count, COUNT); /* in one go */
    self = reader_with(b, "jason", 100 * 1024);
    expect_all(self, sizes, COUNT);
    assert_int_equal(game_stats(b).links_lost, 0);
}

static long long largest_kept(redis_server* server)
{
    redisReply* entries = redis_server_command(server, "LRANGE gh:{chat:raid}:m 0 -1");
    size_t largest = 0;
    for (size_t i = 0; i < entries->elements; i++)
        if (entries->element[i]->len > largest) largest = entries->element[i]->len;
    freeReplyObject(entries);
    return (long long)largest;
}

/* As far as a chat knows how large its messages are, so are they read: in plain ranges, and how many at once. So what
   is kept is never larger than that, and a large one that has gone counts no longer: neither where all read in time,
   nor where it went because too many came after it. */
static void size_of_the_largest_goes_with_it(void** state)
{
    (void)state;
    enum
    {
        KEEP = 10,
        COUNT = 300
    };
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    assert_status(chat_make(a, CHAT, BODIES_SENDER " jason", KEEP, 10), GH_OK);
    chat_reader* all = reader_with(a, BODIES_SENDER " jason", 512 * 1024);
    random_stream draws = random_for_test("largest");
    size_t calm = 0;
    for (size_t i = 0; i < COUNT; i++)
    {
        size_t drawn = (size_t)random_below(&draws, 100);
        size_t size = drawn < 3 ? LARGEST - drawn : drawn < 6 ? 2000 * drawn : drawn;
        if (i % 100 >= 70) size = drawn; /* only small ones, for a while */
        bool reads = i / 100 % 2 == 1;   /* where it says so, all have handled everything */
        calm = size < 1000 ? calm + 1 : 0;
        say_sizes(a, &size, 1);
        long long said = redis_server_integer(server, "HGET gh:{chat:raid}:s x");
        assert_true(said >= largest_kept(server));
        if (calm > 2 * KEEP || (reads && calm > 2)) assert_true(said < 1100);
        assert_int_equal(redis_server_integer(server, "HEXISTS gh:{chat:raid}:s y"), said > 1024);
        if (!reads) continue;
        assert_status(chat_read(all), GH_OK);
        chat_handle_all(all);
        assert_status(chat_read(all), GH_EMPTY);
    }
    size_t size = LARGEST;
    say_sizes(a, &size, 1);
    assert_status(chat_quit(a, CHAT, BODIES_SENDER), GH_OK);
    assert_status(chat_quit(a, CHAT, "jason"), GH_OK);
    assert_int_equal(redis_server_integer(server, "HEXISTS gh:{chat:raid}:s y"), 0);
}

/* Cancelled at any time while the answer comes, of which some would be cut. */
static void answer_to_a_cancelled_read_is_dropped(void** state)
{
    (void)state;
    enum
    {
        COUNT = 300
    };
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = bodies_game(redis_server_address(server));
    game* b = bodies_game_with(proxy_address(proxy), 16 * 1024, 16 * 1024);
    size_t sizes[COUNT];
    for (size_t i = 0; i < COUNT; i++) sizes[i] = i % 50 == 9 ? 30000 : 30;
    make(a);
    say_sizes(a, sizes, COUNT);
    redis_server_do(server, "HSET gh:{chat:raid}:s x 100");
    chat_reader* self = reader_with(b, "jason", 512 * 1024);
    assert_status(chat_read(self), GH_OK);
    self = reader_with(b, "jason", 512 * 1024);
    proxy_mark(proxy);
    assert_status(chat_read(self), GH_OK);
    uint64_t bytes = proxy_bytes(proxy, PROXY_REPLY);
    assert_true(bytes > 30000); /* it is a range that is read */
    for (uint64_t at = 0; at < bytes; at += at < 1000 ? 100 : 10000)
    {
        self = reader_with(b, "jason", 512 * 1024);
        uint64_t fired = proxy_fired(proxy);
        proxy_arm(proxy, PROXY_REPLY, at, PROXY_HOLD);
        chat_read_begin(self);
        GAME_UNTIL(proxy_fired(proxy) > fired || gh_op_poll(&self->fetch.op) != GH_PENDING);
        gh_op_cancel(&self->fetch.op);
        proxy_disarm(proxy);
        proxy_release(proxy);
        GAME_UNTIL(gh_op_poll(&self->fetch.op) != GH_PENDING);
    }
    self = reader_with(b, "jason", 512 * 1024);
    assert_status(chat_read(self), GH_OK);
    assert_int_equal(self->fetch.count, COUNT);
    assert_int_equal(game_stats(b).links_lost, 0);
}

static void large_one_ends_a_wait(void** state)
{
    (void)state;
    static const size_t size = LARGEST;
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    make(a);
    chat_reader* self = reader_with(b, "jason", 4096);
    self->config.wait_us = 60 * SECOND_US;
    chat_read_begin(self);
    GAME_UNTIL(self->fetch.polls > 0);
    say_sizes(a, &size, 1);
    assert_status(chat_read_settle(self), GH_OK);
    assert_true(bodies_is_head(&self->fetch.messages[0], LARGEST));
}

/* ---- feeds --------------------------------------------------------------------------------------------- */

typedef struct listener
{
    gh_chat_feed feed;
    gh_chat_player player;
    gh_chat_room rooms[2];
    gh_chat_seat seats[2];
} listener;

static listener* listen_with(game* from, const char* who, size_t room_size)
{
    listener* self = GAME_NEW(from, listener);
    gh_chat_feed_config config = gh_chat_feed_config_default();
    config.rooms = self->rooms;
    config.room_count = 2;
    config.seats = self->seats;
    config.seat_count = 2;
    config.buffer_size = 2 * room_size;
    config.buffer = GAME_NEW_ARRAY(from, char, config.buffer_size);
    assert_status(gh_chat_feed_begin(&self->feed, from->client, &config), GH_OK);
    assert_status(gh_chat_feed_add(&self->feed, &self->player, gh_str_of(who)), GH_OK);
    return self;
}

static void feed_goes_on_behind_a_large_one(void** state)
{
    (void)state;
    static const size_t sizes[] = {4096, LARGEST, 6, 4200, LARGEST, 4096, 7};
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    game* b = bodies_game(redis_server_address(server));
    make(a);
    listener* little = listen_with(b, "jason", GH_CHAT_ROOM_SIZE_MIN);
    listener* much = listen_with(b, "jenny", 128 * 1024);
    say_sizes(a, sizes, 7);
    for (int i = 0; i < 7; i++)
    {
        gh_chat_line line;
        GAME_UNTIL(gh_chat_feed_line(&little->feed, &line));
        assert_int_equal(line.message->id, i + 1);
        assert_int_equal(line.missed, 0);
        assert_true(sizes[i] > 4096 ? bodies_is_head(line.message, sizes[i]) : bodies_is_whole(line.message, sizes[i]));
    }
    for (int i = 0; i < 7; i++)
    {
        gh_chat_line line;
        GAME_UNTIL(gh_chat_feed_line(&much->feed, &line));
        assert_int_equal(line.message->id, i + 1);
        assert_true(bodies_is_whole(line.message, sizes[i]));
    }
    GAME_UNTIL(gh_chat_feed_next(&little->feed) == NULL && gh_chat_feed_next(&much->feed) == NULL &&
               redis_server_integer(server, "ZSCORE gh:{chat:raid}:v jason") >= 6);
    gh_chat_feed_end(&little->feed);
    gh_chat_feed_end(&much->feed);
}

/* ---- what is no message -------------------------------------------------------------------------------- */

static void what_is_no_message_is_corrupt(void** state)
{
    (void)state;
    static const char* const heads[] = {
        "x", "1", "1 1795250000123 x ", "1 1795250000123 65 ", "1 1795250000123 100 ", "-2 1 1 "};
    static char entry[2 * LARGEST];
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    make(a);
    redis_server_do(server, "HSET gh:{chat:raid}:s n 1 x 65664");
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
    {
        memset(entry, 'x', sizeof(entry));
        memcpy(entry, heads[i], strlen(heads[i]));
        redis_server_do(server, "DEL gh:{chat:raid}:m");
        redis_server_do(server, "RPUSH gh:{chat:raid}:m %b", entry, (size_t)40000);
        assert_status(chat_read(reader_with(a, "jason", 16384)), GH_CORRUPT);
    }
    static const char head[] = "1 1795250000123 64 ";
    memset(entry, 'x', sizeof(entry));
    memcpy(entry, head, strlen(head));
    for (size_t over = 0; over < 2; over++)
    {
        redis_server_do(server, "DEL gh:{chat:raid}:m");
        redis_server_do(server, "RPUSH gh:{chat:raid}:m %b", entry, strlen(head) + 64 + LARGEST + over);
        assert_status(chat_read(reader_with(a, "jason", 16384)), over == 0 ? GH_OK : GH_CORRUPT);
    }
}

TEST_FILE(chat_bodies, cmocka_unit_test(all_sizes_come_whole), cmocka_unit_test(longest_entry_is_none_too_long),
          cmocka_unit_test(out_bytes_bounds_what_goes_out), cmocka_unit_test(large_one_blocks_nobody),
          cmocka_unit_test(reply_and_buffer_bound_what_comes_in), cmocka_unit_test(readers_of_any_room_read_the_same),
          cmocka_unit_test(many_large_ones_are_passed_over_a_few_at_a_time),
          cmocka_unit_test(range_of_what_is_larger_is_asked_again),
          cmocka_unit_test(answer_to_a_cancelled_read_is_dropped), cmocka_unit_test(size_of_the_largest_goes_with_it),
          cmocka_unit_test(large_one_ends_a_wait), cmocka_unit_test(feed_goes_on_behind_a_large_one),
          cmocka_unit_test(what_is_no_message_is_corrupt));
