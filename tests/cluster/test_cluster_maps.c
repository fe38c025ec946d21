/* Maps that no Cluster would send: what they say of one node costs the others nothing, and what they say wrongly is
   mended by MOVED. */

#include "support/scene/game.h"
#include "support/server/made_cluster.h"

#include <stdio.h>
#include <string.h>

#define TICK_US 5000
#define LIED_US 10000000

/* Of a tick, while maps of a megabyte are read: as much as a map may take of one, and some for the ops. */
#define TICK_BYTES (16 * 8192 + 32768)

static gh_status nobody_has_that_name(void* context, gh_str host, gh_str* numeric)
{
    (void)context, (void)host, (void)numeric;
    return GH_REFUSED;
}

static made_cluster* start_fleet(unsigned count)
{
    made_cluster* fleet = made_cluster_new(count);
    fleet->config.resolver = nobody_has_that_name;
    for (unsigned node = 0; node < count && node < MADE_CYCLERS; node++) (void)made_cluster_cycle(fleet, node);
    return fleet;
}

static unsigned long least_cycles(const made_cluster* fleet)
{
    unsigned long least = fleet->cyclers[0].cycles;
    for (unsigned i = 1; i < fleet->cycler_count; i++)
        if (fleet->cyclers[i].cycles < least) least = fleet->cyclers[i].cycles;
    return least;
}

/* Ten seconds of that map, to which the client has come by itself; MOVED goes on to say what is true. */
static void live_with(made_cluster* fleet, made_map map)
{
    uint64_t most = 0;
    const uint64_t end_us = fleet->world->now_us + LIED_US;
    fleet->map = map;
    made_cluster_start(fleet);
    const unsigned long maps = fleet->maps;
    const uint64_t opens = fleet->world->opens;
    while (fleet->world->now_us < end_us)
    {
        const uint64_t before = scripted_stats(fleet->world).bytes_received;
        made_cluster_tick(fleet, TICK_US);
        const uint64_t bytes = scripted_stats(fleet->world).bytes_received - before;
        if (bytes > most) most = bytes;
    }
    assert_in_range(fleet->maps - maps, 1, 16);
    assert_in_range(fleet->world->opens - opens, 1, 100);
    assert_true(most <= TICK_BYTES);
    assert_true(fleet->requests_most <= 2u * fleet->cycler_count);
}

/* That many go on while it is told, and all when it is over. */
static void expect_mended(made_cluster* fleet, made_map map, unsigned going)
{
    live_with(fleet, map);
    for (unsigned i = 0; i < going; i++) assert_true(fleet->cyclers[i].cycles > LIED_US / TICK_US / 10);
    const unsigned long cycles = least_cycles(fleet);
    fleet->map = NULL;
    MADE_UNTIL(fleet, least_cycles(fleet) > cycles + 100, TICK_US, 8000000);
}

static void row(byte_buffer* reply, unsigned first, unsigned last, unsigned node)
{
    made_map_row(reply, first, last, "10.0.0.1", 8, (long)MADE_PORT + node);
}

static void map_of_nothing(made_cluster* fleet, byte_buffer* reply)
{
    (void)fleet;
    made_map_begin(reply, 0);
}

static void map_with_gaps(made_cluster* fleet, byte_buffer* reply)
{
    made_map_begin(reply, fleet->count);
    for (unsigned node = 0; node < fleet->count; node++) row(reply, node * 5461, node * 5461 + 99, node);
}

/* Each node has all slots: the first has them, and what MOVED says holds until the next map. */
static void map_with_overlaps(made_cluster* fleet, byte_buffer* reply)
{
    made_map_begin(reply, 1000 * fleet->count);
    for (unsigned i = 0; i < 1000 * fleet->count; i++) row(reply, 0, GH_SLOTS - 1, i % fleet->count);
}

/* All is at the next one, and so is what tells their epochs. */
static void map_of_wrong_nodes(made_cluster* fleet, byte_buffer* reply)
{
    made_map_begin(reply, fleet->count);
    for (unsigned node = 0; node < fleet->count; node++)
        row(reply, GH_SLOTS * node / fleet->count, GH_SLOTS * (node + 1) / fleet->count - 1, (node + 1) % fleet->count);
}

/* 16,384 rows. */
static void map_of_single_slots(made_cluster* fleet, byte_buffer* reply)
{
    made_map_begin(reply, GH_SLOTS);
    for (unsigned slot = 0; slot < GH_SLOTS; slot++) row(reply, slot, slot, fleet->owners[slot]);
}

/* Each node by two names, by turns, and both are right. */
static void map_with_two_names(made_cluster* fleet, byte_buffer* reply)
{
    const unsigned parts = 64;
    made_map_begin(reply, parts * fleet->count);
    for (unsigned i = 0; i < parts * fleet->count; i++)
        made_map_row(reply, GH_SLOTS * i / parts / fleet->count, GH_SLOTS * (i + 1) / parts / fleet->count - 1,
                     i % 2 == 0 ? "10.0.0.1" : "10.0.0.2", 8, (long)MADE_PORT + i / parts);
}

