/* The fleets of servers do what their headers say: they form, fail over, hand slots on, and leave nothing behind. */

#include "support/process.h"
#include "support/scene/rights.h"
#include "support/server/cluster.h"
#include "support/server/proxy.h"
#include "support/server/raw.h"
#include "support/server/sentinels.h"
#include "support/server/stream.h"
#include "support/wait.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEY_SIZE 32

/* ---- helpers ------------------------------------------------------------------------------------------- */

/* The number-th key of a slot. */
static const char* key_in(unsigned slot, unsigned number)
{
    static char keys[8][KEY_SIZE];
    static unsigned turn;
    char tag[CLUSTER_TAG_SIZE];
    char* key = keys[turn++ % 8];
    cluster_tag(slot, tag);
    snprintf(key, KEY_SIZE, "gh:{%s}:%u", tag, number);
    return key;
}

/* True if the command is answered with an error that begins so. */
static bool is_refused(redis_server* server, const char* command, const char* words)
{
    redisReply* reply = redis_server_command(server, command);
    bool result = reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, words, strlen(words)) == 0;
    freeReplyObject(reply);
    return result;
}

/* "MOVED 93 127.0.0.1:10001" */
static bool sends_to(redis_server* from, unsigned slot, const char* kind, const redis_server* to)
{
    char command[KEY_SIZE + 8];
    char expected[80];
    snprintf(command, sizeof(command), "GET %s", key_in(slot, 9999));
    snprintf(expected, sizeof(expected), "%s %u %s", kind, slot, redis_server_tcp_address(to));
    return is_refused(from, command, expected);
}

/* A replica answers reads only where it was told that this is meant. */
static bool replica_has(redis_server* replica, const char* key, const char* value)
{
    redis_server_do(replica, "READONLY");
    const char* text = redis_server_text(replica, "GET %s", key);
    bool result = text != NULL && strcmp(text, value) == 0;
    redis_server_do(replica, "READWRITE");
    return result;
}

static void set_some(redis_server* server, unsigned slot, unsigned count)
{
    for (unsigned i = 0; i < count; i++) redis_server_do(server, "SET %s %u", key_in(slot, i), i);
}

static unsigned masters_of(cluster* fleet, unsigned* slots)
{
    unsigned masters = 0;
    *slots = 0;
    for (size_t i = 0; i < cluster_count(fleet); i++)
    {
        if (!cluster_is_master(cluster_node(fleet, i))) continue;
        masters++;
        *slots += cluster_slots_of(cluster_node(fleet, i));
    }
    return masters;
}

static bool answers(const char* address)
{
    int descriptor = stream_connect(address);
    if (descriptor >= 0) close(descriptor);
    return descriptor >= 0;
}

/* ---- a Cluster that is well ---------------------------------------------------------------------------- */

static void slots_of_keys_are_the_servers(void** state)
{
    (void)state;
    static const char* const keys[] = {"", "a", "gh:{lock:door}:s", "{}a", "a{b", "a}b{c}d", "{{a}}", "a{b}{c}"};
    redis_server* node = cluster_node(cluster_shared(), 0);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        assert_int_equal(redis_server_integer(node, "CLUSTER KEYSLOT %s", keys[i]), cluster_slot(keys[i]));
    static const unsigned slots[] = {0, 1, 93, 8191, 16383};
    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
        assert_int_equal(redis_server_integer(node, "CLUSTER KEYSLOT %s", key_in(slots[i], 7)), slots[i]);
}

static void cluster_has_all_slots_and_replicas_hear_of_writes(void** state)
{
    (void)state;
    static const unsigned slots[] = {0, 5460, 5461, 16383};
    cluster* fleet = cluster_shared();
    unsigned all;
    assert_int_equal(cluster_count(fleet), 6);
    assert_int_equal(masters_of(fleet, &all), 3);
    assert_int_equal(all, CLUSTER_SLOTS);
    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
    {
        redis_server* master = cluster_master(fleet, slots[i]);
        redis_server* replica = cluster_replica(fleet, master, 0);
        redis_server* other = cluster_master(fleet, (slots[i] + CLUSTER_SLOTS / 2) % CLUSTER_SLOTS);
        const char* key = key_in(slots[i], 0);
        redis_server_do(master, "SET %s written", key);
        WAIT_FOR(replica_has(replica, key, "written"));
        assert_null(cluster_replica(fleet, master, 1));
        assert_ptr_not_equal(other, master);
        assert_true(sends_to(other, slots[i], "MOVED", master));
        assert_true(sends_to(replica, slots[i], "MOVED", master));
    }
}

