/* Tests of guildhall/mailbox.h against real servers. */

#include "support/scene/bodies.h"
#include "support/scene/on.h"
#include "support/server/proxy.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

#define NAME        gh_str_literal("jason")
#define BUFFER_SIZE 16384

/* Everything that a reader of one mailbox needs. */
typedef struct reader
{
    gh_mailbox_fetch fetch;
    gh_mailbox_fetch_config config;
    _Alignas(8) char buffer[BUFFER_SIZE];
} reader;

static reader* reader_new(game* from)
{
    reader* self = GAME_NEW(from, reader);
    self->config = gh_mailbox_fetch_config_default();
    self->config.buffer = self->buffer;
    self->config.buffer_size = sizeof(self->buffer);
    return self;
}

static gh_status settle_fetch(reader* self)
{
    GAME_UNTIL(gh_op_poll(&self->fetch.op) != GH_PENDING);
    return gh_op_poll(&self->fetch.op);
}

static gh_status fetch_from(game* from, reader* self, gh_str name)
{
    assert_status(gh_mailbox_fetch_begin(&self->fetch, ON_MAILBOX(from->client, name), &self->config), GH_OK);
    return settle_fetch(self);
}

static gh_status fetch(game* from, reader* self)
{
    return fetch_from(from, self, NAME);
}

static gh_mailbox_push* begin_push(game* from, gh_post* posts, size_t count, uint32_t capacity)
{
    gh_mailbox_push* push = GAME_NEW(from, gh_mailbox_push);
    gh_mailbox_config config = gh_mailbox_config_default();
    config.capacity = capacity;
    assert_status(gh_mailbox_push_begin(push, ON_MAILBOX_WITH(from->client, NAME, &config), posts, count), GH_OK);
    return push;
}

static gh_status settle_push(const gh_mailbox_push* push)
{
    GAME_UNTIL(gh_op_poll(&push->op) != GH_PENDING);
    return gh_op_poll(&push->op);
}

/* Posts whose bodies are the numbers first, first + 1, ... */
static gh_post* numbered(game* owner, size_t count, unsigned first)
{
    gh_post* posts = GAME_NEW_ARRAY(owner, gh_post, count);
    for (size_t i = 0; i < count; i++)
    {
        char* text = GAME_NEW_ARRAY(owner, char, 16);
        snprintf(text, 16, "%u", first + (unsigned)i);
        posts[i].sender = gh_str_literal("jeff");
        posts[i].body = gh_str_of(text);
    }
    return posts;
}

static void push_numbers(game* from, size_t count, unsigned first)
{
    for (size_t done = 0; done < count; done += GH_MESSAGES_MAX)
    {
        size_t part = count - done < GH_MESSAGES_MAX ? count - done : GH_MESSAGES_MAX;
        gh_post* posts = numbered(from, part, first + (unsigned)done);
        assert_status(settle_push(begin_push(from, posts, part, GH_MAILBOX_CAPACITY_MAX)), GH_OK);
    }
}

