/* Mailboxes and chats seen from the store: requests that come twice or too late, writers without end, wrong
   types, a server without memory. The store is audited with hiredis alone, by the layout of KEYS.md. */

#include "support/server/foreign.h"
#include "support/scene/keys.h"
#include "support/scene/talk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP 1000
#define MANY 1000

/* ---- requests that come twice, or too late ------------------------------------------------------------- */

/* A client in another language: the scripts of sdk/src by their digests. */
typedef struct stranger
{
    redis_server* server;
    char push[FOREIGN_DIGEST_SIZE];
    char send[FOREIGN_DIGEST_SIZE];
    char join[FOREIGN_DIGEST_SIZE];
    char leave[FOREIGN_DIGEST_SIZE];
    char create[FOREIGN_DIGEST_SIZE];
} stranger;

static stranger stranger_new(redis_server* server)
{
    stranger self;
    self.server = server;
    foreign_load(server, self.push, "mailbox/mailbox_push.lua");
    foreign_load(server, self.send, "chat/chat_send.lua");
    foreign_load(server, self.join, "chat/chat_join.lua");
    foreign_load(server, self.leave, "chat/chat_leave.lua");
    foreign_load(server, self.create, "chat/chat_create.lua");
    return self;
}

#define MAILBOX_KEYS "gh:{mailbox:x}:s gh:{mailbox:x}:m gh:{mailbox:x}:h gh:{mailbox:x}:w00"
#define MEMBER_KEYS  "gh:{chat:x}:s gh:{chat:x}:m gh:{chat:x}:v"
#define CHAT_KEYS    MEMBER_KEYS " gh:{chat:x}:h gh:{chat:x}:w00"

/* The second and third element of the reply: code, and what comes with it. */
typedef struct said
{
    long long code;
    long long number;
} said;

static said take_said(redisReply* reply)
{
    long long numbers[3];
    if (reply->type == REDIS_REPLY_ERROR) fail_msg("the script answers %s", reply->str);
    assert_int_equal(redis_server_numbers(reply, numbers, 3), 3);
    freeReplyObject(reply);
    return (said){numbers[1], numbers[2]};
}

static said push_as(const stranger* self, unsigned client, unsigned sequence, const char* body)
{
    return take_said(redis_server_command(self->server, "EVALSHA %s 4 " MAILBOX_KEYS " %016x:%016x %u 1000 0 joe %s",
                                          self->push, client, sequence, sequence, body));
}

static said send_as(const stranger* self, unsigned client, unsigned sequence, const char* sender)
{
    return take_said(redis_server_command(self->server, "EVALSHA %s 5 " CHAT_KEYS " %016x:%016x %u 0 %s hello",
                                          self->send, client, sequence, sequence, sender));
}

static said join_as(const stranger* self, unsigned client, unsigned sequence, const char* player)
{
    return take_said(redis_server_command(self->server,
                                          "EVALSHA %s 4 " MEMBER_KEYS " gh:{chat:x}:w00 %016x:%016x %u 0 %s 0",
                                          self->join, client, sequence, sequence, player));
}

static said leave_as(const stranger* self, unsigned client, unsigned sequence, const char* player)
{
    return take_said(redis_server_command(self->server, "EVALSHA %s 5 " CHAT_KEYS " %016x:%016x %u 0 %s", self->leave,
                                          client, sequence, sequence, player));
}

static said create_as(const stranger* self, unsigned client, unsigned sequence, const char* player)
{
    return take_said(redis_server_command(self->server,
                                          "EVALSHA %s 4 " MEMBER_KEYS " gh:{chat:x}:w00 %016x:%016x %u 0 100 64 1 %s",
                                          self->create, client, sequence, sequence, player));
}

#define assert_said(actual, expected_code, expected_number)                                                            \
    do                                                                                                                 \
    {                                                                                                                  \
        said actual_said = (actual);                                                                                   \
        assert_int_equal(actual_said.code, expected_code);                                                             \
        assert_int_equal(actual_said.number, expected_number);                                                         \
    } while (0)

