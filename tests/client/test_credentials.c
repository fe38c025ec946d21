/* The credentials hook: when it is asked, what becomes of each of its answers, and that nothing of them stays. */

#include "support/buffer.h"
#include "support/scene/game.h"
#include "support/server/made_cluster.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000)

#define USER     "gamemaster"
#define PASSWORD "Hunter2-Secret"

/* Pending for so many calls, then that status and these strings. */
typedef struct keeper
{
    unsigned pending;
    gh_status status;
    gh_str user;
    gh_str password;
    unsigned calls;
    bool came_in_empty;
} keeper;

static gh_status ask_keeper(void* context, gh_str* user, gh_str* password)
{
    keeper* self = context;
    self->calls++;
    self->came_in_empty = user->size == 0 && password->size == 0;
    if (self->pending > 0)
    {
        self->pending--;
        return GH_PENDING;
    }
    *user = self->user;
    *password = self->password;
    return self->status;
}

/* What the peer was told last to log in with, "user/password", and how often; it may answer errors. */
typedef struct porter
{
    keeper keeper;
    char heard[2048];
    unsigned logins;
    const char* error; /* of each "A", and of AUTH: bit n stands for the n-th one */
    unsigned errors;
} porter;

static bool hear_login(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    porter* self = world->context;
    bool is_login = gh_str_equal(words[0], gh_str_literal("AUTH"));
    bool is_refused = gh_str_equal(words[0], gh_str_literal("A"));
    if (is_login)
    {
        is_refused = self->logins < 32 && (self->errors >> self->logins & 1) != 0;
        self->logins++;
        snprintf(self->heard, sizeof(self->heard), "%.*s/%.*s", count == 3 ? (int)words[1].size : 0, words[1].bytes,
                 (int)words[count - 1].size, words[count - 1].bytes);
    }
    if (self->error == NULL || !is_refused) return false;
    buffer_add(reply, "-", 1);
    buffer_add(reply, self->error, strlen(self->error));
    buffer_add(reply, "\r\n", 2);
    return true;
}

static scripted* world_with(gh_client_config* config)
{
    scripted* world = scripted_new();
    porter* self = SCRIPTED_NEW(world, porter);
    self->keeper.status = GH_OK;
    self->keeper.user = gh_str_literal(USER);
    self->keeper.password = gh_str_literal(PASSWORD);
    world->context = self;
    world->answer = hear_login;
    *config = scripted_config();
    config->credentials = ask_keeper;
    config->credentials_context = &self->keeper;
    return world;
}

static gh_link_state commands(const scripted* world)
{
    return gh_client_link_state(world->client, GH_LINK_COMMANDS);
}

static gh_link_state wake(const scripted* world)
{
    return gh_client_link_state(world->client, GH_LINK_WAKE);
}

/* ---- when it is asked -------------------------------------------------------------------------------------------- */

static void each_hand_shake_of_each_link_asks(void** state)
{
    (void)state;
    gh_client_config config;
    scripted* world = world_with(&config);
    porter* self = world->context;
    config.wake = true;
    scripted_start_ready(world, &config);
    SCRIPTED_UNTIL(world, wake(world) == GH_LINK_READY, MS, SECOND_US);
    assert_int_equal(self->keeper.calls, 2);
    assert_true(self->keeper.came_in_empty);
    assert_int_equal(self->logins, 2);
    assert_string_equal(self->heard, USER "/" PASSWORD);

    self->keeper.user = gh_str_make(NULL, 0);
    self->keeper.password = gh_str_literal("another");
    for (int i = 0; i < 2; i++) world->streams[i].ended = true;
    SCRIPTED_UNTIL(world, !gh_client_ready(world->client), MS, SECOND_US);
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
    SCRIPTED_UNTIL(world, self->logins == 4, MS, SECOND_US);
    assert_string_equal(self->heard, "/another");
    assert_int_equal(self->keeper.calls, 4);
    for (int i = 0; i < 1000; i++) scripted_tick(world, MS);
    assert_int_equal(self->keeper.calls, 4);
}

static void nobody_is_asked_before_there_is_a_connection(void** state)
{
    (void)state;
    gh_client_config config;
    scripted* world = world_with(&config);
    porter* self = world->context;
    world->open_status = world->connected_status = GH_PENDING;
    scripted_start(world, &config);
    for (int i = 0; i < 10; i++) scripted_tick(world, MS);
    assert_int_equal(self->keeper.calls, 0);
    world->connected_status = GH_OK;
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
    assert_int_equal(self->keeper.calls, 1);
}

