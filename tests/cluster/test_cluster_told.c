/* A thousand locks of one master of a Cluster that loses them: each is told within a round trip and eight ticks, for
   each way to lose them that no answer tells. And workers and refreshers, whose tasks and rows are of any master. Real
   servers. */

#include "support/scene/desk.h"
#include "support/scene/hoard.h"
#include "support/scene/refresher.h"
#include "support/scene/shop.h"
#include "support/server/cluster.h"

#include "client/state.h"

#include <stdio.h>

#define SLOW_FAILOVER_MS 5000
#define PATIENT_US       (20 * SECOND_US)

/* The first of the three masters has 5461 slots at first. */
static unsigned slot_of(const char* name)
{
    char tag[HOARD_NAME_SIZE + 16];
    snprintf(tag, sizeof tag, "{lock:%s}", name);
    return cluster_slot(tag);
}

static bool is_of_first(const char* name)
{
    return slot_of(name) < 5400;
}

static gh_client_config config_of(cluster* fleet)
{
    gh_client_config config = game_config("unix:/nowhere");
    config.address = gh_str_of(cluster_seeds(fleet));
    config.topology = gh_topology_cluster();
    return config;
}

static hoard* start_hoard(cluster* fleet)
{
    const gh_client_config config = config_of(fleet);
    return hoard_start(&config, is_of_first);
}

/* Nobody hangs up on a master that is frozen. */
static hoard* start_patient_hoard(cluster* fleet)
{
    gh_client_config config = config_of(fleet);
    config.request_timeout_us = PATIENT_US;
    return hoard_start(&config, is_of_first);
}

/* It is back before others have noticed, so nobody takes over: only the epoch tells. */
static void master_that_is_back_empty(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(&(cluster_options){.replicas = 1, .node_timeout_ms = SLOW_FAILOVER_MS});
    hoard* all = start_hoard(fleet);
    hoard_take(all);
    cluster_restart_empty(cluster_master(fleet, 0));
    hoard_loses_all(all);
    assert_int_equal(game_stats(all->owner).store_resets, 1);
}

/* None of the locks comes to the replica, but the epoch does. */
static redis_server* take_unreplicated(hoard* all, cluster* fleet, redis_server* master)
{
    redis_server* replica = cluster_replica(fleet, master, 0);
    redis_server_await_replicas(master, 1);
    redis_server_freeze(replica);
    redis_server_do(master, "CLIENT KILL TYPE replica"); /* or what lies in its socket comes to it yet */
    hoard_take(all);
    return replica;
}

static void replica_that_lagged(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    hoard* all = start_hoard(fleet);
    redis_server* master = cluster_master(fleet, 0);
    redis_server* replica = take_unreplicated(all, fleet, master);
    redis_server_kill9(master);
    redis_server_thaw(replica);
    hoard_loses_all(all);
    assert_int_equal(all->asked, HOARD_LOCKS);
    assert_int_equal(game_stats(all->owner).store_resets, 0);
}

/* ---- a master that was replaced while it was frozen, and acknowledges what had lain in its socket when it goes on --
 */

static bool has_ready_link(const game* owner, const redis_server* server)
{
    const gh_client* client = owner->client;
    const gh_str address = gh_str_of(redis_server_tcp_address(server));
    for (const gh_node* node = client->nodes; node < client->nodes_end; node++)
        if (node->link.state == GH_LINK_READY && gh_str_equal(node->link.target->text, address)) return true;
    return false;
}

/* Nothing but the requests comes to the master between the moment at which it stands still and when they lie there:
   what comes first it reads first when it goes on, and others would tell it that it is replaced. */
static void ask_zombie(hoard* all, cluster* fleet, redis_server* master)
{
    for (size_t i = 0; i < cluster_count(fleet); i++)
        if (cluster_node(fleet, i) != master && redis_server_runs(cluster_node(fleet, i)))
            redis_server_freeze(cluster_node(fleet, i));
    redis_server_freeze(master);
    hoard_ask_late(all);
    for (size_t i = 0; i < cluster_count(fleet); i++)
        if (cluster_node(fleet, i) != master) redis_server_thaw(cluster_node(fleet, i));
}

