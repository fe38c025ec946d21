/* What the hand-shakes of several servers warn of, told together: that of one takes nothing back of another's, and what
   stays as it was is logged once. */

#include "support/server/made_cluster.h"

#include <string.h>

#define TICK_US 5000

static scripted_answer honest;
static bool forgets[3]; /* which nodes have no AOF */
static bool no_wait;    /* WAIT is refused         */

static bool answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    static const char info[] = "redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\naof_enabled:0\r\n"
                               "role:master\r\ncluster_enabled:1\r\nrun_id:0123456789abcdef0123456789abcdef01234567\r\n"
                               "master_replid:0123456789abcdef0123456789abcdef01234567\r\n";
    if (no_wait && gh_str_equal(words[0], gh_str_literal("WAIT")))
    {
        buffer_add(reply, "-NOPERM no WAIT\r\n", strlen("-NOPERM no WAIT\r\n"));
        return true;
    }
    if (!gh_str_equal(words[0], gh_str_literal("INFO")) || !forgets[world->asked->port - MADE_PORT])
        return honest(world, words, count, reply);
    buffer_add_bulk(reply, "%s", info);
    return true;
}

static made_cluster* fleet_of_two(void)
{
    made_cluster* fleet = made_cluster_new(2);
    memset(forgets, 0, sizeof forgets);
    no_wait = false;
    honest = fleet->world->answer;
    fleet->world->answer = answer;
    return fleet;
}

static uint32_t warnings(made_cluster* fleet)
{
    return scripted_stats(fleet->world).warnings;
}

static void hold_one_of_each(made_cluster* fleet)
{
    gh_lock* locks[2];
    for (unsigned node = 0; node < 2; node++) locks[node] = made_cluster_want(fleet, node, 60000000);
    MADE_UNTIL(fleet, gh_op_poll(&locks[0]->op) == GH_HELD && gh_op_poll(&locks[1]->op) == GH_HELD, TICK_US, 5000000);
}

/* And back. */
static void part(made_cluster* fleet, unsigned node)
{
    const uint64_t ready = scripted_stats(fleet->world).links_ready;
    for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (fleet->world->streams[i].port == MADE_PORT + node) fleet->world->streams[i].ended = true;
    MADE_UNTIL(fleet, scripted_stats(fleet->world).links_ready > ready, TICK_US, 5000000);
}

static void hand_shake_of_one_takes_nothing_back_of_another(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_of_two();
    forgets[1] = true;
    made_cluster_start(fleet);
    hold_one_of_each(fleet);
    assert_int_equal(warnings(fleet), GH_WARNING_NO_AOF);
    for (int i = 0; i < 3; i++)
    {
        part(fleet, 0);
        assert_int_equal(warnings(fleet), GH_WARNING_NO_AOF);
        part(fleet, 1);
        assert_int_equal(warnings(fleet), GH_WARNING_NO_AOF);
    }
    assert_int_equal(scripted_times_logged(fleet->world, "set appendonly yes"), 1);
}

static void what_is_mended_is_told_no_more(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_of_two();
    forgets[0] = forgets[1] = true;
    made_cluster_start(fleet);
    hold_one_of_each(fleet);
    forgets[0] = false;
    part(fleet, 0);
    assert_int_equal(warnings(fleet), GH_WARNING_NO_AOF);
    forgets[1] = false;
    part(fleet, 1);
    assert_int_equal(warnings(fleet), 0);
    forgets[1] = true;
    part(fleet, 1);
    assert_int_equal(warnings(fleet), GH_WARNING_NO_AOF);
    assert_int_equal(scripted_times_logged(fleet->world, "set appendonly yes"), 2);
}

static void node_that_is_gone_warns_of_nothing(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_of_two();
    forgets[1] = true;
    made_cluster_start(fleet);
    hold_one_of_each(fleet);
    for (unsigned slot = 0; slot < GH_SLOTS; slot++) fleet->owners[slot] = 0;
    MADE_UNTIL(fleet, warnings(fleet) == 0, TICK_US, 60000000);
}

/* Beside each node stands its second link, which asks for more. */
static void refused_wait_stays_told(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_of_two();
    no_wait = true;
    fleet->config.replicas = gh_replicas_wait();
    made_cluster_start(fleet);
    gh_lock_config config = gh_lock_config_default();
    config.wait_replicas = 1;
    gh_lock* lock = SCRIPTED_NEW(fleet->world, gh_lock);
    assert_int_equal(gh_lock_begin(lock, fleet->world->client, gh_str_literal("door"), &config), GH_OK);
    MADE_UNTIL(fleet, !gh_op_is_busy(&lock->op), TICK_US, 5000000);
    assert_int_equal(gh_op_poll(&lock->op), GH_REFUSED);
    hold_one_of_each(fleet);
    assert_int_equal(warnings(fleet), GH_WARNING_NO_REPLICAS);
    part(fleet, 0);
    part(fleet, 1);
    assert_int_equal(warnings(fleet), GH_WARNING_NO_REPLICAS);
    assert_int_equal(scripted_times_logged(fleet->world, "replicas cannot be waited for"), 1);
}

TEST_FILE(cluster_warnings, cmocka_unit_test(hand_shake_of_one_takes_nothing_back_of_another),
          cmocka_unit_test(what_is_mended_is_told_no_more), cmocka_unit_test(node_that_is_gone_warns_of_nothing),
          cmocka_unit_test(refused_wait_stays_told));
