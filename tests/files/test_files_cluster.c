/* A sender of a file whose slot has gone to another master, while an answer of the one before was on its way. In a
   Cluster that is made up. */

#include "support/scene/game.h"
#include "support/server/made_cluster.h"

#include <stdio.h>
#include <string.h>

#define NAME     gh_str_literal("map")
#define KEY      "gh:{file:map}:"
#define CHUNK    1024
#define TICK_US  5000
#define SHORT_US 200 /* a map is read before the busy one is asked again */
#define ARGS_MAX 8

typedef struct sending
{
    gh_file_send op;
    gh_file_send_config config;
    gh_str reader;
    char bytes[2 * CHUNK];
    _Alignas(16) char memory[64 * 1024];
    made_cluster* fleet;
    scripted_answer honest;
    scripted_stream* old; /* whose answer to the second chunk is on its way */
    gh_str late;          /* which op that is, by its number                */
    char late_bytes[24];
    bool has_forgotten; /* the new one knows of no chunk                  */
    unsigned stored;    /* by the new one                                 */
} sending;

static sending* now; /* what runs */

static bool is_busy(byte_buffer* reply)
{
    const char text[] = "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n";
    buffer_add(reply, text, sizeof text - 1);
    return true;
}

/* The old one is busy when the first comes, and says of the second that it comes too early; which is heard late. */
static bool say_old(sending* self, const gh_str* args, byte_buffer* reply)
{
    const bool is_second = *args[2].bytes == '1';
    if (!is_second) return is_busy(reply);
    self->old = &self->fleet->world->streams[self->fleet->world->asked - self->fleet->world->streams];
    memcpy(self->late_bytes, args[1].bytes, args[1].size);
    self->late = gh_str_make(self->late_bytes, args[1].size);
    return true;
}

static bool say_new(sending* self, const gh_str* args, byte_buffer* reply)
{
    const unsigned number = (unsigned)scripted_number(args[2]);
    const bool is_early = self->has_forgotten && number > 0;
    const unsigned chunks = self->has_forgotten ? 0 : number + 1;
    if (!is_early) self->stored++;
    buffer_add_bulk(reply, "%lld %d %u 0", scripted_number(args[1]), is_early ? 2 : 0, chunks);
    return true;
}

static bool answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    sending* self = now;
    const unsigned node = world->asked->port - MADE_PORT;
    if (!scripted_runs_on(words, count, KEY) || self->fleet->owners[gh_slot_of_key(words[3])] != node)
        return self->honest(world, words, count, reply);
    const gh_str* args = words + 3 + scripted_number(words[2]);
    const size_t arg_count = (size_t)(words + count - args);
    if (arg_count == 6) return node == 0 ? say_old(self, args, reply) : say_new(self, args, reply);
    char text[64];
    const int size = snprintf(text, sizeof text, "*8\r\n:%lld\r\n:0\r\n:7\r\n:%d\r\n:0\r\n:0\r\n:0\r\n$0\r\n\r\n",
                              scripted_number(args[1]), CHUNK);
    buffer_add(reply, text, (size_t)size);
    return true;
}

/* Two chunks are on their way to node 0, and node 1 has the slot before they are answered. */
static sending* send_while_the_slot_moves(bool has_forgotten)
{
    made_cluster* fleet = made_cluster_new(3);
    sending* self = now = SCRIPTED_NEW(fleet->world, sending);
    const unsigned slot = gh_slot_of_key(gh_str_literal(KEY));
    size_t taken;
    self->fleet = fleet;
    self->has_forgotten = has_forgotten;
    self->honest = fleet->world->answer;
    fleet->world->answer = answer;
    fleet->owners[slot] = 0;
    made_cycler* other = made_cluster_cycle(fleet, 2);
    made_cluster_start(fleet);
    MADE_UNTIL(fleet, other->cycles > 2, TICK_US, 5000000);
    self->reader = gh_str_literal("eve");
    self->config = gh_file_send_config_default();
    self->config.readers = &self->reader;
    self->config.reader_count = 1;
    self->config.chunk_bytes = CHUNK;
    self->config.memory = self->memory;
    self->config.memory_size = sizeof self->memory;
    assert_status(gh_file_send_begin(&self->op, fleet->world->client, NAME, &self->config), GH_OK);
    MADE_UNTIL(fleet, self->op.id != 0, TICK_US, 1000000);
    assert_status(gh_file_send_push(&self->op, gh_str_make(self->bytes, sizeof self->bytes), &taken), GH_OK);
    MADE_UNTIL(fleet, self->late.size > 0, SHORT_US, 1000000);
    fleet->owners[slot] = 1;
    fleet->owners[other->slot] = 1; /* whose MOVED has a map read */
    MADE_UNTIL(fleet, self->op.stored_bytes == CHUNK, SHORT_US, 2000000);
    return self;
}

/* It was said before the new one had the first. */
static void early_of_the_one_before_is_no_loss(void** state)
{
    (void)state;
    sending* self = send_while_the_slot_moves(false);
    buffer_add_bulk(&self->old->replies, "%.*s 2 0 0", (int)self->late.size, self->late.bytes);
    MADE_UNTIL(self->fleet, self->op.stored_bytes == 2 * CHUNK || !gh_op_is_busy(&self->op.op), TICK_US, 2000000);
    assert_status(gh_op_poll(&self->op.op), GH_PENDING);
    assert_int_equal(self->stored, 2);
}

/* Who is asked anew says the same: it has lost what it had confirmed. */
static void early_of_the_one_that_has_it_is_a_loss(void** state)
{
    (void)state;
    sending* self = send_while_the_slot_moves(true);
    buffer_add_bulk(&self->old->replies, "%.*s 2 0 0", (int)self->late.size, self->late.bytes);
    MADE_UNTIL(self->fleet, !gh_op_is_busy(&self->op.op), TICK_US, 2000000);
    assert_status(gh_op_poll(&self->op.op), GH_GONE);
    assert_int_equal(self->stored, 1);
}

TEST_FILE(files_cluster, cmocka_unit_test(early_of_the_one_before_is_no_loss),
          cmocka_unit_test(early_of_the_one_that_has_it_is_a_loss));
