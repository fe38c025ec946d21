/* test_reader.c -- what Guildhall reads: sdk/src/wire/inbox.h with good replies, cut in every way, and at
   its bounds. test_reader_hostile.c has the bad ones. */

#include "guildhall/reply.h"
#include "support/faults/heap.h"
#include "support/random.h"
#include "support/faults/reading.h"
#include "support/suite.h"
#include "wire/inbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Good replies ---- */

static void each_type_is_read(void** state)
{
    reading* reader = reading_of(state);
    reading_expect(reader, "+OK\r\n", "+2 OK");
    reading_expect(reader, "+\r\n", "+0 ");
    reading_expect(reader, "-ERR no such thing\r\n", "-17 ERR no such thing");
    reading_expect(reader, ":0\r\n:1\r\n:-1\r\n", ":0 :1 :-1 ");
    reading_expect(reader, ":9223372036854775807\r\n", ":9223372036854775807 ");
    reading_expect(reader, ":-9223372036854775808\r\n", ":-9223372036854775808 ");
    reading_expect(reader, "$5\r\nhello\r\n", "$5 hello");
    reading_expect(reader, "$0\r\n\r\n", "$0 ");
    reading_expect(reader, "$4\r\n\r\n\r\n\r\n", "$4 \r\n\r\n");
    reading_expect(reader, "$-1\r\n", "_0 ");
    reading_expect(reader, "*-1\r\n", "_0 ");
    reading_expect(reader, "*0\r\n", "*0 ");
    reading_expect(reader, "*3\r\n:1\r\n$-1\r\n*2\r\n+a\r\n*0\r\n", "*3 :1 _0 *2 +1 a*0 ");
    reading_expect(reader, "", "");
}

static void bytes_of_a_string_are_any_bytes(void** state)
{
    static reading_transcript got;
    static const char reply[] = "$7\r\na\0b\r\n\xff$\r\n";
    reading_whole(reading_of(state), reply, sizeof(reply) - 1, &got);
    reading_must_be(&got, "$7 a\0b\r\n\xff$", 10);
}

static void elements_are_found_by_their_number(void** state)
{
    static const char bytes[] = "*2\r\n:7\r\n+x\r\n";
    const gh_reply* reply = NULL;
    reading* reader = reading_of(state);
    reading_feed(reader, bytes, sizeof(bytes) - 1);
    assert_int_equal(reading_next(reader, &reply), GH_READ_REPLY);
    assert_int_equal(gh_reply_at(reply, 0)->integer, 7);
    assert_int_equal(gh_reply_at(reply, 1)->type, GH_REPLY_STATUS);
    assert_null(gh_reply_at(reply, 2));
    assert_null(gh_reply_at(reply, UINT32_MAX));
    assert_null(gh_reply_at(gh_reply_at(reply, 0), 0));
    assert_null(gh_reply_at(NULL, 0));
}

static void a_reply_lives_until_the_next_is_asked_for(void** state)
{
    static const char bytes[] = "*2\r\n$3\r\nabc\r\n*1\r\n$2\r\nde\r\n$1\r\nx\r\n+O";
    const gh_reply* reply = NULL;
    reading* reader = reading_of(state);
    reading_feed(reader, bytes, sizeof(bytes) - 1);
    assert_int_equal(reading_next(reader, &reply), GH_READ_REPLY);
    assert_true(gh_str_equal(gh_reply_at(reply, 0)->text, gh_str_literal("abc")));
    assert_true(gh_str_equal(gh_reply_at(gh_reply_at(reply, 1), 0)->text, gh_str_literal("de")));
    assert_int_equal(reading_next(reader, &reply), GH_READ_REPLY);
    assert_true(gh_str_equal(reply->text, gh_str_literal("x")));
    assert_int_equal(reading_next(reader, &reply), GH_READ_MORE);
    reading_feed(reader, "K\r\n", 3);
    assert_int_equal(reading_next(reader, &reply), GH_READ_REPLY);
    assert_true(gh_str_equal(reply->text, gh_str_literal("OK")));
}