/* Of a server that is in no Cluster. */
static void map_of_nothing_is_mended(void** state)
{
    (void)state;
    made_cluster* fleet = start_fleet(3);
    expect_mended(fleet, map_of_nothing, 0);
    assert_true(scripted_logged(fleet->world, "a map without any node"));
}

/* As when one of the nodes was reset: the others are where they were. */
static void map_of_nothing_changes_nothing(void** state)
{
    (void)state;
    made_cluster* fleet = start_fleet(3);
    made_cluster_start(fleet);
    MADE_UNTIL(fleet, least_cycles(fleet) > 20, TICK_US, 10000000);
    const gh_client_stats before = scripted_stats(fleet->world);
    const unsigned long maps = fleet->maps;
    fleet->map = map_of_nothing;
    MADE_UNTIL(fleet, fleet->maps > maps + 3, TICK_US, 120000000);
    assert_int_equal(scripted_stats(fleet->world).moved, before.moved);
    assert_int_equal(scripted_stats(fleet->world).links_lost, before.links_lost);
}

static void map_with_gaps_is_mended(void** state)
{
    (void)state;
    expect_mended(start_fleet(3), map_with_gaps, 3);
}

static void map_with_overlaps_is_mended(void** state)
{
    (void)state;
    expect_mended(start_fleet(3), map_with_overlaps, 1);
}

static void map_of_wrong_nodes_is_mended(void** state)
{
    (void)state;
    expect_mended(start_fleet(3), map_of_wrong_nodes, 3);
}

static void map_of_single_slots_is_taken(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(3);
    for (unsigned slot = 0; slot < GH_SLOTS; slot++) fleet->owners[slot] = (uint16_t)(slot % 3);
    for (unsigned node = 0; node < 3; node++) (void)made_cluster_cycle(fleet, node);
    expect_mended(fleet, map_of_single_slots, 3);
    assert_true(scripted_stats(fleet->world).moved <= 6); /* while the first was read */
}

static void node_of_two_names_is_two_nodes(void** state)
{
    (void)state;
    made_cluster* fleet = start_fleet(3);
    expect_mended(fleet, map_with_two_names, 3);
    assert_int_equal(scripted_stats(fleet->world).moved, 0);
}

/* ---- where nodes are said to be ---------------------------------------------------------------------------------- */

/* Of node 0; the others are where they are. */
typedef struct odd_endpoint
{
    const char* host;
    int host_size; /* -1: nil; 0: to its NUL */
    long port;
    bool is_right; /* it is node 0 all the same, in other words */
} odd_endpoint;

static char long_host[300];

static const odd_endpoint odd_endpoints[] = {
    {"", -1, 7000, true},
    {"", 0, 7000, true},
    {"::1", 0, 7000, true},
    {"2001:db8::7", 0, 7000, true},
    {"?", 0, 7000, false},
    {"10.0.0.1", 0, 0, false},
    {"10.0.0.1", 0, 65536, false},
    {"10.0.0.1", 0, 99999999, false},
    {"10.0.0.1", 0, -7000, false},
    {long_host, 300, 7000, false},
    {"10.0.0.1\r\n:1", 0, 7000, false},
    {"\0\0\0\0", 4, 7000, false},
    {"\xff\xfe", 0, 7000, false},
    {"unix:/tmp/x", 0, 7000, false},
    {"[::1]", 0, 7000, false},
    {"10.0.0.1,10.0.0.9", 0, 7000, false},
    {"1:2", 0, 7000, false},
    {"node-1.game", 0, 7000, false},
    {"999.1.1.1", 0, 7000, false},
    {long_host, 253, 7000, false},
};

static const odd_endpoint* odd;

static void map_of_odd_endpoint(made_cluster* fleet, byte_buffer* reply)
{
    const int size = odd->host_size == 0 ? (int)strlen(odd->host) : odd->host_size;
    made_map_begin(reply, fleet->count);
    made_map_row(reply, 0, GH_SLOTS / fleet->count, odd->host, size, odd->port);
    for (unsigned node = 1; node < fleet->count; node++)
        row(reply, GH_SLOTS * node / fleet->count + 1, GH_SLOTS * (node + 1) / fleet->count - 1, node);
}

