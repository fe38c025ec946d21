/* Copies of requests that come while something older than their own mark is there, an earlier mark of their client on
   its shelf; or something younger, a chat that was made anew under the same name. They do nothing. */

#include "support/scene/game.h"
#include "support/server/foreign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    WINDOW_S = 600, /* of the marks: see mark.lua */
    PATIENCE_S = 60 /* a copy may come so late    */
};

#define FIRST   UINT64_C(0x0100000000000001)
#define WRITER  UINT64_C(0xaa00000000000001)
#define BESIDE  UINT64_C(0xaa00000000000002) /* whose marks lie on the writer's shelf */
#define ANOTHER UINT64_C(0xbb00000000000001)

/* ---- marks ------------------------------------------------------------------------------------------------- */

typedef struct shelf_scene
{
    redis_server* server;
    int64_t start_s; /* of a window, on the store's clock */
    int64_t ahead_s; /* of the true time                  */
    char push[FOREIGN_DIGEST_SIZE];
} shelf_scene;

static int64_t store_time_s(redis_server* server)
{
    redisReply* reply = redis_server_command(server, "TIME");
    int64_t now_s = strtoll(reply->element[0]->str, NULL, 10);
    freeReplyObject(reply);
    return now_s;
}

static shelf_scene shelf_scene_new(void)
{
    shelf_scene self = {.server = redis_server_start(&(redis_server_options){.clock = true})};
    redis_server_shift_clock(self.server, 0);
    int64_t now_s = store_time_s(self.server);
    self.ahead_s = WINDOW_S - now_s % WINDOW_S;
    self.start_s = now_s + self.ahead_s;
    foreign_load(self.server, self.push, "mailbox/mailbox_push.lua");
    return self;
}

/* So many seconds behind the beginning of that window. */
static void shelf_wait(const shelf_scene* self, int64_t second)
{
    redis_server_shift_clock(self->server, (self->ahead_s + second) * (int64_t)SECOND_US);
}

/* A push of a client that may be carried out until `second`. */
static redisReply* shelf_push(const shelf_scene* self, uint64_t client, unsigned sequence, int64_t second)
{
    return redis_server_command(self->server,
                                "EVALSHA %s 4 gh:{mailbox:x}:s gh:{mailbox:x}:m gh:{mailbox:x}:h gh:{mailbox:x}:w%02x"
                                " %016" PRIx64 ":%016x:%" PRId64 " %u 1000 0 joe hello",
                                self->push, (unsigned)(client >> 56), client, sequence,
                                (self->start_s + second) * (int64_t)SECOND_US, sequence);
}

static void shelf_pushed(const shelf_scene* self, uint64_t client, unsigned sequence, int64_t second)
{
    shelf_wait(self, second);
    redisReply* reply = shelf_push(self, client, sequence, second + PATIENCE_S);
    if (reply->type == REDIS_REPLY_ERROR) fail_msg("the script answers %s", reply->str);
    freeReplyObject(reply);
}

/* It is told so when it comes after `second`. */
static void shelf_is_late(const shelf_scene* self, uint64_t client, unsigned sequence, int64_t second)
{
    redisReply* reply = shelf_push(self, client, sequence, second);
    assert_int_equal(reply->type, REDIS_REPLY_ERROR);
    assert_memory_equal(reply->str, "LATE ", 5);
    freeReplyObject(reply);
}

/* A client's mark lies on its shelf, the next one with the mailbox, until another client has taken that place. What is
   on the shelf still tells nothing of the last request. */
static void mark_of_before_does_not_let_a_late_copy_in(void** state)
{
    (void)state;
    shelf_scene self = shelf_scene_new();
    shelf_pushed(&self, FIRST, 1, 10);
    shelf_pushed(&self, WRITER, 5, 20);
    shelf_pushed(&self, WRITER, 6, 700);
    shelf_pushed(&self, BESIDE, 1, 750); /* the shelf stays a while longer */
    shelf_pushed(&self, ANOTHER, 1, 1350);
    assert_int_equal(redis_server_integer(self.server, "LLEN gh:{mailbox:x}:m"), 5);
    shelf_is_late(&self, WRITER, 6, 700 + PATIENCE_S);
    assert_int_equal(redis_server_integer(self.server, "LLEN gh:{mailbox:x}:m"), 5);
    shelf_pushed(&self, WRITER, 7, 1360);
    assert_int_equal(redis_server_integer(self.server, "LLEN gh:{mailbox:x}:m"), 6);
}

/* Its client gives up a link by the time that stands in what it sends. What comes later is wanted by nobody, however
   well its client is known; what was done in time is answered the same again. */
