/* test_reader.c -- what Guildhall reads: sdk/src/wire/reader.h with good replies, cut in every way, and at
   its bounds. test_reader_hostile.c has the bad ones. */

#include "guildhall/reply.h"
#include "support/heap.h"
#include "support/random.h"
#include "support/reading.h"
#include "support/suite.h"
#include "wire/flat.h"
#include "wire/reader.h"

#include <hiredis/read.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Good replies ---- */

static void each_type_is_read(void** state)
{
    gh_reader* reader = reading_reader(state);
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
    reading_whole(reading_reader(state), reply, sizeof(reply) - 1, &got);
    reading_must_be(&got, "$7 a\0b\r\n\xff$", 10);
}

static void elements_are_found_by_their_number(void** state)
{
    static const char bytes[] = "*2\r\n:7\r\n+x\r\n";
    const gh_reply* reply = NULL;
    gh_reader* reader = reading_reader(state);
    gh_reader_feed(reader, bytes, sizeof(bytes) - 1);
    assert_int_equal(gh_reader_next(reader, &reply), GH_READ_REPLY);
    assert_int_equal(gh_reply_at(reply, 0)->integer, 7);
    assert_int_equal(gh_reply_at(reply, 1)->type, GH_REPLY_STATUS);
    assert_null(gh_reply_at(reply, 2));
    assert_null(gh_reply_at(reply, UINT32_MAX));
    assert_null(gh_reply_at(gh_reply_at(reply, 0), 0));
    assert_null(gh_reply_at(NULL, 0));
}

/* hiredis moves its buffer while it goes on; a reply that was handed out must not change by that. */
static void a_reply_lives_until_the_next_is_asked_for(void** state)
{
    static const char first[] = "*2\r\n$3\r\nabc\r\n$2\r\nde\r\n$1\r\nx";
    static char filler[GH_READER_FEED_MAX];
    const gh_reply* reply = NULL;
    gh_reader* reader = reading_reader(state);
    memset(filler, 'z', sizeof(filler));
    gh_reader_feed(reader, first, sizeof(first) - 1);
    assert_int_equal(gh_reader_next(reader, &reply), GH_READ_REPLY);
    gh_reader_feed(reader, filler, sizeof(filler));
    assert_true(gh_str_equal(gh_reply_at(reply, 0)->text, gh_str_literal("abc")));
    assert_true(gh_str_equal(gh_reply_at(reply, 1)->text, gh_str_literal("de")));
}

/* ---- Pieces ---- */

static void every_way_to_cut_a_reply_gives_the_same(void** state)
{
    static const char bytes[] = "*4\r\n:12\r\n$5\r\na\r\nbc\r\n*2\r\n+OK\r\n$-1\r\n-E x\r\n:-3\r\n$0\r\n\r\n";
    static const char expected[] = "*4 :12 $5 a\r\nbc*2 +2 OK_0 -3 E x:-3 $0 ";
    static reading_transcript whole, got;
    gh_reader* reader = reading_reader(state);
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
    gh_reader* reader = reading_reader(state);
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
    gh_reader* reader = reading_reader(state);
    m.stream = random_for_test("session");
    for (int round = 0; round < 3000; round++)
    {
        reading_make_replies(&m, 3);
        got.size = 0;
        for (size_t at = 0; at < m.size;)
        {
            size_t size = (size_t)random_between(&m.stream, 1, m.size - at);
            gh_reader_feed(reader, m.bytes + at, size);
            assert_true(reading_take_all(reader, &got));
            at += size;
        }
        reading_must_be(&got, m.expected.text, m.expected.size);
    }
}

/* ---- Bounds ---- */

