/* Every field of gh_client_config at and beyond its bounds: its own status, and nothing is written. */

#include "support/scene/game.h"

#include <stdio.h>
#include <string.h>

#define UNTOUCHED 0xa5

/* Is the config refused, and with which status? A block that is too small is refused last of all, so
   GH_INVALID_MEMORY says that the config is good; and large clients need not be made to know it. */
static gh_status check(const gh_client_config* config)
{
    static _Alignas(16) unsigned char little[64];
    gh_client* client = NULL;
    memset(little, UNTOUCHED, sizeof(little));
    gh_status status = gh_client_init(little, sizeof(little), config, gh_platform_default(), &client);
    for (size_t i = 0; i < sizeof(little); i++) assert_int_equal(little[i], UNTOUCHED);
    assert_null(client);
    assert_int_equal(gh_client_memory(config) > 0, status == GH_INVALID_MEMORY);
    return status == GH_INVALID_MEMORY ? GH_OK : status;
}

static gh_client_config plain(void)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_literal("127.0.0.1:1");
    return config;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

typedef struct bound
{
    size_t offset;
    size_t size; /* of the field: 4 or 8 */
    uint64_t least;
    uint64_t most;
    gh_status refusal;
} bound;

#define BOUND(field, least, most, refusal)                                                                             \
    {offsetof(gh_client_config, field), sizeof(((gh_client_config*)NULL)->field), least, most, refusal}

static const bound bounds[] = {
    BOUND(database, 0, 1023, GH_INVALID_DATABASE),
    BOUND(ops_capacity, 1, 4194304, GH_INVALID_CAPACITY),
    BOUND(requests_capacity, 8, 65536, GH_INVALID_CAPACITY),
    BOUND(out_bytes, 16 * 1024, 64 * 1024 * 1024, GH_INVALID_CAPACITY),
    BOUND(reply_bytes, 16 * 1024, 64 * 1024 * 1024, GH_INVALID_CAPACITY),
    BOUND(reply_nodes, 64, 1048576, GH_INVALID_CAPACITY),
    BOUND(connect_timeout_us, 1000, 60 * SECOND_US, GH_INVALID_TIMEOUT),
    BOUND(request_timeout_us, 1000, 60 * SECOND_US, GH_INVALID_TIMEOUT),
    BOUND(backoff_min_us, 1000, 60 * SECOND_US, GH_INVALID_TIMEOUT),
    BOUND(backoff_max_us, 1000, 60 * SECOND_US, GH_INVALID_TIMEOUT),
    BOUND(quarantine_us, 0, 3600 * SECOND_US, GH_INVALID_TIMEOUT),
    BOUND(wait_us, 1000, 60 * SECOND_US, GH_INVALID_TIMEOUT),
    BOUND(wait_replicas, 0, GH_REPLICAS_MAX, GH_INVALID_REPLICAS),
};

static gh_status check_number(const bound* field, uint64_t value)
{
    gh_client_config config = plain();
    uint32_t small = (uint32_t)value;
    config.backoff_min_us = 1000; /* so that each end can be moved alone */
    config.backoff_max_us = 60 * SECOND_US;
    config.replicas = gh_replicas_wait();
    if (field->size == 4) memcpy((char*)&config + field->offset, &small, sizeof(small));
    else memcpy((char*)&config + field->offset, &value, sizeof(value));
    return check(&config);
}

static void numbers_are_within_their_bounds(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
    {
        const bound* field = &bounds[i];
        uint64_t beyond = field->size == 4 ? UINT32_MAX : UINT64_MAX;
        if (field->least > 0) assert_status(check_number(field, field->least - 1), field->refusal);
        if (field->least > 0) assert_status(check_number(field, 0), field->refusal);
        assert_status(check_number(field, field->least), GH_OK);
        assert_status(check_number(field, field->least + 1), GH_OK);
        assert_status(check_number(field, field->most - 1), GH_OK);
        assert_status(check_number(field, field->most), GH_OK);
        assert_status(check_number(field, field->most + 1), field->refusal);
        assert_status(check_number(field, beyond / 2), field->refusal);
        assert_status(check_number(field, beyond / 2 + 1), field->refusal);
        assert_status(check_number(field, beyond - 1), field->refusal);
        assert_status(check_number(field, beyond), field->refusal);
    }
}

static void back_off_ends_are_in_order(void** state)
{
    (void)state;
    gh_client_config config = plain();
    config.backoff_min_us = config.backoff_max_us = 5000;
    assert_status(check(&config), GH_OK);
    config.backoff_min_us = 5001;
    assert_status(check(&config), GH_INVALID_TIMEOUT);
}

/* The size is a sum of products: no config in bounds makes it wrap round to something small. */
static void largest_config_has_an_honest_size(void** state)
{
    (void)state;
    gh_client_config config = plain();
    config.ops_capacity = 4194304;
    config.requests_capacity = 65536;
    config.out_bytes = config.reply_bytes = 64 * 1024 * 1024;
    config.reply_nodes = 1048576;
    size_t least = 4194304u * sizeof(void*) + 2u * 64 * 1024 * 1024 + 1048576u * sizeof(gh_reply);
    assert_true(gh_client_memory(&config) > least);
}

