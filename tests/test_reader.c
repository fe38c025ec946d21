/* test_reader.c -- what Guildhall reads: sdk/src/wire/reader.h, fed in every way and with every kind of nonsense. */

#include "guildhall/reply.h"
#include "support/heap.h"
#include "support/random.h"
#include "support/suite.h"
#include "wire/reader.h"

#include <hiredis/read.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLY_BYTES 16384u /* the least that a client's config allows */
#define REPLY_NODES 64u
#define BLOCK_SIZE (256u * 1024u)

typedef struct scene
{
    gh_reader* reader;
    char* block;
} scene;

static int set_up(void** state)
{
    static scene s;
    gh_arena measure = gh_arena_make(NULL, 0);
    s.block = aligned_alloc(16, BLOCK_SIZE);
    if (s.block == NULL || gh_reader_take(&measure, REPLY_BYTES, REPLY_NODES) != NULL) return -1;
    /* Exactly what was measured, so that the sanitizer's eyes are on the byte behind it. */
    s.block = realloc(s.block, (measure.used + 15) & ~(size_t)15);
    gh_arena arena = gh_arena_make(s.block, measure.used);
    s.reader = gh_reader_take(&arena, REPLY_BYTES, REPLY_NODES);
    *state = &s;
    return s.reader != NULL && arena.used == measure.used ? 0 : -1;
}

static int tear_down(void** state)
{
    scene* s = *state;
    gh_reader_close(s->reader);
    free(s->block);
    return 0;
}

static gh_reader* reader_of(void** state)
{
    return ((scene*)*state)->reader;
}

static void restart(gh_reader* reader)
{
    assert_true(gh_reader_reset(reader));
}

/* ---- What was read, as text ---- */

typedef struct transcript
{
    char text[65536];
    size_t size;
} transcript;

static void note(transcript* to, const void* bytes, size_t size)
{
    assert_true(to->size + size < sizeof(to->text));
    memcpy(to->text + to->size, bytes, size);
    to->size += size;
}

static void note_line(transcript* to, char kind, long long number)
{
    char line[40];
    note(to, line, (size_t)snprintf(line, sizeof(line), "%c%lld ", kind, number));
}

static void note_value(transcript* to, const gh_reply* value)
{
    static const char kinds[] = {'_', ':', '$', '+', '-', '*'};
    assert_in_range(value->type, GH_REPLY_NIL, GH_REPLY_ARRAY);
    char kind = kinds[value->type];
    uint32_t count = 0;
    switch (value->type)
    {
    case GH_REPLY_NIL: note_line(to, kind, 0); break;
    case GH_REPLY_INTEGER: note_line(to, kind, value->integer); break;
    case GH_REPLY_STRING:
    case GH_REPLY_STATUS:
    case GH_REPLY_ERROR:
        note_line(to, kind, (long long)value->text.size);
        note(to, value->text.bytes, value->text.size);
        break;
    case GH_REPLY_ARRAY:
        note_line(to, kind, value->count);
        for (const gh_reply* each = value->first; each != NULL; each = each->next, count++)
        {
            assert_ptr_equal(gh_reply_at(value, count), each);
            note_value(to, each);
        }
        assert_int_equal(count, value->count);
        assert_null(gh_reply_at(value, count));
        break;
    }
}

/* Takes all that is there. False when the reader broke: the transcript then ends in '!', or in '^' if the reply was too
   large. */
static bool take_all(gh_reader* reader, transcript* to)
{
    const gh_reply* reply = NULL;
    for (;;)
    {
        switch (gh_reader_next(reader, &reply))
        {
        case GH_READ_MORE: return true;
        case GH_READ_REPLY: note_value(to, reply); break;
        case GH_READ_BROKEN: note(to, "!", 1); return false;
        case GH_READ_TOO_LARGE: note(to, "^", 1); return false;
        }
    }
}

/* Feeds pieces that end at the cuts, until it breaks. */
static void read_in_pieces(gh_reader* reader, const char* bytes, const size_t* cuts, size_t count, transcript* to)
{
    size_t at = 0;
    to->size = 0;
    restart(reader);
    for (size_t i = 0; i < count; i++)
    {
        /* A piece of its own, to the byte: whoever reads behind it is seen. */
        size_t size = cuts[i] - at;
        char* piece = malloc(size + 1);
        if (size > 0) memcpy(piece, bytes + at, size);
        gh_reader_feed(reader, piece, size);
        free(piece);
        at = cuts[i];
        if (!take_all(reader, to)) return;
    }
}