/* Each has its own bytes, and what is cut there waits while another one is read. */
static void one_reader_serves_several_inboxes(void** state)
{
    static const char bytes[] = "*2\r\n*2\r\n:7\r\n$2\r\nab\r\n:8\r\n";
    static _Alignas(16) char block[8192];
    static reading_transcript first, second;
    reading* reader = reading_of(state);
    reading other = {.reader = reader->reader};
    gh_arena arena = gh_arena_make(block, sizeof(block));
    assert_true(gh_inbox_take(&other.inbox, &arena, 16, 5));
    for (size_t i = 0; i < sizeof(bytes) - 1; i++)
    {
        first.size = second.size = 0;
        reading_feed(reader, bytes + i, 1);
        assert_true(reading_take_all(reader, &first));
        reading_feed(&other, bytes + i, 1);
        assert_true(reading_take_all(&other, &second));
    }
    reading_must_be(&first, "*2 *2 :7 $2 ab:8 ", 17);
    reading_must_be(&second, first.text, first.size);
    reading_feed(&other, "*5\r\n", 4); /* the bounds are each one's own, too */
    assert_false(reading_take_all(&other, &second));
    reading_expect(reader, "*5\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n", "*5 :1 :2 :3 :4 :5 ");
    reading_end(&(reading){.inbox = other.inbox});
}

/* ---- Pieces ---- */

static void every_way_to_cut_a_reply_gives_the_same(void** state)
{
    static const char bytes[] = "*4\r\n:12\r\n$5\r\na\r\nbc\r\n*2\r\n+OK\r\n$-1\r\n-E x\r\n:-3\r\n$0\r\n\r\n";
    static const char expected[] = "*4 :12 $5 a\r\nbc*2 +2 OK_0 -3 E x:-3 $0 ";
    static reading_transcript whole, got;
    reading* reader = reading_of(state);
    size_t size = sizeof(bytes) - 1;
    reading_whole(reader, bytes, size, &whole);
    reading_must_be(&whole, expected, sizeof(expected) - 1);
    for (size_t a = 0; a <= size; a++)
    {
        for (size_t b = a; b <= size; b++)
        {
            size_t cuts[3] = {a, b, size};
            reading_in_pieces(reader, bytes, cuts, 3, &got);
            reading_must_be(&got, whole.text, whole.size);
        }
    }
    reading_byte_by_byte(reader, bytes, size, &got);
    reading_must_be(&got, whole.text, whole.size);
}

static void random_replies_are_read_as_they_were_meant(void** state)
{
    static reading_maker m;
    static reading_transcript got;
    reading* reader = reading_of(state);
    m.stream = random_for_test("replies");
    for (int round = 0; round < 3000; round++)
    {
        reading_make_replies(&m, 1 + (unsigned)random_below(&m.stream, 6));
        reading_in_random_pieces(reader, &m, &got);
        reading_must_be(&got, m.expected.text, m.expected.size);
    }
}

/* The reader's own memory must not wear out either: no reset in between. */
static void a_long_session_is_read_without_a_reset(void** state)
{
    static reading_maker m;
    static reading_transcript got;
    reading* reader = reading_of(state);
    m.stream = random_for_test("session");
    for (int round = 0; round < 3000; round++)
    {
        reading_make_replies(&m, 3);
        got.size = 0;
        for (size_t at = 0; at < m.size;)
        {
            size_t left = m.size - at < GH_INBOX_ROOM_MIN ? m.size - at : GH_INBOX_ROOM_MIN;
            size_t size = (size_t)random_between(&m.stream, 1, left);
            reading_feed(reader, m.bytes + at, size);
            assert_true(reading_take_all(reader, &got));
            at += size;
        }
        reading_must_be(&got, m.expected.text, m.expected.size);
    }
}

/* ---- Bounds ---- */

static gh_read feed_string(reading* reader, size_t size, const gh_reply** reply)
{
    static char bytes[READING_REPLY_BYTES * 2 + 64];
    size_t all = (size_t)snprintf(bytes, 32, "$%zu\r\n", size);
    memset(bytes + all, 'x', size);
    all += size;
    memcpy(bytes + all, "\r\n", 2);
    all += 2;
    gh_read result = GH_READ_MORE;
    for (size_t at = 0; at < all && result == GH_READ_MORE; at += GH_INBOX_ROOM_MIN)
    {
        reading_feed(reader, bytes + at, all - at < GH_INBOX_ROOM_MIN ? all - at : GH_INBOX_ROOM_MIN);
        result = reading_next(reader, reply);
    }
    return result;
}

