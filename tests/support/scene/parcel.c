/* parcel.c -- files sent and read a step at a time, and compared byte by byte. */

#include "support/scene/parcel.h"

#include <stdio.h>
#include <string.h>

#define CHUNK 1024

sender* sender_new(game* owner, unsigned readers, const char* bytes, size_t size)
{
    sender* self = GAME_NEW(owner, sender);
    sender_init(self, owner, readers, bytes, size);
    self->config.memory = NULL; /* for the config at begin */
    return self;
}

void sender_init(sender* self, game* owner, unsigned readers, const char* bytes, size_t size)
{
    self->owner = owner;
    self->config = gh_file_send_config_default();
    self->config.chunk_bytes = CHUNK;
    for (unsigned i = 0; i < readers; i++)
    {
        snprintf(self->texts[i], sizeof(self->texts[i]), "%u", i % 1000);
        self->names[i] = gh_str_of(self->texts[i]);
    }
    self->config.readers = self->names;
    self->config.reader_count = readers;
    self->bytes = bytes;
    self->size = size;
    self->stop_at = size;
    self->config.memory_size = gh_file_send_memory(&self->config);
    self->config.memory = game_new(owner, self->config.memory_size);
}

void sender_begin(sender* self, gh_str name)
{
    if (self->config.memory == NULL)
    {
        self->config.memory_size = gh_file_send_memory(&self->config);
        self->config.memory = game_new(self->owner, self->config.memory_size);
    }
    self->at = 0;
    assert_status(gh_file_send_begin(&self->op, self->owner->client, name, &self->config), GH_OK);
}

bool sender_step(sender* self)
{
    size_t end = self->stop_at < self->size ? self->stop_at : self->size;
    size_t taken = 0;
    if (gh_op_poll(&self->op.op) != GH_PENDING) return true;
    (void)gh_file_send_push(&self->op, gh_str_make(self->bytes + self->at, end - self->at), &taken);
    self->at += taken;
    if (self->at == self->size && self->stop_at >= self->size) (void)gh_file_send_finish(&self->op);
    return gh_op_poll(&self->op.op) != GH_PENDING;
}

gh_status sender_run(sender* self, gh_str name)
{
    sender_begin(self, name);
    GAME_UNTIL(sender_step(self));
    return gh_op_poll(&self->op.op);
}

reader* reader_new(game* owner, size_t capacity)
{
    reader* self = GAME_NEW(owner, reader);
    reader_init(self, owner, capacity);
    self->config.memory = NULL; /* for the config at begin */
    return self;
}

void reader_init(reader* self, game* owner, size_t capacity)
{
    self->owner = owner;
    self->config = gh_file_read_config_default();
    self->config.chunk_bytes = CHUNK;
    self->config.line_bytes = 256;
    self->got = game_new(owner, capacity + 2);
    self->capacity = capacity;
    self->stop_at = SIZE_MAX;
    self->config.memory_size = gh_file_read_memory(&self->config);
    self->config.memory = game_new(owner, self->config.memory_size);
}

void reader_begin(reader* self, gh_str name, const char* reader_name)
{
    if (self->config.memory == NULL)
    {
        self->config.memory_size = gh_file_read_memory(&self->config);
        self->config.memory = game_new(self->owner, self->config.memory_size);
    }
    self->at_end = false;
    assert_status(gh_file_read_begin(&self->op, self->owner->client, name, gh_str_of(reader_name), &self->config),
                  GH_OK);
}

/* What was pulled goes behind what there is. */
static void reader_keep(reader* self, gh_str view)
{
    bool lines = self->way == READER_LINES;
    if (self->got_size + view.size + lines > self->capacity + 1) fail_msg("more was read than was sent");
    if (view.size > 0) memcpy(self->got + self->got_size, view.bytes, view.size);
    self->got_size += view.size;
    if (lines) self->got[self->got_size++] = '\n';
}

bool reader_step(reader* self)
{
    gh_status status = GH_OK;
    for (size_t pulls = 0; self->got_size < self->stop_at && (self->pulls_max == 0 || pulls < self->pulls_max); pulls++)
    {
        gh_str view;
        status = self->way == READER_LINES ? gh_file_read_line(&self->op, &view) : gh_file_read_block(&self->op, &view);
        if (status == GH_TOO_SMALL && gh_op_poll(&self->op.op) == GH_PENDING) self->too_long++;
        else if (status != GH_OK) break;
        reader_keep(self, view);
    }
    if (status == GH_EMPTY)
    {
        self->at_end = true;
        if (!self->keeps) (void)gh_file_read_done(&self->op);
    }
    return gh_op_poll(&self->op.op) != GH_PENDING || (self->keeps && self->at_end) || self->got_size >= self->stop_at;
}

gh_status reader_run(reader* self, gh_str name, const char* reader_name)
{
    reader_begin(self, name, reader_name);
    GAME_UNTIL(reader_step(self));
    return gh_op_poll(&self->op.op);
}

char* parcel_bytes(game* owner, size_t size, unsigned seed, bool text)
{
    char* bytes = game_new(owner, size + 1);
    uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (size_t i = 0; i < size; i++)
    {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        bytes[i] = text ? (x % 40 == 0 ? '\n' : (char)('a' + x % 26)) : (char)x;
    }
    return bytes;
}
