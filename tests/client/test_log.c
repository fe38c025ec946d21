/* Tests of the log hook: lost links say where and why, anew when the reason is another, and floods are held back. */

#include "support/scene/game.h"
#include "support/scene/log_book.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"
#include "support/scratch.h"
#include "support/server/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000)

static unsigned count_of(const scripted* world, const char* text)
{
    unsigned count = 0;
    size_t size = strlen(text);
    for (size_t i = 0; i + size <= world->log.size; i++)
        if (memcmp(world->log.bytes + i, text, size) == 0) count++;
    return count;
}

/* ---- real reasons ---------------------------------------------------------------------------------------- */

static void expect_line(const char* address, const char* text)
{
    log_book book;
    gh_client_config config = game_config(address);
    config.wake = false;
    game* a = log_book_start(config, &book);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_COMMANDS) == GH_LINK_BACKOFF);
    if (strstr(book.text, address) == NULL) fail_msg("no address in: %s", book.text);
    if (strstr(book.text, text) == NULL) fail_msg("no reason in: %s", book.text);
}

static void connection_that_fails_says_where_and_why(void** state)
{
    (void)state;
    char folder[SCRATCH_PATH_SIZE];
    char address[SCRATCH_PATH_SIZE + 16];
    char expected[64];
    scratch_folder(folder);
    snprintf(address, sizeof(address), "unix:%s/none", folder);
    snprintf(expected, sizeof(expected), "no connection: no such file (%d), unix:", ENOENT);
    expect_line(address, expected);

    uint16_t port = 0;
    int listener = stream_listen_tcp(false, &port);
    assert_true(listener >= 0);
    close(listener);
    snprintf(address, sizeof(address), "127.0.0.1:%u", port);
    snprintf(expected, sizeof(expected), "no connection: connection refused (%d), 127.", ECONNREFUSED);
    expect_line(address, expected);
}

static void connection_that_breaks_says_where_and_why(void** state)
{
    (void)state;
    log_book book;
    redis_server* server = redis_server_start(NULL);
    game* a = log_book_start(game_config(redis_server_address(server)), &book);
    GAME_UNTIL(gh_client_ready(a->client) && gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_non_null(strstr(book.text, "wake link: ready"));
    redis_server_kill9(server);
    GAME_UNTIL(!gh_client_ready(a->client) && gh_client_link_state(a->client, GH_LINK_WAKE) != GH_LINK_READY);
    assert_non_null(strstr(book.text, "command link: closed by the server"));
    assert_non_null(strstr(book.text, "wake link: closed by the server"));
    assert_non_null(strstr(book.text, redis_server_address(server)));
}

/* ---- made-up reasons --------------------------------------------------------------------------------------- */

static int made_up_error;

static int made_up_reason(void* context, const char** text)
{
    (void)context;
    *text = made_up_error == 7 ? "seven" : NULL;
    return made_up_error;
}

static void another_reason_is_told_the_same_is_not(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.backoff_min_us = config.backoff_max_us = MS;
    world->platform.reason = made_up_reason;
    world->open_status = GH_REFUSED;
    made_up_error = 7;
    scripted_start(world, &config);
    for (int i = 0; i < 5000; i++) scripted_tick(world, MS);
    assert_int_equal(count_of(world, "W command link: no connection: seven (7), "), 1);
    assert_true(count_of(world, "D command link: no connection: seven (7), ") > 1000);
    made_up_error = 8;
    for (int i = 0; i < 5000; i++) scripted_tick(world, MS);
    assert_int_equal(count_of(world, "W command link: no connection: error (8), "), 1);
    made_up_error = 0;
    for (int i = 0; i < 5000; i++) scripted_tick(world, MS);
    assert_int_equal(count_of(world, "W command link: no connection, "), 1);
    assert_int_equal(count_of(world, "W "), 3);
    assert_int_equal(scripted_stats(world).log_lines_held, 0);
}

/* ---- floods --------------------------------------------------------------------------------------------------- */

static void reasons_that_change_all_the_time_are_held_back(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.backoff_min_us = config.backoff_max_us = MS;
    world->platform.reason = made_up_reason;
    world->open_status = GH_REFUSED;
    scripted_start(world, &config);
    for (int i = 0; i < 10000; i++)
    {
        made_up_error = 1 + i % 5;
        scripted_tick(world, MS);
    }
    assert_in_range(count_of(world, "W command link: no connection"), 36, 44);
    assert_in_range(count_of(world, " more of the kind before)"), 9, 10);
    assert_true(scripted_stats(world).log_lines_held > 1000);
}

static bool refuse_words(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    (void)world;
    (void)count;
    if (!gh_str_equal(words[0], gh_str_literal("A"))) return false;
    static const char text[] = "-NOPERM this user has no permissions to run the 'a' command\r\n";
    buffer_add(reply, text, sizeof(text) - 1);
    return true;
}

static void refused_requests_are_told_a_few_times_a_second(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->answer = refuse_words;
    scripted_start_ready(world, NULL);
    gh_command* last = NULL;
    for (int i = 0; i < 500; i++) last = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&last->op) != GH_PENDING, MS, SECOND_US / 2);
    assert_status(gh_op_poll(&last->op), GH_REFUSED);
    assert_int_equal(count_of(world, "E command: refused: NOPERM"), 4);
    assert_int_equal(scripted_stats(world).log_lines_held, 496);
    scripted_tick(world, SECOND_US);
    last = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&last->op) != GH_PENDING, MS, SECOND_US / 2);
    assert_int_equal(count_of(world, "E command: refused: NOPERM"), 5);
    assert_int_equal(count_of(world, "(and 496 more of the kind before)\n"), 1);
}

/* Each byte is four in the log, so the line has no room for all of them. */
static bool refuse_odd_words(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    (void)world;
    (void)count;
    if (!gh_str_equal(words[0], gh_str_literal("A"))) return false;
    static const char text[] = "-NOPERM no permissions to ";
    buffer_add(reply, text, sizeof(text) - 1);
    for (int i = 0; i < 200; i++) buffer_add(reply, "\1", 1);
    buffer_add(reply, "\r\n", 2);
    return true;
}

static void refuse_and_wait(scripted* world)
{
    gh_command* command = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&command->op) != GH_PENDING, MS, SECOND_US / 2);
    assert_status(gh_op_poll(&command->op), GH_REFUSED);
}

static void long_line_says_how_many_were_held_back(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->answer = refuse_odd_words;
    scripted_start_ready(world, NULL);
    for (int i = 0; i < 127; i++) refuse_and_wait(world);
    assert_int_equal(scripted_stats(world).log_lines_held, 123);
    scripted_tick(world, SECOND_US);
    refuse_and_wait(world);
    assert_int_equal(count_of(world, "\\x01 (and 123 more of the kind before)\n"), 1);
}

TEST_FILE(log, cmocka_unit_test(connection_that_fails_says_where_and_why),
          cmocka_unit_test(connection_that_breaks_says_where_and_why),
          cmocka_unit_test(another_reason_is_told_the_same_is_not),
          cmocka_unit_test(reasons_that_change_all_the_time_are_held_back),
          cmocka_unit_test(refused_requests_are_told_a_few_times_a_second),
          cmocka_unit_test(long_line_says_how_many_were_held_back));