static void a_string_has_a_bound(void** state)
{
    const gh_reply* reply = NULL;
    reading* reader = reading_of(state);
    for (size_t size = READING_REPLY_BYTES - 3; size <= READING_REPLY_BYTES + 3; size++)
    {
        reading_restart(reader);
        gh_read result = feed_string(reader, size, &reply);
        assert_int_equal(result, size < READING_REPLY_BYTES ? GH_READ_REPLY : GH_READ_TOO_LARGE);
        if (result == GH_READ_REPLY) assert_int_equal(reply->text.size, size);
    }
}

/* Whatever stood in the buffer before: the largest string always fits. */
static void the_largest_string_fits_behind_any_other_reply(void** state)
{
    static char before[GH_INBOX_ROOM_MIN];
    const gh_reply* reply = NULL;
    reading* reader = reading_of(state);
    for (size_t size = 1; size <= sizeof(before) - 16; size = size < 32 ? size + 1 : size * 3 / 2)
    {
        reading_restart(reader);
        memset(before, 'y', sizeof(before));
        before[0] = '+';
        memcpy(before + 1 + size, "\r\n", 2);
        reading_feed(reader, before, size + 3);
        assert_int_equal(reading_next(reader, &reply), GH_READ_REPLY);
        assert_int_equal(reading_next(reader, &reply), GH_READ_MORE);
        assert_int_equal(feed_string(reader, READING_REPLY_BYTES - 1, &reply), GH_READ_REPLY);
    }
}

/* An array of `count` elements, fed in one piece. */
static gh_read feed_array(reading* reader, size_t count, const char* element, const gh_reply** reply)
{
    char head[32];
    gh_read result = GH_READ_MORE;
    reading_feed(reader, head, (size_t)snprintf(head, sizeof(head), "*%zu\r\n", count));
    result = reading_next(reader, reply);
    for (size_t i = 0; i < count && result == GH_READ_MORE; i++)
    {
        reading_feed(reader, element, strlen(element));
        result = reading_next(reader, reply);
    }
    return result;
}

static void a_reply_has_a_bound_of_values(void** state)
{
    const gh_reply* reply = NULL;
    reading* reader = reading_of(state);
    for (size_t count = 0; count <= READING_REPLY_NODES + 2; count++)
    {
        reading_restart(reader);
        gh_read result = feed_array(reader, count, ":1\r\n", &reply);
        assert_int_equal(result,
                         count < READING_REPLY_NODES ? GH_READ_REPLY : GH_READ_TOO_LARGE); /* the array is one too */
        reading_restart(reader);
        result = feed_array(reader, count, "*1\r\n:1\r\n", &reply);
        assert_int_equal(result, 2 * count < READING_REPLY_NODES ? GH_READ_REPLY : GH_READ_TOO_LARGE);
    }
}

static void strings_of_one_reply_share_their_bound(void** state)
{
    static char element[600];
    const gh_reply* reply = NULL;
    reading* reader = reading_of(state);
    size_t head = (size_t)snprintf(element, sizeof(element), "$511\r\n"); /* 512 bytes each with the NUL behind */
    memset(element + head, 'e', 511);
    memcpy(element + head + 511, "\r\n", 3);
    for (size_t count = 30; count <= 34; count++)
    {
        reading_restart(reader);
        gh_read result = feed_array(reader, count, element, &reply);
        assert_int_equal(result, count <= READING_REPLY_BYTES / 512 ? GH_READ_REPLY : GH_READ_TOO_LARGE);
    }
}

/* Each string takes a byte more than it has; the second one is at the bound to the byte. */
static void the_last_string_of_a_reply_fits_to_the_byte(void** state)
{
    const gh_reply* reply = NULL;
    reading* reader = reading_of(state);
    size_t left = READING_REPLY_BYTES - sizeof("first");
    for (size_t size = left - 3; size <= left + 3; size++)
    {
        reading_restart(reader);
        reading_feed(reader, "*2\r\n$5\r\nfirst\r\n", 15);
        assert_int_equal(reading_next(reader, &reply), GH_READ_MORE);
        assert_int_equal(feed_string(reader, size, &reply), size < left ? GH_READ_REPLY : GH_READ_TOO_LARGE);
        if (size < left) assert_true(gh_str_equal(gh_reply_at(reply, 0)->text, gh_str_literal("first")));
    }
}