static gh_read feed_string(gh_reader* reader, size_t size, const gh_reply** reply)
{
    static char bytes[READING_REPLY_BYTES * 2 + 64];
    size_t all = (size_t)snprintf(bytes, 32, "$%zu\r\n", size);
    memset(bytes + all, 'x', size);
    all += size;
    memcpy(bytes + all, "\r\n", 2);
    all += 2;
    gh_read result = GH_READ_MORE;
    for (size_t at = 0; at < all && result == GH_READ_MORE; at += GH_READER_FEED_MAX)
    {
        gh_reader_feed(reader, bytes + at, all - at < GH_READER_FEED_MAX ? all - at : GH_READER_FEED_MAX);
        result = gh_reader_next(reader, reply);
    }
    return result;
}

static void a_string_has_a_bound(void** state)
{
    const gh_reply* reply = NULL;
    gh_reader* reader = reading_reader(state);
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
    static char before[GH_READER_FEED_MAX];
    const gh_reply* reply = NULL;
    gh_reader* reader = reading_reader(state);
    for (size_t size = 1; size <= sizeof(before) - 16; size = size < 32 ? size + 1 : size * 3 / 2)
    {
        reading_restart(reader);
        memset(before, 'y', sizeof(before));
        before[0] = '+';
        memcpy(before + 1 + size, "\r\n", 2);
        gh_reader_feed(reader, before, size + 3);
        assert_int_equal(gh_reader_next(reader, &reply), GH_READ_REPLY);
        assert_int_equal(gh_reader_next(reader, &reply), GH_READ_MORE);
        assert_int_equal(feed_string(reader, READING_REPLY_BYTES - 1, &reply), GH_READ_REPLY);
    }
}

/* An array of `count` elements, fed in one piece. */
static gh_read feed_array(gh_reader* reader, size_t count, const char* element, const gh_reply** reply)
{
    char head[32];
    gh_read result = GH_READ_MORE;
    gh_reader_feed(reader, head, (size_t)snprintf(head, sizeof(head), "*%zu\r\n", count));
    result = gh_reader_next(reader, reply);
    for (size_t i = 0; i < count && result == GH_READ_MORE; i++)
    {
        gh_reader_feed(reader, element, strlen(element));
        result = gh_reader_next(reader, reply);
    }
    return result;
}

static void a_reply_has_a_bound_of_values(void** state)
{
    const gh_reply* reply = NULL;
    gh_reader* reader = reading_reader(state);
    for (size_t count = 0; count <= READING_REPLY_NODES + 2; count++)
    {
        reading_restart(reader);
        gh_read result = feed_array(reader, count, ":1\r\n", &reply);
        assert_int_equal(result, count < READING_REPLY_NODES ? GH_READ_REPLY
                                                             : GH_READ_TOO_LARGE); /* the array is one too */
        reading_restart(reader);
        result = feed_array(reader, count, "*1\r\n:1\r\n", &reply);
        assert_int_equal(result, 2 * count < READING_REPLY_NODES ? GH_READ_REPLY : GH_READ_TOO_LARGE);
    }
}

static void strings_of_one_reply_share_their_bound(void** state)
{
    static char element[600];
    const gh_reply* reply = NULL;
    gh_reader* reader = reading_reader(state);
    size_t head =
        (size_t)snprintf(element, sizeof(element), "$511\r\n"); /* 512 bytes each with the NUL behind */
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
    gh_reader* reader = reading_reader(state);
    size_t left = READING_REPLY_BYTES - sizeof("first");
    for (size_t size = left - 3; size <= left + 3; size++)
    {
        reading_restart(reader);
        gh_reader_feed(reader, "*2\r\n$5\r\nfirst\r\n", 15);
        assert_int_equal(gh_reader_next(reader, &reply), GH_READ_MORE);
        assert_int_equal(feed_string(reader, size, &reply), size < left ? GH_READ_REPLY : GH_READ_TOO_LARGE);
        if (size < left) assert_string_equal(gh_reply_at(reply, 0)->text.bytes, "first");
    }
}

static gh_read feed_nested(gh_reader* reader, unsigned depth)
{
    const gh_reply* reply = NULL;
    reading_restart(reader);
    for (unsigned i = 0; i < depth; i++) gh_reader_feed(reader, "*1\r\n", 4);
    gh_reader_feed(reader, ":1\r\n", 4);
    return gh_reader_next(reader, &reply);
}

