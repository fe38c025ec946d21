/* Time as the caller gives it: any origin, standing still, going back, jumping ahead; and a tick within a
   tick. */

#include "support/scene/game.h"
#include "support/server/scripted.h"

#include <string.h>

#define MS         UINT64_C(1000)
#define DAYS_49_US (UINT64_C(49) * 86400 * SECOND_US)

/* ---- origins ------------------------------------------------------------------------------------------- */

/* A life of a client that begins at that time. */
static void live_from(uint64_t origin_us)
{
    scripted* world = scripted_new();
    world->now_us = origin_us;
    scripted_start_ready(world, NULL);
    gh_lock* lock = scripted_want(world, "sword", SECOND_US, SECOND_US);
    gh_command* command = scripted_ask(world, "SLOW", 200 * MS, GH_REPEAT_SAFE);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, 100 * MS);
    assert_status(gh_op_poll(&command->op), GH_OK);
    world->silent = true;
    command = scripted_ask(world, "SLOW", 200 * MS, GH_REPEAT_SAFE);
    uint64_t begin_us = world->now_us;
    SCRIPTED_UNTIL(world, gh_op_poll(&command->op) != GH_PENDING, MS, SECOND_US);
    assert_int_equal(world->now_us - begin_us, 200 * MS);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_LOST, MS, SECOND_US);
    assert_in_range(world->now_us - begin_us, 900 * MS, SECOND_US);
}

static void clock_may_have_any_origin(void** state)
{
    (void)state;
    const uint64_t origins[] = {0,
                                1,
                                SECOND_US,
                                UINT64_C(1) << 32,
                                UINT64_C(1) << 53,
                                INT64_MAX,
                                UINT64_C(1) << 63,
                                UINT64_MAX - 3600 * SECOND_US};
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) live_from(origins[i]);
}

/* gh_client_tick: a millisecond of the platform's clock a tick, whatever the caller's clock says. */
static void platform_clock_may_be_the_time(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    unsigned ticks = 0;
    world->open_status = GH_REFUSED;
    world->clock_step_us = MS;
    scripted_start(world, NULL);
    assert_status(gh_client_tick(world->client, 0), GH_OK);
    gh_command* command = scripted_ask(world, "A", 20 * MS, GH_REPEAT_SAFE);
    for (; gh_op_poll(&command->op) == GH_PENDING && ticks < 30; ticks++)
        assert_status(gh_client_tick(world->client, 0), GH_OK);
    assert_int_equal(ticks, 20);
    assert_status(gh_op_poll(&command->op), GH_TIMEOUT);
}

/* What is begun between two ticks counts from the later one; what is begun before the first counts from
   that. */
static void time_enters_at_the_tick(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->open_status = GH_REFUSED;
    scripted_start(world, NULL);
    gh_command* first = scripted_ask(world, "A", 100 * MS, GH_REPEAT_SAFE);
    scripted_tick(world, 0);
    scripted_tick(world, 99 * MS);
    gh_command* second = scripted_ask(world, "B", 100 * MS, GH_REPEAT_SAFE);
    scripted_tick(world, MS - 1);
    assert_status(gh_op_poll(&first->op), GH_PENDING);
    scripted_tick(world, 1);
    assert_status(gh_op_poll(&first->op), GH_TIMEOUT);
    scripted_tick(world, 99 * MS - 1);
    assert_status(gh_op_poll(&second->op), GH_PENDING);
    scripted_tick(world, 1);
    assert_status(gh_op_poll(&second->op), GH_TIMEOUT);
}

/* ---- standing still, going back ------------------------------------------------------------------------ */

