/* The sample fleet as a whole: real processes, real players over the network, a real store that dies and
   freezes. The board of the fleet tells the test what goes on; the exit code tells whether every check of the
   players and the final audit held. */

#define _XOPEN_SOURCE 700 /* posix_openpt */

#include "support/scene/fleet.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void fleet_runs_for_its_time_and_all_holds(void** state)
{
    (void)state;
    prepare_fleet("40", "6");
    start_fleet();
    expect_good_end();
    expect_nothing_behind();
    assert_int_equal(redis_server_integer(fleet.store, "DBSIZE"), 0);
    program_expect_text(&fleet.program, "audit of the store");
    program_expect_text(&fleet.program, "log lines of 20");
    program_expect_text(&fleet.program, "  Borduria ");
}

/* The server is there, and nobody asks it. */
static void fleet_plays_in_one_process(void** state)
{
    (void)state;
#if defined(GH_WITH_EMBEDDED)
    prepare_fleet("20", "3");
    program_argument(&fleet.program, "--embedded");
    start_fleet();
    expect_good_end();
    expect_nothing_behind();
    program_expect_text(&fleet.program, "audit of the store");
    assert_int_equal(redis_server_calls(fleet.store, "evalsha"), 0);
#else
    suite_skip("built without guildhall_embedded");
#endif
}

static void kill_member(const char* name)
{
    board_row row;
    assert_true(row_of(name, &row));
    int64_t killed = row.pid;
    kill((pid_t)killed, SIGKILL);
    FLEET_UNTIL(row_of(name, &row) && row.pid != killed && row.link == GH_LINK_READY);
    FLEET_UNTIL(was_said("fleet", "it is started again"));
}

/* What frames do while the store is away: they go on. */
static void expect_frames_go_on(uint64_t frames)
{
    uint64_t first = frames_of("server-1") + frames;
    uint64_t second = frames_of("server-2") + frames;
    FLEET_UNTIL(frames_of("server-1") >= first && frames_of("server-2") >= second);
}

static void expect_play_goes_on(void)
{
    FLEET_UNTIL(is_ready("server-1") && is_ready("server-2") && is_ready("worker-1"));
    uint64_t lines = count_of("server-1", "log.lines");
    FLEET_UNTIL(count_of("server-1", "log.lines") > lines + 20);
}

/* A tick that waited for the store would make each frame late; one that another process of the machine interrupts may
   make one late: one in a hundred, where there are many. */
static void expect_frames_not_late_by_tick(const char* name)
{
    board_row row;
    assert_true(row_of(name, &row));
    assert_in_range(row.frames_late_by_tick, 0, frames_of(name) / 20 + 1);
}

static void fleet_survives_killed_workers_and_a_store_that_dies_and_freezes(void** state)
{
    (void)state;
    prepare_fleet("60", "0");
    start_fleet();
    FLEET_UNTIL(both_play());
    expect_play_goes_on();

    kill_member("worker-1");
    kill_member("aggregator-1");

    redis_server_kill9(fleet.store);
    expect_frames_go_on(60);
    FLEET_UNTIL(!is_ready("server-1") && !is_ready("server-2"));
    redis_server_restart(fleet.store);
    expect_play_goes_on();

    redis_server_freeze(fleet.store);
    expect_frames_go_on(120); /* two seconds of them */
    redis_server_thaw(fleet.store);
    expect_play_goes_on();

    expect_frames_not_late_by_tick("server-1");
    expect_frames_not_late_by_tick("server-2");
    program_interrupt(&fleet.program);
    expect_good_end();
    expect_nothing_behind();
}

/* Players whose seats are lost do not know that yet, and go on asking: that is no nonsense. */
static void fleet_lets_players_go_whose_seats_are_lost(void** state)
{
    (void)state;
    prepare_fleet("20", "0");
    start_fleet();
    FLEET_UNTIL(both_play());
    redis_server_freeze(fleet.store);
    FLEET_UNTIL(count_of("server-1", "seats.lost") > 0 && count_of("server-2", "seats.lost") > 0);
    expect_frames_go_on(120);
    redis_server_thaw(fleet.store);
    expect_play_goes_on();
    program_interrupt(&fleet.program);
    expect_good_end();
    expect_nothing_behind();
}

