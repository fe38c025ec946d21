/* test_reader_hostile.c -- sdk/src/wire/inbox.h and servers that are broken, lie, or are none. */

#include "support/random.h"
#include "support/faults/reading.h"
#include "support/suite.h"
#include "wire/inbox.h"

#include <string.h>

/* ---- Hostile servers ---- */

/* It must break at once, not wait for bytes that never come; stay so; and be as new after the reset. */
static char break_with(reading* reader, const char* bytes, size_t size)
{
    static reading_transcript got;
    const gh_reply* reply = NULL;
    reading_whole(reader, bytes, size, &got);
    char mark = got.size == 1 ? got.text[0] : '?';
    if (mark != '!' && mark != '^')
    {
        fail_msg("\"%.*s\" gave \"%.*s\"", (int)(size < 60 ? size : 60), bytes, (int)got.size, got.text);
    }
    gh_read expected = mark == '!' ? GH_READ_BROKEN : GH_READ_TOO_LARGE;
    assert_int_equal(reading_next(reader, &reply), expected);
    assert_int_equal(reading_next(reader, &reply), expected);
    reading_expect(reader, "*1\r\n$2\r\nOK\r\n", "*1 $2 OK");
    return mark;
}

static void what_is_announced_too_large_is_refused_at_once(void** state)
{
    static const char* const large[] = {
        "$16384\r\n",
        "$99999\r\n",
        "$2147483647\r\n",
        "$2147483648\r\n",
        "$4294967295\r\n",
        "$4294967296\r\n",
        "$9223372036854775806\r\n",
        "$9223372036854775807\r\n",
        "*65\r\n",
        "*2147483647\r\n",
        "*1\r\n$2147483648\r\n",
        "*1\r\n*65\r\n",
        "*2\r\n:1\r\n$16384\r\n",
    };
    reading* reader = reading_of(state);
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
    {
        if (break_with(reader, large[i], strlen(large[i])) != '^') fail_msg("%s is not told as too large", large[i]);
    }
}

/* Some are too large, and some are no number. */
static void what_no_number_can_count_breaks_the_reader(void** state)
{
    static const char* const huge[] = {
        "*2147483648\r\n",           "*4294967295\r\n",           "*4294967296\r\n",
        "*4294967297\r\n",           "*9223372036854775807\r\n",  "*9223372036854775808\r\n",
        "*18446744073709551615\r\n", "*1\r\n*4294967295\r\n",     "$9223372036854775808\r\n",
        "$18446744073709551615\r\n", "$18446744073709551617\r\n", "$99999999999999999999999999\r\n",
    };
    reading* reader = reading_of(state);
    for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++) break_with(reader, huge[i], strlen(huge[i]));
}

static void nonsense_breaks_the_reader_at_once(void** state)
{
    static const char* const nonsense[] = {
        /* lengths */
        "*-2\r\n",
        "$-2\r\n",
        "$-9223372036854775808\r\n",
        "*-9223372036854775808\r\n",
        "*1\r\n*-2\r\n",
        "$\r\n",
        "$x\r\n",
        "$+1\r\n",
        "$01\r\n",
        "*\r\n",
        "*x\r\n",
        "*+1\r\n",
        "*01\r\n",
        "$-0\r\n",
        "*-0\r\n",
        /* numbers */
        ":\r\n",
        ":+1\r\n",
        ":01\r\n",
        ":-\r\n",
        ":1x\r\n",
        ":x\r\n",
        ": 1\r\n",
        ":1 \r\n",
        ":0x10\r\n",
        ":1.5\r\n",
        ":9223372036854775808\r\n",
        ":-9223372036854775809\r\n",
        ":99999999999999999999\r\n",
        /* types: RESP3, an older protocol, other protocols */
        "_\r\n",
        "#t\r\n",
        ",1.5\r\n",
        "(12345678901234567890\r\n",
        "!5\r\nERR x\r\n",
        "=7\r\ntxt:abc\r\n",
        "%1\r\n+a\r\n+b\r\n",
        "~1\r\n+a\r\n",
        ">1\r\n+a\r\n",
        "|1\r\n+a\r\n+b\r\n",
        "*?\r\n",
        "$?\r\n",
        "*1\r\n_\r\n",
        "*1\r\n%0\r\n",
        "HTTP/1.1 400 Bad Request\r\n",
        "PONG\r\n",
        "\r\n",
        "\n",
        " +OK\r\n",
        "SSH-2.0-x\r\n",
    };
    reading* reader = reading_of(state);
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
    reading* reader = reading_of(state);
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
    {
        memset(line, '0', sizeof(line));
        memcpy(line, beginnings[i], strlen(beginnings[i]));
        bool is_text = line[0] == '-' || strchr(beginnings[i], '+') != NULL; /* a number has no more than 19 digits */
        assert_int_equal(break_with(reader, line, sizeof(line)), is_text ? '^' : '!');
    }
    memset(line, 'e', sizeof(line)); /* an error of 64 KiB, with its end */
    line[0] = '-';
    memcpy(line + sizeof(line) - 2, "\r\n", 2);
    assert_int_equal(break_with(reader, line, sizeof(line)), '^');
}

