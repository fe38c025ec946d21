/* Readers of files whose store keeps the form of the script and not its sense, stands still, or whose caller does. In a
   world that is made up. */

#include "support/server/odd.h"

#include "base/hash.h"

#include <string.h>

#define NAME gh_str_literal("thing")
#define HALF "0123456789abcdef"

typedef struct reader
{
    gh_file_read op;
    gh_file_read_config config;
    char chunk[2048]; /* its digest first */
    _Alignas(16) char memory[256 * 1024];
} reader;

static reader* reader_new(odd* self)
{
    reader* of = SCRIPTED_NEW(self->world, reader);
    of->config = gh_file_read_config_default();
    of->config.memory = of->memory;
    of->config.memory_size = sizeof(of->memory);
    of->config.lanes = 2;
    return of;
}

static gh_op* begin(odd* self, reader* of)
{
    memset(&of->op, 0, sizeof(of->op));
    assert_true(gh_file_read_memory(&of->config) <= sizeof(of->memory));
    assert_status(gh_file_read_begin(&of->op, self->world->client, NAME, gh_str_literal("eve"), &of->config), GH_OK);
    return &of->op.op;
}

/* What a request for a chunk is answered from now on. */
static void lay_chunk(odd* self, reader* of, const char* text)
{
    const size_t size = strlen(text);
    const gh_digest digest = gh_hash_digest(text, size);
    memcpy(of->chunk, digest.bytes, sizeof(digest.bytes));
    memcpy(of->chunk + sizeof(digest.bytes), text, size);
    self->chunk = gh_str_make(of->chunk, sizeof(digest.bytes) + size);
}

/* code, id, bytes of a chunk, chunks, bytes, offset, readers left, sealed, lease, digest */
static void figures_that_are_none(void** state)
{
    (void)state;
    static const char* const broken[] = {"q:0|:1|:0|:0|:0|:0|:1|:0|:60000000|$",
                                         "q:0|:1|:131073|:0|:0|:0|:1|:0|:60000000|$",
                                         "q:0|:1|:1024|:2|:1024|:0|:1|:0|:60000000|$",
                                         "q:0|:1|:1024|:1|:1025|:0|:1|:0|:60000000|$",
                                         "q:0|:1|:1024|:1|:1024|:1025|:1|:0|:60000000|$",
                                         "q:0|:1|:1024|:0|:0|:0|:1|:1|:60000000|$",
                                         "q:0|:1|:1024|:0|:0|:0|:1|:1|:60000000|$" HALF "0123456789abcdez",
                                         "q:0|:1|:1024|:0|:0|:0|:1|:1|:60000000|$0123456789abcdez" HALF,
                                         "q:0|:1|:1024|:0|:0|:0|:1|:1|:60000000|$" HALF HALF "0",
                                         "q:0|:1|:1024|:0|:0|:0|:1|:0|:0|$",
                                         "q:0|:1|:1024|:0|:0|:0|:1|:0|:5|$",
                                         "q:0|:1|:1024|:0|:0|:0|:1|:0|:999999|$",
                                         "q:0|:1|:1024|:0|:0|:0|:1|:0|:86400000001|$",
                                         "q:7|:1|:1024|:0|:0|:0|:1|:0|:60000000|$"};
    odd* self = odd_start(NULL);
    reader* of = reader_new(self);
    ODD_EACH(self, begin(self, of), broken, GH_CORRUPT);
}

static void figures_that_change_as_they_cannot(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    reader* of = reader_new(self);
    const char* const opened = "q:0|:1|:1024|:1|:1024|:0|:1|:0|:60000000|$";
    assert_status(odd_told_many(self, begin(self, of), opened, "q:0|:1|:2048|:1|:1024|:0|:1|:0|:60000000|$", NULL),
                  GH_CORRUPT);
    assert_status(odd_told_many(self, begin(self, of), opened, "q:0|:1|:1024|:0|:0|:0|:1|:0|:60000000|$", NULL),
                  GH_LOST);
    assert_status(odd_told_many(self, begin(self, of), opened, "q:0|:1|:1024|:1|:1024|:512|:1|:0|:60000000|$", NULL),
                  GH_LOST);
    assert_status(odd_told_many(self, begin(self, of), opened, "q:5|:1|:1024|:1|:1024|:0|:1|:0|:60000000|$", NULL),
                  GH_LOST);
}

