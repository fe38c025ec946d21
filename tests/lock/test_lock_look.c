/* Who has a lock, since when, and how many wait: what a look tells, and that it changes nothing. */

#include "support/faults/fault.h"
#include "support/process.h"
#include "support/scene/locks.h"
#include "support/server/redis_server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_US (3600 * SECOND_US)
#define STATE   "gh:{lock:sword}:s"
#define QUEUE   "gh:{lock:sword}:q"
#define TOKEN   "00000000000000aa:00000000000000bb"

static gh_lock* hold(game* from, const char* name, uint64_t lease_us)
{
    gh_lock* lock = lock_begun(from, name, lease_us, HOUR_US);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    return lock;
}

static gh_lock_look* look_at(game* from, const char* name, gh_status expected)
{
    gh_lock_look* look = GAME_NEW(from, gh_lock_look);
    assert_status(gh_lock_look_begin(look, from->client, gh_str_of(name), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&look->op) != GH_PENDING);
    assert_status(gh_op_poll(&look->op), expected);
    return look;
}

static uint64_t store_now_us(redis_server* server)
{
    redisReply* time = redis_server_command(server, "TIME");
    uint64_t now_us = strtoull(time->element[0]->str, NULL, 10) * SECOND_US + strtoull(time->element[1]->str, NULL, 10);
    freeReplyObject(time);
    return now_us;
}

/* A state that somebody has left; its fence and expiry are so far from now. */
static void leave(redis_server* server, int64_t fence_in_us, int64_t expiry_in_us, const char* state)
{
    int64_t now_us = (int64_t)store_now_us(server);
    char text[128];
    snprintf(text, sizeof(text), "%s %" PRId64 " %" PRId64 " %s", TOKEN, now_us + fence_in_us, now_us + expiry_in_us,
             state);
    redis_server_do(server, "SET " STATE " %s", text);
}

/* ---- what it tells --------------------------------------------------------------------------------------------- */

static void tells_who_has_it_since_when_and_how_many_wait(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    assert_int_equal(look_at(a, "sword", GH_GONE)->waiters, 0);
    uint64_t before_us = store_now_us(server);
    gh_lock* held = hold(b, "sword", HOUR_US);
    uint64_t after_us = store_now_us(server);
    gh_lock* waiter = lock_begun(a, "sword", HOUR_US, HOUR_US);
    GAME_UNTIL(waiter->position == 1);
    gh_lock_look* look = look_at(a, "sword", GH_OK);
    assert_int_equal(look->client, gh_client_id(b->client));
    assert_int_equal(look->fence, held->fence);
    assert_in_range(look->since_store_us, before_us, after_us);
    assert_in_range(look->held_us, 1, store_now_us(server) - look->since_store_us);
    assert_in_range(look->remaining_us, HOUR_US - look->held_us - 1, HOUR_US - 1);
    assert_int_equal(look->waiters, 1);
    assert_int_equal(look->quarantine_us, 0);
    assert_false(look->waiting);

    gh_lock_release(held);
    GAME_UNTIL(gh_op_poll(&waiter->op) == GH_HELD);
    look = look_at(b, "sword", GH_OK);
    assert_int_equal(look->client, gh_client_id(a->client));
    assert_int_equal(look->fence, waiter->fence);
    assert_int_equal(look->waiters, 0);
    gh_lock_release(waiter);
    GAME_UNTIL(gh_op_poll(&waiter->op) == GH_OK);
    assert_int_equal(look_at(b, "sword", GH_GONE)->waiters, 0);
}

static void tells_of_each_lock_of_a_set(void** state)
{
    (void)state;
    static const gh_str names[] = {GH_STR_INIT("sword"), GH_STR_INIT("gold of {jeff}")};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_lock_set* set = GAME_NEW(a, gh_lock_set);
    gh_lock* locks = GAME_NEW_ARRAY(a, gh_lock, 2);
    assert_status(gh_lock_set_begin(set, a->client, locks, names, 2, NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&set->op) == GH_HELD);
    for (int i = 0; i < 2; i++)
    {
        gh_lock_look* look = look_at(b, names[i].bytes, GH_OK);
        assert_int_equal(look->client, gh_client_id(a->client));
        assert_int_equal(look->fence, locks[i].fence);
    }
}

static void tells_of_a_turn_that_is_kept(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    leave(server, -(int64_t)SECOND_US, HOUR_US, "r 7");
    gh_lock_look* look = look_at(a, "sword", GH_OK);
    assert_true(look->waiting);
    assert_int_equal(look->client, 0xaa);
    assert_int_equal(look->fence, 0);
    assert_true(look->held_us >= SECOND_US);
    assert_in_range(look->remaining_us, 1, HOUR_US);
    assert_int_equal(look->waiters, 0); /* as many as there are, not as many as are counted */
    leave(server, -(int64_t)SECOND_US, -1, "r 0");
    look_at(a, "sword", GH_GONE);
}

