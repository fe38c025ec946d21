/* The resolver hook: when it is asked, and what becomes of each of its answers. */

#include "support/scene/game.h"
#include "support/process.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000)

/* Pending for so many calls, then that status and that text. */
typedef struct oracle
{
    unsigned pending;
    gh_status status;
    gh_str numeric;
    unsigned calls;
    char host[256]; /* that it was asked for last */
} oracle;

static gh_status ask_oracle(void* context, gh_str host, gh_str* numeric)
{
    oracle* self = context;
    self->calls++;
    snprintf(self->host, sizeof(self->host), "%.*s", (int)host.size, host.bytes);
    if (self->pending > 0)
    {
        self->pending--;
        return GH_PENDING;
    }
    *numeric = self->numeric;
    return self->status;
}

static gh_client_config config_with(oracle* self)
{
    gh_client_config config = scripted_config();
    config.address = gh_str_literal("redis-1.game.example:6391");
    config.resolver = ask_oracle;
    config.resolver_context = self;
    return config;
}

static void names_become_numbers(void** state)
{
    (void)state;
    const struct
    {
        const char* numeric;
        gh_address_kind kind;
    } rows[] = {{"10.0.0.7", GH_ADDRESS_IPV4}, {"2001:db8::7", GH_ADDRESS_IPV6}, {"::", GH_ADDRESS_IPV6}};
    for (int i = 0; i < 3; i++)
    {
        oracle self = {.status = GH_OK, .numeric = gh_str_of(rows[i].numeric)};
        gh_client_config config = config_with(&self);
        scripted* world = scripted_new();
        scripted_start_ready(world, &config);
        assert_string_equal(self.host, "redis-1.game.example");
        assert_string_equal(world->opened_host, rows[i].numeric);
        assert_int_equal(world->opened_kind, rows[i].kind);
        assert_int_equal(world->opened_port, 6391);
        assert_int_equal(self.calls, 1);
    }
}

static void numeric_addresses_are_not_resolved(void** state)
{
    (void)state;
    oracle self = {.status = GH_OK, .numeric = gh_str_literal("10.0.0.7")};
    gh_client_config config = config_with(&self);
    config.address = gh_str_literal("10.0.0.9:6391");
    scripted* world = scripted_new();
    scripted_start_ready(world, &config);
    assert_int_equal(self.calls, 0);
    assert_string_equal(world->opened_host, "10.0.0.9");
}

static void pending_is_asked_again_in_each_tick(void** state)
{
    (void)state;
    oracle self = {.pending = 5, .status = GH_OK, .numeric = gh_str_literal("10.0.0.7")};
    gh_client_config config = config_with(&self);
    scripted* world = scripted_new();
    scripted_start(world, &config);
    for (unsigned i = 1; i <= 5; i++)
    {
        scripted_tick(world, 16 * MS);
        assert_int_equal(self.calls, i);
        assert_int_equal(world->opens, 0);
        assert_int_equal(gh_client_link_state(world->client, GH_LINK_COMMANDS), GH_LINK_RESOLVING);
    }
    scripted_tick(world, 16 * MS);
    assert_int_equal(self.calls, 6);
    assert_int_equal(world->opens, 1);
}

static void pending_for_ever_is_given_up_in_time(void** state)
{
    (void)state;
    oracle self = {.pending = UINT32_MAX};
    gh_client_config config = config_with(&self);
    scripted* world = scripted_new();
    scripted_start(world, &config);
    uint64_t begin_us = world->now_us + MS;
    SCRIPTED_UNTIL(world, gh_client_link_state(world->client, GH_LINK_COMMANDS) == GH_LINK_BACKOFF, MS, 5 * SECOND_US);
    assert_in_range(world->now_us - begin_us, config.connect_timeout_us, config.connect_timeout_us + 2 * MS);
    SCRIPTED_UNTIL(world, gh_client_link_state(world->client, GH_LINK_COMMANDS) == GH_LINK_RESOLVING, MS, SECOND_US);
    assert_int_equal(world->opens, 0);
}

/* Who sleeps until gh_next_deadline must not sleep through the resolver's answer. */
static void pending_resolver_is_asked_by_those_who_sleep_too(void** state)
{
    (void)state;
    oracle self = {.pending = 3, .status = GH_OK, .numeric = gh_str_literal("10.0.0.7")};
    gh_client_config config = config_with(&self);
    scripted* world = scripted_new();
    scripted_start(world, &config);
    uint64_t begin_us = world->now_us;
    for (int ticks = 0; ticks < 1000 && world->opens == 0; ticks++)
    {
        uint64_t deadline_us = gh_next_deadline(world->client);
        scripted_tick(world, deadline_us > world->now_us ? deadline_us - world->now_us : 1);
    }
    assert_int_equal(world->opens, 1);
    assert_int_equal(self.calls, 4);
    assert_true(world->now_us - begin_us < SECOND_US / 10);
}