static void shared_cluster_is_empty_and_whole_again(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    redis_server* master = cluster_master(fleet, 93);
    set_some(master, 93, 3);
    redis_server_kill9(cluster_replica(fleet, master, 0));
    redis_server_freeze(cluster_master(fleet, 12000));
    assert_ptr_equal(cluster_shared(), fleet);
    for (size_t i = 0; i < cluster_count(fleet); i++)
    {
        assert_true(redis_server_runs(cluster_node(fleet, i)));
        if (cluster_is_master(cluster_node(fleet, i))) assert_int_equal(redis_server_keys(cluster_node(fleet, i)), 0);
    }
    assert_true(cluster_has_settled(fleet));
}

/* What holds for all seeds: they are the nodes' own addresses, and somebody listens there. */
static void seeds_are_all_nodes(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    char seeds[512];
    size_t count = 0;
    snprintf(seeds, sizeof(seeds), "%s", cluster_seeds(fleet));
    for (char* each = strtok(seeds, ","); each != NULL; each = strtok(NULL, ","))
    {
        assert_string_equal(each, redis_server_tcp_address(cluster_node(fleet, count)));
        assert_true(answers(each));
        count++;
    }
    assert_int_equal(count, 6);
}

/* ---- failovers ----------------------------------------------------------------------------------------- */

static unsigned ticks;

static void count_tick(void)
{
    ticks++;
}

static void killed_master_is_replaced_and_comes_back_as_replica(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    redis_server* old = cluster_master(fleet, 93);
    redis_server* heir = cluster_replica(fleet, old, 0);
    set_some(old, 93, 1);
    WAIT_FOR(replica_has(heir, key_in(93, 0), "0"));
    redis_server_kill9(old);
    ticks = 0;
    wait_meanwhile(count_tick);
    assert_ptr_equal(cluster_await_master(fleet, 93, old), heir);
    assert_true(ticks > 16);
    wait_meanwhile(NULL);
    assert_string_equal(redis_server_text(heir, "GET %s", key_in(93, 0)), "0");

    redis_server_restart(old);
    WAIT_FOR(!cluster_is_master(old));
    cluster_settle(fleet);
    assert_ptr_equal(cluster_replica(fleet, heir, 0), old);
    assert_true(replica_has(old, key_in(93, 0), "0"));
}

static void frozen_master_is_replaced_and_gives_way_when_it_thaws(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    redis_server* old = cluster_master(fleet, 93);
    redis_server_freeze(old);
    redis_server* next = cluster_await_master(fleet, 93, old);
    redis_server_thaw(old);
    cluster_settle(fleet);
    assert_ptr_equal(cluster_master(fleet, 93), next);
    assert_ptr_equal(cluster_replica(fleet, next, 0), old);
}

static void planned_failover_loses_nothing(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    redis_server* old = cluster_master(fleet, 93);
    set_some(old, 93, 20);
    redis_server* next = cluster_failover(fleet, 93, CLUSTER_PLANNED);
    assert_ptr_equal(next, cluster_await_master(fleet, 93, old));
    for (unsigned i = 0; i < 20; i++) assert_int_equal(redis_server_integer(next, "GET %s", key_in(93, i)), i);
    cluster_settle(fleet);
    assert_false(cluster_is_master(old));
    assert_true(sends_to(old, 93, "MOVED", next));
}

static void failover_by_force_needs_no_master(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    redis_server* old = cluster_master(fleet, 93);
    redis_server_freeze(old);
    redis_server* next = cluster_failover(fleet, 93, CLUSTER_FORCE);
    assert_ptr_equal(next, cluster_await_master(fleet, 93, old));
}