static void repeats_and_ghosts_change_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    stranger self = stranger_new(server);
    assert_said(push_as(&self, 1, 5, "a"), 0, 1);
    assert_said(push_as(&self, 1, 5, "a"), 0, 1); /* the same request again */
    assert_said(push_as(&self, 2, 1, "b"), 0, 2);
    assert_said(push_as(&self, 1, 5, "a"), 0, 1);
    assert_said(push_as(&self, 1, 8, "c"), 0, 3);
    assert_said(push_as(&self, 1, 5, "a"), 2, 0); /* a ghost: the client has gone on since */
    assert_int_equal(redis_server_integer(server, "LLEN gh:{mailbox:x}:m"), 3);

    said made = create_as(&self, 1, 1, "joe");
    assert_said(create_as(&self, 1, 1, "joe"), 0, made.number);
    assert_said(create_as(&self, 2, 1, "jeff"), 1, made.number); /* exists */
    assert_said(send_as(&self, 1, 2, "joe"), 0, 1);
    assert_said(send_as(&self, 1, 2, "joe"), 0, 1);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{chat:x}:m"), 1);
    assert_int_equal(join_as(&self, 1, 3, "jeff").code, 0);
    assert_int_equal(join_as(&self, 1, 3, "jeff").code, 0);
    assert_said(leave_as(&self, 1, 4, "jeff"), 0, 1);
    assert_said(leave_as(&self, 1, 4, "jeff"), 0, 1);
    assert_int_equal(join_as(&self, 1, 3, "jeff").code, 2); /* would bring back who has left */
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chat:x}:v"), 1);
    assert_int_equal(join_as(&self, 1, 5, "jeff").code, 0);
    assert_said(leave_as(&self, 1, 4, "jeff"), 2, 0); /* would throw out who has come back */
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chat:x}:v"), 2);
    assert_said(leave_as(&self, 2, 2, "jeff"), 0, 1);
    assert_said(leave_as(&self, 2, 3, "joe"), 0, 0);  /* the chat goes */
    assert_said(create_as(&self, 1, 1, "joe"), 2, 0); /* would make it again */
    assert_said(send_as(&self, 1, 2, "joe"), 2, 0);
    assert_said(leave_as(&self, 2, 3, "joe"), 0, 0);
    assert_true(create_as(&self, 1, 9, "joe").number > made.number);
}

/* A client that knows which shelf its marks lie on: any id. */
static said write_as(const stranger* self, bool chat, uint64_t client, unsigned sequence)
{
    unsigned shelf = (unsigned)(client >> 56);
    return take_said(chat ? redis_server_command(self->server,
                                                 "EVALSHA %s 5 " MEMBER_KEYS
                                                 " gh:{chat:x}:h gh:{chat:x}:w%02x %016" PRIx64 ":%016x %u 0 joe hello",
                                                 self->send, shelf, client, sequence, sequence)
                          : redis_server_command(self->server,
                                                 "EVALSHA %s 4 gh:{mailbox:x}:s gh:{mailbox:x}:m gh:{mailbox:x}:h "
                                                 "gh:{mailbox:x}:w%02x %016" PRIx64 ":%016x %u 100000 0 joe hello",
                                                 self->push, shelf, client, sequence, sequence));
}

static unsigned long long shelves_size(redis_server* server, const char* object)
{
    unsigned long long size = 0;
    for (unsigned shelf = 0; shelf < 256; shelf++)
    {
        if (redis_server_integer(server, "EXISTS %s:w%02x", object, shelf) == 0) continue;
        size += (unsigned long long)redis_server_integer(server, "MEMORY USAGE %s:w%02x SAMPLES 0", object, shelf);
    }
    return size;
}

/* Ten thousand clients within ten minutes: nobody is refused, each one's repeats are known, and what is kept of them
   is small, and goes by itself. */
static void writers_know_no_bound(void** state)
{
    (void)state;
    enum
    {
        CLIENTS = 10000
    };
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    stranger self = stranger_new(server);
    assert_int_equal(create_as(&self, 1, 1, "joe").code, 0);
    for (unsigned i = 0; i < CLIENTS; i++)
    {
        uint64_t client = (uint64_t)(i + 2) * UINT64_C(0x9e3779b97f4a7c15);
        assert_said(write_as(&self, false, client, 7), 0, i + 1);
        assert_said(write_as(&self, true, client, 7), 0, i + 1);
    }
    for (unsigned i = 0; i < CLIENTS; i += 37)
    {
        uint64_t client = (uint64_t)(i + 2) * UINT64_C(0x9e3779b97f4a7c15);
        assert_said(write_as(&self, false, client, 7), 0, i + 1);
        assert_said(write_as(&self, true, client, 7), 0, i + 1);
        assert_int_equal(write_as(&self, false, client, 6).code, 2);
    }
    assert_int_equal(redis_server_integer(server, "LLEN gh:{mailbox:x}:m"), CLIENTS);
    assert_in_range(shelves_size(server, "gh:{mailbox:x}"), 100000, 1200000);
    assert_in_range(shelves_size(server, "gh:{chat:x}"), 100000, 1200000);
    redis_server_shift_clock(server, (int64_t)(1201 * SECOND_US));
    assert_int_equal(shelves_size(server, "gh:{mailbox:x}") + shelves_size(server, "gh:{chat:x}"), 0);
    assert_int_equal(write_as(&self, false, 3, 1).code, 0); /* and takes the place of one that is silent for long */
    assert_memory_equal(redis_server_text(server, "HGET gh:{mailbox:x}:s w"), "0000000000000003 ", 17);
}

