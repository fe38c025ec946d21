/* fuzz_fold.c -- folding of names, a character at a time, against the C library's idea of cases and of UTF-8. */

#include "fuzz.h"

#include "guildhall/fold.h"

#include <locale.h>
#include <wchar.h>
#include <wctype.h>

/* ---- UTF-8, by the table of well-formed sequences ---------------------------------------------------------------- */

static const struct
{
    uint8_t first[2];
    uint8_t second[2];
    size_t size;
} forms[] = {
    {{0xc2, 0xdf}, {0x80, 0xbf}, 2}, {{0xe0, 0xe0}, {0xa0, 0xbf}, 3}, {{0xe1, 0xec}, {0x80, 0xbf}, 3},
    {{0xed, 0xed}, {0x80, 0x9f}, 3}, {{0xee, 0xef}, {0x80, 0xbf}, 3}, {{0xf0, 0xf0}, {0x90, 0xbf}, 4},
    {{0xf1, 0xf3}, {0x80, 0xbf}, 4}, {{0xf4, 0xf4}, {0x80, 0x8f}, 4},
};

/* Bytes of the character that begins there; 1: ASCII, or none. */
static size_t size_of(gh_str text)
{
    const uint8_t* at = (const uint8_t*)text.bytes;
    for (size_t i = 0; i < FUZZ_COUNT(forms); i++)
    {
        const size_t size = forms[i].size;
        if (text.size < size || at[0] < forms[i].first[0] || at[0] > forms[i].first[1]) continue;
        if (at[1] < forms[i].second[0] || at[1] > forms[i].second[1]) continue;
        if (size > 2 && (at[2] & 0xc0) != 0x80) continue;
        if (size > 3 && (at[3] & 0xc0) != 0x80) continue;
        return size;
    }
    return 1;
}

static wint_t character_of(gh_str text)
{
    const uint8_t* at = (const uint8_t*)text.bytes;
    wint_t made = text.size == 1 ? at[0] : at[0] & (0x7fu >> text.size);
    for (size_t i = 1; i < text.size; i++) made = made << 6 | (at[i] & 0x3fu);
    return made;
}

/* ---- one character ----------------------------------------------------------------------------------------------- */

/* Those of which Unicode says that they fold to themselves, and the C library that they have a small letter. */
static bool stays_large(wint_t character)
{
    return character == 0x130 || (character >= 0x13a0 && character <= 0x13f5);
}

static void must_be_folded(gh_str from, gh_str to)
{
    const wint_t before = character_of(from), after = character_of(to);
    FUZZ_MUST(size_of(to) == to.size);
    if (before != after) FUZZ_MUST(towupper(before) == towupper(after) || towlower(before) == towlower(after));
    else if (!stays_large(before)) FUZZ_MUST(towlower(before) == before);
}

static void try_text(gh_str text)
{
    char out[GH_FOLDED_SIZE_MAX], again[GH_FOLDED_SIZE_MAX], one[GH_FOLDED_SIZE_MAX];
    const size_t size = gh_fold_utf8(NULL, text, out);
    size_t at = 0, written = 0;
    FUZZ_MUST(size <= GH_FOLDED_SIZE_MAX);
    while (at < text.size)
    {
        const size_t taken = size_of(gh_str_make(text.bytes + at, text.size - at));
        const gh_str unit = gh_str_make(text.bytes + at, taken);
        const size_t made = gh_fold_utf8(NULL, unit, one);
        if (taken > 1) must_be_folded(unit, gh_str_make(one, made));
        else
            FUZZ_MUST(made == 1 && (uint8_t)one[0] == ((uint8_t)*unit.bytes < 128 ? towlower((wint_t)*unit.bytes)
                                                                                  : (uint8_t)*unit.bytes));
        FUZZ_MUST(written + made <= size && memcmp(out + written, one, made) == 0);
        written += made;
        at += taken;
    }
    FUZZ_MUST(written == size);
    if (size <= GH_NAME_SIZE_MAX) /* what is folded is its own fold */
        FUZZ_MUST(gh_fold_utf8(NULL, gh_str_make(out, size), again) == size && memcmp(out, again, size) == 0);
}

static void try_ascii(gh_str text)
{
    char out[GH_FOLDED_SIZE_MAX];
    FUZZ_MUST(gh_fold_ascii(NULL, text, out) == text.size);
    for (size_t i = 0; i < text.size; i++)
    {
        const uint8_t byte = (uint8_t)text.bytes[i];
        FUZZ_MUST((uint8_t)out[i] == (byte < 128 ? towlower(byte) : byte));
    }
}

/* A hook that wants more than there is room for leaves the text as it is. */
static size_t too_much(void* context, gh_str text, char* out)
{
    (void)context;
    (void)out;
    return GH_FOLDED_SIZE_MAX + 1 + text.size;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static bool ready;
    char out[GH_FOLDED_SIZE_MAX];
    if (size > GH_NAME_SIZE_MAX) size = GH_NAME_SIZE_MAX;
    if (!ready) FUZZ_MUST(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
    ready = true;
    char* copy = fuzz_exact(data, size);
    const gh_str text = gh_str_make(copy, size);
    try_text(text);
    try_ascii(text);
    FUZZ_MUST(gh_fold_apply(too_much, NULL, text, out) == size && (size == 0 || memcmp(out, copy, size) == 0));
    fuzz_unpoison(copy, 1);
    free(copy);
    return 0;
}