static gh_status commit(game* from, uint64_t epoch, uint64_t id, uint64_t* unread)
{
    gh_mailbox_commit* op = GAME_NEW(from, gh_mailbox_commit);
    assert_status(gh_mailbox_commit_begin(op, ON_MAILBOX(from->client, NAME), epoch, id), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    if (unread != NULL) *unread = op->unread;
    return gh_op_poll(&op->op);
}

/* The messages are the numbers first, first + 1, ... with ids that follow one another. */
static void assert_numbers(const reader* self, uint32_t count, unsigned first, uint64_t first_id)
{
    assert_int_equal(self->fetch.count, count);
    for (uint32_t i = 0; i < count; i++)
    {
        char text[16];
        snprintf(text, sizeof(text), "%u", first + i);
        assert_int_equal(self->fetch.messages[i].id, first_id + i);
        assert_true(gh_str_equal(self->fetch.messages[i].body, gh_str_of(text)));
        assert_true(gh_str_equal(self->fetch.messages[i].sender, gh_str_literal("jeff")));
        assert_true(self->fetch.messages[i].time_us > UINT64_C(1500000000000000));
    }
}

/* ---- the ordinary way ---------------------------------------------------------------------------------- */

static void pushed_fetched_and_committed(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    game* b = game_start(redis_server_address(server));
    reader* self = reader_new(b);
    uint64_t unread = 9;
    assert_status(fetch(b, self), GH_EMPTY);
    gh_post* posts = numbered(a, 4, 0);
    assert_status(settle_push(begin_push(a, posts, 4, 100)), GH_OK);
    for (uint64_t i = 0; i < 4; i++)
    {
        assert_status(posts[i].status, GH_OK);
        assert_int_equal(posts[i].id, i + 1);
    }
    assert_status(fetch(b, self), GH_OK);
    assert_numbers(self, 4, 0, 1);
    assert_int_equal(self->fetch.unread, 4);
    assert_status(fetch(b, self), GH_OK); /* a fetch removes nothing */
    assert_numbers(self, 4, 0, 1);
    assert_status(commit(b, self->fetch.epoch, 3, &unread), GH_OK);
    assert_int_equal(unread, 1);
    assert_status(fetch(b, self), GH_OK);
    assert_numbers(self, 1, 3, 4);
    assert_status(commit(b, self->fetch.epoch, 4, &unread), GH_OK);
    assert_int_equal(unread, 0);
    assert_status(fetch(b, self), GH_EMPTY);
    assert_int_equal(self->fetch.last_id, 4);
    push_numbers(a, 1, 7);
    assert_status(fetch(b, self), GH_OK);
    assert_numbers(self, 1, 7, 5);
}

/* The naive way removes what it fetches: what a server has fetched when it dies is lost. */
static void nothing_is_lost_between_fetch_and_commit(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    game* dies = game_start(redis_server_address(server));
    push_numbers(a, 5, 0);
    reader* self = reader_new(dies);
    assert_status(fetch(dies, self), GH_OK);
    assert_status(commit(dies, self->fetch.epoch, 2, NULL), GH_OK);
    game_end(dies);
    game* heir = game_start(redis_server_address(server));
    self = reader_new(heir);
    assert_status(fetch(heir, self), GH_OK);
    assert_numbers(self, 3, 2, 3);
}

static void reads_one_some_or_the_newest(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    reader* self = reader_new(a);
    push_numbers(a, 10, 0);
    self->config.messages_max = 1;
    assert_status(fetch(a, self), GH_OK);
    assert_numbers(self, 1, 0, 1);
    self->config.after = self->fetch.messages[0].id; /* on, without a commit */
    self->config.epoch = self->fetch.epoch;
    self->config.messages_max = 3;
    assert_status(fetch(a, self), GH_OK);
    assert_numbers(self, 3, 1, 2);
    self->config.after = 0;
    self->config.newest = true;
    assert_status(fetch(a, self), GH_OK);
    assert_numbers(self, 3, 7, 8);
    self->config.messages_max = 20;
    assert_status(fetch(a, self), GH_OK);
    assert_numbers(self, 10, 0, 1);
    self->config.after = 10;
    assert_status(fetch(a, self), GH_EMPTY);
    assert_int_equal(self->fetch.unread, 10);
}

static void tells_how_many_and_how_old(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start(redis_server_address(server));
    reader* self = reader_new(a);
    self->config.messages_max = 0;
    self->config.buffer = NULL;
    self->config.buffer_size = 0;
    assert_status(fetch(a, self), GH_EMPTY);
    assert_int_equal(self->fetch.oldest_age_us, 0);
    push_numbers(a, 3, 0);
    redis_server_shift_clock(server, (int64_t)(100 * SECOND_US));
    push_numbers(a, 2, 3);
    assert_status(fetch(a, self), GH_OK);
    assert_int_equal(self->fetch.count, 0);
    assert_int_equal(self->fetch.unread, 5);
    assert_int_equal(self->fetch.last_id, 5);
    assert_in_range(self->fetch.oldest_age_us, 100 * SECOND_US, 130 * SECOND_US);
}

/* What it tells without a message. */
static uint64_t last_read(game* from)
{
    reader* self = reader_new(from);
    self->config.messages_max = 0;
    self->config.buffer = NULL;
    self->config.buffer_size = 0;
    gh_status status = fetch(from, self);
    assert_true(status == GH_OK || status == GH_EMPTY);
    return self->fetch.read_store_us;
}

static void tells_when_it_was_last_read(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start(redis_server_address(server));
    reader* self = reader_new(a);
    assert_int_equal(last_read(a), 0); /* never used */
    push_numbers(a, 6, 0);
    assert_status(fetch(a, self), GH_OK);
    uint64_t epoch = self->fetch.epoch;
    assert_int_equal(last_read(a), 0); /* a fetch is no reading */
    assert_status(commit(a, epoch, 7, NULL), GH_RESTARTED);
    assert_int_equal(last_read(a), 0);
    assert_status(commit(a, epoch, 2, NULL), GH_OK);
    uint64_t first = last_read(a);
    assert_in_range(first, epoch, epoch + 60 * SECOND_US);
    redis_server_shift_clock(server, (int64_t)(100 * SECOND_US));
    assert_status(commit(a, epoch, 1, NULL), GH_OK); /* a smaller id, and a copy that comes late: nothing goes */
    assert_status(commit(a, epoch, 2, NULL), GH_OK);
    assert_status(commit(a, epoch, 9, NULL), GH_RESTARTED);
    push_numbers(a, 1, 6);
    assert_int_equal(last_read(a), first);
    assert_status(commit(a, epoch, 7, NULL), GH_OK); /* all */
    uint64_t second = last_read(a);
    assert_in_range(second, first + 100 * SECOND_US, first + 160 * SECOND_US);
    assert_true(redis_server_integer(server, "PTTL gh:{mailbox:jason}:s") > 0); /* is still forgotten in 30 days */
    redis_server_shift_clock(server, (int64_t)(200 * SECOND_US));
    assert_status(commit(a, epoch, 7, NULL), GH_OK);
    assert_int_equal(last_read(a), second);
}

/* A mailbox whose state was lost has an epoch that is told from its messages. */
static void tells_when_it_was_read_in_any_epoch(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    reader* self = reader_new(a);
    push_numbers(a, 3, 0);
    assert_status(fetch(a, self), GH_OK);
    assert_status(commit(a, self->fetch.epoch, 1, NULL), GH_OK);
    uint64_t first = last_read(a);
    assert_true(first > 0);
    redis_server_do(server, "HSET gh:{mailbox:jason}:s g 1"); /* older than what the next push is given */
    push_numbers(a, 1, 3);
    assert_status(fetch(a, self), GH_OK);
    assert_true(self->fetch.messages[2].epoch > self->fetch.messages[1].epoch);
    assert_int_equal(self->fetch.read_store_us, first);
    assert_status(commit(a, self->fetch.messages[1].epoch, 3, NULL), GH_OK); /* of the epoch before */
    assert_true(last_read(a) > first);
    redis_server_do(server, "DEL gh:{mailbox:jason}:s");
    assert_status(fetch(a, self), GH_OK);
    assert_int_equal(self->fetch.read_store_us, 0);
    assert_status(commit(a, self->fetch.epoch, 4, NULL), GH_OK);
    assert_true(last_read(a) > first);
    assert_true(redis_server_integer(server, "PTTL gh:{mailbox:jason}:s") > 0);
    redis_server_do(server, "FLUSHALL");
    assert_int_equal(last_read(a), 0);
}

static void odd_times_of_reading_are_corrupt(void** state)
{
    (void)state;
    static const char* const times[] = {"-1", "0.5", "nan", "inf", "1e17", "9007199254740992", "x"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    reader* self = reader_new(a);
    push_numbers(a, 2, 0);
    assert_status(fetch(a, self), GH_OK);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
    {
        redis_server_do(server, "HSET gh:{mailbox:jason}:s r %s", times[i]);
        assert_status(fetch(a, self), GH_CORRUPT);
    }
    redis_server_do(server, "HSET gh:{mailbox:jason}:s r 9007199254740000");
    assert_status(fetch(a, self), GH_OK);
    assert_true(self->fetch.read_store_us == UINT64_C(9007199254740000));
    assert_status(commit(a, self->fetch.epoch, 1, NULL), GH_OK); /* mends it */
    assert_in_range(last_read(a), self->fetch.epoch, self->fetch.epoch + 60 * SECOND_US);
    redis_server_do(server, "HSET gh:{mailbox:jason}:s r nan");
    assert_status(commit(a, self->fetch.epoch, 2, NULL), GH_OK);
    assert_true(last_read(a) > 0);
}

/* More than one reply, and more than the client's array of values can hold. */
static void reads_everything_over_many_requests(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    reader* self = reader_new(a);
    push_numbers(a, 1500, 0);
    char* large = GAME_NEW_ARRAY(a, char, 256 * 1024);
    self->config.buffer = large;
    self->config.buffer_size = 256 * 1024;
    self->config.messages_max = GH_MAILBOX_FETCH_MAX;
    assert_status(fetch(a, self), GH_OK);
    assert_numbers(self, 1500, 0, 1);
    self->config.messages_max = 1200;
    assert_status(fetch(a, self), GH_OK);
    assert_numbers(self, 1200, 0, 1);
}

/* The second request of a fetch is lost, and by the time that it goes again somebody has committed on. */
static void commit_of_others_in_the_middle_of_a_fetch(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start(redis_server_address(server));
    game* b = game_start_deaf(proxy_address(proxy));
    reader* self = reader_new(b);
    push_numbers(a, 1500, 0);
    self->config.buffer = GAME_NEW_ARRAY(b, char, 256 * 1024);
    self->config.buffer_size = 256 * 1024;
    self->config.messages_max = GH_MAILBOX_FETCH_MAX;
    assert_status(fetch(b, self), GH_OK);
    assert_numbers(self, 1500, 0, 1);
    uint64_t epoch = self->fetch.epoch;
    uint64_t fired = proxy_fired(proxy);
    proxy_arm(proxy, PROXY_REPLY, 25000, PROXY_FIN); /* the first answer has less */
    assert_status(gh_mailbox_fetch_begin(&self->fetch, ON_MAILBOX(b->client, NAME), &self->config), GH_OK);
    proxy_set_mode(proxy, PROXY_REFUSE);
    GAME_UNTIL(proxy_fired(proxy) > fired);
    assert_status(commit(a, epoch, 1200, NULL), GH_OK);
    proxy_set_mode(proxy, PROXY_PASS);
    assert_status(settle_fetch(self), GH_OK); /* what was read before; what is left comes with the next */
    assert_in_range(self->fetch.count, 100, 1000);
    assert_numbers(self, self->fetch.count, 0, 1);
    assert_status(fetch(b, self), GH_OK);
    assert_numbers(self, 300, 1200, 1201);
}

/* Begins a fetch that finds nothing, lets it wait, pushes: it is the hint that ends it, not a pause. */
static void expect_hint(redis_server* server, game* from, game* to, reader* self, unsigned number, uint64_t id)
{
    self->config.wait_us = 60 * SECOND_US;
    GAME_UNTIL(gh_client_link_state(to->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_status(gh_mailbox_fetch_begin(&self->fetch, ON_MAILBOX(to->client, NAME), &self->config), GH_OK);
    GAME_UNTIL(self->fetch.polls > 0);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{mailbox:jason}:h"), 1);
    long long before = redis_server_calls(server, "evalsha") - self->fetch.polls;
    uint64_t hints = game_stats(to).hints;
    uint64_t pushed_us = game_now_us(to);
    push_numbers(from, 1, number);
    assert_status(settle_fetch(self), GH_OK);
    assert_true(game_now_us(to) - pushed_us < 2 * SECOND_US); /* the pause is half a second longer, at least */
    assert_numbers(self, 1, number, id);
    assert_int_equal(game_stats(to).hints, hints + 1);
    assert_int_equal(redis_server_calls(server, "evalsha") - before, 2 + self->fetch.polls); /* push, fetch */
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{mailbox:jason}:h"), 0);
}

static void waits_for_a_hint(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    expect_hint(server, a, b, reader_new(b), 5, 1);
}

/* Its ids are larger than `after` then, though nothing is unread. */
static void waits_for_a_hint_once_all_was_handled(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    reader* self = reader_new(b);
    for (unsigned round = 0; round < 3; round++)
    {
        expect_hint(server, a, b, self, round, round + 1);
        assert_status(commit(b, self->fetch.epoch, self->fetch.last_id, NULL), GH_OK);
    }
    self->config.epoch = self->fetch.epoch;
    self->config.after = 1; /* behind what was handled */
    expect_hint(server, a, b, self, 7, 4);
    self->config.after = 4; /* all that there is, and not handled */
    expect_hint(server, a, b, self, 8, 5);
    assert_status(commit(b, self->fetch.epoch, 5, NULL), GH_OK);
    self->config.after = 5; /* all that there was */
    expect_hint(server, a, b, self, 9, 6);
}

static void waits_without_hints_too(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_deaf(redis_server_address(server));
    reader* self = reader_new(a);
    self->config.wait_us = 60 * SECOND_US;
    assert_status(gh_mailbox_fetch_begin(&self->fetch, ON_MAILBOX(a->client, NAME), &self->config), GH_OK);
    GAME_UNTIL(self->fetch.polls >= 3);
    push_numbers(a, 1, 5);
    assert_status(settle_fetch(self), GH_OK);
    assert_numbers(self, 1, 5, 1);
    self->config.after = 1;
    self->config.epoch = self->fetch.epoch;
    self->config.wait_us = SECOND_US / 10;
    assert_status(fetch(a, self), GH_EMPTY);
}

/* ---- bounds -------------------------------------------------------------------------------------------- */

static void full_at_capacity_and_never_drops(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    reader* self = reader_new(a);
    assert_status(settle_push(begin_push(a, numbered(a, 4, 0), 4, 5)), GH_OK);
    assert_status(settle_push(begin_push(a, numbered(a, 2, 4), 2, 5)), GH_FULL); /* all or none */
    assert_status(settle_push(begin_push(a, numbered(a, 1, 4), 1, 5)), GH_OK);
    assert_status(settle_push(begin_push(a, numbered(a, 1, 5), 1, 5)), GH_FULL);
    assert_status(fetch(a, self), GH_OK);
    assert_numbers(self, 5, 0, 1);
    assert_status(commit(a, self->fetch.epoch, 1, NULL), GH_OK);
    assert_status(settle_push(begin_push(a, numbered(a, 1, 5), 1, 5)), GH_OK);
    assert_status(fetch(a, self), GH_OK);
    assert_numbers(self, 5, 1, 2);
}

static void any_byte_up_to_the_largest_body(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = bodies_game(redis_server_address(server));
    reader* self = reader_new(a);
    self->config.buffer = GAME_NEW_ARRAY(a, char, 2 * GH_MESSAGE_SIZE_MAX);
    self->config.buffer_size = 2 * GH_MESSAGE_SIZE_MAX;
    char* body = GAME_NEW_ARRAY(a, char, GH_MESSAGE_SIZE_MAX);
    char* sender = GAME_NEW_ARRAY(a, char, GH_NAME_SIZE_MAX);
    for (int i = 0; i < GH_MESSAGE_SIZE_MAX; i++) body[i] = (char)i;
    for (int i = 0; i < GH_NAME_SIZE_MAX; i++) sender[i] = (char)(i % 5); /* zero bytes in front */
    gh_post* posts = GAME_NEW_ARRAY(a, gh_post, 3);
    posts[0].body = gh_str_make(body, GH_MESSAGE_SIZE_MAX);
    posts[0].sender = gh_str_make(sender, GH_NAME_SIZE_MAX);
    posts[2].body = gh_str_literal("12 0 0 ");
    assert_status(settle_push(begin_push(a, posts, 3, 5)), GH_OK);
    assert_status(fetch(a, self), GH_OK);
    assert_int_equal(self->fetch.count, 3);
    for (int i = 0; i < 3; i++)
    {
        assert_true(gh_str_equal(self->fetch.messages[i].body, posts[i].body));
        assert_true(gh_str_equal(self->fetch.messages[i].sender, posts[i].sender));
    }
}

static void small_buffer_says_what_it_needs(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    reader* self = reader_new(a);
    push_numbers(a, 12, 0); /* "0" to "11", so the first ten need 48 + 4 + 1 each */
    for (size_t size = 0; size < 53; size += 8)
    {
        self->config.buffer_size = size;
        assert_status(fetch(a, self), GH_TOO_SMALL);
        assert_int_equal(self->fetch.buffer_needed, sizeof(gh_message) + 5);
    }
    for (uint32_t count = 1; count <= 10; count++)
    {
        self->config.buffer_size = count * (sizeof(gh_message) + 5);
        assert_status(fetch(a, self), GH_OK);
        assert_numbers(self, count, 0, 1);
        self->config.buffer_size += sizeof(gh_message) + 4;
        assert_status(fetch(a, self), GH_OK);
        assert_numbers(self, count, 0, 1);
    }
}

/* In the reply a message takes less than in the buffer. */
static void newest_are_the_newest_in_any_buffer(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    reader* self = reader_new(a);
    push_numbers(a, 10, 0); /* 5 bytes each, with the sender */
    self->config.newest = true;
    for (uint32_t count = 1; count <= 10; count++)
        for (size_t more = 0; more < sizeof(gh_message) + 5; more += 4)
        {
            self->config.buffer_size = count * (sizeof(gh_message) + 5) + more;
            assert_status(fetch(a, self), GH_OK);
            assert_numbers(self, count, 10 - count, 11 - count);
        }
}

static void commit_is_monotone_and_names_what_is_there(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    reader* self = reader_new(a);
    uint64_t unread = 0;
    push_numbers(a, 6, 0);
    assert_status(fetch(a, self), GH_OK);
    assert_status(commit(a, self->fetch.epoch, 4, &unread), GH_OK);
    assert_int_equal(unread, 2);
    assert_status(commit(a, self->fetch.epoch, 2, &unread), GH_OK); /* backwards */
    assert_int_equal(unread, 2);
    assert_status(commit(a, self->fetch.epoch + 1, 6, &unread), GH_RESTARTED);
    assert_int_equal(unread, 2);
    assert_status(commit(a, self->fetch.epoch, 7, &unread), GH_RESTARTED); /* nobody has been given that one */
    assert_int_equal(unread, 2);
    assert_status(commit(a, self->fetch.epoch, 6, &unread), GH_OK);
    assert_int_equal(unread, 0);
    assert_status(commit(a, self->fetch.epoch, 6, &unread), GH_OK); /* again */
    push_numbers(a, 1, 6);
    assert_status(fetch(a, self), GH_OK);
    assert_numbers(self, 1, 6, 7);
}

static void epoch_tells_that_ids_began_anew(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    reader* self = reader_new(a);
    push_numbers(a, 6, 0);
    assert_status(fetch(a, self), GH_OK);
    uint64_t epoch = self->fetch.epoch;
    redis_server_do(server, "FLUSHALL");
    push_numbers(a, 2, 50);
    self->config.after = 6; /* read on where we were: ids 1 and 2 are new all the same */
    self->config.epoch = epoch;
    assert_status(fetch(a, self), GH_OK);
    assert_true(self->fetch.epoch > epoch);
    assert_numbers(self, 2, 50, 1);
    assert_status(commit(a, epoch, 6, NULL), GH_RESTARTED);
    assert_status(fetch(a, self), GH_OK);
    assert_int_equal(self->fetch.unread, 2);
}

TEST_FILE(mailbox, cmocka_unit_test(pushed_fetched_and_committed),
          cmocka_unit_test(nothing_is_lost_between_fetch_and_commit), cmocka_unit_test(reads_one_some_or_the_newest),
          cmocka_unit_test(tells_how_many_and_how_old), cmocka_unit_test(tells_when_it_was_last_read),
          cmocka_unit_test(tells_when_it_was_read_in_any_epoch), cmocka_unit_test(odd_times_of_reading_are_corrupt),
          cmocka_unit_test(reads_everything_over_many_requests), cmocka_unit_test(waits_for_a_hint),
          cmocka_unit_test(commit_of_others_in_the_middle_of_a_fetch),
          cmocka_unit_test(waits_for_a_hint_once_all_was_handled), cmocka_unit_test(waits_without_hints_too),
          cmocka_unit_test(full_at_capacity_and_never_drops), cmocka_unit_test(any_byte_up_to_the_largest_body),
          cmocka_unit_test(small_buffer_says_what_it_needs), cmocka_unit_test(newest_are_the_newest_in_any_buffer),
          cmocka_unit_test(commit_is_monotone_and_names_what_is_there),
          cmocka_unit_test(epoch_tells_that_ids_began_anew));
