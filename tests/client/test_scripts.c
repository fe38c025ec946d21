/* Tests of how the library's scripts get to the server: each whole, as the build shows it to those who read errors. */

#include "client/encoded.h"
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
        if (!gh_script_encode_load(owner->client->nodes, script, GH_SLOT_LOAD, NULL))
            fail_msg("%s does not fit", names[i]);
        uint32_t slots = owner->client->slots_used;
        GAME_UNTIL(owner->client->slots_used < slots);
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

/* A packed text that is being put together, and what it stands for. */
typedef struct packing
{
    char bytes[4 * GH_SCRIPT_CODES];
    uint32_t bits;
    uint16_t count; /* codes and places */
    char wanted[64 * 1024];
    char* wanted_end;
} packing;

#define PLACE_BITS 15u

static packing* packing_new(void)
{
    packing* self = calloc(1, sizeof(*self));
    assert_non_null(self);
    self->wanted_end = self->wanted;
    return self;
}

static void put_bits(packing* to, uint32_t value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, to->bits++)
    {
        const unsigned bit = (value >> i & 1u) << to->bits % 8;
        to->bytes[to->bits / 8] = (char)((unsigned char)to->bytes[to->bits / 8] | bit);
    }
    assert_true(to->bits / 8 + 3 < sizeof(to->bytes));
}

static void put_number(packing* to, uint32_t number)
{
    static const uint32_t widths[] = {GH_SCRIPT_WIDTHS};
    uint32_t kind = 0;
    for (; number >= 1u << widths[kind]; kind++) number -= 1u << widths[kind];
    put_bits(to, kind, 3);
    put_bits(to, number, widths[kind]);
}

static void put_code(packing* to, uint32_t code)
{
    put_number(to, code + 1);
    to->count++;
    to->wanted_end = unpacked(code, to->wanted_end);
}

/* What the first count words behind a bit stand for is given, as only the test knows it. */
static void put_place(packing* to, uint32_t bit, uint32_t count, const char* from, size_t size)
{
    put_number(to, 0);
    put_bits(to, bit, PLACE_BITS);
    put_number(to, count - 1);
    to->count++;
    memcpy(to->wanted_end, from, size);
    to->wanted_end += size;
}

static void assert_unpacks(const packing* self)
{
    static char out[sizeof(self->wanted)];
    const gh_script_text text = {.packed = self->bytes, .count = self->count, .place_bits = PLACE_BITS};
    memset(out, 0, sizeof(out));
    assert_int_equal(gh_script_unpack(&text, out) - out, self->wanted_end - self->wanted);
    assert_memory_equal(out, self->wanted, (size_t)(self->wanted_end - self->wanted) + 1);
}

/* Each code alone, and all of them behind one another, are what they stand for. */
static void each_code_stands_for_two(void** state)
{
    (void)state;
    packing* all = packing_new();
    for (unsigned code = 0; code < GH_SCRIPT_CODES; code++)
    {
        packing* one = packing_new();
        put_code(one, code);
        put_code(all, code);
        assert_unpacks(one);
        free(one);
    }
    assert_unpacks(all);
    free(all);
}

/* What stands elsewhere comes from there: runs of any length, and runs that have places in them, eight deep. */
static void each_place_is_what_stands_there(void** state)
{
    (void)state;
    packing* self = packing_new();
    const uint32_t longest = GH_SCRIPT_CODES < 300 ? GH_SCRIPT_CODES : 300;
    put_code(self, 0); /* so that nothing begins at 0 */
    const uint32_t from = self->bits;
    for (unsigned code = 0; code < longest; code++) put_code(self, code);
    const char* first = self->wanted + (unpacked(0, self->wanted) - self->wanted);
    for (uint32_t count = 1; count <= longest; count += count < 70 ? 1 : 23)
    {
        static char words[sizeof(self->wanted)];
        char* end = words;
        for (unsigned code = 0; code < count; code++) end = unpacked(code, end);
        assert_memory_equal(first, words, (size_t)(end - words));
        put_place(self, from, count, words, (size_t)(end - words));
    }
    uint32_t bit = from;
    const char* text = first;
    size_t size = (size_t)(unpacked(0, self->wanted_end) - self->wanted_end);
    for (uint32_t deep = 0; deep < 8; deep++) /* a code, and what was said before */
    {
        const uint32_t next = self->bits;
        const char* begin = self->wanted_end;
        put_code(self, deep + 1);
        put_place(self, bit, deep > 0 ? 2 : 1, text, size);
        bit = next;
        text = begin;
        size = (size_t)(self->wanted_end - begin);
    }
    assert_unpacks(self);
    free(self);
}

/* What a debug build asserts of each request: whether it is as announced, with so many keys and arguments written. */
static bool is_as_announced(const gh_script_text* text, bool phantom, uint32_t keys, uint32_t arguments, uint32_t more)
{
    static const char digest[] = "0123456789012345678901234567890123456789";
    char bytes[2048];
    gh_script script = {.own = text};
    gh_request request = {.at = bytes, .end = bytes + sizeof(bytes), .phantom = phantom ? '-' : 0};
    gh_request_evalsha(&request, digest, keys, arguments);
    for (uint32_t i = 0; i < keys; i++) gh_request_key(&request, gh_str_literal("gh:{lock:a}:s"));
    for (uint32_t i = 0; i < arguments + more; i++) gh_request_str(&request, gh_str_literal("$1\r\n"));
    assert_false(request.full);
    return gh_encoded_as_announced(&script, &request, bytes);
}

static void request_has_what_it_announces_and_its_head_allows(void** state)
{
    (void)state;
    for (int phantom = 0; phantom <= 1; phantom++)
    {
        assert_true(is_as_announced(&gh_lock_acquire_lua, phantom, 3, 7, 0));
        assert_true(is_as_announced(&gh_lock_acquire_lua, phantom, 4, 8, 0));
        assert_false(is_as_announced(&gh_lock_acquire_lua, phantom, 2, 7, 0));
        assert_false(is_as_announced(&gh_lock_acquire_lua, phantom, 5, 7, 0));
        assert_false(is_as_announced(&gh_lock_acquire_lua, phantom, 3, 6, 0));
        assert_false(is_as_announced(&gh_lock_acquire_lua, phantom, 3, 9, 0));
        assert_false(is_as_announced(&gh_lock_acquire_lua, phantom, 3, 7, 1));
        assert_false(is_as_announced(&gh_lock_acquire_lua, phantom, 3, 8, UINT32_MAX)); /* one less */
        assert_true(is_as_announced(&gh_guild_join_lua, phantom, 2, 3, 0));
        assert_true(is_as_announced(&gh_guild_join_lua, phantom, 2, 3 + 6, 0));
        assert_false(is_as_announced(&gh_guild_join_lua, phantom, 2, 3 + 5, 0));
        assert_true(is_as_announced(NULL, phantom, 2, 5, 0)); /* a caller's own */
        assert_false(is_as_announced(NULL, phantom, 2, 5, 1));
    }
}

TEST_FILE(scripts, cmocka_unit_test(each_is_sent_as_the_build_shows_it), cmocka_unit_test(each_code_stands_for_two),
          cmocka_unit_test(each_place_is_what_stands_there),
          cmocka_unit_test(request_has_what_it_announces_and_its_head_allows));
