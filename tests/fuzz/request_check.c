/* request_check.c -- counts and keys of scripts, and the words of commands. */

#include "request_check.h"

#include <xxhash.h>

#define EXPECTED_MAX 256

static uint64_t expected[EXPECTED_MAX]; /* a hash of the words of each */
static size_t expected_count;

static uint64_t hash_of(const gh_str* words, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) hash = XXH3_64bits_withSeed(words[i].bytes, words[i].size, hash);
    return hash;
}

void request_expect(const gh_str* words, size_t count)
{
    if (expected_count < EXPECTED_MAX) expected[expected_count++] = hash_of(words, count);
}

void request_forget_all(void)
{
    expected_count = 0;
}

static bool is_expected(const gh_str* words, size_t count)
{
    const uint64_t hash = hash_of(words, count);
    for (size_t i = 0; i < expected_count; i++)
        if (expected[i] == hash) return true;
    return expected_count == EXPECTED_MAX;
}

/* So many at least, so many that may be left out, any number behind them. */
static bool is_count_of(gh_script_items items, size_t count)
{
    for (size_t more = 0; more <= items.more; more++)
    {
        if (count < items.least + more) return false;
        const size_t rest = count - items.least - more;
        if (rest == 0 || (items.each > 0 && rest % items.each == 0)) return true;
    }
    return false;
}

/* What lies between the first '{' and the next '}': all keys of a script that have it lie in one slot. */
static gh_str tag_of(gh_str key)
{
    const char* open = memchr(key.bytes, '{', key.size);
    const char* close = open == NULL ? NULL : memchr(open, '}', (size_t)(key.bytes + key.size - open));
    if (close == NULL || close == open + 1) return key;
    return gh_str_make(open + 1, (size_t)(close - open) - 1);
}

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != 0 && strchr("_.-%:{}+", c) != NULL);
}

static void check_key(gh_str key, gh_str prefix)
{
    FUZZ_MUST(key.size > prefix.size && memcmp(key.bytes, prefix.bytes, prefix.size) == 0);
    FUZZ_MUST(key.bytes[prefix.size] == ':');
    for (size_t i = 0; i < key.size; i++) FUZZ_MUST(is_plain(key.bytes[i]));
}

static void check_keys(const world_request* request)
{
    const gh_str* keys = request->words + 3;
    gh_str tag = {NULL, 0};
    for (size_t i = 0; i < request->keys; i++)
    {
        check_key(keys[i], gh_str_literal("gh"));
        if (resp_is(keys[i], "gh:epoch")) continue; /* apart, and only where there is one server */
        if (tag.size == 0) tag = tag_of(keys[i]);
        FUZZ_MUST(gh_str_equal(tag, tag_of(keys[i])));
    }
}

/* On a Cluster, one key more: that which never exists. */
static size_t keys_without_phantom(const world_request* request)
{
    if (request->keys == 0) return 0;
    const gh_str last = request->words[2 + request->keys];
    const bool phantom = last.size > 2 && memcmp(last.bytes + last.size - 2, ":-", 2) == 0;
    return request->keys - (phantom ? 1 : 0);
}

static bool is_own(gh_str name)
{
    static const char* const own[] = {"AUTH",      "SELECT",      "CLIENT", "INFO",   "SCRIPT",  "PUBLISH",  "PING",
                                      "SUBSCRIBE", "UNSUBSCRIBE", "WAIT",   "ASKING", "CLUSTER", "SENTINEL", "ROLE",
                                      "EVALSHA",   "ZRANGE",      "HGET",   "ZCARD",  "ZMSCORE", "TIME"};
    for (size_t i = 0; i < FUZZ_COUNT(own); i++)
        if (resp_is(name, own[i])) return true;
    return false;
}

void request_check(const world* self, const world_request* request)
{
    if (request->script != NULL && !self->confuses && request->script != &gh_command_lua &&
        request->script != &gh_fenced_lua && request->script != &gh_command_once_lua)
    {
        const size_t arguments = request->count - 3 - request->keys;
        FUZZ_MUST(is_count_of(request->script->keys, keys_without_phantom(request)) ||
                  is_count_of(request->script->keys, request->keys));
        FUZZ_MUST(is_count_of(request->script->arguments, arguments));
        check_keys(request);
        FUZZ_MUST(request->sequence > 0 || request->script->shape == NULL ||
                  strchr(request->script->shape, 'q') == NULL);
    }
    if (self->checks_words && !is_own(request->words[0]) && !is_expected(request->words, request->count))
        FUZZ_FAIL("nobody asked for %.*s of %zu words", GH_STR_ARG(request->words[0]), request->count);
}
