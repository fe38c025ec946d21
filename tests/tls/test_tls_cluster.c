/* A Cluster that speaks TLS, as managed services have them: certificates have names, not numbers. Real servers, and a
   client that knows them by names. */

#include "tls/tls_scene.h"

#include "support/server/cluster.h"
#include "support/server/redis_process.h"
#include "support/server/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODES     6
#define NAME_SIZE 40
#define MAPPED    7000 /* the port that all say, where they are told apart by their numbers */

static cluster* fleet; /* of the test that runs */
static uint16_t ports[NODES];

/* What the resolver makes of node-0 .. node-5, and of any other name what it makes of node-0. */
static const char* numbers[NODES];

static gh_status look_up(void* context, gh_str host, gh_str* numeric)
{
    (void)context;
    char name[NAME_SIZE];
    *numeric = gh_str_of(numbers[0]);
    for (int i = 0; i < NODES; i++)
    {
        snprintf(name, sizeof(name), "node-%d.game.example", i);
        if (gh_str_equal(host, gh_str_of(name))) *numeric = gh_str_of(numbers[i]);
    }
    return GH_OK;
}

/* ---- the fleet --------------------------------------------------------------------------------------------------- */

static uint16_t free_port(void)
{
    uint16_t port = 0;
    int listener = stream_listen_tcp(false, &port);
    assert_true(listener >= 0);
    close(listener);
    return port;
}

static bool all_know(const char* words)
{
    for (size_t i = 0; i < cluster_count(fleet); i++)
        if (strstr(redis_server_text(cluster_node(fleet, i), "CLUSTER NODES"), words) == NULL) return false;
    return true;
}

static void announce_name(size_t index, const char* name)
{
    redis_server_do(cluster_node(fleet, index), "CONFIG SET cluster-announce-hostname %s", name);
    WAIT_FOR(all_know(name));
}

static void start_fleet(unsigned replicas, const char* preferred, const char* certificate)
{
    char settings[64], text[64];
    redis_process_needs_tls();
    cluster_needs_names();
    snprintf(settings, sizeof(settings), "cluster-preferred-endpoint-type %s\n", preferred);
    fleet = cluster_start(&(cluster_options){.settings = settings, .replicas = replicas});
    for (size_t i = 0; i < cluster_count(fleet); i++)
    {
        redis_server* node = cluster_node(fleet, i);
        snprintf(text, sizeof(text), "node%zu", i);
        tls_set_certificate(node, certificate == NULL ? text : certificate);
        ports[i] = free_port();
        redis_server_do(node, "CONFIG SET tls-port %u", ports[i]);
        snprintf(text, sizeof(text), "node-%zu.game.example", i);
        announce_name(i, text);
        numbers[i] = "127.0.0.1";
    }
}

/* What is said to everybody are the ports of TLS, so replicas speak it, too. */
static void announce_ports(void)
{
    char address[32];
    for (size_t i = 0; i < cluster_count(fleet); i++)
        redis_server_do(cluster_node(fleet, i), "CONFIG SET tls-replication yes");
    for (size_t i = 0; i < cluster_count(fleet); i++)
    {
        snprintf(address, sizeof(address), "127.0.0.1:%u", ports[i]);
        cluster_announce(fleet, cluster_node(fleet, i), address);
    }
    cluster_settle(fleet);
}

/* ---- the client -------------------------------------------------------------------------------------------------- */

static tls_scene* start_scene(const char* seed, const gh_platform* inner)
{
    tls_scene* self = tls_scene_new(seed);
    self->client_config.topology = gh_topology_cluster();
    self->client_config.resolver = look_up;
    self->config.streams_capacity = 16;
    self->config.tickets_capacity = 16;
    self->config.steps_per_tick = 64;
    if (inner != NULL) self->inner = inner;
    tls_scene_start(self);
    return self;
}

static gh_status take(tls_scene* self, const char* name)
{
    gh_lock lock = GH_ZERO;
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 20000000;
    assert_int_equal(gh_lock_begin(&lock, self->client, gh_str_of(name), &config), GH_OK);
    TLS_UNTIL(self, gh_op_poll(&lock.op) != GH_PENDING);
    gh_status status = gh_op_poll(&lock.op);
    if (status != GH_HELD) return status;
    gh_lock_release(&lock);
    TLS_UNTIL(self, gh_op_poll(&lock.op) != GH_PENDING && gh_op_poll(&lock.op) != GH_HELD);
    return gh_op_poll(&lock.op);
}

