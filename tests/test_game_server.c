/* The sample with the market, run as a program: it stands beside this binary. What it promises is its exit code and
   what it prints; whether it kept its word, the store is asked. */

#define _XOPEN_SOURCE 700 /* posix_openpt */

#include "support/process.h"
#include "support/redis_server.h"
#include "support/suite.h"
#include "support/wait.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_SIZE 65536
#define ARGUMENTS_MAX 16

/* ---- Running a program --------------------------------------------------------------------------------- */

typedef struct program
{
    child_process* child;
    char path[PATH_MAX];
    const char* arguments[ARGUMENTS_MAX]; /* NULL at the end */
    char terminal[64];                    /* stdout goes there if it is not empty, else where stderr goes */
    int status;
    char output[OUTPUT_SIZE];
} program;

static int run_program(void* context, int results)
{
    program* p = context;
    int out = p->terminal[0] == '\0' ? results : open(p->terminal, O_RDWR | O_NOCTTY);
    CHILD_CHECK(dup2(out, STDOUT_FILENO) >= 0 && dup2(results, STDERR_FILENO) >= 0);
    execv(p->path, (char* const*)(uintptr_t)p->arguments);
    fprintf(stderr, "no program %s: build all targets\n", p->path);
    return 99;
}

static void find_program(program* p, const char* name)
{
    ssize_t size = readlink("/proc/self/exe", p->path, sizeof p->path - 1);
    assert_true(size > 0);
    p->path[size] = '\0';
    char* end = strrchr(p->path, '/') + 1;
    snprintf(end, sizeof p->path - (size_t)(end - p->path), "%s", name);
    p->arguments[0] = p->path;
}

static void add_argument(program* p, const char* argument)
{
    size_t count = 0;
    while (p->arguments[count] != NULL) count++;
    assert_true(count + 1 < ARGUMENTS_MAX);
    p->arguments[count] = argument;
}

/* All that it printed is in p->output then. */
static int end_of_program(program* p)
{
    p->status = child_wait(p->child);
    size_t size = child_read(p->child, p->output, sizeof p->output - 1);
    p->output[size] = '\0';
    return p->status;
}

static void expect_status(program* p, int expected)
{
    int status = end_of_program(p);
    if (status != expected) fail_msg("%s ended with %d, not %d:\n%s", p->path, status, expected, p->output);
}

static void expect_text(const program* p, const char* text)
{
    if (strstr(p->output, text) == NULL) fail_msg("%s did not print '%s':\n%s", p->path, text, p->output);
}

/* The number in front of a phrase, such as 2 for " times ready" in "2 times ready". */
static long long number_before(const program* p, const char* phrase)
{
    const char* at = strstr(p->output, phrase);
    if (at == NULL) fail_msg("%s did not print '%s':\n%s", p->path, phrase, p->output);
    while (at > p->output && at[-1] >= '0' && at[-1] <= '9') at--;
    return strtoll(at, NULL, 10);
}

/* ---- The game server ----------------------------------------------------------------------------------- */

static redis_server* start_store(void)
{
    redis_server_options options = {.append_only = true};
    return redis_server_start(&options);
}

/* A game server that trades until it is told to end; the test may add to its arguments before it starts. */
static void prepare_game(program* p, redis_server* store, const char* market)
{
    memset(p, 0, sizeof *p);
    find_program(p, "market");
    add_argument(p, "--redis");
    add_argument(p, redis_server_address(store));
    add_argument(p, "--seconds");
    add_argument(p, "0");
    add_argument(p, "--quiet");
    if (market == NULL) return;
    add_argument(p, "--market");
    add_argument(p, market);
}

static void start_program(program* p)
{
    p->child = child_start(run_program, p);
}

static long long scripts_run(redis_server* store)
{
    return redis_server_calls(store, "evalsha");
}

/* Until players have done something a few hundred times since now. */
static void wait_for_trade(program* p, redis_server* store)
{
    long long before = scripts_run(store);
    WAIT_FOR(child_has_ended(p->child) || scripts_run(store) > before + 500);
    if (child_has_ended(p->child)) fail_msg("ended with %d:\n%s", end_of_program(p), p->output);
}

static bool has_items_of(redis_server* store, int players)
{
    static const char count[] = "return #redis.call('KEYS', 'market:*:item:*')";
    return redis_server_integer(store, "EVAL %s 0", count) >= 4 * players;
}

/* Until all players of all games are in, and trade. */
static void start_trading(program* p, redis_server* store, int players)
{
    start_program(p);
    WAIT_FOR(child_has_ended(p->child) || has_items_of(store, players));
    wait_for_trade(p, store);
}

static void interrupt(program* p)
{
    kill(child_pid(p->child), SIGINT);
}

static void expect_audit(const program* p)
{
    expect_text(p, "audit     holds");
    assert_true(number_before(p, " purchases of ours") > 0);
}