static void takeover_needs_no_other_masters(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    redis_server* first = cluster_master(fleet, 93);
    redis_server* second = cluster_master(fleet, 12000);
    assert_ptr_not_equal(first, second);
    redis_server_kill9(first);
    redis_server_kill9(second);
    redis_server* survivor = cluster_master(fleet, 8191);
    WAIT_FOR(is_refused(survivor, "GET a", "CLUSTERDOWN"));
    cluster_failover(fleet, 93, CLUSTER_TAKEOVER);
    cluster_failover(fleet, 12000, CLUSTER_TAKEOVER);
    cluster_await_master(fleet, 93, first);
    cluster_await_master(fleet, 12000, second);
}

/* ---- restarts ------------------------------------------------------------------------------------------ */

/* Long before anybody would replace it. */
static void restarted_master_has_its_keys_unless_it_shall_not(void** state)
{
    (void)state;
    cluster* fleet =
        cluster_start(&(cluster_options){.masters = 1, .replicas = 1, .node_timeout_ms = 15000, .append_only = true});
    redis_server* master = cluster_master(fleet, 93);
    redis_server* replica = cluster_replica(fleet, master, 0);
    set_some(master, 93, 5);
    redis_server_restart(master);
    assert_int_equal(redis_server_integer(master, "CLUSTER COUNTKEYSINSLOT 93"), 5);
    cluster_settle(fleet);
    assert_ptr_equal(cluster_master(fleet, 93), master);
    assert_true(replica_has(replica, key_in(93, 4), "4"));

    char id[64];
    snprintf(id, sizeof(id), "%s", cluster_id(fleet, master));
    cluster_restart_empty(master);
    assert_string_equal(redis_server_text(master, "CLUSTER MYID"), id);
    assert_int_equal(redis_server_keys(master), 0);
    cluster_settle(fleet);
    assert_ptr_equal(cluster_master(fleet, 93), master);
    WAIT_FOR(redis_server_keys(replica) == 0);
}

/* ---- slots on their way -------------------------------------------------------------------------------- */

/* How many of the keys the source has no more, and names the target for. */
static unsigned asked_for(redis_server* from, unsigned slot, unsigned count, const redis_server* to)
{
    unsigned asked = 0;
    for (unsigned i = 0; i < count; i++)
    {
        char expected[80];
        redisReply* reply = redis_server_command(from, "GET %s", key_in(slot, i));
        snprintf(expected, sizeof(expected), "ASK %u %s", slot, redis_server_tcp_address(to));
        if (reply->type == REDIS_REPLY_ERROR && strcmp(reply->str, expected) == 0) asked++;
        else assert_int_equal(reply->type, REDIS_REPLY_STRING);
        freeReplyObject(reply);
    }
    return asked;
}

/* A command with two keys, one of which has moved. */
static bool is_told_to_try_again(redis_server* from, unsigned slot, unsigned count)
{
    bool told = false;
    for (unsigned i = 1; i < count && !told; i++)
    {
        char command[2 * KEY_SIZE + 16];
        snprintf(command, sizeof(command), "EXISTS %s %s", key_in(slot, 0), key_in(slot, i));
        told = is_refused(from, command, "TRYAGAIN");
    }
    return told;
}

static void slot_moves_in_steps(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    redis_server* from = cluster_master(fleet, 93);
    redis_server* to = cluster_master(fleet, 12000);
    set_some(from, 93, 10);

    cluster_move move = cluster_move_begin(fleet, 93, to);
    assert_int_equal(asked_for(from, 93, 10, to), 0);
    assert_true(sends_to(from, 93, "ASK", to)); /* a key that nobody has */
    assert_true(sends_to(to, 93, "MOVED", from));

    assert_int_equal(cluster_move_keys(&move, 4), 6);
    assert_int_equal(asked_for(from, 93, 10, to), 4);
    assert_true(is_told_to_try_again(from, 93, 10));
    assert_int_equal(redis_server_integer(to, "CLUSTER COUNTKEYSINSLOT 93"), 4);
    redis_server_do(to, "ASKING");
    redis_server_do(to, "GET %s", key_in(93, 0));
    assert_true(sends_to(to, 93, "MOVED", from)); /* ASKING was for that one command */
    assert_ptr_equal(cluster_master(fleet, 93), from);

    cluster_move_end(&move);
    assert_true(sends_to(from, 93, "MOVED", to));
    assert_ptr_equal(cluster_master(fleet, 93), to);
    for (unsigned i = 0; i < 10; i++) assert_int_equal(redis_server_integer(to, "GET %s", key_in(93, i)), i);
    cluster_settle(fleet);
    cluster_move_slot(fleet, 93, from);
    assert_int_equal(redis_server_integer(from, "CLUSTER COUNTKEYSINSLOT 93"), 10);
}

