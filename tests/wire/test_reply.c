/* test_reply.c -- guildhall/reply.h: numbers and texts taken out of replies. */

#include "guildhall/reply.h"
#include "support/suite.h"

#include <string.h>

static gh_reply reply_of(gh_reply_type type, gh_str text)
{
    gh_reply reply;
    memset(&reply, 0, sizeof(reply));
    reply.type = type;
    reply.text = text;
    return reply;
}

static void a_number_is_an_integer_or_its_digits(void** state)
{
    static const struct
    {
        const char* text;
        int64_t number;
    } good[] = {{"0", 0},   {"-0", 0},
                {"7", 7},   {"-12", -12},
                {"007", 7}, {"9223372036854775807", INT64_MAX},
                {"-1", -1}, {"-9223372036854775808", INT64_MIN}};
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
    {
        gh_reply string = reply_of(GH_REPLY_STRING, gh_str_of(good[i].text));
        gh_reply integer = reply_of(GH_REPLY_INTEGER, gh_str_make(NULL, 0));
        int64_t out = 5;
        integer.integer = good[i].number;
        assert_true(gh_reply_int(&string, &out));
        assert_true(out == good[i].number);
        out = 5;
        assert_true(gh_reply_int(&integer, &out));
        assert_true(out == good[i].number);
    }
}

static void what_is_no_number_leaves_out_alone(void** state)
{
    static const char* const bad[] = {"",
                                      "-",
                                      "x",
                                      "1x",
                                      " 1",
                                      "1 ",
                                      "+1",
                                      "1.5",
                                      "--1",
                                      "9223372036854775808",
                                      "1e3",
                                      "0x1",
                                      "-9223372036854775809",
                                      "18446744073709551617",
                                      "00000000000000000001"};
    static const gh_reply_type others[] = {GH_REPLY_NIL, GH_REPLY_ERROR, GH_REPLY_ARRAY};
    int64_t out = 5;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
    {
        gh_reply reply = reply_of(GH_REPLY_STRING, gh_str_of(bad[i]));
        if (gh_reply_int(&reply, &out)) fail_msg("%s is taken", bad[i]);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
    {
        gh_reply reply = reply_of(others[i], gh_str_literal("1"));
        assert_false(gh_reply_int(&reply, &out));
    }
    assert_false(gh_reply_int(NULL, &out));
    assert_int_equal(out, 5);
}

static void a_text_is_a_string_or_a_status(void** state)
{
    static const gh_reply_type types[] = {GH_REPLY_STRING, GH_REPLY_STATUS, GH_REPLY_NIL,
                                          GH_REPLY_ERROR,  GH_REPLY_ARRAY,  GH_REPLY_INTEGER};
    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
    {
        gh_reply reply = reply_of(types[i], gh_str_make("a\0b", 3));
        gh_str out = gh_str_literal("as it was");
        assert_int_equal(gh_reply_str(&reply, &out), i < 2);
        assert_true(gh_str_equal(out, i < 2 ? reply.text : gh_str_literal("as it was")));
    }
    gh_str out = gh_str_literal("as it was");
    assert_false(gh_reply_str(NULL, &out));
    assert_true(gh_str_equal(out, gh_str_literal("as it was")));
}

TEST_FILE(reply, cmocka_unit_test(a_number_is_an_integer_or_its_digits),
          cmocka_unit_test(what_is_no_number_leaves_out_alone), cmocka_unit_test(a_text_is_a_string_or_a_status));
