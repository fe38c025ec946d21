/* Bad input for base.h, reply.h and client.h: each has its own status, and nothing is changed. */

#include "support/scene/game.h"
#include "support/server/scripted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED  0xa5
#define BLOCK_SIZE (256 * 1024 + 64)

/* Enough for a client of the defaults, and a little to be unaligned in. */
static _Alignas(64) unsigned char block[BLOCK_SIZE];

static bool is_untouched(const void* bytes, size_t size)
{
    const unsigned char* at = bytes;
    for (size_t i = 0; i < size; i++)
        if (at[i] != UNTOUCHED) return false;
    return true;
}

/* Tries to make a client in the block, and makes sure that a refusal has written nothing. */
static gh_status try_init_at(size_t offset, size_t size, const gh_client_config* config, const gh_platform* platform)
{
    gh_client* const before = (gh_client*)(void*)block;
    gh_client* client = before;
    memset(block, UNTOUCHED, sizeof(block));
    gh_status status = gh_client_init(block + offset, size, config, platform, &client);
    if (status != GH_OK)
    {
        assert_ptr_equal(client, before);
        assert_true(is_untouched(block, sizeof(block)));
        return status;
    }
    assert_true(is_untouched(block, offset));
    assert_true(
        is_untouched(block + offset + gh_client_memory(config), sizeof(block) - offset - gh_client_memory(config)));
    gh_client_shutdown(client);
    return status;
}

static gh_status try_init(const gh_client_config* config)
{
    gh_status status = try_init_at(0, BLOCK_SIZE, config, gh_platform_default());
    assert_int_equal(gh_client_memory(config) > 0, status == GH_OK);
    return status;
}

static gh_client_config plain(void)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_literal("127.0.0.1:1");
    return config;
}

/* ---- base.h and reply.h -------------------------------------------------------------------------------- */

static void strings_know_their_size(void** state)
{
    (void)state;
    assert_int_equal(gh_str_of(NULL).size, 0);
    assert_int_equal(gh_str_of("sword").size, 5);
    assert_int_equal(gh_str_literal("a\0b").size, 3);
    assert_true(gh_str_equal(gh_str_of(NULL), gh_str_of("")));
    assert_true(gh_str_equal(gh_str_make("swords", 5), gh_str_of("sword")));
    assert_false(gh_str_equal(gh_str_literal("a\0b"), gh_str_literal("a\0c")));
    assert_false(gh_str_equal(gh_str_of("sword"), gh_str_of("swords")));
}

static void reply_elements_are_looked_up_within_bounds(void** state)
{
    (void)state;
    gh_reply elements[3] = {{.type = GH_REPLY_INTEGER, .integer = 1},
                            {.type = GH_REPLY_INTEGER, .integer = 2},
                            {.type = GH_REPLY_INTEGER, .integer = 3}};
    gh_reply array = {.type = GH_REPLY_ARRAY, .count = 3, .first = &elements[0]};
    elements[0].next = &elements[1];
    elements[1].next = &elements[2];
    for (uint32_t i = 0; i < 3; i++) assert_ptr_equal(gh_reply_at(&array, i), &elements[i]);
    assert_null(gh_reply_at(&array, 3));
    assert_null(gh_reply_at(&array, UINT32_MAX));
    assert_null(gh_reply_at(NULL, 0));
    assert_null(gh_reply_at(&elements[0], 0));
    gh_reply empty = {.type = GH_REPLY_ARRAY};
    assert_null(gh_reply_at(&empty, 0));
}

/* ---- gh_client_init: the block, the platform, the pointers --------------------------------------------- */

