/* A caller's script on many nodes, one of which forgets what was loaded, as one does that takes over. Real servers. */

#include "support/scene/game.h"
#include "support/server/cluster.h"

#include <stdio.h>

#define OPS    24
#define ROUNDS 100
#define MORE   4 /* that each op runs in a round */

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
        if (all[i].op.op.strikes > 1) fail_msg("%s was told twice that the script is not there", all[i].key);
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

static game* start_game(cluster* fleet)
{
    gh_client_config config = game_config("unix:/nowhere");
    config.address = gh_str_of(cluster_seeds(fleet));
    config.topology = gh_topology_cluster();
    return game_start_with(&config);
}

/* Whoever is told that it is not there brings it, once, whatever others bring elsewhere meanwhile. */
static void forgotten_script_is_brought_once(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    game* a = start_game(fleet);
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

/* What it was given as arguments are none of its keys; and a fence alone says in which slot it runs. */
static void script_without_keys_has_none(void** state)
{
    (void)state;
    static const gh_str words[] = {GH_STR_INIT("one"), GH_STR_INIT("two"), GH_STR_INIT("three")};
    cluster* fleet = cluster_shared();
    game* a = start_game(fleet);
    gh_lock* lock = GAME_NEW(a, gh_lock);
    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    for (int fenced = 0; fenced < 2; fenced++)
    {
        gh_script* script = GAME_NEW(a, gh_script);
        gh_command* op = GAME_NEW(a, gh_command);
        gh_command_config config = gh_command_config_default();
        int64_t told = 0;
        if (fenced != 0) config.fence = gh_lock_fence(lock);
        script->text = gh_str_literal("return 10 * #KEYS + #ARGV");
        assert_status(gh_script_begin(op, a->client, script, NULL, 0, words, 3, &config), GH_OK);
        GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
        assert_status(gh_op_poll(&op->op), GH_OK);
        assert_true(gh_reply_int(gh_command_reply(op), &told));
        assert_int_equal(told, 3);
    }
}

TEST_FILE(cluster_scripts, cmocka_unit_test(forgotten_script_is_brought_once),
          cmocka_unit_test(script_without_keys_has_none));