/* No lock is held by anybody, and nobody is connected but the test. */
static void expect_nothing_held(redis_server* store)
{
    static const char held[] = "local held = 0 "
                               "for _, key in ipairs(redis.call('KEYS', 'gh:{lock:*}:s')) do "
                               "if string.find(redis.call('GET', key), ' h ') then held = held + 1 end end "
                               "return held";
    assert_int_equal(redis_server_integer(store, "EVAL %s 0", held), 0);
    WAIT_FOR(strstr(redis_server_text(store, "CLIENT LIST"), "name=game_server") == NULL);
}

static long long market_keys(redis_server* store)
{
    return redis_server_integer(store, "EVAL %s 0", "return #redis.call('KEYS', 'market:*')");
}

/* ---- Tests --------------------------------------------------------------------------------------------- */

static program game; /* one at a time, but too large for the stack */

static void game_runs_for_its_time(void** state)
{
    (void)state;
    redis_server* store = start_store();
    prepare_game(&game, store, NULL);
    game.arguments[4] = "2";
    add_argument(&game, "--players");
    add_argument(&game, "200");
    start_program(&game);
    expect_status(&game, 0);
    expect_audit(&game);
    expect_text(&game, "200 purses, 800 items, 200000 coins");
    if (suite_patience() == 1) assert_int_equal(number_before(&game, " by the tick"), 0);
    assert_true(number_before(&game, " grants") > 0);
    assert_true(number_before(&game, " of them waited for") > 0);
    assert_int_equal(number_before(&game, " times ready"), 1);
    assert_int_equal(number_before(&game, " times lost"), 0);
    expect_nothing_held(store);
}

static void game_ends_in_good_order_at_ctrl_c(void** state)
{
    (void)state;
    redis_server* store = start_store();
    prepare_game(&game, store, NULL);
    start_trading(&game, store, 200);
    assert_true(market_keys(store) > 1000);
    interrupt(&game);
    expect_status(&game, 0);
    expect_audit(&game);
    expect_nothing_held(store);
    assert_int_equal(market_keys(store), 0);
}

static void game_ends_at_once_when_asked_twice(void** state)
{
    (void)state;
    redis_server* store = start_store();
    prepare_game(&game, store, NULL);
    start_trading(&game, store, 200);
    redis_server_freeze(store); /* so it cannot end in good order */
    interrupt(&game);
    kill(child_pid(game.child), SIGTERM);
    expect_status(&game, 1);
    expect_text(&game, "audit     not done");
}

static void kill_and_restart_the_store(const char* guard)
{
    redis_server* store = start_store();
    prepare_game(&game, store, NULL);
    add_argument(&game, "--guard");
    add_argument(&game, guard);
    start_trading(&game, store, 200);
    redis_server_kill9(store);
    redis_server_restart(store);
    wait_for_trade(&game, store);
    interrupt(&game);
    expect_status(&game, 0);
    expect_audit(&game);
    assert_int_equal(number_before(&game, " times ready"), 2);
    assert_int_equal(number_before(&game, " times lost"), 1);
    expect_nothing_held(store);
}

static void game_survives_kill9_of_the_store(void** state)
{
    (void)state;
    kill_and_restart_the_store("fine");
}

static void game_survives_kill9_with_one_lock_for_all(void** state)
{
    (void)state;
    kill_and_restart_the_store("coarse");
}

static void game_survives_kill9_without_locks(void** state)
{
    (void)state;
    kill_and_restart_the_store("script");
}

static void game_survives_a_frozen_store(void** state)
{
    (void)state;
    redis_server* store = start_store();
    prepare_game(&game, store, NULL);
    start_trading(&game, store, 200);
    redis_server_freeze(store);
    uint64_t thaw_us = wait_now_us() + 2500000; /* longer than the client's patience with a silent link */
    WAIT_FOR(wait_now_us() >= thaw_us);
    redis_server_thaw(store);
    wait_for_trade(&game, store);
    interrupt(&game);
    expect_status(&game, 0);
    expect_audit(&game);
    assert_int_equal(number_before(&game, " times lost"), 1);
    assert_true(number_before(&game, " resent") > 0);
}

static void game_survives_being_frozen(void** state)
{
    (void)state;
    redis_server* store = start_store();
    prepare_game(&game, store, NULL);
    start_trading(&game, store, 200);
    child_freeze(game.child);
    uint64_t thaw_us = wait_now_us() + 3500000; /* longer than the leases */
    WAIT_FOR(wait_now_us() >= thaw_us);
    child_thaw(game.child);
    wait_for_trade(&game, store);
    interrupt(&game);
    expect_status(&game, 0);
    expect_text(&game, "audit     holds");
}

static void game_survives_script_flush_and_cut_links(void** state)
{
    (void)state;
    redis_server* store = start_store();
    prepare_game(&game, store, NULL);
    start_trading(&game, store, 200);
    for (int i = 0; i < 5; i++)
    {
        redis_server_do(store, "SCRIPT FLUSH");
        redis_server_do(store, "CLIENT KILL TYPE normal SKIPME yes");
        wait_for_trade(&game, store);
    }
    interrupt(&game);
    expect_status(&game, 0);
    expect_audit(&game);
    assert_true(number_before(&game, " times lost") >= 5);
}