/* It was read with another config, which noted as it read. */
static void offset_of_another_config_is_lost(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    reader* of = reader_new(self);
    const char* const half = "q:0|:1|:1024|:2|:2048|:1024|:1|:0|:60000000|$";
    of->config.keep = GH_FILE_AT_END;
    assert_status(odd_told(self, begin(self, of), half), GH_LOST);
    of->config.keep = GH_FILE_AS_READ;
    of->config.format = GH_FILE_GZIP;
    assert_status(odd_told(self, begin(self, of), half), GH_LOST);
}

static void chunks_that_are_none(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    reader* of = reader_new(self);
    const char* const opened = "q:0|:1|:1024|:1|:4|:0|:1|:0|:60000000|$";
    self->chunk = gh_str_literal("=:7");
    assert_status(odd_told(self, begin(self, of), opened), GH_CORRUPT);
    self->chunk = gh_str_literal("=-WRONGTYPE Operation against a key holding the wrong kind of value");
    assert_status(odd_told(self, begin(self, of), opened), GH_CORRUPT);
    self->chunk = gh_str_literal("abcd");
    assert_status(odd_told(self, begin(self, of), opened), GH_CORRUPT);
    lay_chunk(self, of, "abcd");
    of->chunk[0] ^= 1;
    assert_status(odd_told(self, begin(self, of), opened), GH_CORRUPT);
    self->chunk = gh_str_make(NULL, 0); /* though it was said to be there */
    assert_status(odd_told(self, begin(self, of), opened), GH_CORRUPT);
}

/* It is never asked for again: the answer would be the same. */
static void chunk_that_no_reply_has_room_for(void** state)
{
    (void)state;
    static char large[64 * 1024];
    odd* self = odd_start(NULL);
    reader* of = reader_new(self);
    self->chunk = gh_str_make(large, sizeof(large));
    begin(self, of);
    odd_say(self, &of->op.op, "q:0|:1|:1024|:1|:4|:0|:1|:0|:60000000|$", NULL, NULL);
    SCRIPTED_UNTIL(self->world, !gh_op_is_busy(&of->op.op), 1000, SECOND_US);
    assert_status(gh_op_poll(&of->op.op), GH_CORRUPT);
    assert_int_equal(scripted_stats(self->world).links_lost, 1);
}

static reader* read_first(odd* self, const char* text)
{
    reader* of = reader_new(self);
    lay_chunk(self, of, text);
    begin(self, of);
    return of;
}

/* A caller that lets all lie asks when it comes back, and is told whether the store has waited. */
static void caller_that_lets_all_lie_does_not_keep_its_lease(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    reader* of = read_first(self, "abcd");
    gh_str block;
    odd_say(self, &of->op.op, "q:0|:1|:1024|:1|:4|:0|:1|:0|:3000000|$", NULL, NULL);
    odd_wait(self, 20);
    for (int i = 0; i < 4; i++) lay_chunk(self, of, "abcd");
    odd_wait(self, 3000);
    const unsigned asked = self->asked;
    odd_wait(self, 6000);
    assert_int_equal(self->asked, asked);
    assert_true(gh_op_is_busy(&of->op.op));
    assert_status(gh_file_read_block(&of->op, &block), GH_PENDING);
    odd_wait(self, 20);
    assert_true(self->asked > asked);
    assert_status(gh_file_read_block(&of->op, &block), GH_OK);
    assert_true(gh_str_equal(block, gh_str_literal("abcd")));
}

