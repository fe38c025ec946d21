/* A hint about the shard that is being asked about. In a world that is made up. */

#include "support/scene/game.h"
#include "support/server/scripted.h"

#include "client/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000)

typedef struct hinted
{
    gh_rows rows;
    gh_rows_slot slots[2];
    unsigned asked[GH_ROWS_SHARDS];
} hinted;

/* Nothing is due anywhere. */
static bool answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    static const char key[] = "gh:{rows:";
    hinted* self = world->context;
    char text[160];
    if (!scripted_runs_on(words, count, key)) return false;
    self->asked[strtoul(words[3].bytes + sizeof(key) - 1, NULL, 10) % GH_ROWS_SHARDS]++;
    buffer_add(reply, text,
               (size_t)snprintf(text, sizeof(text),
                                "*6\r\n:%llu\r\n:0\r\n:1000000000000000\r\n:0\r\n:0\r\n:10000000\r\n",
                                (unsigned long long)self->rows.op.sequence));
    return true;
}

static void load(void* context, gh_row_load row_load, gh_str row)
{
    (void)context;
    (void)row;
    gh_row_complete(row_load, GH_EMPTY, gh_str_make(NULL, 0));
}

/* What the store found was before that. */
static void hint_that_overtakes_the_answer_is_not_forgotten(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    hinted* self = SCRIPTED_NEW(world, hinted);
    gh_rows_config config = gh_rows_config_default();
    world->context = self;
    world->answer = answer;
    scripted_start_ready(world, NULL);
    config.loader = load;
    config.slots = self->slots;
    config.slot_count = 2;
    assert_status(gh_rows_begin(&self->rows, world->client, &config), GH_OK);
    for (int i = 0; i < 100; i++) scripted_tick(world, MS);
    SCRIPTED_UNTIL(world, gh_op_is_sending(&self->rows.op), MS, 5 * SECOND_US);
    world->silent = true;
    scripted_tick(world, MS);
    assert_true(gh_op_is_sending(&self->rows.op));
    const uint8_t shard = self->rows.shard;
    gh_op_hint(&self->rows.op, (char)('0' + shard));
    scripted_tick(world, MS);
    scripted_speak(world);
    const unsigned asked = self->asked[shard];
    for (int i = 0; i < 100; i++) scripted_tick(world, MS);
    assert_int_equal(self->asked[shard], asked + 1); /* at once, and no more than once */
}

TEST_FILE(rows_hints, cmocka_unit_test(hint_that_overtakes_the_answer_is_not_forgotten));
