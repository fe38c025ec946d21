/* What a server says, and what it is told in confidence: neither passwords nor payloads reach the log, nobody forges a
   line of it, and the password is wiped as soon as it is of no more use. */

#include "support/buffer.h"
#include "support/scene/game.h"
#include "support/server/scripted.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000)

#define USER     "gamemaster"
#define PASSWORD "Hunter2-Secret"

#define PIECE 4 /* bytes of a secret that are no word any more */

/* ---- a server that repeats what it was told -------------------------------------------------------------- */

typedef struct parrot
{
    const char* text; /* the error */
    const char* to;   /* the request that gets it                     */
    unsigned skip;    /* so many of those requests are answered well  */
    unsigned times;   /* and so many get the error                    */
} parrot;

static bool repeat_words(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    parrot* self = world->context;
    (void)count;
    if (!gh_str_equal(words[0], gh_str_of(self->to))) return false;
    if (self->skip > 0)
    {
        self->skip--;
        return false;
    }
    if (self->times == 0) return false;
    self->times--;
    buffer_add(reply, "-", 1);
    buffer_add(reply, self->text, strlen(self->text));
    buffer_add(reply, "\r\n", 2);
    return true;
}

static gh_client_config secret_config(bool wake)
{
    gh_client_config config = scripted_config();
    config.user = gh_str_literal(USER);
    config.password = gh_str_literal(PASSWORD);
    config.wake = wake;
    config.backoff_min_us = config.backoff_max_us = MS;
    return config;
}

static scripted* start_with_parrot(const parrot* wanted, bool wake)
{
    scripted* world = scripted_new();
    gh_client_config config = secret_config(wake);
    parrot* self = SCRIPTED_NEW(world, parrot);
    *self = *wanted;
    world->context = self;
    world->answer = repeat_words;
    scripted_start(world, &config);
    return world;
}

/* In any case. */
static size_t times_in(const char* bytes, size_t size, const char* part, size_t part_size)
{
    size_t count = 0;
    for (size_t at = 0; at + part_size <= size; at++)
    {
        size_t i = 0;
        while (i < part_size && tolower((unsigned char)bytes[at + i]) == tolower((unsigned char)part[i])) i++;
        count += i == part_size;
    }
    return count;
}

static void assert_no_piece_is_logged(const scripted* world, const char* secret, const char* echo)
{
    for (size_t i = 0; i + PIECE <= strlen(secret); i++)
        if (times_in(world->log.bytes, world->log.size, secret + i, PIECE) > 0)
            fail_msg("after \"%s\" the log has it: %.*s", echo, (int)world->log.size, world->log.bytes);
}

static const char* const echoes[] = {
    "ERR unknown command 'AUTH', with args beginning with: '" USER "' '" PASSWORD "' ",
    "ERR unknown command `AUTH`, with args beginning with: `" USER "`, `" PASSWORD "`, ",
    "ERR unknown command 'AUTH', with args beginning with: '" USER "' 'Hunter2-S",
    "ERR unknown command '" PASSWORD "', with args beginning with: '" USER "' ",
    "ERR unknown command AUTH " USER " " PASSWORD,
    "ERR no command AUTH of (" USER "," PASSWORD ") is known here",
    "ERR no " PASSWORD USER,
    "HUNTER2-SECRET",
    "ERR hunter2-secret?",
    "ERR what is Hunt\\x65r2\\x2dSecret",
    "ERR cut: nter2-Sec",
    "WRONGPASS invalid pair " USER "/" PASSWORD,
    "NOPERM User " USER " has no permissions to run the 'auth' command",
    "NOAUTH Authentication required, not " PASSWORD,
    "LOADING Redis is loading " PASSWORD,
    PASSWORD,
    USER,
};

static void password_is_in_no_line_of_a_hand_shake(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(echoes) / sizeof(echoes[0]); i++)
    {
        parrot said = {.text = echoes[i], .to = "AUTH", .times = 3};
        scripted* world = start_with_parrot(&said, false);
        SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
        assert_true(scripted_logged(world, "hand-shake: "));
        assert_no_piece_is_logged(world, PASSWORD, echoes[i]);
        assert_no_piece_is_logged(world, USER, echoes[i]);
    }
}

