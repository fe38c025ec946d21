/* Tests of guildhall/resolver.h with clients and real servers: a name is reached, followed, and waited for. */

#include "resolver/dns_scene.h"

#include "support/faults/heap.h"
#include "support/server/redis_server.h"
#include "support/server/stream.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000)

static dns_scene* scene_of(name_server* names)
{
    dns_scene* self = dns_scene_new(names);
    assert_int_equal(dns_scene_make(self), GH_OK);
    return self;
}

/* "store.example:PORT" of a server's TCP address. */
static const char* by_name(const char* host, const char* tcp_address)
{
    static char text[128];
    snprintf(text, sizeof(text), "%s%s", host, strrchr(tcp_address, ':'));
    return text;
}

/* A lock taken and given back: bytes go both ways. */
static void use(dns_scene* self, gh_client* client)
{
    gh_lock lock = GH_ZERO;
    gh_lock_config config = gh_lock_config_default();
    assert_int_equal(gh_lock_begin(&lock, client, gh_str_literal("sword"), &config), GH_OK);
    DNS_UNTIL(self, gh_op_poll(&lock.op) != GH_PENDING);
    assert_int_equal(gh_op_poll(&lock.op), GH_HELD);
    gh_lock_release(&lock);
    DNS_UNTIL(self, gh_op_poll(&lock.op) != GH_PENDING && gh_op_poll(&lock.op) != GH_HELD);
}

static void names_reach_a_real_server(void** state)
{
    (void)state;
    name_server* names = name_server_start();
    redis_server* redis = redis_server_start(&(redis_server_options){.tcp = true});
    dns_scene* self = scene_of(names);
    name_server_say(names, "store.example", "127.0.0.1");
    gh_client* client = dns_scene_client(self, by_name("store.example", redis_server_tcp_address(redis)));
    DNS_UNTIL(self, gh_client_ready(client) && gh_client_link_state(client, GH_LINK_WAKE) == GH_LINK_READY);
    use(self, client);
    gh_dns_stats stats = gh_dns_get_stats(self->dns);
    assert_in_range(stats.lookups, 1, 2); /* the wake link may have come within 50 ms */
    assert_int_equal(stats.found, stats.lookups);
    assert_int_equal(stats.under_way, 0);
}

static void sixes_are_reached(void** state)
{
    (void)state;
    name_server* names = name_server_start();
    redis_server* redis = redis_server_start(&(redis_server_options){.tcp = true});
    if (redis_server_tcp6_address(redis) == NULL) suite_skip("this machine has no IPv6");
    dns_scene* self = scene_of(names);
    name_server_say(names, "store.example", "::1");
    gh_client* client = dns_scene_client(self, by_name("store.example", redis_server_tcp6_address(redis)));
    DNS_UNTIL(self, gh_client_ready(client));
}

/* No name server is asked. */
static void localhost_is_this_machine(void** state)
{
    (void)state;
    static const char* const whole[] = {"localhost.", "LocalHost", "store.localhost", "store.localhost."};
    name_server* names = name_server_start();
    redis_server* redis = redis_server_start(&(redis_server_options){.tcp = true});
    dns_scene* self = scene_of(names);
    gh_client* client = dns_scene_client(self, by_name("localhost", redis_server_tcp_address(redis)));
    DNS_UNTIL(self, gh_client_ready(client));
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
    {
        char text[64];
        assert_int_equal(dns_scene_ask(self, whole[i], text), GH_OK);
    }
    assert_int_equal(name_server_asked(names), 0);
}

/* A port that is free on 127.0.0.1, and most likely on its neighbours. */
static uint16_t free_port(void)
{
    uint16_t port = 0;
    int listener = stream_listen_tcp(false, &port);
    assert_true(listener >= 0);
    close(listener);
    return port;
}

static redis_server* server_at(const char* host, uint16_t port)
{
    char text[8];
    snprintf(text, sizeof(text), "%u", port);
    const char* arguments[] = {"--bind", host, "--port", text, NULL};
    return redis_server_start(&(redis_server_options){.arguments = arguments});
}

static void name_that_moves_is_followed(void** state)
{
    (void)state;
    char address[64];
    name_server* names = name_server_start();
    uint16_t port = free_port();
    redis_server* first = server_at("127.0.0.1", port);
    redis_server* second = server_at("127.0.0.2", port);
    dns_scene* self = scene_of(names);
    name_server_say(names, "store.example", "127.0.0.1");
    snprintf(address, sizeof(address), "store.example:%u", port);
    gh_client* client = dns_scene_client(self, address);
    DNS_UNTIL(self, gh_client_ready(client));
    assert_int_equal(redis_server_calls(second, "client|setname"), 0);

    name_server_say(names, "store.example", "127.0.0.2");
    redis_server_kill9(first);
    DNS_UNTIL(self, !gh_client_ready(client));
    DNS_UNTIL(self, gh_client_ready(client));
    use(self, client);
    assert_true(redis_server_calls(second, "client|setname") > 0);
}

/* It stands first, and refuses. */
static void dead_address_costs_one_attempt(void** state)
{
    (void)state;
    name_server* names = name_server_start();
    redis_server* redis = redis_server_start(&(redis_server_options){.tcp = true});
    dns_scene* self = dns_scene_new(names);
    self->config.families = GH_DNS_IPV4_ONLY;
    assert_int_equal(dns_scene_make(self), GH_OK);
    name_server_say(names, "store.example", "127.0.0.3 127.0.0.1");
    gh_client* client = dns_scene_client(self, by_name("store.example", redis_server_tcp_address(redis)));
    DNS_UNTIL(self, gh_client_ready(client));
    assert_int_equal(dns_scene_says(self, "command link: no connection"), 1);
    DNS_UNTIL(self, gh_client_link_state(client, GH_LINK_WAKE) == GH_LINK_READY);
}