/* A shelf on which somebody writes again and again does not grow with those that are gone. */
static void old_marks_go_with_new_ones(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    stranger self = stranger_new(server);
    unsigned client = 1;
    assert_int_equal(push_as(&self, client++, 1, "a").code, 0);
    for (int round = 0; round < 12; round++)
    {
        for (int i = 0; i < 50; i++) assert_int_equal(push_as(&self, client++, 1, "a").code, 0);
        redis_server_shift_clock(server, (int64_t)((unsigned)round + 1) * (int64_t)(600 * SECOND_US));
        redis_server_do(server, "DEL gh:{mailbox:x}:m");
        redis_server_do(server, "HSET gh:{mailbox:x}:s n 0");
    }
    assert_in_range(redis_server_integer(server, "HLEN gh:{mailbox:x}:w00"), 50, 200);
}

/* The key of those who wait lives on with each that asks, also when it is the same one again, and no shorter than it
   waits: a feed that reads a player's list each hour asks to be told for two. */
static void who_waits_is_kept_as_long_as_it_waits(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    char list[FOREIGN_DIGEST_SIZE];
    foreign_load(server, list, "chat/chats_list.lua");
    for (int64_t hour = 0; hour < 3; hour++)
    {
        redis_server_shift_clock(server, hour * 3600 * (int64_t)SECOND_US);
        freeReplyObject(
            redis_server_command(server, "EVALSHA %s 2 gh:{chats:joe}:l gh:{chats:joe}:h 1:1 1 0 64 7200000000", list));
        redis_server_shift_clock(server, (hour * 3600 + 3599) * (int64_t)SECOND_US);
        assert_int_equal(redis_server_integer(server, "ZCARD gh:{chats:joe}:h"), 1);
    }
    redis_server_shift_clock(server, (2 * 3600 + 7199) * (int64_t)SECOND_US);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chats:joe}:h"), 1);
    redis_server_shift_clock(server, (2 * 3600 + 7202) * (int64_t)SECOND_US);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{chats:joe}:h"), 0);
}

/* What NOSCRIPT and BUSY send again comes behind what was begun later; none of it may be lost or change
 * places. */