static void fleet_ends_at_once_when_asked_twice(void** state)
{
    (void)state;
    prepare_fleet("20", "0");
    start_fleet();
    FLEET_UNTIL(both_play());
    redis_server_freeze(fleet.store); /* so that it cannot end in good order */
    program_interrupt(&fleet.program);
    FLEET_UNTIL(is_in_phase("fleet", "bots leave") || is_in_phase("fleet", "servers leave"));
    program_interrupt(&fleet.program);
    program_expect_status(&fleet.program, 1);
    program_expect_text(&fleet.program, "did not end in good order");
    redis_server_thaw(fleet.store);
    expect_nothing_behind();
}

/* One coin more than the players brought: whoever owns it was told otherwise, and the audit counts. */
static void fleet_notices_a_coin_too_many(void** state)
{
    (void)state;
    static const char gift[] = "local purses = redis.call('KEYS', '*:purse') "
                               "if #purses == 0 then return 0 end "
                               "redis.call('HINCRBY', purses[1], 'gold', 1) return 1";
    prepare_fleet("10", "5");
    start_fleet();
    FLEET_UNTIL(both_play());
    FLEET_UNTIL(redis_server_integer(fleet.store, "EVAL %s 0", gift) == 1);
    expect_end(1);
    program_expect_text(&fleet.program, "FAILED");
    program_expect_text(&fleet.program, "audit: ");
    assert_true(redis_server_integer(fleet.store, "DBSIZE") > 0); /* left as it is, to be looked at */
}

/* It would remove them at its end. Enough other keys are there that a look at the first page does not do. */
static void fleet_refuses_a_prefix_that_somebody_has_keys_with(void** state)
{
    (void)state;
    prepare_fleet("10", "2");
    program_argument(&fleet.program, "--prefix");
    program_argument(&fleet.program, "gh");
    redis_server_do(fleet.store, "EVAL %s 0", "for i = 1, 20000 do redis.call('SET', 'other:' .. i, i) end");
    redis_server_do(fleet.store, "SET gh:{lock:gate}:s mine");
    setenv("TMPDIR", fleet.folder, 1);
    program_start(&fleet.program);
    unsetenv("TMPDIR");
    expect_end(2);
    program_expect_text(&fleet.program, "keys that begin with \"gh:\" are there already");
    assert_null(strstr(fleet.program.output, "holds"));
    expect_nothing_behind();
    assert_int_equal(redis_server_integer(fleet.store, "DBSIZE"), 20001);
    assert_string_equal(redis_server_text(fleet.store, "GET gh:{lock:gate}:s"), "mine");
}

static void fleet_with_a_prefix_of_its_own_removes_its_keys_alone(void** state)
{
    (void)state;
    prepare_fleet("10", "2");
    program_argument(&fleet.program, "--prefix");
    program_argument(&fleet.program, "g");
    redis_server_do(fleet.store, "SET gh:{lock:gate}:s mine");
    start_fleet();
    expect_good_end();
    expect_nothing_behind();
    assert_int_equal(redis_server_integer(fleet.store, "DBSIZE"), 1);
    assert_string_equal(redis_server_text(fleet.store, "GET gh:{lock:gate}:s"), "mine");
}

/* All that is there; one read brings a page of it at most. */
static size_t read_terminal(int terminal, char* text, size_t size)
{
    size_t read_size = 0;
    ssize_t got = 0;
    while ((got = read(terminal, text + read_size, size - 1 - read_size)) > 0)
    {
        read_size += (size_t)got;
    }
    text[read_size] = '\0';
    return read_size;
}

static int open_terminal(int* keep)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0) suite_skip("this machine has no terminals to give: nothing is mounted at /dev/pts");
    assert_true(grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    snprintf(fleet.program.terminal, sizeof fleet.program.terminal, "%s", ptsname(terminal));
    *keep = open(fleet.program.terminal, O_RDWR | O_NOCTTY); /* or reading fails as soon as the fleet has ended */
    fcntl(terminal, F_SETFL, O_NONBLOCK);
    return terminal;
}