static void move_that_is_cancelled_leaves_all_in_place(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    redis_server* from = cluster_master(fleet, 93);
    redis_server* to = cluster_master(fleet, 12000);
    set_some(from, 93, 40);
    cluster_move move = cluster_move_begin(fleet, 93, to);
    assert_int_equal(cluster_move_keys(&move, 30), 10);
    cluster_move_cancel(&move);
    assert_int_equal(redis_server_integer(from, "CLUSTER COUNTKEYSINSLOT 93"), 40);
    assert_int_equal(redis_server_integer(to, "CLUSTER COUNTKEYSINSLOT 93"), 0);
    assert_null(redis_server_text(from, "GET %s", key_in(93, 9999)));
    assert_true(sends_to(to, 93, "MOVED", from));
}

static void many_slots_move_step_by_step(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    redis_server* to = cluster_master(fleet, 12000);
    redis_server* from = cluster_master(fleet, 93);
    unsigned had = cluster_slots_of(to);
    unsigned from_had = cluster_slots_of(from);
    unsigned steps = 0;
    set_some(from, 93, 40);
    cluster_reshard work = cluster_reshard_begin(fleet, from, to, 100);
    while (cluster_reshard_step(&work)) steps++;
    assert_in_range(steps, 199, 250);
    assert_int_equal(cluster_slots_of(to), had + 100);
    assert_int_equal(cluster_slots_of(from), from_had - 100);
    assert_int_equal(redis_server_keys(from) + redis_server_keys(to), 40);
    cluster_settle(fleet);
    work = cluster_reshard_begin(fleet, to, from, 100);
    while (cluster_reshard_step(&work)) steps++;
    cluster_settle(fleet);
    assert_int_equal(cluster_slots_of(from), from_had);
    assert_int_equal(redis_server_keys(cluster_master(fleet, 93)), 40);
}

static void all_slots_of_a_master_are_on_their_way(void** state)
{
    (void)state;
    static const unsigned slots[] = {93, 1000, 5000};
    cluster* fleet = cluster_start(&(cluster_options){.masters = 3});
    redis_server* from = cluster_master(fleet, 93);
    redis_server* to = cluster_master(fleet, 12000);
    cluster_open_slots(fleet, from, to);
    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
        if (cluster_master(fleet, slots[i]) == from) assert_true(sends_to(from, slots[i], "ASK", to));
    redis_server_do(to, "ASKING");
    assert_null(redis_server_text(to, "GET %s", key_in(93, 9999)));
    assert_true(cluster_has_settled(fleet));
    cluster_close_slots(fleet);
    redis_server_do(to, "ASKING");
    assert_true(sends_to(to, 93, "MOVED", from));
    assert_null(redis_server_text(from, "GET %s", key_in(93, 9999)));
    assert_true(sends_to(to, 93, "MOVED", from));
}

/* ---- nodes that come and go ---------------------------------------------------------------------------- */

static void nodes_join_and_leave(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(&(cluster_options){.masters = 2, .replicas = 1});
    redis_server* first = cluster_master(fleet, 0);
    unsigned all;
    set_some(first, 0, 40);
    redis_server* added = cluster_add(fleet);
    assert_true(cluster_is_master(added));
    assert_int_equal(cluster_slots_of(added), 0);
    assert_true(sends_to(added, 0, "MOVED", first));

    cluster_reshard work = cluster_reshard_begin(fleet, NULL, added, 200);
    while (cluster_reshard_step(&work))
    {
    }
    assert_int_equal(cluster_slots_of(added), 200);
    cluster_settle(fleet);
    redis_server* replica = cluster_add_replica(fleet, added);
    assert_ptr_equal(cluster_replica(fleet, added, 0), replica);
    assert_int_equal(cluster_count(fleet), 6);

    char address[64];
    snprintf(address, sizeof(address), "%s", redis_server_tcp_address(added));
    cluster_remove(fleet, added);
    assert_false(answers(address));
    assert_int_equal(cluster_count(fleet), 5);
    assert_int_equal(masters_of(fleet, &all), 2);
    assert_int_equal(all, CLUSTER_SLOTS);
    assert_int_equal(redis_server_integer(cluster_master(fleet, 0), "CLUSTER COUNTKEYSINSLOT 0"), 40);
    assert_false(cluster_is_master(replica));

    cluster_remove(fleet, replica);
    assert_int_equal(masters_of(fleet, &all), 2);
}

