/* Semaphores as objects: what init refuses, each begin says; a value, which nothing needs behind a begin. */

#include "support/scene/permits.h"

#include <string.h>

#define ARENA gh_str_literal("arena")

static void begins_must_say(game* a, const gh_semaphore* bad, gh_status status)
{
    gh_permit* permit = GAME_NEW(a, gh_permit);
    gh_semaphore_limit* limit = GAME_NEW(a, gh_semaphore_limit);
    gh_semaphore_look* look = GAME_NEW(a, gh_semaphore_look);
    uint64_t begun = game_stats(a).ops_begun;
    ON_BAD(a, permit, gh_permit_begin(permit, bad, NULL), status);
    ON_BAD(a, limit, gh_semaphore_limit_begin(limit, bad, 1), status);
    ON_BAD(a, look, gh_semaphore_look_begin(look, bad, NULL, 0), status);
    assert_int_equal(game_stats(a).ops_begun, begun);
}

static void must_be_refused(game* a, gh_client* client, gh_str name, const gh_semaphore_config* config,
                            gh_status status)
{
    gh_semaphore bad;
    assert_status(gh_semaphore_init(&bad, client, name, config), status);
    begins_must_say(a, &bad, status);
    bad = semaphore_made(a->client, ARENA, 1); /* made again, it is a good one */
    gh_semaphore_look* look = GAME_NEW(a, gh_semaphore_look);
    assert_status(gh_semaphore_look_begin(look, &bad, NULL, 0), GH_OK);
    gh_op_cancel(&look->op);
}

static void bad_semaphores_are_told_by_init_and_by_begin(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_semaphore_config config = gh_semaphore_config_default();
    gh_semaphore zeroed = {0};
    char bytes[GH_NAME_SIZE_MAX + 1];
    memset(bytes, 'x', sizeof(bytes));
    assert_int_equal(config.limit, 0);
    assert_int_equal(config.timeout_us, 5 * SECOND_US);
    assert_status(gh_semaphore_init(NULL, a->client, ARENA, NULL), GH_INVALID_OBJECT);
    begins_must_say(a, NULL, GH_INVALID_OBJECT);
    begins_must_say(a, &zeroed, GH_INVALID_OBJECT);
    must_be_refused(a, NULL, ARENA, NULL, GH_INVALID_CLIENT);
    const gh_str names[] = {{"", 0}, {NULL, 3}, {bytes, sizeof(bytes)}, {bytes, SIZE_MAX}};
    for (int i = 0; i < 4; i++) must_be_refused(a, a->client, names[i], &config, GH_INVALID_NAME);
    static const uint32_t limits[] = {GH_SEMAPHORE_LIMIT_MAX + 1, UINT32_MAX};
    for (int i = 0; i < 2; i++)
    {
        config.limit = limits[i];
        must_be_refused(a, a->client, ARENA, &config, GH_INVALID_LIMIT);
    }
    config.limit = GH_SEMAPHORE_LIMIT_MAX;
    static const uint64_t timeouts[] = {0, 999, 60 * SECOND_US + 1, UINT64_MAX};
    for (int i = 0; i < 4; i++)
    {
        config.timeout_us = timeouts[i];
        must_be_refused(a, a->client, ARENA, &config, GH_INVALID_TIMEOUT);
    }
    memset(&config, 0, sizeof(config));
    must_be_refused(a, a->client, ARENA, &config, GH_INVALID_CONFIG);
}

/* Each op has begun on a semaphore that is nothing any more when the store is asked. */
static void semaphore_is_a_value(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_semaphore first = semaphore_made(a->client, ARENA, 1);
    gh_semaphore copy = first;
    gh_semaphore* moved = GAME_NEW(a, gh_semaphore);
    gh_permit* held = GAME_NEW(a, gh_permit);
    gh_permit* waiter = GAME_NEW(a, gh_permit);
    gh_semaphore_limit* raise = GAME_NEW(a, gh_semaphore_limit);
    gh_semaphore_look* look = GAME_NEW(a, gh_semaphore_look);
    gh_permit_holder* holders = GAME_NEW_ARRAY(a, gh_permit_holder, 2);
    gh_permit_config patient = permit_config(1, 60 * SECOND_US, 60 * SECOND_US);
    assert_status(gh_permit_begin(held, &first, &patient), GH_OK);
    memset(&patient, '!', sizeof(patient));
    memset(&first, '!', sizeof(first));
    assert_status(permit_settle(held), GH_HELD);
    patient = permit_config(1, 60 * SECOND_US, 60 * SECOND_US);
    assert_status(gh_permit_begin(waiter, &copy, &patient), GH_OK);
    memcpy(moved, &copy, sizeof(copy));
    memset(&copy, '!', sizeof(copy));
    GAME_UNTIL(waiter->position == 1);
    assert_status(gh_semaphore_limit_begin(raise, moved, 2), GH_OK);
    first = *moved;
    memset(moved, '!', sizeof(*moved));
    GAME_UNTIL(gh_op_poll(&raise->op) != GH_PENDING);
    assert_status(gh_op_poll(&raise->op), GH_OK);
    assert_status(permit_settle(waiter), GH_HELD);
    assert_status(gh_semaphore_look_begin(look, &first, holders, 2), GH_OK);
    memset(&first, '!', sizeof(first));
    GAME_UNTIL(gh_op_poll(&look->op) != GH_PENDING);
    assert_status(gh_op_poll(&look->op), GH_OK);
    assert_int_equal(look->limit, 2);
    assert_int_equal(look->count, 2);
    assert_status(permit_give_back(held), GH_OK);
    assert_status(permit_give_back(waiter), GH_OK);
    assert_true(semaphore_stored(server, "arena").exists);
    assert_int_equal(redis_server_integer(server, "EVAL %s 0", "return #redis.call('KEYS', '*!!*')"), 0);
}

