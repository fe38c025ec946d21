/* Tests of guildhall/files.h against real servers: what is sent arrives, whole, in blocks and lines. */

#include "support/faults/heap.h"
#include "support/scene/parcel.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME    gh_str_literal("map 7")
#define CHANNEL gh_str_literal("logs")
#define CHUNK   ((size_t)1024)

/* A server, a game that sends and one that reads. */
typedef struct scene
{
    redis_server* server;
    game* a;
    game* b;
} scene;

static scene scene_start(void)
{
    scene self;
    self.server = redis_server_start(NULL);
    self.a = game_start_ready(redis_server_address(self.server));
    self.b = game_start_ready(redis_server_address(self.server));
    return self;
}

/* ---- the ordinary way ---------------------------------------------------------------------------------- */

static void sent_once_and_read_by_all(void** state)
{
    (void)state;
    scene self = scene_start();
    const size_t size = 100 * CHUNK + 17;
    const char* bytes = parcel_bytes(self.a, size, 1, false);
    sender* from = sender_new(self.a, 3, bytes, size);
    assert_status(sender_run(from, NAME), GH_OK);
    assert_int_equal(from->op.taken_bytes, size);
    assert_int_equal(from->op.stored_bytes, size);
    assert_int_equal(from->op.resumed_bytes, 0);
    for (int i = 0; i < 3; i++)
    {
        reader* to = reader_new(self.b, size);
        assert_status(reader_run(to, NAME, from->texts[i]), GH_OK);
        assert_got(to, bytes, size);
        assert_true(to->op.is_whole);
        assert_true(to->op.is_sealed);
        assert_int_equal(to->op.offset_bytes, size);
        assert_int_equal(to->op.id, from->op.id);
    }
    assert_int_equal(redis_server_integer(self.server, "EXISTS gh:{file:map%%207}:c"), 0);
}

/* Sizes around the borders of a chunk, of the lanes, and of the cap; sender and reader at the same time. */
static void every_size_arrives(void** state)
{
    (void)state;
    static const size_t sizes[] = {0,
                                   1,
                                   CHUNK - 1,
                                   CHUNK,
                                   CHUNK + 1,
                                   4 * CHUNK - 1,
                                   4 * CHUNK,
                                   4 * CHUNK + 1,
                                   8 * CHUNK - 1,
                                   8 * CHUNK,
                                   8 * CHUNK + 1,
                                   30 * CHUNK + 500};
    scene self = scene_start();
    const char* bytes = parcel_bytes(self.a, 31 * CHUNK, 2, false);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
    {
        char name[16];
        snprintf(name, sizeof(name), "size %zu", sizes[i]);
        sender* from = sender_new(self.a, 1, bytes, sizes[i]);
        reader* to = reader_new(self.b, sizes[i]);
        from->config.cap_bytes = 8 * CHUNK;
        sender_begin(from, gh_str_of(name));
        reader_begin(to, gh_str_of(name), "0");
        GAME_UNTIL(
            sender_step(from) &
            (gh_op_poll(&to->op.op) == GH_GONE ? (reader_begin(to, gh_str_of(name), "0"), false) : reader_step(to)));
        assert_status(gh_op_poll(&from->op.op), GH_OK);
        assert_status(gh_op_poll(&to->op.op), GH_OK);
        assert_got(to, bytes, sizes[i]);
        assert_true(to->op.is_whole);
    }
}

/* The store takes chunks in order, so one that overtakes another would have to go twice. */
static void each_chunk_goes_once(void** state)
{
    (void)state;
    scene self = scene_start();
    const size_t size = 64 * CHUNK;
    assert_status(sender_run(sender_new(self.a, 1, "x", 1), gh_str_literal("first")), GH_OK); /* loads the scripts */
    sender* from = sender_new(self.a, 1, parcel_bytes(self.a, size, 24, false), size);
    from->config.lanes = 16;
    from->config.tick_bytes = 16 * CHUNK;
    uint64_t sent = game_stats(self.a).bytes_sent;
    assert_status(sender_run(from, NAME), GH_OK);
    assert_in_range(game_stats(self.a).bytes_sent - sent, size, size + 64 * 512 + 2048);
}

