/* reading.c -- replies drawn, written as bytes, read, and printed as text. */

#include "support/faults/reading.h"

#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(bytes, size)   ASAN_POISON_MEMORY_REGION(bytes, size)
#define UNPOISON(bytes, size) ASAN_UNPOISON_MEMORY_REGION(bytes, size)
#else
#define POISON(bytes, size)   ((void)(bytes), (void)(size))
#define UNPOISON(bytes, size) ((void)(bytes), (void)(size))
#endif

static size_t measure(uint32_t reply_bytes, uint32_t reply_nodes)
{
    gh_inbox inbox;
    gh_arena arena = gh_arena_make(NULL, 0);
    memset(&inbox, 0, sizeof(inbox));
    gh_reader reader = {.trees = NULL};
    assert_false(gh_reader_take(&reader, &arena, reply_nodes));
    assert_false(gh_inbox_take(&inbox, &arena, reply_bytes, reply_nodes));
    return arena.used;
}

/* Exactly what was measured, so that the sanitizer's eyes are on the byte behind it. */
void reading_make(reading* self, uint32_t reply_bytes, uint32_t reply_nodes)
{
    size_t size = measure(reply_bytes, reply_nodes);
    memset(self, 0, sizeof(*self));
    self->block = aligned_alloc(16, size);
    assert_non_null(self->block);
    gh_arena arena = gh_arena_make(self->block, size);
    assert_true(gh_reader_take(&self->reader, &arena, reply_nodes));
    self->reader.trees = gh_tree_read;
    assert_true(gh_inbox_take(&self->inbox, &arena, reply_bytes, reply_nodes));
    assert_int_equal(arena.used, size);
}

void reading_end(reading* self)
{
    UNPOISON(self->inbox.bytes, self->inbox.capacity);
    free(self->block);
}

int reading_set_up(void** state)
{
    static reading self;
    reading_make(&self, READING_REPLY_BYTES, READING_REPLY_NODES);
    *state = &self;
    return 0;
}

int reading_tear_down(void** state)
{
    reading_end(reading_of(state));
    return 0;
}

reading* reading_of(void** state)
{
    return *state;
}

void reading_restart(reading* self)
{
    gh_inbox_reset(&self->inbox);
}

void reading_feed(reading* self, const void* bytes, size_t size)
{
    gh_inbox* inbox = &self->inbox;
    uint32_t room;
    UNPOISON(inbox->bytes, inbox->capacity);
    char* to = gh_inbox_room(inbox, &room);
    assert_true(room >= GH_INBOX_ROOM_MIN);
    assert_true(size <= room);
    if (size > 0) memcpy(to, bytes, size);
    gh_inbox_received(inbox, (uint32_t)size);
    POISON(inbox->bytes + inbox->end, inbox->capacity - inbox->end);
}

gh_read reading_next(reading* self, const gh_reply** reply)
{
    return gh_inbox_next(&self->inbox, &self->reader, reply);
}

static void note(reading_transcript* to, const void* bytes, size_t size)
{
    assert_true(to->size + size < sizeof(to->text));
    memcpy(to->text + to->size, bytes, size);
    to->size += size;
}

static void note_line(reading_transcript* to, char kind, long long number)
{
    char line[40];
    note(to, line, (size_t)snprintf(line, sizeof(line), "%c%lld ", kind, number));
}

void reading_note(reading_transcript* to, const gh_reply* value)
{
    static const char kinds[] = {'_', ':', '$', '+', '-', '*'};
    assert_in_range(value->type, GH_REPLY_NIL, GH_REPLY_ARRAY);
    char kind = kinds[value->type];
    uint32_t count = 0;
    switch (value->type)
    {
    case GH_REPLY_NIL: note_line(to, kind, 0); break;
    case GH_REPLY_INTEGER: note_line(to, kind, value->integer); break;
    case GH_REPLY_STRING:
    case GH_REPLY_STATUS:
    case GH_REPLY_ERROR:
        note_line(to, kind, (long long)value->text.size);
        note(to, value->text.bytes, value->text.size);
        break;
    case GH_REPLY_ARRAY:
        note_line(to, kind, value->count);
        for (const gh_reply* each = value->first; each != NULL; each = each->next, count++)
        {
            assert_ptr_equal(gh_reply_at(value, count), each);
            reading_note(to, each);
        }
        assert_int_equal(count, value->count);
        assert_null(gh_reply_at(value, count));
        break;
    }
}

bool reading_take_all(reading* reader, reading_transcript* to)
{
    const gh_reply* reply = NULL;
    for (;;)
    {
        switch (reading_next(reader, &reply))
        {
        case GH_READ_MORE: return true;
        case GH_READ_REPLY: reading_note(to, reply); break;
        case GH_READ_BROKEN: note(to, "!", 1); return false;
        case GH_READ_TOO_LARGE: note(to, "^", 1); return false;
        }
    }
}