/* What another process has, until it dies with it and its lease is over. */
static int hold_in_a_process(void* context, int results)
{
    game_forget_all();
    game* self = game_start(context);
    uint64_t id = gh_client_id(self->client);
    gh_lock* lock = GAME_NEW(self, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = SECOND_US;
    CHILD_CHECK(gh_lock_begin(lock, self->client, gh_str_literal("sword"), &config) == GH_OK);
    while (gh_op_poll(&lock->op) == GH_PENDING) game_tick_all();
    CHILD_CHECK(gh_op_poll(&lock->op) == GH_HELD);
    CHILD_CHECK(write(results, &id, sizeof(id)) == sizeof(id));
    while (gh_op_poll(&lock->op) == GH_HELD) game_tick_all();
    return 1;
}

static void sees_a_lease_that_is_over_as_free(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    uint64_t id = 0;
    char address[128];
    snprintf(address, sizeof(address), "%s", redis_server_address(server));
    child_process* holder = child_start(hold_in_a_process, address);
    assert_int_equal(child_read(holder, &id, sizeof(id)), sizeof(id));
    gh_lock_look* look = look_at(a, "sword", GH_OK);
    assert_int_equal(look->client, id);
    uint64_t fence = look->fence;
    uint64_t since_us = look->since_store_us;
    GAME_UNTIL(look_at(a, "sword", GH_OK)->held_us > 3 * SECOND_US / 2); /* its process has renewed it */
    look = look_at(a, "sword", GH_OK);
    assert_int_equal(look->fence, fence);
    assert_int_equal(look->since_store_us, since_us);
    assert_in_range(look->remaining_us, 1, SECOND_US);
    child_kill9(holder);
    uint64_t end_us = store_now_us(server) + SECOND_US;
    GAME_UNTIL(store_now_us(server) > end_us);
    look_at(a, "sword", GH_GONE);
    assert_non_null(strstr(redis_server_text(server, "GET " STATE), " h 0")); /* nobody has written there */
    redis_server_do(server, "ZADD " QUEUE " 1 " TOKEN);
    assert_int_equal(look_at(a, "sword", GH_GONE)->waiters, 1);
}

static void is_cancelled_at_once_although_it_was_sent(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock_look* look = look_at(a, "sword", GH_GONE); /* its script is loaded */
    assert_status(gh_lock_look_begin(look, a->client, gh_str_literal("sword"), NULL), GH_OK);
    game_tick(a);
    assert_int_equal(game_stats(a).requests_sent, 1);
    gh_op_cancel(&look->op);
    assert_status(gh_op_poll(&look->op), GH_CANCELLED);
    look_at(a, "sword", GH_GONE);
}

/* ---- clocks and losses ----------------------------------------------------------------------------------------- */

static void does_not_know_since_when_if_the_clock_went_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    leave(server, HOUR_US, 2 * HOUR_US, "h 0");
    gh_lock_look* look = look_at(a, "sword", GH_OK);
    assert_true(look->fence > store_now_us(server));
    assert_int_equal(look->since_store_us, 0);
    assert_int_equal(look->held_us, 0);
}

static void tells_how_long_a_quarantine_runs(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    gh_client_config config = game_config(redis_server_address(server));
    config.quarantine_us = HOUR_US;
    game* a = game_start_with(&config);
    game* b = game_start_ready(redis_server_address(server));
    assert_in_range(look_at(a, "sword", GH_GONE)->quarantine_us, HOUR_US / 2, HOUR_US);
    assert_int_equal(look_at(b, "sword", GH_GONE)->quarantine_us, 0); /* b waits for none */
    hold(b, "sword", HOUR_US);
    assert_in_range(look_at(a, "sword", GH_OK)->quarantine_us, HOUR_US / 2, HOUR_US);
    redis_server_shift_clock(server, 2 * (int64_t)HOUR_US);
    assert_int_equal(look_at(a, "sword", GH_GONE)->quarantine_us, 0);
    redis_server_do(server, "FLUSHALL"); /* the link stays: the look itself finds the store new */
    assert_in_range(look_at(a, "sword", GH_GONE)->quarantine_us, HOUR_US / 2, HOUR_US);
}

/* ---- keys ------------------------------------------------------------------------------------------------------ */

static long long changes(redis_server* server)
{
    long long count = redis_server_told(server, "INFO persistence", "rdb_changes_since_last_save:");
    assert_true(count >= 0);
    return count;
}

static void writes_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    const struct
    {
        int64_t expiry_in_us;
        const char* state;
        gh_status expected;
    } rows[] = {{HOUR_US, "h 1", GH_OK}, {-1, "h 1", GH_GONE},      {HOUR_US, "r 3", GH_OK},
                {-1, "r 3", GH_GONE},    {HOUR_US, "f 1", GH_GONE}, {HOUR_US, "h 1 00000000000000aa:1 *:2", GH_OK}};
    look_at(a, "sword", GH_GONE); /* its script is loaded */
    redis_server_do(server, "ZADD " QUEUE " 1 " TOKEN);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        leave(server, -1, rows[i].expiry_in_us, rows[i].state);
        redis_server_do(server, "PERSIST " STATE);
        long long before = changes(server);
        assert_int_equal(look_at(a, "sword", rows[i].expected)->waiters, 1);
        assert_int_equal(changes(server), before);
    }
    assert_int_equal(redis_server_keys(server), 3); /* the epoch */
}

