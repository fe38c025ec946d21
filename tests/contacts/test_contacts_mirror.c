/* Tests of the mirror of guildhall/contacts.h: completion without any network. The mirror is filled by loads and
   changes, so a server is there; what is tested is the memory. */

#include "support/scene/game.h"
#include "support/faults/heap.h"
#include "support/random.h"
#include "support/server/redis_server.h"
#include "support/scene/social.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWNER gh_str_literal("jason")

static gh_contacts* mirror_new(game* owner, uint32_t capacity, gh_fold fold)
{
    gh_contacts_config config = gh_contacts_config_default();
    config.capacity = capacity;
    config.fold = fold;
    return mirrored_contacts(owner, OWNER, &config);
}

static void touch(game* from, gh_contacts* mirror, gh_str name)
{
    gh_contacts_change* change = GAME_NEW(from, gh_contacts_change);
    assert_status(gh_contacts_touch_begin(change, mirror, name), GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    assert_status(gh_op_poll(&change->op), GH_OK);
}

static void remove_contact(game* from, gh_contacts* mirror, gh_str name)
{
    gh_contacts_change* change = GAME_NEW(from, gh_contacts_change);
    assert_status(gh_contacts_remove_begin(change, mirror, name), GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    assert_status(gh_op_poll(&change->op), GH_OK);
}

/* The names that it completes, with blanks between them. */
static const char* completed(const gh_contacts* mirror, gh_str prefix, uint32_t limit)
{
    static char text[4096];
    gh_contact found[64];
    uint32_t count = gh_contacts_complete(mirror, prefix, found, limit);
    size_t size = 0;
    assert_true(count <= limit && limit <= 64);
    text[0] = 0;
    for (uint32_t i = 0; i < count; i++)
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%.*s", i == 0 ? "" : " ", (int)found[i].name.size,
                                 found[i].name.bytes);
    return text;
}

#define assert_completes(mirror, prefix, names) assert_string_equal(completed((mirror), gh_str_of(prefix), 64), (names))

/* ---- completion ------------------------------------------------------------------------------------------------- */

static void newest_first_and_folded(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts* mirror = mirror_new(a, 100, gh_fold_ascii);
    assert_completes(mirror, "", "");
    const char* names[] = {"jeff", "Jenny", "JACK", "jennifer", "_x{", "42"};
    for (size_t i = 0; i < 6; i++) touch(a, mirror, gh_str_of(names[i]));
    assert_completes(mirror, "", "42 _x{ jennifer JACK Jenny jeff");
    assert_completes(mirror, "je", "jennifer Jenny jeff");
    assert_completes(mirror, "JEN", "jennifer Jenny");
    assert_completes(mirror, "ja", "JACK");
    assert_completes(mirror, "_X", "_x{");
    assert_completes(mirror, "4", "42");
    assert_completes(mirror, "jennifers", "");
    assert_completes(mirror, "z", "");
    assert_string_equal(completed(mirror, gh_str_literal("j"), 2), "jennifer JACK");
    assert_string_equal(completed(mirror, gh_str_literal("j"), 0), "");
    touch(a, mirror, gh_str_literal("jeff"));
    assert_completes(mirror, "je", "jeff jennifer Jenny");
    touch(a, mirror, gh_str_literal("Jeff")); /* folds alike, and is another player */
    assert_completes(mirror, "je", "Jeff jeff jennifer Jenny");
    remove_contact(a, mirror, gh_str_literal("jeff"));
    remove_contact(a, mirror, gh_str_literal("nobody"));
    assert_completes(mirror, "je", "Jeff jennifer Jenny");
}

static void fold_is_a_hook(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts* folded = mirror_new(a, 10, gh_fold_utf8);
    gh_contacts* exact = mirror_new(a, 10, NULL);
    gh_contacts* both[] = {folded, exact};
    for (int i = 0; i < 2; i++)
    {
        touch(a, both[i], gh_str_literal("Ärger"));
        touch(a, both[i], gh_str_literal("ärmel"));
        touch(a, both[i], gh_str_literal("Жанна"));
    }
    assert_completes(folded, "äR", "ärmel Ärger");
    assert_completes(folded, "ЖАН", "Жанна");
    assert_completes(exact, "Ä", "Ärger");
    assert_completes(exact, "ä", "ärmel");
    assert_completes(exact, "\xc3", "ärmel Ärger"); /* half a character */
    assert_completes(folded, "\xc3", "ärmel Ärger");
}

static void any_byte_may_be_in_a_prefix(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts* mirror = mirror_new(a, 600, gh_fold_ascii);
    gh_contact found[4];
    for (int i = 0; i < 256; i++)
    {
        char name[3] = {(char)i, (char)0xff, 0};
        touch(a, mirror, gh_str_make(name, 1 + (size_t)(i % 3)));
    }
    for (int i = 0; i < 256; i++)
    {
        char name[3] = {(char)i, (char)0xff, 0};
        bool letter = (i >= 'A' && i <= 'Z') || (i >= 'a' && i <= 'z');
        for (size_t size = 1; size <= 3; size++)
        {
            uint32_t count = gh_contacts_complete(mirror, gh_str_make(name, size), found, 4);
            int other = letter ? i ^ 32 : i;
            uint32_t expected = (uint32_t)(1 + i % 3 >= (int)size) + (uint32_t)(letter && 1 + other % 3 >= (int)size);
            assert_int_equal(count, expected);
        }
    }
}

/* Longer than what is compared as one number, and longer than the folded bytes that are kept. */
static void long_names_are_compared_to_the_end(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts* mirror = mirror_new(a, 10, gh_fold_utf8);
    char one[GH_NAME_SIZE_MAX];
    char two[GH_NAME_SIZE_MAX];
    gh_contact found[4];
    for (size_t i = 0; i < sizeof(one); i += 2) memcpy(one + i, "Ⱥ", 2); /* folds to 96 bytes */
    memcpy(two, one, sizeof(two));
    memcpy(two + 62, "ab", 2);
    touch(a, mirror, gh_str_make(one, sizeof(one)));
    touch(a, mirror, gh_str_make(two, sizeof(two)));
    assert_int_equal(gh_contacts_complete(mirror, gh_str_make(one, 62), found, 4), 2);
    assert_int_equal(gh_contacts_complete(mirror, gh_str_make(one, 64), found, 4), 1);
    assert_memory_equal(found[0].name.bytes, one, 64);
    assert_int_equal(gh_contacts_complete(mirror, gh_str_make(two, 63), found, 4), 1);
    assert_memory_equal(found[0].name.bytes, two, 64);
    touch(a, mirror, gh_str_literal("player_00017"));
    touch(a, mirror, gh_str_literal("player_00018"));
    assert_completes(mirror, "PLAYER_0001", "player_00018 player_00017");
    assert_completes(mirror, "player_00017", "player_00017");
    assert_completes(mirror, "player_000170", "");
    char longer[GH_NAME_SIZE_MAX + 1] = {0};
    assert_int_equal(gh_contacts_complete(mirror, gh_str_make(longer, sizeof(longer)), found, 4), 0);
}

/* ---- against a plain model --------------------------------------------------------------------------------------- */

#define MODEL_CAPACITY 7

typedef struct model
{
    char names[MODEL_CAPACITY][8];
    uint32_t count;
} model;

static void model_remove(model* self, const char* name)
{
    for (uint32_t i = 0; i < self->count; i++)
    {
        if (strcmp(self->names[i], name) != 0) continue;
        self->count--;
        memmove(self->names[i], self->names[i + 1], (self->count - i) * sizeof(self->names[0]));
        return;
    }
}

static void model_touch(model* self, const char* name)
{
    model_remove(self, name);
    if (self->count == MODEL_CAPACITY) self->count--;
    memmove(self->names[1], self->names[0], self->count * sizeof(self->names[0]));
    snprintf(self->names[0], sizeof(self->names[0]), "%s", name);
    self->count++;
}

static void follows_a_plain_model(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts* mirror = mirror_new(a, MODEL_CAPACITY, NULL);
    model expected;
    random_stream random = random_for_test("touches");
    memset(&expected, 0, sizeof(expected));
    for (int i = 0; i < 1500; i++)
    {
        char name[8];
        gh_contact found[MODEL_CAPACITY];
        snprintf(name, sizeof(name), "%c%u", "abc"[random_below(&random, 3)], (unsigned)random_below(&random, 5));
        if (random_below(&random, 4) == 0)
        {
            remove_contact(a, mirror, gh_str_of(name));
            model_remove(&expected, name);
        }
        else
        {
            touch(a, mirror, gh_str_of(name));
            model_touch(&expected, name);
        }
        assert_int_equal(gh_contacts_complete(mirror, gh_str_literal(""), found, MODEL_CAPACITY), expected.count);
        for (uint32_t at = 0; at < expected.count; at++)
            assert_true(gh_str_equal(found[at].name, gh_str_of(expected.names[at])));
    }
}

/* ---- memory and bad input ---------------------------------------------------------------------------------------- */

static void completing_asks_nobody(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_contacts* mirror = mirror_new(a, 100, gh_fold_ascii);
    gh_contact found[10];
    for (int i = 0; i < 100; i++)
    {
        char name[16];
        touch(a, mirror, gh_str_make(name, (size_t)snprintf(name, sizeof(name), "player%d", i)));
    }
    gh_client_stats before = game_stats(a);
    heap_watch_begin();
    for (int i = 0; i < 1000; i++)
        assert_int_equal(gh_contacts_complete(mirror, gh_str_literal("play"), found, 10), 10);
    heap_counts counts = heap_watch_end();
    assert_true(heap_watch_works());
    assert_int_equal(counts.total, 0);
    game_tick(a);
    assert_int_equal(game_stats(a).requests, before.requests);
}

/* What it says stands in test_contacts_object.c; this is its memory. */
static void init_needs_all_of_its_memory(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts_config config = gh_contacts_config_default();
    gh_contacts mirror;
    gh_contact found[1];
    assert_int_equal(config.capacity, 100);
    size_t size = gh_contacts_memory(&config);
    char* memory = game_new(a, size + 8);
    assert_int_equal(gh_contacts_memory(NULL), size);
    assert_in_range(size, 100 * 140, 100 * 170);
    memset(&mirror, 0, sizeof(mirror));
    assert_int_equal(gh_contacts_complete(&mirror, gh_str_literal(""), found, 1), 0);
    assert_int_equal(gh_contacts_complete(NULL, gh_str_literal(""), found, 1), 0);
    assert_status(gh_contacts_init(&mirror, a->client, OWNER, &config, NULL, size), GH_INVALID_MEMORY);
    for (size_t less = 0; less < size; less++)
        assert_status(gh_contacts_init(&mirror, a->client, OWNER, &config, memory, less), GH_INVALID_MEMORY);
    for (size_t off = 1; off < 8; off++)
        assert_status(gh_contacts_init(&mirror, a->client, OWNER, &config, memory + off, size), GH_INVALID_MEMORY);
    assert_int_equal(gh_contacts_complete(&mirror, gh_str_literal(""), found, 1), 0);
    config.struct_size = 0;
    assert_int_equal(gh_contacts_memory(&config), 0);
    config = gh_contacts_config_default();
    const uint32_t capacities[] = {0, GH_CONTACTS_CAPACITY_MAX + 1, UINT32_MAX};
    for (int i = 0; i < 3; i++)
    {
        config.capacity = capacities[i];
        assert_int_equal(gh_contacts_memory(&config), 0);
    }
    mirror.user = &config;
    assert_status(gh_contacts_init(&mirror, a->client, OWNER, NULL, memory, size), GH_OK);
    assert_ptr_equal(mirror.user, &config);
    assert_int_equal(gh_contacts_complete(&mirror, gh_str_make(NULL, 3), found, 1), 0);
    assert_int_equal(gh_contacts_complete(&mirror, gh_str_literal(""), NULL, 1), 0);
    assert_int_equal(gh_contacts_complete(&mirror, gh_str_literal(""), found, UINT32_MAX), 0);
    touch(a, &mirror, gh_str_literal("mia"));
    assert_int_equal(mirror.count, 1);
    assert_status(gh_contacts_init(&mirror, a->client, OWNER, NULL, NULL, 0), GH_OK);
    assert_int_equal(mirror.count, 0);
    assert_int_equal(gh_contacts_complete(&mirror, gh_str_literal(""), found, 1), 0);
}

TEST_FILE(contacts_mirror, cmocka_unit_test(newest_first_and_folded), cmocka_unit_test(fold_is_a_hook),
          cmocka_unit_test(any_byte_may_be_in_a_prefix), cmocka_unit_test(long_names_are_compared_to_the_end),
          cmocka_unit_test(follows_a_plain_model), cmocka_unit_test(completing_asks_nobody),
          cmocka_unit_test(init_needs_all_of_its_memory));
