/* A Cluster that speaks TLS alone, on its bus as well: every link of a client, while slots move and masters are
   replaced. Real servers. Names and numbers that are verified: test_tls_cluster.c. */

#include "tls/tls_games.h"

#include "sentinel/clerks.h"
#include "support/scene/desk.h"
#include "support/scene/locks.h"
#include "support/scene/on.h"
#include "support/scene/talk.h"
#include "support/server/proxy.h"

#include <stdio.h>
#include <string.h>

#define STREAMS  24
#define LEASE_US (30 * SECOND_US)

static tls_games* games_of(cluster* fleet)
{
    gh_client_config config = game_config("unix:/nowhere");
    config.address = gh_str_of(cluster_seeds(fleet));
    config.topology = gh_topology_cluster();
    return tls_games_new(&config, STREAMS);
}

/* ---- what each system does --------------------------------------------------------------------------------------- */

/* From a to b. Returns how many hints b had of it until then. */
static uint64_t hand_on(game* a, game* b, int number)
{
    char name[16];
    snprintf(name, sizeof(name), "door%d", number);
    gh_lock* first = lock_held(a, name, LEASE_US);
    gh_lock* second = lock_begun(b, name, LEASE_US, 60 * SECOND_US);
    GAME_UNTIL(second->position == 1);
    uint64_t hints = game_stats(b).hints;
    gh_lock_release(first);
    GAME_UNTIL(gh_op_poll(&second->op) == GH_HELD);
    hints = game_stats(b).hints - hints;
    gh_lock_release(second);
    GAME_UNTIL(!gh_op_is_busy(&second->op));
    return hints;
}

/* Handed on by hints, wherever its slot is. */
static void locks_are_handed_on(game* a, game* b)
{
    for (int i = 0; i < 8; i++) assert_true(hand_on(a, b, i) > 0);
}

static void tasks_are_done(game* a, game* b)
{
    for (int i = 0; i < 4; i++)
    {
        char queue[16];
        snprintf(queue, sizeof(queue), "queue%d", i);
        desk* giver = desk_open(a, queue);
        desk* taker = desk_open(b, queue);
        assert_status(desk_push(giver, "one", "payload"), GH_OK);
        assert_status(desk_take(taker, 1), GH_OK);
        assert_string_equal(desk_ids(taker), "one");
        desk_finish_all(taker);
    }
}

static void letters_arrive(game* a, game* b)
{
    gh_mailbox_push* push = GAME_NEW(a, gh_mailbox_push);
    gh_mailbox_fetch* fetch = GAME_NEW(b, gh_mailbox_fetch);
    gh_post post = {.sender = gh_str_literal("alice"), .body = gh_str_literal("hello")};
    assert_status(gh_mailbox_push_begin(push, ON_MAILBOX(a->client, gh_str_literal("bob")), &post, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&push->op) != GH_PENDING);
    assert_status(gh_op_poll(&push->op), GH_OK);
    gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
    config.buffer = game_new(b, 4096);
    config.buffer_size = 4096;
    assert_status(gh_mailbox_fetch_begin(fetch, ON_MAILBOX(b->client, gh_str_literal("bob")), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&fetch->op) != GH_PENDING);
    assert_status(gh_op_poll(&fetch->op), GH_OK);
    assert_int_equal(fetch->count, 1);
}

static void chats_are_read(game* a, game* b)
{
    assert_status(chat_make(a, "hall", "jason medea", 100, 10), GH_OK);
    chat_say_numbers(a, "hall", "jason", 5, 1);
    chat_reader* medea = chat_reader_new(b, "hall", "medea");
    assert_status(chat_read(medea), GH_OK);
    assert_numbers(medea->fetch.messages, medea->fetch.count, 1, 1);
}