static void same_time_twice_does_nothing_twice(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_lock* lock = scripted_want(world, "sword", SECOND_US, SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, 100 * MS);
    gh_client_stats before = scripted_stats(world);
    uint64_t remaining_us = gh_lock_remaining_us(lock);
    for (int i = 0; i < 1000; i++) scripted_tick(world, 0);
    gh_client_stats after = scripted_stats(world);
    assert_int_equal(after.requests, before.requests);
    assert_int_equal(after.ticks, before.ticks + 1000);
    assert_int_equal(gh_lock_remaining_us(lock), remaining_us);
}

static void time_that_goes_back_counts_as_the_last(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_lock* lock = scripted_want(world, "sword", SECOND_US, SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, 100 * MS);
    gh_command* op = NULL;
    world->silent = true;
    op = scripted_ask(world, "A", 100 * MS, GH_REPEAT_SAFE);
    scripted_tick(world, MS);
    uint64_t deadline_us = gh_next_deadline(world->client);
    uint64_t remaining_us = gh_lock_remaining_us(lock);
    uint64_t now_us = world->now_us;
    gh_client_stats before = scripted_stats(world);
    const uint64_t earlier[] = {1, MS, SECOND_US, now_us, now_us - 1, INT64_MAX};
    for (size_t i = 0; i < sizeof(earlier) / sizeof(earlier[0]); i++)
    {
        assert_status(gh_tick(world->client, now_us - earlier[i], 0), GH_OK);
        assert_int_equal(gh_next_deadline(world->client), deadline_us);
        assert_int_equal(gh_lock_remaining_us(lock), remaining_us);
        assert_status(gh_op_poll(&op->op), GH_PENDING);
    }
    assert_int_equal(scripted_stats(world).requests, before.requests);
    scripted_tick(world, 99 * MS - 1);
    assert_status(gh_op_poll(&op->op), GH_PENDING);
    scripted_tick(world, 1);
    assert_status(gh_op_poll(&op->op), GH_UNKNOWN);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
}

/* ---- jumping ahead ------------------------------------------------------------------------------------- */

/* One tick that far ahead: everything that has run out is told, once, and the work that it makes is
   bounded. */
static void jump(uint64_t ahead_us, bool counts)
{
    enum
    {
        LOCKS = 50
    };
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.wake = true;
    gh_lock* locks[LOCKS];
    char names[LOCKS][2] = {{0}};
    scripted_start_ready(world, &config);
    for (int i = 0; i < LOCKS; i++)
    {
        names[i][0] = (char)('A' + i);
        locks[i] = scripted_want(world, names[i], 10 * SECOND_US, 5 * SECOND_US);
    }
    SCRIPTED_UNTIL(world, gh_op_poll(&locks[LOCKS - 1]->op) == GH_HELD, MS, 200 * MS);
    world->silent = true;
    gh_command* op = scripted_ask(world, "A", 3600 * SECOND_US, GH_REPEAT_SAFE);
    scripted_tick(world, MS);
    gh_client_stats before = scripted_stats(world);
    uint64_t opens = world->opens;

    scripted_tick(world, ahead_us);
    for (int i = 0; i < LOCKS; i++) assert_status(gh_op_poll(&locks[i]->op), counts ? GH_LOST : GH_HELD);
    if (counts) assert_status(gh_op_poll(&op->op), GH_UNKNOWN);
    assert_true(scripted_stats(world).requests - before.requests < 2 * LOCKS);
    assert_in_range(world->opens - opens, 0, 2);

    world->silent = false;
    gh_lock* again = scripted_want(world, "again", 10 * SECOND_US, 5 * SECOND_US);
    world->now_us = counts ? world->now_us : world->now_us - ahead_us; /* the clock was mended */
    SCRIPTED_UNTIL(world, gh_op_poll(&again->op) == GH_HELD, MS, 5 * SECOND_US);
    assert_true(world->opens - opens < 10);
}

static void time_may_jump_ahead(void** state)
{
    (void)state;
    jump(3600 * SECOND_US, true);
    jump(DAYS_49_US, true);
    jump(UINT64_C(1) << 53, true);
    jump(UINT64_C(1) << 62, true);
}