static void arrays_within_arrays_have_a_bound(void** state)
{
    gh_reader* reader = reading_reader(state);
    unsigned deepest = 0;
    while (deepest < 100 && feed_nested(reader, deepest + 1) == GH_READ_REPLY) deepest++;
    assert_in_range(deepest, 7, 8);
    for (unsigned depth = deepest + 1; depth < 60; depth++)
    {
        assert_int_equal(feed_nested(reader, depth), GH_READ_BROKEN);
    }
}

static void a_feed_has_a_bound(void** state)
{
    static char bytes[GH_READER_FEED_MAX + 1];
    const gh_reply* reply = NULL;
    gh_reader* reader = reading_reader(state);
    memset(bytes, 'x', sizeof(bytes));
    bytes[0] = '+';
    gh_reader_feed(reader, bytes, sizeof(bytes));
    assert_int_equal(gh_reader_next(reader, &reply), GH_READ_TOO_LARGE);
    reading_restart(reader);
    gh_reader_feed(reader, bytes, sizeof(bytes) - 1);
    assert_int_equal(gh_reader_next(reader, &reply), GH_READ_MORE);
}

static void the_largest_reply_is_remembered(void** state)
{
    gh_reader* reader = reading_reader(state);
    assert_int_equal(gh_reader_reply_bytes_max(reader), 0);
    reading_expect(reader, "+OK\r\n", "+2 OK");
    uint32_t small = gh_reader_reply_bytes_max(reader);
    assert_in_range(small, 34, 36);
    reading_expect(reader, "*2\r\n:1\r\n$5\r\nhello\r\n", "*2 :1 $5 hello");
    uint32_t large = gh_reader_reply_bytes_max(reader);
    assert_in_range(large, 3 * 32 + 5, 3 * 32 + 8);
    reading_expect(reader, ":1\r\n", ":1 ");
    assert_int_equal(gh_reader_reply_bytes_max(reader), large);
}

/* ---- Memory ---- */

static void the_reader_takes_no_more_room_than_it_measured(void** state)
{
    (void)state;
    static _Alignas(16) char block[READING_BLOCK_SIZE];
    gh_arena measure = gh_arena_make(NULL, 0);
    assert_null(gh_reader_take(&measure, READING_REPLY_BYTES, READING_REPLY_NODES));
    assert_true(measure.used <= sizeof(block));
    gh_arena tight = gh_arena_make(block, measure.used - 16);
    assert_null(gh_reader_take(&tight, READING_REPLY_BYTES, READING_REPLY_NODES));
    gh_arena exact = gh_arena_make(block, measure.used);
    gh_reader* reader = gh_reader_take(&exact, READING_REPLY_BYTES, READING_REPLY_NODES);
    assert_non_null(reader);
    reading_expect(reader, "*1\r\n$2\r\nOK\r\n", "*1 $2 OK");
    gh_reader_close(reader);
    gh_reader_close(reader); /* twice is fine */
}

/* hiredis 1.x never; 0.14 only in the beginning, and after an error of its own. */
#ifdef REDIS_REPLY_MAP
#define HEAP_AFTER_AN_ERROR false
#else
#define HEAP_AFTER_AN_ERROR true
#endif

static size_t room_of_reader(uint32_t reply_bytes, uint32_t reply_nodes)
{
    gh_arena measure = gh_arena_make(NULL, 0);
    gh_reader_take(&measure, reply_bytes, reply_nodes);
    return measure.used;
}

/* Besides strings and values: a buffer for the bytes of a reply where hiredis takes it from the block, with 1 KiB that
   was read and one feed; and for the rest, hiredis' own objects among it, at most 1.5 KiB. */
