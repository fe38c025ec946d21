/* Senders that are cancelled or meet a spoilt file of somebody else, and readers whose caller takes its time. In a
   world that is made up. */

#include "support/server/odd.h"

#include "base/hash.h"

#include <string.h>

#define NAME  gh_str_literal("thing")
#define CHUNK 1024

typedef struct sending
{
    gh_file_send op;
    gh_file_send_config config;
    gh_str reader;
    char bytes[16 * CHUNK];
    _Alignas(16) char memory[128 * 1024];
} sending;

static sending* send_new(odd* self)
{
    sending* of = SCRIPTED_NEW(self->world, sending);
    of->reader = gh_str_literal("eve");
    of->config = gh_file_send_config_default();
    of->config.channel = gh_str_literal("news");
    of->config.readers = &of->reader;
    of->config.reader_count = 1;
    of->config.memory = of->memory;
    of->config.memory_size = sizeof(of->memory);
    return of;
}

static void send_on(odd* self, sending* of)
{
    assert_true(gh_file_send_memory(&of->config) <= sizeof(of->memory));
    assert_status(gh_file_send_begin(&of->op, self->world->client, NAME, &of->config), GH_OK);
}

static sending* send_begin(odd* self, bool stream)
{
    sending* of = send_new(self);
    of->config.stream = stream;
    send_on(self, of);
    return of;
}

#define OPENED   "q:0|:7|:16384|:0|:0|:0|$"
#define RESERVED "q:0|:0|:0|$"

/* Readers may have heard that it is there; but it is not sealed, and what is stored stays. */
static void announced_early_and_cancelled(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    sending* of = send_begin(self, true);
    odd_say(self, &of->op.op, OPENED, RESERVED, "t0");
    self->answers[3] = ""; /* of the announcement */
    odd_wait(self, 20);
    assert_int_equal(self->asked, 4);
    gh_op_cancel(&of->op.op);
    assert_status(gh_op_poll(&of->op.op), GH_CANCELLED);

    of = send_begin(self, true);
    odd_say(self, &of->op.op, OPENED, RESERVED, "t0");
    self->answers[3] = "";
    odd_wait(self, 20);
    assert_status(gh_client_drain(self->world->client, 10 * SECOND_US), GH_OK);
    odd_wait(self, 5);
    assert_true(gh_client_drained(self->world->client));
    assert_status(gh_op_poll(&of->op.op), GH_CANCELLED);
}

/* The channel is full, and one of the files in it is of no form. */
static void spoilt_file_of_another_is_waited_for_as_others(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    sending* of = send_begin(self, false);
    size_t taken;
    odd_say(self, &of->op.op, OPENED, "q:1|:0|:5|$spoilt",
            "=-CORRUPT file state is not of the form that KEYS.md describes");
    self->answers[3] = RESERVED;
    odd_wait(self, 100);
    assert_status(gh_op_poll(&of->op.op), GH_PENDING);
    assert_status(gh_file_send_push(&of->op, gh_str_literal("abcd"), &taken), GH_OK);
    assert_true(scripted_logged(self->world, "spoilt"));
}

typedef struct reading
{
    gh_file_read op;
    gh_file_read_config config;
    char chunk[16 + CHUNK];
    _Alignas(16) char memory[64 * 1024];
} reading;

static reading* read_begin(odd* self)
{
    reading* of = SCRIPTED_NEW(self->world, reading);
    gh_digest digest;
    memset(of->chunk, 'x', sizeof(of->chunk));
    digest = gh_hash_digest(of->chunk + 16, CHUNK);
    memcpy(of->chunk, digest.bytes, sizeof(digest.bytes));
    self->chunk = gh_str_make(of->chunk, sizeof(of->chunk));
    of->config = gh_file_read_config_default();
    of->config.chunk_bytes = CHUNK;
    of->config.lanes = 1;
    of->config.progress_us = SECOND_US;
    of->config.memory = of->memory;
    of->config.memory_size = sizeof(of->memory);
    assert_true(gh_file_read_memory(&of->config) <= sizeof(of->memory));
    assert_status(gh_file_read_begin(&of->op, self->world->client, NAME, gh_str_literal("eve"), &of->config), GH_OK);
    odd_say(self, &of->op.op, "q:0|:1|:1024|:3|:3072|:0|:1|:0|:60000000|$", NULL, NULL);
    return of;
}

/* Whenever it comes back, the next chunk has its whole time. */
static void caller_that_takes_its_time_is_no_store_that_stands_still(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    for (unsigned pause = 900; pause < 1100; pause += 20)
    {
        reading* of = read_begin(self);
        gh_str block;
        odd_wait(self, 20);
        assert_status(gh_file_read_block(&of->op, &block), GH_OK);
        odd_wait(self, pause);
        assert_status(gh_file_read_block(&of->op, &block), GH_PENDING);
        self->world->silent = true;
        odd_wait(self, 200);
        assert_status(gh_op_poll(&of->op.op), GH_PENDING);
        scripted_speak(self->world);
        odd_wait(self, 5);
        assert_status(gh_file_read_block(&of->op, &block), GH_OK);
        gh_op_cancel(&of->op.op);
        odd_wait(self, 5);
    }
}

/* What is asked of the file is not answered. */
static bool count_chunks(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    odd* self = world->context;
    (void)reply;
    if (!scripted_runs_on(words, count, "gh:{file:")) return false;
    self->asked++;
    return true;
}

/* Chunks that go in a tick at most, of so many. */
static unsigned most_of_a_tick(odd* self, unsigned ticks)
{
    unsigned most = 0;
    for (unsigned i = 0; i < ticks; i++)
    {
        self->asked = 0;
        odd_wait(self, 1);
        if (self->asked > most) most = self->asked;
    }
    return most;
}

/* What had gone tick by tick is not sent again in one. */
static void lost_link_moves_no_more_than_the_bytes_of_a_tick(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    sending* of = send_new(self);
    size_t taken;
    of->config.channel = gh_str_literal("");
    of->config.chunk_bytes = CHUNK;
    of->config.tick_bytes = 2 * CHUNK;
    of->config.lanes = 16;
    send_on(self, of);
    odd_say(self, &of->op.op, "q:0|:7|:1024|:0|:0|:0|$", "", NULL);
    odd_wait(self, 20);
    memset(of->bytes, 'x', sizeof(of->bytes));
    assert_status(gh_file_send_push(&of->op, gh_str_make(of->bytes, sizeof(of->bytes)), &taken), GH_OK);
    self->world->answer = count_chunks;
    assert_int_equal(most_of_a_tick(self, 40), 2);
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++) self->world->streams[i].ended = true;
    assert_int_equal(most_of_a_tick(self, 2000), 2);
    assert_int_equal(scripted_stats(self->world).links_lost, 1);
}

TEST_FILE(files_slow, cmocka_unit_test(announced_early_and_cancelled),
          cmocka_unit_test(lost_link_moves_no_more_than_the_bytes_of_a_tick),
          cmocka_unit_test(spoilt_file_of_another_is_waited_for_as_others),
          cmocka_unit_test(caller_that_takes_its_time_is_no_store_that_stands_still));
