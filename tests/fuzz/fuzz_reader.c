/* fuzz_reader.c -- replies as they come over a connection, cut anywhere, against a parser that knows nothing of cuts.

   The input says how large replies may be, and in which pieces the bytes come; the rest is what the server sends. The
   model reads a reply from its first byte, as plainly as it can be written. Whatever is cut where, both must see the
   same replies, and stop at the same one. */

#include "fuzz.h"

#include "wire/inbox.h"

#include <stdio.h>

#define TRANSCRIPT_MAX 65536u
#define BYTES_MAX      4096u
#define SKIP_MAX       (UINT64_C(1) << 30) /* a longer string is never dropped */
#define DEPTH_MAX      7u
#define ALL_CUTS_MAX   32u /* bytes that are cut in two at every place */

typedef enum taking
{
    PLAIN, /* what is too large ends it                           */
    SKIPS, /* strings that are too long are nil, in every reply   */
    CUTS   /* the same, once the first of a reply was refused      */
} taking;

typedef struct bounds
{
    uint32_t text;
    uint32_t nodes;
    taking how;
    bool trees; /* else arrays within arrays come without what is in them */
} bounds;

/* ---- what was read, as text -------------------------------------------------------------------------------------- */

typedef struct transcript
{
    char text[TRANSCRIPT_MAX];
    size_t size;
} transcript;

static void put(transcript* to, const void* bytes, size_t size)
{
    FUZZ_MUST(to->size + size <= sizeof(to->text));
    if (size > 0) memcpy(to->text + to->size, bytes, size);
    to->size += size;
}

static void put_line(transcript* to, char kind, long long number)
{
    char line[40];
    put(to, line, (size_t)snprintf(line, sizeof(line), "%c%lld ", kind, number));
}

static void put_text(transcript* to, char kind, const char* bytes, size_t size)
{
    put_line(to, kind, (long long)size);
    put(to, bytes, size);
}

