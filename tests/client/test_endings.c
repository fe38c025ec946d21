/* Every op ends exactly once: by its answer, its time, a drain, a shutdown. */

#include "support/scene/game.h"
#include "support/scene/ledger.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000)

static void say_nothing(void* context, gh_log_level level, gh_str text)
{
    (void)context, (void)level, (void)text;
}

static bool trap(void* context, const char* file, int line, const char* expression)
{
    (void)context;
    fprintf(stderr, "%s:%d: the library asserts: %s\n", file, line, expression);
    abort();
}

static ledger* keep_accounts(gh_client_config* config)
{
    ledger* accounts = ledger_new();
    config->hooks.context = accounts;
    config->hooks.log = say_nothing;
    config->hooks.assertion = trap;
    config->hooks.trace = ledger_trace;
    return accounts;
}

static scripted* scripted_with_accounts(ledger** accounts)
{
    gh_client_config config = scripted_config();
    *accounts = keep_accounts(&config); /* before the world: a shutdown after a failure still finds it */
    scripted* world = scripted_new();
    scripted_start_ready(world, &config);
    return world;
}

/* ---- by time ------------------------------------------------------------------------------------------- */

static void what_was_not_sent_times_out(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->open_status = GH_REFUSED;
    scripted_start(world, NULL);
    scripted_tick(world, 0);
    gh_command* command = scripted_ask(world, "A", 100 * MS, GH_REPEAT_NEVER);
    gh_lock* lock = scripted_want(world, "sword", SECOND_US, 100 * MS);
    gh_lock* once = scripted_want(world, "shield", SECOND_US, 0);
    uint64_t begin_us = world->now_us;
    SCRIPTED_UNTIL(world, gh_op_poll(&command->op) != GH_PENDING, MS, SECOND_US);
    assert_int_equal(world->now_us - begin_us, 100 * MS);
    assert_status(gh_op_poll(&command->op), GH_TIMEOUT);
    assert_status(gh_op_poll(&lock->op), GH_TIMEOUT);
    SCRIPTED_UNTIL(world, gh_op_poll(&once->op) != GH_PENDING, MS, 3 * SECOND_US);
    assert_int_equal(world->now_us - begin_us, 2 * SECOND_US); /* the request's time-out */
    assert_status(gh_op_poll(&once->op), GH_TIMEOUT);
}

static void what_was_sent_ends_unknown(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_lock* known = scripted_want(world, "known", 60 * SECOND_US, SECOND_US); /* has the script loaded */
    SCRIPTED_UNTIL(world, gh_op_poll(&known->op) == GH_HELD, MS, SECOND_US);
    world->silent = true;
    gh_command* command = scripted_ask(world, "A", 100 * MS, GH_REPEAT_SAFE);
    gh_lock* once = scripted_want(world, "shield", SECOND_US, 0);
    SCRIPTED_UNTIL(world, gh_op_poll(&command->op) != GH_PENDING, MS, SECOND_US);
    assert_status(gh_op_poll(&command->op), GH_UNKNOWN);
    SCRIPTED_UNTIL(world, gh_op_poll(&once->op) != GH_PENDING, MS, 3 * SECOND_US);
    assert_status(gh_op_poll(&once->op), GH_UNKNOWN);
    assert_int_equal(scripted_stats(world).ops_unknown, 2);

    scripted_speak(world); /* the late answers are nobody's */
    SCRIPTED_UNTIL(world, scripted_stats(world).requests_sent == 0 && gh_client_ready(world->client), MS, SECOND_US);
    assert_status(gh_op_poll(&command->op), GH_UNKNOWN);
}

/* It may have been carried out on the link that died; that it waits to be sent again changes nothing about
   it. */