static void a_reader_takes_little_but_what_it_holds(void** state)
{
    (void)state;
    for (uint32_t bytes = 128; bytes <= 64 * 1024 * 1024; bytes *= 2)
    {
        size_t held = bytes + 100 * sizeof(gh_value);
        if (!HEAP_AFTER_AN_ERROR) held += (size_t)bytes + 1024 + GH_READER_FEED_MAX;
        assert_in_range(room_of_reader(bytes, 100), held, held + 1536);
    }
}

static gh_read feed_run(gh_reader* reader, char letter, size_t size, const gh_reply** reply)
{
    static char run[GH_READER_FEED_MAX];
    gh_read result = GH_READ_MORE;
    memset(run, letter, sizeof(run));
    while (size > 0 && result == GH_READ_MORE)
    {
        size_t piece = size < sizeof(run) ? size : sizeof(run);
        gh_reader_feed(reader, run, piece);
        result = gh_reader_next(reader, reply);
        size -= piece;
    }
    return result;
}

/* Replies of as many bytes as hiredis keeps when it has read them, and the beginning of another. */
static void feed_what_is_kept(gh_reader* reader, const char* beginning)
{
    const gh_reply* reply = NULL;
    gh_reader_feed(reader, ":100\r\n", 6);
    for (int i = 0; i < 254; i++) gh_reader_feed(reader, ":1\r\n", 4);
    gh_reader_feed(reader, beginning, strlen(beginning));
    for (int i = 0; i < 255; i++) assert_int_equal(gh_reader_next(reader, &reply), GH_READ_REPLY);
    assert_int_equal(gh_reader_next(reader, &reply), GH_READ_MORE);
}

static void largest_string_is_read(gh_reader* reader, uint32_t reply_bytes)
{
    char head[32];
    const gh_reply* reply = NULL;
    snprintf(head, sizeof(head), "$%u\r\n", (unsigned)reply_bytes - 1);
    reading_restart(reader);
    feed_what_is_kept(reader, head);
    assert_int_equal(feed_run(reader, 's', reply_bytes - 1, &reply), GH_READ_MORE);
    gh_reader_feed(reader, "\r\n+OK\r\n", 7);
    assert_int_equal(gh_reader_next(reader, &reply), GH_READ_REPLY);
    assert_int_equal(reply->text.size, reply_bytes - 1);
    assert_int_equal(gh_reader_next(reader, &reply), GH_READ_REPLY);
}

/* A line that goes on for as long as one may, and a feed behind it: no more bytes can ever be in the buffer. It has
   room for them, else hiredis would have said that it is out of memory, and the reader that it is broken. */
static void longest_line_is_refused(gh_reader* reader, uint32_t reply_bytes)
{
    const gh_reply* reply = NULL;
    reading_restart(reader);
    feed_what_is_kept(reader, "+");
    assert_int_equal(feed_run(reader, 'l', (size_t)reply_bytes + 64, &reply), GH_READ_MORE);
    assert_int_equal(feed_run(reader, 'l', GH_READER_FEED_MAX, &reply), GH_READ_TOO_LARGE);
}

static void the_buffer_of_each_size_has_room_for_the_most_it_may_get(void** state)
{
    (void)state;
    /* hiredis' header grows at 64 KiB of buffer, and beyond 1 MiB it asks for less than twice the room. */
    static const uint32_t around[] = {132, 16384, 65536 - 5184, 1048576};
    for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
    {
        /* hiredis looks through all of a long line with each feed. */
        const uint32_t beside = around[i] < 100000 ? 4 : 0;
        for (uint32_t bytes = around[i] - beside; bytes <= around[i] + beside; bytes++)
        {
            size_t room = room_of_reader(bytes, 8);
            char* block = aligned_alloc(16, room);
            assert_non_null(block);
            gh_arena arena = gh_arena_make(block, room);
            gh_reader* reader = gh_reader_take(&arena, bytes, 8);
            assert_non_null(reader);
            largest_string_is_read(reader, bytes);
            longest_line_is_refused(reader, bytes);
            reading_expect(reader, "?\r\n", "!"); /* after this its room is cut anew */
            largest_string_is_read(reader, bytes);
            longest_line_is_refused(reader, bytes);
            gh_reader_close(reader);
            free(block);
        }
    }
}