/* Whoever gives GH_CLIENT_MEMORY_DEFAULT need not ask, as long as only strings are changed. */
static void default_memory_takes_the_longest_strings(void** state)
{
    (void)state;
    gh_client_config config = gh_client_config_default();
    char text[512];
    char address[105];
    memset(text, 'x', sizeof text);
    memset(address, '/', sizeof address);
    memcpy(address, "unix:", 5);
    config.address = gh_str_make(address, sizeof address);
    config.user = gh_str_make(text, 128);
    config.password = gh_str_make(text, 512);
    config.client_name = gh_str_make(text, 64);
    config.prefix = gh_str_make(text, 32);
    assert_in_range(gh_client_memory(&config), 1, GH_CLIENT_MEMORY_DEFAULT);
}

static void memory_must_be_there_aligned_and_large_enough(void** state)
{
    (void)state;
    const gh_platform* platform = gh_platform_default();
    gh_client_config config = plain();
    gh_client* client = NULL;
    size_t size = gh_client_memory(&config);
    assert_in_range(size, 1, GH_CLIENT_MEMORY_DEFAULT);
    for (size_t offset = 1; offset < 16; offset++)
        assert_status(try_init_at(offset, BLOCK_SIZE - offset, &config, platform), GH_INVALID_MEMORY);
    assert_status(try_init_at(0, 0, &config, platform), GH_INVALID_MEMORY);
    assert_status(try_init_at(0, size - 1, &config, platform), GH_INVALID_MEMORY);
    assert_status(gh_client_init(NULL, BLOCK_SIZE, &config, platform, &client), GH_INVALID_MEMORY);
    assert_null(client);
    assert_status(try_init_at(0, size, &config, platform), GH_OK);
    assert_status(try_init_at(16, size, &config, platform), GH_OK);
    assert_status(try_init_at(48, BLOCK_SIZE - 48, &config, platform), GH_OK);
}

static void config_must_come_from_its_default_function(void** state)
{
    (void)state;
    gh_client_config config = plain();
    config.struct_size = 0;
    assert_status(try_init(&config), GH_INVALID_CONFIG);
    config.struct_size = sizeof(config) - 1;
    assert_status(try_init(&config), GH_INVALID_CONFIG);
    config.struct_size = sizeof(config) + 1;
    assert_status(try_init(&config), GH_INVALID_CONFIG);
    memset(&config, 0, sizeof(config));
    assert_status(try_init(&config), GH_INVALID_CONFIG);
    assert_status(try_init(NULL), GH_INVALID_CONFIG);
}

/* A program whose headers are not the library's: another struct, or another version with the same size. */
static void headers_must_be_the_librarys(void** state)
{
    (void)state;
    gh_client_config config = plain();
    struct
    {
        gh_client_config config;
        char more[8];
    } newer;
    config.version += 1; /* a patch */
    assert_status(try_init(&config), GH_OK);
    config.version = GH_VERSION + 100;
    assert_status(try_init(&config), GH_INVALID_CONFIG);
    gh_client_config_fill(&config, sizeof config, GH_VERSION + 100);
    assert_int_equal(config.struct_size, 0);
    memset(&newer, 0xa5, sizeof newer);
    gh_client_config_fill(&newer.config, sizeof newer, GH_VERSION);
    for (size_t i = 0; i < sizeof newer; i++) assert_int_equal(((const char*)&newer)[i], 0);
    memset(&newer, 0xa5, sizeof newer);
    gh_client_config_fill(&newer.config, sizeof newer.config - 8, GH_VERSION);
    assert_int_equal(((const unsigned char*)&newer)[sizeof newer.config - 8], 0xa5);
    assert_status(try_init(&newer.config), GH_INVALID_CONFIG);
    gh_client_config_fill(NULL, 0, GH_VERSION);
}

