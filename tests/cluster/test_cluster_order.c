/* What one client asks of one object is asked in the order of its begins, also while it finds the nodes and they their
   scripts. */

#include "support/scene/game.h"
#include "support/server/cluster.h"

#include <stdio.h>

#define ROUNDS 40 /* each has a client that knows nothing yet */
#define DOORS  20

static gh_lock* lock_begun(game* owner, const char* name)
{
    gh_lock* lock = GAME_NEW(owner, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 60 * SECOND_US;
    assert_status(gh_lock_begin(lock, owner->client, gh_str_of(name), &config), GH_OK);
    return lock;
}

/* Two want each door: the first gets it. */
static void first_begun_is_first_served(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    for (int round = 0; round < ROUNDS; round++)
    {
        gh_client_config config = game_config("unix:/nowhere");
        config.address = gh_str_of(cluster_seeds(fleet));
        config.topology = gh_topology_cluster();
        game* a = game_start_with(&config);
        for (int ticks = 0; ticks < round % 4; ticks++) game_tick_all();
        gh_lock* first[DOORS];
        gh_lock* second[DOORS];
        for (int i = 0; i < DOORS; i++)
        {
            char name[32];
            snprintf(name, sizeof name, "door%d-%d", round, i);
            first[i] = lock_begun(a, name);
            second[i] = lock_begun(a, name);
        }
        for (int i = 0; i < DOORS; i++)
        {
            GAME_UNTIL(gh_op_poll(&first[i]->op) == GH_HELD || gh_op_poll(&second[i]->op) == GH_HELD);
            assert_status(gh_op_poll(&first[i]->op), GH_HELD);
        }
        game_end(a);
    }
}

TEST_FILE(cluster_order, cmocka_unit_test(first_begun_is_first_served));