static void read_whole(gh_reader* reader, const char* bytes, size_t size, transcript* to)
{
    size_t cuts[32], count = 0;
    for (size_t at = 0; at < size;)
    {
        at = size - at > GH_READER_FEED_MAX ? at + GH_READER_FEED_MAX : size;
        assert_true(count < sizeof(cuts) / sizeof(cuts[0]));
        cuts[count++] = at;
    }
    read_in_pieces(reader, bytes, cuts, count, to);
}

static void read_byte_by_byte(gh_reader* reader, const char* bytes, size_t size, transcript* to)
{
    static size_t cuts[8192];
    assert_true(size <= sizeof(cuts) / sizeof(cuts[0]));
    for (size_t i = 0; i < size; i++) cuts[i] = i + 1;
    read_in_pieces(reader, bytes, cuts, size, to);
}

static void expect_transcript(const transcript* got, const char* expected, size_t size)
{
    if (got->size == size && memcmp(got->text, expected, size) == 0) return;
    fail_msg("read \"%.*s\", not \"%.*s\"", (int)got->size, got->text, (int)size, expected);
}

static void expect_read(gh_reader* reader, const char* text, const char* expected)
{
    static transcript got;
    read_whole(reader, text, strlen(text), &got);
    expect_transcript(&got, expected, strlen(expected));
}

/* ---- Good replies ---- */

static void each_type_is_read(void** state)
{
    gh_reader* reader = reader_of(state);
    expect_read(reader, "+OK\r\n", "+2 OK");
    expect_read(reader, "+\r\n", "+0 ");
    expect_read(reader, "-ERR no such thing\r\n", "-17 ERR no such thing");
    expect_read(reader, ":0\r\n:1\r\n:-1\r\n", ":0 :1 :-1 ");
    expect_read(reader, ":9223372036854775807\r\n", ":9223372036854775807 ");
    expect_read(reader, ":-9223372036854775808\r\n", ":-9223372036854775808 ");
    expect_read(reader, "$5\r\nhello\r\n", "$5 hello");
    expect_read(reader, "$0\r\n\r\n", "$0 ");
    expect_read(reader, "$4\r\n\r\n\r\n\r\n", "$4 \r\n\r\n");
    expect_read(reader, "$-1\r\n", "_0 ");
    expect_read(reader, "*-1\r\n", "_0 ");
    expect_read(reader, "*0\r\n", "*0 ");
    expect_read(reader, "*3\r\n:1\r\n$-1\r\n*2\r\n+a\r\n*0\r\n", "*3 :1 _0 *2 +1 a*0 ");
    expect_read(reader, "", "");
}

static void bytes_of_a_string_are_any_bytes(void** state)
{
    static transcript got;
    static const char reply[] = "$7\r\na\0b\r\n\xff$\r\n";
    read_whole(reader_of(state), reply, sizeof(reply) - 1, &got);
    expect_transcript(&got, "$7 a\0b\r\n\xff$", 10);
}

static void elements_are_found_by_their_number(void** state)
{
    static const char bytes[] = "*2\r\n:7\r\n+x\r\n";
    const gh_reply* reply = NULL;
    gh_reader* reader = reader_of(state);
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
    gh_reader* reader = reader_of(state);
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
    static transcript whole, got;
    gh_reader* reader = reader_of(state);
    size_t size = sizeof(bytes) - 1;
    read_whole(reader, bytes, size, &whole);
    expect_transcript(&whole, expected, sizeof(expected) - 1);
    for (size_t a = 0; a <= size; a++)
    {
        for (size_t b = a; b <= size; b++)
        {
            size_t cuts[3] = {a, b, size};
            read_in_pieces(reader, bytes, cuts, 3, &got);
            expect_transcript(&got, whole.text, whole.size);
        }
    }
    read_byte_by_byte(reader, bytes, size, &got);
    expect_transcript(&got, whole.text, whole.size);
}

/* Random replies, with what must be read of them. */
typedef struct maker
{
    random_stream stream;
    char bytes[4096];
    size_t size;
    unsigned nodes;
    transcript expected;
} maker;

