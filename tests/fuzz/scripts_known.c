/* scripts_known.c -- digests are a hash of the text, and the library's texts are known from the start. */

#include "scripts_known.h"

#include "fuzz.h"

#include <stdio.h>
#include <xxhash.h>

#define ONCE_MARK "O" /* a digest of a caller's text that command_once stands behind begins so */

static const gh_script_text* const texts[] = {
#define SCRIPT_TEXT(name) &gh_##name##_lua,
    GH_SCRIPT_LIST(SCRIPT_TEXT)
#undef SCRIPT_TEXT
};

static char digests[FUZZ_COUNT(texts)][SCRIPTS_DIGEST_SIZE];
static gh_str once_text;

static uint64_t hash_of(gh_str text)
{
    return XXH3_64bits(text.bytes, text.size);
}

static void print_digest(char digest[SCRIPTS_DIGEST_SIZE], const char* mark, uint64_t hash)
{
    char text[SCRIPTS_DIGEST_SIZE + 1];
    snprintf(text, sizeof(text), "%s%039llx", mark, (unsigned long long)hash);
    memcpy(digest, text, SCRIPTS_DIGEST_SIZE);
}

/* The texts are constants, and a client unpacks one for each link. */
char* gh_script_unpack(const gh_script_text* text, char* out)
{
    static char* unpacked[GH_SCRIPT_COUNT];
    FUZZ_MUST(text->id < GH_SCRIPT_COUNT);
    if (unpacked[text->id] == NULL)
    {
        char* made = fuzz_block(text->size);
        FUZZ_MUST(scripts_unpack(text, made) == made + text->size);
        unpacked[text->id] = made;
    }
    memcpy(out, unpacked[text->id], text->size);
    return out + text->size;
}

static void know_all(void)
{
    if (once_text.size > 0) return;
    for (size_t i = 0; i < FUZZ_COUNT(texts); i++)
    {
        char* text = fuzz_block(texts[i]->size);
        FUZZ_MUST(gh_script_unpack(texts[i], text) == text + texts[i]->size);
        print_digest(digests[i], "0", hash_of(gh_str_make(text, texts[i]->size)));
        if (texts[i] == &gh_command_once_lua) once_text = gh_str_make(text, texts[i]->size);
        else free(text);
    }
}

static bool ends_with(gh_str text, gh_str end)
{
    return text.size >= end.size && memcmp(text.bytes + text.size - end.size, end.bytes, end.size) == 0;
}

void scripts_note(gh_str text, char digest[SCRIPTS_DIGEST_SIZE])
{
    know_all();
    print_digest(digest, ends_with(text, once_text) ? ONCE_MARK : "0", hash_of(text));
}

static bool is_digest(const char of[SCRIPTS_DIGEST_SIZE], gh_str digest)
{
    const size_t last = SCRIPTS_DIGEST_SIZE - 1; /* which differs as a rule */
    return of[last] == digest.bytes[last] && memcmp(of, digest.bytes, SCRIPTS_DIGEST_SIZE) == 0;
}

/* That of a server, or zeros as long as nobody has asked one. */
static char aliases[FUZZ_COUNT(texts)][SCRIPTS_DIGEST_SIZE];

void scripts_alias(gh_str text, gh_str digest)
{
    char of[SCRIPTS_DIGEST_SIZE];
    FUZZ_MUST(digest.size == SCRIPTS_DIGEST_SIZE);
    scripts_note(text, of);
    for (size_t i = 0; i < FUZZ_COUNT(texts); i++)
        if (is_digest(digests[i], gh_str_make(of, sizeof(of)))) memcpy(aliases[i], digest.bytes, sizeof(of));
}

const gh_script_text* scripts_find(gh_str digest, bool* once)
{
    know_all();
    *once = digest.bytes[0] == ONCE_MARK[0];
    for (size_t i = 0; i < FUZZ_COUNT(texts); i++)
        if (is_digest(digests[i], digest) || is_digest(aliases[i], digest)) return texts[i];
    return NULL;
}