/* Half of all times lie before now, the other half behind it: so far ahead is as good as back. */
static void time_may_jump_by_half_of_all(void** state)
{
    (void)state;
    jump(UINT64_C(1) << 63, false);
    jump(UINT64_MAX - 1000, false);
}

/* ---- a tick within a tick ------------------------------------------------------------------------------ */

typedef struct meddler
{
    gh_client* client;
    unsigned log_calls;
    unsigned trace_calls;
    unsigned not_refused;
} meddler;

static void meddle(meddler* self)
{
    if (self->client == NULL) return; /* still in gh_client_init */
    if (gh_tick(self->client, 99 * SECOND_US, 0) != GH_INVALID_REENTRY) self->not_refused++;
    gh_client_shutdown(self->client); /* "not from inside a tick" */
}

static void log_and_tick(void* context, gh_log_level level, gh_str text)
{
    meddler* self = context;
    (void)level, (void)text;
    self->log_calls++;
    meddle(self);
}

static void trace_and_tick(void* context, const gh_trace_event* event)
{
    meddler* self = context;
    if (event->kind == GH_TRACE_BEGIN) return; /* that one is not within a tick */
    self->trace_calls++;
    meddle(self);
}

static void tick_within_a_tick_is_refused(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    meddler* self = SCRIPTED_NEW(world, meddler);
    gh_client_config config = scripted_config();
    config.hooks.context = self;
    config.hooks.log = log_and_tick;
    config.hooks.trace = trace_and_tick;
    scripted_start(world, &config);
    self->client = world->client;
    gh_command* command = scripted_ask(world, "A", SECOND_US, GH_REPEAT_SAFE);
    gh_lock* lock = scripted_want(world, "sword", SECOND_US, SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, 100 * MS);
    assert_status(gh_op_poll(&command->op), GH_OK);
    world->streams[0].ended = true;
    SCRIPTED_UNTIL(world, scripted_stats(world).links_ready == 2, MS, 2 * SECOND_US);
    self->client = NULL; /* the shutdown after the test is not within a tick */
    assert_true(self->log_calls >= 3);
    assert_true(self->trace_calls >= 4);
    assert_int_equal(self->not_refused, 0);
}

/* What a drain and a shutdown end is told in the middle of them. */
static void tick_within_an_end_is_refused(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    meddler* self = SCRIPTED_NEW(world, meddler);
    gh_client_config config = scripted_config();
    config.hooks.context = self;
    config.hooks.trace = trace_and_tick;
    scripted_start(world, &config);
    gh_lock* lock = scripted_want(world, "sword", SECOND_US, SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, 100 * MS);
    gh_command* command = scripted_ask(world, "A", SECOND_US, GH_REPEAT_SAFE);
    self->client = world->client;
    assert_status(gh_client_drain(world->client, SECOND_US), GH_OK);
    assert_status(gh_op_poll(&command->op), GH_CANCELLED);
    const unsigned of_the_drain = self->trace_calls;
    assert_true(of_the_drain > 0);
    assert_true(gh_op_is_busy(&lock->op));
    gh_client_shutdown(world->client);
    assert_false(gh_op_is_busy(&lock->op));
    assert_true(self->trace_calls > of_the_drain);
    assert_int_equal(self->not_refused, 0);
}

TEST_FILE(time, cmocka_unit_test(clock_may_have_any_origin), cmocka_unit_test(platform_clock_may_be_the_time),
          cmocka_unit_test(time_enters_at_the_tick), cmocka_unit_test(same_time_twice_does_nothing_twice),
          cmocka_unit_test(time_that_goes_back_counts_as_the_last), cmocka_unit_test(time_may_jump_ahead),
          cmocka_unit_test(time_may_jump_by_half_of_all), cmocka_unit_test(tick_within_a_tick_is_refused),
          cmocka_unit_test(tick_within_an_end_is_refused));