/* Nothing is lost or refused on the way, and nobody is sent to a wrong node. */
static void every_system_goes_through_it(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(&(cluster_options){.tls = "server"});
    tls_games* all = games_of(fleet);
    game* a = tls_games_start(all);
    game* b = tls_games_start(all);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY &&
               gh_client_link_state(b->client, GH_LINK_WAKE) == GH_LINK_READY);
    locks_are_handed_on(a, b);
    tasks_are_done(a, b);
    letters_arrive(a, b);
    chats_are_read(a, b);
    gh_tls_stats stats = tls_games_stats(all);
    assert_int_equal(stats.failed, 0);
    assert_true(stats.streams >= 8); /* of each game one a node, and the wake link */
    assert_int_equal(game_stats(a).moved + game_stats(b).moved, 0);
    assert_int_equal(game_stats(a).links_lost + game_stats(b).links_lost, 0);
}

/* ---- connections beside those for ops ---------------------------------------------------------------------------- */

/* For hints to each node on which somebody waits, and for what replicas are to have: each shakes hands of its own, and
   streams_capacity of tls.h counts them. */
static void links_for_hints_and_replicas_go_through_it(void** state)
{
    (void)state;
    cluster_needs_names(); /* of servers of 7.0, as SPUBLISH */
    cluster* fleet = cluster_start(&(cluster_options){.tls = "server", .replicas = 1});
    tls_games* all = games_of(fleet);
    all->config.wake_sharded = true;
    all->config.replicas = gh_replicas_wait();
    all->config.wait_replicas = 1;
    all->config.wait_us = 30 * SECOND_US;
    game* a = tls_games_start(all);
    game* b = tls_games_start(all);
    for (int i = 0; i < 8; i++) (void)hand_on(a, b, i);
    assert_true(game_stats(b).hints_sharded > 0);
    assert_int_equal(tls_games_stats(all).failed, 0);
    assert_true(tls_games_stats(all).streams >= 14); /* of a 3, 3 for replicas and wake; of b some for hints as well */
}

/* ---- what happens to nodes --------------------------------------------------------------------------------------- */

/* MOVED and ASK name nodes by the ports at which they speak TLS, as nodes say them to who has come through TLS. */
static void slots_that_move_are_followed(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(&(cluster_options){.tls = "server"});
    tls_games* all = games_of(fleet);
    game* a = tls_games_start(all);
    clerks work = clerks_start(a, CLERKS_MAX);
    clerks_until(&work, 10);
    gh_lock* lock = lock_held(a, "held", LEASE_US);
    clerks_ask_out_of_turn(&work, fleet); /* the slot of a clerk has moved then */
    cluster_reshard moving = cluster_reshard_begin(fleet, NULL, cluster_master(fleet, 0), 300);
    while (cluster_reshard_step(&moving))
    {
        game_tick_all();
        clerks_work(&work);
    }
    clerks_until(&work, 10);
    clerks_rest(&work);
    assert_true(game_stats(a).moved > 0);
    assert_int_equal(clerks_lost_in(&work, fleet), 0);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    assert_int_equal(tls_games_stats(all).failed, 0);
}

/* A planned failover, and one because the master was killed: what comes back shakes hands anew. */
static void masters_that_are_replaced_are_a_delay(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(&(cluster_options){.tls = "server", .replicas = 1});
    tls_games* all = games_of(fleet);
    game* a = tls_games_start(all);
    clerks work = clerks_start(a, CLERKS_MAX);
    clerks_until(&work, 10);
    clerks_outlive_handover(&work, fleet, 0, 10);
    assert_int_equal(clerks_lost_in(&work, fleet), 0);
    redis_server* killed = cluster_master(fleet, cluster_slot("clerk:0"));
    redis_server_kill9(killed);
    clerks_until(&work, 10);
    redis_server_restart(killed);
    clerks_until(&work, 10);
    clerks_rest(&work);
}

static gh_status command_for(game* a, const char* key, uint64_t timeout_us)
{
    gh_command_line* line = GAME_NEW(a, gh_command_line);
    gh_command_config config = gh_command_config_default();
    config.timeout_us = timeout_us;
    assert_status(gh_command_format(line, a->client, &config, "INCR %s", key), GH_OK);
    GAME_UNTIL(gh_op_poll(&line->op) != GH_PENDING);
    return gh_op_poll(&line->op);
}