static void order_of_begin_survives_refusals(void** state)
{
    (void)state;
    enum
    {
        SENDS = 30
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    redis_server_do(server, "CONFIG SET lua-time-limit 1");
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    redisContext* other = redisConnectUnix(redis_server_address(server) + strlen("unix:"));
    assert_non_null(other);
    int round = 0;
    do /* on a machine with much else to do, the server's busy time can be over before we ask: then it is longer */
    {
        gh_post* posts = talk_numbers(a, "joe", SENDS, (unsigned)round * SENDS);
        gh_chat_send* sends = GAME_NEW_ARRAY(a, gh_chat_send, SENDS);
        gh_mailbox_push* pushes = GAME_NEW_ARRAY(a, gh_mailbox_push, SENDS);
        gh_post* copies = talk_numbers(a, "joe", SENDS, (unsigned)round * SENDS);
        redisReply* reply = NULL;
        redis_server_do(server, "SCRIPT FLUSH");
        redisAppendCommand(other, "EVAL %s 0 %d",
                           "local e = redis.call('TIME') e = e[1] * 1000000 + e[2] + ARGV[1] repeat local t = "
                           "redis.call('TIME') until t[1] * 1000000 + t[2] > e return 1",
                           30000 * (round + 1));
        int done = 0;
        while (done == 0) assert_int_equal(redisBufferWrite(other, &done), REDIS_OK);
        for (int i = 0; i < SENDS; i++)
        {
            gh_str raid = gh_str_literal("raid");
            assert_status(gh_chat_send_begin(&sends[i], ON_CHAT_WITHIN(a->client, raid, 30 * SECOND_US), &posts[i], 1),
                          GH_OK);
            assert_status(gh_mailbox_push_begin(&pushes[i], ON_MAILBOX(a->client, raid), &copies[i], 1), GH_OK);
        }
        for (int i = 0; i < SENDS; i++)
        {
            GAME_UNTIL(gh_op_poll(&sends[i].op) != GH_PENDING && gh_op_poll(&pushes[i].op) != GH_PENDING);
            assert_status(gh_op_poll(&sends[i].op), GH_OK);
            assert_status(gh_op_poll(&pushes[i].op), GH_OK);
            assert_int_equal(posts[i].id, round * SENDS + i + 1);
            assert_int_equal(copies[i].id, round * SENDS + i + 1);
        }
        assert_int_equal(redisGetReply(other, (void**)&reply), REDIS_OK);
        freeReplyObject(reply);
    } while (++round < 4 || (round < 1000 / SENDS && game_stats(a).retries == 0)); /* as many as a mailbox takes */
    redisFree(other);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{chat:raid}:m"), round * SENDS);
    assert_true(game_stats(a).retries > 0);
    assert_true(game_stats(a).script_reloads > 0);
}

static void cancelled_in_the_row_lets_the_next_go_on(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_post* posts = talk_numbers(a, "joe", 4, 0);
    gh_mailbox_push* pushes = GAME_NEW_ARRAY(a, gh_mailbox_push, 4);
    gh_str name = gh_str_literal("jeff");
    gh_mailbox_config config = gh_mailbox_config_default();
    assert_status(gh_mailbox_push_begin(&pushes[0], ON_MAILBOX(a->client, name), posts, 1),
                  GH_OK); /* loads the script */
    GAME_UNTIL(gh_op_poll(&pushes[0].op) == GH_OK);
    for (int i = 0; i < 4; i++)
    {
        config.timeout_us = i == 2 ? 1000 : 30 * SECOND_US;
        assert_status(gh_mailbox_push_begin(&pushes[i], ON_MAILBOX_WITH(a->client, name, &config), &posts[i], 1),
                      GH_OK);
    }
    redis_server_freeze(server);
    gh_op_cancel(&pushes[1].op);                         /* in the middle */
    GAME_UNTIL(gh_op_poll(&pushes[2].op) == GH_TIMEOUT); /* its time is up there */
    gh_op_cancel(&pushes[0].op);                         /* is sent: ends with its answer */
    assert_status(gh_op_poll(&pushes[0].op), GH_PENDING);
    redis_server_thaw(server);
    GAME_UNTIL(gh_op_poll(&pushes[3].op) != GH_PENDING);
    assert_status(gh_op_poll(&pushes[0].op), GH_OK);
    assert_status(gh_op_poll(&pushes[1].op), GH_CANCELLED);
    assert_status(gh_op_poll(&pushes[3].op), GH_OK);
    assert_int_equal(posts[3].id, 3);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{mailbox:jeff}:m"), 3);
}

/* ---- what other programs may have done to the store ---------------------------------------------------- */

static gh_status fetch_of_jeff(game* from)
{
    gh_mailbox_fetch* fetch = GAME_NEW(from, gh_mailbox_fetch);
    gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
    config.messages_max = 0;
    assert_status(gh_mailbox_fetch_begin(fetch, ON_MAILBOX(from->client, gh_str_literal("jeff")), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&fetch->op) != GH_PENDING);
    return gh_op_poll(&fetch->op);
}

static gh_status commit_of_jeff(game* from, uint64_t epoch, uint64_t id)
{
    gh_mailbox_commit* commit = GAME_NEW(from, gh_mailbox_commit);
    const gh_str jeff = gh_str_literal("jeff");
    assert_status(gh_mailbox_commit_begin(commit, ON_MAILBOX(from->client, jeff), epoch, id), GH_OK);
    GAME_UNTIL(gh_op_poll(&commit->op) != GH_PENDING);
    return gh_op_poll(&commit->op);
}

static gh_status list_members(game* from, const char* chat)
{
    gh_chat_members* members = GAME_NEW(from, gh_chat_members);
    gh_chat_member_item* items = GAME_NEW_ARRAY(from, gh_chat_member_item, 4);
    assert_status(gh_chat_members_begin(members, ON_CHAT(from->client, gh_str_of(chat)), items, 4), GH_OK);
    GAME_UNTIL(gh_op_poll(&members->op) != GH_PENDING);
    return gh_op_poll(&members->op);
}

static void wrong_types_are_corrupt_and_stay_as_they_are(void** state)
{
    (void)state;
    static const char* const chat_parts[] = {"s", "m", "v"};
    static const char* const mailbox_parts[] = {"s", "m"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    for (size_t i = 0; i < 3; i++)
    {
        redis_server_do(server, "FLUSHALL");
        assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
        redis_server_do(server, "DEL gh:{chat:raid}:%s", chat_parts[i]);
        redis_server_do(server, "SET gh:{chat:raid}:%s planted", chat_parts[i]);
        assert_status(chat_say(a, "raid", talk_numbers(a, "joe", 1, 0), 1), GH_CORRUPT);
        assert_status(chat_quit(a, "raid", "joe"), GH_CORRUPT);
        assert_string_equal(redis_server_text(server, "GET gh:{chat:raid}:%s", chat_parts[i]), "planted");
        assert_true(redis_server_integer(server, "EXISTS gh:{chat:raid}:m") == (i == 1));
    }
    for (size_t i = 0; i < 2; i++)
    {
        redis_server_do(server, "FLUSHALL");
        redis_server_do(server, "SET gh:{mailbox:jeff}:%s planted", mailbox_parts[i]);
        assert_status(mailbox_push_one(a, "jeff"), GH_CORRUPT);
        assert_int_equal(redis_server_keys(server), 1);
    }
    redis_server_do(server, "FLUSHALL"); /* hints are a convenience: nothing depends on them */
    redis_server_do(server, "SET gh:{chat:raid}:h planted");
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    assert_status(chat_say(a, "raid", talk_numbers(a, "joe", 1, 0), 1), GH_OK);
    chat_reader* joe = chat_reader_new(a, "raid", "joe");
    assert_status(chat_read(joe), GH_OK);
    assert_string_equal(redis_server_text(server, "GET gh:{chat:raid}:h"), "planted");
}

/* Fault 12: each ends one op, and none the link. */
static void numbers_that_cannot_be_are_corrupt(void** state)
{
    (void)state;
    static const char* const numbers[] = {"-1", "1.5", "9007199254740993", "1e400", "nan", "99999999999999999999", ""};
    static const char* const fields[] = {"e", "n"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    chat_reader* joe = chat_reader_new(a, "raid", "joe");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) * 2; i++)
    {
        redis_server_do(server, "COPY gh:{chat:raid}:s whole");
        redis_server_do(server, "HSET gh:{chat:raid}:s %s %s", fields[i % 2], numbers[i / 2]);
        assert_status(chat_read(joe), GH_CORRUPT);
        redis_server_do(server, "RENAME whole gh:{chat:raid}:s");

        redis_server_do(server, "HSET gh:{mailbox:jeff}:s e 7 n 0 %s %s", fields[i % 2], numbers[i / 2]);
        assert_status(fetch_of_jeff(a), GH_CORRUPT);
    }
    assert_int_equal(game_stats(a).links_lost, 0);
    assert_status(chat_read(joe), GH_EMPTY);
}

/* Fault 12: an epoch is told as it is stored, so it must look as numbers do in an answer. */
static void epochs_of_another_form_are_corrupt(void** state)
{
    (void)state;
    static const char* const epochs[] = {"01", " 7", "7 ", "+7", "7.0", "7e3", "0x7", "0", "00"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    assert_status(mailbox_push_one(a, "jeff"), GH_OK);
    for (size_t i = 0; i < sizeof(epochs) / sizeof(epochs[0]); i++)
    {
        redis_server_do(server, "HSET gh:{chat:raid}:s e %s", epochs[i]);
        redis_server_do(server, "HSET gh:{mailbox:jeff}:s e %s", epochs[i]);
        assert_status(chat_say(a, "raid", talk_numbers(a, "joe", 1, 0), 1), GH_CORRUPT);
        assert_status(mailbox_push_one(a, "jeff"), GH_CORRUPT);
        assert_status(chat_enter(a, "raid", "ann", GH_CHAT_FROM_NOW), GH_CORRUPT);
        assert_status(chat_quit(a, "raid", "joe"), GH_CORRUPT);
        assert_status(chat_read(chat_reader_new(a, "raid", "joe")), GH_CORRUPT);
        assert_status(list_members(a, "raid"), GH_CORRUPT);
        assert_status(fetch_of_jeff(a), GH_CORRUPT);
        assert_status(commit_of_jeff(a, 7, 1), GH_CORRUPT); /* who was told a 7 could never commit */
    }
    redis_server_do(server, "HSET gh:{chat:raid}:s e 7");
    redis_server_do(server, "HSET gh:{mailbox:jeff}:s e 7");
    assert_status(chat_say(a, "raid", talk_numbers(a, "joe", 1, 0), 1), GH_OK);
    assert_status(mailbox_push_one(a, "jeff"), GH_OK);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{mailbox:jeff}:m"), 2);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{chat:raid}:m"), 1);
    assert_int_equal(game_stats(a).links_lost, 0);
}