static void what_was_sent_before_the_link_died_ends_unknown(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_lock* known = scripted_want(world, "known", 60 * SECOND_US, SECOND_US); /* has the script loaded */
    SCRIPTED_UNTIL(world, gh_op_poll(&known->op) == GH_HELD, MS, SECOND_US);
    world->silent = true;
    gh_command* timed = scripted_ask(world, "A", 300 * MS, GH_REPEAT_SAFE);
    gh_command* cancelled = scripted_ask(world, "B", 600 * MS, GH_REPEAT_SAFE);
    gh_command* closed = scripted_ask(world, "C", 60 * SECOND_US, GH_REPEAT_SAFE);
    gh_command* once = scripted_ask(world, "D", 60 * SECOND_US, GH_REPEAT_NEVER);
    gh_lock* asked_once = scripted_want(world, "shield", SECOND_US, 0);
    scripted_tick(world, MS);
    gh_command* unsent = scripted_ask(world, "E", 300 * MS, GH_REPEAT_SAFE);
    world->open_status = GH_REFUSED;
    world->streams[0].ended = true;
    SCRIPTED_UNTIL(world, !gh_client_ready(world->client), MS, 10 * MS);
    assert_status(gh_op_poll(&once->op), GH_UNKNOWN);
    assert_status(gh_op_poll(&timed->op), GH_PENDING);
    gh_op_cancel(&cancelled->op); /* too late for that */
    SCRIPTED_UNTIL(world, gh_op_poll(&timed->op) != GH_PENDING, MS, SECOND_US);
    scripted_tick(world, MS);
    assert_status(gh_op_poll(&timed->op), GH_UNKNOWN);
    assert_status(gh_op_poll(&unsent->op), GH_TIMEOUT);
    assert_status(gh_op_poll(&cancelled->op), GH_PENDING);
    SCRIPTED_UNTIL(world, gh_op_poll(&cancelled->op) != GH_PENDING, MS, SECOND_US);
    assert_status(gh_op_poll(&cancelled->op), GH_UNKNOWN);
    SCRIPTED_UNTIL(world, gh_op_poll(&asked_once->op) != GH_PENDING, MS, 3 * SECOND_US);
    assert_status(gh_op_poll(&asked_once->op), GH_UNKNOWN);
    gh_client_shutdown(world->client);
    assert_status(gh_op_poll(&closed->op), GH_UNKNOWN);
}

static void late_answers_are_swallowed(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    world->silent = true;
    gh_command* late[3];
    for (int i = 0; i < 3; i++) late[i] = scripted_ask(world, "LATE", 100 * MS, GH_REPEAT_NEVER);
    gh_command* patient = scripted_ask(world, "A", SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&late[2]->op) == GH_UNKNOWN, MS, SECOND_US);
    scripted_speak(world);
    scripted_tick(world, MS);
    assert_status(gh_op_poll(&patient->op), GH_OK);
    assert_int_equal(scripted_stats(world).replies_late, 3);
    assert_int_equal(scripted_stats(world).links_lost, 0);
}

/* While only the text of a script is on the wire, nothing has been asked for: TIMEOUT, and others can use
   the script. */
static void script_whose_text_is_on_the_wire_times_out(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    world->silent = true;
    gh_script* script = SCRIPTED_NEW(world, gh_script);
    script->text = gh_str_literal("return 7");
    gh_command* ops[3];
    gh_command_config config = gh_command_config_default();
    for (int i = 0; i < 3; i++)
    {
        ops[i] = SCRIPTED_NEW(world, gh_command);
        config.timeout_us = i == 0 ? 50 * MS : SECOND_US;
        assert_status(gh_script_begin(ops[i], world->client, script, NULL, 0, NULL, 0, &config), GH_OK);
    }
    SCRIPTED_UNTIL(world, gh_op_poll(&ops[0]->op) != GH_PENDING, MS, SECOND_US);
    assert_status(gh_op_poll(&ops[0]->op), GH_TIMEOUT);
    gh_op_cancel(&ops[1]->op);
    scripted_tick(world, MS);
    assert_status(gh_op_poll(&ops[1]->op), GH_CANCELLED);
    scripted_speak(world);
    SCRIPTED_UNTIL(world, gh_op_poll(&ops[2]->op) != GH_PENDING, MS, 2 * SECOND_US);
    assert_status(gh_op_poll(&ops[2]->op), GH_OK);
}

/* ---- by a drain ---------------------------------------------------------------------------------------- */

static void drain_of_an_idle_client_is_over_at_once(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start(world, NULL);
    assert_status(gh_client_drain(world->client, 0), GH_OK);
    assert_true(gh_client_drained(world->client));
    gh_command command = {0};
    gh_lock lock = {0};
    const gh_str word = gh_str_literal("A");
    assert_status(gh_command_begin(&command, world->client, &word, 1, NULL), GH_CLOSED);
    assert_status(gh_lock_begin(&lock, world->client, word, NULL), GH_CLOSED);
    assert_status(gh_op_poll(&command.op), GH_CLOSED);
    assert_status(gh_op_poll(&lock.op), GH_CLOSED);
    scripted_tick(world, MS);
    assert_true(gh_client_drained(world->client));
}

