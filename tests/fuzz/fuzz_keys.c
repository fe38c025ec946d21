/* fuzz_keys.c -- stored keys that anybody has written to: ops of every system over a store in this process, with the
   scripts as they are shipped, and garbage in the keys between them.

   A script that finds it says so, with an error that names it, or goes on as if it were not there: it never fails in
   its own middle, never answers what its head does not say, and does not work without end. */

#include "lua_lines.h"
#include "play.h"
#include "hostile.h"
#include "scripts_known.h"

#define LINES_MAX  20000u /* of one script; the longest that is right takes some thousand */
#define KEYS_DRAWN 64u

static gh_store_engine* engine;
static gh_store* store;
static gh_store_link* links[WORLD_STREAMS];

/* ---- the peer ---------------------------------------------------------------------------------------------------- */

static void start(world* of)
{
    gh_store_config config = gh_store_config_default();
    (void)of;
    if (engine == NULL)
    {
        engine = gh_store_engine_new();
        lua_lines_watch(engine);
    }
    config.engine = engine;
    config.seed = 1;
    store = gh_store_new(&config);
    memset(links, 0, sizeof(links));
}

static void end(world* of)
{
    (void)of;
    for (int i = 0; i < WORLD_STREAMS; i++)
        if (links[i] != NULL) gh_store_disconnect(links[i]);
    gh_store_free(store);
}

/* A new stream is a new link. */
static gh_store_link* link_of(world* of, const world_stream* stream)
{
    const size_t i = (size_t)(stream - of->streams);
    if (links[i] != NULL && gh_store_link_data(links[i]) != (void*)(uintptr_t)(stream->opened + 1))
    {
        gh_store_disconnect(links[i]);
        links[i] = NULL;
    }
    if (links[i] == NULL)
    {
        links[i] = gh_store_connect(store);
        gh_store_link_set_data(links[i], (void*)(uintptr_t)(stream->opened + 1));
    }
    return links[i];
}

static size_t take(gh_store_link* link, resp_text* reply)
{
    char bytes[4096];
    size_t sum = 0;
    for (size_t size = gh_store_take(link, bytes, sizeof(bytes)); size > 0;
         size = gh_store_take(link, bytes, sizeof(bytes)))
    {
        resp_put(reply, bytes, size);
        sum += size;
    }
    return sum;
}

/* What others have published for it. */
static void take_pushes(world* of, const world_stream* but)
{
    for (int i = 0; i < WORLD_STREAMS; i++)
    {
        world_stream* stream = &of->streams[i];
        if (links[i] == NULL || !stream->open || stream == but || gh_store_waiting(links[i]) == 0) continue;
        resp_text text = world_reply_of(stream);
        take(links[i], &text);
        world_said(stream, &text);
    }
}

/* An error of a script of the library: one that it says itself, or that a server says before or instead of it. */
static bool is_good_error(gh_str error)
{
    static const char* const words[] = {"-CORRUPT ", "-WRONGTYPE ", "-STALE ", "-LAYOUT ",
                                        "-FENCED ",  "-NOSCRIPT ",  "-OOM "};
    for (size_t i = 0; i < FUZZ_COUNT(words); i++)
        if (error.size > strlen(words[i]) && memcmp(error.bytes, words[i], strlen(words[i])) == 0) return true;
    return false;
}

static void judge(const world_request* request, gh_str reply)
{
    if (request->script == NULL || request->script == &gh_command_lua || request->script == &gh_fenced_lua ||
        request->once || reply.size == 0)
        return;
    if (reply.bytes[0] == '-' && !is_good_error(reply))
        FUZZ_FAIL("script %u: %.*s", request->script->id, GH_STR_ARG(reply));
    if (reply.bytes[0] != '-') FUZZ_MUST(lua_lines_count() > 0); /* else nobody looks at what it runs */
    if (lua_lines_count() > LINES_MAX)
        FUZZ_FAIL("script %u runs %llu lines", request->script->id, (unsigned long long)lua_lines_count());
}

static bool answer(world* of, const world_request* request, resp_text* reply)
{
    gh_store_link* link = link_of(of, request->stream);
    const size_t before = reply->size;
    gh_store_set_time(store, world_store_us(of));
    lua_lines_begin(request->script == NULL ? 1000 : request->script->id);
    gh_store_feed(link, request->bytes.bytes, request->bytes.size);
    take(link, reply);
    const gh_str said = gh_str_make(reply->bytes + before, reply->size - before);
    judge(request, said);
    if (resp_is(request->words[0], "SCRIPT") && request->count == 3 && said.size > 0 && said.bytes[0] == '$')
    {
        FUZZ_MUST(said.size == sizeof("$40\r\n\r\n") - 1 + SCRIPTS_DIGEST_SIZE);
        scripts_alias(request->words[2], gh_str_make(said.bytes + 5, SCRIPTS_DIGEST_SIZE));
    }
    if (resp_is(request->words[0], "SUBSCRIBE")) request->stream->subscribed = true;
    if (gh_store_is_closed(link)) request->stream->ended = true;
    take_pushes(of, request->stream);
    return true;
}

/* ---- garbage ----------------------------------------------------------------------------------------------------- */

typedef struct choice
{
    uint32_t left;
    gh_str key;
} choice;

static bool take_key(void* context, uint32_t database, gh_str key)
{
    choice* of = context;
    (void)database;
    of->key = key;
    return of->left-- > 0;
}