/* ---- logs ---------------------------------------------------------------------------------------------- */

/* gzip's own program makes the file. */
static char* packed(const scene* self, const char* bytes, size_t size, size_t* packed_size)
{
    char path[300];
    char command[700];
    char* out = game_new(self->a, size + 1000);
    snprintf(path, sizeof(path), "%s/plain", redis_server_folder(self->server));
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof(command), "gzip -c '%s' > '%s.gz'", path, path);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof(command), "%s.gz", path);
    file = fopen(command, "rb");
    assert_non_null(file);
    *packed_size = fread(out, 1, size + 1000, file);
    assert_int_equal(fclose(file), 0);
    return out;
}

static bool there_is_gzip(void)
{
    gh_file_read_config config = gh_file_read_config_default();
    config.format = GH_FILE_GZIP;
    return gh_file_read_memory(&config) > 0;
}

/* Lists the channel, waiting for the number that comes after. */
static gh_files_list* list_after(game* from, uint64_t after)
{
    gh_files_list* list = GAME_NEW(from, gh_files_list);
    gh_files_list_config config = gh_files_list_config_default();
    config.after = after;
    config.wait_us = 30 * SECOND_US;
    config.entries = GAME_NEW_ARRAY(from, gh_file_entry, 8);
    config.entry_count = 8;
    config.names = game_new(from, 8 * GH_NAME_SIZE_MAX);
    config.names_size = 8 * GH_NAME_SIZE_MAX;
    assert_status(gh_files_list_begin(list, from->client, CHANNEL, &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&list->op) != GH_PENDING);
    return list;
}

/* Three log files of 1, 10,000 and 100,000 lines, the last one packed, go through a channel; the reader
   counts their lines. */
