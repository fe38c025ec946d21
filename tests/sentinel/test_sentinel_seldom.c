/* Sentinels that say what hardly ever comes: events of other masters, addresses that are none, promotions that are
   given up, answers of another form. The client sleeps until its deadline, as a program may that has nothing else to
   do. */

#include "sentinel/made_sentinels.h"
#include "support/scene/game.h"

#include <stdlib.h>
#include <string.h>

#define TICK_US   5000
#define NO_MASTER "*-1\r\n"
#define SWITCH    "+switch-master"

static made_sentinels* start(unsigned sentinels)
{
    made_sentinels* fleet = made_sentinels_new(sentinels);
    made_sentinels_start(fleet);
    for (unsigned n = 0; n < sentinels; n++)
        SCRIPTED_UNTIL(fleet->world, made_sentinels_stream(fleet, MADE_SENTINEL_PORT + n) != NULL, TICK_US, SECOND_US);
    for (int i = 0; i < 20; i++) scripted_tick(fleet->world, TICK_US);
    assert_non_null(made_sentinels_stream(fleet, MADE_SERVER_PORT));
    return fleet;
}

/* To the next deadline, and to what is answered then. */
static void sleep_on(made_sentinels* fleet)
{
    const uint64_t due_us = gh_next_deadline(fleet->world->client);
    const uint64_t now_us = fleet->world->now_us;
    assert_true(due_us <= now_us + 60 * SECOND_US);
    scripted_tick(fleet->world, due_us > now_us ? due_us - now_us : 0);
    scripted_tick(fleet->world, 1);
}

