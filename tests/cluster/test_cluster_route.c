/* A request is written once: the way to the node of its slot asks for no more of it than its first key. */

#include "support/scene/game.h"
#include "support/server/cluster.h"

#include <stdio.h>

#define MEMBERS 8

static size_t count_and_fold(void* context, gh_str text, char* out)
{
    ++*(unsigned*)context;
    return gh_fold_ascii(NULL, text, out);
}

/* How often names are folded, which a request of a guild does where it is written. */
static unsigned folds_of_join(game* a, const char* guild_name)
{
    unsigned folds = 0;
    gh_guild* guild = GAME_NEW(a, gh_guild);
    gh_guild_change* join = GAME_NEW(a, gh_guild_change);
    gh_guild_member* members = GAME_NEW_ARRAY(a, gh_guild_member, MEMBERS);
    char(*names)[24] = game_new(a, sizeof *names * MEMBERS);
    gh_guild_config config = gh_guild_config_default();
    config.fold = count_and_fold;
    config.fold_context = &folds;
    assert_status(gh_guild_init(guild, a->client, gh_str_of(guild_name), &config), GH_OK);
    for (int i = 0; i < MEMBERS; i++)
    {
        snprintf(names[i], sizeof names[i], "player%d", i);
        members[i].name = gh_str_of(names[i]);
    }
    assert_status(gh_guild_join_begin(join, guild, members, MEMBERS), GH_OK);
    GAME_UNTIL(gh_op_poll(&join->op) != GH_PENDING);
    assert_status(gh_op_poll(&join->op), GH_OK);
    return folds;
}

/* Once the script is there. */
static unsigned folds_of_another_join(game* a)
{
    (void)folds_of_join(a, "knights");
    return folds_of_join(a, "knights"); /* of the same node */
}

static void request_is_written_once(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    gh_client_config config = game_config("unix:/nowhere");
    config.address = gh_str_of(cluster_seeds(fleet));
    config.topology = gh_topology_cluster();
    game* of_many = game_start_with(&config);
    game* of_one = game_start(redis_server_address(redis_server_start(NULL)));
    const unsigned folds = folds_of_another_join(of_one);
    assert_in_range(folds, MEMBERS, 3 * MEMBERS);
    assert_int_equal(folds_of_another_join(of_many), folds);
    assert_int_equal(game_stats(of_many).moved, 0);
}

TEST_FILE(cluster_route, cmocka_unit_test(request_is_written_once));
