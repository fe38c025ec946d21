/* A failover of which nobody has told the client, as its links to the sentinels were away just then: they are asked
   when they are back, and while the master is silent; and an old answer of one of them moves nobody. */

#include "sentinel/made_sentinels.h"

#define TICK_US 5000

static made_sentinels* start(unsigned sentinels)
{
    made_sentinels* fleet = made_sentinels_new(sentinels);
    made_sentinels_start(fleet);
    for (unsigned n = 0; n < sentinels; n++)
        SCRIPTED_UNTIL(fleet->world, made_sentinels_stream(fleet, MADE_SENTINEL_PORT + n) != NULL, TICK_US, 1000000);
    for (int i = 0; i < 20; i++) scripted_tick(fleet->world, TICK_US);
    assert_non_null(made_sentinels_stream(fleet, MADE_SERVER_PORT));
    return fleet;
}

static void lose_all(made_sentinels* fleet)
{
    for (unsigned n = 0; n < fleet->count; n++) made_sentinels_part(fleet, n);
}

static bool is_ready_at(made_sentinels* fleet, unsigned server)
{
    return gh_client_ready(fleet->world->client) && made_sentinels_stream(fleet, MADE_SERVER_PORT + server) != NULL;
}

static void run(made_sentinels* fleet, uint64_t us)
{
    for (const uint64_t end_us = fleet->world->now_us + us; fleet->world->now_us < end_us;)
        scripted_tick(fleet->world, TICK_US);
}

/* The old master says that it is one still, and answers. */
static void who_was_away_hears_of_a_new_master(void** state)
{
    (void)state;
    for (unsigned sentinels = 1; sentinels <= 5; sentinels++)
    {
        made_sentinels* fleet = start(sentinels);
        gh_lock* lock = scripted_want(fleet->world, "door", 10000000, 60000000);
        SCRIPTED_UNTIL(fleet->world, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 1000000);
        lose_all(fleet);
        for (unsigned n = 0; n < sentinels; n++) fleet->named[n] = 1;
        SCRIPTED_UNTIL(fleet->world, is_ready_at(fleet, 1), TICK_US, 1000000);
        assert_int_equal(gh_op_poll(&lock->op), GH_HELD);
        run(fleet, 10000000);
        assert_true(is_ready_at(fleet, 1));
        assert_int_equal(fleet->connected[0], 1);
        assert_int_equal(scripted_stats(fleet->world).failovers, 1);
        assert_int_equal(scripted_stats(fleet->world).nodes_known, 1);
    }
}

/* Those who can be reached decide. */
static void the_only_one_that_is_there_is_heard(void** state)
{
    (void)state;
    made_sentinels* fleet = start(3);
    lose_all(fleet);
    fleet->away[0] = fleet->away[2] = true;
    fleet->named[1] = 1;
    SCRIPTED_UNTIL(fleet->world, is_ready_at(fleet, 1), TICK_US, 2000000);
}

/* It comes back with what it knew, and the old master answers, too. */
static void old_answer_of_one_moves_nobody(void** state)
{
    (void)state;
    made_sentinels* fleet = start(3);
    fleet->named[1] = 1;
    for (int i = 0; i < 10; i++)
    {
        made_sentinels_part(fleet, 1);
        run(fleet, 1000000);
    }
    assert_true(fleet->asked[1] >= 10);
    assert_true(is_ready_at(fleet, 0));
    assert_int_equal(fleet->connected[0], 1);
    assert_int_equal(fleet->connected[1], 0);
    assert_int_equal(scripted_stats(fleet->world).failovers, 0);
}

/* A link that is lost and made anew by itself says nothing new. */
static void same_answer_moves_nobody(void** state)
{
    (void)state;
    made_sentinels* fleet = start(3);
    lose_all(fleet);
    run(fleet, 2000000);
    assert_true(is_ready_at(fleet, 0));
    assert_int_equal(fleet->connected[0], 1);
}

