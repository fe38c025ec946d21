/* The epoch key: which server it is, of which generation its data, in which layout; and what clients do about it. */

#include "support/command.h"
#include "support/scene/game.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"
#include "support/server/store_script.h"

#include "client/op.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS UINT64_C(1000)

static uint64_t generation_in(redis_server* server)
{
    uint64_t generation = 0;
    const char* text = redis_server_text(server, "GET gh:epoch");
    if (sscanf(text, "%*u %" SCNu64, &generation) != 1) fail_msg("the epoch is %s", text);
    return generation;
}

static void await_doubt(game* self, uint64_t doubts)
{
    GAME_UNTIL(game_stats(self).store_doubts >= doubts && gh_client_ready(self->client));
}

/* All clients of the fleet agree on it, whoever comes first. */
static void restart_raises_the_generation_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    uint64_t first = generation_in(server);
    assert_int_equal(gh_client_generation(a->client, 0), first);
    redis_server_kill9(server);
    redis_server_restart(server);
    await_doubt(a, 1);
    await_doubt(b, 1);
    assert_true(generation_in(server) > first);
    assert_int_equal(gh_client_generation(a->client, 0), generation_in(server));
    assert_int_equal(gh_client_generation(b->client, 0), generation_in(server));
    assert_int_equal(game_stats(a).store_resets, 0);
}

/* A link that is lost while the server lives on says nothing about its data. */
static void lost_link_alone_is_no_doubt(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    uint64_t first = generation_in(server);
    redis_server_do(server, "CLIENT KILL TYPE normal SKIPME yes");
    GAME_UNTIL(game_stats(a).links_ready == 2);
    assert_int_equal(game_stats(a).store_doubts, 0);
    assert_int_equal(generation_in(server), first);
}

/* Who may not look cannot tell one server from another: each new connection is a doubt. */
static void without_info_each_connection_is_a_doubt(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    redis_server_do(server, "ACL SETUSER alice on >secret ~* &* +@all -info");
    gh_client_config config = game_config(redis_server_address(server));
    config.user = gh_str_literal("alice");
    config.password = gh_str_literal("secret");
    game* a = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(a->client));
    uint64_t first = generation_in(server);
    redis_server_do(server, "CLIENT KILL TYPE normal SKIPME yes");
    await_doubt(a, 1);
    assert_int_equal(generation_in(server), first); /* and it raises nothing for the others */
}

/* A replica has the epoch of its master, and is another server all the same. */
static void promoted_replica_has_a_generation_of_its_own(void** state)
{
    (void)state;
    redis_server* master = redis_server_start(&(redis_server_options){.tcp = true});
    redis_server* replica = redis_server_start(&(redis_server_options){.tcp = true});
    char address[64];
    snprintf(address, sizeof(address), "%s", redis_server_tcp_address(master));
    char* port = strchr(address, ':');
    *port++ = 0;
    game* a = game_start_ready(redis_server_address(master));
    redis_server_do(replica, "REPLICAOF %s %s", address, port);
    GAME_UNTIL(redis_server_integer(replica, "EXISTS gh:epoch") == 1);
    redis_server_do(replica, "REPLICAOF NO ONE");
    game* b = game_start_ready(redis_server_address(replica));
    assert_true(generation_in(replica) > generation_in(master));
    assert_int_equal(gh_client_generation(b->client, 0), generation_in(replica));
    assert_int_equal(gh_client_generation(a->client, 0), generation_in(master));
}

/* As if another server stood there, which has that generation of the data, and the name of this one. */
static void turn_to(game* self, redis_server* server, uint64_t generation)
{
    uint64_t birth;
    char name[64], words[128];
    uint64_t ready = game_stats(self).links_ready;
    const char* text = redis_server_text(server, "GET gh:epoch");
    if (sscanf(text, "%" SCNu64 " %*u 2 %63s", &birth, name) != 2) fail_msg("the epoch is %s", text);
    snprintf(words, sizeof(words), "%" PRIu64 " %" PRIu64 " 2 %s", birth, generation, name);
    redis_server_do(server, "SET gh:epoch %s", words);
    redis_server_do(server, "CLIENT KILL TYPE normal SKIPME yes");
    GAME_UNTIL(game_stats(self).links_ready > ready && gh_client_ready(self->client));
}

/* A failover is undone: what took over is forgotten, and the master of before goes on, under the name that its epoch
   has had all the time. */
static void master_that_takes_over_again_is_doubted(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    uint64_t before = generation_in(server);
    turn_to(a, server, before + 1000); /* to the other master, */
    assert_int_equal(game_stats(a).store_doubts, 1);
    gh_lock* lock = GAME_NEW(a, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = 60000 * MS;
    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);

    redis_server_do(server, "DEL gh:{lock:sword}:s"); /* and back */
    turn_to(a, server, before);
    assert_int_equal(game_stats(a).store_doubts, 2);
    assert_true(generation_in(server) > before + 1000);
    assert_int_equal(gh_client_generation(a->client, 0), generation_in(server));
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_LOST); /* long before it is renewed */
    assert_int_equal(game_stats(a).store_resets, 0);
}