static void logs_of_one_to_a_hundred_thousand_lines(void** state)
{
    (void)state;
    static const unsigned lines[] = {1, 10000, 100000};
    scene self = scene_start();
    uint64_t after = 0;
    for (unsigned i = 0; i < 3; i++)
    {
        char* text = game_new(self.a, lines[i] * 32);
        size_t size = 0;
        for (unsigned j = 0; j < lines[i]; j++) size += (size_t)sprintf(text + size, "line %u of file %u\n", j, i);
        bool pack = i == 2 && there_is_gzip();
        if (pack) text = packed(&self, text, size, &size);
        sender* from = sender_new(self.a, 1, text, size);
        char name[20];
        snprintf(name, sizeof(name), pack ? "log%u.gz" : "log%u", i);
        from->config.channel = CHANNEL;
        from->config.chunk_bytes = 16 * CHUNK;
        assert_status(sender_run(from, gh_str_of(name)), GH_OK);
    }
    for (unsigned i = 0; i < 3; i++)
    {
        gh_files_list* list = list_after(self.b, after);
        assert_status(gh_op_poll(&list->op), GH_OK);
        const gh_file_entry* entry = &list->entries[0];
        after = entry->number;
        assert_int_equal(entry->name.bytes[3], '0' + (int)i);
        reader* to = reader_new(self.b, lines[i] * 32);
        to->way = READER_LINES;
        to->config.channel = CHANNEL;
        to->config.id = entry->id;
        to->config.chunk_bytes = 16 * CHUNK;
        if (entry->name.size > 4) to->config.format = GH_FILE_GZIP, to->config.keep = GH_FILE_AT_END;
        assert_status(reader_run(to, entry->name, "0"), GH_OK);
        assert_int_equal(to->op.lines, lines[i]);
    }
    assert_int_equal(redis_server_integer(self.server, "HLEN gh:{files:logs}:f"), 0); /* all read: all gone */
    assert_int_equal(redis_server_integer(self.server, "HGET gh:{files:logs}:s b"), 0);
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* The lines of a text, each with a \n; what fgets would give. */
static size_t lines_of(const char* text, size_t size, char* out)
{
    size_t made = 0;
    for (size_t i = 0; i < size; i++)
    {
        if (text[i] == '\r' && i + 1 < size && text[i + 1] == '\n') continue;
        out[made++] = text[i];
    }
    if (size > 0 && text[size - 1] != '\n') out[made++] = '\n';
    return made;
}

static void lines_cross_the_borders_of_chunks(void** state)
{
    (void)state;
    scene self = scene_start();
    for (unsigned i = 0; i < 6; i++)
    {
        const size_t size = 9 * CHUNK + 333 * i;
        char* text = parcel_bytes(self.a, size, 6 + i, true);
        char name[16];
        snprintf(name, sizeof(name), "text %u", i);
        if (i == 1) memcpy(text + CHUNK - 1, "\r\n", 2); /* the border cuts \r\n in two */
        if (i == 2) memcpy(text + CHUNK - 2, "\r\n", 2);
        if (i == 3) memcpy(text, "\n\n\n\r\n", 5);
        if (i == 4) text[size - 1] = 'x';
        if (i == 5) text[size - 1] = '\n';
        char* expected = game_new(self.a, size + 1);
        size_t expected_size = lines_of(text, size, expected);
        assert_status(sender_run(sender_new(self.a, 1, text, size), gh_str_of(name)), GH_OK);
        reader* to = reader_new(self.b, size + 1);
        to->way = READER_LINES;
        to->config.line_bytes = 1000;
        assert_status(reader_run(to, gh_str_of(name), "0"), GH_OK);
        assert_got(to, expected, expected_size);
        assert_int_equal(to->too_long, 0);
    }
}

static void line_that_is_too_long_is_cut_and_told(void** state)
{
    (void)state;
    scene self = scene_start();
    char* text = game_new(self.a, 4000);
    size_t size = 0;
    size += (size_t)sprintf(text + size, "%0*d\n", 256, 1);   /* exactly as long as may be */
    size += (size_t)sprintf(text + size, "%0*d\r\n", 256, 2); /* and so, without its \r */
    size += (size_t)sprintf(text + size, "%0*d\n", 257, 3);
    size += (size_t)sprintf(text + size, "%0*d\n", 2500, 4);
    size += (size_t)sprintf(text + size, "short\n");
    assert_status(sender_run(sender_new(self.a, 1, text, size), NAME), GH_OK);
    reader* to = reader_new(self.b, 4000);
    to->way = READER_LINES;
    assert_status(reader_run(to, NAME, "0"), GH_OK);
    assert_int_equal(to->op.lines, 5);
    assert_int_equal(to->op.lines_cut, 2);
    assert_int_equal(to->too_long, 2);
    assert_int_equal(to->got_size, 4 * 257 + 6);
    assert_memory_equal(to->got + 4 * 257, "short\n", 6);
}

/* ---- gzip ---------------------------------------------------------------------------------------------- */

static void packed_file_of_two_members_is_one_text(void** state)
{
    (void)state;
    if (!there_is_gzip()) skip();
    scene self = scene_start();
    const size_t size = 60000;
    const char* text = parcel_bytes(self.a, size, 20, true);
    size_t first = 0;
    size_t second = 0;
    char* one = packed(&self, text, size / 2, &first);
    char* two = packed(&self, text + size / 2, size - size / 2, &second);
    char* both = game_new(self.a, first + second + 512);
    memcpy(both, one, first);
    memcpy(both + first, two, second); /* and zeros behind it, as tapes have them */
    assert_status(sender_run(sender_new(self.a, 2, both, first + second + 512), NAME), GH_OK);
    reader* to = reader_new(self.b, size);
    to->config.format = GH_FILE_GZIP;
    assert_status(reader_run(to, NAME, "0"), GH_OK);
    assert_got(to, text, size);
    char* expected = game_new(self.a, size + 1);
    size_t expected_size = lines_of(text, size, expected);
    to = reader_new(self.b, size + 1);
    to->config.format = GH_FILE_GZIP;
    to->way = READER_LINES;
    to->config.line_bytes = 2000;
    assert_status(reader_run(to, NAME, "1"), GH_OK);
    assert_got(to, expected, expected_size);
}

/* zlib's window and state are in the reader's memory too. */
static void packed_file_is_read_without_the_heap(void** state)
{
    (void)state;
    if (!there_is_gzip()) skip();
    assert_true(heap_watch_works());
    scene self = scene_start();
    const size_t size = 60000;
    const char* text = parcel_bytes(self.a, size, 22, true);
    size_t packed_size = 0;
    char* bytes = packed(&self, text, size, &packed_size);
    assert_status(sender_run(sender_new(self.a, 1, bytes, packed_size), NAME), GH_OK);
    reader* to = reader_new(self.b, size);
    to->config.format = GH_FILE_GZIP;
    to->config.memory_size = gh_file_read_memory(&to->config);
    to->config.memory = game_new(self.b, to->config.memory_size);
    heap_watch_begin();
    gh_status status = reader_run(to, NAME, "0");
    heap_counts counts = heap_watch_end();
    assert_status(status, GH_OK);
    assert_got(to, text, size);
    assert_int_equal(counts.total, 0);
}

static gh_status read_packed(const scene* self, const char* name, const char* bytes, size_t size)
{
    assert_status(sender_run(sender_new(self->a, 1, bytes, size), gh_str_of(name)), GH_OK);
    reader* to = reader_new(self->b, 100000);
    to->config.format = GH_FILE_GZIP;
    return reader_run(to, gh_str_of(name), "0");
}

/* 70 KB that are 67 MB: a call unpacks no more of them than one tick may. */
static void line_without_an_end_is_unpacked_in_pieces(void** state)
{
    (void)state;
    if (!there_is_gzip()) skip();
    scene self = scene_start();
    const size_t size = (size_t)64 << 20;
    const uint32_t tick_bytes = 256 * 1024;
    char* line = game_new(self.a, size);
    size_t small = 0;
    memset(line, 'a', size);
    char* bytes = packed(&self, line, size, &small);
    assert_status(sender_run(sender_new(self.a, 1, bytes, small), NAME), GH_OK);
    reader* to = reader_new(self.b, 4096);
    to->config.format = GH_FILE_GZIP;
    to->config.lanes = 16;
    to->config.chunk_bytes = 16384;
    to->config.tick_bytes = tick_bytes;
    reader_begin(to, NAME, "0");
    uint64_t frames = 0;
    gh_str got;
    gh_status status = GH_PENDING;
    for (; status == GH_PENDING; frames++)
    {
        game_tick_all();
        for (int i = 0; i < 3 && status == GH_PENDING; i++) status = gh_file_read_line(&to->op, &got);
        assert_true(frames < 100000);
    }
    assert_status(status, GH_TOO_SMALL);
    assert_int_equal(got.size, to->config.line_bytes);
    assert_true(frames >= size / tick_bytes);
    assert_int_equal(to->op.lines_cut, 1);
}

static void broken_gzip_is_told(void** state)
{
    (void)state;
    if (!there_is_gzip()) skip();
    scene self = scene_start();
    size_t size = 0;
    char* good = packed(&self, parcel_bytes(self.a, 20000, 21, true), 20000, &size);
    assert_status(read_packed(&self, "good", good, size), GH_OK);
    assert_status(read_packed(&self, "cut", good, size - 1), GH_CORRUPT);
    assert_status(read_packed(&self, "half", good, size / 2), GH_CORRUPT);
    assert_status(read_packed(&self, "plain", "not gzip at all", 15), GH_CORRUPT);
    assert_status(read_packed(&self, "nothing", "", 0), GH_CORRUPT);
    char* longer = game_new(self.a, size + 3);
    memcpy(longer, good, size);
    memcpy(longer + size, "\0\0x", 3);
    assert_status(read_packed(&self, "padded", longer, size + 2), GH_OK);
    assert_status(read_packed(&self, "tail", longer, size + 3), GH_CORRUPT);
    good[size / 2] ^= 1;
    assert_status(read_packed(&self, "flipped", good, size), GH_CORRUPT);
}

/* ---- budgets and time-outs ----------------------------------------------------------------------------- */

/* In no tick does an op move more than tick_bytes, whatever is there to be moved. */
static void tick_moves_no_more_than_its_bytes(void** state)
{
    (void)state;
    scene self = scene_start();
    const size_t size = 64 * CHUNK;
    assert_status(sender_run(sender_new(self.a, 1, "x", 1), gh_str_literal("first")), GH_OK); /* loads the scripts */
    sender* from = sender_new(self.a, 1, parcel_bytes(self.a, size, 22, false), size);
    reader* to = reader_new(self.b, size);
    from->config.lanes = to->config.lanes = 16;
    from->config.tick_bytes = to->config.tick_bytes = 3 * CHUNK;
    sender_begin(from, NAME);
    uint64_t most = 0;
    for (bool over = false; !over;)
    {
        uint64_t before = game_stats(self.a).bytes_sent;
        over = sender_step(from);
        game_tick_all();
        if (game_stats(self.a).bytes_sent - before > most) most = game_stats(self.a).bytes_sent - before;
    }
    assert_in_range(most, 3 * CHUNK, 3 * (CHUNK + 512)); /* keys and digests go with each chunk */
    most = 0;
    reader_begin(to, NAME, "0");
    for (bool over = false; !over;)
    {
        uint64_t before = game_stats(self.b).replies;
        over = reader_step(to);
        game_tick_all();
        if (game_stats(self.b).replies - before > most) most = game_stats(self.b).replies - before;
    }
    assert_got(to, from->bytes, size);
    assert_in_range(most, 2, 4); /* three chunks, and the answer to how far we are */
}

/* A chunk each 400 ms, which is far from the time that a standstill takes. */
static void allow_one_more(sender* self, uint64_t* next_us)
{
    if (game_now_us(self->owner) < *next_us || self->stop_at >= self->size) return;
    *next_us = game_now_us(self->owner) + 400000;
    self->stop_at += CHUNK;
}

/* Time-outs count from the last progress: nobody reads, or nobody writes. */
static void standstill_is_told_and_slowness_is_not(void** state)
{
    (void)state;
    scene self = scene_start();
    sender* from = sender_new(self.a, 1, parcel_bytes(self.a, 9 * CHUNK, 23, false), 9 * CHUNK);
    from->config.cap_bytes = 2 * CHUNK;
    from->config.progress_us = 5 * SECOND_US / 2;
    sender_begin(from, NAME);
    GAME_UNTIL((sender_step(from), from->op.is_full));
    assert_int_equal(from->op.stored_bytes, 2 * CHUNK);
    GAME_UNTIL(sender_step(from));
    assert_status(gh_op_poll(&from->op.op), GH_TIMEOUT);

    reader* to = reader_new(self.b, 9 * CHUNK);
    to->config.progress_us = 5 * SECOND_US / 2;
    assert_status(reader_run(to, NAME, "0"), GH_TIMEOUT); /* it read what is there */
    assert_int_equal(to->got_size, 2 * CHUNK);

    /* Longer than that in all, never as long without a chunk. */
    sender_begin(from, NAME);
    reader_begin(to, NAME, "0");
    from->stop_at = from->at;
    uint64_t next_us = 0;
    GAME_UNTIL((allow_one_more(from, &next_us), sender_step(from) & reader_step(to)));
    assert_status(gh_op_poll(&from->op.op), GH_OK);
    assert_status(gh_op_poll(&to->op.op), GH_OK);
    assert_got(to, from->bytes, 9 * CHUNK);
    assert_int_equal(to->op.resumed_bytes, 2 * CHUNK);
}

TEST_FILE(files, cmocka_unit_test(sent_once_and_read_by_all), cmocka_unit_test(every_size_arrives),
          cmocka_unit_test(each_chunk_goes_once), cmocka_unit_test(logs_of_one_to_a_hundred_thousand_lines),
          cmocka_unit_test(lines_cross_the_borders_of_chunks), cmocka_unit_test(line_that_is_too_long_is_cut_and_told),
          cmocka_unit_test(packed_file_of_two_members_is_one_text),
          cmocka_unit_test(packed_file_is_read_without_the_heap), cmocka_unit_test(broken_gzip_is_told),
          cmocka_unit_test(line_without_an_end_is_unpacked_in_pieces),
          cmocka_unit_test(tick_moves_no_more_than_its_bytes),
          cmocka_unit_test(standstill_is_told_and_slowness_is_not));