/* Frozen, it says nothing; and nobody says that it was replaced. */
static void silent_master_is_asked_after(void** state)
{
    (void)state;
    made_sentinels* fleet = start(3);
    fleet->silent[0] = true;
    for (unsigned n = 0; n < 3; n++) fleet->named[n] = 1, fleet->asked[n] = 0;
    gh_lock* lock = scripted_want(fleet->world, "door", 10000000, 60000000);
    const uint64_t half_us = fleet->config.request_timeout_us / 2;
    run(fleet, half_us - 2 * TICK_US);
    assert_int_equal(fleet->asked[0] + fleet->asked[1] + fleet->asked[2], 0);
    SCRIPTED_UNTIL(fleet->world, is_ready_at(fleet, 1), TICK_US, half_us / 2);
    SCRIPTED_UNTIL(fleet->world, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 1000000);
}

/* Whoever sleeps between ticks wakes up for it. */
static void deadline_is_that_of_the_question(void** state)
{
    (void)state;
    made_sentinels* fleet = start(3);
    fleet->silent[0] = true;
    (void)scripted_want(fleet->world, "door", 10000000, 60000000);
    scripted_tick(fleet->world, TICK_US);
    assert_true(gh_next_deadline(fleet->world->client) <= fleet->world->now_us + fleet->config.request_timeout_us / 2);
}

/* What sentinels say is a hint: a server that says of itself that it is a replica takes no request. */
static void another_is_judged_by_its_own_role(void** state)
{
    (void)state;
    made_sentinels* fleet = start(3);
    fleet->is_replica[1] = true;
    lose_all(fleet);
    for (unsigned n = 0; n < 3; n++) fleet->named[n] = 1;
    SCRIPTED_UNTIL(fleet->world, fleet->connected[1] >= 3, TICK_US, 5000000);
    assert_false(gh_client_ready(fleet->world->client));
    fleet->named[0] = fleet->named[1] = fleet->named[2] = 0;
    SCRIPTED_UNTIL(fleet->world, is_ready_at(fleet, 0), TICK_US, 3000000);
}

/* As streams_capacity of guildhall/tls.h counts them: the world fails the test when one more is opened. */
static void one_link_more_than_of_one_server_for_each_sentinel(void** state)
{
    (void)state;
    for (unsigned replicas = 0; replicas < 2; replicas++)
    {
        made_sentinels* fleet = made_sentinels_new(3);
        fleet->config.wake = true;
        fleet->config.replicas = replicas == 0 ? NULL : gh_replicas_wait();
        fleet->config.wait_replicas = replicas;
        fleet->world->streams_max = 3 + 2 + replicas;
        made_sentinels_start(fleet);
        for (unsigned turn = 0; turn < 6; turn++)
        {
            gh_lock* lock = scripted_want(fleet->world, "door", 10000000, 60000000);
            SCRIPTED_UNTIL(fleet->world, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 5000000);
            gh_lock_release(lock);
            SCRIPTED_UNTIL(fleet->world, !gh_op_is_busy(&lock->op), TICK_US, 5000000);
            lose_all(fleet);
            for (unsigned n = 0; n < 3; n++) fleet->named[n] = 1 - turn % 2;
            SCRIPTED_UNTIL(fleet->world, is_ready_at(fleet, 1 - turn % 2), TICK_US, 5000000);
        }
    }
}

TEST_FILE(sentinel_missed, cmocka_unit_test(who_was_away_hears_of_a_new_master),
          cmocka_unit_test(the_only_one_that_is_there_is_heard), cmocka_unit_test(old_answer_of_one_moves_nobody),
          cmocka_unit_test(same_answer_moves_nobody), cmocka_unit_test(silent_master_is_asked_after),
          cmocka_unit_test(one_link_more_than_of_one_server_for_each_sentinel),
          cmocka_unit_test(deadline_is_that_of_the_question), cmocka_unit_test(another_is_judged_by_its_own_role));