/* Who is there waits until somebody says where that is, as the others go on. */
static void odd_endpoints_are_passed_over(void** state)
{
    (void)state;
    memset(long_host, 'a', sizeof long_host);
    for (size_t i = 0; i < sizeof odd_endpoints / sizeof odd_endpoints[0]; i++)
    {
        made_cluster* fleet = start_fleet(3);
        odd = &odd_endpoints[i];
        live_with(fleet, map_of_odd_endpoint);
        const unsigned long cycles = fleet->cyclers[0].cycles;
        if (fleet->cyclers[1].cycles < 200 || fleet->cyclers[2].cycles < 200) fail_msg("row %zu: others wait, too", i);
        if (odd->is_right && cycles < 200) fail_msg("row %zu: node 0 is not found", i);
        if (odd->is_right && scripted_stats(fleet->world).moved > 0)
            fail_msg("row %zu: node 0 is taken for another", i);
        fleet->map = NULL;
        MADE_UNTIL(fleet, fleet->cyclers[0].cycles > cycles + 100, TICK_US, 8000000);
    }
}

/* Whoever sleeps until something is to be done is not kept awake by it, and a person is told. */
static void node_that_cannot_be_connected_to_is_tried_now_and_then(void** state)
{
    (void)state;
    made_cluster* fleet = start_fleet(3);
    unsigned ticks = 0;
    odd = &odd_endpoints[17];
    assert_string_equal(odd->host, "node-1.game");
    live_with(fleet, map_of_odd_endpoint);
    fleet->cycler_count = 0;
    const uint64_t end_us = fleet->world->now_us + LIED_US;
    for (; fleet->world->now_us < end_us; ticks++)
    {
        uint64_t due_us = gh_next_deadline(fleet->world->client);
        made_cluster_tick(fleet, due_us > fleet->world->now_us ? due_us - fleet->world->now_us : 1);
    }
    assert_true(ticks < 200);
    assert_true(scripted_logged(fleet->world, "node-1.game:7000"));
}

/* ---- more nodes than there is room for --------------------------------------------------------------------------- */

static unsigned times_logged(const scripted* world, const char* text)
{
    unsigned times = 0;
    const size_t size = strlen(text);
    for (size_t i = 0; i + size <= world->log.size; i++) times += memcmp(world->log.bytes + i, text, size) == 0;
    return times;
}

static bool is_warned(const made_cluster* fleet)
{
    return (scripted_stats(fleet->world).warnings & GH_WARNING_NODES) != 0;
}

/* Those in the table go on; those that are not, wait until there is room. That is said once, and what to do. */
static void live_without_room(made_cluster* fleet)
{
    fleet->config.nodes_capacity = 32;
    live_with(fleet, NULL);
    assert_true(least_cycles(fleet) > LIED_US / TICK_US / 10);
    assert_true(is_warned(fleet));
    gh_lock* lock = made_cluster_want(fleet, fleet->count - 1, 2000000);
    gh_lock* patient = made_cluster_want(fleet, fleet->count - 1, 3600000000u);
    const uint64_t moved = scripted_stats(fleet->world).moved;
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) != GH_PENDING, TICK_US, 3000000);
    assert_status(gh_op_poll(&lock->op), GH_TIMEOUT);
    assert_in_range(scripted_stats(fleet->world).moved - moved, 10, 2 * (2000000 / 25000 + 12));
    assert_int_equal(times_logged(fleet->world, "larger than nodes_capacity: enlarge it, it is 32"), 1);
    assert_true(is_warned(fleet));
    made_cluster_share(fleet, 20);
    MADE_UNTIL(fleet, gh_op_poll(&patient->op) == GH_HELD, TICK_US, 3000000);
    MADE_UNTIL(fleet, !is_warned(fleet), TICK_US, 8000000);
}

static void nodes_without_room_wait(void** state)
{
    (void)state;
    live_without_room(start_fleet(33));
    live_without_room(start_fleet(2000));
}

static bool is_connected(const made_cluster* fleet, unsigned node)
{
    for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (fleet->world->streams[i].open && fleet->world->streams[i].port == MADE_PORT + node) return true;
    return false;
}

/* All have a place, and one of them is replaced, which has something that is held: the new one is asked what it knows,
   though the table was full when it was first heard of, and nobody asks anything else of it. */
static void full_table_has_room_for_who_replaces_another(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(3);
    fleet->config.nodes_capacity = 3;
    made_cluster_start(fleet);
    char* name = scripted_keep(fleet->world, 24);
    const uint64_t hour_us = 3600000000u;
    gh_lock* locks[3];
    for (unsigned node = 0; node < 3; node++)
    {
        (void)made_name(fleet, node, 1, name);
        locks[node] = scripted_want(fleet->world, name, hour_us, hour_us);
        MADE_UNTIL(fleet, gh_op_poll(&locks[node]->op) == GH_HELD, TICK_US, 3000000);
    }
    for (unsigned slot = 0; slot < GH_SLOTS; slot++)
        if (fleet->owners[slot] == 0) fleet->owners[slot] = 5;
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (fleet->world->streams[i].port == MADE_PORT) fleet->world->streams[i].ended = true;
    MADE_UNTIL(fleet, is_connected(fleet, 5), TICK_US, 10000000);
    assert_status(gh_op_poll(&locks[0]->op), GH_HELD);
}

