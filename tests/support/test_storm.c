/* Every op ends exactly once, with everything going wrong around it at random. */

#include "support/command.h"
#include "support/scene/game.h"
#include "support/scene/ledger.h"
#include "support/server/proxy.h"
#include "support/random.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <stdlib.h>

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

typedef struct crowd
{
    game* self;
    gh_lock* locks;
    gh_command* commands;
    gh_str* words;
    char (*names)[16];
    uint32_t count;
} crowd;

static void crowd_begin_some(crowd* all, random_stream* dice)
{
    for (uint32_t i = 0; i < all->count; i++)
    {
        gh_lock_config want = gh_lock_config_default();
        gh_command_config ask = gh_command_config_default();
        want.lease_us = random_between(dice, 50, 1000) * MS;
        want.wait_us = random_one_in(dice, 4) ? 0 : random_below(dice, 300) * MS;
        want.hold_us = random_between(dice, 1, 30 * MS); /* never for ever */
        ask.timeout_us = random_between(dice, 1, 300) * MS;
        ask.repeat = random_one_in(dice, 2) ? GH_REPEAT_SAFE : GH_REPEAT_NEVER;
        gh_lock_begin(&all->locks[i], all->self->client, gh_str_of(all->names[random_below(dice, all->count)]), &want);
        gh_command_begin(&all->commands[i], all->self->client, all->words, 2, &ask);
        if (random_one_in(dice, 10)) gh_lock_release(&all->locks[i]);
        if (random_one_in(dice, 10)) gh_op_cancel(&all->locks[i].op);
        if (random_one_in(dice, 10)) gh_op_cancel(&all->commands[i].op);
    }
}

static void each_op_ends_once_whatever_happens(void** state)
{
    (void)state;
    enum
    {
        OPS = 40,
        ROUNDS = 150
    };
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    gh_client_config config = game_config(proxy_address(proxy));
    ledger* accounts = keep_accounts(&config);
    config.request_timeout_us = 200 * MS;
    config.backoff_min_us = MS;
    config.backoff_max_us = 20 * MS;
    config.ops_capacity = OPS + OPS / 2; /* so that some are refused */
    game* a = game_start_with(&config);
    crowd all = {a, GAME_NEW_ARRAY(a, gh_lock, OPS), GAME_NEW_ARRAY(a, gh_command, OPS), NULL, NULL, OPS};
    size_t count;
    all.words = words_of(a, "INCR counter", &count);
    all.names = game_new(a, sizeof(*all.names) * OPS);
    for (int i = 0; i < OPS; i++) snprintf(all.names[i], sizeof(all.names[i]), "n%d", i);
    random_stream dice = random_for_test("chaos");
    for (int round = 0; round < ROUNDS; round++)
    {
        crowd_begin_some(&all, &dice);
        uint64_t fate = random_below(&dice, 12);
        proxy_disarm(proxy);
        if (fate < 5) proxy_arm(proxy, fate % 2 ? PROXY_REQUEST : PROXY_REPLY, random_below(&dice, 3000), PROXY_RST);
        if (fate == 5) proxy_cut_now(proxy, PROXY_FIN);
        if (fate == 6) proxy_arm(proxy, PROXY_REPLY, random_below(&dice, 500), PROXY_HOLD);
        if (fate == 7) redis_server_do(server, "SCRIPT FLUSH");
        if (fate == 8) redis_server_do(server, "FLUSHALL");
        for (uint64_t i = random_between(&dice, 1, 60); i > 0; i--) game_tick_all();
        if (fate == 6) proxy_release(proxy);
        ledger_assert_sound(accounts);
    }
    proxy_disarm(proxy);
    GAME_UNTIL(accounts->open_count == 0);
    ledger_assert_closed(accounts);
    gh_client_stats stats = game_stats(a);
    assert_true(stats.ops_begun > OPS * 10);
    assert_int_equal(stats.ops_begun, accounts->begun);
    assert_int_equal(stats.ops_ended, accounts->ended);
    assert_int_equal(stats.ops_unknown, accounts->ended_unknown);
    assert_int_equal(stats.ops_busy, 0);
    assert_in_range(stats.links_lost, 3, ROUNDS * 10);
}

TEST_FILE(storm, cmocka_unit_test(each_op_ends_once_whatever_happens));