/* Of a store that has lost all, or, if it has not, of one that is of before a generation that is ahead of its clock;
   who comes first knows that one, and of none behind it. */
static uint64_t generation_behind_a_loss(redis_server* server, const char* server_name, uint64_t ahead, bool of_all)
{
    const char* epoch = store_script(server, "client/epoch");
    char stored[64], known[32];
    snprintf(stored, sizeof(stored), "1 %" PRIu64 " 2 -", ahead);
    snprintf(known, sizeof(known), "%" PRIu64, ahead);
    if (of_all) redis_server_do(server, "DEL gh:epoch");
    else redis_server_do(server, "SET gh:epoch %s", stored);
    redis_server_do(server, "EVALSHA %s 1 gh:epoch 2 %s %s %s", epoch, server_name, known, known);
    return generation_in(server);
}

/* The clock went back, so the time tells nothing; and who comes first behind a second loss had not heard of the first.
 */
static void generations_ahead_of_the_clock_differ_behind_each_loss(void** state)
{
    (void)state;
    static const char* const names[] = {"0123456789abcdef0123456789abcdef", "4123456789abcdef0123456789abcdef",
                                        "0123456789abcdef2123456789abcdef"};
    redis_server* server = redis_server_start(NULL);
    const uint64_t ahead = (uint64_t)time(NULL) * 1000 * MS + 3600 * 1000 * MS;
    uint64_t all[6];
    for (int i = 0; i < 6; i++)
    {
        all[i] = generation_behind_a_loss(server, names[i % 3], ahead, i >= 3);
        assert_true(all[i] > ahead);
        for (int k = i - i % 3; k < i; k++) assert_true(all[i] != all[k]);
    }
    assert_int_equal(generation_behind_a_loss(server, "-", ahead, true), ahead + 1); /* who may not look */
}

/* Else what is begun under it, lost and begun again until the clock is there, is called the same. */
static void generation_is_the_time_while_the_clock_goes_on(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    for (int i = 0; i < 4; i++)
    {
        uint64_t before = generation_behind_a_loss(server, "ffff456789abcdefffff456789abcdef", 1, true);
        uint64_t behind = generation_behind_a_loss(server, "fffe456789abcdefffff456789abcdef", before, i % 2 == 0);
        assert_true(behind > before);
        uint64_t next = generation_behind_a_loss(server, "-", 1, true); /* the time */
        assert_true(next > behind);
    }
}

static void other_layouts_are_refused_in_words(void** state)
{
    (void)state;
    static const char* const others[] = {"1795250000123456", "1795250000123456 1795250000123456 3 -"};
    redis_server* server = redis_server_start(NULL);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
    {
        redis_server_do(server, "FLUSHALL");
        redis_server_do(server, "SET gh:epoch %s", others[i]);
        game* a = game_start(redis_server_address(server));
        gh_lock* lock = GAME_NEW(a, gh_lock);
        assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), NULL), GH_OK);
        GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
        assert_status(gh_op_poll(&lock->op), GH_REFUSED);
        assert_non_null(strstr(a->last_error, i == 0 ? "have the layout 1, and" : "have the layout 3, and"));
        assert_int_equal(redis_server_keys(server), 1); /* nothing was written */
        assert_string_equal(redis_server_text(server, "GET gh:epoch"), others[i]);
        game_end(a);
    }
}

/* Ops end CORRUPT, not as if somebody should look at the ACL; and when the key is mended, all goes on. */
static void epoch_that_is_none_is_corrupt(void** state)
{
    (void)state;
    static const char* const others[] = {"",
                                         "none",
                                         "1 2 2",
                                         "-1 1795250000123456 2 -",
                                         "1 99999999999999999999 2 -",
                                         "1 9007199254740993 2 -",
                                         "9007199254740992 1 2 -",
                                         "1795250000123456 1e9 2 x"};
    redis_server* server = redis_server_start(NULL);
    for (size_t i = 0; i <= sizeof(others) / sizeof(others[0]); i++)
    {
        redis_server_do(server, "FLUSHALL");
        if (i == 0) redis_server_do(server, "RPUSH gh:epoch a");
        else redis_server_do(server, "SET gh:epoch %s", others[i - 1]);
        game* a = game_start(redis_server_address(server));
        gh_command* read = say(a, NULL, "GET greeting");
        assert_ends(read, GH_CORRUPT);
        redis_server_do(server, "DEL gh:epoch");
        assert_ends(say(a, NULL, "SET greeting hello"), GH_OK);
        game_end(a);
    }
}

TEST_FILE(epoch, cmocka_unit_test(restart_raises_the_generation_once), cmocka_unit_test(lost_link_alone_is_no_doubt),
          cmocka_unit_test(without_info_each_connection_is_a_doubt),
          cmocka_unit_test(promoted_replica_has_a_generation_of_its_own),
          cmocka_unit_test(master_that_takes_over_again_is_doubted),
          cmocka_unit_test(generations_ahead_of_the_clock_differ_behind_each_loss),
          cmocka_unit_test(generation_is_the_time_while_the_clock_goes_on),
          cmocka_unit_test(other_layouts_are_refused_in_words), cmocka_unit_test(epoch_that_is_none_is_corrupt));