static void password_is_in_no_line_of_the_wake_link(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(echoes) / sizeof(echoes[0]); i++)
    {
        parrot said = {.text = echoes[i], .to = "AUTH", .skip = 1, .times = 3};
        scripted* world = start_with_parrot(&said, true);
        SCRIPTED_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_READY, MS, SECOND_US);
        assert_true(scripted_logged(world, "W wake link: "));
        assert_no_piece_is_logged(world, PASSWORD, echoes[i]);
        assert_no_piece_is_logged(world, USER, echoes[i]);
    }
}

/* Sentinels have a user and a password of their own. */
static void password_is_in_no_line_of_a_sentinels_link(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(echoes) / sizeof(echoes[0]); i++)
    {
        scripted* world = scripted_new();
        parrot said = {.text = echoes[i], .to = "AUTH", .times = 3};
        gh_client_config config = scripted_config();
        config.topology = gh_topology_sentinel();
        config.sentinel_name = gh_str_literal("game");
        config.sentinel_user = gh_str_literal(USER);
        config.sentinel_password = gh_str_literal(PASSWORD);
        config.backoff_min_us = config.backoff_max_us = MS;
        world->context = &said;
        world->answer = repeat_words;
        scripted_start(world, &config);
        SCRIPTED_UNTIL(world, said.times == 0, MS, SECOND_US);
        for (int j = 0; j < 3; j++) scripted_tick(world, MS);
        assert_true(scripted_logged(world, "W sentinel link: "));
        assert_no_piece_is_logged(world, PASSWORD, echoes[i]);
        assert_no_piece_is_logged(world, USER, echoes[i]);
    }
}

/* Requests that come much later, and errors that are no matter, are no other thing. */
static void password_is_in_no_line_of_an_op_or_a_setting(void** state)
{
    (void)state;
    const char* const requests[] = {"A", "INFO", "CLIENT", "PUBLISH", "EVALSHA", "SELECT"};
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
    {
        parrot said = {.text = "NOPERM " PASSWORD " " USER, .to = requests[i], .times = 2};
        scripted* world = start_with_parrot(&said, false);
        SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
        gh_command* op = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
        SCRIPTED_UNTIL(world, gh_op_poll(&op->op) != GH_PENDING, MS, SECOND_US);
        assert_no_piece_is_logged(world, PASSWORD, requests[i]);
        assert_no_piece_is_logged(world, USER, requests[i]);
    }
}

/* Too short to be told from words: of these, words alone are left out. */
static void short_secret_is_left_out_as_a_word(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    parrot said = {.text = "ERR permissions of me: none for pw", .to = "AUTH", .times = 1};
    gh_client_config config = secret_config(false);
    config.user = gh_str_literal("me");
    config.password = gh_str_literal("pw");
    world->context = &said;
    world->answer = repeat_words;
    scripted_start(world, &config);
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
    assert_true(scripted_logged(world, "hand-shake: ERR permissions of [...]\n"));
    assert_false(scripted_logged(world, "pw"));
}

/* ---- payloads -------------------------------------------------------------------------------------------- */

static void expect_line_of_error(const char* error, const char* line)
{
    parrot said = {.text = error, .to = "A", .times = 1};
    scripted* world = start_with_parrot(&said, false);
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
    gh_command* op = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&op->op) != GH_PENDING, MS, SECOND_US);
    if (!scripted_logged(world, line)) fail_msg("no \"%s\" in: %.*s", line, (int)world->log.size, world->log.bytes);
    assert_false(scripted_logged(world, "gold"));
    assert_false(scripted_logged(world, "hero"));
}