/* A caller with an older struct gets what it has room for, one with a newer struct zeros behind what there is. */
static void stats_are_as_large_as_the_caller_says(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_stats whole;
    unsigned char part[sizeof whole + 16];
    size_t size;
    scripted_start_ready(world, NULL);
    assert_status(gh_client_get_stats(world->client, &whole), GH_OK);
    assert_int_equal(whole.struct_size, sizeof whole);
    assert_true(whole.ticks > 0);
    memset(part, 0xa5, sizeof part);
    assert_status(gh_client_read_stats(world->client, part, 64), GH_OK);
    memcpy(&size, part, sizeof size);
    assert_int_equal(size, 64);
    assert_memory_equal(part + sizeof size, (const char*)&whole + sizeof size, 64 - sizeof size);
    assert_int_equal(part[64], 0xa5);
    assert_status(gh_client_read_stats(world->client, part, sizeof part), GH_OK);
    memcpy(&size, part, sizeof size);
    assert_int_equal(size, sizeof whole);
    assert_memory_equal(part + sizeof size, (const char*)&whole + sizeof size, sizeof whole - sizeof size);
    for (size_t i = sizeof whole; i < sizeof part; i++) assert_int_equal(part[i], 0);
}

static void platform_must_have_every_function(void** state)
{
    (void)state;
    gh_client_config config = plain();
    gh_platform platform;
    assert_status(try_init_at(0, BLOCK_SIZE, &config, NULL), GH_INVALID_PLATFORM);
#define CHECK_WITHOUT(function)                                                                                        \
    platform = *gh_platform_default();                                                                                 \
    platform.function = NULL;                                                                                          \
    assert_status(try_init_at(0, BLOCK_SIZE, &config, &platform), GH_INVALID_PLATFORM);
    CHECK_WITHOUT(now_us)
    CHECK_WITHOUT(entropy)
    CHECK_WITHOUT(open)
    CHECK_WITHOUT(connected)
    CHECK_WITHOUT(send)
    CHECK_WITHOUT(receive)
    CHECK_WITHOUT(close)
#undef CHECK_WITHOUT
}

static bool entropy_fails(void* context, void* bytes, size_t size)
{
    (void)context, (void)bytes, (void)size;
    return false;
}

static bool entropy_is_zero(void* context, void* bytes, size_t size)
{
    (void)context;
    memset(bytes, 0, size);
    return true;
}

static void platform_must_have_entropy(void** state)
{
    (void)state;
    gh_client_config config = plain();
    gh_platform platform = *gh_platform_default();
    platform.entropy = entropy_fails;
    assert_status(try_init_at(0, BLOCK_SIZE, &config, &platform), GH_INVALID_PLATFORM);
    platform.entropy = entropy_is_zero;
    assert_status(try_init_at(0, BLOCK_SIZE, &config, &platform), GH_INVALID_PLATFORM);
}

static void out_pointer_must_be_there(void** state)
{
    (void)state;
    gh_client_config config = plain();
    memset(block, UNTOUCHED, sizeof(block));
    assert_status(gh_client_init(block, BLOCK_SIZE, &config, gh_platform_default(), NULL), GH_INVALID_OUT);
    assert_true(is_untouched(block, sizeof(block)));
}

/* ---- every other function ------------------------------------------------------------------------------ */

/* What all functions say of something that is no client. */
static void assert_no_client(gh_client* client)
{
    gh_client_stats stats;
    char unique[GH_UNIQUE_SIZE];
    bool want_write = true;
    memset(&stats, UNTOUCHED, sizeof(stats));
    memset(unique, UNTOUCHED, sizeof(unique));
    assert_status(gh_client_drain(client, 0), GH_INVALID_CLIENT);
    assert_status(gh_client_get_stats(client, &stats), GH_INVALID_CLIENT);
    assert_status(gh_client_unique(client, unique), GH_INVALID_CLIENT);
    assert_true(is_untouched(&stats, sizeof(stats)));
    assert_true(is_untouched(unique, sizeof(unique)));
    assert_int_equal(gh_next_deadline(client), GH_FOREVER);
    assert_int_equal(gh_client_fd(client, GH_LINK_COMMANDS, &want_write), -1);
    assert_false(want_write);
    assert_int_equal(gh_client_fd(client, GH_LINK_WAKE, NULL), -1);
    assert_int_equal(gh_client_link_state(client, GH_LINK_COMMANDS), GH_LINK_IDLE);
    assert_int_equal(gh_client_link_state(client, GH_LINK_WAKE), GH_LINK_IDLE);
    assert_false(gh_client_ready(client));
    assert_false(gh_client_drained(client));
    assert_int_equal(gh_client_id(client), 0);
    gh_client_shutdown(client);
}

