/* test_columns.c -- sdk/src/wire/columns.h: a text of numbers as an array of them. */

#include "support/random.h"
#include "support/suite.h"
#include "wire/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 9

/* The reply that has this text, as it lies in a buffer, read as columns. NULL: it is none. */
static const gh_reply* read_columns(gh_reply nodes[NODES], const char* text, size_t size)
{
    char reply[512];
    gh_values values = {nodes, 0, NODES, 0, sizeof(reply)};
    int head = snprintf(reply, sizeof(reply), "$%zu\r\n", size);
    memcpy(reply + head, text, size);
    memcpy(reply + (size_t)head + size, "\r\n", 2);
    assert_int_equal(gh_flat_read(&values, reply, (size_t)head + size + 2), (size_t)head + size + 2);
    if (gh_columns_read(&values)) return nodes;
    assert_int_equal(nodes[0].type, GH_REPLY_STRING);
    assert_int_equal(nodes[0].text.size, size);
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
        gh_reply nodes[NODES];
        size_t size = 0;
        const size_t count = 1 + (size_t)random_below(&stream, NODES - 1);
        for (size_t i = 0; i < count; i++)
        {
            numbers[i] = (int64_t)(random_next(&stream) >> (1 + random_below(&stream, 63)));
            size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%" PRId64, i > 0 ? " " : "", numbers[i]);
        }
        const gh_reply* reply = read_columns(nodes, text, size);
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
    gh_reply nodes[NODES];
    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_null(read_columns(nodes, others[i], strlen(others[i])));
    assert_non_null(read_columns(nodes, "9223372036854775807 0", 21));
}

TEST_FILE(columns, cmocka_unit_test(numbers_come_as_they_were_written),
          cmocka_unit_test(other_texts_stay_what_they_are));