static void live_view_shows_all_and_gives_the_terminal_back(void** state)
{
    (void)state;
    static char text[4 * 1024 * 1024];
    int keep = -1;
    prepare_fleet("20", "0");
    fleet.program.arguments[8] = "--guard"; /* instead of --quiet */
    program_argument(&fleet.program, "script");
    int terminal = open_terminal(&keep);
    start_fleet();
    size_t size = 0;
    WAIT_FOR((size += read_terminal(terminal, text + size, sizeof text - size)) > 0 && both_play());
    program_interrupt(&fleet.program);
    while (!child_has_ended(fleet.program.child))
    {
        size += read_terminal(terminal, text + size, sizeof text - size);
        wait_briefly();
    }
    size += read_terminal(terminal, text + size, sizeof text - size);
    assert_int_equal(program_end(&fleet.program), 0);
    close(keep);
    close(terminal);
    char* hidden = strstr(text, "\033[?25l");
    char* shown = strstr(text, "\033[?25h");
    assert_true(hidden != NULL && shown != NULL && shown > hidden);
    assert_true(strstr(hidden, "server-1") < shown && strstr(hidden, "playing") < shown);
    assert_non_null(strstr(hidden, "ops ended:  "));
    assert_non_null(strstr(shown, "all holds")); /* the summary comes after the picture */
}

static void fleet_refuses_options_that_make_no_sense(void** state)
{
    (void)state;
    static const char* const wrong[][3] = {{"--bots", "0", "--bots wants 1 to 4096"},
                                           {"--bots", "5000", "--bots wants 1 to 4096"},
                                           {"--bots", "many", "--bots wants 1 to 4096"},
                                           {"--bots", NULL, "--bots wants 1 to 4096"},
                                           {"--page", "70000", "--page wants 1 to 65535"},
                                           {"--seconds", "", "--seconds wants 0 to 1000000"},
                                           {"--prefix", "a b", "--prefix wants 1 to 24 letters, digits, _ . and -"},
                                           {"--guard", "none", "--guard wants coarse or fine or script"},
                                           {"--redis", NULL, "--redis wants ADDR"},
                                           {"--what", "ever", "what does --what mean?"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    {
        program_find(&fleet.program, "game_server");
        program_argument(&fleet.program, "fleet");
        program_argument(&fleet.program, wrong[i][0]);
        if (wrong[i][1] != NULL) program_argument(&fleet.program, wrong[i][1]);
        program_start(&fleet.program);
        program_expect_status(&fleet.program, 2);
        program_expect_text(&fleet.program, wrong[i][2]);
    }
}

static void fleet_says_what_its_options_take(void** state)
{
    (void)state;
    program_find(&fleet.program, "game_server");
    program_argument(&fleet.program, "fleet");
    program_argument(&fleet.program, "--help");
    program_start(&fleet.program);
    program_expect_status(&fleet.program, 0);
    program_expect_text(&fleet.program, "how many (1 to 4096)");
    program_expect_text(&fleet.program, "on a terminal, 10 seconds elsewhere");
    program_expect_text(&fleet.program, "all of them are removed at the end");
    assert_null(strstr(fleet.program.output, " wants "));
}

TEST_FILE(game_fleet, cmocka_unit_test(fleet_runs_for_its_time_and_all_holds),
          cmocka_unit_test(fleet_plays_in_one_process),
          cmocka_unit_test(fleet_survives_killed_workers_and_a_store_that_dies_and_freezes),
          cmocka_unit_test(fleet_lets_players_go_whose_seats_are_lost),
          cmocka_unit_test(fleet_ends_at_once_when_asked_twice), cmocka_unit_test(fleet_notices_a_coin_too_many),
          cmocka_unit_test(fleet_refuses_a_prefix_that_somebody_has_keys_with),
          cmocka_unit_test(fleet_with_a_prefix_of_its_own_removes_its_keys_alone),
          cmocka_unit_test(live_view_shows_all_and_gives_the_terminal_back),
          cmocka_unit_test(fleet_refuses_options_that_make_no_sense),
          cmocka_unit_test(fleet_says_what_its_options_take));
