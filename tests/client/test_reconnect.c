/* The link to a real server is lost in every way there is, and comes back by itself. */

#include "support/command.h"
#include "support/scene/game.h"
#include "support/server/proxy.h"
#include "support/random.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000)

static gh_lock* want_lock(game* from, const char* name, uint64_t lease_us)
{
    gh_lock* lock = GAME_NEW(from, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = lease_us;
    config.wait_us = 60 * SECOND_US;
    assert_status(gh_lock_begin(lock, from->client, gh_str_of(name), &config), GH_OK);
    return lock;
}

static gh_command* say_safely(game* from, const char* line)
{
    gh_command_config config = command_config(from, GH_REPEAT_SAFE, 256);
    config.timeout_us = 60 * SECOND_US;
    return say(from, &config, line);
}

/* Short time-outs, so that a peer that is silent is given up soon. */
static game* start_hasty(const char* address)
{
    gh_client_config config = game_config(address);
    config.connect_timeout_us = config.request_timeout_us = 200 * MS * suite_patience();
    config.backoff_max_us = 100 * MS;
    return game_start_with(&config);
}

/* ---- the server ---------------------------------------------------------------------------------------- */

static void server_that_comes_later_is_found(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    redis_server_stop(server);
    game* a = game_start(redis_server_address(server));
    gh_command* set = say_safely(a, "SET here 1");
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_COMMANDS) == GH_LINK_BACKOFF);
    redis_server_restart(server);
    assert_ends(set, GH_OK);
    assert_int_equal(game_stats(a).links_ready, 1);
    assert_int_equal(game_stats(a).links_lost, 0);
}

static void killed_server_comes_back_with_its_data(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = want_lock(a, "sword", 60 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    for (int round = 1; round <= 3; round++)
    {
        redis_server_kill9(server);
        GAME_UNTIL(!gh_client_ready(a->client));
        assert_status(gh_op_poll(&lock->op), GH_HELD); /* a promise about time, not about the network */
        gh_command* get = say_safely(a, "GET here");
        redis_server_restart(server);
        assert_ends(get, GH_OK);
        assert_status(gh_op_poll(&lock->op), GH_HELD);
        assert_int_equal(game_stats(a).links_ready, 1 + round);
        assert_int_equal(game_stats(a).links_lost, round);
        GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    }
    assert_int_equal(game_stats(a).store_resets, 0);
    assert_int_equal(game_stats(a).protocol_errors, 0);
}

static void server_that_comes_back_empty_is_noticed(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* held = want_lock(a, "sword", 60 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&held->op) == GH_HELD);
    uint64_t fence = held->fence;
    for (unsigned round = 1; round <= 3; round++)
    {
        redis_server_restart_empty(server);
        GAME_UNTIL(game_stats(a).store_resets == round);
        assert_status(gh_op_poll(&held->op), GH_LOST);
        held = want_lock(a, "sword", 60 * SECOND_US);
        GAME_UNTIL(gh_op_poll(&held->op) == GH_HELD);
        assert_true(held->fence > fence);
        fence = held->fence;
    }
}

/* FLUSHALL on a living connection: the client sees it at the next hand-shake. */
static void flushed_store_is_noticed_at_the_next_connection(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    redis_server_do(server, "FLUSHALL");
    redis_server_do(server, "CLIENT KILL TYPE normal");
    GAME_UNTIL(game_stats(a).links_ready == 2);
    assert_int_equal(game_stats(a).store_resets, 1);
    redis_server_do(server, "CLIENT KILL TYPE normal");
    GAME_UNTIL(game_stats(a).links_ready == 3);
    assert_int_equal(game_stats(a).store_resets, 1);
}