static uint64_t heap_calls_of_session(gh_reader* reader, reading_maker* m)
{
    const gh_reply* reply = NULL;
    heap_watch_begin();
    for (size_t at = 0; at < m->size; at += 7)
    {
        gh_reader_feed(reader, m->bytes + at, m->size - at < 7 ? m->size - at : 7);
        while (gh_reader_next(reader, &reply) == GH_READ_REPLY) {}
    }
    gh_reader_reset(reader);
    return heap_watch_end().total;
}

static void reading_takes_nothing_from_the_heap(void** state)
{
    static reading_maker m;
    gh_reader* reader = reading_reader(state);
    m.stream = random_for_test("replies");
    assert_true(heap_watch_works());
    for (int round = 0; round < 500; round++)
    {
        reading_make_replies(&m, 6);
        assert_int_equal(heap_calls_of_session(reader, &m), 0);
    }
    m.size = (size_t)snprintf(m.bytes, sizeof(m.bytes), "$2147483648\r\n"); /* over a bound of ours */
    assert_int_equal(heap_calls_of_session(reader, &m), 0);
    heap_watch_begin();
    gh_read result = feed_nested(reader, 3);
    const gh_reply* reply = NULL;
    gh_read largest = feed_string(reader, READING_REPLY_BYTES - 1, &reply);
    heap_counts seen = heap_watch_end();
    assert_int_equal(result, GH_READ_REPLY);
    assert_int_equal(largest, GH_READ_REPLY);
    assert_int_equal(seen.total, 0);
}

static void only_an_old_hiredis_takes_from_the_heap_after_an_error(void** state)
{
    static reading_maker m;
    gh_reader* reader = reading_reader(state);
    m.size = (size_t)snprintf(m.bytes, sizeof(m.bytes), "?\r\n");
    uint64_t calls = heap_calls_of_session(reader, &m);
    if (HEAP_AFTER_AN_ERROR) assert_in_range(calls, 1, 8);
    else assert_int_equal(calls, 0);
    m.size = (size_t)snprintf(m.bytes, sizeof(m.bytes), "+OK\r\n");
    assert_int_equal(heap_calls_of_session(reader, &m), 0);
}

#define WITH_READER(test) cmocka_unit_test_setup_teardown(test, reading_set_up, reading_tear_down)

TEST_FILE(reader,
    WITH_READER(each_type_is_read),
    WITH_READER(bytes_of_a_string_are_any_bytes),
    WITH_READER(elements_are_found_by_their_number),
    WITH_READER(a_reply_lives_until_the_next_is_asked_for),
    WITH_READER(every_way_to_cut_a_reply_gives_the_same),
    WITH_READER(random_replies_are_read_as_they_were_meant),
    WITH_READER(a_long_session_is_read_without_a_reset),
    WITH_READER(a_string_has_a_bound),
    WITH_READER(the_largest_string_fits_behind_any_other_reply),
    WITH_READER(a_reply_has_a_bound_of_values),
    WITH_READER(strings_of_one_reply_share_their_bound),
    WITH_READER(the_last_string_of_a_reply_fits_to_the_byte),
    WITH_READER(arrays_within_arrays_have_a_bound),
    WITH_READER(a_feed_has_a_bound),
    WITH_READER(the_largest_reply_is_remembered),
    cmocka_unit_test(the_reader_takes_no_more_room_than_it_measured),
    cmocka_unit_test(a_reader_takes_little_but_what_it_holds),
    cmocka_unit_test(the_buffer_of_each_size_has_room_for_the_most_it_may_get),
    WITH_READER(reading_takes_nothing_from_the_heap),
    WITH_READER(only_an_old_hiredis_takes_from_the_heap_after_an_error));
