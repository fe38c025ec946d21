/* Flushes whose store forgets while they are at it, or has more of the file than they can pass over in one tick. In a
   world that is made up. */

#include "support/server/scripted.h"
#include "support/scene/game.h"

#include <stdio.h>
#include <string.h>

#define MS          UINT64_C(1000)
#define CITIES      640
#define ANSWERS_MAX 8

typedef struct flushing
{
    gh_aggregate_flush op;
    gh_aggregate* aggregate;
    const char* answers[ANSWERS_MAX];
    unsigned told;
} flushing;

static bool answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    flushing* self = world->context;
    if (!scripted_runs_on(words, count, "gh:{daily:")) return false;
    assert_non_null(self->answers[self->told]);
    buffer_add_bulk(reply, "%llu %s", (unsigned long long)self->op.op.sequence, self->answers[self->told++]);
    return true;
}

static void* keep_aligned(scripted* world, size_t size)
{
    char* memory = scripted_keep(world, size + 16);
    return memory + (16 - (uintptr_t)memory % 16) % 16;
}

/* Cities "c0", "c1", ... of one region, each with addresses of its own. */
static gh_geo* world_of(scripted* world, unsigned cities)
{
    gh_geo_config config = gh_geo_config_default();
    gh_geo* table = NULL;
    assert_status(gh_geo_init(&table, &config, keep_aligned(world, gh_geo_memory(&config)), gh_geo_memory(&config)),
                  GH_OK);
    for (unsigned i = 0; i < cities; i++)
    {
        char address[32];
        char city[16];
        snprintf(address, sizeof(address), "10.%u.%u.0", i / 256, i % 256);
        snprintf(city, sizeof(city), "c%u", i);
        assert_status(gh_geo_add(table, gh_str_of(address), gh_str_of(address), gh_str_literal("land"),
                                 gh_str_literal("shire"), gh_str_of(city)),
                      GH_OK);
    }
    assert_status(gh_geo_seal(table, 0), GH_OK);
    return table;
}

/* One line in each city. */
static flushing* flush_begin(scripted* world, unsigned cities, uint64_t progress_us)
{
    flushing* self = SCRIPTED_NEW(world, flushing);
    gh_aggregate_config config = gh_aggregate_config_default();
    gh_aggregate_flush_config how = gh_aggregate_flush_config_default();
    const size_t size = gh_aggregate_memory(&config);
    world->context = self;
    world->answer = answer;
    scripted_start_ready(world, NULL);
    assert_status(gh_aggregate_init(&self->aggregate, &config, keep_aligned(world, size), size), GH_OK);
    assert_status(gh_aggregate_start(self->aggregate, world_of(world, cities)), GH_OK);
    for (unsigned i = 0; i < cities; i++)
    {
        char line[64];
        snprintf(line, sizeof(line), "10.%u.%u.0 2011-10-10 13:55:36 login", i / 256, i % 256);
        assert_status(gh_aggregate_add_line(self->aggregate, gh_str_of(line)), GH_OK);
    }
    how.progress_us = progress_us;
    assert_status(gh_aggregate_flush_begin(&self->op, world->client, self->aggregate, gh_str_literal("events"),
                                           gh_str_literal("log"), &how),
                  GH_OK);
    return self;
}

/* code, staged, added, pieces; of an adding: code, added, pieces */
static void other_sums_that_are_forgotten_are_not_told(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    flushing* self = flush_begin(world, 1, SECOND_US);
    self->answers[0] = "3 1 0 1"; /* all of it is staged with other sums, */
    self->answers[1] = "2 0 0";   /* which are gone when they are to be added: the store has lost its data */
    self->answers[2] = "1 0 0 1";
    self->answers[3] = "0 1 0 1";
    self->answers[4] = "0 1 1";
    SCRIPTED_UNTIL(world, !gh_op_is_busy(&self->op.op), MS, SECOND_US);
    assert_int_equal(self->told, 5);
    assert_int_equal(self->op.days_new, 1);
    assert_status(gh_op_poll(&self->op.op), GH_OK);
}

/* A worker died before the last piece. The way to it takes more ticks than the store may be silent for. */
static void way_to_a_late_piece_is_not_the_stores_time(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    flushing* self = flush_begin(world, CITIES, 4 * MS);
    self->answers[0] = "1 0 0 11";
    self->answers[1] = "2 10 0 11";
    self->answers[2] = "0 11 0 11";
    self->answers[3] = "0 11 11";
    world->budget_us = 1;
    world->clock_step_us = 1;
    SCRIPTED_UNTIL(world, !gh_op_is_busy(&self->op.op), MS, SECOND_US);
    assert_status(gh_op_poll(&self->op.op), GH_OK);
}

TEST_FILE(aggregate_again, cmocka_unit_test(other_sums_that_are_forgotten_are_not_told),
          cmocka_unit_test(way_to_a_late_piece_is_not_the_stores_time));