static void a_string_of_another_length_breaks_the_reader(void** state)
{
    reading* reader = reading_of(state);
    reading_expect(reader, "$1\r\nabcd\r\n", "!");
    reading_expect(reader, "$5\r\nabcd\r\n+OK\r\n", "!");
    reading_expect(reader, ":1\r\n*1\r\n*1\r\n$1\r\nab\r\n", ":1 !");
}

/* Replies before the nonsense are good all the same. */
static void what_came_before_the_nonsense_is_handed_out(void** state)
{
    reading_expect(reading_of(state), "+OK\r\n:1\r\n?\r\n+OK\r\n", "+2 OK:1 !");
}

static void a_broken_reader_is_reset_at_any_point(void** state)
{
    static const char bytes[] = "*3\r\n$3\r\nabc\r\n*1\r\n:1\r\n?\r\n";
    reading* reader = reading_of(state);
    const gh_reply* reply = NULL;
    for (size_t size = 0; size < sizeof(bytes); size++)
    {
        reading_restart(reader);
        reading_feed(reader, bytes, size);
        reading_next(reader, &reply);
        reading_expect(reader, "*2\r\n$2\r\nOK\r\n:7\r\n", "*2 $2 OK:7 ");
    }
}

/* ---- Fuzzing: however it is cut, the same bytes give the same replies and the same end ---- */

/* Why it broke may differ: a length that is both too large and no number is told by its first half. */
static void forget_why(reading_transcript* of)
{
    if (of->size > 0 && of->text[of->size - 1] == '^') of->text[of->size - 1] = '!';
}

static void expect_same_in_pieces(reading* reader, const char* bytes, size_t size)
{
    static reading_transcript whole, pieces;
    reading_whole(reader, bytes, size, &whole);
    reading_byte_by_byte(reader, bytes, size, &pieces);
    forget_why(&whole);
    forget_why(&pieces);
    if (whole.size == pieces.size && memcmp(whole.text, pieces.text, whole.size) == 0) return;
    fail_msg("\"%.*s\" gave \"%.*s\" whole and \"%.*s\" in pieces", (int)size, bytes, (int)whole.size, whole.text,
             (int)pieces.size, pieces.text);
}

static void all_short_texts_of_the_protocol_are_survived(void** state)
{
    static const char letters[] = "$*:+-01\r\n";
    reading* reader = reading_of(state);
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
    static const char* const words[] = {"$",   "*",           ":",      "+",      "-",       "\r\n", "\r\n", "\r",
                                        "\n",  "0",           "1",      "2",      "-1",      "3",    "64",   "16384",
                                        "abc", "$1\r\nx\r\n", "*2\r\n", ":5\r\n", "$-1\r\n", "%",    "_\r\n"};
    reading* reader = reading_of(state);
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
    static reading_maker m;
    reading* reader = reading_of(state);
    m.stream = random_for_test("damage");
    for (int round = 0; round < 5000; round++)
    {
        reading_make_replies(&m, 2);
        for (uint64_t count = random_between(&m.stream, 1, 3); count > 0; count--)
        {
            m.bytes[random_below(&m.stream, m.size)] = (char)(unsigned char)(random_next(&m.stream) >> 56);
        }
        size_t size = random_one_in(&m.stream, 3) ? (size_t)random_between(&m.stream, 1, m.size) : m.size;
        expect_same_in_pieces(reader, m.bytes, size);
    }
}

#define WITH_READER(test) cmocka_unit_test_setup_teardown(test, reading_set_up, reading_tear_down)

TEST_FILE(reader_hostile, WITH_READER(what_is_announced_too_large_is_refused_at_once),
          WITH_READER(what_no_number_can_count_breaks_the_reader), WITH_READER(nonsense_breaks_the_reader_at_once),
          WITH_READER(a_line_without_an_end_breaks_the_reader),
          WITH_READER(a_string_of_another_length_breaks_the_reader),
          WITH_READER(what_came_before_the_nonsense_is_handed_out), WITH_READER(a_broken_reader_is_reset_at_any_point),
          WITH_READER(all_short_texts_of_the_protocol_are_survived),
          WITH_READER(random_texts_of_the_protocol_are_survived), WITH_READER(damaged_replies_are_survived));
