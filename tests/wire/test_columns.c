/* test_columns.c -- sdk/src/wire/columns.h: a text of elements as an array of them. */

#include "support/random.h"
#include "support/suite.h"
#include "wire/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 9

typedef struct text_reply
{
    gh_reply nodes[NODES];
    char bytes[512];
} text_reply;

/* The reply that has this text, as it lies in a buffer, read as columns. NULL: it is none. */
static const gh_reply* read_columns(text_reply* reply, const char* text, size_t size, const char* shape)
{
    gh_values values = {reply->nodes, 0, NODES, 0, sizeof(reply->bytes)};
    int head = snprintf(reply->bytes, sizeof(reply->bytes), "$%zu\r\n", size);
    memcpy(reply->bytes + head, text, size);
    memcpy(reply->bytes + (size_t)head + size, "\r\n", 2);
    assert_int_equal(gh_flat_read(&values, reply->bytes, (size_t)head + size + 2), (size_t)head + size + 2);
    if (gh_columns_read(&values, shape)) return reply->nodes;
    assert_int_equal(reply->nodes[0].type, GH_REPLY_STRING);
    assert_int_equal(reply->nodes[0].text.size, size);
    assert_int_equal(values.node_count, 1);
    return NULL;
}

static void numbers_come_as_they_were_written(void** state)
{
    random_stream stream = random_for_test("numbers");
    (void)state;
    for (int round = 0; round < 20000; round++)
    {
        int64_t numbers[NODES - 1];
        char text[256];
        text_reply held;
        size_t size = 0;
        const size_t count = 1 + (size_t)random_below(&stream, NODES - 1);
        for (size_t i = 0; i < count; i++)
        {
            numbers[i] = (int64_t)(random_next(&stream) >> (1 + random_below(&stream, 63)));
            size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%" PRId64, i > 0 ? " " : "", numbers[i]);
        }
        const gh_reply* reply = read_columns(&held, text, size, "qiiiiiii" + (NODES - 1 - count));
        assert_non_null(reply);
        assert_int_equal(reply->type, GH_REPLY_ARRAY);
        assert_int_equal(reply->count, count);
        const gh_reply* column = reply->first;
        for (size_t i = 0; i < count; i++, column = column->next)
        {
            assert_ptr_equal(column, reply->first + i);
            assert_int_equal(column->type, GH_REPLY_INTEGER);
            assert_int_equal(column->integer, numbers[i]);
        }
        assert_null(column);
    }
}

static void other_texts_stay_what_they_are(void** state)
{
    static const char* const others[] = {"",
                                         " ",
                                         "1 ",
                                         " 1",
                                         "1  2",
                                         "-1",
                                         "1 -1",
                                         "+1",
                                         "01",
                                         "1 00",
                                         "1\t2",
                                         "1 2\n",
                                         "1.0",
                                         "inf",
                                         "nan",
                                         "1e3",
                                         "1 x 2",
                                         "1,2",
                                         "0x1",
                                         "9223372036854775808",
                                         "1 2 3 4 5 6 7 8 9",
                                         "12345678901234567890"};
    text_reply held;
    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        for (const char* shape = "iiiiiiiii"; *shape != 0; shape++)
            assert_null(read_columns(&held, others[i], strlen(others[i]), shape));
    assert_non_null(read_columns(&held, "9223372036854775807 0", 21, "qi"));
    assert_null(read_columns(&held, "1 2", 3, "i"));
    assert_null(read_columns(&held, "1 2", 3, "iii"));
}

/* What is left is the string, whatever it is. */
static void string_at_the_end_is_all_that_is_left(void** state)
{
    static const char text[] = "7 0 a\r\n 1 \0 b ";
    text_reply held;
    (void)state;
    for (size_t size = 4; size < sizeof(text); size++)
    {
        const gh_reply* reply = read_columns(&held, text, size, "qis");
        assert_non_null(reply);
        assert_int_equal(reply->count, 3);
        assert_int_equal(held.nodes[2].integer, 0);
        assert_int_equal(held.nodes[3].type, GH_REPLY_STRING);
        assert_ptr_equal(held.nodes[2].next, &held.nodes[3]);
        assert_null(held.nodes[3].next);
        assert_true(gh_str_equal(held.nodes[3].text, gh_str_make(text + 4, size - 4)));
    }
    assert_null(read_columns(&held, text, 3, "qis"));
    assert_null(read_columns(&held, "7 x y", 5, "qis"));
    assert_non_null(read_columns(&held, "", 0, "s"));
}

TEST_FILE(columns, cmocka_unit_test(numbers_come_as_they_were_written),
          cmocka_unit_test(other_texts_stay_what_they_are), cmocka_unit_test(string_at_the_end_is_all_that_is_left));
