/* fuzz_lines.c -- files that are read by lines or by blocks, plain or packed, in chunks of any size, while they are
   sent or when they are whole: against zlib and a splitter of lines that has all of it at once. */

#include "packed.h"
#include "world.h"

#include "base/hash.h"

#include <stdio.h>

#define FILE_MAX   8192u
#define LANES      3u
#define TICKS_MAX  3000
#define CHUNKS_MAX 200u
#define NEWS_MAX   10u /* each may be asked for a second after the one before */

typedef struct game
{
    const uint8_t* bytes; /* of the file */
    size_t size;
    size_t sent; /* of these, so far */
    uint32_t chunk_bytes;
    uint32_t step;   /* chunks that come at once */
    fuzz_input dice; /* of the caller */
    packed_plain plain;
    size_t taken; /* of the plain bytes, by the caller */
    uint32_t line_bytes;
    uint64_t lines;
    uint64_t cut;
} game;

/* ---- the store --------------------------------------------------------------------------------------------------- */

static void put_digest(const game* self, bool sealed, resp_text* reply)
{
    char text[33] = "";
    const gh_digest digest = gh_hash_digest(self->bytes, self->size);
    for (size_t i = 0; i < sizeof(digest.bytes); i++) snprintf(text + 2 * i, 3, "%02x", digest.bytes[i]);
    resp_bulk(reply, sealed ? gh_str_make(text, 32) : gh_str_make(NULL, 0));
}

/* Each time it is asked, some more chunks have come. */
static void answer_news(game* self, const world_request* request, resp_text* reply)
{
    const bool done = resp_is(request->words[3 + request->keys + 3], "1");
    const size_t more = (size_t)self->step * self->chunk_bytes;
    self->sent = self->sent + more < self->size ? self->sent + more : self->size;
    const bool sealed = self->sent == self->size;
    const size_t chunks = (self->sent + self->chunk_bytes - 1) / self->chunk_bytes;
    const long long figures[] = {(long long)request->sequence,
                                 0,
                                 7,
                                 self->chunk_bytes,
                                 (long long)chunks,
                                 (long long)self->sent,
                                 0,
                                 done ? 0 : 1,
                                 sealed,
                                 10 * WORLD_SECOND_US};
    resp_array(reply, FUZZ_COUNT(figures) + 1);
    for (size_t i = 0; i < FUZZ_COUNT(figures); i++) resp_integer(reply, figures[i]);
    put_digest(self, sealed, reply);
}

static void answer_chunk(const game* self, gh_str number, resp_text* reply)
{
    static char text[16 + FILE_MAX];
    uint64_t index;
    FUZZ_MUST(resp_is_number(number, &index));
    const size_t begin = (size_t)index * self->chunk_bytes;
    FUZZ_MUST(begin < self->sent);
    const size_t size = self->sent - begin < self->chunk_bytes ? self->sent - begin : self->chunk_bytes;
    const gh_digest digest = gh_hash_digest(self->bytes + begin, size);
    memcpy(text, digest.bytes, 16);
    memcpy(text + 16, self->bytes + begin, size);
    resp_bulk(reply, gh_str_make(text, 16 + size));
}

static bool answer(world* of, const world_request* request, resp_text* reply)
{
    game* self = of->context;
    if (request->script == &gh_files_read_lua) answer_news(self, request, reply);
    else if (resp_is(request->words[0], "HGET")) answer_chunk(self, request->words[2], reply);
    else return false;
    return true;
}

/* ---- the caller -------------------------------------------------------------------------------------------------- */

/* The next line of what zlib has, without its end. False: there is none. */
static bool next_line(game* self, gh_str* line, bool* is_cut)
{
    const char* at = (const char*)self->plain.bytes + self->taken;
    const size_t left = self->plain.size - self->taken;
    const char* end = memchr(at, '\n', left);
    size_t size = end == NULL ? left : (size_t)(end - at);
    if (left == 0) return false;
    self->taken += size + (end != NULL ? 1 : 0);
    if (size > 0 && at[size - 1] == '\r') size--;
    *is_cut = size > self->line_bytes;
    *line = gh_str_make(at, *is_cut ? self->line_bytes : size);
    return true;
}

/* Of a broken file, zlib may have come less far than the lines did. */
static void take_line(game* self, gh_str line, bool was_cut)
{
    gh_str expected;
    bool is_cut;
    const bool is_there = next_line(self, &expected, &is_cut);
    self->lines++;
    self->cut += was_cut;
    if (!is_there || (self->taken == self->plain.size && self->plain.status != GH_OK)) return;
    FUZZ_MUST(is_cut == was_cut);
    if (!gh_str_equal(line, expected))
        FUZZ_FAIL("line %llu is \"%.*s\", not \"%.*s\"", (unsigned long long)self->lines, GH_STR_ARG(line),
                  GH_STR_ARG(expected));
}

