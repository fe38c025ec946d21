/* Tests of how the library's scripts get to the server: each whole, as the build shows it to those who read errors. */

#include "client/state.h"
#include "support/scene/game.h"
#include "support/scene/page.h"
#include "support/server/redis_server.h"
#include "support/sha1.h"
#include "support/source_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_BYTES (16u * 1024u) /* of out_bytes and reply_bytes */

#if defined(GH_READABLE_SCRIPTS)
#define FOLDER "readable"
#else
#define FOLDER "least"
#endif

#define SCRIPT_NAME(name) #name,
static const char* const names[] = {GH_SCRIPT_LIST(SCRIPT_NAME)};

#define SCRIPT_TEXT(name) &gh_##name##_lua,
static const gh_script_text* const texts[] = {GH_SCRIPT_LIST(SCRIPT_TEXT)};

/* What the build says that is sent; free it. */
static char* shown(const char* name)
{
    char relative[128];
    char path[SOURCE_TREE_PATH_SIZE];
    snprintf(relative, sizeof(relative), "build/generated/scripts/" FOLDER "/%s.lua", name);
    if (!source_tree_path(path, relative)) fail_msg("there is no %s", relative);
    return page_read_file(path);
}

/* The digest of a text that has another one in front, "" for none. */
static void digest_of(const char* front, const char* text, char digest[41])
{
    char* both = malloc(strlen(front) + strlen(text) + 1);
    assert_non_null(both);
    sprintf(both, "%s%s", front, text);
    sha1_hex(both, strlen(both), digest);
    free(both);
}

static bool is_there(redis_server* server, const char* digest)
{
    redisReply* reply = redis_server_command(server, "SCRIPT EXISTS %s", digest);
    bool there = reply->element[0]->integer == 1;
    freeReplyObject(reply);
    return there;
}

/* The client with the least memory loads each of them, in one piece. */
static void each_is_sent_as_the_build_shows_it(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.out_bytes = config.reply_bytes = LEAST_BYTES;
    game* owner = game_start_with(&config);
    char* fenced = shown("fenced");
    GAME_UNTIL(gh_client_ready(owner->client));
    for (size_t i = 0; i < GH_SCRIPT_COUNT; i++)
    {
        char digest[41];
        char* text = shown(names[i]);
        gh_script* script = gh_client_script(owner->client, texts[i]);
        script->front = i == GH_SCRIPT_command ? &gh_fenced_lua : NULL;
        digest_of(script->front == NULL ? "" : fenced, text, digest);
        free(text);
        if (!gh_script_encode_load(owner->client, script, GH_SLOT_LOAD, NULL)) fail_msg("%s does not fit", names[i]);
        uint32_t slots = owner->client->slot_count;
        GAME_UNTIL(owner->client->slot_count < slots);
        if (!is_there(server, digest)) fail_msg("%s is sent as another text", names[i]);
    }
    free(fenced);
}

/* As script_text.h says it, one code after the other. */
static char* unpacked(unsigned code, char* out)
{
    const unsigned char* bits = gh_script_codes[code];
    const unsigned bits_of_both = bits[0] + 256u * bits[1] + 65536u * bits[2];
    const unsigned left = bits_of_both % 4096, right = bits_of_both / 4096;
    if (right != GH_SCRIPT_BYTE) return unpacked(right, unpacked(left, out));
    *out++ = (char)left;
    return out;
}

/* A packed text that is being put together. */
typedef struct halves
{
    char bytes[2 * GH_SCRIPT_CODES];
    uint32_t count;
} halves;

static void halves_add(halves* to, unsigned half)
{
    if (to->count % 2 == 0) to->bytes[to->count / 2] = 0;
    to->bytes[to->count / 2] = (char)((unsigned char)to->bytes[to->count / 2] | half << to->count % 2 * 4);
    to->count++;
}

static void halves_add_code(halves* to, unsigned code)
{
    if (code >= 208)
    {
        halves_add(to, 13 + (code - 208) / 256);
        code = (code - 208) % 256;
    }
    halves_add(to, code / 16);
    halves_add(to, code % 16);
}

/* Each code alone, and all of them behind one another, are what they stand for. */
static void each_code_stands_for_two(void** state)
{
    (void)state;
    static halves all;
    static char wanted[64 * 1024];
    static char out[sizeof(wanted)];
    char* end = wanted;
    all.count = 0;
    for (unsigned code = 0; code < GH_SCRIPT_CODES; code++)
    {
        char* from = end;
        halves one = {.count = 0};
        halves_add_code(&one, code);
        halves_add_code(&all, code);
        end = unpacked(code, end);
        gh_script_text text = {.packed = one.bytes, .halves = one.count};
        memset(out, 0, sizeof(out));
        assert_int_equal(gh_script_unpack(&text, out) - out, end - from);
        assert_memory_equal(out, from, (size_t)(end - from) + 1);
    }
    gh_script_text text = {.packed = all.bytes, .halves = all.count};
    assert_int_equal(gh_script_unpack(&text, out) - out, end - wanted);
    assert_memory_equal(out, wanted, (size_t)(end - wanted));
}

TEST_FILE(scripts, cmocka_unit_test(each_is_sent_as_the_build_shows_it), cmocka_unit_test(each_code_stands_for_two));
