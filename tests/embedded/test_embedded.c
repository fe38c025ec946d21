/* Tests of guildhall/embedded.h: clients whose store is in their own process. */

#include "guildhall/embedded.h"
#include "support/cleanup.h"
#include "support/scene/everything.h"
#include "support/scene/game.h"

#include <stdio.h>
#include <string.h>

#define DOOR gh_str_literal("door")

static void free_store(void* embedded)
{
    gh_embedded_free(embedded);
}

/* Gone after the test, behind its games. */
static gh_embedded* start_store(const gh_embedded_config* config)
{
    gh_embedded* embedded = gh_embedded_new(config, gh_platform_default());
    assert_non_null(embedded);
    cleanup_add(free_store, embedded);
    return embedded;
}

static game* start_game(const gh_embedded* embedded)
{
    gh_client_config config = game_config("127.0.0.1:6379");
    game* self;
    config.prefix = gh_str_literal("gh");
    self = game_start_on(&config, gh_embedded_platform(embedded));
    GAME_UNTIL(gh_client_ready(self->client));
    return self;
}

static gh_str ask(gh_embedded* embedded, const char* a, const char* b)
{
    const gh_str words[2] = {gh_str_of(a), gh_str_of(b)};
    return gh_embedded_ask(embedded, words, b == NULL ? 1 : 2);
}

static void assert_answer(gh_embedded* embedded, const char* a, const char* b, const char* expected)
{
    const gh_str answer = ask(embedded, a, b);
    if (gh_str_equal(answer, gh_str_of(expected))) return;
    fail_msg("%s %s: \"%.*s\" is not \"%s\"", a, b == NULL ? "" : b, GH_STR_ARG(answer), expected);
}

/* ---- streams below zero -----------------------------------------------------------------------------------------

   The embedded store's streams are pointers. Where those are in the upper half of all addresses, with a tag in front as
   on phones, or on a machine of 32 bits, they are below zero as an intptr_t. */

typedef struct upper_half
{
    const gh_platform* inner;
    int open; /* now */
} upper_half;

static uint64_t upper_now_us(void* context)
{
    const upper_half* self = context;
    return self->inner->now_us(self->inner->context);
}

static bool upper_entropy(void* context, void* bytes, size_t size)
{
    const upper_half* self = context;
    return self->inner->entropy(self->inner->context, bytes, size);
}

static gh_status upper_open(void* context, const gh_address* address, intptr_t* stream)
{
    upper_half* self = context;
    const gh_status status = self->inner->open(self->inner->context, address, stream);
    if (status != GH_OK) return status;
    self->open++;
    *stream = ~*stream;
    assert_true(*stream < -1);
    return GH_PENDING;
}

static gh_status upper_connected(void* context, intptr_t stream)
{
    const upper_half* self = context;
    return self->inner->connected(self->inner->context, ~stream);
}

static int64_t upper_send(void* context, intptr_t stream, const void* bytes, size_t size)
{
    const upper_half* self = context;
    return self->inner->send(self->inner->context, ~stream, bytes, size);
}

static int64_t upper_receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    const upper_half* self = context;
    return self->inner->receive(self->inner->context, ~stream, bytes, size);
}

static void upper_close(void* context, intptr_t stream)
{
    upper_half* self = context;
    self->open--;
    self->inner->close(self->inner->context, ~stream);
}

static void streams_may_be_below_zero(void** state)
{
    static upper_half upper;
    static const gh_platform table = {.context = &upper,
                                      .now_us = upper_now_us,
                                      .entropy = upper_entropy,
                                      .open = upper_open,
                                      .connected = upper_connected,
                                      .send = upper_send,
                                      .receive = upper_receive,
                                      .close = upper_close};
    gh_embedded* embedded = start_store(NULL);
    gh_client_config config = game_config("127.0.0.1:6379");
    game* self;
    (void)state;
    upper = (upper_half){.inner = gh_embedded_platform(embedded)};
    self = game_start_on(&config, &table);
    for (int i = 0; i < 2; i++)
    {
        gh_client_handle handles[4];
        GAME_UNTIL(gh_client_ready(self->client) && gh_client_link_state(self->client, GH_LINK_WAKE) == GH_LINK_READY);
        assert_int_equal(upper.open, 2);
        assert_int_equal(gh_client_handles(self->client, handles, 4), 2);
        assert_true(handles[0].handle < -1 && handles[0].handle == gh_client_fd(self->client, GH_LINK_COMMANDS, NULL));
        gh_embedded_restart(embedded);
        GAME_UNTIL(!gh_client_ready(self->client));
    }
    game_end(self);
    assert_int_equal(upper.open, 0);
}

