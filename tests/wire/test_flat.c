/* test_flat.c -- the short way to read a reply, sdk/src/wire/flat.h: what it takes, and that hiredis reads that
   alike. test_scan.c has mutations. */

#include "support/random.h"
#include "support/faults/reading.h"
#include "support/suite.h"
#include "wire/flat.h"

#include <stdlib.h>
#include <string.h>

/* Reads from memory of exactly that size, so that the sanitizer sees who reads behind it. */
static size_t take_flat(const char* bytes, size_t size, reading_transcript* to)
{
    static gh_reply nodes[READING_REPLY_NODES];
    /* 77: as if another reply had been read before */
    gh_values values = {nodes, 77, READING_REPLY_NODES, 77, READING_REPLY_BYTES};
    char* exact = malloc(size + (size == 0));
    if (size > 0) memcpy(exact, bytes, size);
    size_t taken = gh_flat_read(&values, exact, size);
    to->size = 0;
    if (taken > 0) reading_note(to, &nodes[0]);
    free(exact);
    return taken;
}

/* Returns how many bytes the short way took. */
static size_t expect_both_alike(reading* reader, const char* bytes, size_t size)
{
    static reading_transcript flat, hiredis;
    size_t taken = take_flat(bytes, size, &flat);
    assert_true(taken <= size);
    if (taken == 0) return 0;
    assert_true(reading_by_hiredis(reader, bytes, taken, &hiredis));
    reading_must_be(&flat, hiredis.text, hiredis.size);
    return taken;
}

static void usual_replies_are_taken_as_soon_as_they_are_whole(void** state)
{
    static const char* const usual[] = {
        ":0\r\n",
        ":999999999999999999\r\n",
        ":9223372036854775807\r\n",
        "+OK\r\n",
        "+\r\n",
        "$0\r\n\r\n",
        "$4\r\n\r\n\r\n\r\n",
        "*0\r\n",
        "*2\r\n:6543\r\n:0\r\n",
        "*6\r\n:6543\r\n:0\r\n:1700000000000001\r\n:9999871\r\n:0\r\n:1700000000000000\r\n",
        "*3\r\n$3\r\nabc\r\n:1\r\n$0\r\n\r\n",
        ":-1\r\n",
        ":-999999999999999999\r\n",
        ":-9223372036854775807\r\n",
        "$-1\r\n",
        "*-1\r\n",
        "-ERR x\r\n",
        "-\r\n",
        "*5\r\n:1\r\n-ERR x\r\n+OK\r\n$-1\r\n:-7\r\n",
    };
    static reading_transcript got;
    reading* reader = reading_of(state);
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
    {
        char more[128] = "";
        size_t size = strlen(usual[i]);
        assert_int_equal(expect_both_alike(reader, usual[i], size), size);
        memcpy(more, usual[i], size);
        memcpy(more + size, "\r\n:7\r\n", 6); /* what follows is not looked at */
        assert_int_equal(take_flat(more, size + 6, &got), size);
        for (size_t cut = 0; cut < size; cut++) assert_int_equal(take_flat(usual[i], cut, &got), 0);
    }
}

static void all_else_is_left_to_hiredis(void** state)
{
    static const char* const unusual[] = {
        /* good, but not of this kind */
        "*1\r\n*0\r\n",
        "*1\r\n*-1\r\n",
        /* hostile */
        "+a\rb\r\n",
        "+a\nb\r\n",
        "-a\nb\r\n",
        ":-0\r\n",
        ":-01\r\n",
        ":-\r\n",
        ":--1\r\n",
        "$-0\r\n",
        "$-2\r\n",
        "$-01\r\n",
        "$-\r\n",
        "*-2\r\n",
        "*1\r\n$-2\r\n",
        ":9223372036854775808\r\n",
        ":18446744073709551617\r\n",
        ":00\r\n",
        ":01\r\n",
        ":+1\r\n",
        ":\r\n",
        ":1\n\n",
        ":1\r1\n",
        ":1x\r\n",
        "$01\r\nx\r\n",
        "$1\r\nxy\r\n",
        "$1\r\nx\n\r\n",
        "$999999999999999999\r\nx\r\n",
        "$18446744073709551617\r\nx\r\n",
        "*999999999999999999\r\n:1\r\n",
        "*18446744073709551617\r\n:1\r\n",
        "_\r\n",
        "%0\r\n",
        "HTTP/1.1 400\r\n",
        "\r\n",
    };
    static reading_transcript got;
    (void)state;
    for (size_t i = 0; i < sizeof(unusual) / sizeof(unusual[0]); i++)
    {
        if (take_flat(unusual[i], strlen(unusual[i]), &got) != 0) fail_msg("%s was taken", unusual[i]);
    }
}

