/* Copies of requests that come while something older than their own mark is there, an earlier mark of their client on
   its shelf. They do nothing. */

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
    redisReply* late = shelf_push(&self, WRITER, 6, 700 + PATIENCE_S);
    assert_int_equal(redis_server_integer(self.server, "LLEN gh:{mailbox:x}:m"), 5);
    assert_int_equal(late->type, REDIS_REPLY_ERROR);
    assert_memory_equal(late->str, "LATE ", 5);
    freeReplyObject(late);
    shelf_pushed(&self, WRITER, 7, 1360);
    assert_int_equal(redis_server_integer(self.server, "LLEN gh:{mailbox:x}:m"), 6);
}

TEST_FILE(marks_before, cmocka_unit_test(mark_of_before_does_not_let_a_late_copy_in));