static void foreign_entries_are_corrupt(void** state)
{
    (void)state;
    static const char* const entries[] = {
        "nonsense",   "1 2",         "1 1795250000123 99 joe", "7 1795250000123 0 hello", "0 1795250000123 0 hello",
        "1  0 hello", "-1 1 0 hello"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "joe", 1, 0);
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
    {
        chat_reader* joe = chat_reader_new(a, "raid", "joe");
        redis_server_do(server, "LSET gh:{chat:raid}:m 0 %s", entries[i]);
        assert_status(chat_read(joe), GH_CORRUPT);
    }
    redis_server_do(server, "LPUSH gh:{chat:raid}:m x"); /* first id 0 */
    chat_reader* joe = chat_reader_new(a, "raid", "joe");
    assert_status(chat_read(joe), GH_CORRUPT);
}

/* A long backlog is read by plain ranges of the list. Between two of them the chat may go and be made anew,
   with ids that look right: entries that are younger than the last look at the chat are not taken from a
   range. */
static void ranges_take_nothing_that_came_later(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    long long calls[2];
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "joe", 320, 0);
    for (int i = 0; i < 2; i++)
    {
        chat_reader* joe = chat_reader_new(a, "raid", "joe");
        joe->config.messages_max = 1000;
        calls[i] = redis_server_calls(server, "evalsha");
        assert_status(chat_read(joe), GH_OK);
        calls[i] = redis_server_calls(server, "evalsha") - calls[i];
        assert_int_equal(joe->fetch.count, 320);
        assert_numbers(joe->fetch.messages, 320, 0, 1);
        for (int id = 65; id <= 320 && i == 0; id++)
        {
            char entry[64];
            snprintf(entry, sizeof(entry), "%d 9000000000000 3 joe%d", id, id - 1);
            redis_server_do(server, "LSET gh:{chat:raid}:m %d %s", id - 1, entry);
        }
    }
    assert_int_equal(calls[0], 1);
    assert_int_equal(calls[1], 5); /* 64 a time */
}