/* A key that is there, as a copy. */
static gh_str draw_key(fuzz_input* input, char bytes[512])
{
    choice of = {fuzz_below(input, KEYS_DRAWN), {NULL, 0}};
    const size_t count = gh_store_key_count(store);
    if (count > 0) of.left %= (uint32_t)count;
    gh_store_each_key(store, take_key, &of);
    FUZZ_MUST(of.key.size <= 512);
    if (of.key.size > 0) memcpy(bytes, of.key.bytes, of.key.size);
    return gh_str_make(bytes, of.key.size);
}

/* The n-th string of a reply that is an array of strings; else the text itself. */
static gh_str draw_of(const char* command, gh_str key, fuzz_input* input, char bytes[HOSTILE_TEXT_MAX],
                      gh_str otherwise)
{
    const gh_str words[] = {gh_str_of(command), key, GH_STR_INIT("0"), GH_STR_INIT("-1")};
    const gh_str reply = gh_store_ask(store, words, strcmp(command, "HKEYS") == 0 ? 2 : 4);
    uint32_t left = fuzz_below(input, 16);
    const char *at = reply.bytes, *stop = reply.bytes + reply.size;
    if (reply.size == 0 || *at != '*' || at[1] == '0' || fuzz_byte(input) > 224) return otherwise;
    for (at = memchr(at, '$', reply.size); at != NULL; at = memchr(at, '$', (size_t)(stop - at)))
    {
        const size_t size = strtoul(at + 1, NULL, 10);
        const char* text = (const char*)memchr(at, '\n', (size_t)(stop - at)) + 1;
        at = text + size + 2;
        if (left-- > 0 && at < stop) continue;
        if (size > HOSTILE_TEXT_MAX) return otherwise;
        memcpy(bytes, text, size);
        return gh_str_make(bytes, size);
    }
    return otherwise;
}

/* The text with something about it changed, or another. */
static gh_str draw_change(const world* of, fuzz_input* input, gh_str text, char bytes[HOSTILE_TEXT_MAX])
{
    const uint8_t how = fuzz_byte(input);
    if (how < 96 || text.size == 0) return hostile_text(of, input, bytes);
    memmove(bytes, text.bytes, text.size);
    if (how < 160) bytes[fuzz_below(input, (uint32_t)text.size)] = (char)fuzz_byte(input);
    else if (how < 200) text.size = fuzz_below(input, (uint32_t)text.size);
    else if (text.size < HOSTILE_TEXT_MAX) bytes[text.size++] = (char)fuzz_byte(input);
    return gh_str_make(bytes, text.size);
}

static gh_str draw_score(fuzz_input* input)
{
    static const char* const scores[] = {
        "0", "-1", "inf", "-inf", "1e300", "9007199254740993", "0.5", "1700000000000000"};
    return gh_str_of(scores[fuzz_below(input, FUZZ_COUNT(scores))]);
}

static void harm(world* of, fuzz_input* input)
{
    static char key_bytes[512], field_bytes[HOSTILE_TEXT_MAX], value_bytes[HOSTILE_TEXT_MAX],
        other_bytes[HOSTILE_TEXT_MAX];
    const gh_str key = draw_key(input, key_bytes), any = hostile_text(of, input, other_bytes);
    const gh_str del[] = {GH_STR_INIT("DEL"), key};
    gh_str words[4] = {GH_STR_INIT("SET"), key, any, {NULL, 0}};
    size_t count = 3;
    if (key.size == 0) return;
    const uint8_t how = fuzz_byte(input);
    if (how > 224) gh_store_ask(store, del, 2);
    switch (how % 8)
    {
    case 0: break;
    case 1: words[0] = gh_str_literal("RPUSH"); break;
    case 2:
        words[0] = gh_str_literal("ZADD");
        words[2] = draw_score(input);
        words[3] = draw_of("ZRANGE", key, input, field_bytes, any);
        count = 4;
        break;
    case 3:
        words[0] = gh_str_literal("ZREM");
        words[2] = draw_of("ZRANGE", key, input, field_bytes, any);
        break;
    case 4:
        words[0] = gh_str_literal("HDEL");
        words[2] = draw_of("HKEYS", key, input, field_bytes, any);
        break;
    case 5:
        words[0] = gh_str_literal("LSET");
        words[2] = gh_str_literal("0");
        words[3] = draw_change(of, input, draw_of("LRANGE", key, input, field_bytes, any), value_bytes);
        count = 4;
        break;
    default:
    {
        words[0] = gh_str_literal("HSET");
        words[2] = draw_of("HKEYS", key, input, field_bytes, any);
        const gh_str get[] = {GH_STR_INIT("HGET"), key, words[2]};
        gh_str old = gh_store_ask(store, get, 3);
        const char* line = old.size > 0 && old.bytes[0] == '$' ? memchr(old.bytes, '\n', old.size) : NULL;
        old = line == NULL || old.size > HOSTILE_TEXT_MAX
                  ? any
                  : gh_str_make(line + 1, old.size - (size_t)(line + 1 - old.bytes));
        if (old.size >= 2 && line != NULL) old.size -= 2;
        words[3] = draw_change(of, input, old, value_bytes);
        count = 4;
        break;
    }
    }
    gh_store_set_time(store, world_store_us(of));
    gh_store_ask(store, words, count);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const play_rules rules = {.peer = PLAY_STORE,
                                     .checks_words = true,
                                     .starts_ready = true,
                                     .start = start,
                                     .answer = answer,
                                     .harm = harm,
                                     .end = end};
    play(&rules, data, size);
    return 0;
}