static void copy_that_its_client_has_given_up_does_nothing(void** state)
{
    (void)state;
    shelf_scene self = shelf_scene_new();
    for (unsigned i = 0; i < 2; i++)
    {
        const uint64_t client = i == 0 ? FIRST : WRITER; /* with the mailbox, and on a shelf */
        shelf_pushed(&self, client, 1, 10 + i);
        shelf_is_late(&self, client, 2, 9);
        assert_int_equal(redis_server_integer(self.server, "LLEN gh:{mailbox:x}:m"), 1 + 2 * i);
        shelf_pushed(&self, client, 2, 10 + i);
        redisReply* again = shelf_push(&self, client, 2, 9);
        assert_int_equal(again->type, REDIS_REPLY_STRING);
        freeReplyObject(again);
        assert_int_equal(redis_server_integer(self.server, "LLEN gh:{mailbox:x}:m"), 2 + 2 * i);
    }
}

/* ---- a chat that was made anew ------------------------------------------------------------------------------ */

#define MEMBER_KEYS "gh:{chat:x}:s gh:{chat:x}:m gh:{chat:x}:v"
#define CHAT_KEYS   MEMBER_KEYS " gh:{chat:x}:h gh:{chat:x}:w00"

typedef struct chat_scene
{
    redis_server* server;
    char create[FOREIGN_DIGEST_SIZE];
    char send[FOREIGN_DIGEST_SIZE];
    char leave[FOREIGN_DIGEST_SIZE];
} chat_scene;

/* "<sequence> <code> <number> ..." as it stands. */
static void said(redisReply* reply, char out[128])
{
    if (reply->type == REDIS_REPLY_ERROR) fail_msg("the script answers %s", reply->str);
    snprintf(out, 128, "%s", reply->str);
    freeReplyObject(reply);
}

static void make_chat(const chat_scene* self, unsigned sequence)
{
    char answer[128];
    said(redis_server_command(self->server,
                              "EVALSHA %s 4 " MEMBER_KEYS " gh:{chat:x}:w00 %016x:%016x %u 0 100 64 1 joe",
                              self->create, 1, sequence, sequence),
         answer);
}

static void leave_chat(const chat_scene* self, unsigned sequence)
{
    char answer[128];
    said(redis_server_command(self->server, "EVALSHA %s 5 " CHAT_KEYS " %016x:%016x %u 0 joe", self->leave, 1, sequence,
                              sequence),
         answer);
}

static void send_to_chat(const chat_scene* self, unsigned sequence, const char* sender, char answer[128])
{
    said(redis_server_command(self->server, "EVALSHA %s 5 " CHAT_KEYS " %016x:%016x %u 0 %s hello", self->send, 2,
                              sequence, sequence, sender),
         answer);
}

/* The copy is answered as the first one was: what it said is in the chat of before, or was in none. */
static void chat_that_is_made_anew_hears_no_copy(void** state)
{
    (void)state;
    static const char* const senders[] = {"joe", "spy"};
    chat_scene self = {.server = redis_server_start(NULL)};
    char first[128], copy[128];
    unsigned sequence = 1;
    foreign_load(self.server, self.create, "chat/chat_create.lua");
    foreign_load(self.server, self.send, "chat/chat_send.lua");
    foreign_load(self.server, self.leave, "chat/chat_leave.lua");
    for (unsigned i = 0; i < 2; i++)
    {
        make_chat(&self, sequence++);
        send_to_chat(&self, 2 * i + 1, "joe", first);
        send_to_chat(&self, 2 * i + 2, senders[i], first);
        leave_chat(&self, sequence++);
        assert_int_equal(redis_server_integer(self.server, "EXISTS gh:{chat:x}:v"), 0);
        make_chat(&self, sequence++);
        redis_server_do(self.server, "ZADD gh:{chat:x}:v 0 spy");
        send_to_chat(&self, 2 * i + 2, senders[i], copy);
        assert_int_equal(redis_server_integer(self.server, "LLEN gh:{chat:x}:m"), 0);
        assert_memory_equal(copy, first, 4); /* sequence, code, id */
        redis_server_do(self.server, "ZREM gh:{chat:x}:v spy");
        leave_chat(&self, sequence++);
    }
}

TEST_FILE(marks_before, cmocka_unit_test(mark_of_before_does_not_let_a_late_copy_in),
          cmocka_unit_test(copy_that_its_client_has_given_up_does_nothing),
          cmocka_unit_test(chat_that_is_made_anew_hears_no_copy));