/* Silent, then gone: the frame goes on, and so does the client when the name server is back. */
static void dead_name_server_stops_no_frame(void** state)
{
    (void)state;
    for (int gone = 0; gone < 2; gone++)
    {
        name_server* names = name_server_start();
        redis_server* redis = redis_server_start(&(redis_server_options){.tcp = true});
        dns_scene* self = dns_scene_new(names);
        self->config.timeout_us = 800 * MS * suite_patience();
        self->config.try_us = 400 * MS * suite_patience();
        assert_int_equal(dns_scene_make(self), GH_OK);
        name_server_say(names, "store.example", "127.0.0.1");
        if (gone) name_server_die(names);
        else name_server_mood_of(names, NAMES_SILENT);
        gh_client* client = dns_scene_client(self, by_name("store.example", redis_server_tcp_address(redis)));
        gh_dns_stats stats = {0};
        DNS_UNTIL(self, (stats = gh_dns_get_stats(self->dns), gone ? stats.refused > 1 : stats.timeouts > 1));
        assert_false(gh_client_ready(client));
        assert_int_equal(stats.found, 0);
        assert_true(self->longest_us <
                    self->config.try_us * 3 / 4); /* whoever waited for an answer would take longer */
        assert_true(self->ticks > 2 * stats.lookups);
        assert_int_equal(dns_scene_says(self, "2 resolver: store.example: "), 1); /* a warning, once */

        if (gone) name_server_come_back(names);
        else name_server_mood_of(names, NAMES_ANSWERS);
        DNS_UNTIL(self, gh_client_ready(client));
        use(self, client);
    }
}

/* Who is connected needs no name server, until the connection is lost. */
static void name_server_is_needed_to_connect_alone(void** state)
{
    (void)state;
    name_server* names = name_server_start();
    redis_server* redis = redis_server_start(&(redis_server_options){.tcp = true});
    dns_scene* self = scene_of(names);
    name_server_say(names, "store.example", "127.0.0.1");
    gh_client* client = dns_scene_client(self, by_name("store.example", redis_server_tcp_address(redis)));
    DNS_UNTIL(self, gh_client_ready(client) && gh_client_link_state(client, GH_LINK_WAKE) == GH_LINK_READY);
    name_server_die(names);
    use(self, client);
    self->ahead_us += 60 * MS; /* what was found for the wake link is not for the next attempt */
    redis_server_do(redis, "CLIENT KILL TYPE normal SKIPME yes");
    DNS_UNTIL(self, dns_scene_says(self, "2 resolver: store.example: ") == 1);
    assert_false(gh_client_ready(client));
    name_server_come_back(names);
    DNS_UNTIL(self, gh_client_ready(client));
    use(self, client);
}

/* One gh_dns with one place, four clients, three names: each waits for its turn. */
static void clients_share_one(void** state)
{
    (void)state;
    name_server* names = name_server_start();
    redis_server* redis = redis_server_start(&(redis_server_options){.tcp = true});
    dns_scene* self = dns_scene_new(names);
    self->config.hosts_capacity = 1;
    assert_int_equal(dns_scene_make(self), GH_OK);
    const char* hosts[DNS_CLIENTS] = {"a.example", "b.example", "c.example", "a.example"};
    for (int i = 0; i < 3; i++) name_server_say(names, hosts[i], "127.0.0.1");
    for (int i = 0; i < DNS_CLIENTS; i++) dns_scene_client(self, by_name(hosts[i], redis_server_tcp_address(redis)));
    for (int i = 0; i < DNS_CLIENTS; i++)
        DNS_UNTIL(self, gh_client_ready(self->clients[i]) &&
                            gh_client_link_state(self->clients[i], GH_LINK_WAKE) == GH_LINK_READY);
    assert_int_equal(dns_scene_says(self, "resolver did not answer"), 0);
}

/* What the header says of the heap: 70 to 800 calls in a lookup, none while nothing is looked up. */
static void heap_is_used_in_lookups_alone(void** state)
{
    (void)state;
    if (!heap_watch_works()) suite_skip("the heap cannot be watched here");
    name_server* names = name_server_start();
    redis_server* redis = redis_server_start(&(redis_server_options){.tcp = true});
    dns_scene* self = dns_scene_new(names);
    heap_watch_begin();
    assert_int_equal(dns_scene_make(self), GH_OK);
    heap_counts making = heap_watch_end();
    assert_int_equal(making.total, making.posix_memalign_calls); /* the block, which is the test's */
    name_server_say(names, "store.example", "127.0.0.1");

    char text[64];
    heap_watch_begin();
    assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
    assert_in_range(heap_watch_end().total, 20, 2000);

    gh_client* client = dns_scene_client(self, by_name("store.example", redis_server_tcp_address(redis)));
    DNS_UNTIL(self, gh_client_ready(client) && gh_client_link_state(client, GH_LINK_WAKE) == GH_LINK_READY);
    heap_watch_begin();
    for (int i = 0; i < 100; i++) dns_scene_turn(self);
    use(self, client);
    assert_int_equal(heap_watch_end().total, 0);
}

TEST_FILE(dns, cmocka_unit_test(names_reach_a_real_server), cmocka_unit_test(sixes_are_reached),
          cmocka_unit_test(localhost_is_this_machine), cmocka_unit_test(name_that_moves_is_followed),
          cmocka_unit_test(dead_address_costs_one_attempt), cmocka_unit_test(dead_name_server_stops_no_frame),
          cmocka_unit_test(name_server_is_needed_to_connect_alone), cmocka_unit_test(clients_share_one),
          cmocka_unit_test(heap_is_used_in_lookups_alone));