static void frozen_server_is_given_up_and_found_again(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = start_hasty(redis_server_address(server));
    GAME_UNTIL(gh_client_ready(a->client));
    redis_server_freeze(server);
    gh_command* set = say_safely(a, "SET here 1");
    gh_command_config once = command_config(a, GH_REPEAT_NEVER, 0);
    gh_command* increment = say(a, &once, "INCR counter");
    uint64_t begin_us = wait_now_us();
    GAME_UNTIL(!gh_client_ready(a->client));
    assert_true(wait_now_us() - begin_us >= a->config.request_timeout_us * 9 / 10);
    assert_status(gh_op_poll(&increment->op), GH_UNKNOWN);
    for (uint64_t i = game_stats(a).ticks; game_stats(a).ticks < i + 500;) game_tick_all();
    assert_status(gh_op_poll(&set->op), GH_PENDING);
    redis_server_thaw(server);
    assert_ends(set, GH_OK);
    assert_in_range(game_stats(a).resends, 1, 1000);
    assert_in_range(redis_server_integer(server, "GET counter"), 1, 1); /* a zombie, and never a second one */
}

static void forgotten_scripts_are_loaded_again(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_script* script = script_new(a, "return {KEYS[1], ARGV[1]}");
    for (unsigned round = 0; round < 20; round++)
    {
        gh_lock* lock = want_lock(a, "sword", 60 * SECOND_US);
        gh_command* command = run_script(a, NULL, script, "gh:key", "argument");
        GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
        assert_ends(command, GH_OK);
        redis_server_do(server, "SCRIPT FLUSH");
        gh_lock_release(lock);
        GAME_UNTIL(gh_op_poll(&lock->op) == GH_OK);
    }
    assert_in_range(game_stats(a).script_reloads, 20, 100);
    assert_int_equal(game_stats(a).links_lost, 0);
    assert_int_equal(a->errors_logged, 0);
}

static void killed_connections_are_made_again(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    for (unsigned round = 1; round <= 10; round++)
    {
        GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
        redis_server_do(server, round % 2 == 0 ? "CLIENT KILL TYPE normal" : "CLIENT KILL TYPE pubsub");
        gh_link_name link = round % 2 == 0 ? GH_LINK_COMMANDS : GH_LINK_WAKE;
        GAME_UNTIL(gh_client_link_state(a->client, link) != GH_LINK_READY);
        GAME_UNTIL(gh_client_link_state(a->client, link) == GH_LINK_READY);
    }
    assert_int_equal(game_stats(a).links_lost, 5);
    assert_int_equal(game_stats(a).links_ready, 6);
}

/* ---- the network in between ---------------------------------------------------------------------------- */

/* While the way is blocked in that manner the client is patient; when it is free again it comes back. */
static void assert_survives(proxy_mode mode, proxy_entrance entrance)
{
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), entrance);
    game* a = start_hasty(proxy_address(proxy));
    gh_lock* lock = want_lock(a, "sword", 60 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);

    proxy_set_mode(proxy, mode);
    proxy_cut_now(proxy, PROXY_RST);
    gh_command* set = say_safely(a, "SET here 1");
    uint64_t begin_us = wait_now_us();
    uint64_t connections = proxy_connections(proxy);
    GAME_UNTIL(wait_now_us() - begin_us > SECOND_US);
    assert_false(gh_client_ready(a->client));
    assert_status(gh_op_poll(&set->op), GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    /* Two links, pauses from 10 ms on that grow to 50 .. 100 ms: no more than that. */
    assert_in_range(proxy_connections(proxy) - connections, 0, 2 * (5 + 20));

    proxy_set_mode(proxy, PROXY_PASS);
    proxy_cut_now(proxy, PROXY_RST);
    assert_ends(set, GH_OK);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    gh_lock_release(lock);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_OK);
}

static void way_that_is_refused(void** state)
{
    (void)state;
    assert_survives(PROXY_REFUSE, PROXY_UNIX);
    assert_survives(PROXY_REFUSE, PROXY_TCP);
}

static void way_that_closes(void** state)
{
    (void)state;
    assert_survives(PROXY_CLOSE, PROXY_UNIX);
    assert_survives(PROXY_CLOSE, PROXY_TCP);
}

static void way_that_swallows(void** state)
{
    (void)state;
    assert_survives(PROXY_SWALLOW, PROXY_UNIX);
    assert_survives(PROXY_SWALLOW, PROXY_TCP);
}