static void others_are_told_of_a_proxy(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(&(cluster_options){.masters = 2});
    redis_server* node = cluster_master(fleet, 93);
    redis_server* other = cluster_master(fleet, 12000);
    chaos_proxy* proxy = proxy_start(redis_server_tcp_address(node), PROXY_TCP);
    char expected[80];
    char command[KEY_SIZE + 8];
    cluster_announce(fleet, node, proxy_address(proxy));
    snprintf(expected, sizeof(expected), "MOVED 93 %s", proxy_address(proxy));
    snprintf(command, sizeof(command), "GET %s", key_in(93, 0));
    assert_true(is_refused(other, command, expected));
    redis_server_restart(node);
    cluster_settle(fleet);
    assert_true(is_refused(other, command, expected));
}

static void cluster_that_disagrees_has_not_settled(void** state)
{
    (void)state;
    static const char* const arguments[] = {"--cluster-enabled", "yes", NULL};
    cluster* fleet = cluster_start(&(cluster_options){.masters = 2});
    redis_server* node = cluster_master(fleet, 93);
    redis_server* other = cluster_master(fleet, 12000);
    assert_true(cluster_has_settled(fleet));
    redis_server_do(node, "CLUSTER SETSLOT 93 NODE %s", cluster_id(fleet, other)); /* who does not hear of it */
    WAIT_FOR(!cluster_has_settled(fleet));
    redis_server_do(node, "CLUSTER SETSLOT 93 NODE %s", cluster_id(fleet, node));
    cluster_settle(fleet);

    redis_server* stranger = redis_server_start(&(redis_server_options){.tcp = true, .arguments = arguments});
    redis_server_do(node, "CLUSTER MEET 127.0.0.1 %s", strrchr(redis_server_tcp_address(stranger), ':') + 1);
    WAIT_FOR(!cluster_has_settled(fleet));
}

/* ---- with passwords ------------------------------------------------------------------------------------ */

/* As somebody without a password sees it, and as the game. */
static void expect_only_the_user(const redis_server* server, const char* denied, const char* allowed,
                                 const char* answer)
{
    int descriptor = raw_connect(redis_server_tcp_address(server));
    raw_say(descriptor, allowed);
    raw_expect_text(descriptor, "-NOAUTH Authentication required.\r\n");
    raw_say(descriptor, "AUTH game secret\r\n");
    raw_expect_text(descriptor, "+OK\r\n");
    raw_say(descriptor, allowed);
    raw_expect_text(descriptor, answer);
    raw_say(descriptor, denied);
    raw_expect_text(descriptor, "-NOPERM");
    raw_close(descriptor);
}

static void cluster_with_a_password_and_the_users_rights(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(
        &(cluster_options){.masters = 2, .replicas = 1, .password = "hush", .user = rights_of_the_page()});
    redis_server* from = cluster_master(fleet, 93);
    for (size_t i = 0; i < 4; i++)
        expect_only_the_user(cluster_node(fleet, i), "FLUSHALL\r\n", "PING\r\n", "+PONG\r\n");
    set_some(from, 93, 40);
    cluster_move_slot(fleet, 93, cluster_master(fleet, 12000));
    assert_int_equal(redis_server_integer(cluster_master(fleet, 93), "CLUSTER COUNTKEYSINSLOT 93"), 40);
    cluster_settle(fleet);

    redis_server* replica = cluster_replica(fleet, cluster_master(fleet, 93), 0);
    redis_server_do(replica, "CONFIG SET masterauth wrong");
    redis_server_do(replica, "CLIENT KILL TYPE master");
    WAIT_FOR(!cluster_has_settled(fleet)); /* that replica is not fed */
    redis_server_restart(replica);
    cluster_settle(fleet);
    expect_only_the_user(replica, "FLUSHALL\r\n", "PING\r\n", "+PONG\r\n");
    expect_only_the_user(cluster_add(fleet), "FLUSHALL\r\n", "PING\r\n", "+PONG\r\n");
}