static void make(maker* m, const void* bytes, size_t size)
{
    assert_true(m->size + size <= sizeof(m->bytes));
    memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

static void make_line(maker* m, char mark, long long number)
{
    char line[40];
    make(m, line, (size_t)snprintf(line, sizeof(line), "%c%lld\r\n", mark, number));
}

static void make_text(maker* m, char mark)
{
    char text[40];
    size_t size = (size_t)random_below(&m->stream, sizeof(text) + 1);
    bool line = mark != '$';
    for (size_t i = 0; i < size; i++)
    {
        text[i] = (char)(unsigned char)(random_next(&m->stream) >> 56);
        if (line && (text[i] == '\r' || text[i] == '\n')) text[i] = ' ';
    }
    if (line) make(m, &mark, 1);
    else make_line(m, mark, (long long)size);
    make(m, text, size);
    make(m, "\r\n", 2);
    note_line(&m->expected, mark, (long long)size);
    note(&m->expected, text, size);
}

static void make_integer(maker* m)
{
    long long number = (long long)(random_next(&m->stream) >> random_below(&m->stream, 64));
    make_line(m, ':', number);
    note_line(&m->expected, ':', number);
}

static void make_value(maker* m, unsigned depth)
{
    uint64_t count = 0;
    uint64_t kinds = depth < 6 && m->nodes < 40 ? 6 : 5;
    m->nodes++;
    switch (random_below(&m->stream, kinds))
    {
    case 0: make_text(m, '+'); break;
    case 1: make_text(m, '-'); break;
    case 2: make_text(m, '$'); break;
    case 3: make_integer(m); break;
    case 4:
        make_line(m, random_one_in(&m->stream, 2) ? '$' : '*', -1);
        note_line(&m->expected, '_', 0);
        break;
    default:
        count = random_below(&m->stream, 5);
        make_line(m, '*', (long long)count);
        note_line(&m->expected, '*', (long long)count);
        while (count-- > 0) make_value(m, depth + 1);
        break;
    }
}

static void make_replies(maker* m, unsigned count)
{
    m->size = 0;
    m->expected.size = 0;
    for (unsigned i = 0; i < count && m->size < 2048; i++)
    {
        m->nodes = 0;
        make_value(m, 0);
    }
}

static void read_in_random_pieces(gh_reader* reader, maker* m, transcript* got)
{
    size_t cuts[64], count = 0;
    for (size_t at = 0; at < m->size && count < 63;)
    {
        at += 1 + (size_t)random_below(&m->stream, random_one_in(&m->stream, 2) ? 5 : 300);
        cuts[count++] = at < m->size ? at : m->size;
    }
    cuts[count++] = m->size;
    read_in_pieces(reader, m->bytes, cuts, count, got);
}

static void random_replies_are_read_as_they_were_meant(void** state)
{
    static maker m;
    static transcript got;
    gh_reader* reader = reader_of(state);
    m.stream = random_for_test("replies");
    for (int round = 0; round < 3000; round++)
    {
        make_replies(&m, 1 + (unsigned)random_below(&m.stream, 6));
        read_in_random_pieces(reader, &m, &got);
        expect_transcript(&got, m.expected.text, m.expected.size);
    }
}

/* The reader's own memory must not wear out either: no reset in between. */
static void a_long_session_is_read_without_a_reset(void** state)
{
    static maker m;
    static transcript got;
    gh_reader* reader = reader_of(state);
    m.stream = random_for_test("session");
    for (int round = 0; round < 3000; round++)
    {
        make_replies(&m, 3);
        got.size = 0;
        for (size_t at = 0; at < m.size;)
        {
            size_t size = (size_t)random_between(&m.stream, 1, m.size - at);
            gh_reader_feed(reader, m.bytes + at, size);
            assert_true(take_all(reader, &got));
            at += size;
        }
        expect_transcript(&got, m.expected.text, m.expected.size);
    }
}

/* ---- Bounds ---- */

static gh_read feed_string(gh_reader* reader, size_t size, const gh_reply** reply)
{
    static char bytes[REPLY_BYTES * 2 + 64];
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
    gh_reader* reader = reader_of(state);
    for (size_t size = REPLY_BYTES - 3; size <= REPLY_BYTES + 3; size++)
    {
        restart(reader);
        gh_read result = feed_string(reader, size, &reply);
        assert_int_equal(result, size < REPLY_BYTES ? GH_READ_REPLY : GH_READ_TOO_LARGE);
        if (result == GH_READ_REPLY) assert_int_equal(reply->text.size, size);
    }
}

/* Whatever stood in the buffer before: the largest string always fits. */
static void the_largest_string_fits_behind_any_other_reply(void** state)
{
    static char before[GH_READER_FEED_MAX];
    const gh_reply* reply = NULL;
    gh_reader* reader = reader_of(state);
    for (size_t size = 1; size <= sizeof(before) - 16; size = size < 32 ? size + 1 : size * 3 / 2)
    {
        restart(reader);
        memset(before, 'y', sizeof(before));
        before[0] = '+';
        memcpy(before + 1 + size, "\r\n", 2);
        gh_reader_feed(reader, before, size + 3);
        assert_int_equal(gh_reader_next(reader, &reply), GH_READ_REPLY);
        assert_int_equal(gh_reader_next(reader, &reply), GH_READ_MORE);
        assert_int_equal(feed_string(reader, REPLY_BYTES - 1, &reply), GH_READ_REPLY);
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
    gh_reader* reader = reader_of(state);
    for (size_t count = 0; count <= REPLY_NODES + 2; count++)
    {
        restart(reader);
        gh_read result = feed_array(reader, count, ":1\r\n", &reply);
        assert_int_equal(result, count < REPLY_NODES ? GH_READ_REPLY : GH_READ_TOO_LARGE); /* the array is one too */
        restart(reader);
        result = feed_array(reader, count, "*1\r\n:1\r\n", &reply);
        assert_int_equal(result, 2 * count < REPLY_NODES ? GH_READ_REPLY : GH_READ_TOO_LARGE);
    }
}

static void strings_of_one_reply_share_their_bound(void** state)
{
    static char element[600];
    const gh_reply* reply = NULL;
    gh_reader* reader = reader_of(state);
    size_t head = (size_t)snprintf(element, sizeof(element), "$511\r\n"); /* 512 bytes each with the NUL behind */
    memset(element + head, 'e', 511);
    memcpy(element + head + 511, "\r\n", 3);
    for (size_t count = 30; count <= 34; count++)
    {
        restart(reader);
        gh_read result = feed_array(reader, count, element, &reply);
        assert_int_equal(result, count <= REPLY_BYTES / 512 ? GH_READ_REPLY : GH_READ_TOO_LARGE);
    }
}

static gh_read feed_nested(gh_reader* reader, unsigned depth)
{
    const gh_reply* reply = NULL;
    restart(reader);
    for (unsigned i = 0; i < depth; i++) gh_reader_feed(reader, "*1\r\n", 4);
    gh_reader_feed(reader, ":1\r\n", 4);
    return gh_reader_next(reader, &reply);
}

static void arrays_within_arrays_have_a_bound(void** state)
{
    gh_reader* reader = reader_of(state);
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
    gh_reader* reader = reader_of(state);
    memset(bytes, 'x', sizeof(bytes));
    bytes[0] = '+';
    gh_reader_feed(reader, bytes, sizeof(bytes));
    assert_int_equal(gh_reader_next(reader, &reply), GH_READ_TOO_LARGE);
    restart(reader);
    gh_reader_feed(reader, bytes, sizeof(bytes) - 1);
    assert_int_equal(gh_reader_next(reader, &reply), GH_READ_MORE);
}

static void the_largest_reply_is_remembered(void** state)
{
    gh_reader* reader = reader_of(state);
    assert_int_equal(gh_reader_reply_bytes_max(reader), 0);
    expect_read(reader, "+OK\r\n", "+2 OK");
    uint32_t small = gh_reader_reply_bytes_max(reader);
    assert_in_range(small, 34, 36);
    expect_read(reader, "*2\r\n:1\r\n$5\r\nhello\r\n", "*2 :1 $5 hello");
    uint32_t large = gh_reader_reply_bytes_max(reader);
    assert_in_range(large, 3 * 32 + 5, 3 * 32 + 8);
    expect_read(reader, ":1\r\n", ":1 ");
    assert_int_equal(gh_reader_reply_bytes_max(reader), large);
}

/* ---- Hostile servers ---- */

/* It must break at once, not wait for bytes that never come; stay so; and be as new after the reset. */
static char break_with(gh_reader* reader, const char* bytes, size_t size)
{
    static transcript got;
    const gh_reply* reply = NULL;
    read_whole(reader, bytes, size, &got);
    char mark = got.size == 1 ? got.text[0] : '?';
    if (mark != '!' && mark != '^')
    {
        fail_msg("\"%.*s\" gave \"%.*s\"", (int)(size < 60 ? size : 60), bytes, (int)got.size, got.text);
    }
    gh_read expected = mark == '!' ? GH_READ_BROKEN : GH_READ_TOO_LARGE;
    gh_reader_feed(reader, "+OK\r\n", 5);
    assert_int_equal(gh_reader_next(reader, &reply), expected);
    assert_int_equal(gh_reader_next(reader, &reply), expected);
    expect_read(reader, "*1\r\n$2\r\nOK\r\n", "*1 $2 OK");
    return mark;
}

static void what_is_announced_too_large_is_refused_at_once(void** state)
{
    static const char* const large[] = {
        "$16384\r\n", "$16384", "$99999", "$2147483647\r\n", "$2147483648\r\n", "$4294967295\r\n", "$4294967296\r\n",
        "$9223372036854775806\r\n", "$9223372036854775807\r\n", "*65\r\n", "*2147483647\r\n", "*1\r\n$2147483648\r\n",
        "*1\r\n*65\r\n", "*2\r\n:1\r\n$16384\r\n",
    };
    gh_reader* reader = reader_of(state);
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
    {
        if (break_with(reader, large[i], strlen(large[i])) != '^') fail_msg("%s is not told as too large", large[i]);
    }
}

/* Whether these are too large or senseless is for hiredis to say, and its versions differ. */
static void what_no_number_can_count_breaks_the_reader(void** state)
{
    static const char* const huge[] = {
        "*2147483648\r\n", "*4294967295\r\n", "*4294967296\r\n", "*4294967297\r\n", "*9223372036854775807\r\n",
        "*9223372036854775808\r\n", "*18446744073709551615\r\n", "*1\r\n*4294967295\r\n", "$9223372036854775808\r\n",
        "$18446744073709551615\r\n", "$18446744073709551617\r\n", "$99999999999999999999999999\r\n",
    };
    gh_reader* reader = reader_of(state);
    for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++) break_with(reader, huge[i], strlen(huge[i]));
}

static void nonsense_breaks_the_reader_at_once(void** state)
{
    static const char* const nonsense[] = {
        /* lengths */
        "*-2\r\n", "$-2\r\n", "$-9223372036854775808\r\n", "*-9223372036854775808\r\n", "*1\r\n*-2\r\n", "$\r\n", "$x\r\n",
        "$+1\r\n", "$01\r\n", "*\r\n", "*x\r\n", "*+1\r\n", "*01\r\n", "$-0\r\n", "*-0\r\n",
        /* numbers */
        ":\r\n", ":+1\r\n", ":01\r\n", ":-\r\n", ":1x\r\n", ":x\r\n", ": 1\r\n", ":1 \r\n", ":0x10\r\n", ":1.5\r\n",
        ":9223372036854775808\r\n", ":-9223372036854775809\r\n", ":99999999999999999999\r\n",
        /* types: RESP3, an older protocol, other protocols */
        "_\r\n", "#t\r\n", ",1.5\r\n", "(12345678901234567890\r\n", "!5\r\nERR x\r\n", "=7\r\ntxt:abc\r\n",
        "%1\r\n+a\r\n+b\r\n", "~1\r\n+a\r\n", ">1\r\n+a\r\n", "|1\r\n+a\r\n+b\r\n", "*?\r\n", "$?\r\n", "*1\r\n_\r\n",
        "*1\r\n%0\r\n", "HTTP/1.1 400 Bad Request\r\n", "PONG\r\n", "\r\n", "\n", " +OK\r\n", "SSH-2.0-x\r\n",
    };
    gh_reader* reader = reader_of(state);
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
    {
        char mark = break_with(reader, nonsense[i], strlen(nonsense[i]));
        if (mark != '!') fail_msg("%s is told as too large", nonsense[i]);
    }
    assert_int_equal(break_with(reader, "\0\r\n", 3), '!');
    assert_int_equal(break_with(reader, "\x16\x03\x01\x02", 4), '!'); /* the beginning of TLS */
    assert_int_equal(break_with(reader, ":1\0\r\n", 5), '!');
}

static void a_line_without_an_end_breaks_the_reader(void** state)
{
    static char line[65536 + 3];
    static const char* const beginnings[] = {"+", "-", "-ERR ", ":1", "*1", "$", "$0000", "*1\r\n+", "$-"};
    gh_reader* reader = reader_of(state);
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
    {
        memset(line, '0', sizeof(line));
        memcpy(line, beginnings[i], strlen(beginnings[i]));
        assert_int_equal(break_with(reader, line, sizeof(line)), '^');
    }
    memset(line, 'e', sizeof(line)); /* an error of 64 KiB, with its end */
    line[0] = '-';
    memcpy(line + sizeof(line) - 2, "\r\n", 2);
    assert_int_equal(break_with(reader, line, sizeof(line)), '^');
}

/* A string that is longer or shorter than it says: the bytes behind it are taken for something else, never for more of
   it, and what they are taken for is no reply. */
static void a_string_of_another_length_breaks_the_reader(void** state)
{
    gh_reader* reader = reader_of(state);
    expect_read(reader, "$1\r\nabcd\r\n", "$1 a!");
    expect_read(reader, "$5\r\nabcd\r\n+OK\r\n", "$5 abcd\r!");
}

/* Replies before the nonsense are good all the same. */
static void what_came_before_the_nonsense_is_handed_out(void** state)
{
    expect_read(reader_of(state), "+OK\r\n:1\r\n?\r\n+OK\r\n", "+2 OK:1 !");
}

static void a_broken_reader_is_reset_at_any_point(void** state)
{
    static const char bytes[] = "*3\r\n$3\r\nabc\r\n*1\r\n:1\r\n?\r\n";
    gh_reader* reader = reader_of(state);
    const gh_reply* reply = NULL;
    for (size_t size = 0; size < sizeof(bytes); size++)
    {
        restart(reader);
        gh_reader_feed(reader, bytes, size);
        gh_reader_next(reader, &reply);
        expect_read(reader, "*2\r\n$2\r\nOK\r\n:7\r\n", "*2 $2 OK:7 ");
    }
}

/* ---- Fuzzing: however it is cut, the same bytes give the same replies and the same end ---- */

/* Why it broke may differ: a length that is both too large and no number is told by its first half. */
static void forget_why(transcript* of)
{
    if (of->size > 0 && of->text[of->size - 1] == '^') of->text[of->size - 1] = '!';
}

static void expect_same_in_pieces(gh_reader* reader, const char* bytes, size_t size)
{
    static transcript whole, pieces;
    read_whole(reader, bytes, size, &whole);
    read_byte_by_byte(reader, bytes, size, &pieces);
    forget_why(&whole);
    forget_why(&pieces);
    if (whole.size == pieces.size && memcmp(whole.text, pieces.text, whole.size) == 0) return;
    fail_msg("\"%.*s\" gave \"%.*s\" whole and \"%.*s\" in pieces", (int)size, bytes, (int)whole.size, whole.text,
             (int)pieces.size, pieces.text);
}

static void all_short_texts_of_the_protocol_are_survived(void** state)
{
    static const char letters[] = "$*:+-01\r\n";
    gh_reader* reader = reader_of(state);
    char text[4];
    for (unsigned word = 0; word < 9 * 9 * 9 * 9; word++)
    {
        unsigned rest = word;
        for (size_t i = 0; i < sizeof(text); i++, rest /= 9) text[i] = letters[rest % 9];
        expect_same_in_pieces(reader, text, sizeof(text));
    }
}

static void random_texts_of_the_protocol_are_survived(void** state)
{
    static const char* const words[] = {"$", "*", ":", "+", "-", "\r\n", "\r\n", "\r", "\n", "0", "1", "2", "-1", "3",
                                        "64", "16384", "abc", "$1\r\nx\r\n", "*2\r\n", ":5\r\n", "$-1\r\n", "%", "_\r\n"};
    gh_reader* reader = reader_of(state);
    random_stream stream = random_for_test("texts");
    for (int round = 0; round < 10000; round++)
    {
        char text[128];
        size_t size = 0;
        for (uint64_t count = random_between(&stream, 1, 12); count > 0; count--)
        {
            const char* word = words[random_below(&stream, sizeof(words) / sizeof(words[0]))];
            memcpy(text + size, word, strlen(word));
            size += strlen(word);
        }
        expect_same_in_pieces(reader, text, size);
    }
}

static void damaged_replies_are_survived(void** state)
{
    static maker m;
    gh_reader* reader = reader_of(state);
    m.stream = random_for_test("damage");
    for (int round = 0; round < 5000; round++)
    {
        make_replies(&m, 2);
        for (uint64_t count = random_between(&m.stream, 1, 3); count > 0; count--)
        {
            m.bytes[random_below(&m.stream, m.size)] = (char)(unsigned char)(random_next(&m.stream) >> 56);
        }
        size_t size = random_one_in(&m.stream, 3) ? (size_t)random_between(&m.stream, 1, m.size) : m.size;
        expect_same_in_pieces(reader, m.bytes, size);
    }
}

/* ---- Memory ---- */

static void the_reader_takes_no_more_room_than_it_measured(void** state)
{
    (void)state;
    static _Alignas(16) char block[BLOCK_SIZE];
    gh_arena measure = gh_arena_make(NULL, 0);
    assert_null(gh_reader_take(&measure, REPLY_BYTES, REPLY_NODES));
    assert_true(measure.used <= sizeof(block));
    gh_arena tight = gh_arena_make(block, measure.used - 16);
    assert_null(gh_reader_take(&tight, REPLY_BYTES, REPLY_NODES));
    gh_arena exact = gh_arena_make(block, measure.used);
    gh_reader* reader = gh_reader_take(&exact, REPLY_BYTES, REPLY_NODES);
    assert_non_null(reader);
    expect_read(reader, "*1\r\n$2\r\nOK\r\n", "*1 $2 OK");
    gh_reader_close(reader);
    gh_reader_close(reader); /* twice is fine */
}

/* hiredis 1.x never; 0.14 only in the beginning, and after an error of its own. */
#ifdef REDIS_REPLY_MAP
#define HEAP_AFTER_AN_ERROR false
#else
#define HEAP_AFTER_AN_ERROR true
#endif

static uint64_t heap_calls_of_session(gh_reader* reader, maker* m)
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
    static maker m;
    gh_reader* reader = reader_of(state);
    m.stream = random_for_test("replies");
    assert_true(heap_watch_works());
    for (int round = 0; round < 500; round++)
    {
        make_replies(&m, 6);
        assert_int_equal(heap_calls_of_session(reader, &m), 0);
    }
    m.size = (size_t)snprintf(m.bytes, sizeof(m.bytes), "$2147483648\r\n"); /* over a bound of ours */
    assert_int_equal(heap_calls_of_session(reader, &m), 0);
    heap_watch_begin();
    gh_read result = feed_nested(reader, 3);
    const gh_reply* reply = NULL;
    gh_read largest = feed_string(reader, REPLY_BYTES - 1, &reply);
    heap_counts seen = heap_watch_end();
    assert_int_equal(result, GH_READ_REPLY);
    assert_int_equal(largest, GH_READ_REPLY);
    assert_int_equal(seen.total, 0);
}