/* Locks on all masters. */
static void take_all(tls_scene* self)
{
    for (int i = 0; i < 12; i++)
    {
        char name[16];
        snprintf(name, sizeof(name), "door%d", i);
        assert_int_equal(take(self, name), GH_OK);
    }
}

static unsigned slot_of_door(int i)
{
    char key[32];
    snprintf(key, sizeof(key), "gh:{lock:door%d}:s", i);
    return cluster_slot(key);
}

static size_t index_of(const redis_server* node)
{
    size_t i = 0;
    while (cluster_node(fleet, i) != node) i++;
    return i;
}

static void move_the_slot_of_door_0(void)
{
    cluster_move_slot(fleet, slot_of_door(0), cluster_master(fleet, (slot_of_door(0) + 8192) % CLUSTER_SLOTS));
}

/* One command with one key of a slot that is on its way, and all keys with it. */
static void ask_out_of_turn(tls_scene* self)
{
    unsigned slot = cluster_slot("door");
    redis_server_do(cluster_master(fleet, slot), "SET door open");
    cluster_move move = cluster_move_begin(fleet, slot, cluster_master(fleet, (slot + 8192) % CLUSTER_SLOTS));
    while (cluster_move_keys(&move, 100) > 0) continue;
    gh_command_line line = GH_ZERO;
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_SAFE;
    assert_int_equal(gh_command_format(&line, self->client, &config, "GET door"), GH_OK);
    TLS_UNTIL(self, gh_op_poll(&line.op) != GH_PENDING);
    assert_int_equal(gh_op_poll(&line.op), GH_OK);
    cluster_move_end(&move);
    gh_client_stats stats;
    assert_int_equal(gh_client_get_stats(self->client, &stats), GH_OK);
    assert_true(stats.asked > 0);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* Each by the name that it announces beside its number: the first ones, those that MOVED and ASK name, and a replica
   that takes over. */
static void nodes_are_verified_by_what_they_announce(void** state)
{
    (void)state;
    char seed[64];
    start_fleet(1, "ip", NULL);
    announce_ports();
    snprintf(seed, sizeof(seed), "fleet.game.example:%u", ports[0]);
    tls_scene* self = start_scene(seed, NULL);
    take_all(self);
    ask_out_of_turn(self);
    move_the_slot_of_door_0();
    take_all(self);
    redis_server* old = cluster_master(fleet, 0);
    cluster_failover(fleet, 0, CLUSTER_PLANNED);
    redis_server* next = cluster_await_master(fleet, 0, old);
    take_all(self);
    assert_true(index_of(next) >= 3);
    TLS_UNTIL(self, gh_tls_get_stats(self->tls).streams >= 4);
    assert_int_equal(gh_tls_get_stats(self->tls).failed, 0);
}

/* A node whose certificate is for another name gets nothing to hear; the others go on. */
static void node_of_another_name_is_not_spoken_to(void** state)
{
    (void)state;
    char seed[64];
    start_fleet(0, "ip", NULL);
    announce_ports();
    size_t liar = index_of(cluster_master(fleet, slot_of_door(0)));
    tls_set_certificate(cluster_node(fleet, liar), "node5");
    snprintf(seed, sizeof(seed), "fleet.game.example:%u", ports[(liar + 1) % 3]);
    tls_scene* self = start_scene(seed, NULL);
    gh_lock lock = GH_ZERO;
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 60000000;
    assert_int_equal(gh_lock_begin(&lock, self->client, gh_str_literal("door0"), &config), GH_OK);
    tls_scene_says(self, "the server's certificate is for another name (4), 127.0.0.1:");
    assert_int_equal(gh_op_poll(&lock.op), GH_PENDING);
    int other = 1;
    while (cluster_master(fleet, slot_of_door(other)) == cluster_node(fleet, liar)) other++;
    char name[16];
    snprintf(name, sizeof(name), "door%d", other);
    assert_int_equal(take(self, name), GH_OK);
    char right[16];
    snprintf(right, sizeof(right), "node%zu", liar);
    tls_set_certificate(cluster_node(fleet, liar), right);
    TLS_UNTIL(self, gh_op_poll(&lock.op) != GH_PENDING);
    assert_int_equal(gh_op_poll(&lock.op), GH_HELD);
    gh_lock_release(&lock);
    TLS_UNTIL(self, !gh_op_is_busy(&lock.op));
}

/* ---- names that lead to other machines --------------------------------------------------------------------------- */

/* Machines 10.0.0.0 .. 10.0.0.2 are the nodes' ports of this one. */
static gh_status open_machine(void* context, const gh_address* wanted, intptr_t* stream)
{
    (void)context;
    const gh_platform* real = gh_platform_default();
    gh_address address = *wanted;
    if (wanted->host.size == 8 && memcmp(wanted->host.bytes, "10.0.0.", 7) == 0)
    {
        address.host = gh_str_literal("127.0.0.1");
        address.port = ports[wanted->host.bytes[7] - '0'];
    }
    return real->open(real->context, &address, stream);
}

static bool all_say_the_port(void)
{
    for (size_t i = 0; i < 3; i++)
    {
        const char* at = redis_server_text(cluster_node(fleet, i), "CLUSTER NODES");
        int times = 0;
        while ((at = strstr(at, ":7000@")) != NULL) at++, times++;
        if (times < 3) return false;
    }
    return true;
}

static tls_scene* start_on_machines(const char* certificate)
{
    static const char* const machines[] = {"10.0.0.0", "10.0.0.1", "10.0.0.2"};
    static gh_platform network;
    network = *gh_platform_default();
    network.open = open_machine;
    start_fleet(0, "hostname", certificate);
    for (size_t i = 0; i < 3; i++)
    {
        redis_server_do(cluster_node(fleet, i), "CONFIG SET cluster-announce-port %d", MAPPED);
        numbers[i] = machines[i];
    }
    WAIT_FOR(all_say_the_port());
    cluster_settle(fleet);
    return start_scene("fleet.game.example:7000", &network);
}

static void swap_machines(int one, int two)
{
    const char* number = numbers[one];
    numbers[one] = numbers[two];
    numbers[two] = number;
}

static void cut_all(void)
{
    for (size_t i = 0; i < 3; i++) redis_server_do(cluster_node(fleet, i), "CLIENT KILL TYPE normal SKIPME yes");
}

static gh_client_stats stats_of(const tls_scene* self)
{
    gh_client_stats stats;
    assert_int_equal(gh_client_get_stats(self->client, &stats), GH_OK);
    return stats;
}

/* Each machine has its own certificate: whoever is reached by a wrong number is not spoken to. */
static void wrong_machine_is_not_spoken_to(void** state)
{
    (void)state;
    tls_scene* self = start_on_machines(NULL);
    take_all(self);
    swap_machines(1, 2);
    cut_all();
    tls_scene_says(self, "the server's certificate is for another name (4), node-");
    swap_machines(1, 2);
    take_all(self);
    assert_null(strstr(self->log, "it goes elsewhere")); /* what was asked there says MOVED to the name itself */
}

/* All have one certificate, and a machine that is reached by a wrong name says MOVED to that very name, to the first
   thing that is asked of it: it is looked up until it leads to the node. */
static void wrong_machine_of_the_right_name_is_left(void** state)
{
    (void)state;
    tls_scene* self = start_on_machines("nodes");
    take_all(self);
    assert_int_equal(stats_of(self).moved, 0);
    int other = (int)index_of(cluster_master(fleet, slot_of_door(0)));
    swap_machines(other, (other + 1) % 3);
    cut_all();
    gh_lock lock = GH_ZERO;
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 60000000;
    assert_int_equal(gh_lock_begin(&lock, self->client, gh_str_literal("door0"), &config), GH_OK);
    tls_scene_says(self, "it goes elsewhere, node-"); /* it says MOVED, to the name that it was reached by */
    assert_int_equal(gh_op_poll(&lock.op), GH_PENDING);
    swap_machines(other, (other + 1) % 3);
    TLS_UNTIL(self, gh_op_poll(&lock.op) != GH_PENDING);
    assert_int_equal(gh_op_poll(&lock.op), GH_HELD);
    gh_lock_release(&lock);
    TLS_UNTIL(self, !gh_op_is_busy(&lock.op));
    take_all(self);
}

TEST_FILE(tls_cluster, cmocka_unit_test(nodes_are_verified_by_what_they_announce),
          cmocka_unit_test(node_of_another_name_is_not_spoken_to), cmocka_unit_test(wrong_machine_is_not_spoken_to),
          cmocka_unit_test(wrong_machine_of_the_right_name_is_left));