/* A store that is full takes no messages, but everything that frees memory goes on. */
static void full_store_still_reads_commits_and_leaves(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_mailbox_config config = gh_mailbox_config_default();
    gh_mailbox_push* push = GAME_NEW(a, gh_mailbox_push);
    gh_str raid = gh_str_literal("raid");
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "joe", 20, 0);
    gh_post* posts = talk_numbers(a, "joe", 20, 0);
    assert_status(gh_mailbox_push_begin(push, ON_MAILBOX(a->client, raid), posts, 20), GH_OK);
    GAME_UNTIL(gh_op_poll(&push->op) != GH_PENDING);
    redis_server_do(server, "CONFIG SET maxmemory 1");

    gh_chat_send* send = GAME_NEW(a, gh_chat_send);
    config.timeout_us = SECOND_US / 10;
    assert_status(gh_mailbox_push_begin(push, ON_MAILBOX_WITH(a->client, raid, &config), posts, 20), GH_OK);
    assert_status(
        gh_chat_send_begin(send, ON_CHAT_WITHIN(a->client, raid, SECOND_US / 10), talk_numbers(a, "joe", 1, 0), 1),
        GH_OK);
    GAME_UNTIL(gh_op_poll(&push->op) != GH_PENDING && gh_op_poll(&send->op) != GH_PENDING);
    assert_true(gh_op_poll(&push->op) == GH_TIMEOUT || gh_op_poll(&push->op) == GH_UNKNOWN);
    assert_true(gh_op_poll(&send->op) == GH_TIMEOUT || gh_op_poll(&send->op) == GH_UNKNOWN);

    chat_reader* both = chat_reader_new(a, "raid", "joe jeff");
    both->config.wait_us = SECOND_US / 10; /* a token that the server has no memory for */
    assert_status(chat_read(both), GH_OK);
    chat_handle_all(both);
    assert_status(chat_read(both), GH_EMPTY);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{chat:raid}:m"), 0);
    assert_status(chat_quit(a, "raid", "joe"), GH_OK);
    assert_status(chat_quit(a, "raid", "jeff"), GH_OK);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{chat:raid}:v"), 0);
    gh_mailbox_commit* commit = GAME_NEW(a, gh_mailbox_commit);
    uint64_t epoch = strtoull(redis_server_text(server, "HGET gh:{mailbox:raid}:s e"), NULL, 10);
    assert_status(gh_mailbox_commit_begin(commit, ON_MAILBOX(a->client, raid), epoch, 19), GH_OK);
    GAME_UNTIL(gh_op_poll(&commit->op) != GH_PENDING);
    assert_status(gh_op_poll(&commit->op), GH_OK);
    assert_int_equal(commit->unread, 1);
    redis_server_do(server, "CONFIG SET maxmemory 0");
    assert_status(gh_mailbox_push_begin(push, ON_MAILBOX(a->client, raid), posts, 20), GH_OK);
    GAME_UNTIL(gh_op_poll(&push->op) != GH_PENDING);
    assert_status(gh_op_poll(&push->op), GH_OK);
}

