/* A store whose master is found and followed by sentinels: sentinel.h. Real servers, real sentinels. */

#include "support/scene/locks.h"
#include "support/scene/log_book.h"
#include "support/server/sentinels.h"
#include "sentinel/clerks.h"

#include <stdio.h>
#include <string.h>

static sentinels* start_fleet(void)
{
    sentinels* fleet = sentinels_start(NULL);
    sentinels_replicas_have_all(fleet);
    return fleet;
}

static game* start_game(sentinels* fleet)
{
    gh_client_config config = game_config_behind(sentinels_seeds(fleet));
    return game_start_with(&config);
}

static bool is_lost_or_held(const gh_lock* lock)
{
    gh_status status = gh_op_poll(&lock->op);
    return status == GH_HELD || status == GH_LOST;
}

/* ---- it is found ----------------------------------------------------------------------------------------- */

static void master_is_found(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(NULL);
    game* a = start_game(fleet);
    clerks all = clerks_start(a, 4);
    clerks_until(&all, 10);
    clerks_rest(&all);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_int_equal(clerks_lost(&all, sentinels_master(fleet)), 0);
}

static void sentinels_that_are_gone_are_passed_over(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(NULL);
    game* a = start_game(fleet);
    clerks all = clerks_start(a, 4);
    redis_server_kill9(sentinels_sentinel(fleet, 0));
    redis_server_freeze(sentinels_sentinel(fleet, 1));
    clerks_until(&all, 10);
    redis_server_do(sentinels_master(fleet), "CLIENT KILL TYPE normal");
    clerks_until(&all, 10);
    redis_server_thaw(sentinels_sentinel(fleet, 1));
    clerks_rest(&all);
    assert_int_equal(clerks_lost(&all, sentinels_master(fleet)), 0);
}

