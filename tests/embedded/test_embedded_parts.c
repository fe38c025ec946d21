/* Tests of what the store inside of guildhall_embedded is made of: numbers as text, digests, patterns, tables, rows. */

#include "store_inside.h"
#include "support/random.h"
#include "support/sha1.h"
#include "support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void whole_numbers_are_read_as_a_server_does(void** state)
{
    static const char* const good[] = {"0", "1", "-1", "9223372036854775807", "-9223372036854775808", "10"};
    static const int64_t values[] = {0, 1, -1, INT64_MAX, INT64_MIN, 10};
    static const char* const bad[] = {"",
                                      "-",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "01",
                                      "-0",
                                      "1.0",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "x",
                                      "99999999999999999999",
                                      "0x1"};
    int64_t value;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    {
        char text[STORE_NUMBER_SIZE];
        assert_true(gh_store_text_integer(gh_str_of(good[i]), &value));
        assert_true(value == values[i]);
        assert_true(gh_str_equal(gh_str_make(text, gh_store_integer_text(value, text)), gh_str_of(good[i])));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(gh_store_text_integer(gh_str_of(bad[i]), &value));
}

static void scores_are_told_as_the_version_does(void** state)
{
    static const double values[] = {0, -0.0, 1, 0.1, 1e17, 1e15 + 0.5, INFINITY, -INFINITY, 9007199254740993.0, -1.5};
    static const char* const in_7_0[] = {
        "0",   "-0", "1", "0.10000000000000001", "1e+17", "1000000000000000.5", "inf", "-inf", "9007199254740992",
        "-1.5"};
    static const char* const in_7_2[] = {
        "0", "-0", "1", "0.1", "1e+17", "1000000000000000.5", "inf", "-inf", "9007199254740992", "-1.5"};
    char text[STORE_NUMBER_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    {
        assert_true(
            gh_str_equal(gh_str_make(text, gh_store_double_text(values[i], 70015, text)), gh_str_of(in_7_0[i])));
        assert_true(
            gh_str_equal(gh_str_make(text, gh_store_double_text(values[i], 70200, text)), gh_str_of(in_7_2[i])));
    }
}

static void scores_are_read_as_a_server_does(void** state)
{
    static const char* const bad[] = {"", " 1", "nan", "x", "1x", "1e", "--1"};
    double value;
    (void)state;
    assert_true(gh_store_text_double(gh_str_literal("inf"), &value) && isinf(value));
    assert_true(gh_store_text_double(gh_str_literal("0x10"), &value) && value == 16);
    assert_true(gh_store_text_double(gh_str_literal("1e3"), &value) && value == 1000);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(gh_store_text_double(gh_str_of(bad[i]), &value));
}

/* Times in microseconds have sixteen digits; from 2^53 on not every whole number is a double. */
static void long_scores_are_rounded_as_c_does(void** state)
{
    random_stream random = random_for_test("digits");
    (void)state;
    for (int i = 0; i < 20000; i++)
    {
        char text[STORE_NUMBER_SIZE];
        const int size = 15 + (int)random_below(&random, 5);
        double value;
        int at = 0;
        if (random_one_in(&random, 4)) text[at++] = '-';
        for (int digit = 0; digit < size; digit++) text[at++] = (char)('0' + random_below(&random, 10));
        text[at] = '\0';
        assert_true(gh_store_text_double(gh_str_make(text, (size_t)at), &value));
        assert_true(value == strtod(text, NULL));
    }
}

static void digests_are_those_of_sha1(void** state)
{
    char bytes[200];
    (void)state;
    memset(bytes, 'x', sizeof bytes);
    for (size_t size = 0; size <= sizeof bytes; size++)
    {
        char ours[STORE_ID_SIZE];
        char theirs[41];
        gh_store_sha1(bytes, size, ours);
        sha1_hex(bytes, size, theirs);
        assert_string_equal(ours, theirs);
    }
}

static void patterns_match_as_globs(void** state)
{
    static const char* const good[][2] = {
        {"*", ""},     {"a*", "a"},  {"a*c", "abc"},           {"a*b*c", "aXbYbZc"}, {"?", "x"},  {"[a-c]x", "bx"},
        {"[^a]", "b"}, {"\\*", "*"}, {"gh:{*}:s", "gh:{a}:s"}, {"[c-a]", "b"},       {"**", "x"}, {"[a", "a"}};
    static const char* const bad[][2] = {{"", "a"},      {"a", ""},    {"a*", "b"},   {"?", ""},
                                         {"[a-c]", "d"}, {"\\*", "x"}, {"a*c", "ab"}, {"[^a]", "a"}};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(gh_store_matches(gh_str_of(good[i][0]), gh_str_of(good[i][1])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(gh_store_matches(gh_str_of(bad[i][0]), gh_str_of(bad[i][1])));
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Against a plain array: names come and go, and the order of those that stay is that in which they came. */
static void dictionary_is_as_an_array(void** state)
{
    enum
    {
        NAMES = 300
    };
    store_pool pool = {0};
    store_dict dict = {0};
    int order[NAMES];
    int count = 0;
    random_stream random = random_for_test("names");
    (void)state;
    for (int step = 0; step < 20000; step++)
    {
        char text[16];
        const int drawn = (int)random_below(&random, step % 4000 < 2000 ? NAMES : 20);
        const gh_str name = gh_str_make(text, (size_t)snprintf(text, sizeof text, "name-%d", drawn));
        const uint32_t hash = gh_store_hash(name);
        store_entry* entry = gh_store_dict_find(&dict, name, hash);
        int at = 0;
        while (at < count && order[at] != drawn) at++;
        assert_int_equal(entry != NULL, at < count);
        gh_store_dict_come(&dict, hash);
        if (dict.slots != NULL) assert_ptr_equal(gh_store_dict_likely(&dict, hash), entry);
        if (entry == NULL)
        {
            gh_store_dict_add(&dict, &pool, name, hash);
            order[count++] = drawn;
        }
        else if (random_one_in(&random, 2))
        {
            assert_ptr_equal(gh_store_dict_take(&dict, name, hash), entry);
            gh_store_entry_free(&pool, entry);
            memmove(order + at, order + at + 1, (size_t)(count - at - 1) * sizeof *order);
            count--;
        }
        assert_int_equal(dict.count, count);
        if (step % 100 > 0) continue;
        uint32_t place = 0;
        for (int i = 0; i < count; i++)
        {
            snprintf(text, sizeof text, "name-%d", order[i]);
            entry = gh_store_dict_next(&dict, &place);
            assert_true(gh_str_equal(gh_store_entry_name(entry), gh_str_of(text)));
        }
        assert_null(gh_store_dict_next(&dict, &place));
    }
    gh_store_dict_end(&dict, &pool);
    gh_store_pool_end(&pool);
}

static void row_is_as_an_array(void** state)
{
    store_row row = {0};
    void* plain[256];
    uint32_t count = 0;
    random_stream random = random_for_test("row");
    (void)state;
    for (int step = 0; step < 20000; step++)
    {
        const uint32_t at = (uint32_t)random_below(&random, count + 1);
        if (count < 255 && random_below(&random, 256) > count)
        {
            void* one = (void*)(intptr_t)(step + 1);
            const uint32_t place = random_one_in(&random, 3) ? at : random_one_in(&random, 2) ? 0 : count;
            gh_store_row_insert(&row, place, one);
            memmove(plain + place + 1, plain + place, (count - place) * sizeof *plain);
            plain[place] = one;
            count++;
        }
        else if (at < count)
        {
            const uint32_t some = 1 + (uint32_t)random_below(&random, count - at);
            gh_store_row_remove(&row, at, some);
            memmove(plain + at, plain + at + some, (count - at - some) * sizeof *plain);
            count -= some;
        }
        assert_int_equal(row.count, count);
        for (uint32_t i = 0; i < count; i++) assert_ptr_equal(gh_store_row_at(&row, i), plain[i]);
    }
    gh_store_row_end(&row);
}

TEST_FILE(embedded_parts, cmocka_unit_test(whole_numbers_are_read_as_a_server_does),
          cmocka_unit_test(scores_are_told_as_the_version_does), cmocka_unit_test(scores_are_read_as_a_server_does),
          cmocka_unit_test(long_scores_are_rounded_as_c_does), cmocka_unit_test(digests_are_those_of_sha1),
          cmocka_unit_test(patterns_match_as_globs), cmocka_unit_test(dictionary_is_as_an_array),
          cmocka_unit_test(row_is_as_an_array));