static void garbage_is_corrupt(void** state)
{
    (void)state;
    static const char* const states[] = {
        "nonsense",
        "",
        TOKEN " 1 9007199254740991 x 0",
        TOKEN " 9007199254740991 9007199254740991 h 0", /* no fence comes behind it */
        TOKEN " 1 9007199254740992 h 0",
        TOKEN " 1 99999999999999999 h 0",
        TOKEN " 1 9007199254740991 h 9007199254740992",
        TOKEN " 1 9007199254740991 h 0 what is this",
        TOKEN " -1 9007199254740991 h 0",
        TOKEN " 1 9007199254740991 h",
        "- 1 9007199254740991 h 0", /* nobody cannot hold it */
        "aa:bb 1 9007199254740991 h 0",
        "00000000000000aa-00000000000000bb 1 9007199254740991 h 0",
        "00000000000000AA:00000000000000bb 1 9007199254740991 h 0",
        "00000000000000ax:00000000000000bb 1 9007199254740991 r 0",
        "00000000000000aa:00000000000000bbc 1 9007199254740991 h 0",
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
    {
        redis_server_do(server, "SET " STATE " %s", states[i]);
        look_at(a, "sword", GH_CORRUPT);
        assert_string_equal(redis_server_text(server, "GET " STATE), states[i]);
    }
    redis_server_do(server, "SET " STATE " %s", TOKEN " 1 9007199254740991 h 0");
    assert_int_equal(look_at(a, "sword", GH_OK)->fence, 1);
    redis_server_do(server, "SET " QUEUE " nonsense");
    look_at(a, "sword", GH_CORRUPT);
    redis_server_do(server, "DEL " QUEUE " " STATE);
    redis_server_do(server, "RPUSH " STATE " nonsense");
    look_at(a, "sword", GH_CORRUPT);
    assert_int_equal(game_stats(a).links_lost, 0);
}

static void more_waiters_than_ever_wait_are_corrupt(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    redis_server_do(server, "EVAL %s 1 " QUEUE,
                    "for i = 1, 100000, 1000 do local some = {} "
                    "for j = i, i + 999 do some[#some + 1] = j some[#some + 1] = j end "
                    "redis.call('ZADD', KEYS[1], unpack(some)) end");
    assert_int_equal(look_at(a, "sword", GH_GONE)->waiters, 100000);
    redis_server_do(server, "ZADD " QUEUE " 0 one");
    look_at(a, "sword", GH_CORRUPT);
}

/* ---- under faults ---------------------------------------------------------------------------------------------- */

typedef struct faulted_look
{
    gh_lock_look look;
    gh_lock* held;
} faulted_look;

static void prepare_look(fault_scene* scene)
{
    ((faulted_look*)scene->op)->held = hold(scene->other, scene->name, HOUR_US);
}

static void begin_look(fault_scene* scene)
{
    faulted_look* self = scene->op;
    gh_lock_look_config config = gh_lock_look_config_default();
    config.timeout_us = 60 * SECOND_US;
    assert_status(gh_lock_look_begin(&self->look, scene->game->client, fault_name(scene), &config), GH_OK);
}

static void audit_look(fault_scene* scene, gh_status status)
{
    faulted_look* self = scene->op;
    assert_int_equal(self->look.client, status == GH_OK ? gh_client_id(scene->other->client) : 0);
    assert_int_equal(self->look.fence, status == GH_OK ? self->held->fence : 0);
    gh_lock_release(self->held);
    GAME_UNTIL(gh_op_poll(&self->held->op) != GH_PENDING);
    assert_status(gh_op_poll(&self->held->op), GH_OK);
}

static const fault_operation look = {
    "llook", sizeof(faulted_look), 0, 3, prepare_look, begin_look, fault_poll_op, NULL, fault_cancel_op, audit_look};

FAULT_TESTS(look)
FAULT_CANCEL_TEST(look)

TEST_FILE(lock_look, cmocka_unit_test(tells_who_has_it_since_when_and_how_many_wait),
          cmocka_unit_test(tells_of_each_lock_of_a_set), cmocka_unit_test(tells_of_a_turn_that_is_kept),
          cmocka_unit_test(sees_a_lease_that_is_over_as_free),
          cmocka_unit_test(is_cancelled_at_once_although_it_was_sent),
          cmocka_unit_test(does_not_know_since_when_if_the_clock_went_back),
          cmocka_unit_test(tells_how_long_a_quarantine_runs), cmocka_unit_test(writes_nothing),
          cmocka_unit_test(garbage_is_corrupt), cmocka_unit_test(more_waiters_than_ever_wait_are_corrupt),
          FAULT_TEST_LIST(look), FAULT_CANCEL_TEST_LIST(look));
