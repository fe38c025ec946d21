/* test_slots_servers.c -- what slots_reader.h and slots_map.h make of the answers of real servers: nodes whose
   nodes.conf was made, so that each believes in a Cluster of any size, and two nodes that are one. */

#include "support/scratch.h"
#include "support/server/redis_server.h"
#include "support/server/stream.h"
#include "support/suite.h"
#include "wire/slots_answer.h"
#include "wire/slots_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES 16384

/* A Cluster as one of its nodes remembers it: each master has so many ranges, which alternate. */
typedef struct made_cluster
{
    unsigned masters;
    unsigned replicas; /* of each master            */
    unsigned ranges;   /* of each master            */
    unsigned gap;      /* slots at the end that nobody has */
    bool named;        /* they announce host names  */
    bool six;          /* IPv6                      */
} made_cluster;

static void print_node(FILE* file, const made_cluster* made, unsigned number)
{
    unsigned master = number % made->masters;
    char name[64] = "";
    if (made->named) snprintf(name, sizeof(name), ",node-%04u.a-fleet.abc123.euc1.cache.example", number);
    fprintf(file, "%040x ", number + 1);
    if (number == 0) fprintf(file, "127.0.0.1:7000@17000");
    else if (made->six) fprintf(file, "2001:db8::%x:6379@16379", number);
    else fprintf(file, "127.%u.%u.10:6379@16379", 1 + number / 250, number % 250);
    if (number < made->masters)
        fprintf(file, "%s %smaster - 0 0 %u connected", name, number == 0 ? "myself," : "", number + 1);
    else fprintf(file, "%s slave %040x 0 0 %u connected", name, master + 1, master + 1);
}

static void print_ranges(FILE* file, const made_cluster* made, unsigned master)
{
    unsigned slots = GH_SLOTS - made->gap, all = made->masters * made->ranges;
    for (unsigned i = master; i < all; i += made->masters)
    {
        unsigned first = i * slots / all, behind = (i + 1) * slots / all;
        if (first + 1 == behind) fprintf(file, " %u", first);
        else if (first < behind) fprintf(file, " %u-%u", first, behind - 1);
    }
}

/* A server that has read such a file. More arguments may follow; NULL at the end. */
static redis_server* start_made(const made_cluster* made, const char* name, const char* value)
{
    static char path[SCRATCH_PATH_SIZE + 16];
    char folder[SCRATCH_PATH_SIZE];
    scratch_folder(folder);
    snprintf(path, sizeof(path), "%s/nodes.conf", folder);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    for (unsigned i = 0; i < made->masters * (1 + made->replicas); i++)
    {
        print_node(file, made, i);
        if (i < made->masters) print_ranges(file, made, i);
        fprintf(file, "\n");
    }
    fprintf(file, "vars currentEpoch %u lastVoteEpoch 0\n", made->masters);
    fclose(file);
    const char* const arguments[] = {"--cluster-enabled",
                                     "yes",
                                     "--cluster-config-file",
                                     path,
                                     "--cluster-node-timeout",
                                     "600000",
                                     name,
                                     value,
                                     NULL};
    return redis_server_start(&(redis_server_options){.tcp = true, .arguments = arguments});
}

/* Asks on a connection of its own and reads as a client does: pieces as the kernel has them, no more than so many
   bytes. Takes the answer into the map as it comes; and keeps its bytes. */
static gh_slots_read ask(redis_server* server, gh_slots_map* map, byte_buffer* bytes)
{
    static const char question[] = "CLUSTER SLOTS\r\n";
    int connection = stream_connect(redis_server_address(server));
    gh_slots_reader reader;
    gh_slots_read result = GH_SLOTS_MORE;
    assert_true(connection >= 0);
    gh_slots_reader_begin(&reader);
    gh_slots_map_begin(map);
    assert_int_equal(write(connection, question, sizeof(question) - 1), sizeof(question) - 1);
    while (result == GH_SLOTS_MORE)
    {
        char* piece = buffer_reserve(bytes, PIECE_BYTES);
        ssize_t size = read(connection, piece, PIECE_BYTES);
        assert_true(size > 0);
        for (size_t at = 0, used; at < (size_t)size || result == GH_SLOTS_ROW; at += used)
        {
            result = gh_slots_reader_next(&reader, piece + at, (size_t)size - at, &used);
            if (result == GH_SLOTS_ROW) gh_slots_map_row(map, &reader.row, gh_str_literal("asked.x"));
            if (result == GH_SLOTS_DONE || result == GH_SLOTS_BROKEN || result == GH_SLOTS_NO_MAP) break;
        }
        bytes->size += (size_t)size;
    }
    if (result == GH_SLOTS_DONE) gh_slots_map_end(map);
    close(connection);
    return result;
}