static void name_that_nobody_knows_is_refused(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(NULL);
    gh_client_config config = game_config_behind(sentinels_seeds(fleet));
    config.sentinel_name = gh_str_literal("nobody");
    game* a = game_start_with(&config);
    gh_command_line* op = GAME_NEW(a, gh_command_line);
    assert_status(gh_command_format(op, a->client, NULL, "PING"), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    assert_status(gh_op_poll(&op->op), GH_REFUSED);
}

static void passwords_are_for_each_their_own(void** state)
{
    (void)state;
    sentinels* fleet =
        sentinels_start(&(sentinels_options){.password = "of-servers", .sentinel_password = "of-sentinels"});
    gh_client_config config = game_config_behind(sentinels_seeds(fleet));
    config.password = gh_str_literal("of-servers");
    config.sentinel_password = gh_str_literal("of-sentinels");
    game* a = game_start_with(&config);
    clerks all = clerks_start(a, 2);
    clerks_until(&all, 10);
    clerks_rest(&all);
}

/* ---- it changes ------------------------------------------------------------------------------------------ */

static void planned_failover_loses_nothing(void** state)
{
    (void)state;
    sentinels* fleet = start_fleet();
    game* a = start_game(fleet);
    clerks all = clerks_start(a, 8);
    gh_lock* lock = lock_held(a, "door", 30 * SECOND_US);
    clerks_until(&all, 20);
    assert_int_equal(clerks_lost(&all, clerks_outlive_failover(&all, fleet, 20)), 0);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
}

/* It happens to the master while nobody writes, and all it has is at the replicas: or that might be lost with it, and
   nobody could tell. Returns who is the master then. */
static redis_server* outlive_master(sentinels* fleet, clerks* all, void (*happens)(redis_server*))
{
    redis_server* old = sentinels_master(fleet);
    clerks_rest(all);
    sentinels_replicas_have_all(fleet);
    happens(old);
    clerks_until(all, 20);
    clerks_rest(all);
    return sentinels_await_master(fleet, old);
}

static void killed_master_is_a_delay(void** state)
{
    (void)state;
    sentinels* fleet = start_fleet();
    game* a = start_game(fleet);
    clerks all = clerks_start(a, 8);
    gh_lock* lock = lock_held(a, "door", 30 * SECOND_US);
    clerks_until(&all, 20);
    redis_server* master = outlive_master(fleet, &all, redis_server_kill9);
    assert_int_equal(clerks_lost(&all, master), 0);
    assert_true(is_lost_or_held(lock));
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
}

static void frozen_master_is_a_delay(void** state)
{
    (void)state;
    sentinels* fleet = start_fleet();
    game* a = start_game(fleet);
    clerks all = clerks_start(a, 8);
    clerks_until(&all, 20);
    redis_server* old = sentinels_master(fleet);
    redis_server* master = outlive_master(fleet, &all, redis_server_freeze);
    redis_server_thaw(old);
    assert_int_equal(clerks_lost(&all, master), 0);
}

/* ---- the config -------------------------------------------------------------------------------------------- */

static gh_status check(const gh_client_config* config)
{
    return gh_client_memory(config) > 0 ? GH_OK : GH_INVALID;
}

static void fields_have_bounds(void** state)
{
    (void)state;
    static char many[600];
    memset(many, 'x', sizeof many);
    gh_client_config good = gh_client_config_default();
    good.address = gh_str_literal("127.0.0.1:1,127.0.0.1:2");
    good.topology = gh_topology_sentinel();
    good.sentinel_name = gh_str_literal("m");
    assert_status(check(&good), GH_OK);
    const struct
    {
        gh_str name, user, password, address;
        gh_status expected;
    } rows[] = {
        {gh_str_make(many, 128), gh_str_make(NULL, 0), gh_str_make(NULL, 0), good.address, GH_OK},
        {gh_str_make(many, 129), gh_str_make(NULL, 0), gh_str_make(NULL, 0), good.address, GH_INVALID},
        {gh_str_make(NULL, 0), gh_str_make(NULL, 0), gh_str_make(NULL, 0), good.address, GH_INVALID},
        {gh_str_make("a b", 3), gh_str_make(NULL, 0), gh_str_make(NULL, 0), good.address, GH_INVALID},
        {good.sentinel_name, gh_str_make(many, 128), gh_str_make(many, 512), good.address, GH_OK},
        {good.sentinel_name, gh_str_make(many, 129), gh_str_make(many, 512), good.address, GH_INVALID},
        {good.sentinel_name, gh_str_make(many, 128), gh_str_make(many, 513), good.address, GH_INVALID},
        {good.sentinel_name, gh_str_make(many, 1), gh_str_make(NULL, 0), good.address, GH_INVALID},
        {good.sentinel_name, gh_str_make(NULL, 0), gh_str_make(NULL, 0), gh_str_make(NULL, 0), GH_INVALID},
        {good.sentinel_name, gh_str_make(NULL, 0), gh_str_make(NULL, 0), gh_str_of("127.0.0.1:1,"), GH_OK},
        {good.sentinel_name, gh_str_make(NULL, 0), gh_str_make(NULL, 0), gh_str_of("127.0.0.1:1,,127.0.0.1:2"),
         GH_INVALID},
        {good.sentinel_name, gh_str_make(NULL, 0), gh_str_make(NULL, 0), gh_str_of("redis:1"), GH_INVALID},
        {good.sentinel_name, gh_str_make(NULL, 0), gh_str_make(NULL, 0),
         gh_str_of("1.1.1.1:1,1.1.1.1:2,1.1.1.1:3,1.1.1.1:4,1.1.1.1:5,1.1.1.1:6,1.1.1.1:7,1.1.1.1:8"), GH_OK},
        {good.sentinel_name, gh_str_make(NULL, 0), gh_str_make(NULL, 0),
         gh_str_of("1.1.1.1:1,1.1.1.1:2,1.1.1.1:3,1.1.1.1:4,1.1.1.1:5,1.1.1.1:6,1.1.1.1:7,1.1.1.1:8,1.1.1.1:9"),
         GH_INVALID},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    {
        gh_client_config config = good;
        config.sentinel_name = rows[i].name;
        config.sentinel_user = rows[i].user;
        config.sentinel_password = rows[i].password;
        config.address = rows[i].address;
        if (check(&config) != rows[i].expected) fail_msg("row %zu", i);
    }
}

static void handles_are_of_all_links(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(NULL);
    game* a = start_game(fleet);
    gh_client_handle handles[8];
    GAME_UNTIL(gh_client_handles(a->client, handles, 8) == 5); /* commands, hints, three sentinels */
    GAME_UNTIL(gh_client_ready(a->client));
    assert_int_equal(gh_client_handles(a->client, handles, 2), 5);
    assert_int_equal(gh_client_handles(a->client, NULL, 0), 5);
}

TEST_FILE(sentinel, cmocka_unit_test(fields_have_bounds), cmocka_unit_test(master_is_found),
          cmocka_unit_test(sentinels_that_are_gone_are_passed_over),
          cmocka_unit_test(name_that_nobody_knows_is_refused), cmocka_unit_test(passwords_are_for_each_their_own),
          cmocka_unit_test(handles_are_of_all_links), cmocka_unit_test(planned_failover_loses_nothing),
          cmocka_unit_test(killed_master_is_a_delay), cmocka_unit_test(frozen_master_is_a_delay));
