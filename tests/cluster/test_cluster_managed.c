/* Clusters whose nodes say where they are in the manners of managed services: by host names, by none, by some that do
   not know theirs. Real servers. */

#include "sentinel/clerks.h"
#include "support/server/cluster.h"
#include "support/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 40

static void name_of(size_t index, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "node-%zu.game.example", index);
}

/* ---- the resolver ------------------------------------------------------------------------------------------------ */

typedef struct registrar
{
    const char* number; /* of all names */
    unsigned asked[CLUSTER_NODES_MAX];
    unsigned unknown;
} registrar;

static gh_status look_up(void* context, gh_str host, gh_str* numeric)
{
    registrar* self = context;
    char name[NAME_SIZE];
    for (size_t i = 0; i < CLUSTER_NODES_MAX; i++)
    {
        name_of(i, name);
        if (!gh_str_equal(host, gh_str_of(name))) continue;
        self->asked[i]++;
        *numeric = gh_str_of(self->number);
        return GH_OK;
    }
    self->unknown++;
    return GH_GONE;
}

/* ---- the fleet --------------------------------------------------------------------------------------------------- */

static bool all_know_names(cluster* fleet)
{
    char name[NAME_SIZE];
    for (size_t i = 0; i < cluster_count(fleet); i++)
    {
        const char* nodes = redis_server_text(cluster_node(fleet, i), "CLUSTER NODES");
        for (size_t k = 0; k < cluster_count(fleet); k++)
        {
            name_of(k, name);
            if (strstr(nodes, name) == NULL) return false;
        }
    }
    return true;
}

static void announce_names(cluster* fleet)
{
    char name[NAME_SIZE];
    for (size_t i = 0; i < cluster_count(fleet); i++)
    {
        name_of(i, name);
        redis_server_do(cluster_node(fleet, i), "CONFIG SET cluster-announce-hostname %s", name);
    }
    WAIT_FOR(all_know_names(fleet));
}

static cluster* start_fleet(const char* settings, unsigned replicas)
{
    cluster_needs_names();
    return cluster_start(&(cluster_options){.settings = settings, .replicas = replicas});
}

static game* start_game(cluster* fleet, registrar* names)
{
    gh_client_config config = game_config("unix:/nowhere");
    config.address = gh_str_of(cluster_seeds(fleet));
    config.topology = gh_topology_cluster();
    config.resolver = names == NULL ? NULL : look_up;
    config.resolver_context = names;
    return game_start_with(&config);
}

/* Slots move under load (ASK, MOVED), and a master gives way. */
static void work_through_changes(game* a, cluster* fleet)
{
    clerks all = clerks_start(a, 16);
    clerks_until(&all, 20);
    clerks_ask_out_of_turn(&all, fleet);
    cluster_reshard work = cluster_reshard_begin(fleet, NULL, cluster_master(fleet, 0), 1000);
    while (cluster_reshard_step(&work))
    {
        game_tick_all();
        clerks_work(&all);
    }
    clerks_until(&all, 20);
    clerks_outlive_handover(&all, fleet, 0, 20);
    assert_int_equal(clerks_lost_in(&all, fleet), 0);
    assert_true(game_stats(a).moved > 0);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void nodes_with_host_names_are_followed(void** state)
{
    (void)state;
    registrar names = {.number = "127.0.0.1"};
    cluster* fleet = start_fleet("cluster-preferred-endpoint-type hostname\n", 1);
    announce_names(fleet);
    game* a = start_game(fleet, &names);
    work_through_changes(a, fleet);
    unsigned asked = 0;
    for (size_t i = 0; i < cluster_count(fleet); i++) asked += names.asked[i] > 0;
    assert_true(asked >= 4); /* three masters, and the one that took over */
    assert_int_equal(names.unknown, 0);
}

static void nodes_that_leave_their_hosts_out_are_followed(void** state)
{
    (void)state;
    cluster* fleet = start_fleet("cluster-preferred-endpoint-type unknown-endpoint\n", 1);
    game* a = start_game(fleet, NULL);
    work_through_changes(a, fleet);
}

/* As long as they do not know their own names, nobody can be asked for anything; then ops go on by themselves. */
static void nodes_that_do_not_know_their_names_are_waited_for(void** state)
{
    (void)state;
    registrar names = {.number = "127.0.0.1"};
    cluster* fleet = start_fleet("cluster-preferred-endpoint-type hostname\n", 0);
    game* a = start_game(fleet, &names);
    clerks all = clerks_start(a, 4);
    clerks_work(&all);
    GAME_UNTIL(a->warnings_logged >= 2); /* slots wait, and the map has no node */
    assert_int_equal(all.each[0].acknowledged, 0);
    announce_names(fleet);
    clerks_until(&all, 10);
    clerks_rest(&all);
    assert_int_equal(clerks_lost_in(&all, fleet), 0);
}

static bool is_connected_by(redis_server* server, const char* local)
{
    return strstr(redis_server_text(server, "CLIENT LIST"), local) != NULL;
}

/* A machine is replaced: what the name was before is never gone back to. */
static void names_are_looked_up_for_each_attempt(void** state)
{
    (void)state;
    char local[64];
    registrar names = {.number = "127.0.0.1"};
    cluster* fleet = start_fleet("cluster-preferred-endpoint-type hostname\n", 0);
    redis_server* node = cluster_master(fleet, cluster_slot("clerk:0"));
    if (redis_server_tcp6_address(node) == NULL) suite_skip("this machine has no ::1");
    snprintf(local, sizeof(local), "laddr=%s", redis_server_tcp6_address(node));
    announce_names(fleet);
    game* a = start_game(fleet, &names);
    clerks all = clerks_start(a, 8);
    clerks_until(&all, 10);
    assert_false(is_connected_by(node, local));
    names.number = "::1";
    redis_server_do(node, "CLIENT KILL TYPE normal SKIPME yes");
    clerks_until(&all, 10);
    GAME_UNTIL(is_connected_by(node, local)); /* on a busy machine it may just have been given up once more */
    clerks_rest(&all);
    assert_int_equal(clerks_lost_in(&all, fleet), 0);
}

TEST_FILE(cluster_managed, cmocka_unit_test(nodes_with_host_names_are_followed),
          cmocka_unit_test(nodes_that_leave_their_hosts_out_are_followed),
          cmocka_unit_test(nodes_that_do_not_know_their_names_are_waited_for),
          cmocka_unit_test(names_are_looked_up_for_each_attempt));
