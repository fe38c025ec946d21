/* What a node is asked out of turn, as a slot is on its way to it: ASKING counts for the very next command alone. */

#include "support/server/made_cluster.h"

#include <stdio.h>

#define TICK_US 5000

/* The slot is on its way from node 0 to node 1, and has no key left at node 0. */
static bool on_its_way(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    if (node != 0 || slot != fleet->slot) return false;
    made_redirect(reply, "ASK", slot, 1);
    return true;
}

/* A command, without any script. */
static void connect_to(made_cluster* fleet, unsigned node)
{
    char key[40];
    char name[24];
    gh_command* op = SCRIPTED_NEW(fleet->world, gh_command);
    gh_str* words = scripted_keep(fleet->world, 2 * sizeof(gh_str));
    char* kept = scripted_keep(fleet->world, sizeof key);
    (void)made_name(fleet, node, 1, name);
    snprintf(kept, sizeof key, "{lock:%s}", name);
    words[0] = gh_str_literal("GET");
    words[1] = gh_str_of(kept);
    gh_command_config config = gh_command_config_default();
    config.timeout_us = 60000000;
    assert_int_equal(gh_command_begin(op, fleet->world->client, words, 2, &config), GH_OK);
    MADE_UNTIL(fleet, !gh_op_is_busy(&op->op), TICK_US, 5000000);
}

/* The node has not seen the op's script yet: that is loaded in front of ASKING, not behind it. */
static void script_is_loaded_in_front_of_asking(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(2);
    made_cluster_start(fleet);
    connect_to(fleet, 1); /* while no script was used yet */
    gh_lock* first = made_cluster_want(fleet, 0, 60000000);
    MADE_UNTIL(fleet, gh_op_poll(&first->op) == GH_HELD, TICK_US, 5000000);
    assert_int_equal(fleet->asked[1], 0);
    fleet->lie = on_its_way;
    gh_lock* lock = SCRIPTED_NEW(fleet->world, gh_lock);
    char* name = scripted_keep(fleet->world, 24);
    fleet->slot = made_name(fleet, 0, 7, name);
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 60000000;
    assert_int_equal(gh_lock_begin(lock, fleet->world->client, gh_str_of(name), &config), GH_OK);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 5000000);
    assert_int_equal(fleet->asked[1], 1);
    assert_int_equal(scripted_stats(fleet->world).asked, 1);
    assert_int_equal(scripted_stats(fleet->world).moved, 0);
}

TEST_FILE(cluster_ask, cmocka_unit_test(script_is_loaded_in_front_of_asking));