/* A lock whose keys lie on that node. */
static gh_lock* lock_there(game* a, cluster* fleet, const redis_server* node)
{
    for (int i = 0;; i++)
    {
        char name[16], tag[32];
        snprintf(name, sizeof(name), "door%d", i);
        snprintf(tag, sizeof(tag), "{lock:%s}", name);
        if (cluster_master(fleet, cluster_slot(tag)) == node) return lock_begun(a, name, LEASE_US, 60 * SECOND_US);
    }
}

/* It takes over, and its certificate is for another name: to what lies there it is a node that is away. Whoever waits
   goes on when that is mended. */
static void replica_of_another_name_is_as_if_away(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(&(cluster_options){.tls = "server", .replicas = 1});
    tls_games* all = games_of(fleet);
    game* a = tls_games_start(all);
    const unsigned slot = cluster_slot("clerk:0");
    redis_server* old = cluster_master(fleet, slot);
    int other = 1;
    char there[16];
    while (snprintf(there, sizeof(there), "clerk:%d", other) > 0 && cluster_master(fleet, cluster_slot(there)) == old)
        other++;
    assert_status(command_for(a, "clerk:0", 60 * SECOND_US), GH_OK);
    redis_server* replica = cluster_replica(fleet, old, 0);
    tls_set_certificate(replica, "elsewhere");
    cluster_failover(fleet, slot, CLUSTER_PLANNED);
    assert_ptr_equal(cluster_await_master(fleet, slot, old), replica);
    gh_lock* lock = lock_there(a, fleet, replica);
    GAME_UNTIL(tls_games_said(all, "the server's certificate is for another name (4), 127.0.0.1:"));
    assert_status(command_for(a, "clerk:0", SECOND_US / 10), GH_TIMEOUT);
    assert_status(command_for(a, there, 60 * SECOND_US), GH_OK);
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    tls_set_certificate(replica, "server");
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    assert_status(command_for(a, "clerk:0", 60 * SECOND_US), GH_OK);
}

/* ---- nodes behind other ports ------------------------------------------------------------------------------------ */

static bool all_tell(cluster* fleet, const char* port)
{
    for (size_t i = 0; i < cluster_count(fleet); i++)
    {
        redisReply* shards = redis_server_command(
            cluster_node(fleet, i), "EVAL %s 0",
            "local t = '' local function add(x) if type(x) == 'table' then for _, y in ipairs(x) do add(y) end"
            " else t = t .. tostring(x) .. ' ' end end add(redis.call('CLUSTER', 'SHARDS')) return t");
        bool told = shards->type == REDIS_REPLY_STRING && strstr(shards->str, port) != NULL;
        freeReplyObject(shards);
        if (!told) return false;
    }
    return true;
}

/* cluster-announce-tls-port: all are found at proxies in front of them, the map and MOVED lead there. */
static void ports_that_are_announced_are_gone_to(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(&(cluster_options){.tls = "server"});
    chaos_proxy* proxies[3];
    for (size_t i = 0; i < 3; i++)
    {
        redis_server* node = cluster_node(fleet, i);
        proxies[i] = proxy_start(redis_server_tcp_address(node), PROXY_TCP);
        const char* port = strrchr(proxy_address(proxies[i]), ':') + 1;
        redis_server_do(node, "CONFIG SET cluster-announce-tls-port %s", port);
        WAIT_FOR(all_tell(fleet, port));
    }
    tls_games* all = games_of(fleet);
    game* a = tls_games_start(all);
    clerks work = clerks_start(a, CLERKS_MAX);
    clerks_until(&work, 10);
    clerks_rest(&work);
    for (size_t i = 0; i < 3; i++) assert_true(proxy_bytes(proxies[i], PROXY_REPLY) > 0);
    assert_int_equal(clerks_lost_in(&work, fleet), 0);
}

TEST_FILE(tls_nodes, cmocka_unit_test(every_system_goes_through_it),
          cmocka_unit_test(links_for_hints_and_replicas_go_through_it), cmocka_unit_test(slots_that_move_are_followed),
          cmocka_unit_test(masters_that_are_replaced_are_a_delay),
          cmocka_unit_test(replica_of_another_name_is_as_if_away),
          cmocka_unit_test(ports_that_are_announced_are_gone_to));
