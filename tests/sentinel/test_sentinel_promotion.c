/* What a master says that is about to be replaced: from the moment at which that is heard it counts no more, as it may
   have been done after its successor had become one. */

#include "sentinel/made_sentinels.h"
#include "support/scene/game.h"

#define MASTER    0
#define SUCCESSOR 1

static scripted_stream* stream_to(made_sentinels* fleet, unsigned port)
{
    scripted_stream* stream = made_sentinels_stream(fleet, port);
    if (stream == NULL) fail_msg("no stream to %u is open", port);
    return stream;
}

static made_sentinels* start(void)
{
    made_sentinels* fleet = made_sentinels_new(1);
    fleet->is_replica[SUCCESSOR] = true;
    made_sentinels_start(fleet);
    return fleet;
}

static void tell_of_promotion(made_sentinels* fleet)
{
    made_sentinels_tell(fleet, 0, "+failover-state-send-slaveof-noone",
                        "slave 10.0.0.1:7001 10.0.0.1 7001 @ game 10.0.0.1 7000");
}

/* The lock is asked for; the old master's answer and the news of its end arrive together. */
static void answer_that_comes_with_the_news_is_not_believed(void** state)
{
    (void)state;
    made_sentinels* fleet = start();
    scripted* world = fleet->world;
    gh_lock* first = scripted_want(world, "window", 10000000, 60000000); /* the script is there now */
    SCRIPTED_UNTIL(world, gh_op_poll(&first->op) == GH_HELD, 5000, 1000000);
    world->silent = true;
    gh_lock* lock = scripted_want(world, "door", 10000000, 60000000);
    scripted_tick(world, 5000);
    world->silent = false;
    scripted_speak(world);
    assert_true(stream_to(fleet, MADE_SERVER_PORT + MASTER)->replies.size > 0);
    tell_of_promotion(fleet);
    scripted_tick(world, 300000);
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    fleet->is_replica[SUCCESSOR] = false;
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, 5000, 1000000);
    (void)stream_to(fleet, MADE_SERVER_PORT + SUCCESSOR);
    assert_true(scripted_stats(world).resends >= 1);
}

/* Before the news they count. */
static void answer_before_the_news_is_believed(void** state)
{
    (void)state;
    made_sentinels* fleet = start();
    scripted* world = fleet->world;
    gh_lock* lock = scripted_want(world, "door", 10000000, 60000000);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, 5000, 1000000);
    tell_of_promotion(fleet);
    scripted_tick(world, 300000);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    fleet->is_replica[SUCCESSOR] = false;
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), 5000, 1000000);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
}

/* None of its replicas was good enough: the old master goes on, and is asked for at once. */
static void promotion_that_is_given_up_leads_back(void** state)
{
    (void)state;
    static const char* const channels[] = {"-failover-abort-no-good-slave", "-failover-abort-slave-timeout"};
    for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++)
    {
        made_sentinels* fleet = start();
        scripted* world = fleet->world;
        tell_of_promotion(fleet);
        SCRIPTED_UNTIL(world, !gh_client_ready(world->client), 5000, 1000000);
        scripted_tick(world, 50000);
        assert_false(gh_client_ready(world->client));
        made_sentinels_tell(fleet, 0, channels[i], "master game 10.0.0.1 7000");
        SCRIPTED_UNTIL(world, gh_client_ready(world->client), 5000, 400000);
        (void)stream_to(fleet, MADE_SERVER_PORT + MASTER);
    }
}

/* It takes longer than anybody waits, and the successor says that it is the master when it was given up: it is followed
   as any other, and one sentinel that was away and names the old one, which answers yet, moves nobody. */
static void promotion_that_comes_late_is_followed(void** state)
{
    (void)state;
    made_sentinels* fleet = made_sentinels_new(3);
    scripted* world = fleet->world;
    fleet->is_replica[SUCCESSOR] = true;
    made_sentinels_start(fleet);
    for (unsigned n = 0; n < 3; n++)
        SCRIPTED_UNTIL(world, made_sentinels_stream(fleet, MADE_SENTINEL_PORT + n) != NULL, 5000, 1000000);
    scripted_tick(world, 5000);
    tell_of_promotion(fleet);
    for (int i = 0; i < 580; i++) scripted_tick(world, 5000);
    world->silent = true;
    for (int i = 0; i < 40; i++) scripted_tick(world, 5000);
    assert_false(gh_client_ready(world->client));
    fleet->is_replica[SUCCESSOR] = false;
    fleet->named[0] = fleet->named[1] = SUCCESSOR;
    world->silent = false;
    scripted_speak(world);
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), 5000, 100000);
    (void)stream_to(fleet, MADE_SERVER_PORT + SUCCESSOR);
    made_sentinels_part(fleet, 2);
    for (int i = 0; i < 200; i++) scripted_tick(world, 5000);
    stream_to(fleet, MADE_SERVER_PORT + SUCCESSOR)->ended = true;
    for (int i = 0; i < 200; i++) scripted_tick(world, 5000);
    (void)stream_to(fleet, MADE_SERVER_PORT + SUCCESSOR);
    assert_int_equal(fleet->connected[MASTER], 1);
    assert_int_equal(scripted_stats(world).failovers, 1);
}

static void promotion_of_another_master_that_is_given_up_is_nothing(void** state)
{
    (void)state;
    made_sentinels* fleet = start();
    scripted* world = fleet->world;
    tell_of_promotion(fleet);
    SCRIPTED_UNTIL(world, !gh_client_ready(world->client), 5000, 1000000);
    made_sentinels_tell(fleet, 0, "-failover-abort-slave-timeout", "master chess 10.0.0.1 7000");
    scripted_tick(world, 50000);
    assert_false(gh_client_ready(world->client));
}

/* The only one that is known is away, and has gone for good. */
static void switch_is_followed_while_a_master_is_looked_for(void** state)
{
    (void)state;
    made_sentinels* fleet = start();
    scripted* world = fleet->world;
    fleet->is_replica[MASTER] = true; /* and so nobody's */
    stream_to(fleet, MADE_SERVER_PORT + MASTER)->ended = true;
    SCRIPTED_UNTIL(world, !gh_client_ready(world->client), 5000, 1000000);
    for (int i = 0; i < 100; i++) scripted_tick(world, 5000);
    assert_false(gh_client_ready(world->client));
    fleet->is_replica[SUCCESSOR] = false;
    fleet->named[0] = SUCCESSOR;
    made_sentinels_tell(fleet, 0, "+switch-master", "game 10.0.0.1 7000 10.0.0.1 7001");
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), 5000, 5000000);
    (void)stream_to(fleet, MADE_SERVER_PORT + SUCCESSOR);
}

TEST_FILE(sentinel_promotion, cmocka_unit_test(promotion_that_is_given_up_leads_back),
          cmocka_unit_test(promotion_of_another_master_that_is_given_up_is_nothing),
          cmocka_unit_test(promotion_that_comes_late_is_followed),
          cmocka_unit_test(switch_is_followed_while_a_master_is_looked_for),
          cmocka_unit_test(answer_that_comes_with_the_news_is_not_believed),
          cmocka_unit_test(answer_before_the_news_is_believed));