/* Tokens that somebody has left by the thousand go a few at a time, and get no end at which they all go at once. */
static void crowds_of_tokens_are_left_alone(void** state)
{
    (void)state;
    static const int crowds[] = {1000, 20000};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    for (size_t i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++)
    {
        gh_mailbox_fetch* fetch = GAME_NEW(a, gh_mailbox_fetch);
        gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
        chat_reader* joe = chat_reader_new(a, "raid", "joe");
        config.messages_max = 0;
        config.wait_us = joe->config.wait_us = SECOND_US; /* a token is left by who waits when he asks */
        for (int place = 0; place < 2; place++)
            redis_server_do(server, "EVAL %s 1 gh:{%s:raid}:h %d",
                            "for i = 1, ARGV[1] do redis.call('ZADD', KEYS[1], '1', 'token' .. i) end return 1",
                            place == 0 ? "mailbox" : "chat", crowds[i]);
        assert_status(gh_mailbox_fetch_begin(fetch, ON_MAILBOX(a->client, gh_str_literal("raid")), &config), GH_OK);
        assert_status(chat_read(joe), GH_EMPTY);
        GAME_UNTIL(gh_op_poll(&fetch->op) == GH_EMPTY);
        for (int place = 0; place < 2; place++)
        {
            const char* kind = place == 0 ? "mailbox" : "chat";
            assert_in_range(redis_server_integer(server, "ZCARD gh:{%s:raid}:h", kind), crowds[i] - 16 * 20,
                            crowds[i] + 20);
            assert_true((redis_server_integer(server, "PTTL gh:{%s:raid}:h", kind) > 0) == (crowds[i] < 16384));
            redis_server_do(server, "DEL gh:{%s:raid}:h", kind);
        }
    }
}

static void players_list_is_capped(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    for (int i = 0; i < GH_CHAT_LIST_MAX - 1; i++) redis_server_do(server, "ZADD gh:{chats:jeff}:l 1 c%d", i);
    assert_status(chat_make(a, "a", "joe", KEEP, MANY), GH_OK);
    assert_status(chat_make(a, "b", "joe", KEEP, MANY), GH_OK);
    assert_status(chat_enter(a, "a", "jeff", GH_CHAT_FROM_NOW), GH_OK);
    assert_status(chat_enter(a, "b", "jeff", GH_CHAT_FROM_NOW), GH_FULL);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chat:b}:v"), 1);
    assert_status(chat_enter(a, "a", "jeff", GH_CHAT_FROM_NOW), GH_OK); /* is in the list already */
    assert_status(chat_quit(a, "a", "jeff"), GH_OK);
    assert_status(chat_enter(a, "b", "jeff", GH_CHAT_FROM_NOW), GH_OK);
}

/* The join is noted before the leave takes the note away: it must be noted again. */
static void leave_and_join_at_once_keeps_the_note(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    for (int i = 0; i < 20; i++)
    {
        gh_str raid = gh_str_literal("raid");
        gh_chat_change* changes = GAME_NEW_ARRAY(a, gh_chat_change, 2);
        assert_status(gh_chat_leave_begin(&changes[0], ON_CHAT(a->client, raid), gh_str_literal("jeff")), GH_OK);
        assert_status(
            gh_chat_join_begin(&changes[1], ON_CHAT(a->client, raid), gh_str_literal("jeff"), GH_CHAT_FROM_NOW), GH_OK);
        GAME_UNTIL(gh_op_poll(&changes[0].op) != GH_PENDING && gh_op_poll(&changes[1].op) != GH_PENDING);
        assert_status(gh_op_poll(&changes[0].op), GH_OK);
        assert_status(gh_op_poll(&changes[1].op), GH_OK);
        assert_non_null(redis_server_text(server, "ZSCORE gh:{chat:raid}:v jeff"));
        assert_non_null(redis_server_text(server, "ZSCORE gh:{chats:jeff}:l raid"));
    }
}