/* ---- strings ------------------------------------------------------------------------------------------- */

static char many[2048];

static gh_str repeated(size_t size)
{
    memset(many, 'a', sizeof(many));
    assert_true(size <= sizeof(many));
    return gh_str_make(many, size);
}

/* A plain config with that one string, and a password so that a user may stand in it. */
static gh_status check_string(size_t offset, gh_str value)
{
    gh_client_config config = plain();
    config.password = gh_str_literal("secret");
    memcpy((char*)&config + offset, &value, sizeof(value));
    return check(&config);
}

#define CHECK_STRING(field, value) check_string(offsetof(gh_client_config, field), value)

static void strings_without_bytes_are_refused(void** state)
{
    (void)state;
    const size_t sizes[] = {1, 5, SIZE_MAX};
    for (size_t i = 0; i < 3; i++)
    {
        const gh_str nothing = gh_str_make(NULL, sizes[i]);
        assert_status(CHECK_STRING(address, nothing), GH_INVALID_BUFFER);
        assert_status(CHECK_STRING(user, nothing), GH_INVALID_BUFFER);
        assert_status(CHECK_STRING(password, nothing), GH_INVALID_BUFFER);
        assert_status(CHECK_STRING(client_name, nothing), GH_INVALID_BUFFER);
        assert_status(CHECK_STRING(prefix, nothing), GH_INVALID_BUFFER);
    }
}

static void user_and_password_have_bounds(void** state)
{
    (void)state;
    const size_t good[] = {0, 1, 511, 512};
    const size_t bad[] = {513, sizeof(many), SIZE_MAX};
    for (size_t i = 0; i < 4; i++) assert_status(CHECK_STRING(password, repeated(good[i])), GH_OK);
    for (size_t i = 0; i < 3; i++)
        assert_status(CHECK_STRING(password, gh_str_make(many, bad[i])), GH_INVALID_PASSWORD);
    const gh_str any_bytes = gh_str_literal("\0\r\n*1\r\n$8\r\nFLUSHALL\r\n\xff");
    assert_status(CHECK_STRING(password, any_bytes), GH_OK);

    assert_status(CHECK_STRING(user, repeated(1)), GH_OK);
    assert_status(CHECK_STRING(user, repeated(128)), GH_OK);
    assert_status(CHECK_STRING(user, repeated(129)), GH_INVALID_USER);
    assert_status(CHECK_STRING(user, gh_str_make(many, SIZE_MAX)), GH_INVALID_USER);
    gh_client_config config = plain();
    config.user = gh_str_literal("alice");
    assert_status(check(&config), GH_INVALID_USER);
}

static void client_name_is_printable(void** state)
{
    (void)state;
    assert_status(CHECK_STRING(client_name, gh_str_make(NULL, 0)), GH_OK);
    assert_status(CHECK_STRING(client_name, repeated(64)), GH_OK);
    assert_status(CHECK_STRING(client_name, repeated(65)), GH_INVALID_CLIENT_NAME);
    assert_status(CHECK_STRING(client_name, gh_str_make(many, SIZE_MAX)), GH_INVALID_CLIENT_NAME);
    for (int byte = 0; byte < 256; byte++)
    {
        char name[3] = {'a', (char)byte, 'b'};
        gh_status expected = byte > ' ' && byte < 127 ? GH_OK : GH_INVALID_CLIENT_NAME;
        assert_status(CHECK_STRING(client_name, gh_str_make(name, sizeof(name))), expected);
    }
}