/* The first who asks brings the limit along. Who says another is told the one that counts, granted or not; and one
   that says none looks and sets it, but wants no permits. */
static void limit_of_the_store_is_told(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_semaphore three = semaphore_made(a->client, ARENA, 3);
    gh_semaphore nine = semaphore_made(a->client, ARENA, 9);
    gh_semaphore unsaid;
    gh_permit* permits[3];
    gh_permit_config all = permit_config(3, 60 * SECOND_US, 0);
    gh_permit_config more = permit_config(4, 60 * SECOND_US, 0);
    assert_status(gh_semaphore_init(&unsaid, a->client, ARENA, NULL), GH_OK);
    for (int i = 0; i < 3; i++) permits[i] = GAME_NEW(a, gh_permit);
    gh_semaphore_look* look = GAME_NEW(a, gh_semaphore_look);
    assert_status(gh_semaphore_look_begin(look, &unsaid, NULL, 0), GH_OK);
    GAME_UNTIL(gh_op_poll(&look->op) != GH_PENDING);
    assert_status(gh_op_poll(&look->op), GH_GONE);
    assert_status(gh_permit_begin(permits[0], &unsaid, NULL), GH_INVALID_LIMIT);
    assert_status(gh_permit_begin(permits[0], &three, &more), GH_INVALID_PERMITS);
    assert_status(gh_permit_begin(permits[0], &three, &all), GH_OK);
    assert_status(permit_settle(permits[0]), GH_HELD);
    assert_int_equal(permits[0]->limit, 3);
    assert_status(gh_permit_begin(permits[1], &nine, &all), GH_OK);
    assert_status(permit_settle(permits[1]), GH_BUSY);
    assert_int_equal(permits[1]->limit, 3);
    assert_status(gh_permit_begin(permits[2], &nine, &more), GH_OK);
    assert_status(permit_settle(permits[2]), GH_TOO_LARGE);
    assert_int_equal(permits[2]->limit, 3);
    gh_semaphore_limit* raise = GAME_NEW(a, gh_semaphore_limit);
    assert_status(gh_semaphore_limit_begin(raise, &unsaid, 6), GH_OK);
    GAME_UNTIL(gh_op_poll(&raise->op) != GH_PENDING);
    assert_status(gh_op_poll(&raise->op), GH_OK);
    assert_status(gh_permit_begin(permits[1], &three, &all), GH_OK);
    assert_status(permit_settle(permits[1]), GH_HELD);
    assert_int_equal(permits[1]->limit, 6);
}

/* timeout_us of the config is that of looking and of setting the limit; others wait on. */
static void timeout_is_of_the_calls(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_semaphore hasty = semaphore_within(a->client, ARENA, 50000);
    gh_semaphore_limit* limit = GAME_NEW(a, gh_semaphore_limit);
    gh_semaphore_look* look = GAME_NEW(a, gh_semaphore_look);
    gh_semaphore patient = semaphore_within(a->client, ARENA, 60 * SECOND_US);
    gh_semaphore_look* other = GAME_NEW(a, gh_semaphore_look);
    redis_server_freeze(server);
    assert_status(gh_semaphore_look_begin(other, &patient, NULL, 0), GH_OK);
    assert_status(gh_semaphore_limit_begin(limit, &hasty, 1), GH_OK);
    assert_status(gh_semaphore_look_begin(look, &hasty, NULL, 0), GH_OK);
    GAME_UNTIL(gh_op_poll(&limit->op) != GH_PENDING && gh_op_poll(&look->op) != GH_PENDING);
    if (gh_op_poll(&limit->op) != GH_TIMEOUT) assert_status(gh_op_poll(&limit->op), GH_UNKNOWN);
    assert_status(gh_op_poll(&look->op), GH_TIMEOUT);
    assert_status(gh_op_poll(&other->op), GH_PENDING);
    redis_server_thaw(server);
    GAME_UNTIL(gh_op_poll(&other->op) != GH_PENDING);
    assert_int_not_equal(gh_op_poll(&other->op), GH_TIMEOUT);
}

static void semaphore_of_a_client_that_was_shut_down(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_semaphore arena = semaphore_made(a->client, ARENA, 1);
    gh_permit permit = {0};
    gh_semaphore_limit limit = {0};
    gh_semaphore_look look = {0};
    gh_client_shutdown(a->client);
    assert_status(gh_permit_begin(&permit, &arena, NULL), GH_INVALID_CLIENT);
    assert_status(gh_semaphore_limit_begin(&limit, &arena, 1), GH_INVALID_CLIENT);
    assert_status(gh_semaphore_look_begin(&look, &arena, NULL, 0), GH_INVALID_CLIENT);
    assert_status(gh_op_poll(&permit.op), GH_INVALID_CLIENT);
    assert_status(gh_op_poll(&limit.op), GH_INVALID_CLIENT);
    assert_status(gh_op_poll(&look.op), GH_INVALID_CLIENT);
    assert_status(gh_semaphore_init(&arena, a->client, ARENA, NULL), GH_INVALID_CLIENT);
}

TEST_FILE(semaphore_object, cmocka_unit_test(bad_semaphores_are_told_by_init_and_by_begin),
          cmocka_unit_test(semaphore_is_a_value), cmocka_unit_test(limit_of_the_store_is_told),
          cmocka_unit_test(timeout_is_of_the_calls), cmocka_unit_test(semaphore_of_a_client_that_was_shut_down));