static void only_an_old_hiredis_takes_from_the_heap_after_an_error(void** state)
{
    static maker m;
    gh_reader* reader = reader_of(state);
    m.size = (size_t)snprintf(m.bytes, sizeof(m.bytes), "?\r\n");
    uint64_t calls = heap_calls_of_session(reader, &m);
    if (HEAP_AFTER_AN_ERROR) assert_in_range(calls, 1, 8);
    else assert_int_equal(calls, 0);
    m.size = (size_t)snprintf(m.bytes, sizeof(m.bytes), "+OK\r\n");
    assert_int_equal(heap_calls_of_session(reader, &m), 0);
}

#define WITH_READER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

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
    WITH_READER(arrays_within_arrays_have_a_bound),
    WITH_READER(a_feed_has_a_bound),
    WITH_READER(the_largest_reply_is_remembered),
    WITH_READER(what_is_announced_too_large_is_refused_at_once),
    WITH_READER(what_no_number_can_count_breaks_the_reader),
    WITH_READER(nonsense_breaks_the_reader_at_once),
    WITH_READER(a_line_without_an_end_breaks_the_reader),
    WITH_READER(a_string_of_another_length_breaks_the_reader),
    WITH_READER(what_came_before_the_nonsense_is_handed_out),
    WITH_READER(a_broken_reader_is_reset_at_any_point),
    WITH_READER(all_short_texts_of_the_protocol_are_survived),
    WITH_READER(random_texts_of_the_protocol_are_survived),
    WITH_READER(damaged_replies_are_survived),
    cmocka_unit_test(the_reader_takes_no_more_room_than_it_measured),
    WITH_READER(reading_takes_nothing_from_the_heap),
    WITH_READER(only_an_old_hiredis_takes_from_the_heap_after_an_error));
