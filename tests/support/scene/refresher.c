/* refresher.c -- loads answered at once, later, wrongly or never. */

#include "support/scene/refresher.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

row_of_table* refresher_row(refresher* self, const char* name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < self->table_size; i++)
        if (self->table[i].name_size == size && memcmp(self->table[i].name, name, size) == 0) return &self->table[i];
    if (self->table_size == REFRESHER_ROWS_MAX) fail_msg("more rows than the table has");
    row_of_table* row = &self->table[self->table_size++];
    memcpy(row->name, name, size);
    row->name_size = size;
    return row;
}

gh_status refresher_complete(refresher* self, size_t i, gh_status outcome, const char* value)
{
    gh_row_load load = self->open[i];
    self->open_count--;
    memmove(&self->open[i], &self->open[i + 1], (self->open_count - i) * sizeof(self->open[0]));
    memmove(self->open_names[i], self->open_names[i + 1], (self->open_count - i) * sizeof(self->open_names[0]));
    return gh_row_complete(load, outcome, gh_str_of(value));
}

static void load_row(void* context, gh_row_load load, gh_str name)
{
    refresher* self = context;
    char text[GH_NAME_SIZE_MAX + 1] = {0};
    char value[GH_NAME_SIZE_MAX + 16];
    memcpy(text, name.bytes, name.size);
    row_of_table* row = refresher_row(self, text);
    row->loads++;
    row->loaded_us = wait_now_us();
    self->loads++;
    if (self->keeps)
    {
        memcpy(self->open_names[self->open_count], text, sizeof(text));
        self->open[self->open_count++] = load;
        return;
    }
    snprintf(value, sizeof(value), "%s:%u", text, row->loads);
    self->last_answer = gh_row_complete(load, self->outcome, gh_str_of(self->value == NULL ? value : self->value));
}

refresher* refresher_new(game* owner, size_t slots)
{
    refresher* self = GAME_NEW(owner, refresher);
    self->owner = owner;
    self->config = gh_rows_config_default();
    self->config.loader = load_row;
    self->config.context = self;
    self->config.slots = self->slots;
    self->config.slot_count = slots;
    self->config.memory = self->memory;
    self->config.memory_size = slots * 256;
    return self;
}

void refresher_begin(refresher* self)
{
    assert_status(gh_rows_begin(&self->rows, self->owner->client, &self->config), GH_OK);
}

refresher* refresher_start(game* owner, size_t slots)
{
    refresher* self = refresher_new(owner, slots);
    refresher_begin(self);
    return self;
}

static gh_status settle_schedule(const gh_row_schedule* op)
{
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    return gh_op_poll(&op->op);
}

gh_status row_schedule_with(game* from, const char* name, const gh_row_schedule_config* config)
{
    gh_row_schedule* op = GAME_NEW(from, gh_row_schedule);
    assert_status(gh_row_schedule_begin(op, from->client, gh_str_of(name), config), GH_OK);
    return settle_schedule(op);
}

gh_status row_schedule(game* from, const char* name, uint64_t period_us)
{
    gh_row_schedule_config config = gh_row_schedule_config_default();
    config.period_us = period_us;
    return row_schedule_with(from, name, &config);
}

gh_status row_unschedule(game* from, const char* name)
{
    gh_row_schedule* op = GAME_NEW(from, gh_row_schedule);
    assert_status(gh_row_unschedule_begin(op, from->client, gh_str_of(name), NULL), GH_OK);
    return settle_schedule(op);
}

row_read* row_read_new(game* from)
{
    row_read* self = GAME_NEW(from, row_read);
    self->config = gh_row_get_config_default();
    self->config.buffer = self->buffer;
    self->config.buffer_size = sizeof(self->buffer);
    return self;
}

gh_status row_get(game* from, row_read* read, const char* name)
{
    assert_status(gh_row_get_begin(&read->get, from->client, gh_str_of(name), &read->config), GH_OK);
    GAME_UNTIL(gh_op_poll(&read->get.op) != GH_PENDING);
    return gh_op_poll(&read->get.op);
}

bool row_is(const row_read* read, const char* text)
{
    return gh_str_equal(read->get.value, gh_str_of(text));
}

unsigned row_shard(const char* name)
{
    return (unsigned)(XXH3_64bits(name, strlen(name)) % 64);
}

const char* row_key(const char* name, char part)
{
    static char key[40];
    snprintf(key, sizeof(key), "gh:{rows:%u}:%c", row_shard(name), part);
    return key;
}
