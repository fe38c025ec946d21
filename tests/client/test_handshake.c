/* The scripts of the hand-shake, answered with what they cannot have said. */

#include "support/scene/game.h"
#include "support/server/scripted.h"

#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000)

static void add_text(byte_buffer* reply, const char* text)
{
    buffer_add(reply, text, strlen(text));
}

static bool say_to_the_epoch(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    if (!gh_str_equal(words[0], gh_str_literal("EVALSHA")) || count != 8) return false;
    add_text(reply, world->context);
    return true;
}

static bool say_to_load(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    (void)count;
    if (!gh_str_equal(words[0], gh_str_literal("SCRIPT"))) return false;
    add_text(reply, world->context);
    return true;
}

/* Not ready with it, patient, and ready without it. */
static void assert_not_believed(scripted_answer answer, const char* text)
{
    scripted* world = scripted_new();
    world->context = (void*)(uintptr_t)text;
    world->answer = answer;
    scripted_start(world, NULL);
    for (int i = 0; i < 10000; i++)
    {
        scripted_tick(world, MS);
        if (gh_client_ready(world->client)) fail_msg("believed: %s", text);
    }
    assert_in_range(world->opens, 2, 30);
    world->answer = NULL;
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, 4 * SECOND_US);
}

static void epoch_of_another_shape_is_not_believed(void** state)
{
    (void)state;
    const char* const replies[] = {"+OK\r\n",
                                   ":1\r\n",
                                   "$-1\r\n",
                                   "*0\r\n",
                                   "*-1\r\n",
                                   "*1\r\n:1\r\n",
                                   "*2\r\n:1\r\n:1\r\n",
                                   "*3\r\n:1\r\n:1\r\n$1\r\n1\r\n",
                                   "*3\r\n$1\r\n1\r\n:1\r\n:1\r\n",
                                   "*3\r\n*0\r\n*0\r\n*0\r\n",
                                   "*3\r\n:-1\r\n:1\r\n:1\r\n",
                                   "*3\r\n:1\r\n:-1\r\n:1\r\n",
                                   "*3\r\n:1\r\n:1\r\n:-1\r\n"};
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) assert_not_believed(say_to_the_epoch, replies[i]);
}

static const char* const no_digests[] = {"+OK\r\n",
                                         ":1\r\n",
                                         "$-1\r\n",
                                         "*0\r\n",
                                         "$3\r\nabc\r\n",
                                         "$0\r\n\r\n",
                                         "$41\r\n01234567890123456789012345678901234567890\r\n",
                                         "*1\r\n$40\r\n0123456789012345678901234567890123456789\r\n"};

#define NO_DIGEST_COUNT (sizeof(no_digests) / sizeof(no_digests[0]))

static void digest_of_another_shape_is_not_believed(void** state)
{
    (void)state;
    for (size_t i = 0; i < NO_DIGEST_COUNT; i++) assert_not_believed(say_to_load, no_digests[i]);
}

/* To the load that a request waits for, not to that of the hand-shake. */
static bool say_to_a_later_load(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    return gh_client_ready(world->client) && say_to_load(world, words, count, reply);
}

/* The link is closed, and the request that waited goes over the next one. */
static void request_goes_again_after_a_digest_of_another_shape(void** state)
{
    (void)state;
    for (size_t i = 0; i < NO_DIGEST_COUNT; i++)
    {
        scripted* world = scripted_new();
        world->context = (void*)(uintptr_t)no_digests[i];
        world->answer = say_to_a_later_load;
        scripted_start_ready(world, NULL);
        gh_lock* lock = scripted_want(world, "sword", SECOND_US, 3600 * SECOND_US);
        SCRIPTED_UNTIL(world, scripted_stats(world).protocol_errors == 1, MS, SECOND_US);
        assert_status(gh_op_poll(&lock->op), GH_PENDING);
        world->answer = NULL;
        SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, 4 * SECOND_US);
        assert_int_equal(scripted_stats(world).links_lost, 1);
    }
}