static void pending_is_asked_again_in_each_tick(void** state)
{
    (void)state;
    gh_client_config config;
    scripted* world = world_with(&config);
    porter* self = world->context;
    self->keeper.pending = 5;
    scripted_start(world, &config);
    for (unsigned i = 1; i <= 5; i++)
    {
        scripted_tick(world, 16 * MS);
        assert_int_equal(self->keeper.calls, i);
        assert_int_equal(commands(world), GH_LINK_RESOLVING);
        assert_int_equal(world->sends, 0);
    }
    scripted_tick(world, 16 * MS);
    assert_int_equal(self->keeper.calls, 6);
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
    assert_int_equal(world->opens, 1);
    assert_int_equal(self->logins, 1);
}

/* For the wake link alone, when the other is up. */
static void pending_holds_back_its_own_link(void** state)
{
    (void)state;
    gh_client_config config;
    scripted* world = world_with(&config);
    porter* self = world->context;
    config.wake = true;
    scripted_start(world, &config);
    SCRIPTED_UNTIL(world, self->logins == 1, MS, SECOND_US);
    self->keeper.pending = 5;
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
    gh_command* op = scripted_ask(world, "A", SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&op->op) != GH_PENDING, MS, SECOND_US);
    SCRIPTED_UNTIL(world, wake(world) == GH_LINK_READY, MS, SECOND_US);
    assert_int_equal(self->keeper.calls, 7);
    assert_int_equal(self->logins, 2);
}

/* What a peer says unasked is no answer to what was not said yet: the attempt before has left two to be awaited. */
static void nothing_is_heard_before_the_credentials_are_there(void** state)
{
    (void)state;
    gh_client_config config;
    scripted* world = world_with(&config);
    porter* self = world->context;
    config.wake = true;
    self->error = "LOADING Redis is loading";
    self->errors = 2;
    scripted_start(world, &config);
    SCRIPTED_UNTIL(world, self->logins == 2, MS, SECOND_US);
    self->keeper.pending = UINT32_MAX;
    SCRIPTED_UNTIL(world, wake(world) == GH_LINK_RESOLVING, MS, SECOND_US);
    buffer_add(&world->streams[1].replies, "+OK\r\n+OK\r\n", 10);
    for (int i = 0; i < 20; i++) scripted_tick(world, MS);
    assert_int_equal(wake(world), GH_LINK_RESOLVING);
    self->keeper.pending = 0;
    SCRIPTED_UNTIL(world, wake(world) == GH_LINK_READY, MS, SECOND_US);
    assert_int_equal(self->logins, 3);
}

/* Who sleeps until gh_next_deadline must not sleep through the answer. */
static void pending_hook_is_asked_by_those_who_sleep_too(void** state)
{
    (void)state;
    gh_client_config config;
    scripted* world = world_with(&config);
    porter* self = world->context;
    self->keeper.pending = 3;
    config.wake = true;
    scripted_start(world, &config);
    uint64_t begin_us = world->now_us;
    for (int ticks = 0; ticks < 1000 && self->logins == 0; ticks++)
    {
        uint64_t deadline_us = gh_next_deadline(world->client);
        scripted_tick(world, deadline_us > world->now_us ? deadline_us - world->now_us : 1);
    }
    assert_int_equal(self->logins, 1);
    assert_int_equal(self->keeper.calls, 4);
    assert_true(world->now_us - begin_us < SECOND_US / 10);
}

/* Who sleeps until a stream is readable would be woken again and again by one that nobody reads. */
static void pending_link_that_is_closed_is_lost_at_once(void** state)
{
    (void)state;
    gh_client_config config;
    scripted* world = world_with(&config);
    porter* self = world->context;
    config.wake = true;
    scripted_start(world, &config);
    SCRIPTED_UNTIL(world, wake(world) == GH_LINK_READY, MS, SECOND_US);
    self->keeper.pending = UINT32_MAX;
    for (int i = 0; i < 2; i++) world->streams[i].ended = true;
    SCRIPTED_UNTIL(world, wake(world) == GH_LINK_RESOLVING, MS, SECOND_US);
    SCRIPTED_UNTIL(world, commands(world) == GH_LINK_RESOLVING, MS, SECOND_US);
    for (int i = 0; i < 2; i++) buffer_add(&world->streams[i].replies, "-ERR max number of clients reached\r\n", 36);
    scripted_tick(world, MS);
    for (int i = 0; i < 2; i++) assert_int_equal(world->streams[i].replies.size, 0);
    assert_int_equal(commands(world), GH_LINK_RESOLVING);
    for (int i = 0; i < 2; i++) world->streams[i].ended = true;
    scripted_tick(world, MS);
    assert_int_equal(world->opens, world->closes);
    assert_int_equal(commands(world), GH_LINK_BACKOFF);
    assert_int_equal(wake(world), GH_LINK_BACKOFF);
}