/* What was begun of a line comes as a block. */
static void block_behind_a_line_that_was_begun(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    reader* of = read_first(self, "abcd");
    gh_str text;
    odd_say(self, &of->op.op, "q:0|:1|:1024|:1|:4|:0|:1|:0|:60000000|$", NULL, NULL);
    odd_wait(self, 20);
    assert_status(gh_file_read_line(&of->op, &text), GH_PENDING);
    assert_status(gh_file_read_block(&of->op, &text), GH_OK);
    assert_true(gh_str_equal(text, gh_str_literal("abcd")));
    assert_status(gh_file_read_block(&of->op, &text), GH_PENDING);
}

static void recall_takes_what_was_read_before_and_no_more(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    reader* of = reader_new(self);
    gh_str text;
    lay_chunk(self, of, "abcd");
    begin(self, of);
    odd_say(self, &of->op.op, "q:0|:1|:1024|:1|:4|:4|:1|:0|:60000000|$", NULL, NULL);
    assert_status(gh_file_read_recall(NULL, gh_str_literal("ab")), GH_INVALID_OP);
    assert_status(gh_file_read_recall(&of->op, gh_str_literal("ab")), GH_PENDING);
    odd_wait(self, 20);
    assert_status(gh_file_read_recall(&of->op, gh_str_make(NULL, 2)), GH_INVALID_BUFFER);
    assert_status(gh_file_read_recall(&of->op, gh_str_make(NULL, 0)), GH_OK);
    assert_status(gh_file_read_recall(&of->op, gh_str_literal("abcde")), GH_INVALID_BUFFER);
    assert_status(gh_file_read_recall(&of->op, gh_str_literal("ab")), GH_OK);
    assert_status(gh_file_read_recall(&of->op, gh_str_literal("cde")), GH_INVALID_BUFFER);
    assert_status(gh_file_read_block(&of->op, &text), GH_PENDING);
    assert_status(gh_file_read_recall(&of->op, gh_str_literal("cd")), GH_INVALID_OP);
}

/* The file is done with by all, and its channel does not hear of it. */
static void withdrawal_that_fails_is_told_in_the_log_alone(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    reader* of = reader_new(self);
    of->config.channel = gh_str_literal("news");
    assert_status(odd_told_many(self, begin(self, of), "q:3|:1|:1024|:1|:4|:4|:0|:1|:60000000|$" HALF HALF,
                                "=-WRONGTYPE Operation against a key holding the wrong kind of value", NULL),
                  GH_EXISTS);
    assert_true(scripted_logged(self->world, "still stands in its channel"));
}

/* It reads an empty file to its end, and says so. */
static reader* read_nothing(odd* self, const char* channel, const char* second, const char* third)
{
    static char opened[128];
    static const char digits[] = "0123456789abcdef";
    gh_digest digest = gh_hash_digest("", 0);
    reader* of = reader_new(self);
    gh_str text;
    of->config.channel = gh_str_of(channel);
    strcpy(opened, "q:0|:1|:1024|:0|:0|:0|:1|:1|:60000000|$");
    char* end = opened + strlen(opened);
    for (size_t i = 0; i < sizeof(digest.bytes); i++)
    {
        const unsigned char byte = ((const unsigned char*)digest.bytes)[i];
        *end++ = digits[byte >> 4];
        *end++ = digits[byte & 15];
    }
    *end = 0;
    begin(self, of);
    odd_say(self, &of->op.op, opened, second, third);
    odd_wait(self, 20);
    assert_status(gh_file_read_block(&of->op, &text), GH_EMPTY);
    assert_status(gh_file_read_done(&of->op), GH_OK);
    return of;
}