static void drain_gives_locks_back(void** state)
{
    (void)state;
    ledger* accounts;
    scripted* world = scripted_with_accounts(&accounts);
    gh_lock* held = scripted_want(world, "held", 60 * SECOND_US, SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&held->op) == GH_HELD, MS, SECOND_US);
    gh_lock* begun = scripted_want(world, "begun", 60 * SECOND_US, SECOND_US);
    gh_command* command = scripted_ask(world, "A", SECOND_US, GH_REPEAT_NEVER);
    assert_status(gh_client_drain(world->client, SECOND_US), GH_OK);
    assert_false(gh_client_drained(world->client));
    SCRIPTED_UNTIL(world, gh_client_drained(world->client), MS, 100 * MS);
    assert_status(gh_op_poll(&held->op), GH_CANCELLED);
    assert_status(gh_op_poll(&begun->op), GH_CANCELLED);
    assert_status(gh_op_poll(&command->op), GH_CANCELLED);
    ledger_assert_closed(accounts);
}

/* The server does not answer any more: what is not over in time ends then, each as it must. */
static void drain_keeps_its_time(void** state)
{
    (void)state;
    ledger* accounts;
    scripted* world = scripted_with_accounts(&accounts);
    gh_lock* held = scripted_want(world, "held", 60 * SECOND_US, SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&held->op) == GH_HELD, MS, SECOND_US);
    world->silent = true;
    gh_command* sent = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    scripted_tick(world, MS);
    gh_command* unsent = scripted_ask(world, "B", 60 * SECOND_US, GH_REPEAT_SAFE);
    assert_status(gh_client_drain(world->client, 300 * MS), GH_OK);
    uint64_t begin_us = world->now_us;
    scripted_tick(world, MS);
    assert_status(gh_op_poll(&unsent->op), GH_CANCELLED);
    assert_status(gh_op_poll(&sent->op), GH_PENDING);
    SCRIPTED_UNTIL(world, gh_client_drained(world->client), MS, SECOND_US);
    assert_int_equal(world->now_us - begin_us, 300 * MS);
    assert_status(gh_op_poll(&sent->op), GH_UNKNOWN);
    assert_int_not_equal(gh_op_poll(&held->op), GH_PENDING);
    assert_int_not_equal(gh_op_poll(&held->op), GH_HELD);
    ledger_assert_closed(accounts);
    uint64_t events = accounts->events;
    scripted_speak(world);
    for (int i = 0; i < 100; i++) scripted_tick(world, 16 * MS);
    assert_int_equal(accounts->events, events); /* "nothing will be called back" */
}

/* Who is told to hurry, hurries; a later end than that which was promised is none. */
static void drain_that_is_asked_for_again_is_over_sooner(void** state)
{
    (void)state;
    ledger* accounts;
    scripted* world = scripted_with_accounts(&accounts);
    world->silent = true;
    gh_command* sent = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    scripted_tick(world, MS);
    uint64_t begin_us = world->now_us;
    assert_status(gh_client_drain(world->client, 1500 * MS), GH_OK);
    scripted_tick(world, MS);
    assert_status(gh_client_drain(world->client, 100 * MS), GH_OK);
    assert_status(gh_client_drain(world->client, 3600 * SECOND_US), GH_OK);
    assert_in_range(gh_next_deadline(world->client), world->now_us, begin_us + 101 * MS);
    SCRIPTED_UNTIL(world, gh_client_drained(world->client), MS, SECOND_US);
    assert_int_equal(world->now_us - begin_us, 101 * MS);
    assert_status(gh_op_poll(&sent->op), GH_UNKNOWN);
}

static void drain_without_a_server_keeps_its_time_too(void** state)
{
    (void)state;
    const uint64_t times[] = {0, 1, 50 * MS, 10 * SECOND_US};
    for (int i = 0; i < 4; i++)
    {
        ledger* accounts;
        scripted* world = scripted_with_accounts(&accounts);
        gh_lock* held = scripted_want(world, "held", 5 * SECOND_US, SECOND_US);
        SCRIPTED_UNTIL(world, gh_op_poll(&held->op) == GH_HELD, MS, SECOND_US);
        world->open_status = GH_REFUSED;
        world->streams[0].ended = true;
        SCRIPTED_UNTIL(world, !gh_client_ready(world->client), MS, SECOND_US);
        for (int j = 0; j < 10; j++) scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
        uint64_t lease_us = gh_lock_remaining_us(held);
        uint64_t most_us = times[i] < lease_us ? times[i] : lease_us; /* then nothing is left to give back */
        assert_status(gh_client_drain(world->client, times[i]), GH_OK);
        uint64_t begin_us = world->now_us;
        SCRIPTED_UNTIL(world, gh_client_drained(world->client), MS, 20 * SECOND_US);
        assert_in_range(world->now_us - begin_us, 0, most_us + MS);
        ledger_assert_closed(accounts);
    }
}

