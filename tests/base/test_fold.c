/* Tests of guildhall/fold.h. */

#include "support/suite.h"

#include "guildhall/fold.h"

#include <stdio.h>
#include <string.h>

static void assert_folds(gh_fold fold, gh_str text, gh_str expected)
{
    char out[GH_FOLDED_SIZE_MAX];
    size_t size = gh_fold_apply(fold, NULL, text, out);
    if (!gh_str_equal(gh_str_make(out, size), expected))
        fail_msg("%.*s is folded to %.*s, not %.*s", (int)text.size, text.bytes, (int)size, out, (int)expected.size,
                 expected.bytes);
}

static void ascii_folds_letters_alone(void** state)
{
    (void)state;
    char all[256];
    for (int i = 0; i < 256; i++) all[i] = (char)i;
    for (size_t at = 0; at < 256; at += GH_NAME_SIZE_MAX)
    {
        char expected[GH_NAME_SIZE_MAX];
        for (size_t i = 0; i < sizeof(expected); i++)
            expected[i] = at + i >= 'A' && at + i <= 'Z' ? (char)(at + i + 32) : (char)(at + i);
        assert_folds(gh_fold_ascii, gh_str_make(all + at, sizeof(expected)), gh_str_make(expected, sizeof(expected)));
    }
    assert_folds(gh_fold_ascii, gh_str_make(NULL, 0), gh_str_literal(""));
}

static void utf8_folds_all_scripts_that_have_cases(void** state)
{
    (void)state;
    static const char* const rows[][2] = {
        {"Jeff_42{", "jeff_42{"},
        {"ÄRGER", "ärger"},
        {"Straße", "straße"},
        {"STRASSE", "strasse"},
        {"ΣΊΣΥΦΟΣ", "σίσυφοσ"},
        {"ς", "σ"},
        {"ЖЁЛТЫЙ", "жёлтый"},
        {"ԱՐԵՎ", "արեվ"},
        {"ĀŁŻŸ", "āłżÿ"},
        {"ＡＢＣ", "ａｂｃ"},
        {"𐐀𐐁", "𐐨𐐩"},
        {"日本語", "日本語"},
        {"K", "k"},
        {"Ⱥ", "ⱥ"},
        {"ẞ", "ß"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_folds(gh_fold_utf8, gh_str_of(rows[i][0]), gh_str_of(rows[i][1]));
}

static void what_is_not_utf8_stays(void** state)
{
    (void)state;
    static const char* const rows[] = {
        "\xff\xfe\xff",     "\xc3",         "a\xc3",        "\xc0\x80",         "\xc1\xbf",
        "\xe0\x80\x80",     "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\x80",         "\xe1\xb8",     "\xf0\x90\x90",     "\xc3(",
        "\xe1(\x80",
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_folds(gh_fold_utf8, gh_str_of(rows[i]), gh_str_of(rows[i]));
    assert_folds(gh_fold_utf8, gh_str_make("A\0B", 3), gh_str_make("a\0b", 3));
    assert_folds(gh_fold_utf8,
                 gh_str_literal("\xff"
                                "Ä\xc3"
                                "B"),
                 gh_str_literal("\xff"
                                "ä\xc3"
                                "b"));
}

/* Every character of Unicode: its fold is one character, is its own fold, and fits. */
static void fold_of_a_fold_is_itself(void** state)
{
    (void)state;
    unsigned changed = 0;
    for (uint32_t c = 1; c < 0x110000; c++)
    {
        char text[4];
        char once[GH_FOLDED_SIZE_MAX];
        char twice[GH_FOLDED_SIZE_MAX];
        size_t size;
        if (c < 0x80) text[0] = (char)c, size = 1;
        else if (c < 0x800) text[0] = (char)(0xc0 | c >> 6), text[1] = (char)(0x80 | (c & 63)), size = 2;
        else if (c < 0x10000)
            text[0] = (char)(0xe0 | c >> 12), text[1] = (char)(0x80 | (c >> 6 & 63)), text[2] = (char)(0x80 | (c & 63)),
            size = 3;
        else
            text[0] = (char)(0xf0 | c >> 18), text[1] = (char)(0x80 | (c >> 12 & 63)),
            text[2] = (char)(0x80 | (c >> 6 & 63)), text[3] = (char)(0x80 | (c & 63)), size = 4;
        size_t first = gh_fold_utf8(NULL, gh_str_make(text, size), once);
        size_t second = gh_fold_utf8(NULL, gh_str_make(once, first), twice);
        assert_in_range(first, 1, 4);
        assert_true(2 * first <= 3 * size);
        if (first != second || memcmp(once, twice, first) != 0) fail_msg("U+%04X is not folded to the end", c);
        changed += first != size || memcmp(once, text, size) != 0;
    }
    assert_int_equal(changed, 26 + 1428);
}

/* The longest that a name can become. */
static void longest_fold_fits(void** state)
{
    (void)state;
    char text[GH_NAME_SIZE_MAX];
    char expected[GH_FOLDED_SIZE_MAX];
    for (size_t i = 0; i < sizeof(text); i += 2) memcpy(text + i, "Ⱥ", 2);
    for (size_t i = 0; i < sizeof(expected); i += 3) memcpy(expected + i, "ⱥ", 3);
    assert_folds(gh_fold_utf8, gh_str_make(text, sizeof(text)), gh_str_make(expected, sizeof(expected)));
}

static size_t fold_too_long(void* context, gh_str text, char* out)
{
    (void)context;
    (void)text;
    (void)out;
    return GH_FOLDED_SIZE_MAX + 1;
}

static void without_a_fold_text_stays(void** state)
{
    (void)state;
    assert_folds(NULL, gh_str_literal("Jeff"), gh_str_literal("Jeff"));
    assert_folds(NULL, gh_str_make(NULL, 0), gh_str_literal(""));
    assert_folds(fold_too_long, gh_str_literal("Jeff"), gh_str_literal("Jeff"));
}

TEST_FILE(fold, cmocka_unit_test(ascii_folds_letters_alone), cmocka_unit_test(utf8_folds_all_scripts_that_have_cases),
          cmocka_unit_test(what_is_not_utf8_stays), cmocka_unit_test(fold_of_a_fold_is_itself),
          cmocka_unit_test(longest_fold_fits), cmocka_unit_test(without_a_fold_text_stays));
