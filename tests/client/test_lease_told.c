/* A thousand leases of a server that has lost them: each is told within one round trip and eight ticks from when its
   link is ready, with the budget that client.h names, and without one. Each question is asked once, or once for a
   hundred permits. */

#include "support/scene/permits.h"
#include "support/server/scripted.h"

#include <stdio.h>

#define LONG_US   (60 * SECOND_US)
#define MANY      1000
#define TICKS     8
#define BUDGET_US 500
#define LOOK_US   16 /* between two looks at the clock are 16 leases, requests or answers: at a microsecond each */

typedef struct crowd
{
    bool of_permits;
    gh_lock locks[MANY];
    gh_permit permits[MANY];
    char names[MANY][8];
    bool forgotten; /* by the store */
    unsigned long long generation;
} crowd;

/* Acquires are granted. Renewals are refused once all is forgotten: a lock's has 7 words. */
static bool answer_the_crowd(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    const crowd* self = world->context;
    bool is_script = gh_str_equal(words[0], gh_str_literal("EVALSHA"));
    unsigned long long now_us = 1000000000000000u + (world->now_us - world->start_us);
    if (is_script && count == 8) /* the epoch's */
    {
        char text[100];
        int size = snprintf(text, sizeof text, "*3\r\n:%llu\r\n:%llu\r\n:%llu\r\n",
                            (unsigned long long)world->store_birth_us, now_us, self->generation);
        buffer_add(reply, text, (size_t)size);
    }
    else if (is_script && count == 16)
        buffer_add_bulk(reply, "%.*s 0 %llu %llu 0 %llu 1000", (int)words[8].size, words[8].bytes, now_us,
                        (unsigned long long)LONG_US, now_us);
    else if (is_script && count == 7 && self->forgotten)
        buffer_add_bulk(reply, "%.*s 1 0 0 %llu", (int)words[5].size, words[5].bytes, now_us);
    else if (is_script && count > 16 && self->forgotten)
        buffer_add_bulk(reply, "%.*s %llu %0*d", (int)words[5].size, words[5].bytes, now_us, (int)count - 7, 0);
    else return false;
    return true;
}

static uint32_t count_of_crowd(const crowd* self, gh_status status)
{
    uint32_t count = 0;
    for (int i = 0; i < MANY; i++)
        count += (self->of_permits ? gh_op_poll(&self->permits[i].op) : gh_op_poll(&self->locks[i].op)) == status;
    return count;
}

static void crowd_begin_one(scripted* world, crowd* self, int i)
{
    gh_lock_config lock = gh_lock_config_default();
    gh_permit_config permit = permit_config(1, LONG_US, LONG_US);
    lock.lease_us = LONG_US;
    snprintf(self->names[i], sizeof(self->names[i]), "n%d", i);
    if (self->of_permits)
        assert_status(
            gh_permit_begin(&self->permits[i], ON_SEMAPHORE(world->client, gh_str_literal("arena"), MANY), &permit),
            GH_OK);
    else assert_status(gh_lock_begin(&self->locks[i], world->client, gh_str_of(self->names[i]), &lock), GH_OK);
}

static crowd* crowd_start(scripted* world, bool of_permits)
{
    crowd* self = SCRIPTED_NEW(world, crowd);
    gh_client_config config = scripted_config();
    self->of_permits = of_permits;
    self->generation = 1;
    world->context = self;
    world->answer = answer_the_crowd;
    config.ops_capacity = MANY; /* there is no room for one more lease while they change over to those that were told */
    config.requests_capacity = MANY;
    scripted_start_ready(world, &config);
    for (int i = 0; i < MANY; i++) crowd_begin_one(world, self, i);
    SCRIPTED_UNTIL(world, count_of_crowd(self, GH_HELD) == MANY, 1000, SECOND_US);
    return self;
}

/* The server is gone; who answers next has none of the leases. */
static void lose_link(scripted* world, crowd* self)
{
    self->forgotten = true;
    for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++) world->streams[i].ended = true;
    SCRIPTED_UNTIL(world, !gh_client_ready(world->client), 1000, SECOND_US);
}

/* From the tick in which the link is ready. A round trip is a tick here, as answers are there at once. */
static uint32_t ticks_until_told(scripted* world, const crowd* self)
{
    uint32_t ticks = 1;
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), 1000, SECOND_US);
    for (; count_of_crowd(self, GH_LOST) < MANY; ticks++)
    {
        if (ticks > MANY) fail_msg("%u are not told", MANY - count_of_crowd(self, GH_LOST));
        scripted_tick(world, 1000);
    }
    return ticks;
}

static void spend_budget(scripted* world)
{
    world->budget_us = BUDGET_US;
    world->clock_step_us = LOOK_US;
}

/* Another server behind the address, with the same epoch: it must be asked. */
static void expect_told_of_doubt(bool of_permits, bool spends)
{
    scripted* world = scripted_new();
    crowd* self = crowd_start(world, of_permits);
    self->generation++;
    if (spends) spend_budget(world);
    lose_link(world, self);
    uint64_t requests = scripted_stats(world).requests;
    assert_in_range(ticks_until_told(world, self), 2, 1 + (spends ? TICKS : 1));
    const uint64_t questions = of_permits ? MANY / 100 + 1 : MANY;
    assert_in_range(scripted_stats(world).requests - requests, 1, questions + 20); /* a hand-shake before them */
}

static void expect_told_of_reset(bool of_permits, bool spends)
{
    scripted* world = scripted_new();
    crowd* self = crowd_start(world, of_permits);
    world->store_birth_us++;
    if (spends) spend_budget(world);
    lose_link(world, self);
    assert_in_range(ticks_until_told(world, self), 1, spends ? TICKS : 1);
}

static void locks_of_another_server(void** state)
{
    (void)state;
    expect_told_of_doubt(false, false);
    expect_told_of_doubt(false, true);
}

static void permits_of_another_server(void** state)
{
    (void)state;
    expect_told_of_doubt(true, false);
    expect_told_of_doubt(true, true);
}

static void leases_of_a_store_that_is_empty(void** state)
{
    (void)state;
    expect_told_of_reset(false, false);
    expect_told_of_reset(false, true);
    expect_told_of_reset(true, false);
    expect_told_of_reset(true, true);
}

TEST_FILE(lease_told, cmocka_unit_test(locks_of_another_server), cmocka_unit_test(permits_of_another_server),
          cmocka_unit_test(leases_of_a_store_that_is_empty));