static const char sentinel_user[] = "game on >secret resetchannels &+switch-master &+failover-state-send-slaveof-noone "
                                    "-@all +sentinel|get-master-addr-by-name +subscribe +ping";

static void sentinels_with_passwords_and_users(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(&(sentinels_options){.quick = true,
                                                            .password = "hush",
                                                            .user = rights_of_the_page(),
                                                            .sentinel_password = "watch",
                                                            .sentinel_user = sentinel_user});
    redis_server* old = sentinels_master(fleet);
    for (size_t i = 0; i < 3; i++)
    {
        expect_only_the_user(sentinels_server(fleet, i), "FLUSHALL\r\n", "PING\r\n", "+PONG\r\n");
        expect_only_the_user(sentinels_sentinel(fleet, i), "SENTINEL FAILOVER game\r\n", "PING\r\n", "+PONG\r\n");
    }
    sentinels_failover(fleet);
    redis_server* next = sentinels_await_master(fleet, old);
    sentinels_settle(fleet);
    redis_server_restart(next);
    sentinels_restart(fleet, sentinels_sentinel(fleet, 0));
    sentinels_settle(fleet);
    expect_only_the_user(next, "FLUSHALL\r\n", "PING\r\n", "+PONG\r\n");
    expect_only_the_user(sentinels_sentinel(fleet, 0), "SENTINEL FAILOVER game\r\n", "PING\r\n", "+PONG\r\n");
}

/* ---- ports --------------------------------------------------------------------------------------------- */

#define PORTS 250 /* more than a process has of its own */

static uint16_t draw_port(void)
{
    uint16_t port = 0;
    int listener = stream_listen_tcp(false, &port);
    if (listener >= 0) close(listener);
    return port;
}

static int tell_ports(void* context, int results)
{
    uint16_t ports[PORTS];
    (void)context;
    for (int i = 0; i < PORTS; i++) ports[i] = draw_port();
    return write(results, ports, sizeof(ports)) == (ssize_t)sizeof(ports) ? 0 : 1;
}

/* Processes come to the same ports by their numbers: here all numbers are tried, one after the other. */
static void port_of_a_server_that_is_away_goes_to_no_other_process(void** state)
{
    (void)state;
    uint16_t mine = draw_port();
    for (int tries = 0; tries < 100; tries++)
    {
        uint16_t ports[PORTS];
        child_process* child = child_start(tell_ports, NULL);
        assert_int_equal(child_read(child, ports, sizeof(ports)), sizeof(ports));
        for (int i = 0; i < PORTS; i++) assert_int_not_equal(ports[i], mine);
        child_end(child);
    }
}

/* ---- Sentinels ----------------------------------------------------------------------------------------- */

static bool has(redis_server* server, const char* key, const char* value)
{
    const char* text = redis_server_text(server, "GET %s", key);
    return text != NULL && strcmp(text, value) == 0;
}

static size_t masters_by_role(const sentinels* fleet)
{
    size_t count = 0;
    for (size_t i = 0; i < sentinels_server_count(fleet); i++)
        if (sentinels_is_master(sentinels_server(fleet, i))) count++;
    return count;
}

static void sentinels_watch_a_master_that_gives_way(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(&(sentinels_options){.quick = true});
    redis_server* old = sentinels_master(fleet);
    char seeds[128];
    assert_ptr_equal(old, sentinels_server(fleet, 0));
    assert_int_equal(masters_by_role(fleet), 1);
    snprintf(seeds, sizeof(seeds), "%s,%s,%s", redis_server_tcp_address(sentinels_sentinel(fleet, 0)),
             redis_server_tcp_address(sentinels_sentinel(fleet, 1)),
             redis_server_tcp_address(sentinels_sentinel(fleet, 2)));
    assert_string_equal(sentinels_seeds(fleet), seeds);
    redis_server_do(old, "SET a written");
    for (size_t i = 1; i < 3; i++) WAIT_FOR(has(sentinels_server(fleet, i), "a", "written"));

    sentinels_failover(fleet);
    redis_server* next = sentinels_await_master(fleet, old);
    assert_true(has(next, "a", "written"));
    sentinels_settle(fleet);
    assert_int_equal(masters_by_role(fleet), 1);
    assert_false(sentinels_is_master(old));
}

