/* A Cluster that will not have us: who waits is told, as with one server, and when it is mended the client finds out by
   itself. */

#include "support/scene/game.h"
#include "support/scene/on.h"
#include "support/server/cluster.h"

#include <stdio.h>
#include <string.h>

static game* start_game(const char* seeds, const char* password)
{
    gh_client_config config = game_config("unix:/nowhere");
    config.address = gh_str_of(seeds);
    config.password = gh_str_of(password);
    config.topology = gh_topology_cluster();
    return game_start_with(&config);
}

static gh_lock* lock_begun(game* owner)
{
    gh_lock* lock = GAME_NEW(owner, gh_lock);
    assert_status(gh_lock_begin(lock, owner->client, gh_str_literal("sword"), NULL), GH_OK);
    return lock;
}

/* Who waits is refused, and a person is told why. */
static void expect_refusal(game* owner, const char* words)
{
    gh_lock* lock = lock_begun(owner);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_REFUSED);
    if (strstr(owner->last_error, words) == NULL) fail_msg("\"%s\" was logged", owner->last_error);
    assert_false(gh_client_ready(owner->client));
}

static void expect_held(game* owner)
{
    gh_lock* lock = lock_begun(owner);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
}

static void passwords_that_do_not_fit_refuse_what_waits(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(&(cluster_options){.password = "open-sesame"});
    game* none = start_game(cluster_seeds(fleet), "");
    expect_refusal(none, "NOAUTH");
    game_end(none);
    game* wrong = start_game(cluster_seeds(fleet), "mistaken");
    expect_refusal(wrong, "WRONGPASS");
    for (size_t i = 0; i < cluster_count(fleet); i++)
        redis_server_do(cluster_node(fleet, i), "ACL SETUSER default >mistaken");
    expect_held(wrong);
}

static void password_that_nobody_wants_refuses_what_waits(void** state)
{
    (void)state;
    cluster* fleet = cluster_shared();
    expect_refusal(start_game(cluster_seeds(fleet), "needless"), "AUTH");
}

static void server_that_is_no_node_refuses_what_waits(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.tcp = true});
    expect_refusal(start_game(redis_server_tcp_address(server), ""), "cluster support disabled");
}

/* What one of the addresses says is no matter while another has a map; who is not there says nothing. */
static void address_that_is_wrong_is_passed_over(void** state)
{
    (void)state;
    char seeds[256];
    cluster* fleet = cluster_shared();
    redis_server* server = redis_server_start(&(redis_server_options){.tcp = true});
    redis_server* gone = redis_server_start(&(redis_server_options){.tcp = true});
    snprintf(seeds, sizeof seeds, "%s,%s,%s", redis_server_tcp_address(server), redis_server_tcp_address(gone),
             redis_server_tcp_address(cluster_node(fleet, 0)));
    redis_server_kill9(gone);
    expect_held(start_game(seeds, ""));
    snprintf(seeds, sizeof seeds, "%s,%s", redis_server_tcp_address(server), redis_server_tcp_address(gone));
    expect_refusal(start_game(seeds, ""), "cluster support disabled");
}

TEST_FILE(cluster_refused, cmocka_unit_test(passwords_that_do_not_fit_refuse_what_waits),
          cmocka_unit_test(password_that_nobody_wants_refuses_what_waits),
          cmocka_unit_test(server_that_is_no_node_refuses_what_waits),
          cmocka_unit_test(address_that_is_wrong_is_passed_over));
