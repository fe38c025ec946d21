/* A thousand locks of a master behind Sentinels that loses them: each is told within a round trip and eight ticks, for
   each way to lose them that no answer tells. Real servers, real Sentinels. */

#include "support/scene/hoard.h"
#include "support/server/sentinels.h"

#define SLOW_FAILOVER_MS 10000
#define PATIENT_US       (20 * SECOND_US)

static bool any(const char* name)
{
    (void)name;
    return true;
}

/* It is back before the Sentinels take it for down: only the epoch tells. */
static void master_that_is_back_empty(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(&(sentinels_options){.down_after_ms = SLOW_FAILOVER_MS});
    const gh_client_config config = game_config_behind(sentinels_seeds(fleet));
    hoard* all = hoard_start(&config, any);
    hoard_take(all);
    redis_server* master = sentinels_master(fleet);
    redis_server_kill9(master);
    redis_server_restart_empty(master);
    hoard_loses_all(all);
    assert_int_equal(game_stats(all->owner).store_resets, 1);
}

static void for_each_replica(sentinels* fleet, void (*happens)(redis_server*))
{
    const redis_server* master = sentinels_master(fleet);
    for (size_t i = 0; i < sentinels_server_count(fleet); i++)
        if (sentinels_server(fleet, i) != master) happens(sentinels_server(fleet, i));
}

/* Whichever is the next master had none of the locks, but the epoch. */
static void replica_that_lagged(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(NULL);
    const gh_client_config config = game_config_behind(sentinels_seeds(fleet));
    hoard* all = hoard_start(&config, any);
    redis_server* master = sentinels_master(fleet);
    sentinels_replicas_have_all(fleet);
    for_each_replica(fleet, redis_server_freeze);
    redis_server_do(master, "CLIENT KILL TYPE replica"); /* or what lies in their sockets comes to them yet */
    hoard_take(all);
    for (size_t i = 0; i < sentinels_server_count(fleet); i++)
    {
        redis_server* server = sentinels_server(fleet, i);
        if (server == master) redis_server_kill9(server);
        else redis_server_thaw(server);
    }
    hoard_loses_all(all);
    assert_int_equal(all->asked, HOARD_LOCKS);
}

/* A master that was replaced while it was frozen, and acknowledges what had lain in its socket when it goes on. The
   client hears of nothing meanwhile: the one Sentinel that it knows is frozen, too. */
static void zombie(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(&(sentinels_options){.quick = true});
    redis_server* known = sentinels_sentinel(fleet, 0);
    gh_client_config config = game_config_behind(redis_server_tcp_address(known));
    config.request_timeout_us = PATIENT_US;
    hoard* all = hoard_start(&config, any);
    redis_server* master = sentinels_master(fleet);
    hoard_take(all);
    sentinels_replicas_have_all(fleet);
    redis_server_freeze(known);
    redis_server_freeze(master);
    hoard_ask_late(all);
    (void)sentinels_await_master(fleet, master);
    redis_server_thaw(master);
    hoard_is_granted_late(
        all); /* or, where it is slow to go on, its successor would be asked for them, and grant them */
    redis_server_thaw(known);
    hoard_loses_late(all);
}

TEST_FILE(sentinel_told, cmocka_unit_test(master_that_is_back_empty), cmocka_unit_test(replica_that_lagged),
          cmocka_unit_test(zombie));