/* To the value and to the byte: beyond them hiredis is asked, and says that the reply is too large. */
static void the_bounds_of_a_reply_are_kept(void** state)
{
    static const char reply[] = "*3\r\n$3\r\nabc\r\n:1\r\n$2\r\nde\r\n";
    (void)state;
    for (uint32_t node_capacity = 0; node_capacity <= 5; node_capacity++)
    {
        for (uint32_t text_capacity = 1; text_capacity <= 9; text_capacity++)
        {
            gh_reply* nodes = calloc(node_capacity + 1u, sizeof(*nodes));
            gh_values values = {nodes + 1, 0, node_capacity, 0, text_capacity};
            size_t taken = gh_flat_read(&values, reply, sizeof(reply) - 1);
            bool fits = node_capacity >= 4 && text_capacity >= 7; /* each string takes one byte more */
            assert_int_equal(taken, fits ? sizeof(reply) - 1 : 0);
            if (fits) assert_int_equal(values.node_count, 4);
            if (fits) assert_int_equal(values.text_used, 7);
            free(nodes);
        }
    }
}

/* One that is cut is left alone from its first element on, unless the cut is at the end of a line. */
static void long_arrays_are_taken_too(void** state)
{
    static reading_transcript got;
    char bytes[512] = "*40\r\n";
    size_t size = strlen(bytes);
    reading* reader = reading_of(state);
    for (int i = 0; i < 40; i++, size += 7) memcpy(bytes + size, "$1\r\nx\r\n", 7);
    assert_int_equal(expect_both_alike(reader, bytes, size), size);
    for (size_t cut = 0; cut < size; cut++) assert_int_equal(take_flat(bytes, cut, &got), 0);
    memcpy(bytes + size, ":1", 2);
    assert_int_equal(take_flat(bytes, size + 2, &got), 0);
}

static void random_replies_are_read_alike(void** state)
{
    static reading_maker m;
    reading* reader = reading_of(state);
    unsigned taken = 0;
    m.stream = random_for_test("flat");
    for (int round = 0; round < 5000; round++)
    {
        reading_make_replies(&m, 1);
        size_t size = random_one_in(&m.stream, 4) ? (size_t)random_below(&m.stream, m.size) : m.size;
        size_t used = expect_both_alike(reader, m.bytes, size);
        assert_true(used == 0 || used == m.size); /* a whole reply or none */
        taken += used > 0;
    }
    assert_in_range(taken, 500, 4500);
}

/* Bytes of the protocol in any order, and good replies with some bytes changed. */
static size_t draw_hostile(reading_maker* m)
{
    static const char* const words[] = {"$", "*", ":",  "+",  "-",      "\r\n", "\r\n",        "\r",     "\n",    "0",
                                        "1", "2", "-1", "64", ":5\r\n", "abc",  "$1\r\nx\r\n", "*2\r\n", "*1\r\n"};
    if (random_one_in(&m->stream, 2))
    {
        reading_make_replies(m, 1);
        for (uint64_t count = random_between(&m->stream, 1, 2); count > 0; count--)
        {
            const char* word = words[random_below(&m->stream, sizeof(words) / sizeof(words[0]))];
            m->bytes[random_below(&m->stream, m->size)] = *word;
        }
        return m->size;
    }
    size_t size = 0;
    for (uint64_t count = random_between(&m->stream, 1, 12); count > 0; count--)
    {
        const char* word = words[random_below(&m->stream, sizeof(words) / sizeof(words[0]))];
        memcpy(m->bytes + size, word, strlen(word));
        size += strlen(word);
    }
    return size;
}

static void hostile_replies_are_read_alike(void** state)
{
    static reading_maker m;
    reading* reader = reading_of(state);
    unsigned taken = 0;
    m.stream = random_for_test("hostile");
    for (int round = 0; round < 50000; round++)
    {
        size_t size = draw_hostile(&m);
        taken += expect_both_alike(reader, m.bytes, size) > 0;
    }
    assert_in_range(taken, 1000, 49000);
}

/* The reader goes from the short way to hiredis and back within one buffer, wherever the buffer was cut. */
static void both_ways_take_turns_wherever_it_is_cut(void** state)
{
    static const char bytes[] = ":1\r\n:-2\r\n*2\r\n:3\r\n$1\r\nx\r\n*1\r\n*1\r\n:4\r\n+OK\r\n$-1\r\n$2\r\nab\r\n";
    static const char expected[] = ":1 :-2 *2 :3 $1 x*1 *1 :4 +2 OK_0 $2 ab";
    static reading_transcript got;
    reading* reader = reading_of(state);
    for (size_t a = 0; a < sizeof(bytes); a++)
    {
        for (size_t b = a; b < sizeof(bytes); b++)
        {
            size_t cuts[3] = {a, b, sizeof(bytes) - 1};
            reading_in_pieces(reader, bytes, cuts, 3, &got);
            reading_must_be(&got, expected, sizeof(expected) - 1);
        }
    }
}

#define WITH_READER(test) cmocka_unit_test_setup_teardown(test, reading_set_up, reading_tear_down)

TEST_FILE(flat, WITH_READER(usual_replies_are_taken_as_soon_as_they_are_whole),
          cmocka_unit_test(all_else_is_left_to_hiredis), cmocka_unit_test(the_bounds_of_a_reply_are_kept),
          WITH_READER(long_arrays_are_taken_too), WITH_READER(random_replies_are_read_alike),
          WITH_READER(hostile_replies_are_read_alike), WITH_READER(both_ways_take_turns_wherever_it_is_cut));