/* It tells of what it granted, and its successor knows nothing of any of them. */
static void zombie_before_its_successor_is_known(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    hoard* all = start_patient_hoard(fleet);
    redis_server* master = cluster_master(fleet, 0);
    (void)take_unreplicated(all, fleet, master);
    ask_zombie(all, fleet, master);
    wait_meanwhile(game_tick_all); /* time goes on for it, too */
    redis_server* owner = cluster_await_master(fleet, 0, master);
    assert_false(has_ready_link(all->owner, owner));
    redis_server_thaw(master);
    hoard_loses_all(all);
}

static void command_in_slot(game* owner, unsigned slot)
{
    char tag[CLUSTER_TAG_SIZE];
    gh_command_line* op = GAME_NEW(owner, gh_command_line);
    cluster_tag(slot, tag);
    assert_status(gh_command_format(op, owner->client, NULL, "EXISTS {%s}", tag), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    assert_status(gh_op_poll(&op->op), GH_OK);
}

/* Its successor has the thousand, and is connected already when it grants some more. A slot that moves between two
   others has the client read a map. */
static void zombie_after_its_successor_is_known(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    hoard* all = start_patient_hoard(fleet);
    redis_server* master = cluster_master(fleet, 0);
    hoard_take(all);
    redis_server_await_replicas(master, 1);
    ask_zombie(all, fleet, master);
    wait_meanwhile(game_tick_all); /* time goes on for it, too: what it grants is late */
    redis_server* owner = cluster_await_master(fleet, 0, master);
    cluster_move_slot(fleet, 8000, cluster_master(fleet, 16000));
    command_in_slot(all->owner, 8000);
    GAME_UNTIL(has_ready_link(all->owner, owner));
    redis_server_thaw(master);
    hoard_loses_late(all);
}

/* As if another had restored an older backup. */
static void forget_hand_out(redis_server* master, const char* queue)
{
    redis_server_do(master, "HDEL gh:{tasks:%s}:m bread", queue);
    redis_server_do(master, "ZREM gh:{tasks:%s}:l bread", queue);
    redis_server_do(master, "RPUSH gh:{tasks:%s}:r0 bread", queue);
    redis_server_restart(master);
}

typedef struct queue_name
{
    char text[HOARD_NAME_SIZE];
} queue_name;

/* Of a queue that lies there. */
static shop* start_baker(game* owner, cluster* fleet, const redis_server* master)
{
    queue_name* queue = GAME_NEW(owner, queue_name);
    char key[HOARD_NAME_SIZE + 16];
    unsigned number = 0;
    do
    {
        snprintf(queue->text, sizeof queue->text, "q%u", number++);
        snprintf(key, sizeof key, "gh:{tasks:%s}:m", queue->text);
    } while (cluster_master(fleet, cluster_slot(key)) != master);
    shop* baker = shop_prepare(owner, queue->text);
    baker->ticks_needed = 1000000;
    baker->wants[0].lease_us = 3600 * SECOND_US;
    shop_begin(baker);
    assert_status(desk_push(desk_open(owner, queue->text), "bread", ""), GH_OK);
    GAME_UNTIL(baker->calls > 0);
    return baker;
}

static game* start_bakery(cluster* fleet)
{
    gh_client_config config = config_of(fleet);
    config.wake = false; /* when it comes back, everybody who listens asks anyway */
    return game_start_with(&config);
}

/* By itself it would ask after 20 minutes. It never asks for anything itself, so it has no node of its own. */
static void worker_of_any_master(void** state)
{
    (void)state;
    const cluster_options options = {.masters = 3, .append_only = true};
    cluster* fleet = cluster_start(&options);
    game* owner = start_bakery(fleet);
    for (size_t i = 0; i < 3; i++)
    {
        redis_server* master = cluster_node(fleet, i);
        shop* baker = start_baker(owner, fleet, master);
        gh_tasks_worker_end(&baker->worker);
        forget_hand_out(master, baker->names[0]);
        GAME_UNTIL(baker->told_lost == 1);
    }
}

/* Who works for that one is told so, and nobody who works for another. */
static void workers_of_a_master_that_is_back_empty(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(&(cluster_options){.replicas = 1, .node_timeout_ms = SLOW_FAILOVER_MS});
    game* owner = start_bakery(fleet);
    shop* bakers[3];
    for (size_t i = 0; i < 3; i++) bakers[i] = start_baker(owner, fleet, cluster_node(fleet, i));
    for (size_t i = 0; i < 3; i++)
    {
        cluster_restart_empty(cluster_node(fleet, i));
        GAME_UNTIL(bakers[i]->told_lost == 1);
        for (size_t other = i + 1; other < 3; other++) assert_int_equal(bakers[other]->told_lost, 0);
    }
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

/* Loads a row that lies there, and has not completed it yet. */
static void load_row_of(refresher* self, cluster* fleet, const redis_server* master, char* name, size_t size)
{
    unsigned number = 0;
    do snprintf(name, size, "row%u", number++);
    while (cluster_master(fleet, cluster_slot(row_key(name, 'm'))) != master);
    assert_status(row_schedule(self->owner, name, GH_ROWS_PERIOD_MAX_US), GH_OK);
    GAME_UNTIL(self->open_count == 1);
    assert_string_equal(self->open_names[0], name);
}

/* Of one slot, which has had a row of the first master before, and has one of the second. */
static refresher* load_behind_another(cluster* fleet, char* name, size_t size)
{
    game* owner = start_bakery(fleet);
    refresher* self = refresher_new(owner, 1);
    self->keeps = true;
    self->config.lease_us = GH_ROWS_LEASE_MAX_US;
    self->config.load_us = GH_ROWS_LEASE_MAX_US;
    refresher_begin(self);
    load_row_of(self, fleet, cluster_node(fleet, 0), name, size);
    assert_status(refresher_complete(self, 0, GH_OK, "gold"), GH_OK);
    GAME_UNTIL(self->rows.stored == 1);
    load_row_of(self, fleet, cluster_node(fleet, 1), name, size);
    return self;
}

/* The second has restarted, and knows of no claim: who loads asks it, though the slot has sent nothing but to the first
   until now. */
static void loader_hears_of_the_doubt_of_its_master(void** state)
{
    (void)state;
    const cluster_options options = {.masters = 3, .append_only = true};
    cluster* fleet = cluster_start(&options);
    char name[GH_NAME_SIZE_MAX + 1];
    refresher* self = load_behind_another(fleet, name, sizeof name);
    redis_server_do(cluster_node(fleet, 1), "HDEL %s %s", row_key(name, 'm'), name);
    redis_server_restart(cluster_node(fleet, 1));
    GAME_UNTIL(!gh_row_load_is_wanted(self->open[0]));
    assert_int_equal(self->rows.lost, 1);
}

/* The same where it is back empty; and nothing of it is heard where the first one is. */
static void loader_hears_that_its_master_is_back_empty(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(&(cluster_options){.replicas = 1, .node_timeout_ms = SLOW_FAILOVER_MS});
    char name[GH_NAME_SIZE_MAX + 1];
    refresher* self = load_behind_another(fleet, name, sizeof name);
    cluster_restart_empty(cluster_node(fleet, 0));
    GAME_UNTIL(game_stats(self->owner).store_resets == 1);
    assert_true(gh_row_load_is_wanted(self->open[0]));
    cluster_restart_empty(cluster_node(fleet, 1));
    GAME_UNTIL(!gh_row_load_is_wanted(self->open[0]));
    assert_int_equal(self->rows.lost, 1);
}

TEST_FILE(cluster_told, cmocka_unit_test(worker_of_any_master),
          cmocka_unit_test(loader_hears_of_the_doubt_of_its_master),
          cmocka_unit_test(loader_hears_that_its_master_is_back_empty),
          cmocka_unit_test(workers_of_a_master_that_is_back_empty), cmocka_unit_test(master_that_is_back_empty),
          cmocka_unit_test(replica_that_lagged), cmocka_unit_test(zombie_before_its_successor_is_known),
          cmocka_unit_test(zombie_after_its_successor_is_known));