static void failures_are_tried_again_at_leisure(void** state)
{
    (void)state;
    const gh_status statuses[] = {GH_REFUSED, GH_ERROR, GH_EMPTY, GH_INVALID_NAME, GH_TIMEOUT, (gh_status)77};
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
    {
        oracle self = {.status = statuses[i], .numeric = gh_str_literal("10.0.0.7")};
        gh_client_config config = config_with(&self);
        scripted* world = scripted_new();
        scripted_start(world, &config);
        for (int j = 0; j < 10000; j++) scripted_tick(world, MS);
        assert_int_equal(world->opens, 0);
        assert_in_range(self.calls, 10, 30);
        self.status = GH_OK;
        SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, 2 * SECOND_US);
    }
}

static void each_attempt_and_each_link_asks(void** state)
{
    (void)state;
    oracle self = {.status = GH_OK, .numeric = gh_str_literal("10.0.0.7")};
    gh_client_config config = config_with(&self);
    config.wake = true;
    scripted* world = scripted_new();
    scripted_start_ready(world, &config);
    SCRIPTED_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_READY, MS, SECOND_US);
    assert_int_equal(self.calls, 2);
    assert_int_equal(world->opened_port, 6391);
    self.numeric = gh_str_literal("10.0.0.8"); /* it has moved */
    for (int i = 0; i < 2; i++) world->streams[i].ended = true;
    SCRIPTED_UNTIL(world, !gh_client_ready(world->client), MS, SECOND_US);
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
    SCRIPTED_UNTIL(world, self.calls == 4, MS, SECOND_US);
    assert_string_equal(world->opened_host, "10.0.0.8");
}

/* ---- with the true platform ---------------------------------------------------------------------------- */

static void garbage_is_a_failure(void** state)
{
    (void)state;
    static char long_text[5000];
    memset(long_text, '1', sizeof(long_text));
    const gh_str garbage[] = {gh_str_make("", 0),
                              gh_str_make(NULL, 0),
                              gh_str_literal("no number"),
                              gh_str_literal("127.0.0"),
                              gh_str_literal("127.0.0.1:1"),
                              gh_str_literal(":::::"),
                              gh_str_literal("\0\0\0"),
                              gh_str_literal("127.0.0.1\0"),
                              gh_str_literal("127.0.0.1 "),
                              gh_str_make(long_text, sizeof(long_text))};
    for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++)
    {
        oracle self = {.status = GH_OK, .numeric = garbage[i]};
        gh_client_config config = config_with(&self);
        game* a = game_start_with(&config);
        GAME_UNTIL(self.calls >= 3);
        assert_int_equal(gh_client_link_state(a->client, GH_LINK_COMMANDS), GH_LINK_BACKOFF);
        assert_int_equal(gh_client_fd(a->client, GH_LINK_COMMANDS, NULL), -1);
        game_end(a);
    }
}

static int resolve_to_nothing(void* context, int results)
{
    oracle self = {.status = GH_OK, .numeric = gh_str_make(NULL, 9)};
    gh_client_config config = config_with(&self);
    game_forget_all();
    signal(SIGSEGV, SIG_DFL); /* cmocka has put its own there */
    (void)context, (void)results;
    scripted* world = scripted_new();
    scripted_start(world, &config);
    for (int i = 0; i < 1000; i++) scripted_tick(world, MS);
    CHILD_CHECK(self.calls > 1);
    CHILD_CHECK(world->opens == 0);
    return 7;
}

/* In a process of its own, because what it looks for is a crash. */
static void size_without_bytes_is_a_failure(void** state)
{
    (void)state;
    assert_int_equal(child_wait(child_start(resolve_to_nothing, NULL)), 7);
}

static void resolved_name_reaches_a_real_server(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.tcp = true});
    const char* tcp[] = {redis_server_tcp_address(server), redis_server_tcp6_address(server)};
    const gh_str numbers[] = {gh_str_literal("127.0.0.1"), gh_str_literal("::1")};
    for (int i = 0; i < 2; i++)
    {
        if (tcp[i] == NULL) continue; /* a machine without IPv6 */
        char address[64];
        oracle self = {.pending = 2, .status = GH_OK, .numeric = numbers[i]};
        gh_client_config config = config_with(&self);
        snprintf(address, sizeof(address), "store.example%s", strrchr(tcp[i], ':'));
        config.address = gh_str_of(address);
        game* a = game_start_with(&config);
        GAME_UNTIL(gh_client_ready(a->client));
        game_end(a);
    }
}

TEST_FILE(resolver, cmocka_unit_test(names_become_numbers), cmocka_unit_test(numeric_addresses_are_not_resolved),
          cmocka_unit_test(pending_is_asked_again_in_each_tick), cmocka_unit_test(pending_for_ever_is_given_up_in_time),
          cmocka_unit_test(pending_resolver_is_asked_by_those_who_sleep_too),
          cmocka_unit_test(failures_are_tried_again_at_leisure), cmocka_unit_test(each_attempt_and_each_link_asks),
          cmocka_unit_test(garbage_is_a_failure), cmocka_unit_test(size_without_bytes_is_a_failure),
          cmocka_unit_test(resolved_name_reaches_a_real_server));