/* A chat and a mailbox in use, with readers that wait. */
static void keys_are_on_the_page(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_mailbox_push* push = GAME_NEW(a, gh_mailbox_push);
    gh_mailbox_fetch* fetch = GAME_NEW_ARRAY(a, gh_mailbox_fetch, 2);
    gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
    gh_str jeff = gh_str_literal("jeff {the great}");
    config.messages_max = 0;
    config.wait_us = 60 * SECOND_US;
    assert_status(chat_make(a, "raid: 7", "joe", KEEP, MANY), GH_OK);
    chat_reader* joe = chat_reader_new(a, "raid: 7", "joe");
    joe->config.wait_us = 60 * SECOND_US;
    chat_say_numbers(a, "raid: 7", "joe", 2, 0);
    game* b = game_start_ready(redis_server_address(server)); /* whose marks lie on shelves */
    gh_mailbox_push* second = GAME_NEW(b, gh_mailbox_push);
    chat_say_numbers(b, "raid: 7", "joe", 1, 2);
    assert_status(chat_read(joe), GH_OK);
    chat_read_begin(joe);
    assert_status(gh_mailbox_fetch_begin(fetch, ON_MAILBOX(a->client, gh_str_literal("jenny")), &config), GH_OK);
    assert_status(gh_mailbox_push_begin(push, ON_MAILBOX(a->client, jeff), talk_numbers(a, "", 1, 0), 1), GH_OK);
    gh_chat_feed* feed = GAME_NEW(a, gh_chat_feed);
    gh_chat_player* player = GAME_NEW(a, gh_chat_player);
    gh_chat_feed_config feeds = gh_chat_feed_config_default();
    feeds.rooms = GAME_NEW(a, gh_chat_room);
    feeds.room_count = 1;
    feeds.seats = GAME_NEW(a, gh_chat_seat);
    feeds.seat_count = 1;
    feeds.buffer = GAME_NEW_ARRAY(a, char, GH_CHAT_ROOM_SIZE_MIN);
    feeds.buffer_size = GH_CHAT_ROOM_SIZE_MIN;
    assert_status(gh_chat_feed_begin(feed, a->client, &feeds), GH_OK);
    assert_status(gh_chat_feed_add(feed, player, gh_str_literal("joe")), GH_OK);
    GAME_UNTIL(player->status == GH_OK && gh_op_poll(&push->op) == GH_OK && fetch->polls > 0 && joe->fetch.polls > 0);
    assert_status(gh_mailbox_push_begin(second, ON_MAILBOX(b->client, jeff), talk_numbers(b, "", 1, 1), 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&second->op) == GH_OK);
    keys_must_be_on_the_page(server, "gh:{mailbox:");
    keys_must_be_on_the_page(server, "gh:{chat:");
    keys_must_be_on_the_page(server, "gh:{chats:");
}

TEST_FILE(talk_store, cmocka_unit_test(repeats_and_ghosts_change_nothing), cmocka_unit_test(writers_know_no_bound),
          cmocka_unit_test(old_marks_go_with_new_ones), cmocka_unit_test(who_waits_is_kept_as_long_as_it_waits),
          cmocka_unit_test(order_of_begin_survives_refusals),
          cmocka_unit_test(cancelled_in_the_row_lets_the_next_go_on),
          cmocka_unit_test(wrong_types_are_corrupt_and_stay_as_they_are),
          cmocka_unit_test(numbers_that_cannot_be_are_corrupt), cmocka_unit_test(epochs_of_another_form_are_corrupt),
          cmocka_unit_test(foreign_entries_are_corrupt), cmocka_unit_test(full_store_still_reads_commits_and_leaves),
          cmocka_unit_test(crowds_of_tokens_are_left_alone), cmocka_unit_test(players_list_is_capped),
          cmocka_unit_test(ranges_take_nothing_that_came_later),
          cmocka_unit_test(leave_and_join_at_once_keeps_the_note), cmocka_unit_test(keys_are_on_the_page));
