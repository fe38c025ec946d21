/* Servers and Sentinels that speak TLS alone, with each other as well: the master is found, and followed through
   failovers. Real ones. */

#include "tls/tls_games.h"

#include "sentinel/clerks.h"
#include "support/scene/locks.h"
#include "support/server/sentinels.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define SEEDS_SIZE 256

/* All names are of this machine. */
static gh_status look_up(void* context, gh_str host, gh_str* numeric)
{
    (void)context, (void)host;
    *numeric = gh_str_literal("127.0.0.1");
    return GH_OK;
}

/* One for commands and one for hints, and one a Sentinel. */
static tls_games* games_of(sentinels* fleet)
{
    gh_client_config config = game_config_behind(sentinels_seeds(fleet));
    return tls_games_new(&config, 2 + (uint32_t)sentinels_sentinel_count(fleet));
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void planned_failover_loses_nothing(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(&(sentinels_options){.tls = "server"});
    tls_games* all = games_of(fleet);
    sentinels_replicas_have_all(fleet);
    game* a = tls_games_start(all);
    clerks work = clerks_start(a, 8);
    clerks_until(&work, 10);
    gh_lock* lock = lock_held(a, "door", 60 * SECOND_US);
    GAME_UNTIL(tls_games_stats(all).streams == 5);
    assert_int_equal(clerks_lost(&work, clerks_outlive_failover(&work, fleet, 10)), 0);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_false(tls_games_said(all, "another name"));
}

/* Nobody writes meanwhile, or the newest might be lost with it. */
static void killed_master_is_a_delay(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(&(sentinels_options){.tls = "server"});
    tls_games* all = games_of(fleet);
    game* a = tls_games_start(all);
    clerks work = clerks_start(a, 8);
    clerks_until(&work, 10);
    clerks_rest(&work);
    sentinels_replicas_have_all(fleet);
    redis_server* old = sentinels_master(fleet);
    redis_server_kill9(old);
    clerks_until(&work, 10);
    clerks_rest(&work);
    assert_int_equal(clerks_lost(&work, sentinels_await_master(fleet, old)), 0);
}

/* What Sentinels say is a name then, and that is verified: certificates have no number at all. */
/* Servers look it up by themselves. */
static bool localhost_is_known(void)
{
    struct addrinfo* found = NULL;
    const bool known = getaddrinfo("localhost", NULL, NULL, &found) == 0;
    if (known) freeaddrinfo(found);
    return known;
}

static void servers_are_verified_by_the_names_that_sentinels_say(void** state)
{
    (void)state;
    if (!localhost_is_known()) suite_skip("this machine has no localhost in /etc/hosts");
    char seeds[SEEDS_SIZE] = "";
    sentinels* fleet = sentinels_start(&(sentinels_options){.tls = "named", .host = "localhost"});
    for (size_t i = 0; i < sentinels_sentinel_count(fleet); i++)
        snprintf(seeds + strlen(seeds), SEEDS_SIZE - strlen(seeds), "%slocalhost%s", i == 0 ? "" : ",",
                 strrchr(redis_server_tcp_address(sentinels_sentinel(fleet, i)), ':'));
    gh_client_config config = game_config_behind(seeds);
    config.resolver = look_up;
    tls_games* all = tls_games_new(&config, 5);
    sentinels_replicas_have_all(fleet);
    game* a = tls_games_start(all);
    clerks work = clerks_start(a, 8);
    clerks_until(&work, 10);
    assert_int_equal(clerks_lost(&work, clerks_outlive_failover(&work, fleet, 10)), 0);
    assert_false(tls_games_said(all, "another name"));
}

/* The first of the list is passed over, as one that is away. */
static void sentinel_of_another_name_is_not_asked(void** state)
{
    (void)state;
    char seeds[SEEDS_SIZE];
    sentinels* fleet = sentinels_start(&(sentinels_options){.tls = "server"});
    tls_server liar = tls_server_start("elsewhere", false);
    snprintf(seeds, sizeof(seeds), "%s,%s", liar.address, sentinels_seeds(fleet));
    gh_client_config config = game_config_behind(seeds);
    tls_games* all = tls_games_new(&config, 6);
    game* a = tls_games_start(all);
    clerks work = clerks_start(a, 4);
    GAME_UNTIL(tls_games_said(all, "sentinel link: no connection: the server's certificate is for another name (4)"));
    clerks_until(&work, 10);
    clerks_rest(&work);
}

/* Sentinels say that it is the master, and it is not spoken to until it shows what it should. */
static void master_of_another_name_is_waited_for(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(&(sentinels_options){.tls = "server"});
    tls_games* all = games_of(fleet);
    redis_server* old = sentinels_master(fleet);
    game* a = tls_games_start(all);
    clerks work = clerks_start(a, 4);
    clerks_until(&work, 10);
    clerks_rest(&work);
    for (size_t i = 0; i < sentinels_server_count(fleet); i++)
        if (sentinels_server(fleet, i) != old) tls_set_certificate(sentinels_server(fleet, i), "elsewhere");
    redis_server_kill9(old);
    clerks_work(&work);
    GAME_UNTIL(tls_games_said(all, "command link: no connection: the server's certificate is for another name (4)"));
    redis_server* master = sentinels_await_master(fleet, old);
    for (unsigned i = 0; i < work.count; i++) assert_status(gh_op_poll(&work.each[i].op.op), GH_PENDING);
    tls_set_certificate(master, "server");
    clerks_until(&work, 10);
    clerks_rest(&work);
}

TEST_FILE(tls_sentinel, cmocka_unit_test(planned_failover_loses_nothing), cmocka_unit_test(killed_master_is_a_delay),
          cmocka_unit_test(servers_are_verified_by_the_names_that_sentinels_say),
          cmocka_unit_test(sentinel_of_another_name_is_not_asked),
          cmocka_unit_test(master_of_another_name_is_waited_for));