/* The address leads to another server from now on: its data is not that of before. */
static void other_store_at_the_same_address_is_noticed(void** state)
{
    (void)state;
    redis_server* first = redis_server_start(NULL);
    redis_server* second = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(first), PROXY_UNIX);
    game* a = game_start_ready(proxy_address(proxy));
    gh_lock* lock = want_lock(a, "sword", 60 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    proxy_set_server(proxy, redis_server_address(second));
    proxy_cut_now(proxy, PROXY_FIN);
    GAME_UNTIL(game_stats(a).store_resets == 1);
    assert_status(gh_op_poll(&lock->op), GH_LOST);
}

/* Requests of many ops are on the wire when it breaks, at a place of its own each time; each is done once. */
static void many_requests_on_the_wire_when_it_breaks(void** state)
{
    (void)state;
    enum
    {
        OPS = 60,
        ROUNDS = 40
    };
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    gh_client_config config = game_config(proxy_address(proxy));
    config.wake = false;
    config.backoff_min_us = config.backoff_max_us = MS;
    game* a = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(a->client));
    random_stream dice = random_for_test("cuts");
    for (int round = 0; round < ROUNDS; round++)
    {
        gh_command* ops[OPS];
        proxy_direction direction = random_one_in(&dice, 2) ? PROXY_REQUEST : PROXY_REPLY;
        proxy_arm(proxy, direction, random_below(&dice, direction == PROXY_REQUEST ? 2400 : 300), PROXY_RST);
        for (int i = 0; i < OPS; i++)
        {
            char line[64];
            snprintf(line, sizeof(line), "SETBIT bits:%d %d 1", round, i);
            ops[i] = say_safely(a, line);
        }
        for (int i = 0; i < OPS; i++) assert_ends(ops[i], GH_OK);
        assert_int_equal(redis_server_integer(server, "BITCOUNT bits:%d", round), OPS);
        proxy_disarm(proxy);
    }
    assert_in_range(game_stats(a).links_lost, ROUNDS / 2, ROUNDS);
    assert_in_range(game_stats(a).resends, 1, OPS * ROUNDS);
    assert_int_equal(game_stats(a).ops_begun, game_stats(a).ops_ended);
}

/* An op that must not be repeated is carried out at most once, whichever byte the link breaks at; and
   where its request has not left whole, it is simply sent later. */
static void request_that_must_not_be_repeated(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    gh_client_config config = game_config(proxy_address(proxy));
    config.wake = false;
    config.backoff_min_us = config.backoff_max_us = MS;
    game* a = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(a->client));
    long long known = 0;
    unsigned unknown = 0;
    for (uint64_t cut = 0; cut < 40; cut++)
    {
        proxy_arm(proxy, cut < 34 ? PROXY_REQUEST : PROXY_REPLY, cut < 34 ? cut : cut - 34, PROXY_FIN);
        gh_command_config once = command_config(a, GH_REPEAT_NEVER, 64);
        once.timeout_us = 60 * SECOND_US;
        gh_status status = settle_command(say(a, &once, "INCR counter"));
        proxy_disarm(proxy);
        if (status == GH_OK) known++;
        if (status == GH_UNKNOWN) unknown++;
        assert_true(status == GH_OK || status == GH_UNKNOWN);
        GAME_UNTIL(gh_client_ready(a->client));
    }
    assert_in_range(unknown, 1, 40);
    assert_in_range(redis_server_integer(server, "GET counter"), known, known + unknown);
}

TEST_FILE(reconnect, cmocka_unit_test(server_that_comes_later_is_found),
          cmocka_unit_test(killed_server_comes_back_with_its_data),
          cmocka_unit_test(server_that_comes_back_empty_is_noticed),
          cmocka_unit_test(flushed_store_is_noticed_at_the_next_connection),
          cmocka_unit_test(frozen_server_is_given_up_and_found_again),
          cmocka_unit_test(forgotten_scripts_are_loaded_again), cmocka_unit_test(killed_connections_are_made_again),
          cmocka_unit_test(way_that_is_refused), cmocka_unit_test(way_that_closes), cmocka_unit_test(way_that_swallows),
          cmocka_unit_test(other_store_at_the_same_address_is_noticed),
          cmocka_unit_test(many_requests_on_the_wire_when_it_breaks),
          cmocka_unit_test(request_that_must_not_be_repeated));