static void every_function_refuses_what_is_no_client(void** state)
{
    (void)state;
    gh_client* zeroed = (gh_client*)(void*)block;
    memset(block, 0, sizeof(block));
    assert_no_client(NULL);
    assert_no_client(zeroed);
    memset(block, UNTOUCHED, sizeof(block));
    assert_no_client(zeroed);
    assert_true(is_untouched(block, sizeof(block)));
    assert_status(gh_tick(NULL, 1, 0), GH_INVALID_CLIENT);
    assert_status(gh_tick(zeroed, 1, 0), GH_INVALID_CLIENT);
    assert_true(is_untouched(block, sizeof(block)));
}

static void every_function_refuses_a_client_that_was_shut_down(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_client* client = world->client;
    gh_client_shutdown(client);
    assert_int_equal(world->opens, world->closes);
    assert_no_client(client); /* a second shutdown is in it */
    assert_status(gh_tick(client, world->now_us, 0), GH_INVALID_CLIENT);
    assert_int_equal(world->opens, world->closes);
}

static void results_need_a_place(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start(world, NULL);
    assert_status(gh_client_get_stats(world->client, NULL), GH_INVALID_OUT);
    assert_status(gh_client_unique(world->client, NULL), GH_INVALID_OUT);
}

static void before_the_first_tick_nothing_has_happened(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start(world, NULL);
    bool want_write = true;
    assert_int_equal(gh_next_deadline(world->client), 0);
    assert_int_equal(gh_client_fd(world->client, GH_LINK_COMMANDS, &want_write), -1);
    assert_false(want_write);
    assert_int_equal(gh_client_link_state(world->client, GH_LINK_COMMANDS), GH_LINK_IDLE);
    assert_false(gh_client_ready(world->client));
    assert_false(gh_client_drained(world->client));
    gh_client_stats none;
    gh_client_stats stats = scripted_stats(world);
    memset(&none, 0, sizeof(none));
    none.struct_size = sizeof none;
    none.nodes_known = 1; /* the address */
    assert_memory_equal(&stats, &none, sizeof(none));
    assert_int_equal(world->opens + world->sends + world->receives, 0);
}

/* ---- ids and secrets ----------------------------------------------------------------------------------- */

static void unique_texts_are_unique(void** state)
{
    (void)state;
    char last[GH_UNIQUE_SIZE] = "";
    char id[17];
    scripted* world = scripted_new();
    scripted_start(world, NULL);
    snprintf(id, sizeof(id), "%016llx", (unsigned long long)gh_client_id(world->client));
    assert_true(gh_client_id(world->client) != 0);
    for (int i = 0; i < 10000; i++)
    {
        char unique[GH_UNIQUE_SIZE + 1];
        memset(unique, UNTOUCHED, sizeof(unique));
        assert_status(gh_client_unique(world->client, unique), GH_OK);
        assert_int_equal(strlen(unique), GH_UNIQUE_SIZE - 1);
        assert_int_equal((unsigned char)unique[GH_UNIQUE_SIZE], UNTOUCHED);
        assert_memory_equal(unique, id, 16);
        assert_int_equal(unique[16], ':');
        assert_int_equal(strspn(unique + 17, "0123456789abcdef"), 16);
        assert_true(strcmp(unique, last) > 0); /* both parts have a fixed width: grows as a number grows */
        memcpy(last, unique, sizeof(last));
    }
}