void reading_in_pieces(reading* reader, const char* bytes, const size_t* cuts, size_t count, reading_transcript* to)
{
    size_t at = 0;
    to->size = 0;
    reading_restart(reader);
    for (size_t i = 0; i < count; i++)
    {
        reading_feed(reader, bytes + at, cuts[i] - at);
        at = cuts[i];
        if (!reading_take_all(reader, to)) return;
    }
}

void reading_whole(reading* reader, const char* bytes, size_t size, reading_transcript* to)
{
    size_t cuts[64], count = 0;
    for (size_t at = 0; at < size;)
    {
        at = size - at > GH_INBOX_ROOM_MIN ? at + GH_INBOX_ROOM_MIN : size;
        assert_true(count < sizeof(cuts) / sizeof(cuts[0]));
        cuts[count++] = at;
    }
    reading_in_pieces(reader, bytes, cuts, count, to);
}

void reading_byte_by_byte(reading* reader, const char* bytes, size_t size, reading_transcript* to)
{
    static size_t cuts[8192];
    assert_true(size <= sizeof(cuts) / sizeof(cuts[0]));
    for (size_t i = 0; i < size; i++) cuts[i] = i + 1;
    reading_in_pieces(reader, bytes, cuts, size, to);
}

bool reading_by_hiredis(reading* self, const char* bytes, size_t size, reading_transcript* to)
{
    char* exact = malloc(size + 1);
    memcpy(exact + 1, bytes, size);
    gh_values* values = gh_reader_values(&self->reader, self->inbox.text_max, self->inbox.nodes_max);
    const gh_reply* reply = gh_tree_read(values, exact + 1, 0, size);
    to->size = 0;
    if (reply != NULL) reading_note(to, reply);
    free(exact);
    return reply != NULL;
}

void reading_must_be(const reading_transcript* got, const char* expected, size_t size)
{
    if (got->size == size && memcmp(got->text, expected, size) == 0) return;
    fail_msg("read \"%.*s\", not \"%.*s\"", (int)got->size, got->text, (int)size, expected);
}

void reading_expect(reading* reader, const char* text, const char* expected)
{
    static reading_transcript got;
    reading_whole(reader, text, strlen(text), &got);
    reading_must_be(&got, expected, strlen(expected));
}

static void make(reading_maker* m, const void* bytes, size_t size)
{
    assert_true(m->size + size <= sizeof(m->bytes));
    memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

static void make_line(reading_maker* m, char mark, long long number)
{
    char line[40];
    make(m, line, (size_t)snprintf(line, sizeof(line), "%c%lld\r\n", mark, number));
}

static void make_text(reading_maker* m, char mark)
{
    char text[40];
    size_t size = (size_t)random_below(&m->stream, sizeof(text) + 1);
    bool line = mark != '$';
    for (size_t i = 0; i < size; i++)
    {
        text[i] = (char)(unsigned char)(random_next(&m->stream) >> 56);
        if (line && (text[i] == '\r' || text[i] == '\n')) text[i] = ' ';
    }
    if (line) make(m, &mark, 1);
    else make_line(m, mark, (long long)size);
    make(m, text, size);
    make(m, "\r\n", 2);
    note_line(&m->expected, mark, (long long)size);
    note(&m->expected, text, size);
}

static void make_integer(reading_maker* m)
{
    long long number = (long long)(random_next(&m->stream) >> random_below(&m->stream, 64));
    make_line(m, ':', number);
    note_line(&m->expected, ':', number);
}

static void make_value(reading_maker* m, unsigned depth)
{
    uint64_t count = 0;
    uint64_t kinds = depth < 6 && m->nodes < 40 ? 6 : 5;
    m->nodes++;
    switch (random_below(&m->stream, kinds))
    {
    case 0: make_text(m, '+'); break;
    case 1: make_text(m, '-'); break;
    case 2: make_text(m, '$'); break;
    case 3: make_integer(m); break;
    case 4:
        make_line(m, random_one_in(&m->stream, 2) ? '$' : '*', -1);
        note_line(&m->expected, '_', 0);
        break;
    default:
        count = random_below(&m->stream, 5);
        make_line(m, '*', (long long)count);
        note_line(&m->expected, '*', (long long)count);
        while (count-- > 0) make_value(m, depth + 1);
        break;
    }
}

void reading_make_replies(reading_maker* m, unsigned count)
{
    m->size = 0;
    m->expected.size = 0;
    for (unsigned i = 0; i < count && m->size < 2048; i++)
    {
        m->nodes = 0;
        make_value(m, 0);
    }
}

void reading_in_random_pieces(reading* reader, reading_maker* m, reading_transcript* got)
{
    size_t cuts[64], count = 0;
    for (size_t at = 0; at < m->size && count < 63;)
    {
        at += 1 + (size_t)random_below(&m->stream, random_one_in(&m->stream, 2) ? 5 : 300);
        cuts[count++] = at < m->size ? at : m->size;
    }
    cuts[count++] = m->size;
    reading_in_pieces(reader, m->bytes, cuts, count, got);
}