static void pending_for_ever_is_given_up_in_time(void** state)
{
    (void)state;
    gh_client_config config;
    scripted* world = world_with(&config);
    porter* self = world->context;
    self->keeper.pending = UINT32_MAX;
    scripted_start(world, &config);
    uint64_t begin_us = world->now_us + MS;
    SCRIPTED_UNTIL(world, commands(world) == GH_LINK_BACKOFF, MS, 5 * SECOND_US);
    assert_in_range(world->now_us - begin_us, config.connect_timeout_us, config.connect_timeout_us + 2 * MS);
    assert_true(scripted_logged(world, "W command link: no usable credentials"));
    assert_int_equal(world->opens, world->closes);
    assert_int_equal(world->sends, 0);
    self->keeper.pending = 0;
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, 2 * SECOND_US);
}

/* ---- what it answers --------------------------------------------------------------------------------------------- */

static void failures_are_tried_again_at_leisure(void** state)
{
    (void)state;
    const gh_status statuses[] = {GH_REFUSED, GH_ERROR, GH_EMPTY, GH_TIMEOUT, (gh_status)77};
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
    {
        gh_client_config config;
        scripted* world = world_with(&config);
        porter* self = world->context;
        self->keeper.status = statuses[i];
        scripted_start(world, &config);
        for (int j = 0; j < 10000; j++) scripted_tick(world, MS);
        assert_in_range(self->keeper.calls, 10, 30);
        assert_int_equal(world->sends, 0);
        assert_int_equal(world->opens, world->closes);
        assert_true(scripted_logged(world, "W command link: no usable credentials"));
        self->keeper.status = GH_OK;
        SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, 2 * SECOND_US);
    }
}

static void answers_have_bounds(void** state)
{
    (void)state;
    char long_text[600];
    memset(long_text, 'a', sizeof(long_text));
    const struct
    {
        gh_str user;
        gh_str password;
        bool taken;
    } rows[] = {
        {gh_str_make(long_text, 128), gh_str_make(long_text, 512), true},
        {gh_str_make(long_text, 129), gh_str_make(long_text, 512), false},
        {gh_str_make(long_text, 128), gh_str_make(long_text, 513), false},
        {gh_str_make(NULL, 0), gh_str_make(long_text, SIZE_MAX), false},
        {gh_str_make(long_text, SIZE_MAX), gh_str_literal("a"), false},
        {gh_str_make(NULL, 3), gh_str_literal("a"), false},
        {gh_str_literal("a"), gh_str_make(NULL, 3), false},
        {gh_str_literal("a"), gh_str_literal(""), false},
        {gh_str_literal(""), gh_str_literal("a\r\n\0b"), true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        gh_client_config config;
        scripted* world = world_with(&config);
        porter* self = world->context;
        self->keeper.user = rows[i].user;
        self->keeper.password = rows[i].password;
        config.wake = true;
        scripted_start(world, &config);
        SCRIPTED_UNTIL(world, self->keeper.calls > 1, MS, SECOND_US);
        for (int j = 0; j < 50; j++) scripted_tick(world, MS);
        if ((self->logins > 0) != rows[i].taken) fail_msg("row %zu: %u logins", i, self->logins);
        assert_int_equal(world->sends > 0, rows[i].taken);
        assert_int_equal(wake(world) == GH_LINK_READY, rows[i].taken);
    }
}

static void no_password_is_no_login(void** state)
{
    (void)state;
    gh_client_config config;
    scripted* world = world_with(&config);
    porter* self = world->context;
    self->keeper.user = self->keeper.password = gh_str_make(NULL, 0);
    config.wake = true;
    scripted_start_ready(world, &config);
    SCRIPTED_UNTIL(world, wake(world) == GH_LINK_READY, MS, SECOND_US);
    assert_int_equal(self->keeper.calls, 2);
    assert_int_equal(self->logins, 0);
}

static void config_of_a_hook_has_no_other_password(void** state)
{
    (void)state;
    gh_client_config config;
    scripted* world = world_with(&config);
    porter* self = world->context;
    config.user = gh_str_literal("somebody");
    config.password = gh_str_literal("else");
    scripted_start_ready(world, &config);
    assert_true(self->keeper.came_in_empty);
    assert_string_equal(self->heard, USER "/" PASSWORD);
    config.password = gh_str_make(NULL, 0); /* and its bounds are what they are */
    assert_int_equal(gh_client_memory(&config), 0);
}

/* ---- nothing of it stays ----------------------------------------------------------------------------------------- */

static bool is_in(const void* bytes, size_t size, const char* part)
{
    for (size_t at = 0; at + strlen(part) <= size; at++)
        if (memcmp((const char*)bytes + at, part, strlen(part)) == 0) return true;
    return false;
}

static void assert_nothing_is_left(const scripted* world, const gh_client_config* config)
{
    size_t size = gh_client_memory(config);
    assert_false(is_in(world->client, size, PASSWORD));
    assert_false(is_in(world->client, size, USER));
}

static void password_is_wiped_as_soon_as_it_was_sent(void** state)
{
    (void)state;
    const size_t sizes[] = {SIZE_MAX, 7, 600};
    for (size_t i = 0; i < 3; i++)
    {
        gh_client_config config;
        scripted* world = world_with(&config);
        config.wake = true;
        scripted_start(world, &config);
        world->send_max = sizes[i];
        SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, 60 * SECOND_US);
        SCRIPTED_UNTIL(world, wake(world) == GH_LINK_READY, MS, 60 * SECOND_US);
        assert_nothing_is_left(world, &config);
    }
}

