/* test_format.c -- gh_name_format: what each letter of a format puts into a name, and what it refuses. */

#include "guildhall/base.h"
#include "support/suite.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static void is_name(gh_str got, const char* expected)
{
    if (!gh_str_equal(got, gh_str_of(expected))) fail_msg("\"%.*s\", not \"%s\"", (int)got.size, got.bytes, expected);
}

static void each_letter_puts_its_value(void** state)
{
    gh_name name;
    (void)state;
    is_name(gh_name_format(&name, "plain"), "plain");
    is_name(gh_name_format(&name, "item:%u", 7u), "item:7");
    is_name(gh_name_format(&name, "%s:%b", "a", gh_str_literal("b")), "a:b");
    is_name(gh_name_format(&name, "%d %d %d", INT_MIN, 0, INT_MAX), "-2147483648 0 2147483647");
    is_name(gh_name_format(&name, "%u", UINT_MAX), "4294967295");
    is_name(gh_name_format(&name, "%lld|%lld", LLONG_MIN, LLONG_MAX), "-9223372036854775808|9223372036854775807");
    is_name(gh_name_format(&name, "%llu", ULLONG_MAX), "18446744073709551615");
    is_name(gh_name_format(&name, "100%%, %s", "%s"), "100%, %s");
    is_name(gh_name_format(&name, "%b", gh_str_make(NULL, 0)), "");
    assert_ptr_equal(gh_name_format(&name, "x").bytes, name.bytes);
    assert_int_equal(name.size, 1);
}

static void a_str_brings_any_byte(void** state)
{
    gh_name name;
    gh_str got = gh_name_format(&name, "<%b>", gh_str_make("\0\n %", 4));
    (void)state;
    assert_true(gh_str_equal(got, gh_str_make("<\0\n %>", 6)));
}

/* To the byte, and nothing behind the name is written. */
static void what_is_too_long_is_an_empty_name(void** state)
{
    char text[GH_NAME_SIZE_MAX + 2];
    (void)state;
    for (size_t size = 0; size <= GH_NAME_SIZE_MAX + 1; size++)
    {
        struct
        {
            gh_name name;
            char behind;
        } self = {.behind = 'x'};
        memset(text, 'n', size);
        text[size] = 0;
        is_name(gh_name_format(&self.name, "%s", text), size <= GH_NAME_SIZE_MAX ? text : "");
        is_name(gh_name_format(&self.name, text), size <= GH_NAME_SIZE_MAX ? text : "");
        assert_int_equal(self.behind, 'x');
    }
    memset(text, 'n', GH_NAME_SIZE_MAX);
    gh_name name;
    is_name(gh_name_format(&name, "%b%d", gh_str_make(text, GH_NAME_SIZE_MAX - 2), -10), "");
    is_name(gh_name_format(&name, "%b%%", gh_str_make(text, GH_NAME_SIZE_MAX)), "");
}

static void what_is_no_format_is_an_empty_name(void** state)
{
    static const char* const bad[] = {"%", "%x", "a%i", "%ld", "%5d", "%l", "%ll", "%llx", "%.3s", "% d", "%zu", "%S"};
    gh_name name;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
    {
        if (gh_name_format(&name, bad[i], 1ll, 2ll).size != 0) fail_msg("%s is taken", bad[i]);
    }
    is_name(gh_name_format(&name, "a%s", (const char*)NULL), "");
    is_name(gh_name_format(&name, "a%b", gh_str_make(NULL, 3)), "");
    is_name(gh_name_format(&name, NULL), "");
    assert_int_equal(gh_name_format(NULL, "a").size, 0);
}

TEST_FILE(format, cmocka_unit_test(each_letter_puts_its_value), cmocka_unit_test(a_str_brings_any_byte),
          cmocka_unit_test(what_is_too_long_is_an_empty_name), cmocka_unit_test(what_is_no_format_is_an_empty_name));
