/* A caller's script on many nodes, one of which forgets what was loaded, as one does that takes over. Real servers. */

#include "support/scene/game.h"
#include "support/server/cluster.h"

#include <stdio.h>

#define OPS    24
#define ROUNDS 30
#define MORE   8 /* that each op runs in a round */

typedef struct runner
{
    gh_command op;
    char key[24];
    gh_str name;
    unsigned slot;
    uint64_t runs;
} runner;

static void run_again(game* owner, gh_script* script, runner* one)
{
    gh_command_config config = gh_command_config_default();
    config.timeout_us = 60 * SECOND_US;
    config.repeat = GH_REPEAT_SAFE;
    assert_status(gh_script_begin(&one->op, owner->client, script, &one->name, 1, NULL, 0, &config), GH_OK);
}

static runner* start_all(game* owner, gh_script* script)
{
    runner* all = GAME_NEW_ARRAY(owner, runner, OPS);
    for (int i = 0; i < OPS; i++)
    {
        snprintf(all[i].key, sizeof all[i].key, "runs:%d", i);
        all[i].name = gh_str_of(all[i].key);
        all[i].slot = cluster_slot(all[i].key);
        run_again(owner, script, &all[i]);
    }
    return all;
}

static void work(game* owner, gh_script* script, runner* all)
{
    for (int i = 0; i < OPS; i++)
    {
        if (gh_op_poll(&all[i].op.op) == GH_PENDING) continue;
        assert_status(gh_op_poll(&all[i].op.op), GH_OK);
        all[i].runs++;
        run_again(owner, script, &all[i]);
    }
}

static uint64_t least_runs(const runner* all)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < OPS; i++)
        if (all[i].runs < least) least = all[i].runs;
    return least;
}

static void all_run_more(game* owner, gh_script* script, runner* all)
{
    const uint64_t until = least_runs(all) + MORE;
    while (least_runs(all) < until)
    {
        game_tick(owner);
        work(owner, script, all);
    }
}

/* Whoever is told that it is not there brings it, once, whatever others bring elsewhere meanwhile. */
static void forgotten_script_is_brought_once(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    gh_client_config config = game_config("unix:/nowhere");
    config.address = gh_str_of(cluster_seeds(fleet));
    config.topology = gh_topology_cluster();
    game* a = game_start_with(&config);
    gh_script* script = GAME_NEW(a, gh_script);
    script->text = gh_str_literal("return redis.call('INCR', KEYS[1])");
    runner* all = start_all(a, script);
    redis_server* forgetful = cluster_master(fleet, all[0].slot);
    uint64_t there = 0;
    for (int i = 0; i < OPS; i++) there += cluster_master(fleet, all[i].slot) == forgetful;
    all_run_more(a, script, all);
    const uint64_t reloads = game_stats(a).script_reloads;
    for (int round = 0; round < ROUNDS; round++)
    {
        redis_server_do(forgetful, "SCRIPT FLUSH");
        all_run_more(a, script, all);
    }
    assert_in_range(game_stats(a).script_reloads - reloads, ROUNDS, ROUNDS * there);
}

TEST_FILE(cluster_scripts, cmocka_unit_test(forgotten_script_is_brought_once));