static void password_that_could_not_be_sent_is_wiped(void** state)
{
    (void)state;
    for (size_t sent = 0; sent < 80; sent += 11)
    {
        gh_client_config config;
        scripted* world = world_with(&config);
        config.connect_timeout_us = 50 * MS;
        config.backoff_min_us = config.backoff_max_us = 10 * SECOND_US;
        scripted_start(world, &config);
        world->send_max = sent;
        scripted_tick(world, MS);
        world->send_max = 0;
        SCRIPTED_UNTIL(world, commands(world) == GH_LINK_BACKOFF, MS, SECOND_US);
        assert_nothing_is_left(world, &config);
    }
}

static const char* const echoes[] = {
    "ERR unknown command 'AUTH', with args beginning with: '" USER "' '" PASSWORD "' ",
    "ERR unknown command AUTH " USER " " PASSWORD,
    "WRONGPASS invalid pair " USER "/" PASSWORD,
    "LOADING Redis is loading " PASSWORD,
    PASSWORD,
    USER,
};

static void password_that_a_server_repeats_is_nowhere(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(echoes) / sizeof(echoes[0]); i++)
    {
        gh_client_config config;
        scripted* world = world_with(&config);
        porter* self = world->context;
        config.wake = true;
        config.backoff_min_us = config.backoff_max_us = MS;
        self->error = echoes[i];
        self->errors = 3 + 8 + 16; /* two of the command link, and then two of the wake link */
        scripted_start(world, &config);
        SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
        SCRIPTED_UNTIL(world, wake(world) == GH_LINK_READY, MS, SECOND_US);
        assert_true(scripted_logged(world, "hand-shake: "));
        assert_true(scripted_logged(world, "W wake link: "));
        for (size_t at = 0; at + 4 <= strlen(PASSWORD); at++)
        {
            char piece[5] = {PASSWORD[at], PASSWORD[at + 1], PASSWORD[at + 2], PASSWORD[at + 3], '\0'};
            assert_false(scripted_logged(world, piece));
        }
        assert_false(scripted_logged(world, USER));
        assert_nothing_is_left(world, &config);
    }
}

/* What helps to mend it is said: Redis' own phrase; and behind a hand-shake what a server says is shown as ever. */
static void phrases_are_shown(void** state)
{
    (void)state;
    gh_client_config config;
    scripted* world = world_with(&config);
    porter* self = world->context;
    self->error = "WRONGPASS invalid username-password pair or user is disabled.";
    self->errors = 1;
    scripted_start(world, &config);
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
    assert_true(scripted_logged(world, "E hand-shake: WRONGPASS[...]\n"));
    self->error = "NOPERM this user has no permissions to run the 'set' command";
    gh_command* op = scripted_ask(world, "A", SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&op->op) != GH_PENDING, MS, 2 * SECOND_US);
    assert_true(scripted_logged(world, "E command: refused: NOPERM this user has no permissions to run the 'set'"));
}

