/* test_scan.c -- sdk/src/wire/scan.h: where replies end, which are good, and that whatever it lets through is read by
   hiredis as we have it, by the short way and by hiredis as it comes to one and the same tree. */

#include "support/command.h"
#include "support/faults/reading.h"
#include "support/random.h"
#include "support/suite.h"

#include <hiredis/hiredis.h>

#include <stdlib.h>
#include <string.h>

enum
{
    TEXT = 128,
    NODES = 16
};

/* Of bytes in memory of exactly their size; *at is where it stopped. */
static gh_scanned scan(const char* bytes, size_t size, uint32_t text, uint32_t nodes, size_t* at)
{
    gh_scan self;
    char* exact = malloc(size + (size == 0));
    if (size > 0) memcpy(exact, bytes, size);
    gh_scan_begin(&self, text, nodes);
    gh_scanned result = gh_scan_on(&self, exact, size);
    free(exact);
    *at = self.at;
    return result;
}

static void a_reply_is_whole_with_its_last_byte(void** state)
{
    static const char* const good[] = {
        "+OK\r\n",
        "-ERR x y\r\n",
        ":0\r\n",
        ":-9223372036854775808\r\n",
        ":9223372036854775807\r\n",
        "$-1\r\n",
        "*-1\r\n",
        "*0\r\n",
        "$0\r\n\r\n",
        "$6\r\n\r\n*1\r\n\r\n",
        "*3\r\n:1\r\n*2\r\n+a\r\n*0\r\n$1\r\nb\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*2\r\n:7\r\n*-1\r\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
    {
        char more[128];
        size_t at, size = strlen(good[i]);
        for (size_t cut = 0; cut < size; cut++) assert_int_equal(scan(good[i], cut, TEXT, NODES, &at), GH_SCAN_MORE);
        memcpy(more, good[i], size);
        memcpy(more + size, "?\r\n", 3); /* is not looked at */
        for (size_t behind = 0; behind <= 3; behind++)
        {
            assert_int_equal(scan(more, size + behind, TEXT, NODES, &at), GH_SCAN_WHOLE);
            assert_int_equal(at, size);
        }
    }
}

static void what_is_none_is_broken(void** state)
{
    static const char* const bad[] = {"$1\r\nab\r\n", "$1\r\na\n\n",  "$0\r\nx\r\n",    "+a\nb\r\n", "+a\rb\r\n",
                                      "-a\rb",        "+a\r\r\n",     ":1\n",           ":1\r\r\n",  ":-0\r\n",
                                      ":-\r\n",       ":\r\n",        ":1 \r\n",        "$-2\r\n",   "*-2\r\n",
                                      "*-01\r\n",     "_\r\n",        "*1\r\n,1.5\r\n", ":\xb1\r\n", "\r",
                                      "\n",           "*2\r\n:1\r\nx"};
    static const char deep[] = "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*0\r\n";
    size_t at;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
    {
        if (scan(bad[i], strlen(bad[i]), TEXT, NODES, &at) != GH_SCAN_BROKEN) fail_msg("%s is taken", bad[i]);
    }
    assert_int_equal(scan(deep, sizeof(deep) - 1, TEXT, NODES, &at), GH_SCAN_BROKEN);
    assert_int_equal(scan(deep + 4, sizeof(deep) - 5, TEXT, NODES, &at), GH_SCAN_WHOLE);
}

static void the_bounds_are_kept_to_the_byte(void** state)
{
    static const char reply[] = "*3\r\n$3\r\nabc\r\n*1\r\n:1\r\n+de\r\n";
    size_t at;
    (void)state;
    for (uint32_t nodes = 1; nodes < 8; nodes++)
    {
        for (uint32_t text = 1; text < 10; text++)
        {
            gh_scanned result = scan(reply, sizeof(reply) - 1, text, nodes, &at);
            gh_scanned expected = nodes < 4    ? GH_SCAN_TOO_LARGE
                                  : text < 4   ? GH_SCAN_TOO_LONG
                                  : nodes == 4 ? GH_SCAN_TOO_LARGE
                                  : text < 7   ? GH_SCAN_TOO_LARGE
                                               : GH_SCAN_WHOLE;
            assert_int_equal(result, expected);
        }
    }
}

/* A nil needs no text, and can be told from a string that does by its second byte alone. */
static void a_nil_fits_where_no_text_is_left(void** state)
{
    static const char reply[] = "*2\r\n$3\r\nabc\r\n$-1\r\n";
    size_t at;
    (void)state;
    for (size_t cut = 0; cut < sizeof(reply) - 1; cut++) assert_int_equal(scan(reply, cut, 4, 3, &at), GH_SCAN_MORE);
    assert_int_equal(scan(reply, sizeof(reply) - 1, 4, 3, &at), GH_SCAN_WHOLE);
    assert_int_equal(scan("*2\r\n$3\r\nabc\r\n$0\r\n", 17, 4, 3, &at), GH_SCAN_TOO_LONG);
}

/* TCP cuts where it likes: the first verdict of bytes that come one by one is the verdict of all at once. And no more
   bytes are asked for than there is room for. */
static void verdict_of_pieces_is_that_of_the_whole(const char* bytes, size_t size)
{
    size_t at, known = 0;
    gh_scanned whole = scan(bytes, size, TEXT, NODES, &at);
    gh_scanned piece = GH_SCAN_MORE;
    gh_scan grown;
    gh_scan_begin(&grown, TEXT, NODES);
    while (piece == GH_SCAN_MORE && known < size)
    {
        size_t unused;
        piece = scan(bytes, ++known, TEXT, NODES, &unused);
        if (gh_scan_on(&grown, bytes, known) != piece) fail_msg("another after a pause: %.*s", (int)known, bytes);
    }
    if (piece != whole) fail_msg("%d by pieces, %d as a whole: %.*s", piece, whole, (int)size, bytes);
    if (piece == GH_SCAN_MORE) assert_true(size < gh_scan_bytes_max(TEXT, NODES));
}

static void a_cut_does_not_change_the_verdict(void** state)
{
    static const char* const odd[] = {":00\r\n",
                                      ":1x\r\n",
                                      ":-\r\n",
                                      ":--1\r\n",
                                      ":1\rx",
                                      ":1\n",
                                      "$999\r\n",
                                      "$999x\r\n",
                                      "$999\rx",
                                      "$0999\r\n",
                                      "$9223372036854775807\r\n",
                                      "$9223372036854775808\r\n",
                                      "$99999999999999999999\r\n",
                                      "*99999\r\n",
                                      "*99999x",
                                      ":12345678901234567890123456789012345678901234567890\r\n",
                                      "$123456789012345678901234567890123456789012",
                                      "*2\r\n:9\r\n:0x",
                                      "$3\r\nabcde"};
    char line[TEXT + 8];
    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        verdict_of_pieces_is_that_of_the_whole(odd[i], strlen(odd[i]));
    memset(line, 'x', sizeof(line));
    line[0] = '+';
    for (size_t i = 1; i < sizeof(line); i++)
    {
        line[i] = '\n';
        verdict_of_pieces_is_that_of_the_whole(line, sizeof(line));
        line[i] = 'x';
    }
}

/* ---- mutations --------------------------------------------------------------------------------------------------- */

static const char pieces[] = "\r\n+-:$*0123456789\r\n\r\n:::$$**10\0\xff_#,(%~>=|!";

static void mutate(reading_maker* m)
{
    size_t at = (size_t)random_below(&m->stream, m->size);
    char byte = pieces[random_below(&m->stream, sizeof(pieces) - 1)];
    switch (random_below(&m->stream, 6))
    {
    case 0: m->bytes[at] = (char)(unsigned char)(random_next(&m->stream) >> 56); break;
    case 1: m->bytes[at] = byte; break;
    case 2: m->bytes[at] = (char)(m->bytes[at] ^ (1 << random_below(&m->stream, 7))); break;
    case 3: memmove(m->bytes + at, m->bytes + at + 1, --m->size - at); break;
    case 4:
        if (m->size == sizeof(m->bytes)) break;
        memmove(m->bytes + at + 1, m->bytes + at, m->size++ - at);
        m->bytes[at] = byte;
        break;
    default: m->size = at; break;
    }
    if (m->size == 0) m->bytes[m->size++] = byte;
}

static void make_mutation(reading_maker* m)
{
    reading_make_replies(m, 1);
    for (uint64_t count = random_below(&m->stream, 4); count > 0; count--) mutate(m);
}

/* As a program reads it that has nothing of ours: heap, buffer and all. NULL: it is none, or not whole. */
static redisReply* read_ordinarily(const char* bytes, size_t size)
{
    void* reply = NULL;
    redisReader* reader = redisReaderCreate();
    assert_non_null(reader);
    assert_int_equal(redisReaderFeed(reader, bytes, size), REDIS_OK);
    if (redisReaderGetReply(reader, &reply) == REDIS_OK && reply != NULL)
    {
        void* more = NULL;
        assert_int_equal(redisReaderGetReply(reader, &more), REDIS_OK);
        assert_null(more);
    }
    redisReaderFree(reader);
    return reply;
}

static bool has_inner_arrays(const redisReply* reply)
{
    if (reply->type != REDIS_REPLY_ARRAY) return false;
    for (size_t i = 0; i < reply->elements; i++)
        if (reply->element[i]->type == REDIS_REPLY_ARRAY) return true;
    return false;
}

/* Four ways to one tree: two of them for what has no arrays within arrays. */
static void expect_one_tree(reading* reader, const char* bytes, size_t size)
{
    static reading_transcript built, flat;
    char* exact = malloc(size + 1);
    redisReply* ordinary = read_ordinarily(bytes, size);
    gh_values* values = gh_reader_values(&reader->reader, TEXT, NODES);
    assert_non_null(ordinary);
    memcpy(exact + 1, bytes, size);
    const gh_reply* reply = gh_tree_read(values, exact + 1, 0, size);
    assert_non_null(reply);
    assert_true(reply_equals(reply, ordinary));
    built.size = flat.size = 0;
    reading_note(&built, reply);
    if (gh_flat_read(values, exact + 1, size) == size)
    {
        reading_note(&flat, values->nodes);
        reading_must_be(&flat, built.text, built.size);
    }
    if (!has_inner_arrays(ordinary))
    {
        flat.size = 0;
        reading_note(&flat, gh_flat_read_good(values, exact + 1, size));
        reading_must_be(&flat, built.text, built.size);
    }
    freeReplyObject(ordinary);
    free(exact);
}

static void mutations_are_read_alike_or_not_at_all(void** state)
{
    static reading_maker m;
    static gh_reply nodes[NODES];
    reading* reader = reading_of(state);
    unsigned seen[5] = {0};
    m.stream = random_for_test("mutations");
    for (int round = 0; round < 60000; round++)
    {
        make_mutation(&m);
        size_t at;
        gh_scanned result = scan(m.bytes, m.size, TEXT, NODES, &at);
        gh_values values = {nodes, 0, NODES, 0, TEXT};
        size_t taken = gh_flat_read(&values, m.bytes, m.size);
        seen[result]++;
        if (result == GH_SCAN_WHOLE)
        {
            expect_one_tree(reader, m.bytes, at);
            assert_true(taken == 0 || taken == at);
            continue;
        }
        assert_int_equal(taken, 0);
        if (result != GH_SCAN_MORE) continue;
        assert_true(m.size < gh_scan_bytes_max(TEXT, NODES));
        assert_null(read_ordinarily(m.bytes, m.size));
    }
    for (int i = 0; i < 5; i++)
        if (seen[i] < 20) fail_msg("verdict %d came %u times", i, seen[i]);
}

/* Byte by byte it comes to the same. */
static void pieces_are_judged_as_the_whole(void** state)
{
    static reading_maker m;
    (void)state;
    m.stream = random_for_test("pieces");
    for (int round = 0; round < 20000; round++)
    {
        make_mutation(&m);
        size_t at, size = 0;
        gh_scanned whole = scan(m.bytes, m.size, TEXT, NODES, &at);
        gh_scanned result = GH_SCAN_MORE;
        gh_scan self;
        gh_scan_begin(&self, TEXT, NODES);
        for (; size < m.size && result == GH_SCAN_MORE; size++) result = gh_scan_on(&self, m.bytes, size + 1);
        if (whole == GH_SCAN_WHOLE) assert_int_equal(size, at);
        assert_int_equal(result, whole);
    }
}

/* ---- strings that are too long are dropped ----------------------------------------------------------------------- */

static void put(reading_maker* m, const char* text, size_t more)
{
    size_t size = strlen(text);
    memcpy(m->bytes + m->size, text, size);
    memset(m->bytes + m->size + size, 'x', more);
    m->size += size + more;
}

/* Whichever of its strings are too long, and wherever the bytes are cut. */
static void long_strings_are_given_as_nil(void** state)
{
    static const char expected[] = "*3 $7 message_0 $2 ab_0 *2 _0 :7 ";
    static reading_maker m;
    static reading_transcript got;
    reading reader;
    (void)state;
    reading_make(&reader, 128, 8);
    gh_inbox_skip_long(&reader.inbox);
    m.stream = random_for_test("long");
    m.size = 0;
    put(&m, "*3\r\n$7\r\nmessage\r\n$1500\r\n", 1500);
    put(&m, "\r\n$2\r\nab\r\n$128\r\n", 128);
    put(&m, "\r\n*2\r\n$129\r\n", 129);
    put(&m, "\r\n:7\r\n", 0);
    for (int round = 0; round < 2000; round++)
    {
        reading_in_random_pieces(&reader, &m, &got);
        reading_must_be(&got, expected, sizeof(expected) - 1);
    }
    reading_byte_by_byte(&reader, m.bytes, m.size, &got);
    reading_must_be(&got, expected, sizeof(expected) - 1);
    reading_expect(&reader, "$1073741824\r\n", "^");
    reading_expect(&reader, "$99999999999999999\r\n", "^");
    reading_end(&reader);
}

/* Strings that are short, but too many: each of them that finds no room is a nil. */
static void strings_without_room_are_given_as_nil(void** state)
{
    static reading_transcript got;
    reading reader;
    (void)state;
    reading_make(&reader, 8, 8);
    gh_inbox_skip_long(&reader.inbox);
    static const char bytes[] = "*5\r\n$4\r\nabcd\r\n$3\r\nabc\r\n$2\r\nab\r\n$0\r\n\r\n$1\r\nx\r\n:1\r\n";
    static const char expected[] = "*5 $4 abcd_0 $2 ab_0 _0 :1 ";
    for (size_t cut = 0; cut < sizeof(bytes); cut++)
    {
        size_t cuts[2] = {cut, sizeof(bytes) - 1};
        reading_in_pieces(&reader, bytes, cuts, 2, &got);
        reading_must_be(&got, expected, sizeof(expected) - 1);
    }
    reading_end(&reader);
}

/* The next reply, which is cut if it is too large. */
static gh_read next_cut(reading* reader, const gh_reply** reply)
{
    gh_read result = reading_next(reader, reply);
    return result == GH_READ_TOO_LARGE && gh_inbox_cut(&reader->inbox) ? reading_next(reader, reply) : result;
}

/* Wherever its bytes are cut; the next one is read as ever. */
static void one_reply_is_read_without_its_long_strings(void** state)
{
    static const char bytes[] = "*3\r\n$4\r\nabcd\r\n$12\r\n0123456789ab\r\n:1\r\n";
    (void)state;
    for (size_t cut = 1; cut < sizeof(bytes); cut++)
    {
        const gh_reply* reply = NULL;
        reading reader;
        reading_make(&reader, 8, 8);
        assert_false(gh_inbox_cut(&reader.inbox)); /* nothing has failed */
        reading_feed(&reader, bytes, cut);
        gh_read result = next_cut(&reader, &reply);
        if (cut < sizeof(bytes) - 1)
        {
            assert_int_equal(result, GH_READ_MORE);
            reading_feed(&reader, bytes + cut, sizeof(bytes) - 1 - cut);
            result = next_cut(&reader, &reply);
        }
        assert_int_equal(result, GH_READ_REPLY);
        assert_int_equal(gh_reply_at(reply, 0)->text.size, 4);
        assert_int_equal(gh_reply_at(reply, 1)->type, GH_REPLY_NIL);
        assert_int_equal(gh_reply_at(reply, 2)->integer, 1);
        assert_int_equal(reading_next(&reader, &reply), GH_READ_MORE);
        reading_feed(&reader, bytes, sizeof(bytes) - 1);
        assert_int_equal(reading_next(&reader, &reply), GH_READ_TOO_LARGE);
        reading_end(&reader);
    }
}

/* Too many values, nothing that can be cut: also behind a string that was. */
static void reply_of_too_many_values_is_not_cut(void** state)
{
    static const char* const replies[] = {"*8\r\n:1\r\n", "*2\r\n$9\r\n012345678\r\n*7\r\n:1\r\n",
                                          "*2\r\n$2147483648\r\n012345678\r\n"};
    (void)state;
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++)
    {
        const gh_reply* reply = NULL;
        reading reader;
        reading_make(&reader, 8, 8);
        reading_feed(&reader, replies[i], strlen(replies[i]));
        assert_int_equal(next_cut(&reader, &reply), GH_READ_TOO_LARGE);
        assert_false(gh_inbox_cut(&reader.inbox));
        reading_end(&reader);
    }
}

#define WITH_READER(test) cmocka_unit_test_setup_teardown(test, reading_set_up, reading_tear_down)

TEST_FILE(scan, cmocka_unit_test(a_reply_is_whole_with_its_last_byte), cmocka_unit_test(what_is_none_is_broken),
          cmocka_unit_test(the_bounds_are_kept_to_the_byte), cmocka_unit_test(a_nil_fits_where_no_text_is_left),
          cmocka_unit_test(a_cut_does_not_change_the_verdict), WITH_READER(mutations_are_read_alike_or_not_at_all),
          cmocka_unit_test(pieces_are_judged_as_the_whole), cmocka_unit_test(long_strings_are_given_as_nil),
          cmocka_unit_test(strings_without_room_are_given_as_nil),
          cmocka_unit_test(one_reply_is_read_without_its_long_strings),
          cmocka_unit_test(reply_of_too_many_values_is_not_cut));