static void put_reply(transcript* to, const gh_reply* value, const bounds* of, unsigned depth)
{
    static const char kinds[] = {'_', ':', '$', '+', '-', '*'};
    uint32_t count = 0;
    FUZZ_MUST(value->type <= GH_REPLY_ARRAY);
    switch (value->type)
    {
    case GH_REPLY_NIL: put_line(to, '_', 0); break;
    case GH_REPLY_INTEGER: put_line(to, ':', value->integer); break;
    case GH_REPLY_STRING:
    case GH_REPLY_STATUS:
    case GH_REPLY_ERROR: put_text(to, kinds[value->type], value->text.bytes, value->text.size); break;
    case GH_REPLY_ARRAY:
        if (depth > 0 && !of->trees)
        {
            FUZZ_MUST(value->first == NULL && value->count == 0);
            put_line(to, '?', 0);
            return;
        }
        put_line(to, '*', value->count);
        for (const gh_reply* each = value->first; each != NULL; each = each->next, count++)
            put_reply(to, each, of, depth + 1);
        FUZZ_MUST(count == value->count);
        break;
    }
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

typedef enum verdict
{
    MORE,
    WHOLE,
    REFUSED
} verdict;

typedef struct model
{
    const char* at;
    const char* end;
    const bounds* of;
    uint32_t text_used;
    uint32_t nodes_used;
    transcript* to;
} model;

/* "<number>\r\n", byte by byte: the first that cannot follow refuses it. */
static verdict model_number(model* m, int64_t* number)
{
    const bool negative = m->at < m->end && *m->at == '-';
    const uint64_t most = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    uint64_t digits = 0;
    unsigned count = 0;
    if (negative) m->at++;
    for (; m->at < m->end && *m->at >= '0' && *m->at <= '9'; m->at++, count++)
    {
        const uint64_t digit = (uint64_t)(*m->at - '0');
        if (count > 0 && digits == 0) return REFUSED; /* a zero in front */
        if (digits > (most - digit) / 10) return REFUSED;
        digits = digits * 10 + digit;
        if (digits == 0 && negative) return REFUSED;
    }
    if (m->at == m->end) return MORE;
    if (count == 0 || *m->at++ != '\r') return REFUSED;
    if (m->at == m->end) return MORE;
    if (*m->at++ != '\n') return REFUSED;
    *number = negative ? (int64_t)(0 - digits) : (int64_t)digits;
    return WHOLE;
}

static verdict model_line(model* m, char kind)
{
    const char* first = m->at;
    size_t size;
    while (m->at < m->end && *m->at != '\r' && *m->at != '\n') m->at++;
    size = (size_t)(m->at - first);
    if (m->text_used + size + 1 > m->of->text) return REFUSED;
    if (m->at == m->end) return MORE;
    if (*m->at++ == '\n') return REFUSED;
    if (m->at == m->end) return MORE;
    if (*m->at++ != '\n') return REFUSED;
    m->text_used += (uint32_t)size + 1;
    put_text(m->to, kind, first, size);
    return WHOLE;
}

/* It is a nil as soon as a nil would fit where it begins, and whatever is to come of it is dropped. */
static verdict model_long_string(model* m, const char* first, uint64_t size)
{
    const uint64_t left = (uint64_t)(m->end - m->at);
    if (m->of->how == PLAIN || size >= SKIP_MAX) return REFUSED;
    if (m->end - first < 5) return MORE;
    m->at += left < size + 2 ? left : size + 2;
    put_line(m->to, '_', 0);
    return WHOLE;
}

static verdict model_string(model* m)
{
    const char* first = m->at - 1;
    int64_t size;
    const verdict head = model_number(m, &size);
    if (head != WHOLE) return head;
    if (size < -1) return REFUSED;
    if (size == -1)
    {
        put_line(m->to, '_', 0);
        return WHOLE;
    }
    if ((uint64_t)size + m->text_used + 1 > m->of->text) return model_long_string(m, first, (uint64_t)size);
    if (m->end - m->at < size + 2) return MORE;
    if (m->at[size] != '\r' || m->at[size + 1] != '\n') return REFUSED;
    m->text_used += (uint32_t)size + 1;
    put_text(m->to, '$', m->at, (size_t)size);
    m->at += size + 2;
    return WHOLE;
}

static verdict model_value(model* m, unsigned depth);

static verdict model_array(model* m, unsigned depth)
{
    int64_t count;
    verdict result = model_number(m, &count);
    size_t kept = m->to->size;
    if (result != WHOLE) return result;
    if (count < -1) return REFUSED;
    if (count == -1)
    {
        put_line(m->to, '_', 0);
        return WHOLE;
    }
    if (depth == DEPTH_MAX || count > m->of->nodes - m->nodes_used) return REFUSED;
    m->nodes_used += (uint32_t)count;
    put_line(m->to, '*', count);
    for (; count > 0 && result == WHOLE; count--) result = model_value(m, depth + 1);
    if (depth > 0 && !m->of->trees && result == WHOLE)
    {
        m->to->size = kept;
        put_line(m->to, '?', 0);
    }
    return result;
}

static verdict model_integer(model* m)
{
    int64_t number;
    const verdict result = model_number(m, &number);
    if (result == WHOLE) put_line(m->to, ':', number);
    return result;
}

static verdict model_value(model* m, unsigned depth)
{
    if (m->at == m->end) return MORE;
    switch (*m->at++)
    {
    case ':': return model_integer(m);
    case '$': return model_string(m);
    case '*': return model_array(m, depth);
    case '+': return model_line(m, '+');
    case '-': return model_line(m, '-');
    default: return REFUSED;
    }
}

static void read_by_model(const bounds* of, gh_str bytes, transcript* to)
{
    model m = {bytes.bytes, bytes.bytes + bytes.size, of, 0, 0, to};
    verdict result = WHOLE;
    to->size = 0;
    while (m.at < m.end && result == WHOLE)
    {
        const size_t kept = to->size;
        m.text_used = 0;
        m.nodes_used = 1;
        result = model_value(&m, 0);
        if (result != WHOLE) to->size = kept;
    }
    if (result == REFUSED) put(to, "!", 1);
}

/* ---- the inbox --------------------------------------------------------------------------------------------------- */

typedef struct reading
{
    gh_inbox inbox;
    gh_reader reader;
    void* block;
    const bounds* of;
} reading;

static void reading_begin(reading* self, const bounds* of)
{
    gh_arena arena = gh_arena_make(NULL, 0);
    memset(self, 0, sizeof(*self));
    gh_reader_take(&self->reader, &arena, of->nodes);
    gh_inbox_take(&self->inbox, &arena, of->text, of->nodes);
    const size_t size = arena.used;
    self->of = of;
    self->block = fuzz_block(size);
    arena = gh_arena_make(self->block, size);
    FUZZ_MUST(gh_reader_take(&self->reader, &arena, of->nodes));
    FUZZ_MUST(gh_inbox_take(&self->inbox, &arena, of->text, of->nodes));
    self->reader.trees = of->trees ? gh_tree_read : NULL;
    if (of->how == SKIPS) gh_inbox_skip_long(&self->inbox);
}

static void reading_end(reading* self)
{
    fuzz_unpoison(self->inbox.bytes, self->inbox.capacity);
    free(self->block);
}

/* Nobody may read behind what has come. */
static void feed(reading* self, gh_str bytes)
{
    gh_inbox* inbox = &self->inbox;
    uint32_t room;
    fuzz_unpoison(inbox->bytes, inbox->capacity);
    char* to = gh_inbox_room(inbox, &room);
    FUZZ_MUST(room >= GH_INBOX_ROOM_MIN && bytes.size <= room);
    if (bytes.size > 0) memcpy(to, bytes.bytes, bytes.size);
    gh_inbox_received(inbox, (uint32_t)bytes.size);
    fuzz_poison(inbox->bytes + inbox->end, inbox->capacity - inbox->end);
}

/* False: it has failed, and says so again. */
static bool take_all(reading* self, transcript* to)
{
    for (;;)
    {
        const gh_reply* reply = NULL;
        const gh_read read = gh_inbox_next(&self->inbox, &self->reader, &reply);
        if (read == GH_READ_MORE) return true;
        if (read == GH_READ_REPLY)
        {
            put_reply(to, reply, self->of, 0);
            continue;
        }
        if (self->of->how == CUTS && read == GH_READ_TOO_LARGE && gh_inbox_cut(&self->inbox)) continue;
        FUZZ_MUST(gh_inbox_next(&self->inbox, &self->reader, &reply) == read);
        put(to, "!", 1);
        return false;
    }
}

/* Pieces of sizes that the pattern has, over and over; a piece is never larger than there is room for. */
static void read_in_pieces(reading* self, gh_str bytes, const uint16_t* pattern, size_t count, transcript* to)
{
    size_t at = 0;
    to->size = 0;
    fuzz_unpoison(self->inbox.bytes, self->inbox.capacity);
    gh_inbox_reset(&self->inbox);
    for (size_t i = 0; at < bytes.size; i++)
    {
        size_t size = pattern[i % count];
        if (size > bytes.size - at) size = bytes.size - at;
        feed(self, gh_str_make(bytes.bytes + at, size));
        at += size;
        if (!take_all(self, to)) return;
    }
}

static void must_be_same(const transcript* expected, const transcript* got, const char* how, size_t where)
{
    if (expected->size == got->size && memcmp(expected->text, got->text, got->size) == 0) return;
    FUZZ_FAIL("%s %zu: read \"%.*s\", the model \"%.*s\"", how, where, (int)got->size, got->text, (int)expected->size,
              expected->text);
}

/* The longest string that is let through is announced by a line that must be there with it. */
static bounds draw_bounds(fuzz_input* input)
{
    const uint8_t how = fuzz_byte(input);
    bounds of = {.text = 1 + fuzz_below(input, 256), .nodes = 2 + (fuzz_byte(input) & 63)};
    of.how = (taking)((how & 3) % 3);
    of.trees = (how & 4) == 0;
    return of;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static transcript expected, got;
    fuzz_input input = fuzz_input_of(data, size < BYTES_MAX ? size : BYTES_MAX);
    const bounds of = draw_bounds(&input);
    uint16_t pattern[4];
    reading self;
    for (size_t i = 0; i < FUZZ_COUNT(pattern); i++) pattern[i] = (uint16_t)(1 + fuzz_below(&input, 256));
    const gh_str bytes = fuzz_rest(&input);
    const uint16_t whole = GH_INBOX_ROOM_MIN, single = 1;
    reading_begin(&self, &of);
    read_by_model(&of, bytes, &expected);
    read_in_pieces(&self, bytes, &whole, 1, &got);
    must_be_same(&expected, &got, "whole", 0);
    read_in_pieces(&self, bytes, pattern, FUZZ_COUNT(pattern), &got);
    must_be_same(&expected, &got, "in pieces", 0);
    read_in_pieces(&self, bytes, &single, 1, &got);
    must_be_same(&expected, &got, "byte by byte", 0);
    for (uint16_t cut = 2; bytes.size <= ALL_CUTS_MAX && cut < bytes.size; cut++)
    {
        const uint16_t two[] = {cut, GH_INBOX_ROOM_MIN};
        read_in_pieces(&self, bytes, two, 2, &got);
        must_be_same(&expected, &got, "cut at", cut);
    }
    reading_end(&self);
    return 0;
}
