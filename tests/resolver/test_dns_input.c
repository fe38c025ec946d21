/* Tests of guildhall/resolver.h with what a caller may do wrong: each bound of each field, each pointer. */

#include "resolver/dns_scene.h"

#include <stdlib.h>
#include <string.h>

#define MS        UINT64_C(1000)
#define SECOND_US UINT64_C(1000000)

static gh_status check(const gh_dns_config* config)
{
    static _Alignas(16) unsigned char block[1400 * 1024];
    gh_dns* dns = NULL;
    size_t size = gh_dns_memory(config);
    gh_status status = gh_dns_init(block, sizeof(block), config, gh_platform_default(), &dns);
    assert_int_equal(size > 0, status == GH_OK);
    assert_int_equal(dns != NULL, status == GH_OK);
    assert_true(size <= sizeof(block));
    gh_dns_shutdown(dns);
    return status;
}

static void numbers_have_bounds(void** state)
{
    (void)state;
    static const struct
    {
        uint32_t hosts;
        uint64_t timeout_us;
        uint64_t try_us;
        gh_status status;
    } rows[] = {
        {8, 1500 * MS, 400 * MS, GH_OK},
        {1, 1500 * MS, 400 * MS, GH_OK},
        {1024, 1500 * MS, 400 * MS, GH_OK},
        {0, 1500 * MS, 400 * MS, GH_INVALID_CAPACITY},
        {1025, 1500 * MS, 400 * MS, GH_INVALID_CAPACITY},
        {UINT32_MAX, 1500 * MS, 400 * MS, GH_INVALID_CAPACITY},
        {8, 10 * MS, 10 * MS, GH_OK},
        {8, 10 * MS - 1, 10 * MS, GH_INVALID_TIMEOUT},
        {8, 60 * SECOND_US, 10 * MS, GH_OK},
        {8, 60 * SECOND_US, 10 * SECOND_US, GH_OK},
        {8, 60 * SECOND_US + 1, 400 * MS, GH_INVALID_TIMEOUT},
        {8, UINT64_MAX, 400 * MS, GH_INVALID_TIMEOUT},
        {8, 0, 400 * MS, GH_INVALID_TIMEOUT},
        {8, 1500 * MS, 10 * MS - 1, GH_INVALID_TIMEOUT},
        {8, 1500 * MS, 0, GH_INVALID_TIMEOUT},
        {8, 60 * SECOND_US, 10 * SECOND_US + 1, GH_INVALID_TIMEOUT},
        {8, 300 * MS, 300 * MS, GH_OK},
        {8, 300 * MS, 300 * MS + 1, GH_INVALID_TIMEOUT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        gh_dns_config config = gh_dns_config_default();
        config.hosts_capacity = rows[i].hosts;
        config.timeout_us = rows[i].timeout_us;
        config.try_us = rows[i].try_us;
        gh_status status = check(&config);
        if (status != rows[i].status) fail_msg("row %zu: %s", i, gh_status_name(status));
    }
}

static void servers_are_a_list_of_numbers(void** state)
{
    (void)state;
    static const struct
    {
        const char* servers;
        gh_status status;
    } rows[] = {
        {"", GH_OK},
        {"10.0.0.2", GH_OK},
        {"127.0.0.1:5353", GH_OK},
        {"127.0.0.1:1,10.0.0.2:65535", GH_OK},
        {"[::1]:53,[2001:db8::2]", GH_OK},
        {"1.1.1.1,1.1.1.2,1.1.1.3,1.1.1.4,1.1.1.5,1.1.1.6,1.1.1.7,1.1.1.8", GH_OK},
        {"1.1.1.1,1.1.1.2,1.1.1.3,1.1.1.4,1.1.1.5,1.1.1.6,1.1.1.7,1.1.1.8,1.1.1.9", GH_INVALID_ADDRESS},
        {"dns.example", GH_INVALID_ADDRESS},
        {"10.0.0", GH_INVALID_ADDRESS},
        {"10.0.0.256", GH_INVALID_ADDRESS},
        {"10.0.0.2:", GH_INVALID_ADDRESS},
        {"10.0.0.2:0", GH_INVALID_ADDRESS},
        {"10.0.0.2:65536", GH_INVALID_ADDRESS},
        {"10.0.0.2:5 3", GH_INVALID_ADDRESS},
        {"10.0.0.2:-1", GH_INVALID_ADDRESS},
        {"10.0.0.2:000053", GH_INVALID_ADDRESS},
        {"10.0.0.2,", GH_INVALID_ADDRESS},
        {",10.0.0.2", GH_INVALID_ADDRESS},
        {"10.0.0.2,,10.0.0.3", GH_INVALID_ADDRESS},
        {"10.0.0.2 10.0.0.3", GH_INVALID_ADDRESS},
        {"::1", GH_INVALID_ADDRESS},
        {"[::1", GH_INVALID_ADDRESS},
        {"[::1]53", GH_INVALID_ADDRESS},
        {"[]:53", GH_INVALID_ADDRESS},
        {"[10.0.0.2]:53", GH_INVALID_ADDRESS},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        gh_dns_config config = gh_dns_config_default();
        config.servers = gh_str_of(rows[i].servers);
        gh_status status = check(&config);
        if (status != rows[i].status) fail_msg("%s: %s", rows[i].servers, gh_status_name(status));
    }
}

static void servers_are_bytes_that_are_there(void** state)
{
    (void)state;
    char many[514];
    gh_dns_config config = gh_dns_config_default();
    config.servers = gh_str_make(NULL, 5);
    assert_int_equal(check(&config), GH_INVALID_BUFFER);
    config.servers = gh_str_make("10.0.0.2\0", 9);
    assert_int_equal(check(&config), GH_INVALID_ADDRESS);
    memset(many, '1', sizeof(many));
    config.servers = gh_str_make(many, 513);
    assert_int_equal(check(&config), GH_INVALID_ADDRESS);
    config.servers = gh_str_make(many, SIZE_MAX);
    assert_int_equal(check(&config), GH_INVALID_ADDRESS);
}

static void families_are_one_of_five(void** state)
{
    (void)state;
    for (int i = 0; i <= 4; i++)
    {
        gh_dns_config config = gh_dns_config_default();
        config.families = (gh_dns_families)i;
        assert_int_equal(check(&config), GH_OK);
    }
    gh_dns_config config = gh_dns_config_default();
    int number = 5;
    memcpy(&config.families, &number, sizeof(number));
    assert_int_equal(check(&config), GH_INVALID_CONFIG);
}

static void configs_are_of_their_default_function(void** state)
{
    (void)state;
    gh_dns_config zero;
    memset(&zero, 0, sizeof(zero));
    assert_int_equal(check(&zero), GH_INVALID_CONFIG);
    assert_int_equal(gh_dns_memory(NULL), 0);
    gh_dns_config config = gh_dns_config_default();
    config.struct_size--;
    assert_int_equal(check(&config), GH_INVALID_CONFIG);
    gh_dns_config_fill(&config, sizeof(config), GH_VERSION + 100);
    assert_int_equal(check(&config), GH_INVALID_CONFIG);
    gh_dns_config_fill(&config, sizeof(config) - 8, GH_VERSION);
    assert_int_equal(config.struct_size, 0);
    gh_dns_config_fill(NULL, sizeof(config), GH_VERSION);
}

static void pointers_are_looked_at(void** state)
{
    (void)state;
    gh_dns_config config = gh_dns_config_default();
    gh_platform no_clock = {0};
    gh_dns* dns = NULL;
    size_t size = gh_dns_memory(&config);
    unsigned char* block = NULL;
    const gh_platform* platform = gh_platform_default();
    assert_int_equal(posix_memalign((void**)&block, 16, size + 16), 0);
    assert_int_equal(gh_dns_init(NULL, size, &config, platform, &dns), GH_INVALID_MEMORY);
    assert_int_equal(gh_dns_init(block, size - 1, &config, platform, &dns), GH_INVALID_MEMORY);
    assert_int_equal(gh_dns_init(block + 8, size, &config, platform, &dns), GH_INVALID_MEMORY);
    assert_int_equal(gh_dns_init(block, size, NULL, platform, &dns), GH_INVALID_CONFIG);
    assert_int_equal(gh_dns_init(block, size, &config, NULL, &dns), GH_INVALID_PLATFORM);
    assert_int_equal(gh_dns_init(block, size, &config, &no_clock, &dns), GH_INVALID_PLATFORM);
    assert_int_equal(gh_dns_init(block, size, &config, platform, NULL), GH_INVALID_OUT);
    assert_null(dns);
    gh_dns_shutdown(NULL);
    assert_int_equal(gh_dns_get_stats(NULL).lookups, 0);
    assert_int_equal(gh_dns_init(block, size, &config, platform, &dns), GH_OK);
    assert_int_equal(gh_dns_resolve(dns, gh_str_literal("localhost"), NULL), GH_INVALID_OUT);
    gh_str numeric;
    assert_int_equal(gh_dns_resolve(NULL, gh_str_literal("localhost"), &numeric), GH_INVALID_CLIENT);
    gh_dns_shutdown(dns);
    free(block);
}

static void hosts_are_names(void** state)
{
    (void)state;
    char long_name[255];
    memset(long_name, 'a', sizeof(long_name));
    const struct
    {
        gh_str host;
        bool is_one;
    } rows[] = {
        {gh_str_literal(""), false},
        {gh_str_make(NULL, 0), false},
        {gh_str_make(NULL, 4), false},
        {gh_str_literal("a b"), false},
        {gh_str_literal("a\nb"), false},
        {gh_str_literal("a/b"), false},
        {gh_str_literal("a\0b"), false},
        {gh_str_literal("a%b"), false},
        {gh_str_literal("\xc3\xa4"), false},
        {gh_str_make(long_name, 254), false},
        {gh_str_make(long_name, 253), true}, /* a label of 253 letters: no name of DNS, which c-ares says */
        {gh_str_literal("redis_1.a-b.Example."), true},
        {gh_str_literal("redis"), true},
        {gh_str_literal("..."), true},
    };
    name_server* names = name_server_start();
    dns_scene* self = dns_scene_new(names);
    self->config.timeout_us = 20 * SECOND_US;
    assert_int_equal(dns_scene_make(self), GH_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        gh_str numeric;
        gh_status status = gh_dns_resolve(self->dns, rows[i].host, &numeric);
        if (rows[i].is_one ? status == GH_INVALID_ADDRESS : status != GH_INVALID_ADDRESS)
            fail_msg("row %zu: %s", i, gh_status_name(status));
        uint64_t end_us = wait_cap_us();
        while (status == GH_PENDING && wait_now_us() < end_us)
        {
            name_server_serve(names);
            wait_briefly();
            status = gh_dns_resolve(self->dns, rows[i].host, &numeric);
        }
        assert_true(status < 0); /* none of them is there */
    }
}

TEST_FILE(dns_input, cmocka_unit_test(numbers_have_bounds), cmocka_unit_test(servers_are_a_list_of_numbers),
          cmocka_unit_test(servers_are_bytes_that_are_there), cmocka_unit_test(families_are_one_of_five),
          cmocka_unit_test(configs_are_of_their_default_function), cmocka_unit_test(pointers_are_looked_at),
          cmocka_unit_test(hosts_are_names));
