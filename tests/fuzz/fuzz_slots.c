/* fuzz_slots.c -- answers of CLUSTER SLOTS, read as they come and cut anywhere, against a reader of whole trees; and
   the map of slots that rows, MOVED and maps make, against the list of all that was said.

   The input says which; the rest of it is the answer, or the words. */

#include "fuzz.h"

#include "wire/slots_map.h"
#include "wire/slots_reader.h"

#include <stdarg.h>
#include <stdio.h>

#define BYTES_MAX    3000u
#define TEXT_MAX     60000u
#define NODES_MAX    4000u
#define ALL_CUTS_MAX 40u

/* ---- what was read, as text -------------------------------------------------------------------------------------- */

typedef struct transcript
{
    char text[TEXT_MAX];
    size_t size;
} transcript;

static void put(transcript* to, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void put(transcript* to, const char* format, ...)
{
    va_list values;
    va_start(values, format);
    const int size = vsnprintf(to->text + to->size, TEXT_MAX - to->size, format, values);
    va_end(values);
    FUZZ_MUST(size >= 0 && (size_t)size < TEXT_MAX - to->size);
    to->size += (size_t)size;
}

static void put_row(transcript* to, unsigned first, unsigned last, gh_endpoint at, gh_str name, unsigned replicas)
{
    static const char* const kinds[] = {"nowhere", "given", "asked", "bad"};
    put(to, "%u-%u %s %.*s:%u %.*s %u\n", first, last, kinds[at.kind], GH_STR_ARG(at.host), at.port, GH_STR_ARG(name),
        replicas);
}

/* ---- the reader -------------------------------------------------------------------------------------------------- */

static void put_read(transcript* to, const gh_slots_row* row)
{
    if (!row->is_good) put(to, "none\n");
    else
        put_row(to, row->first, row->last, gh_slots_row_endpoint(row), gh_str_make(row->name, row->name_size),
                row->replicas);
}

/* False: it is over. */
static bool read_piece(gh_slots_reader* reader, gh_str piece, transcript* to)
{
    char* exact = fuzz_exact(piece.bytes, piece.size);
    gh_slots_read result = GH_SLOTS_ROW;
    size_t at = 0, used;
    while (result == GH_SLOTS_ROW)
    {
        result = gh_slots_reader_next(reader, exact + at, piece.size - at, &used);
        FUZZ_MUST(used <= piece.size - at);
        at += used;
        if (result == GH_SLOTS_ROW) put_read(to, &reader->row);
    }
    fuzz_unpoison(exact, 1);
    free(exact);
    if (result == GH_SLOTS_MORE)
    {
        FUZZ_MUST(at == piece.size);
        return true;
    }
    put(to, result == GH_SLOTS_DONE ? "done\n" : result == GH_SLOTS_BROKEN ? "broken\n" : "no map\n");
    FUZZ_MUST(gh_slots_reader_next(reader, "*", 1, &used) == result && used == 0);
    return false;
}

static void read_in_pieces(gh_str bytes, const uint16_t* pattern, size_t count, transcript* to)
{
    gh_slots_reader reader;
    size_t at = 0;
    gh_slots_reader_begin(&reader);
    to->size = 0;
    for (size_t i = 0; at < bytes.size; i++)
    {
        size_t size = pattern[i % count];
        if (size > bytes.size - at) size = bytes.size - at;
        if (!read_piece(&reader, gh_str_make(bytes.bytes + at, size), to)) return;
        at += size;
    }
    put(to, "more\n");
}

/* ---- the model: trees -------------------------------------------------------------------------------------------- */

typedef struct node
{
    char type; /* '*', ':', '$'; '0' is nil */
    int64_t number;
    gh_str text;
    uint32_t first; /* of an array, its elements follow one another along next; 0: none */
    uint32_t next;
} node;

typedef struct model
{
    node nodes[NODES_MAX];
    uint32_t count;
    const char* at;
    const char* end;
} model;

typedef enum verdict
{
    MORE,
    WHOLE,
    BROKEN
} verdict;

static verdict take_number(model* m, int64_t* number)
{
    const bool negative = m->at < m->end && *m->at == '-';
    unsigned __int128 digits = 0;
    unsigned count = 0;
    if (negative) m->at++;
    for (; m->at < m->end && *m->at >= '0' && *m->at <= '9'; m->at++, count++)
    {
        if (count > 0 && digits == 0) return BROKEN;
        digits = digits * 10 + (unsigned)(*m->at - '0');
        if (digits == 0 && negative) return BROKEN;
        if (digits > (unsigned __int128)INT64_MAX + (negative ? 1 : 0)) return BROKEN;
    }
    if (m->at == m->end) return MORE;
    if (count == 0 || *m->at++ != '\r') return BROKEN;
    if (m->at == m->end) return MORE;
    if (*m->at++ != '\n') return BROKEN;
    *number = negative ? (int64_t)(0 - (uint64_t)digits) : (int64_t)digits;
    return WHOLE;
}

static verdict take_string(model* m, node* made)
{
    if (made->number < -1 || made->number > (int64_t)GH_SLOTS_STRING_MAX) return BROKEN;
    if (made->number == -1)
    {
        made->type = '0';
        return WHOLE;
    }
    const size_t size = (size_t)made->number;
    if ((size_t)(m->end - m->at) > size && m->at[size] != '\r') return BROKEN;
    if ((size_t)(m->end - m->at) < size + 2) return MORE;
    if (m->at[size + 1] != '\n') return BROKEN;
    made->text = gh_str_make(m->at, size);
    m->at += size + 2;
    return WHOLE;
}

static verdict take_value(model* m, unsigned depth, uint32_t* index);

/* depth: of arrays that are open around it. */
static verdict take_array(model* m, unsigned depth, node* made)
{
    uint32_t* link = &made->first;
    verdict result = WHOLE;
    if (made->number < -1 || made->number > (int64_t)GH_SLOTS) return BROKEN;
    if (made->number == -1)
    {
        made->type = '0';
        return depth < 2 ? BROKEN : WHOLE;
    }
    if (depth == GH_SLOTS_DEPTH_MAX) return BROKEN;
    for (int64_t i = 0; i < made->number && result == WHOLE; i++)
    {
        uint32_t index = 0;
        result = take_value(m, depth + 1, &index);
        *link = index;
        link = &m->nodes[index].next;
    }
    return result;
}

static verdict take_value(model* m, unsigned depth, uint32_t* index)
{
    if (m->at == m->end) return MORE;
    FUZZ_MUST(m->count < NODES_MAX);
    node* made = &m->nodes[*index = m->count++];
    memset(made, 0, sizeof(*made));
    made->type = *m->at++;
    if (made->type != '*' && (depth < 2 || (made->type != ':' && made->type != '$'))) return BROKEN;
    const verdict head = take_number(m, &made->number);
    if (head != WHOLE || made->type == ':') return head;
    return made->type == '$' ? take_string(m, made) : take_array(m, depth, made);
}

/* ---- the model: rows --------------------------------------------------------------------------------------------- */

/* The i-th element of an array, or one that is nothing. */
static const node* element(const model* m, const node* of, size_t i)
{
    static const node nothing;
    if (of->type != '*') return &nothing;
    uint32_t at = of->first;
    while (at != 0 && i-- > 0) at = m->nodes[at].next;
    return at == 0 ? &nothing : &m->nodes[at];
}

static bool is_string(const node* one)
{
    return one->type == '$' || one->type == '0';
}

static bool is_slot(const node* one)
{
    return one->type == ':' && one->number >= 0 && one->number < (int64_t)GH_SLOTS;
}

static gh_str announced_name(const model* m, const node* master)
{
    const node* announced = element(m, master, 3);
    gh_str name = {NULL, 0};
    const node* value;
    for (size_t i = 0; (value = element(m, announced, i + 1))->type != 0; i += 2)
    {
        const node* key = element(m, announced, i);
        if (key->type != '$' || !gh_str_equal(key->text, gh_str_literal("hostname")) || !is_string(value)) continue;
        name = value->text.size > GH_ENDPOINT_HOST_MAX ? gh_str_make(NULL, 0) : value->text;
    }
    return gh_endpoint_host_is_good(name) ? name : gh_str_make(NULL, 0);
}

static void model_row(const model* m, const node* row, transcript* to)
{
    const node *first = element(m, row, 0), *last = element(m, row, 1), *master = element(m, row, 2);
    const node *host = element(m, master, 0), *port = element(m, master, 1), *each;
    unsigned replicas = 0;
    if (!is_slot(first) || !is_slot(last) || first->number > last->number || !is_string(host) || port->type != ':')
    {
        put(to, "none\n");
        return;
    }
    for (size_t i = 3; (each = element(m, row, i))->type != 0; i++) replicas += each->type == '*' && each->number > 0;
    const bool too_long = host->text.size > GH_ENDPOINT_HOST_MAX;
    gh_endpoint at = gh_endpoint_make(host->text, too_long || port->number > UINT16_MAX ? -1 : port->number);
    put_row(to, (unsigned)first->number, (unsigned)last->number, at, announced_name(m, master), replicas);
}

static void read_by_model(gh_str bytes, transcript* to)
{
    static model m;
    node answer = {.type = '*'};
    m.count = 1;
    m.at = bytes.bytes;
    m.end = bytes.bytes + bytes.size;
    to->size = 0;
    verdict result = MORE;
    if (m.at < m.end && *m.at == '-')
    {
        put(to, "no map\n");
        return;
    }
    if (m.at < m.end) result = *m.at++ == '*' ? take_number(&m, &answer.number) : BROKEN;
    if (result == WHOLE && (answer.number < 0 || answer.number > (int64_t)GH_SLOTS)) result = BROKEN;
    for (int64_t i = 0; i < answer.number && result == WHOLE; i++)
    {
        uint32_t index = 0;
        m.count = 1;
        result = take_value(&m, 1, &index);
        if (result == WHOLE) model_row(&m, &m.nodes[index], to);
    }
    put(to, result == WHOLE ? "done\n" : result == MORE ? "more\n" : "broken\n");
}

static void must_be_same(const transcript* got, const transcript* expected, const char* how, size_t where)
{
    if (got->size == expected->size && memcmp(got->text, expected->text, got->size) == 0) return;
    FUZZ_FAIL("%s %zu: \"%.*s\", the model \"%.*s\"", how, where, (int)got->size, got->text, (int)expected->size,
              expected->text);
}

static void try_answer(fuzz_input* input)
{
    static transcript got, expected;
    uint16_t pattern[3];
    const uint16_t whole = BYTES_MAX, single = 1;
    for (size_t i = 0; i < FUZZ_COUNT(pattern); i++) pattern[i] = (uint16_t)(1 + fuzz_byte(input));
    const gh_str bytes = fuzz_rest(input);
    read_by_model(bytes, &expected);
    read_in_pieces(bytes, &whole, 1, &got);
    must_be_same(&got, &expected, "whole", 0);
    read_in_pieces(bytes, pattern, FUZZ_COUNT(pattern), &got);
    must_be_same(&got, &expected, "in pieces", 0);
    read_in_pieces(bytes, &single, 1, &got);
    must_be_same(&got, &expected, "byte by byte", 0);
    for (uint16_t cut = 2; bytes.size <= ALL_CUTS_MAX && cut < bytes.size; cut++)
    {
        const uint16_t two[] = {cut, BYTES_MAX};
        read_in_pieces(bytes, two, 2, &got);
        must_be_same(&got, &expected, "cut at", cut);
    }
}

/* ---- the map ----------------------------------------------------------------------------------------------------- */

#define WORDS_MAX 64u
#define HOSTS     5u
#define CAPACITY  4u

typedef enum word_kind
{
    BEGIN,
    ROW,
    MOVED,
    END
} word_kind;

/* What was said, in its order. who: one of the hosts, or HOSTS: nobody; full: there was no place for it. */
typedef struct word
{
    word_kind kind;
    uint16_t first;
    uint16_t last;
    uint32_t who;
    bool full;
} word;

typedef struct log
{
    word words[WORDS_MAX];
    size_t count;
    bool known[HOSTS]; /* has a place */
    gh_slots_map map;
} log;

static const char* const hosts[HOSTS] = {"10.0.0.1", "10.0.0.2", "node-3.example", "2001:db8::4", "10.0.0.5"};
static const char asked[] = "10.0.0.1"; /* the first of them, for rows that leave the host out */

/* Whom a slot belongs to, by all words so far: a host; HOSTS: nobody; HOSTS + 1: one without a place. */
static uint32_t owner_by_words(const log* of, uint16_t slot)
{
    uint32_t owner = HOSTS;
    bool settled = false;
    for (size_t i = 0; i < of->count; i++)
    {
        const word* each = &of->words[i];
        const bool covers = each->first <= slot && slot <= each->last;
        if (each->kind == BEGIN) settled = false;
        if (each->kind == END && !settled) owner = HOSTS;
        if ((each->kind == ROW && covers && !settled) || (each->kind == MOVED && covers))
        {
            owner = each->full ? HOSTS + 1 : each->who;
            settled = true;
        }
    }
    return owner;
}

static uint32_t owner_by_map(const log* of, uint16_t slot)
{
    const uint16_t place = gh_slots_map_owner(&of->map, slot);
    if (place == GH_SLOTS_NOBODY) return HOSTS;
    if (place == GH_SLOTS_NO_ROOM) return HOSTS + 1;
    FUZZ_MUST(place < CAPACITY);
    const gh_slots_node* found = &of->map.nodes[place];
    for (uint32_t i = 0; i < HOSTS; i++)
        if (gh_str_equal(gh_str_make(found->host, found->host_size), gh_str_of(hosts[i])) && found->port == 7000)
            return i;
    FUZZ_FAIL("slot %u is of %.*s:%u", slot, (int)found->host_size, found->host, found->port);
}

static void look_at(const log* of, uint16_t slot)
{
    const uint32_t by_map = owner_by_map(of, slot), by_words = owner_by_words(of, slot);
    if (by_map != by_words) FUZZ_FAIL("slot %u is of %u, not of %u", slot, by_map, by_words);
}

static void look_around(const log* of)
{
    for (size_t i = 0; i < of->count; i++)
    {
        const word* each = &of->words[i];
        if (each->kind == BEGIN || each->kind == END) continue;
        if (each->first > 0) look_at(of, (uint16_t)(each->first - 1));
        look_at(of, each->first);
        look_at(of, (uint16_t)((each->first + each->last) / 2));
        look_at(of, each->last);
        if (each->last < GH_SLOTS - 1) look_at(of, (uint16_t)(each->last + 1));
    }
    look_at(of, 0);
    look_at(of, GH_SLOTS - 1);
}

static gh_endpoint draw_endpoint(fuzz_input* input, uint32_t* who)
{
    gh_endpoint made = {GH_ENDPOINT_GIVEN, {NULL, 0}, 7000};
    *who = fuzz_below(input, HOSTS + 3);
    if (*who < HOSTS) made.host = gh_str_of(hosts[*who]);
    else if (*who == HOSTS) made.kind = GH_ENDPOINT_NOWHERE;
    else if (*who == HOSTS + 1) made.kind = GH_ENDPOINT_BAD;
    else made.kind = GH_ENDPOINT_ASKED;
    if (made.kind == GH_ENDPOINT_NOWHERE || made.kind == GH_ENDPOINT_BAD) made.port = 0;
    *who = made.kind == GH_ENDPOINT_ASKED ? 0 : *who > HOSTS ? HOSTS : *who;
    return made;
}

/* The next to get a place, if there is one. */
static bool has_place(log* of, uint32_t who)
{
    uint32_t used = 0;
    if (who == HOSTS || of->known[who]) return true;
    for (uint32_t i = 0; i < HOSTS; i++) used += of->known[i];
    if (used == CAPACITY) return false;
    return of->known[who] = true;
}

static void say_row(log* of, fuzz_input* input)
{
    gh_slots_row row;
    uint32_t who;
    memset(&row, 0, sizeof(row));
    const gh_endpoint at = draw_endpoint(input, &who);
    const uint16_t one = (uint16_t)fuzz_below(input, GH_SLOTS), other = (uint16_t)fuzz_below(input, GH_SLOTS);
    row.is_good = fuzz_byte(input) < 240;
    row.first = one < other ? one : other;
    row.last = one < other ? other : one;
    row.endpoint = at.kind;
    row.port = at.port;
    row.host_size = (uint8_t)at.host.size;
    if (at.host.size > 0) memcpy(row.host, at.host.bytes, at.host.size);
    if (row.is_good) of->words[of->count++] = (word){ROW, row.first, row.last, who, !has_place(of, who)};
    gh_slots_map_row(&of->map, &row, gh_str_of(asked));
}

static void say_moved(log* of, fuzz_input* input)
{
    uint32_t who;
    const gh_endpoint at = draw_endpoint(input, &who);
    const uint16_t slot = (uint16_t)fuzz_below(input, GH_SLOTS);
    of->words[of->count++] = (word){MOVED, slot, slot, who, !has_place(of, who)};
    gh_slots_map_moved(&of->map, slot, at, gh_str_of(asked));
}

/* As who follows a Cluster does behind each map: what nobody names any more is forgotten. */
static void forget_the_unnamed(log* of)
{
    for (uint32_t place = 0; place < CAPACITY; place++)
    {
        const gh_slots_node* found = &of->map.nodes[place];
        if (found->host_size == 0 || gh_slots_map_names(&of->map, place)) continue;
        for (uint32_t i = 0; i < HOSTS; i++)
            if (gh_str_equal(gh_str_make(found->host, found->host_size), gh_str_of(hosts[i]))) of->known[i] = false;
        gh_slots_map_forget(&of->map, place);
    }
}

static void try_map(fuzz_input* input)
{
    static log of;
    static void* memory;
    gh_arena arena = gh_arena_make(NULL, 0);
    bool mapping = false;
    memset(&of, 0, sizeof(of));
    gh_slots_map_take(&of.map, &arena, CAPACITY);
    const size_t size = arena.used;
    memory = fuzz_block(size);
    arena = gh_arena_make(memory, size);
    FUZZ_MUST(gh_slots_map_take(&of.map, &arena, CAPACITY));
    while (fuzz_left(input) > 0 && of.count < WORDS_MAX)
    {
        const uint8_t which = fuzz_byte(input);
        if (which < 32 && !mapping)
        {
            of.words[of.count++] = (word){BEGIN, 0, 0, HOSTS, false};
            gh_slots_map_begin(&of.map);
            mapping = true;
        }
        else if (which < 160 && mapping) say_row(&of, input);
        else if (which < 208) say_moved(&of, input);
        else if (mapping)
        {
            of.words[of.count++] = (word){END, 0, 0, HOSTS, false};
            gh_slots_map_end(&of.map);
            mapping = false;
            look_around(&of);
            forget_the_unnamed(&of);
        }
    }
    look_around(&of);
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_input input = fuzz_input_of(data, size < BYTES_MAX ? size : BYTES_MAX);
    if ((fuzz_byte(&input) & 1) == 0) try_answer(&input);
    else try_map(&input);
    return 0;
}