/* The host of a slot's owner, as a text. */
static const char* host_of(const gh_slots_map* map, unsigned slot)
{
    static char host[GH_ENDPOINT_HOST_MAX + 1];
    uint16_t place = gh_slots_map_owner(map, (uint16_t)slot);
    if (place >= map->capacity) return place == GH_SLOTS_NOBODY ? "nobody" : "no room";
    snprintf(host, sizeof(host), "%.*s", map->nodes[place].host_size, map->nodes[place].host);
    return host;
}

static gh_slots_map* new_map(uint32_t capacity)
{
    static _Alignas(64) char block[1024 * 1024];
    static gh_slots_map map;
    gh_arena arena = gh_arena_make(block, sizeof(block));
    assert_true(gh_slots_map_take(&map, &arena, capacity));
    return &map;
}

/* What hiredis makes of the same bytes. */
static void must_be_read_as_by_hiredis(const byte_buffer* bytes)
{
    random_stream stream = random_for_test("pieces");
    byte_buffer expected = {0}, got = {0};
    slots_read_by_hiredis(&expected, bytes->bytes, bytes->size);
    assert_int_equal(slots_read(&got, bytes->bytes, bytes->size, &stream, 3000), bytes->size);
    if (strcmp(got.bytes, expected.bytes) != 0) fail_msg("%.2000s\nis not\n%.2000s", got.bytes, expected.bytes);
    buffer_free(&expected);
    buffer_free(&got);
}

static void must_have_all(const made_cluster* made)
{
    byte_buffer bytes = {0};
    gh_slots_map* map = new_map(1000);
    redis_server* server = start_made(made, NULL, NULL);
    unsigned slots = GH_SLOTS - made->gap, all = made->masters * made->ranges;
    assert_int_equal(ask(server, map, &bytes), GH_SLOTS_DONE);
    for (unsigned i = 0; i < all; i++)
    {
        unsigned node = i % made->masters;
        char host[64] = "127.0.0.1";
        if (node > 0 && made->six) snprintf(host, sizeof(host), "2001:db8::%x", node);
        else if (node > 0) snprintf(host, sizeof(host), "127.%u.%u.10", 1 + node / 250, node % 250);
        for (unsigned slot = i * slots / all; slot < (i + 1) * slots / all; slot++)
            if (node > 0 && strcmp(host_of(map, slot), host) != 0)
                fail_msg("slot %u is of %s, not of %s", slot, host_of(map, slot), host);
    }
    assert_int_equal(map->seen.gaps, made->gap);
    assert_int_equal(map->seen.bad_rows + map->seen.overlapping + map->seen.without_room, 0);
    must_be_read_as_by_hiredis(&bytes);
    buffer_free(&bytes);
    redis_server_end(server);
}

static void three_nodes_and_their_replicas(void** state)
{
    (void)state;
    must_have_all(&(made_cluster){.masters = 3, .replicas = 1, .ranges = 1});
}

static void nodes_of_ipv6(void** state)
{
    (void)state;
    must_have_all(&(made_cluster){.masters = 3, .replicas = 1, .ranges = 4, .six = true});
}

static void slots_that_nobody_has(void** state)
{
    (void)state;
    must_have_all(&(made_cluster){.masters = 3, .ranges = 2, .gap = 1000});
}

static void a_hundred_nodes(void** state)
{
    (void)state;
    must_have_all(&(made_cluster){.masters = 100, .replicas = 2, .ranges = 1});
}

static void a_hundred_nodes_of_ten_ranges(void** state)
{
    (void)state;
    must_have_all(&(made_cluster){.masters = 100, .replicas = 2, .ranges = 10});
}