/* ---- what it is for ---------------------------------------------------------------------------------------------- */

static void two_clients_compete_for_a_lock(void** state)
{
    gh_embedded* embedded = start_store(NULL);
    game* first = start_game(embedded);
    game* second = start_game(embedded);
    gh_lock* held = GAME_NEW(first, gh_lock);
    gh_lock* waiting = GAME_NEW(second, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    (void)state;
    assert_status(gh_lock_begin(held, first->client, DOOR, &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&held->op) == GH_HELD);
    config.wait_us = 10 * SECOND_US;
    assert_status(gh_lock_begin(waiting, second->client, DOOR, &config), GH_OK);
    for (int i = 0; i < 20; i++) game_tick_all();
    assert_status(gh_op_poll(&waiting->op), GH_PENDING);
    gh_lock_release(held);
    GAME_UNTIL(gh_op_poll(&waiting->op) == GH_HELD);
    assert_true(waiting->fence > held->fence);
}

/* Every op of every system begins, is under way, and is let go. */
static void everything_of_guildhall_works(void** state)
{
    gh_embedded* embedded = start_store(NULL);
    game* owner = start_game(embedded);
    game* self = start_game(embedded);
    everything* all = everything_new(owner);
    (void)state;
    everything_begin(all, self->client, true);
    GAME_UNTIL(everything_use(all));
    everything_detach(all);
    assert_int_equal(self->errors_logged, 0);
    assert_int_equal(game_stats(self).protocol_errors, 0);
}

static void sanity_check_finds_nothing_to_warn_of(void** state)
{
    gh_embedded* embedded = start_store(NULL);
    game* self = start_game(embedded);
    (void)state;
    assert_int_equal(game_stats(self).warnings, 0);
    assert_int_equal(game_stats(self).server_version, 70015);
    assert_int_equal(self->warnings_logged, 0);
}

/* ---- what tests do with it --------------------------------------------------------------------------------------- */

static void flush_is_noticed(void** state)
{
    gh_embedded* embedded = start_store(NULL);
    game* self = start_game(embedded);
    gh_lock* lock = GAME_NEW(self, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    (void)state;
    assert_status(gh_lock_begin(lock, self->client, DOOR, &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    gh_embedded_flush(embedded);
    assert_answer(embedded, "DBSIZE", NULL, ":0\r\n");
    gh_embedded_restart(embedded);
    GAME_UNTIL(game_stats(self).store_resets == 1);
}

static void lease_outlives_a_restart(void** state)
{
    gh_embedded* embedded = start_store(NULL);
    game* self = start_game(embedded);
    gh_lock* lock = GAME_NEW(self, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    uint64_t fence;
    (void)state;
    assert_status(gh_lock_begin(lock, self->client, DOOR, &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    fence = lock->fence;
    gh_embedded_restart(embedded);
    GAME_UNTIL(!gh_client_ready(self->client));
    GAME_UNTIL(gh_client_ready(self->client));
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    assert_int_equal(lock->fence, fence);
    gh_lock_release(lock);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_OK);
}

static void while_it_is_down_links_are_refused(void** state)
{
    gh_embedded* embedded = start_store(NULL);
    game* self = start_game(embedded);
    (void)state;
    gh_embedded_set_down(embedded, true);
    GAME_UNTIL(!gh_client_ready(self->client));
    for (int i = 0; i < 50; i++) game_tick_all();
    assert_false(gh_client_ready(self->client));
    gh_embedded_set_down(embedded, false);
    GAME_UNTIL(gh_client_ready(self->client));
}

static uint64_t moment_us;

static uint64_t own_clock(void* context)
{
    (void)context;
    return moment_us;
}

/* A lease of ten seconds runs out in no time. */
static void time_is_what_the_clock_says(void** state)
{
    gh_embedded_config config = gh_embedded_config_default();
    const gh_str words[5] = {gh_str_literal("SET"), gh_str_literal("key"), gh_str_literal("value"),
                             gh_str_literal("PX"), gh_str_literal("10000")};
    gh_embedded* embedded;
    (void)state;
    config.unix_us = own_clock;
    moment_us = UINT64_C(1700000000123456);
    embedded = start_store(&config);
    assert_answer(embedded, "TIME", NULL, "*2\r\n$10\r\n1700000000\r\n$6\r\n123456\r\n");
    assert_true(gh_str_equal(gh_embedded_ask(embedded, words, 5), gh_str_literal("+OK\r\n")));
    moment_us += 10 * SECOND_US;
    assert_answer(embedded, "GET", "key", "$5\r\nvalue\r\n");
    moment_us += 1000;
    assert_answer(embedded, "GET", "key", "$-1\r\n");
}

/* HKEYS, and what it says goes into HMGET, whose reply is longer than the one before. */
static void reply_may_be_asked_with(void** state)
{
    static const char* const keys = "*2\r\n$1\r\na\r\n$1\r\nb\r\n";
    static const char* const values = "*2\r\n$20\r\n11111111111111111111\r\n$1\r\n2\r\n";
    const gh_str set[] = {gh_str_literal("HSET"), gh_str_literal("h"),
                          gh_str_literal("a"),    gh_str_literal("11111111111111111111"),
                          gh_str_literal("b"),    gh_str_literal("2")};
    gh_embedded* embedded = start_store(NULL);
    (void)state;
    assert_true(gh_str_equal(gh_embedded_ask(embedded, set, 6), gh_str_literal(":2\r\n")));
    for (int i = 0; i < 3; i++)
    {
        gh_str get[] = {gh_str_literal("HMGET"), gh_str_literal("h"), {NULL, 0}, {NULL, 0}};
        const gh_str said = ask(embedded, "HKEYS", "h");
        assert_true(gh_str_equal(said, gh_str_of(keys)));
        get[2] = gh_str_make(said.bytes + 8, 1);
        get[3] = gh_str_make(said.bytes + 15, 1);
        assert_true(gh_str_equal(gh_embedded_ask(embedded, get, 4), gh_str_of(values)));
        assert_true(gh_str_equal(said, gh_str_of(keys)));
    }
}

static void same_seed_gives_the_same_ids(void** state)
{
    gh_embedded_config config = gh_embedded_config_default();
    char first[512];
    gh_str info;
    (void)state;
    config.unix_us = own_clock;
    config.seed = 7;
    info = ask(start_store(&config), "INFO", "server");
    assert_true(info.size < sizeof first);
    memcpy(first, info.bytes, info.size);
    assert_true(gh_str_equal(ask(start_store(&config), "INFO", "server"), gh_str_make(first, info.size)));
    config.seed = 8;
    assert_false(gh_str_equal(ask(start_store(&config), "INFO", "server"), gh_str_make(first, info.size)));
}

static bool no_entropy(void* context, void* bytes, size_t size)
{
    (void)context;
    (void)bytes;
    (void)size;
    return false;
}

static void what_cannot_be_is_refused(void** state)
{
    gh_embedded_config config = gh_embedded_config_default();
    gh_platform without = *gh_platform_default();
    gh_embedded* embedded = start_store(NULL);
    (void)state;
    without.entropy = no_entropy;
    assert_null(gh_embedded_new(NULL, &without));
    config.version++;
    assert_null(gh_embedded_new(&config, gh_platform_default()));
    config.version--;
    config.struct_size--;
    assert_null(gh_embedded_new(&config, gh_platform_default()));
    assert_int_equal(gh_embedded_ask(embedded, NULL, 0).size, 0);
    assert_answer(embedded, "XADD", "key", "-ERR unknown command 'XADD', with args beginning with: 'key' \r\n");
    gh_embedded_free(NULL);
}

TEST_FILE(embedded, cmocka_unit_test(two_clients_compete_for_a_lock), cmocka_unit_test(everything_of_guildhall_works),
          cmocka_unit_test(sanity_check_finds_nothing_to_warn_of), cmocka_unit_test(flush_is_noticed),
          cmocka_unit_test(lease_outlives_a_restart), cmocka_unit_test(while_it_is_down_links_are_refused),
          cmocka_unit_test(time_is_what_the_clock_says), cmocka_unit_test(reply_may_be_asked_with),
          cmocka_unit_test(streams_may_be_below_zero), cmocka_unit_test(same_seed_gives_the_same_ids),
          cmocka_unit_test(what_cannot_be_is_refused));