static gh_read feed_nested(reading* reader, unsigned depth)
{
    const gh_reply* reply = NULL;
    char bytes[256];
    size_t size = 0;
    for (unsigned i = 0; i < depth; i++, size += 4) memcpy(bytes + size, "*1\r\n", 4);
    memcpy(bytes + size, ":1\r\n", 4);
    reading_restart(reader);
    reading_feed(reader, bytes, size + 4);
    return reading_next(reader, &reply);
}

/* As of a client that has begun nothing that may get such a reply, and so has no hiredis. */
static void without_trees_inner_arrays_are_empty(void** state)
{
    reading* reader = reading_of(state);
    reader->reader.trees = NULL;
    for (unsigned depth = 1; depth < 9; depth++)
    {
        assert_int_equal(feed_nested(reader, depth), depth <= 7 ? GH_READ_REPLY : GH_READ_BROKEN);
    }
    reading_expect(reader, "*3\r\n$2\r\nOK\r\n:7\r\n$-1\r\n", "*3 $2 OK:7 _0 ");
    reading_expect(reader, "*4\r\n*2\r\n*0\r\n$1\r\nx\r\n:8\r\n*-1\r\n+OK\r\n:9\r\n", "*4 *0 :8 _0 +2 OK:9 ");
    reading_expect(reader, "*2\r\n*1\r\n*1\r\n:1\r\n*0\r\n-no\r\n", "*2 *0 *0 -2 no");
    reading_expect(reader, ":9223372036854775807\r\n", ":9223372036854775807 ");
    reading_expect(reader, "*2\r\n:-9223372036854775808\r\n:-1000000000000000000\r\n",
                   "*2 :-9223372036854775808 :-1000000000000000000 ");
    reading_expect(reader, "*1\r\n:9223372036854775808\r\n", "!");
}

static void arrays_within_arrays_have_a_bound(void** state)
{
    reading* reader = reading_of(state);
    for (unsigned depth = 1; depth < 60; depth++)
    {
        assert_int_equal(feed_nested(reader, depth), depth <= 7 ? GH_READ_REPLY : GH_READ_BROKEN);
    }
}

static void the_largest_reply_is_remembered(void** state)
{
    reading* reader = reading_of(state);
    assert_int_equal(gh_inbox_reply_bytes_max(&reader->inbox), 0);
    reading_expect(reader, "+OK\r\n", "+2 OK");
    uint32_t small = gh_inbox_reply_bytes_max(&reader->inbox);
    assert_in_range(small, 34, 36);
    reading_expect(reader, "*2\r\n:1\r\n$5\r\nhello\r\n", "*2 :1 $5 hello");
    uint32_t large = gh_inbox_reply_bytes_max(&reader->inbox);
    assert_in_range(large, 3 * 32 + 5, 3 * 32 + 8);
    reading_expect(reader, ":1\r\n", ":1 ");
    assert_int_equal(gh_inbox_reply_bytes_max(&reader->inbox), large);
}

/* ---- Memory ---- */

static size_t room_of_reader(uint32_t reply_bytes, uint32_t reply_nodes)
{
    gh_inbox inbox = {.capacity = 0};
    gh_reader reader = {.trees = NULL};
    gh_arena arena = gh_arena_make(NULL, 0);
    assert_false(gh_reader_take(&reader, &arena, reply_nodes));
    assert_false(gh_inbox_take(&inbox, &arena, reply_bytes, reply_nodes));
    return arena.used;
}

static void no_room_is_told(void** state)
{
    (void)state;
    gh_inbox inbox = {.capacity = 0};
    gh_reader reader = {.trees = NULL};
    size_t size = room_of_reader(READING_REPLY_BYTES, READING_REPLY_NODES) - 16;
    char* block = aligned_alloc(16, size);
    gh_arena tight = gh_arena_make(block, size);
    assert_true(gh_reader_take(&reader, &tight, READING_REPLY_NODES));
    assert_false(gh_inbox_take(&inbox, &tight, READING_REPLY_BYTES, READING_REPLY_NODES));
    tight = gh_arena_make(block, READING_REPLY_NODES * sizeof(gh_reply) - 1);
    assert_false(gh_reader_take(&reader, &tight, READING_REPLY_NODES));
    free(block);
}