static void reader_that_is_done_and_cancelled(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    reader* of = read_nothing(self, "", "", NULL);
    gh_op_cancel(&of->op.op); /* nothing was sent of it */
    odd_wait(self, 5);
    assert_status(gh_op_poll(&of->op.op), GH_CANCELLED);
    of = read_nothing(self, "", "", NULL);
    odd_wait(self, 5);
    gh_op_cancel(&of->op.op); /* it may have been heard: the answer is waited for */
    odd_wait(self, 5);
    assert_status(gh_op_poll(&of->op.op), GH_PENDING);
    gh_client_shutdown(self->world->client);
    assert_status(gh_op_poll(&of->op.op), GH_UNKNOWN);
}

static void client_ends_while_a_channel_is_told(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    reader* of = read_nothing(self, "news", "q:0|:1|:1024|:0|:0|:0|:0|:1|:60000000|$" HALF HALF, "");
    odd_wait(self, 20);
    gh_op_cancel(&of->op.op);
    odd_wait(self, 5);
    assert_status(gh_op_poll(&of->op.op), GH_PENDING);
    gh_client_shutdown(self->world->client);
    assert_status(gh_op_poll(&of->op.op), GH_UNKNOWN);
}

/* A client closes its ops in no order that anybody could rely on. */
static void sets_end_with_their_client_whatever_else_does(void** state)
{
    (void)state;
    static const gh_str names[] = {GH_STR_INIT("sword"), GH_STR_INIT("shield"), GH_STR_INIT("bow"), GH_STR_INIT("axe")};
    static char full[1025];
    memset(full, 'x', 1024);
    for (unsigned way = 0; way < 64; way++)
    {
        odd* self = odd_start(NULL);
        reader* of = reader_new(self);
        gh_lock_set* sets = scripted_keep(self->world, 2 * sizeof(*sets));
        gh_lock* locks = scripted_keep(self->world, 4 * sizeof(*locks));
        gh_str block;
        lay_chunk(self, of, full);
        for (unsigned step = 0; step < 3; step++)
        {
            if (step == way % 3) begin(self, of);
            else
                assert_status(gh_lock_set_begin(&sets[step == (way + 1) % 3], self->world->client,
                                                locks + (step == (way + 1) % 3 ? 2 : 0),
                                                names + (step == (way + 1) % 3 ? 2 : 0), 2, NULL),
                              GH_OK);
            if (step == way % 3) odd_say(self, &of->op.op, "q:0|:1|:1024|:8|:8192|:0|:1|:0|:60000000|$", NULL, NULL);
            odd_wait(self, way / 3 % 5);
        }
        odd_wait(self, way / 15);
        for (unsigned i = 0; i < 1 + way % 2; i++) (void)gh_file_read_block(&of->op, &block);
        gh_client_shutdown(self->world->client);
        assert_false(gh_op_is_busy(&of->op.op));
        for (int i = 0; i < 2; i++) assert_false(gh_op_is_busy(&sets[i].op));
        for (int i = 0; i < 4; i++) assert_false(gh_op_is_busy(&locks[i].op));
        for (int i = 0; i < 2; i++)
            assert_true(gh_op_poll(&sets[i].op) == GH_CANCELLED || gh_op_poll(&sets[i].op) == GH_UNKNOWN);
    }
}

TEST_FILE(files_odd, cmocka_unit_test(sets_end_with_their_client_whatever_else_does),
          cmocka_unit_test(figures_that_are_none), cmocka_unit_test(figures_that_change_as_they_cannot),
          cmocka_unit_test(offset_of_another_config_is_lost), cmocka_unit_test(chunks_that_are_none),
          cmocka_unit_test(chunk_that_no_reply_has_room_for),
          cmocka_unit_test(caller_that_lets_all_lie_does_not_keep_its_lease),
          cmocka_unit_test(block_behind_a_line_that_was_begun),
          cmocka_unit_test(recall_takes_what_was_read_before_and_no_more),
          cmocka_unit_test(withdrawal_that_fails_is_told_in_the_log_alone),
          cmocka_unit_test(reader_that_is_done_and_cancelled), cmocka_unit_test(client_ends_while_a_channel_is_told));
