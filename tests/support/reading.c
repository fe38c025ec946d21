/* reading.c -- replies drawn, written as bytes, read, and printed as text. */

#include "support/reading.h"

#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scene
{
    gh_reader* reader;
    char* block;
} scene;

int reading_set_up(void** state)
{
    static scene s;
    gh_arena measure = gh_arena_make(NULL, 0);
    s.block = aligned_alloc(16, READING_BLOCK_SIZE);
    if (s.block == NULL || gh_reader_take(&measure, READING_REPLY_BYTES, READING_REPLY_NODES) != NULL)
        return -1;
    /* Exactly what was measured, so that the sanitizer's eyes are on the byte behind it. */
    s.block = realloc(s.block, (measure.used + 15) & ~(size_t)15);
    gh_arena arena = gh_arena_make(s.block, measure.used);
    s.reader = gh_reader_take(&arena, READING_REPLY_BYTES, READING_REPLY_NODES);
    *state = &s;
    return s.reader != NULL && arena.used == measure.used ? 0 : -1;
}

int reading_tear_down(void** state)
{
    scene* s = *state;
    gh_reader_close(s->reader);
    free(s->block);
    return 0;
}

gh_reader* reading_reader(void** state)
{
    return ((scene*)*state)->reader;
}

void reading_restart(gh_reader* reader)
{
    assert_true(gh_reader_reset(reader));
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

bool reading_take_all(gh_reader* reader, reading_transcript* to)
{
    const gh_reply* reply = NULL;
    for (;;)
    {
        switch (gh_reader_next(reader, &reply))
        {
        case GH_READ_MORE: return true;
        case GH_READ_REPLY: reading_note(to, reply); break;
        case GH_READ_BROKEN: note(to, "!", 1); return false;
        case GH_READ_TOO_LARGE: note(to, "^", 1); return false;
        }
    }
}

void reading_in_pieces(gh_reader* reader, const char* bytes, const size_t* cuts, size_t count,
                       reading_transcript* to)
{
    size_t at = 0;
    to->size = 0;
    reading_restart(reader);
    for (size_t i = 0; i < count; i++)
    {
        /* A piece of its own, to the byte: whoever reads behind it is seen. */
        size_t size = cuts[i] - at;
        char* piece = malloc(size + 1);
        if (size > 0) memcpy(piece, bytes + at, size);
        gh_reader_feed(reader, piece, size);
        free(piece);
        at = cuts[i];
        if (!reading_take_all(reader, to)) return;
    }
}

void reading_whole(gh_reader* reader, const char* bytes, size_t size, reading_transcript* to)
{
    size_t cuts[32], count = 0;
    for (size_t at = 0; at < size;)
    {
        at = size - at > GH_READER_FEED_MAX ? at + GH_READER_FEED_MAX : size;
        assert_true(count < sizeof(cuts) / sizeof(cuts[0]));
        cuts[count++] = at;
    }
    reading_in_pieces(reader, bytes, cuts, count, to);
}

void reading_byte_by_byte(gh_reader* reader, const char* bytes, size_t size, reading_transcript* to)
{
    static size_t cuts[8192];
    assert_true(size <= sizeof(cuts) / sizeof(cuts[0]));
    for (size_t i = 0; i < size; i++) cuts[i] = i + 1;
    reading_in_pieces(reader, bytes, cuts, size, to);
}

void reading_must_be(const reading_transcript* got, const char* expected, size_t size)
{
    if (got->size == size && memcmp(got->text, expected, size) == 0) return;
    fail_msg("read \"%.*s\", not \"%.*s\"", (int)got->size, got->text, (int)size, expected);
}

void reading_expect(gh_reader* reader, const char* text, const char* expected)
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

void reading_in_random_pieces(gh_reader* reader, reading_maker* m, reading_transcript* got)
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