static void prefix_is_plain(void** state)
{
    (void)state;
    assert_status(CHECK_STRING(prefix, gh_str_make("", 0)), GH_INVALID_PREFIX);
    assert_status(CHECK_STRING(prefix, gh_str_make(NULL, 0)), GH_INVALID_PREFIX);
    assert_status(CHECK_STRING(prefix, repeated(1)), GH_OK);
    assert_status(CHECK_STRING(prefix, repeated(32)), GH_OK);
    assert_status(CHECK_STRING(prefix, repeated(33)), GH_INVALID_PREFIX);
    assert_status(CHECK_STRING(prefix, gh_str_make(many, SIZE_MAX)), GH_INVALID_PREFIX);
    for (int byte = 0; byte < 256; byte++)
    {
        char prefix[3] = {'a', (char)byte, 'b'};
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        bool fine = letter || (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte == '-';
        gh_status expected = fine ? GH_OK : GH_INVALID_PREFIX;
        assert_status(CHECK_STRING(prefix, gh_str_make(prefix, sizeof(prefix))), expected);
    }
}

/* ---- addresses ----------------------------------------------------------------------------------------- */

static gh_status no_resolver(void* context, gh_str host, gh_str* numeric)
{
    (void)context, (void)host, (void)numeric;
    return GH_REFUSED;
}

static gh_status check_address(const char* text, bool resolver)
{
    gh_client_config config = plain();
    config.address = gh_str_of(text);
    if (resolver) config.resolver = no_resolver;
    return check(&config);
}

static void numeric_addresses_are_taken(void** state)
{
    (void)state;
    const char* const good[] = {
        "unix:/tmp/x",       "unix:x",     "unix:127.0.0.1:6390", "127.0.0.1:1",         "0.0.0.0:65535",
        "255.255.255.255:9", "[::1]:6390", "[2001:db8::7]:65535", "[::ffff:10.0.0.7]:1", "[::]:1",
        "[FE80::A]:77"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
    {
        assert_status(check_address(good[i], false), GH_OK);
        assert_status(check_address(good[i], true), GH_OK);
    }
}

static void host_names_need_a_resolver(void** state)
{
    (void)state;
    const char* const names[] = {"redis:6390",  "redis-1.game.example:6390",
                                 "localhost:1", "a_b:1",
                                 "256.0.0.1:1", "1.2.3:1",
                                 "1.2.3.4.5:1", "127.1:1",
                                 "010.0.0.1:1", "10.0.0.01:1",
                                 "00.0.0.0:1"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    {
        assert_status(check_address(names[i], false), GH_INVALID_ADDRESS);
        assert_status(check_address(names[i], true), GH_OK);
    }
}

/* The bytes of a host name, one by one. */
static void host_names_are_plain(void** state)
{
    (void)state;
    for (int byte = 1; byte < 256; byte++)
    {
        char text[] = {'h', (char)byte, 'x', ':', '1', '\0'};
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        bool fine = letter || (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_';
        assert_status(check_address(text, true), fine ? GH_OK : GH_INVALID_ADDRESS);
        assert_status(check_address(text, false), GH_INVALID_ADDRESS);
    }
}

static void anything_else_is_no_address(void** state)
{
    (void)state;
    const char* const bad[] = {NULL,
                               "",
                               ":",
                               ":1",
                               "unix:",
                               "unix",
                               "127.0.0.1",
                               "127.0.0.1:",
                               "127.0.0.1:0",
                               "127.0.0.1:00001",
                               "127.0.0.1:01",
                               "127.0.0.1:65536",
                               "127.0.0.1:99999",
                               "127.0.0.1:100000",
                               "127.0.0.1:4295032831",
                               "127.0.0.1:-1",
                               "127.0.0.1:+1",
                               "127.0.0.1: 1",
                               "127.0.0.1:1 ",
                               " 127.0.0.1:1",
                               "127.0.0.1:1x",
                               "127.0.0.1:0x10",
                               "::1:6390",
                               "[::1]",
                               "[::1]6390",
                               "[::1:6390",
                               "::1]:6390",
                               "[]:1",
                               "[:]:1",
                               "[1]:1",
                               "[fe80::1%eth0]:1",
                               "[::g]:1",
                               "[::1\n]:1",
                               "a b:1",
                               "a/b:1",
                               "redis://h:1",
                               "h\xc3\xa9:1",
                               "[00000000000000000000000000000000000000000000::]:1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
    {
        assert_status(check_address(bad[i], false), GH_INVALID_ADDRESS);
        assert_status(check_address(bad[i], true), GH_INVALID_ADDRESS);
    }
}

static void long_addresses_have_bounds(void** state)
{
    (void)state;
    char text[512];
    snprintf(text, sizeof(text), "unix:/%.*s", 99, repeated(99).bytes);
    assert_status(check_address(text, false), GH_OK);
    snprintf(text, sizeof(text), "unix:/%.*s", 100, repeated(100).bytes);
    assert_status(check_address(text, false), GH_INVALID_ADDRESS);
    snprintf(text, sizeof(text), "%.*s:1", 253, repeated(253).bytes);
    assert_status(check_address(text, true), GH_OK);
    snprintf(text, sizeof(text), "%.*s:1", 254, repeated(254).bytes);
    assert_status(check_address(text, true), GH_INVALID_ADDRESS);

    gh_client_config config = plain();
    config.address = gh_str_literal("unix:/tmp/a\0b");
    assert_status(check(&config), GH_INVALID_ADDRESS);
    config.address = gh_str_literal("127.0.0.1\0:1");
    assert_status(check(&config), GH_INVALID_ADDRESS);
    config.address = gh_str_literal("127.0.0.1:1\0");
    assert_status(check(&config), GH_INVALID_ADDRESS);
}

TEST_FILE(client_config, cmocka_unit_test(numbers_are_within_their_bounds),
          cmocka_unit_test(back_off_ends_are_in_order), cmocka_unit_test(largest_config_has_an_honest_size),
          cmocka_unit_test(strings_without_bytes_are_refused), cmocka_unit_test(user_and_password_have_bounds),
          cmocka_unit_test(client_name_is_printable), cmocka_unit_test(prefix_is_plain),
          cmocka_unit_test(numeric_addresses_are_taken), cmocka_unit_test(host_names_need_a_resolver),
          cmocka_unit_test(host_names_are_plain), cmocka_unit_test(anything_else_is_no_address),
          cmocka_unit_test(long_addresses_have_bounds));