static void clients_have_different_ids(void** state)
{
    (void)state;
    enum
    {
        CLIENTS = 200
    };
    uint64_t ids[CLIENTS];
    gh_client_config config = plain();
    for (int i = 0; i < CLIENTS; i++)
    {
        gh_client* client = NULL;
        assert_status(gh_client_init(block, BLOCK_SIZE, &config, gh_platform_default(), &client), GH_OK);
        ids[i] = gh_client_id(client);
        for (int j = 0; j < i; j++) assert_true(ids[i] != ids[j]);
        gh_client_shutdown(client);
    }
}

static bool block_contains(const char* text)
{
    size_t size = strlen(text);
    for (size_t i = 0; i + size <= sizeof(block); i++)
        if (memcmp(block + i, text, size) == 0) return true;
    return false;
}

/* The strings of the config are copied, and the password is nowhere once the client is shut down. */
static void password_is_wiped(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    char password[] = "open-sesame-and-do-not-tell";
    gh_client_config config = plain();
    memset(block, UNTOUCHED, sizeof(block));
    config.password = gh_str_make(password, sizeof(password) - 1);
    gh_client* client = NULL;
    assert_status(gh_client_init(block, BLOCK_SIZE, &config, &world->platform, &client), GH_OK);
    memset(password, 'x', sizeof(password) - 1);
    assert_true(block_contains("open-sesame-and-do-not-tell"));
    for (uint64_t i = 0; i < 50 && !gh_client_ready(client); i++) assert_status(gh_tick(client, i * 1000, 0), GH_OK);
    assert_true(gh_client_ready(client));
    gh_client_shutdown(client);
    assert_false(block_contains("open-sesame-and-do-not-tell"));
    assert_false(block_contains("sesame"));
}

/* Of its buffers a client touches as much as it uses, one with many nodes none that it has not lent to a link. */
static void unused_buffers_are_not_touched(void** state)
{
    (void)state;
    const struct gh_topology* const topologies[] = {NULL, gh_topology_cluster()};
    const size_t large = 4 * 1024 * 1024;
    for (size_t i = 0; i < 2; i++)
    {
        scripted* world = scripted_new();
        gh_client_config config = plain();
        config.topology = topologies[i];
        config.out_bytes = config.reply_bytes = (uint32_t)large;
        const size_t size = gh_client_memory(&config);
        unsigned char* memory = malloc(size);
        assert_non_null(memory);
        memset(memory, UNTOUCHED, size);
        gh_client* client = NULL;
        assert_status(gh_client_init(memory, size, &config, &world->platform, &client), GH_OK);
        for (uint64_t us = 0; us < 50000; us += 1000) assert_status(gh_tick(client, us, 0), GH_OK);
        gh_client_shutdown(client);
        size_t touched = 0;
        for (size_t k = 0; k < size; k++) touched += memory[k] != UNTOUCHED;
        assert_true(size > 2 * large && touched < large / 4);
        free(memory);
    }
}

TEST_FILE(client, cmocka_unit_test(strings_know_their_size),
          cmocka_unit_test(reply_elements_are_looked_up_within_bounds),
          cmocka_unit_test(default_memory_takes_the_longest_strings),
          cmocka_unit_test(memory_must_be_there_aligned_and_large_enough),
          cmocka_unit_test(config_must_come_from_its_default_function), cmocka_unit_test(headers_must_be_the_librarys),
          cmocka_unit_test(stats_are_as_large_as_the_caller_says), cmocka_unit_test(platform_must_have_every_function),
          cmocka_unit_test(platform_must_have_entropy), cmocka_unit_test(out_pointer_must_be_there),
          cmocka_unit_test(every_function_refuses_what_is_no_client),
          cmocka_unit_test(every_function_refuses_a_client_that_was_shut_down), cmocka_unit_test(results_need_a_place),
          cmocka_unit_test(before_the_first_tick_nothing_has_happened), cmocka_unit_test(unique_texts_are_unique),
          cmocka_unit_test(clients_have_different_ids), cmocka_unit_test(password_is_wiped),
          cmocka_unit_test(unused_buffers_are_not_touched));