static void payload_that_a_server_repeats_is_not_logged(void** state)
{
    (void)state;
    expect_line_of_error("ERR unknown command 'JSON.SET', with args beginning with: 'hero:7' '$' '{\"gold\":12}' ",
                         "E command: refused: ERR unknown command 'JSON.SET'[...]\n");
    expect_line_of_error("ERR unknown command `JSON.SET`, with args beginning with: `hero:7`, `$`, ",
                         "E command: refused: ERR unknown command `JSON.SET`[...]\n");
    expect_line_of_error("ERR unknown command 'gold for a hero', with args", "ERR unknown command [...]\n");
}

static void right_that_is_missing_is_named(void** state)
{
    (void)state;
    expect_line_of_error("NOPERM this user has no permissions to run the 'set' command",
                         "E command: refused: NOPERM this user has no permissions to run the 'set' command\n");
    expect_line_of_error("NOPERM this user has no permissions to access the 'hero:7' key",
                         "E command: refused: NOPERM this user has no permissions to access the [...]\n");
}

/* ---- control bytes --------------------------------------------------------------------------------------- */

static void assert_log_is_printable(const scripted* world)
{
    for (size_t i = 0; i < world->log.size; i++)
    {
        unsigned char byte = (unsigned char)world->log.bytes[i];
        if (byte != '\n' && (byte < ' ' || byte > '~')) fail_msg("byte %02x in the log", byte);
    }
}

static bool say_odd_bytes(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    static const char odd[] = "-NOPERM permissions to a\x0b"
                              "b\x1b[2Jc\x7f"
                              "d\xc3\xa9"
                              "e\r\n";
    static const char forged[] = "-NOPERM a\nE command: forged\r\n";
    static const char info[] = "redis_version:5.\x1b[m0\r\nmaxmemory_policy:all\x07keys\r\nrole:master\r\n";
    char text[256];
    (void)world;
    (void)count;
    if (gh_str_equal(words[0], gh_str_literal("INFO")))
    {
        int size = snprintf(text, sizeof(text), "$%zu\r\n%s\r\n", sizeof(info) - 1, info);
        buffer_add(reply, text, (size_t)size);
        return true;
    }
    if (gh_str_equal(words[0], gh_str_literal("A"))) buffer_add(reply, odd, sizeof(odd) - 1);
    else if (gh_str_equal(words[0], gh_str_literal("B"))) buffer_add(reply, forged, sizeof(forged) - 1);
    else return false;
    return true;
}

static void server_forges_no_line(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->answer = say_odd_bytes;
    scripted_start_ready(world, NULL);
    gh_command* odd = scripted_ask(world, "A", SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&odd->op) != GH_PENDING, MS, 2 * SECOND_US);
    assert_int_equal(scripted_stats(world).protocol_errors, 0);
    gh_command* forged = scripted_ask(world, "B", SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&forged->op) != GH_PENDING, MS, 2 * SECOND_US);
    assert_int_equal(scripted_stats(world).protocol_errors, 1);
    assert_log_is_printable(world);
    assert_false(scripted_logged(world, "forged"));
    assert_true(scripted_logged(world, "older than 6.2: 5.\\x1b[m0"));
    assert_true(scripted_logged(world, "it is all\\x07keys"));
    assert_true(scripted_logged(world, "NOPERM permissions to a\\x0bb\\x1b[2Jc\\x7fd\\xc3\\xa9e\n"));
}

static void path_forges_no_line(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.address = gh_str_literal("unix:/tmp/a\nE forged\x1b");
    world->open_status = GH_REFUSED;
    scripted_start(world, &config);
    scripted_tick(world, MS);
    assert_log_is_printable(world);
    assert_true(scripted_logged(world, "unix:/tmp/a\\x0aE forged\\x1b\n"));
}

/* ---- what is left in memory ------------------------------------------------------------------------------ */

static void assert_left(const scripted* world, size_t size, size_t most, const char* when)
{
    const char* block = (const char*)world->client;
    size_t passwords = times_in(block, size, PASSWORD, sizeof(PASSWORD) - 1);
    size_t users = times_in(block, size, USER, sizeof(USER) - 1);
    if (passwords != most || users != most) fail_msg("%s: %zu times, and the user %zu times", when, passwords, users);
}