static void two_games_share_a_market(void** state)
{
    (void)state;
    static program other;
    redis_server* store = start_store();
    prepare_game(&game, store, "bazaar");
    prepare_game(&other, store, "bazaar");
    start_trading(&game, store, 200);
    start_trading(&other, store, 400);
    interrupt(&game);
    interrupt(&other);
    expect_status(&game, 0);
    expect_status(&other, 0);
    expect_audit(&game);
    expect_audit(&other);
    expect_text(&game, "400 purses, 1600 items, 400000 coins");
    expect_text(&other, "400 purses, 1600 items, 400000 coins");
    expect_nothing_held(store);
}

static void a_game_that_dies_costs_the_others_nothing(void** state)
{
    (void)state;
    static program other;
    redis_server* store = start_store();
    prepare_game(&game, store, "bazaar");
    prepare_game(&other, store, "bazaar");
    start_trading(&game, store, 200);
    start_trading(&other, store, 400);
    child_kill9(other.child);
    wait_for_trade(&game, store);
    interrupt(&game);
    expect_status(&game, 0);
    expect_text(&game, "400 purses, 1600 items, 400000 coins");
}

static void audit_sees_a_coin_too_many(void** state)
{
    (void)state;
    redis_server* store = start_store();
    prepare_game(&game, store, "bazaar");
    start_trading(&game, store, 200);
    redis_server_do(store, "HINCRBY market:{bazaar.player.3}:purse gold 1");
    interrupt(&game);
    expect_status(&game, 1);
    expect_text(&game, "wrong     player 3: ");
}

static void audit_sees_what_a_store_has_forgotten(void** state)
{
    (void)state;
    redis_server* store = start_store();
    prepare_game(&game, store, "bazaar");
    start_trading(&game, store, 200);
    redis_server_restart_empty(store);
    expect_status(&game, 1); /* it ends by itself */
    expect_text(&game, "wrong     the market's own key is gone");
}

static void game_refuses_options_that_make_no_sense(void** state)
{
    (void)state;
    static const char* const bad[][2] = {
        {"--players", "0"}, {"--players", "2001"}, {"--players", "ten"},  {"--guard", "none"},
        {"--market", ""},   {"--market", "a b"},   {"--seconds", "-1"},   {"--what", "1"},
        {"--seed", ""},     {"--redis", NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    {
        memset(&game, 0, sizeof game);
        find_program(&game, "market");
        add_argument(&game, bad[i][0]);
        if (bad[i][1] != NULL) add_argument(&game, bad[i][1]);
        start_program(&game);
        expect_status(&game, 2);
        expect_text(&game, "what does --");
    }
}

/* All that the live view has written; the terminal keeps it until it is read. */
static size_t read_terminal(int terminal, char* text, size_t size)
{
    ssize_t got = read(terminal, text, size - 1);
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

static void live_view_gives_the_terminal_back(void** state)
{
    (void)state;
    static char text[16 * OUTPUT_SIZE];
    redis_server* store = start_store();
    prepare_game(&game, store, NULL);
    game.arguments[5] = NULL; /* not quiet */
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    snprintf(game.terminal, sizeof game.terminal, "%s", ptsname(terminal));
    int keep = open(game.terminal, O_RDWR | O_NOCTTY); /* or reading fails as soon as the game has ended */
    fcntl(terminal, F_SETFL, O_NONBLOCK);
    start_trading(&game, store, 200);
    size_t size = 0;
    WAIT_FOR((size += read_terminal(terminal, text + size, sizeof text - size)) > 0 &&
             strstr(text, "purchases a second") != NULL);
    interrupt(&game);
    while (!child_has_ended(game.child))
    {
        size += read_terminal(terminal, text + size, sizeof text - size);
        wait_briefly();
    }
    size += read_terminal(terminal, text + size, sizeof text - size);
    assert_int_equal(end_of_program(&game), 0);
    close(keep);
    close(terminal);
    char* hidden = strstr(text, "\033[?25l");
    char* shown = strstr(text, "\033[?25h");
    assert_true(hidden != NULL && shown != NULL && shown > hidden);
    assert_non_null(strstr(shown, "audit     holds")); /* the summary comes after the picture */
}

TEST_FILE(game_server,
          cmocka_unit_test(game_runs_for_its_time),
          cmocka_unit_test(game_ends_in_good_order_at_ctrl_c),
          cmocka_unit_test(game_ends_at_once_when_asked_twice),
          cmocka_unit_test(game_survives_kill9_of_the_store),
          cmocka_unit_test(game_survives_kill9_with_one_lock_for_all),
          cmocka_unit_test(game_survives_kill9_without_locks),
          cmocka_unit_test(game_survives_a_frozen_store),
          cmocka_unit_test(game_survives_being_frozen),
          cmocka_unit_test(game_survives_script_flush_and_cut_links),
          cmocka_unit_test(two_games_share_a_market),
          cmocka_unit_test(a_game_that_dies_costs_the_others_nothing),
          cmocka_unit_test(audit_sees_a_coin_too_many),
          cmocka_unit_test(audit_sees_what_a_store_has_forgotten),
          cmocka_unit_test(game_refuses_options_that_make_no_sense),
          cmocka_unit_test(live_view_gives_the_terminal_back));