/* It does not cost the links of all others for ever. */
static void request_without_a_digest_is_given_up(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->context = (void*)(uintptr_t)no_digests[0];
    world->answer = say_to_a_later_load;
    scripted_start_ready(world, NULL);
    gh_lock* lock = scripted_want(world, "sword", SECOND_US, 3600 * SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) != GH_PENDING, MS, 60 * SECOND_US);
    assert_status(gh_op_poll(&lock->op), GH_REFUSED);
    assert_in_range(scripted_stats(world).protocol_errors, 2, 10);
}

/* Whatever time it is in the store, leases are counted by the client's own clock. */
static void clock_of_the_store_may_be_anything(void** state)
{
    (void)state;
    const char* const clocks[] = {"0", "1", "9007199254740993", "9223372036854775807"};
    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
    {
        char text[96];
        scripted* world = scripted_new();
        gh_client_config config = scripted_config();
        config.quarantine_us = 3600 * SECOND_US;
        snprintf(text, sizeof(text), "*3\r\n:%s\r\n:%s\r\n:%s\r\n", clocks[i], clocks[i], clocks[i]);
        world->context = text;
        world->answer = say_to_the_epoch;
        scripted_start_ready(world, &config);
        gh_lock* lock = scripted_want(world, "sword", SECOND_US, SECOND_US);
        SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, SECOND_US);
        assert_in_range(gh_lock_remaining_us(lock), 900 * MS, SECOND_US);
        world->silent = true;
        SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_LOST, MS, SECOND_US);
        world->answer = NULL;
    }
}

/* ---- what a server says of itself -------------------------------------------------------------------------------- */

typedef struct speech
{
    const char* info;   /* of each section; NULL: the truth */
    const char* exists; /* of the scripts                   */
    const char* rights;
    unsigned times; /* that rights are answered so; then with the truth */
    unsigned loads;
} speech;

static bool speak(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    speech* self = world->context;
    const bool is_script = gh_str_equal(words[0], gh_str_literal("SCRIPT"));
    if (self->info != NULL && gh_str_equal(words[0], gh_str_literal("INFO")))
    {
        char head[32];
        buffer_add(reply, head, (size_t)snprintf(head, sizeof head, "$%zu\r\n", strlen(self->info)));
        add_text(reply, self->info);
        add_text(reply, "\r\n");
        return true;
    }
    if (self->exists != NULL && is_script && count > 3)
    {
        add_text(reply, self->exists);
        return true;
    }
    self->loads += is_script && count == 3;
    if (self->rights == NULL || self->times == 0 || !gh_str_equal(words[0], gh_str_literal("EVALSHA")) || count <= 8 ||
        words[3].size < 6 || memcmp(words[3].bytes + words[3].size - 6, ":epoch", 6) != 0)
        return false;
    self->times--;
    add_text(reply, self->rights);
    return true;
}

static scripted* listen_to(speech* self)
{
    scripted* world = scripted_new();
    world->context = self;
    world->answer = speak;
    scripted_start_ready(world, NULL);
    gh_lock* lock = scripted_want(world, "sword", SECOND_US, SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, SECOND_US);
    return world;
}