/* ---- answers that are none --------------------------------------------------------------------------------------- */

static const char* said;

static void say_instead(made_cluster* fleet, byte_buffer* reply)
{
    (void)fleet;
    buffer_add(reply, said, strlen(said));
}

/* The client has a map, and asks for another as a slot has moved. All go on, and the next map is taken. */
static void expect_passed_over(const char* text, const char* password)
{
    made_cluster* fleet = made_cluster_new(3);
    for (unsigned node = 0; node < 3; node++) (void)made_cluster_cycle(fleet, node);
    said = text;
    fleet->config.password = gh_str_of(password);
    made_cluster_start(fleet);
    MADE_UNTIL(fleet, least_cycles(fleet) >= 10, TICK_US, 10000000);
    fleet->map = say_instead;
    for (unsigned slot = 0; slot < GH_SLOTS; slot++) fleet->owners[slot] = (uint16_t)((fleet->owners[slot] + 1) % 3);
    const unsigned long maps = fleet->maps;
    const unsigned long cycles = least_cycles(fleet);
    for (int i = 0; i < 1000; i++) made_cluster_tick(fleet, TICK_US);
    if (fleet->maps == maps) fail_msg("no map was asked for: %s", text);
    assert_true(least_cycles(fleet) - cycles > 100);
    fleet->map = NULL;
    const uint64_t read = scripted_stats(fleet->world).maps_read;
    for (unsigned slot = 0; slot < GH_SLOTS; slot++) fleet->owners[slot] = (uint16_t)((fleet->owners[slot] + 1) % 3);
    MADE_UNTIL(fleet, scripted_stats(fleet->world).maps_read > read, TICK_US, 10000000);
}

static void answers_that_are_no_map_are_passed_over(void** state)
{
    (void)state;
    static const char* const answers[] = {"*1\r\n:5\r\n",
                                          "*1\r\n*1\r\n$1\r\nx\r\n",
                                          "!what\r\n",
                                          "+OK\r\n",
                                          "-BUSY Redis is busy running a script.\r\n",
                                          "-LOADING Redis is loading the dataset in memory\r\n",
                                          "-CLUSTERDOWN The cluster is down\r\n",
                                          "-READONLY no\r\n",
                                          "-ERR unknown command\r\n",
                                          "-NOPERM no\r\n"};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
    {
        expect_passed_over(answers[i], "");
        expect_passed_over(answers[i], "secret");
    }
}

/* ---- a seed that is a name --------------------------------------------------------------------------------------- */

static unsigned resolutions;

static gh_status resolve_later(void* context, gh_str host, gh_str* numeric)
{
    (void)context;
    assert_true(gh_str_equal(host, gh_str_literal("game.example")));
    *numeric = gh_str_literal("10.0.0.1");
    return ++resolutions < 4 ? GH_PENDING : GH_OK;
}

/* Who sleeps until gh_next_deadline does not sleep through the resolver's answer. */
static void resolver_of_a_seed_is_asked_by_those_who_sleep(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(3);
    resolutions = 0;
    fleet->config.address = gh_str_literal("game.example:7000");
    fleet->config.resolver = resolve_later;
    scripted_start(fleet->world, &fleet->config);
    for (unsigned ticks = 0; !gh_client_ready(fleet->world->client); ticks++)
    {
        const uint64_t now_us = fleet->world->now_us;
        const uint64_t due_us = ticks == 0 ? now_us : gh_next_deadline(fleet->world->client);
        assert_true(ticks < 1000);
        assert_true(due_us <= now_us + 10000000);
        scripted_tick(fleet->world, due_us > now_us ? due_us - now_us : 0);
        scripted_tick(fleet->world, 1000); /* what was answered */
    }
    assert_true(resolutions >= 4);
}

TEST_FILE(cluster_maps, cmocka_unit_test(answers_that_are_no_map_are_passed_over),
          cmocka_unit_test(resolver_of_a_seed_is_asked_by_those_who_sleep), cmocka_unit_test(map_of_nothing_is_mended),
          cmocka_unit_test(map_of_nothing_changes_nothing), cmocka_unit_test(map_with_gaps_is_mended),
          cmocka_unit_test(map_with_overlaps_is_mended), cmocka_unit_test(map_of_wrong_nodes_is_mended),
          cmocka_unit_test(map_of_single_slots_is_taken), cmocka_unit_test(node_of_two_names_is_two_nodes),
          cmocka_unit_test(odd_endpoints_are_passed_over),
          cmocka_unit_test(node_that_cannot_be_connected_to_is_tried_now_and_then),
          cmocka_unit_test(nodes_without_room_wait), cmocka_unit_test(full_table_has_room_for_who_replaces_another));