static void take_block(game* self, gh_str block)
{
    const size_t left = self->plain.size - self->taken;
    const size_t size = block.size < left ? block.size : left;
    FUZZ_MUST(block.size > 0 && (size == block.size || self->plain.status != GH_OK));
    FUZZ_MUST(memcmp(self->plain.bytes + self->taken, block.bytes, size) == 0);
    self->taken += size;
}

/* Some of what there is. What it last said. */
static gh_status pull(game* self, gh_file_read* read, bool by_line)
{
    gh_str text;
    for (int left = 1 + (fuzz_byte(&self->dice) & 31); left > 0; left--)
    {
        const gh_status status = by_line ? gh_file_read_line(read, &text) : gh_file_read_block(read, &text);
        if (status != GH_OK && status != GH_TOO_SMALL) return status;
        fuzz_touch(text);
        if (by_line) take_line(self, text, status == GH_TOO_SMALL);
        else take_block(self, text);
    }
    return GH_PENDING;
}

static void must_have_read_all(const game* self, const gh_file_read* read, gh_status status, bool by_line)
{
    if (self->plain.status == GH_TOO_LARGE) return;
    FUZZ_MUST((status == GH_EMPTY) == (self->plain.status == GH_OK));
    if (status != GH_EMPTY) FUZZ_MUST(status == GH_CORRUPT);
    else
    {
        FUZZ_MUST(self->taken == self->plain.size && read->is_whole);
        if (by_line) FUZZ_MUST(read->lines == self->lines && read->lines_cut == self->cut);
    }
}

static void read_file(world* of, game* self, gh_file_format format, bool by_line)
{
    static gh_file_read read;
    gh_file_read_config config = gh_file_read_config_default();
    gh_status status = GH_PENDING;
    config.format = format;
    config.chunk_bytes = FILE_MAX;
    config.lanes = LANES;
    config.line_bytes = self->line_bytes;
    config.memory_size = gh_file_read_memory(&config);
    config.memory = fuzz_block(config.memory_size);
    memset(&read, 0, sizeof(read));
    FUZZ_MUST(gh_file_read_begin(&read, of->client, gh_str_literal("log"), gh_str_literal("mia"), &config) == GH_OK);
    for (int i = 0; i < TICKS_MAX && status == GH_PENDING; i++)
    {
        world_tick(of, 16000);
        status = pull(self, &read, by_line);
    }
    must_have_read_all(self, &read, status, by_line);
    if (status == GH_EMPTY) FUZZ_MUST(gh_file_read_done(&read) == GH_OK);
    for (int i = 0; i < 20 && gh_op_is_busy(&read.op); i++) world_tick(of, 16000);
    FUZZ_MUST(!gh_op_is_busy(&read.op) || self->plain.status == GH_TOO_LARGE);
    if (status == GH_EMPTY) FUZZ_MUST(gh_op_poll(&read.op) == GH_OK);
    gh_op_detach(&read.op);
    free(config.memory);
}

/* ---- one input --------------------------------------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static world the_world;
    static game self;
    static uint8_t packed[PACKED_ROOM];
    const gh_client_config usual = world_config();
    fuzz_input input = fuzz_input_of(data, size < FILE_MAX ? size : FILE_MAX);
    const uint8_t how = fuzz_byte(&input);
    bool whole = true;
    self.chunk_bytes = 1 + fuzz_below(&input, 256) * (1 + (how >> 4));
    self.step = 1 + (fuzz_byte(&input) & 31);
    self.line_bytes = 1 + fuzz_byte(&input) % 80;
    self.dice = fuzz_slice(&input);
    self.sent = self.taken = 0;
    self.lines = self.cut = 0;
    fuzz_input packing = fuzz_slice(&input);
    const gh_str text = fuzz_rest(&input);
    self.bytes = (const uint8_t*)text.bytes;
    self.size = text.size;
    if ((how & 3) == 3)
    {
        self.size = packed_make(&packing, text, packed, &whole);
        self.bytes = packed;
    }
    if ((how & 2) != 0) packed_unpack(self.bytes, self.size, &self.plain);
    else
    {
        self.plain.size = self.size;
        self.plain.status = GH_OK;
        if (self.size > 0) memcpy(self.plain.bytes, self.bytes, self.size);
    }
    if (self.chunk_bytes * CHUNKS_MAX < self.size) self.chunk_bytes = (uint32_t)(self.size / CHUNKS_MAX + 1);
    if (self.step * self.chunk_bytes * NEWS_MAX < self.size) self.step = CHUNKS_MAX;
    FUZZ_MUST(world_start(&the_world, &usual, gh_str_make(NULL, 0)));
    the_world.context = &self;
    the_world.answer = answer;
    read_file(&the_world, &self, (how & 2) != 0 ? GH_FILE_GZIP : GH_FILE_PLAIN, (how & 4) == 0);
    world_end(&the_world);
    world_forget(&the_world);
    return 0;
}