/* As bad as it gets: 16,000 rows of one slot. */
static void five_hundred_nodes_of_one_slot_rows(void** state)
{
    (void)state;
    must_have_all(&(made_cluster){.masters = 500, .ranges = 32});
}

static void more_nodes_than_the_table_has_places(void** state)
{
    byte_buffer bytes = {0};
    gh_slots_map* map = new_map(40);
    (void)state;
    redis_server* server = start_made(&(made_cluster){.masters = 100, .ranges = 1}, NULL, NULL);
    assert_int_equal(ask(server, map, &bytes), GH_SLOTS_DONE);
    assert_int_equal(map->seen.rows, 100);
    assert_int_equal(map->seen.without_room, 60);
    assert_int_equal(map->seen.gaps, 0);
    assert_string_equal(host_of(map, 39u * GH_SLOTS / 100), "127.1.39.10");
    assert_string_equal(host_of(map, GH_SLOTS - 1), "no room");
    buffer_free(&bytes);
}

/* The ways of a server to name its nodes: hosts, with the name beside; names; nothing. */
static void preferred_endpoints(void** state)
{
    static const struct
    {
        const char* type;
        bool named;
        const char* host; /* of the second node */
        const char* name;
    } rows[] = {{"ip", false, "127.1.1.10", ""},
                {"ip", true, "127.1.1.10", "node-0001.a-fleet.abc123.euc1.cache.example"},
                {"hostname", true, "node-0001.a-fleet.abc123.euc1.cache.example", ""},
                {"hostname", false, "nobody", ""},
                {"unknown-endpoint", true, "asked.x", "node-0001.a-fleet.abc123.euc1.cache.example"},
                {"unknown-endpoint", false, "asked.x", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        byte_buffer bytes = {0};
        made_cluster made = {.masters = 2, .replicas = 1, .ranges = 1, .named = rows[i].named};
        gh_slots_map* map = new_map(8);
        redis_server* server = start_made(&made, "--cluster-preferred-endpoint-type", rows[i].type);
        assert_int_equal(ask(server, map, &bytes), GH_SLOTS_DONE);
        assert_string_equal(host_of(map, GH_SLOTS / 2), rows[i].host);
        uint16_t place = gh_slots_map_owner(map, GH_SLOTS / 2);
        if (place < map->capacity)
        {
            const gh_slots_node* node = &map->nodes[place];
            assert_true(gh_str_equal(gh_str_make(node->name, node->name_size), gh_str_of(rows[i].name)));
            assert_int_equal(node->port, 6379);
        }
        must_be_read_as_by_hiredis(&bytes);
        buffer_free(&bytes);
        redis_server_end(server);
    }
}

static void a_server_without_cluster_has_no_map(void** state)
{
    byte_buffer bytes = {0};
    (void)state;
    assert_int_equal(ask(redis_server_start(NULL), new_map(3), &bytes), GH_SLOTS_NO_MAP);
    buffer_free(&bytes);
}

static void a_pair_agrees(void** state)
{
    redis_server* nodes[2];
    (void)state;
    redis_server_cluster_pair(nodes);
    unsigned port = (unsigned)atoi(strrchr(redis_server_tcp_address(nodes[0]), ':') + 1);
    for (int i = 0; i < 2; i++)
    {
        byte_buffer bytes = {0};
        gh_slots_map* map = new_map(3);
        assert_int_equal(ask(nodes[i], map, &bytes), GH_SLOTS_DONE);
        assert_int_equal(map->seen.gaps, 0);
        assert_int_equal(map->nodes[gh_slots_map_owner(map, 7)].port, port);
        buffer_free(&bytes);
    }
}

TEST_FILE(slots_servers, cmocka_unit_test(three_nodes_and_their_replicas), cmocka_unit_test(nodes_of_ipv6),
          cmocka_unit_test(slots_that_nobody_has), cmocka_unit_test(a_hundred_nodes),
          cmocka_unit_test(a_hundred_nodes_of_ten_ranges), cmocka_unit_test(five_hundred_nodes_of_one_slot_rows),
          cmocka_unit_test(more_nodes_than_the_table_has_places), cmocka_unit_test(preferred_endpoints),
          cmocka_unit_test(a_server_without_cluster_has_no_map), cmocka_unit_test(a_pair_agrees));