/* With the peer's patience for so many bytes of a send, and an echo of AUTH on the links first, or not. */
static void run_and_look(size_t send_max, bool wake, unsigned echoed, unsigned skip)
{
    parrot said = {.text = echoes[0], .to = "AUTH", .skip = skip, .times = echoed};
    gh_client_config config = secret_config(wake);
    scripted* world = start_with_parrot(&said, wake);
    size_t size = gh_client_memory(&config);
    world->send_max = send_max;
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, 60 * SECOND_US);
    if (wake)
        SCRIPTED_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_READY, MS, 60 * SECOND_US);
    assert_left(world, size, 1, "once ready");
    gh_client_shutdown(world->client);
    assert_left(world, size, 0, "after the end");
}

static void password_is_in_the_config_alone_once_it_was_sent(void** state)
{
    (void)state;
    run_and_look(SIZE_MAX, false, 0, 0);
    run_and_look(SIZE_MAX, true, 0, 0);
    run_and_look(7, true, 0, 0);
    run_and_look(600, true, 0, 0);
}

static void password_that_a_server_repeated_is_wiped(void** state)
{
    (void)state;
    run_and_look(SIZE_MAX, false, 2, 0);
    run_and_look(SIZE_MAX, true, 2, 1);
    run_and_look(50, true, 3, 0);
}

static void password_that_could_not_be_sent_is_wiped(void** state)
{
    (void)state;
    gh_client_config config = secret_config(true);
    size_t size = gh_client_memory(&config);
    for (size_t sent = 0; sent < 80; sent += 11)
    {
        scripted* world = scripted_new();
        config.connect_timeout_us = 50 * MS;
        config.backoff_min_us = config.backoff_max_us = 10 * SECOND_US;
        scripted_start(world, &config);
        world->send_max = sent;
        scripted_tick(world, MS);
        world->send_max = 0;
        SCRIPTED_UNTIL(world, gh_client_link_state(world->client, GH_LINK_COMMANDS) == GH_LINK_BACKOFF, MS, SECOND_US);
        assert_left(world, size, 1, "when the link is down");
        gh_client_shutdown(world->client);
        assert_left(world, size, 0, "after the end");
    }
}

/* In the middle of everything: asked, not answered; or answered, and not yet read. */
static void password_is_wiped_by_a_shutdown_at_any_time(void** state)
{
    (void)state;
    gh_client_config config = secret_config(true);
    size_t size = gh_client_memory(&config);
    for (unsigned ticks = 0; ticks < 12; ticks++)
    {
        parrot said = {.text = echoes[0], .to = "AUTH", .skip = ticks % 2, .times = 9};
        scripted* world = start_with_parrot(&said, true);
        world->receive_max = 40;
        world->send_max = 40;
        for (unsigned i = 0; i < ticks; i++) scripted_tick(world, MS);
        gh_client_shutdown(world->client);
        assert_left(world, size, 0, "after the end");
    }
}

TEST_FILE(secrets, cmocka_unit_test(password_is_in_no_line_of_a_hand_shake),
          cmocka_unit_test(password_is_in_no_line_of_the_wake_link),
          cmocka_unit_test(password_is_in_no_line_of_a_sentinels_link),
          cmocka_unit_test(password_is_in_no_line_of_an_op_or_a_setting),
          cmocka_unit_test(short_secret_is_left_out_as_a_word),
          cmocka_unit_test(payload_that_a_server_repeats_is_not_logged),
          cmocka_unit_test(right_that_is_missing_is_named), cmocka_unit_test(server_forges_no_line),
          cmocka_unit_test(path_forges_no_line), cmocka_unit_test(password_is_in_the_config_alone_once_it_was_sent),
          cmocka_unit_test(password_that_a_server_repeated_is_wiped),
          cmocka_unit_test(password_that_could_not_be_sent_is_wiped),
          cmocka_unit_test(password_is_wiped_by_a_shutdown_at_any_time));