static void versions_are_read_as_far_as_they_go(void** state)
{
    (void)state;
    static const struct
    {
        const char* info;
        unsigned version;
        bool warns;
    } rows[] = {{"redis_version:7.2.4\r\n", 70204, false},
                {"redis_version:7.2.4", 70204, false},
                {"redis_version:7.2.4.9\r\n", 70204, false},
                {"redis_version:7.2-rc1\r\n", 70200, false},
                {"redis_version:7\r\n", 70000, false},
                {"redis_version:6.0.9\r\n", 60009, true},
                {"redis_version:\r\n", 0, true},
                {"redis_versions:7.2.4\r\nredis_version\r\n", 0, true},
                {"", 0, true},
                {"redis_version:7.2.4\r\nrun_id:6b1bf486\r\nmaster_replid:\r\n", 70204, false},
                {"redis_version:7.2.4\nrun_id:6b1bf486 81ceb7edf3c093f4c48582e38c0e791\nmaster_replid:"
                 "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\n",
                 70204, false},
                {"redis_version:1000000000000.2.4\r\n", 10000204, false},
                {"redis_version:7.2.4\r\naof_enabled:0\r\nloading:1\r\n", 70204, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        speech self = {.info = rows[i].info};
        scripted* world = listen_to(&self);
        const gh_client_stats stats = scripted_stats(world);
        if (stats.server_version != rows[i].version)
            fail_msg("\"%s\" is taken for %u", rows[i].info, (unsigned)stats.server_version);
        assert_int_equal((stats.warnings & GH_WARNING_VERSION) != 0, rows[i].warns);
        assert_int_equal(stats.warnings & GH_WARNING_NO_AOF, 0);
        assert_int_equal(stats.links_lost, 0);
    }
}

/* What is not said to be there is loaded. */
static void scripts_that_nobody_says_to_be_there_are_loaded(void** state)
{
    (void)state;
    char many[8192] = "*1000\r\n";
    for (int i = 0; i < 1000; i++) strcat(many, ":1\r\n");
    const char* const rows[] = {":1\r\n", "*0\r\n", "*3\r\n$1\r\n1\r\n$-1\r\n:0\r\n", "*3\r\n:2\r\n:0\r\n:-1\r\n",
                                "+OK\r\n"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        speech self = {.exists = rows[i]};
        scripted* world = listen_to(&self);
        assert_true(self.loads > 0);
        assert_int_equal(scripted_stats(world).links_lost, 0);
    }
    speech self = {.exists = many};
    (void)listen_to(&self); /* and more than were asked about say nothing */
}

/* Who may not ask finds out by himself; and who has lost the script says it all again. */
static void rights_that_are_not_told_are_none_that_are_missing(void** state)
{
    (void)state;
    speech self = {.rights = "-ERR no\r\n", .times = 1000};
    scripted* world = listen_to(&self);
    assert_int_equal(scripted_stats(world).links_lost, 0);
    speech flushed = {.rights = "-NOSCRIPT No matching script. Please use EVAL.\r\n", .times = 1};
    world = listen_to(&flushed);
    assert_true(flushed.loads > 0);
}

static bool say_of_the_server(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    char text[256];
    const char* info = world->context;
    (void)count;
    if (!gh_str_equal(words[0], gh_str_literal("INFO"))) return false;
    snprintf(text, sizeof text, "$%zu\r\n%s\r\n", strlen(info), info);
    add_text(reply, text);
    return true;
}

/* A server is known by its run and by its history: of one that says but one of them, the epoch is told nothing. */
static void server_that_is_half_known_is_doubted_at_each_connection(void** state)
{
    (void)state;
    const char* const infos[] = {"redis_version:7.0.15\r\nrun_id:0123456789abcdef0123\r\n",
                                 "redis_version:7.0.15\r\nmaster_replid:0123456789abcdef0123\r\n",
                                 "redis_version:7.0.15\r\nrun_id:0123456789abcdef0123\r\nmaster_replid:0123\r\n",
                                 "redis_version:7.0.15\r\n"};
    for (size_t i = 0; i < sizeof infos / sizeof infos[0]; i++)
    {
        scripted* world = scripted_new();
        world->context = (void*)(uintptr_t)infos[i];
        world->answer = say_of_the_server;
        scripted_start_ready(world, NULL);
        assert_int_equal(scripted_stats(world).store_doubts, 0);
        for (uint64_t doubts = 1; doubts < 4; doubts++)
        {
            scripted_say(world, "+OK\r\n"); /* which nobody has asked for */
            SCRIPTED_UNTIL(world, !gh_client_ready(world->client), MS, SECOND_US);
            SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
            assert_int_equal(scripted_stats(world).store_doubts, doubts);
        }
    }
}

TEST_FILE(handshake, cmocka_unit_test(versions_are_read_as_far_as_they_go),
          cmocka_unit_test(server_that_is_half_known_is_doubted_at_each_connection),
          cmocka_unit_test(scripts_that_nobody_says_to_be_there_are_loaded),
          cmocka_unit_test(rights_that_are_not_told_are_none_that_are_missing),
          cmocka_unit_test(epoch_of_another_shape_is_not_believed),
          cmocka_unit_test(digest_of_another_shape_is_not_believed),
          cmocka_unit_test(request_goes_again_after_a_digest_of_another_shape),
          cmocka_unit_test(request_without_a_digest_is_given_up), cmocka_unit_test(clock_of_the_store_may_be_anything));