/* Besides values and the bytes of the largest reply: what always comes into the room, and at most 1.5 KiB. */
static void a_reader_takes_little_but_what_it_holds(void** state)
{
    (void)state;
    for (uint32_t bytes = 128; bytes <= 64 * 1024 * 1024; bytes *= 2)
    {
        size_t held = bytes + 100 * (sizeof(gh_reply) + sizeof(":-9223372036854775808\r\n") - 1) + GH_INBOX_ROOM_MIN;
        assert_in_range(room_of_reader(bytes, 100), held, held + 1536);
    }
}

/* Feeds what there is room for, as a link does. */
static gh_read feed_all(reading* reader, const char* bytes, size_t size, const gh_reply** reply)
{
    gh_read result = reading_next(reader, reply);
    for (size_t at = 0; at < size && result == GH_READ_MORE;)
    {
        size_t piece = size - at < GH_INBOX_ROOM_MIN ? size - at : GH_INBOX_ROOM_MIN;
        reading_feed(reader, bytes + at, piece);
        result = reading_next(reader, reply);
        at += piece;
    }
    return result;
}

/* As many values as there may be, the longest integers or the shortest strings, and behind them one string of all text
   that is left. */
static size_t make_largest(char* bytes, uint32_t reply_bytes, uint32_t reply_nodes, bool strings)
{
    size_t size = (size_t)sprintf(bytes, "*%u\r\n", (unsigned)reply_nodes - 1);
    uint32_t left = reply_bytes;
    for (uint32_t i = 2; i < reply_nodes; i++)
    {
        size += (size_t)sprintf(bytes + size, "%s", strings ? "$0\r\n\r\n" : ":-9223372036854775808\r\n");
        if (strings) left--;
    }
    size += (size_t)sprintf(bytes + size, "$%u\r\n", (unsigned)left - 1);
    memset(bytes + size, 's', left - 1);
    memcpy(bytes + size + left - 1, "\r\n", 2);
    return size + left + 1;
}

static void the_largest_reply_of_each_size_is_read(void** state)
{
    (void)state;
    static const uint32_t sizes[] = {132, 999, 16384, 65536, 1048576};
    for (size_t i = 0; i < 4 * sizeof(sizes) / sizeof(sizes[0]); i++)
    {
        const gh_reply* reply = NULL;
        uint32_t bytes = sizes[i / 4], nodes = i % 2 == 0 ? 2 : 128;
        char* text = malloc(bytes + nodes * 24 + 64);
        size_t size = make_largest(text, bytes, nodes, i % 4 < 2);
        reading reader;
        reading_make(&reader, bytes, nodes);
        for (int round = 0; round < 3; round++)
        {
            assert_int_equal(feed_all(&reader, text, size, &reply), GH_READ_REPLY);
            assert_int_equal(reply->count, nodes - 1);
        }
        reading_end(&reader);
        free(text);
    }
}

/* As long as one may be; and one byte more, of which the end never comes. */
static void a_line_has_the_bound_of_a_string(void** state)
{
    static char line[READING_REPLY_BYTES];
    const gh_reply* reply = NULL;
    reading* reader = reading_of(state);
    memset(line, 'l', sizeof(line));
    line[0] = '-';
    assert_int_equal(feed_all(reader, line, sizeof(line), &reply), GH_READ_MORE);
    assert_int_equal(feed_all(reader, "l", 1, &reply), GH_READ_TOO_LARGE);
    reading_restart(reader);
    assert_int_equal(feed_all(reader, line, sizeof(line), &reply), GH_READ_MORE);
    assert_int_equal(feed_all(reader, "\r\n", 2, &reply), GH_READ_REPLY);
    assert_int_equal(reply->text.size, READING_REPLY_BYTES - 1);
}

static uint64_t heap_calls_of_session(reading* reader, reading_maker* m)
{
    const gh_reply* reply = NULL;
    gh_read result = GH_READ_MORE;
    heap_watch_begin();
    gh_inbox_reset(&reader->inbox);
    for (size_t at = 0; at < m->size && result == GH_READ_MORE; at += 7)
    {
        reading_feed(reader, m->bytes + at, m->size - at < 7 ? m->size - at : 7);
        do result = reading_next(reader, &reply);
        while (result == GH_READ_REPLY);
    }
    return heap_watch_end().total;
}