/* Of many nodes those that wait for it keep no buffers from the others. */
static void pending_holds_back_no_other_node(void** state)
{
    (void)state;
    keeper self = {.status = GH_OK, .password = gh_str_literal(PASSWORD)};
    made_cluster* fleet = made_cluster_new(5);
    fleet->config.wake = fleet->config.wake_sharded = true;
    fleet->config.credentials = ask_keeper;
    fleet->config.credentials_context = &self;
    fleet->config.connect_timeout_us = 60 * SECOND_US;
    made_cluster_start(fleet);
    gh_lock* lock = made_cluster_want(fleet, 0, 10 * SECOND_US);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, 5 * MS, 10 * SECOND_US);
    self.status = GH_PENDING;
    for (unsigned node = 1; node < 5; node++) (void)made_cluster_want(fleet, node, 10 * SECOND_US);
    for (int i = 0; i < 100; i++) made_cluster_tick(fleet, 5 * MS);
    gh_lock_release(lock);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_OK, 5 * MS, SECOND_US);
}

/* ---- with a real server ------------------------------------------------------------------------------------------ */

static void password_that_changes_is_followed(void** state)
{
    (void)state;
    keeper self = {.status = GH_OK, .user = gh_str_literal("alice"), .password = gh_str_literal("first")};
    redis_server* server = redis_server_start(NULL);
    redis_server_do(server, "ACL SETUSER alice reset on >first ~* &* +@all");
    gh_client_config config = game_config(redis_server_address(server));
    config.credentials = ask_keeper;
    config.credentials_context = &self;
    game* a = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(a->client) && gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);

    redis_server_do(server, "ACL SETUSER alice resetpass >second");
    redis_server_do(server, "CLIENT KILL USER alice");
    self.status = GH_PENDING; /* the new one takes its time */
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_COMMANDS) == GH_LINK_RESOLVING);
    self.status = GH_OK;
    self.password = gh_str_literal("second");
    GAME_UNTIL(gh_client_ready(a->client) && gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_string_equal(redis_server_text(server, "ACL WHOAMI"), "default");
    assert_true(strstr(redis_server_text(server, "CLIENT LIST"), "user=alice") != NULL);
    assert_int_equal(a->errors_logged, 0); /* the old one was never tried again */

    redis_server_do(server, "ACL SETUSER alice resetpass >third");
    redis_server_do(server, "CLIENT KILL USER alice");
    GAME_UNTIL(a->errors_logged > 0); /* "second" is refused, until the hook has heard of it */
    assert_true(strstr(a->last_error, "WRONGPASS") != NULL);
    self.password = gh_str_literal("third");
    GAME_UNTIL(gh_client_ready(a->client));
}

TEST_FILE(credentials, cmocka_unit_test(each_hand_shake_of_each_link_asks),
          cmocka_unit_test(nobody_is_asked_before_there_is_a_connection),
          cmocka_unit_test(pending_is_asked_again_in_each_tick), cmocka_unit_test(pending_holds_back_its_own_link),
          cmocka_unit_test(pending_holds_back_no_other_node),
          cmocka_unit_test(nothing_is_heard_before_the_credentials_are_there),
          cmocka_unit_test(pending_hook_is_asked_by_those_who_sleep_too),
          cmocka_unit_test(pending_link_that_is_closed_is_lost_at_once),
          cmocka_unit_test(pending_for_ever_is_given_up_in_time), cmocka_unit_test(failures_are_tried_again_at_leisure),
          cmocka_unit_test(answers_have_bounds), cmocka_unit_test(no_password_is_no_login),
          cmocka_unit_test(config_of_a_hook_has_no_other_password),
          cmocka_unit_test(password_is_wiped_as_soon_as_it_was_sent),
          cmocka_unit_test(password_that_could_not_be_sent_is_wiped),
          cmocka_unit_test(password_that_a_server_repeats_is_nowhere), cmocka_unit_test(phrases_are_shown),
          cmocka_unit_test(password_that_changes_is_followed));