/* It does not spin, either. */
#define SLEEP_UNTIL(fleet, condition)                                                                                  \
    for (unsigned sleeps = 0; !(condition); sleeps++)                                                                  \
    {                                                                                                                  \
        if (sleeps > 20000) fail_msg("slept too often for: %s", #condition);                                           \
        sleep_on(fleet);                                                                                               \
    }

static void sleep_for(made_sentinels* fleet, uint64_t us)
{
    const uint64_t end_us = fleet->world->now_us + us;
    SLEEP_UNTIL(fleet, fleet->world->now_us >= end_us);
}

static void run(made_sentinels* fleet, uint64_t us)
{
    for (const uint64_t end_us = fleet->world->now_us + us; fleet->world->now_us < end_us;)
        scripted_tick(fleet->world, TICK_US);
}

static bool is_ready_at(made_sentinels* fleet, unsigned server)
{
    return gh_client_ready(fleet->world->client) && made_sentinels_stream(fleet, MADE_SERVER_PORT + server) != NULL;
}

static void say_raw(made_sentinels* fleet, unsigned sentinel, const char* text)
{
    scripted_stream* stream = made_sentinels_stream(fleet, MADE_SENTINEL_PORT + sentinel);
    assert_non_null(stream);
    buffer_add(&stream->replies, text, strlen(text));
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void events_of_other_masters_move_nobody(void** state)
{
    (void)state;
    made_sentinels* fleet = start(3);
    made_sentinels_tell(fleet, 0, SWITCH, "guild 10.0.0.1 7000 10.0.0.1 7001");
    made_sentinels_tell(fleet, 0, SWITCH, "");
    made_sentinels_tell(fleet, 1, SWITCH, "game");
    made_sentinels_tell(fleet, 1, "+failover-state-send-slaveof-noone",
                        "slave 10.0.0.1:7001 10.0.0.1 7001 @ guild 10.0.0.1 7000");
    made_sentinels_tell(fleet, 2, "+failover-state-send-slaveof-noone",
                        "slave 10.0.0.1:7001 10.0.0.1 7001 @ guild 10.0.0.1 7000");
    sleep_for(fleet, 30 * SECOND_US);
    assert_true(is_ready_at(fleet, 0));
    assert_int_equal(fleet->connected[0], 1);
    assert_int_equal(fleet->connected[1], 0);
}

static void addresses_of_events_that_are_none_move_nobody(void** state)
{
    (void)state;
    static const char* const ports[] = {"0", "65536", "x", ""};
    made_sentinels* fleet = start(3);
    char text[512] = "game 10.0.0.1 7000 ";
    memset(text + strlen(text), 'a', 300);
    strcat(text, " 7001");
    made_sentinels_tell(fleet, 0, SWITCH, text);
    for (size_t i = 0; i < 4; i++)
    {
        strcpy(text, "game 10.0.0.1 7000 10.0.0.1 ");
        strcat(text, ports[i]);
        made_sentinels_tell(fleet, 0, SWITCH, text);
    }
    sleep_for(fleet, 30 * SECOND_US);
    assert_true(scripted_logged(fleet->world, "no address of a master: aaaaaaaaaa"));
    assert_true(is_ready_at(fleet, 0));
    assert_int_equal(fleet->connected[0], 1);
}

static void master_with_an_ipv6_address_is_followed(void** state)
{
    (void)state;
    made_sentinels* fleet = start(3);
    for (unsigned n = 0; n < 3; n++) fleet->said[n] = "*2\r\n$7\r\nfe80::1\r\n$4\r\n7001\r\n";
    made_sentinels_tell(fleet, 0, SWITCH, "game 10.0.0.1 7000 fe80::1 7001");
    SLEEP_UNTIL(fleet, is_ready_at(fleet, 1));
    assert_int_equal(fleet->world->opened_kind, GH_ADDRESS_IPV6);
    assert_string_equal(fleet->world->opened_host, "fe80::1");
    sleep_for(fleet, 30 * SECOND_US);
    assert_int_equal(fleet->connected[1], 1);
}

/* Nobody says who is the master, until one tells of a failover back to the one that it was. */
static void event_ends_the_search(void** state)
{
    (void)state;
    made_sentinels* fleet = start(3);
    for (unsigned n = 0; n < 3; n++) fleet->said[n] = NO_MASTER;
    made_sentinels_stream(fleet, MADE_SERVER_PORT)->ended = true;
    sleep_for(fleet, 10 * SECOND_US);
    assert_false(gh_client_ready(fleet->world->client));
    assert_int_equal(fleet->connected[0], 1);
    made_sentinels_tell(fleet, 1, SWITCH, "game 10.0.0.1 7001 10.0.0.1 7000");
    SLEEP_UNTIL(fleet, is_ready_at(fleet, 0));
    assert_int_equal(fleet->connected[0], 2);
}

/* ---- promotions -------------------------------------------------------------------------------------------------- */

#define PROMOTION "slave 10.0.0.1:7001 10.0.0.1 7001 @ game 10.0.0.1 7000"
#define SELECTED  "+failover-state-send-slaveof-noone"

static made_sentinels* start_promotion(void)
{
    made_sentinels* fleet = start(3);
    fleet->is_replica[1] = true;
    made_sentinels_tell(fleet, 0, SELECTED, PROMOTION);
    SLEEP_UNTIL(fleet, fleet->connected[1] > 0);
    return fleet;
}

static void promotion_that_does_not_come_ends_by_itself(void** state)
{
    (void)state;
    made_sentinels* fleet = start_promotion();
    const uint64_t begun_us = fleet->world->now_us;
    assert_false(is_ready_at(fleet, 0));
    SLEEP_UNTIL(fleet, is_ready_at(fleet, 0));
    assert_true(fleet->world->now_us - begun_us <= 30 * SECOND_US);
    assert_true(fleet->connected[1] > 1); /* it was asked again and again */
}

static void promotion_that_is_given_up_leads_back(void** state)
{
    (void)state;
    made_sentinels* fleet = start_promotion();
    const uint64_t begun_us = fleet->world->now_us;
    made_sentinels_tell(fleet, 1, "-failover-abort-slave-timeout", "master game 10.0.0.1 7000");
    SLEEP_UNTIL(fleet, is_ready_at(fleet, 0));
    assert_true(fleet->world->now_us - begun_us < 2 * SECOND_US);
    made_sentinels_tell(fleet, 1, "-failover-abort-slave-timeout", "master game 10.0.0.1 7000"); /* of none */
    sleep_for(fleet, 10 * SECOND_US);
    assert_int_equal(fleet->connected[0], 2);
}

static void promotion_of_who_is_followed_or_of_nobody_is_none(void** state)
{
    (void)state;
    made_sentinels* fleet = start(3);
    made_sentinels_tell(fleet, 0, SELECTED, "slave 10.0.0.1:7000 10.0.0.1 7000 @ game 10.0.0.1 7001");
    made_sentinels_tell(fleet, 1, SELECTED, "slave 10.0.0.1:0 10.0.0.1 0 @ game 10.0.0.1 7001");
    sleep_for(fleet, 10 * SECOND_US);
    assert_true(is_ready_at(fleet, 0));
    assert_int_equal(fleet->connected[0], 1);
}

/* For a while the others know of the old master alone: they are not believed, also when the new one is lost. */
static void old_master_is_not_believed_behind_a_promotion(void** state)
{
    (void)state;
    made_sentinels* fleet = start_promotion();
    fleet->is_replica[1] = false;
    SLEEP_UNTIL(fleet, is_ready_at(fleet, 1));
    for (unsigned n = 0; n < 3; n++) made_sentinels_part(fleet, n);
    run(fleet, SECOND_US / 2);
    assert_true(is_ready_at(fleet, 1));
    made_sentinels_stream(fleet, MADE_SERVER_PORT + 1)->ended = true;
    run(fleet, SECOND_US / 2);
    assert_int_equal(fleet->connected[0], 1);
    SLEEP_UNTIL(fleet, is_ready_at(fleet, 0)); /* but later they are */
}

/* Anybody who may PUBLISH there may say that one was given up, faster than it is read: a tick reads a part of it, and
   all else goes on. */
static void flood_of_events_is_read_in_parts(void** state)
{
    (void)state;
    made_sentinels* fleet = start(3);
    scripted_stream* stream = made_sentinels_stream(fleet, MADE_SENTINEL_PORT);
    assert_true(gh_client_handles(fleet->world->client, NULL, 0) > 0); /* somebody sleeps: each tick reads */
    for (int i = 0; i < 5000; i++)
        made_sentinels_tell(fleet, 0, "-failover-abort-slave-timeout", "master game 10.0.0.1 7000");
    for (size_t left = stream->replies.size; left > 0;)
    {
        scripted_tick(fleet->world, TICK_US);
        assert_in_range(left - stream->replies.size, 1, 64 * 1024);
        left = stream->replies.size;
        if (left > 0) assert_true(gh_next_deadline(fleet->world->client) <= fleet->world->now_us);
    }
    made_sentinels_tell(fleet, 0, SWITCH, "game 10.0.0.1 7000 10.0.0.1 7001");
    SLEEP_UNTIL(fleet, is_ready_at(fleet, 1));
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* They are asked because their links were away. */
static made_sentinels* ask_while_followed(const char* first, const char* second, const char* third)
{
    made_sentinels* fleet = start(3);
    fleet->said[0] = first;
    fleet->said[1] = second;
    fleet->said[2] = third;
    for (unsigned n = 0; n < 3; n++) made_sentinels_part(fleet, n);
    sleep_for(fleet, 10 * SECOND_US);
    return fleet;
}

static void answers_that_name_nobody_move_nobody(void** state)
{
    (void)state;
    static const char* const answers[] = {NO_MASTER, "*0\r\n", "*1\r\n$8\r\n10.0.0.1\r\n",
                                          "*2\r\n$8\r\n10.0.0.1\r\n$5\r\n99999\r\n", "*2\r\n$-1\r\n$-1\r\n"};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
    {
        made_sentinels* fleet = ask_while_followed(answers[i], answers[i], answers[i]);
        assert_true(is_ready_at(fleet, 0));
        assert_int_equal(fleet->connected[0], 1);
        assert_true(fleet->asked[0] + fleet->asked[1] + fleet->asked[2] >= 6);
    }
}

static void sentinels_that_do_not_agree_move_nobody(void** state)
{
    (void)state;
    made_sentinels* fleet =
        ask_while_followed("*2\r\n$8\r\n10.0.0.1\r\n$4\r\n7001\r\n", "*2\r\n$8\r\n10.0.0.1\r\n$4\r\n7002\r\n", NULL);
    assert_true(is_ready_at(fleet, 0));
    assert_int_equal(fleet->connected[0], 1);
}

/* What is too large, or no reply, or an error, costs that link, which comes back. */
static void link_to_a_sentinel_is_made_anew(void** state)
{
    (void)state;
    static char large[1 << 16];
    static const char* const said[] = {large, "!what\r\n", "-ERR no\r\n", "+OK\r\n-ERR no\r\n",
                                       "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$1\r\nx\r\n-ERR no\r\n"};
    memset(large, 'x', sizeof(large) - 1);
    memcpy(large, "$60000\r\n", 8);
    made_sentinels* fleet = start(1);
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
    {
        const unsigned asked = fleet->asked[0];
        say_raw(fleet, 0, said[i]);
        SLEEP_UNTIL(fleet, fleet->asked[0] > asked);
        sleep_for(fleet, SECOND_US);
    }
    assert_true(is_ready_at(fleet, 0));
    assert_int_equal(fleet->connected[0], 1);
}

/* It is seen when something is said, where what came before was not taken yet. */
static void stream_that_ends_while_its_bytes_wait(void** state)
{
    (void)state;
    made_sentinels* fleet = start(1);
    const unsigned asked = fleet->asked[0];
    scripted_stream* stream = made_sentinels_stream(fleet, MADE_SENTINEL_PORT);
    fleet->world->receive_max = 0;
    say_raw(fleet, 0, "+OK\r\n");
    stream->ended = true;
    run(fleet, 30 * SECOND_US);
    assert_true(scripted_logged(fleet->world, "closed by the sentinel"));
    fleet->world->receive_max = SIZE_MAX;
    SLEEP_UNTIL(fleet, fleet->asked[0] > asked);
}

static void count_links(void* context, gh_str line)
{
    unsigned* links = context;
    *links += line.size > 15 && memcmp(line.bytes, "sentinel link: ", 15) == 0;
}

static void each_sentinel_stands_in_a_dump(void** state)
{
    (void)state;
    made_sentinels* fleet = start(3);
    unsigned links = 0;
    assert_status(gh_client_dump(fleet->world->client, count_links, &links), GH_OK);
    assert_int_equal(links, 3);
}

/* One that was set up anew says again and again that it knows of none, while the others think: they decide. */
static void one_that_knows_of_no_master_refuses_nothing(void** state)
{
    (void)state;
    made_sentinels* fleet = made_sentinels_new(3);
    fleet->said[0] = NO_MASTER;
    fleet->said[1] = fleet->said[2] = "";
    scripted_start(fleet->world, &fleet->config);
    gh_lock* lock = scripted_want(fleet->world, "door", 10 * SECOND_US, 60 * SECOND_US);
    run(fleet, 3 * SECOND_US / 2);
    assert_true(fleet->asked[0] > 3);
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    fleet->said[2] = NO_MASTER;
    say_raw(fleet, 1, "*2\r\n$8\r\n10.0.0.1\r\n$4\r\n7000\r\n");
    SCRIPTED_UNTIL(fleet->world, gh_op_poll(&lock->op) == GH_HELD, TICK_US, SECOND_US);
}

/* Those who are there say so, each of them. */
static void none_that_knows_of_a_master_refuses(void** state)
{
    (void)state;
    made_sentinels* fleet = made_sentinels_new(3);
    fleet->said[0] = fleet->said[1] = NO_MASTER;
    fleet->away[2] = true;
    scripted_start(fleet->world, &fleet->config);
    gh_lock* lock = scripted_want(fleet->world, "door", 10 * SECOND_US, 60 * SECOND_US);
    SCRIPTED_UNTIL(fleet->world, gh_op_poll(&lock->op) != GH_PENDING, TICK_US, 2 * SECOND_US);
    assert_status(gh_op_poll(&lock->op), GH_REFUSED);
}

TEST_FILE(sentinel_seldom, cmocka_unit_test(one_that_knows_of_no_master_refuses_nothing),
          cmocka_unit_test(none_that_knows_of_a_master_refuses), cmocka_unit_test(each_sentinel_stands_in_a_dump),
          cmocka_unit_test(events_of_other_masters_move_nobody),
          cmocka_unit_test(addresses_of_events_that_are_none_move_nobody),
          cmocka_unit_test(master_with_an_ipv6_address_is_followed), cmocka_unit_test(event_ends_the_search),
          cmocka_unit_test(promotion_that_does_not_come_ends_by_itself),
          cmocka_unit_test(promotion_that_is_given_up_leads_back),
          cmocka_unit_test(promotion_of_who_is_followed_or_of_nobody_is_none),
          cmocka_unit_test(old_master_is_not_believed_behind_a_promotion),
          cmocka_unit_test(flood_of_events_is_read_in_parts), cmocka_unit_test(answers_that_name_nobody_move_nobody),
          cmocka_unit_test(sentinels_that_do_not_agree_move_nobody), cmocka_unit_test(link_to_a_sentinel_is_made_anew),
          cmocka_unit_test(stream_that_ends_while_its_bytes_wait));