static void killed_master_is_replaced_by_the_sentinels(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(&(sentinels_options){.quick = true});
    redis_server* old = sentinels_master(fleet);
    redis_server_do(old, "SET a written");
    for (size_t i = 1; i < 3; i++) WAIT_FOR(has(sentinels_server(fleet, i), "a", "written"));
    redis_server_kill9(old);
    redis_server* next = sentinels_await_master(fleet, old);
    assert_true(has(next, "a", "written"));

    redis_server_restart(old);
    WAIT_FOR(!sentinels_is_master(old));
    sentinels_settle(fleet);
    assert_true(has(old, "a", "written"));
    redis_server_restart(next); /* as what it was made, and before anybody takes it for down */
    assert_true(sentinels_is_master(next));
}

static void frozen_master_is_replaced_by_the_sentinels(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(&(sentinels_options){.quick = true});
    redis_server* old = sentinels_master(fleet);
    redis_server_freeze(old);
    redis_server* next = sentinels_await_master(fleet, old);
    redis_server_thaw(old);
    sentinels_settle(fleet);
    assert_false(sentinels_is_master(old));
    assert_true(sentinels_is_master(next));
}

static void one_sentinel_of_three_decides_nothing(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(&(sentinels_options){.quick = true});
    redis_server* old = sentinels_master(fleet);
    redis_server* last = sentinels_sentinel(fleet, 2);
    redis_server_kill9(sentinels_sentinel(fleet, 0));
    redis_server_freeze(sentinels_sentinel(fleet, 1));
    WAIT_FOR(is_refused(last, "SENTINEL CKQUORUM game", "NOQUORUM"));
    redis_server_kill9(old);
    WAIT_FOR(strstr(redis_server_text(last, "INFO sentinel"), "status=sdown") != NULL);
    assert_null(sentinels_master(fleet));

    sentinels_restart(fleet, sentinels_sentinel(fleet, 0));
    redis_server_thaw(sentinels_sentinel(fleet, 1));
    sentinels_await_master(fleet, old);
    redis_server_restart(old);
    sentinels_settle(fleet);
}

TEST_FILE(fleets, cmocka_unit_test(slots_of_keys_are_the_servers),
          cmocka_unit_test(cluster_has_all_slots_and_replicas_hear_of_writes),
          cmocka_unit_test(shared_cluster_is_empty_and_whole_again), cmocka_unit_test(seeds_are_all_nodes),
          cmocka_unit_test(killed_master_is_replaced_and_comes_back_as_replica),
          cmocka_unit_test(frozen_master_is_replaced_and_gives_way_when_it_thaws),
          cmocka_unit_test(planned_failover_loses_nothing), cmocka_unit_test(failover_by_force_needs_no_master),
          cmocka_unit_test(takeover_needs_no_other_masters),
          cmocka_unit_test(restarted_master_has_its_keys_unless_it_shall_not), cmocka_unit_test(slot_moves_in_steps),
          cmocka_unit_test(move_that_is_cancelled_leaves_all_in_place), cmocka_unit_test(many_slots_move_step_by_step),
          cmocka_unit_test(all_slots_of_a_master_are_on_their_way), cmocka_unit_test(nodes_join_and_leave),
          cmocka_unit_test(others_are_told_of_a_proxy), cmocka_unit_test(cluster_that_disagrees_has_not_settled),
          cmocka_unit_test(cluster_with_a_password_and_the_users_rights),
          cmocka_unit_test(port_of_a_server_that_is_away_goes_to_no_other_process),
          cmocka_unit_test(sentinels_with_passwords_and_users),
          cmocka_unit_test(sentinels_watch_a_master_that_gives_way),
          cmocka_unit_test(killed_master_is_replaced_by_the_sentinels),
          cmocka_unit_test(frozen_master_is_replaced_by_the_sentinels),
          cmocka_unit_test(one_sentinel_of_three_decides_nothing));