static void drain_frees_locks_in_a_real_store(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    enum
    {
        LOCKS = 20
    };
    gh_lock* locks[LOCKS];
    char names[LOCKS][16];
    for (int i = 0; i < LOCKS; i++)
    {
        snprintf(names[i], sizeof(names[i]), "n%d", i);
        locks[i] = GAME_NEW(a, gh_lock);
        assert_status(gh_lock_begin(locks[i], a->client, gh_str_of(names[i]), NULL), GH_OK);
        GAME_UNTIL(gh_op_poll(&locks[i]->op) == GH_HELD);
    }
    assert_status(gh_client_drain(a->client, 5 * SECOND_US), GH_OK);
    GAME_UNTIL(gh_client_drained(a->client));
    gh_lock_config at_once = gh_lock_config_default();
    at_once.wait_us = 0;
    for (int i = 0; i < LOCKS; i++)
    {
        gh_lock* lock = GAME_NEW(b, gh_lock);
        assert_status(gh_op_poll(&locks[i]->op), GH_CANCELLED);
        assert_status(gh_lock_begin(lock, b->client, gh_str_of(names[i]), &at_once), GH_OK);
        GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
        assert_status(gh_op_poll(&lock->op), GH_HELD);
    }
}

/* ---- by a shutdown ------------------------------------------------------------------------------------- */

static void shutdown_ends_each_op_as_it_stands(void** state)
{
    (void)state;
    ledger* accounts;
    scripted* world = scripted_with_accounts(&accounts);
    gh_lock* held = scripted_want(world, "held", 60 * SECOND_US, SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&held->op) == GH_HELD, MS, SECOND_US);
    world->silent = true;
    gh_command* sent = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    gh_lock* asked = scripted_want(world, "asked", 60 * SECOND_US, 60 * SECOND_US);
    scripted_tick(world, MS);
    gh_command* unsent = scripted_ask(world, "B", 60 * SECOND_US, GH_REPEAT_SAFE);
    gh_lock* begun = scripted_want(world, "begun", 60 * SECOND_US, 60 * SECOND_US);
    gh_client_shutdown(world->client);
    assert_status(gh_op_poll(&sent->op), GH_UNKNOWN);
    assert_status(gh_op_poll(&unsent->op), GH_CANCELLED);
    assert_status(gh_op_poll(&asked->op), GH_UNKNOWN);
    assert_status(gh_op_poll(&begun->op), GH_CANCELLED);
    assert_status(gh_op_poll(&held->op), GH_CANCELLED);
    assert_int_equal(gh_lock_remaining_us(held), 0);
    ledger_assert_closed(accounts);
    assert_int_equal(world->opens, world->closes);
    gh_lock_release(held); /* nothing happens to an op that is not busy */
    gh_op_cancel(&asked->op);
    gh_op_cancel(&sent->op);
    ledger_assert_closed(accounts);
}

static void shutdown_in_each_state_of_the_link(void** state)
{
    (void)state;
    for (int stage = 0; stage < 30; stage++)
    {
        gh_client_config config = scripted_config();
        ledger* accounts = keep_accounts(&config);
        scripted* world = scripted_new();
        config.wake = true;
        world->send_max = 700; /* the hand-shake takes some ticks */
        scripted_start(world, &config);
        gh_lock* lock = scripted_want(world, "sword", SECOND_US, SECOND_US);
        gh_command* command = scripted_ask(world, "A", SECOND_US, GH_REPEAT_SAFE);
        for (int i = 0; i < stage; i++) scripted_tick(world, MS);
        gh_client_shutdown(world->client);
        assert_int_equal(world->opens, world->closes);
        assert_int_not_equal(gh_op_poll(&lock->op), GH_PENDING);
        assert_int_not_equal(gh_op_poll(&command->op), GH_PENDING);
        ledger_assert_closed(accounts);
    }
}

TEST_FILE(endings, cmocka_unit_test(what_was_not_sent_times_out), cmocka_unit_test(what_was_sent_ends_unknown),
          cmocka_unit_test(what_was_sent_before_the_link_died_ends_unknown),
          cmocka_unit_test(late_answers_are_swallowed), cmocka_unit_test(script_whose_text_is_on_the_wire_times_out),
          cmocka_unit_test(drain_of_an_idle_client_is_over_at_once), cmocka_unit_test(drain_gives_locks_back),
          cmocka_unit_test(drain_keeps_its_time), cmocka_unit_test(drain_that_is_asked_for_again_is_over_sooner),
          cmocka_unit_test(drain_without_a_server_keeps_its_time_too),
          cmocka_unit_test(drain_frees_locks_in_a_real_store), cmocka_unit_test(shutdown_ends_each_op_as_it_stands),
          cmocka_unit_test(shutdown_in_each_state_of_the_link));
