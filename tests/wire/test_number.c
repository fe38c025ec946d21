/* test_number.c -- sdk/src/wire/number.h against a reader that takes a digit at a time. */

#include "support/random.h"
#include "support/suite.h"
#include "wire/number.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MAX 32

static const char* read_naively(const char* first, const char* end, int64_t* number)
{
    uint64_t value = 0;
    const char* at = first;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
    {
        if (at - first == 19) return NULL;
        value = value * 10 + (uint64_t)(*at - '0');
    }
    if (at == first || value > INT64_MAX || (at - first > 1 && *first == '0')) return NULL;
    if (end - at < 2 || at[0] != '\r' || at[1] != '\n') return NULL;
    *number = (int64_t)value;
    return at + 2;
}

/* In memory of exactly that size, so that the sanitizer sees who reads behind it. */
static void expect_both_alike(const char* line, size_t size)
{
    char* exact = malloc(size + (size == 0));
    int64_t expected = -1;
    int64_t number = -1;
    memcpy(exact, line, size);
    const char* expected_end = read_naively(exact, exact + size, &expected);
    const char* end = gh_number_read(exact, exact + size, &number);
    assert_ptr_equal(end, expected_end);
    if (end != NULL) assert_int_equal(number, expected);
    free(exact);
}

static size_t random_line(random_stream* stream, char* line)
{
    const size_t digits = (size_t)random_below(stream, 22);
    size_t size = 0;
    for (; size < digits; size++) line[size] = (char)('0' + random_below(stream, 10));
    line[size++] = '\r';
    line[size++] = '\n';
    for (size_t more = (size_t)random_below(stream, 9); more > 0; more--)
        line[size++] = (char)random_below(stream, 256);
    return size;
}

static void numbers_of_any_length_are_read_alike(void** state)
{
    random_stream stream = random_for_test("lines");
    (void)state;
    for (int round = 0; round < 4000; round++)
    {
        char line[LINE_MAX];
        const size_t size = random_line(&stream, line);
        for (size_t cut = 0; cut <= size; cut++) expect_both_alike(line, cut);
    }
}

/* A byte beside the digits, over and under them, with the highest bit set. */
static void what_is_no_digit_is_seen_wherever_it_stands(void** state)
{
    (void)state;
    for (size_t at = 0; at < 19; at++)
        for (int byte = 0; byte < 256; byte++)
        {
            char line[] = "1234567890123456789\r\n";
            line[at] = (char)byte;
            expect_both_alike(line, sizeof line - 1);
        }
}

TEST_FILE(number, cmocka_unit_test(numbers_of_any_length_are_read_alike),
          cmocka_unit_test(what_is_no_digit_is_seen_wherever_it_stands));