static void reading_takes_nothing_from_the_heap(void** state)
{
    static const char* const last[] = {"$2147483648\r\n", "?\r\n", "*1\r\n:x\r\n", "*65\r\n"};
    static _Alignas(16) char block[64 * 1024];
    static reading_maker m;
    reading reader = {.block = NULL};
    gh_arena arena = gh_arena_make(block, sizeof(block));
    (void)state;
    m.stream = random_for_test("replies");
    assert_true(heap_watch_works());
    heap_watch_begin();
    reader.reader.trees = gh_tree_read;
    bool made = gh_reader_take(&reader.reader, &arena, READING_REPLY_NODES) &&
                gh_inbox_take(&reader.inbox, &arena, READING_REPLY_BYTES, READING_REPLY_NODES);
    assert_int_equal(heap_watch_end().total, 0);
    assert_true(made);
    for (int round = 0; round < 500; round++)
    {
        reading_make_replies(&m, 6);
        assert_int_equal(heap_calls_of_session(&reader, &m), 0);
    }
    for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++)
    {
        m.size = (size_t)snprintf(m.bytes, sizeof(m.bytes), "%s", last[i]);
        assert_int_equal(heap_calls_of_session(&reader, &m), 0);
    }
    reading_end(&reader);
}

/* It is never shown anything that it refuses. If it were, no byte of ours would be given to the heap. */
static void what_hiredis_refuses_costs_nothing(void** state)
{
    static const char* const bad[] = {"?\r\n",
                                      ":x\r\n",
                                      "$-2\r\n",
                                      "*-2\r\n",
                                      "*2\r\n:1\r\n?\r\n",
                                      "*65\r\n:1\r\n",
                                      "$20000\r\n",
                                      "*2\r\n:1\r\n",
                                      "*64\r\n*64\r\n",
                                      "$5\r\nab",
                                      "",
                                      "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"};
    reading* reader = reading_of(state);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
    {
        char bytes[128] = {1};
        size_t size = strlen(bad[i]);
        memcpy(bytes + 1, bad[i], size);
        gh_values* values = gh_reader_values(&reader->reader, READING_REPLY_BYTES, READING_REPLY_NODES);
        heap_watch_begin();
        const gh_reply* reply = gh_tree_read(values, bytes + 1, 0, size);
        assert_int_equal(heap_watch_end().total, 0);
        assert_null(reply);
        assert_memory_equal(bytes + 1, bad[i], size);
        reading_expect(reader, "*1\r\n*1\r\n$2\r\nOK\r\n", "*1 *1 $2 OK");
    }
}

#define WITH_READER(test) cmocka_unit_test_setup_teardown(test, reading_set_up, reading_tear_down)

TEST_FILE(reader, WITH_READER(each_type_is_read), WITH_READER(bytes_of_a_string_are_any_bytes),
          WITH_READER(elements_are_found_by_their_number), WITH_READER(a_reply_lives_until_the_next_is_asked_for),
          WITH_READER(one_reader_serves_several_inboxes), WITH_READER(every_way_to_cut_a_reply_gives_the_same),
          WITH_READER(random_replies_are_read_as_they_were_meant), WITH_READER(a_long_session_is_read_without_a_reset),
          WITH_READER(a_string_has_a_bound), WITH_READER(the_largest_string_fits_behind_any_other_reply),
          WITH_READER(a_reply_has_a_bound_of_values), WITH_READER(strings_of_one_reply_share_their_bound),
          WITH_READER(the_last_string_of_a_reply_fits_to_the_byte), WITH_READER(arrays_within_arrays_have_a_bound),
          WITH_READER(without_trees_inner_arrays_are_empty), WITH_READER(the_largest_reply_is_remembered),
          WITH_READER(a_line_has_the_bound_of_a_string), cmocka_unit_test(no_room_is_told),
          cmocka_unit_test(a_reader_takes_little_but_what_it_holds),
          cmocka_unit_test(the_largest_reply_of_each_size_is_read),
          cmocka_unit_test(reading_takes_nothing_from_the_heap), WITH_READER(what_hiredis_refuses_costs_nothing));
