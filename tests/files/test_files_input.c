/* What files.h and aggregate.h are given that they must refuse, with the status that names it and nothing
   changed. */

#include "support/scene/parcel.h"
#include "support/scene/places.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

#define NAME gh_str_literal("file")

static char long_name[GH_NAME_SIZE_MAX + 2];

static gh_str too_long(void)
{
    memset(long_name, 'x', sizeof(long_name));
    return gh_str_make(long_name, GH_NAME_SIZE_MAX + 1);
}

static game* offline(void)
{
    return game_start("unix:/nowhere");
}

/* ---- send ---------------------------------------------------------------------------------------------- */

static gh_status begin_with(sender* self, gh_str name)
{
    return gh_file_send_begin(&self->op, self->owner->client, name, &self->config);
}

/* Tries one change of a valid config, and puts it back. */
#define REFUSED(self, begin, field, value, expected)                                                                   \
    do                                                                                                                 \
    {                                                                                                                  \
        __typeof__((self)->config) refused_kept = (self)->config;                                                      \
        (self)->config.field = (value);                                                                                \
        assert_status(begin, expected);                                                                                \
        (self)->config = refused_kept;                                                                                 \
    } while (0)

static void bad_configs_of_a_sender(void** state)
{
    (void)state;
    game* a = offline();
    sender* self = GAME_NEW(a, sender);
    sender_init(self, a, 3, "x", 1);
    assert_status(gh_file_send_begin(NULL, a->client, NAME, &self->config), GH_INVALID_OP);
    assert_status(gh_file_send_begin(&self->op, NULL, NAME, &self->config), GH_INVALID_CLIENT);
    assert_status(gh_file_send_begin(&self->op, a->client, NAME, NULL), GH_INVALID_CONFIG);
    assert_status(begin_with(self, gh_str_of("")), GH_INVALID_NAME);
    assert_status(begin_with(self, gh_str_make(NULL, 4)), GH_INVALID_NAME);
    assert_status(begin_with(self, too_long()), GH_INVALID_NAME);
    REFUSED(self, begin_with(self, NAME), struct_size, 0, GH_INVALID_CONFIG);
    REFUSED(self, begin_with(self, NAME), channel, too_long(), GH_INVALID_CHANNEL);
    REFUSED(self, begin_with(self, NAME), channel, gh_str_make(NULL, 3), GH_INVALID_CHANNEL);
    REFUSED(self, begin_with(self, NAME), readers, NULL, GH_INVALID_READERS);
    REFUSED(self, begin_with(self, NAME), reader_count, 0, GH_INVALID_READERS);
    REFUSED(self, begin_with(self, NAME), reader_count, 4, GH_INVALID_READERS);
    REFUSED(self, begin_with(self, NAME), reader_count, GH_FILE_READERS_MAX + 1, GH_INVALID_READERS);
    REFUSED(self, begin_with(self, NAME), chunk_bytes, GH_FILE_CHUNK_MIN - 1, GH_INVALID_CHUNK);
    REFUSED(self, begin_with(self, NAME), chunk_bytes, GH_FILE_CHUNK_MAX + 1, GH_INVALID_CHUNK);
    REFUSED(self, begin_with(self, NAME), lanes, 0, GH_INVALID_CHUNK);
    REFUSED(self, begin_with(self, NAME), lanes, GH_FILE_LANES_MAX + 1, GH_INVALID_CHUNK);
    REFUSED(self, begin_with(self, NAME), cap_bytes, 1023, GH_INVALID_CAP);
    REFUSED(self, begin_with(self, NAME), cap_bytes, GH_FILE_CAP_MAX + 1, GH_INVALID_CAP);
    REFUSED(self, begin_with(self, NAME), channel_bytes, 1024, GH_INVALID_CAP);
    REFUSED(self, begin_with(self, NAME), channel_bytes, GH_FILE_CAP_MAX * 1024 + 1, GH_INVALID_CAP);
    REFUSED(self, begin_with(self, NAME), tick_bytes, 1023, GH_INVALID_TICK_BYTES);
    REFUSED(self, begin_with(self, NAME), tick_bytes, 1073741825, GH_INVALID_TICK_BYTES);
    REFUSED(self, begin_with(self, NAME), progress_us, 999, GH_INVALID_TIMEOUT);
    REFUSED(self, begin_with(self, NAME), progress_us, UINT64_C(86400000001), GH_INVALID_TIMEOUT);
    REFUSED(self, begin_with(self, NAME), abandoned_us, 999999, GH_INVALID_ABANDONED);
    REFUSED(self, begin_with(self, NAME), abandoned_us, UINT64_C(604800000001), GH_INVALID_ABANDONED);
    REFUSED(self, begin_with(self, NAME), lease_us, GH_FILE_LEASE_MIN_US - 1, GH_INVALID_LEASE);
    REFUSED(self, begin_with(self, NAME), lease_us, GH_FILE_LEASE_MAX_US + 1, GH_INVALID_LEASE);
    REFUSED(self, begin_with(self, NAME), memory, NULL, GH_INVALID_MEMORY);
    REFUSED(self, begin_with(self, NAME), memory, (char*)self->config.memory + 8, GH_INVALID_MEMORY);
    for (size_t size = self->config.memory_size; size-- > 0;)
        REFUSED(self, begin_with(self, NAME), memory_size, size, GH_INVALID_MEMORY);
    self->names[2] = self->names[0];
    assert_status(begin_with(self, NAME), GH_INVALID_READERS);
    self->names[2] = too_long();
    assert_status(begin_with(self, NAME), GH_INVALID_READERS);
    self->config.reader_count = 2;
    assert_int_equal(gh_client_get_stats(a->client, &(gh_client_stats){0}), GH_OK);
    assert_int_equal(game_stats(a).ops_busy, 0); /* nothing was begun by all that */
    assert_status(begin_with(self, NAME), GH_OK);
    assert_status(begin_with(self, NAME), GH_INVALID_OP);
    gh_op_cancel(&self->op.op);
    assert_int_equal(gh_file_send_memory(NULL), 0);
    self->config.lanes = 0;
    assert_int_equal(gh_file_send_memory(&self->config), 0);
}

static void readers_at_their_most(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    sender* self = sender_new(a, GH_FILE_READERS_MAX, "x", 1);
    assert_status(sender_run(self, NAME), GH_OK);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{file:file}:o"), GH_FILE_READERS_MAX);
    for (int i = 0; i < GH_FILE_READERS_MAX; i++)
    {
        assert_int_equal(redis_server_integer(server, "EXISTS gh:{file:file}:c"), 1);
        assert_status(reader_run(reader_new(a, 1), NAME, self->texts[i]), GH_OK);
    }
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{file:file}:c"), 0);
}

static void bad_calls_on_a_sender(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    sender* self = sender_new(a, 1, "hello", 5);
    size_t taken = 9;
    assert_status(gh_file_send_push(NULL, NAME, &taken), GH_INVALID_OP);
    assert_status(gh_file_send_push(&self->op, NAME, NULL), GH_INVALID_OUT);
    assert_status(gh_file_send_push(&self->op, NAME, &taken), GH_IDLE);
    assert_status(gh_file_send_finish(NULL), GH_INVALID_OP);
    assert_status(gh_file_send_finish(&self->op), GH_IDLE);
    gh_op_cancel(&self->op.op);
    sender_begin(self, NAME);
    assert_status(gh_file_send_push(&self->op, NAME, &taken), GH_PENDING); /* not open yet */
    assert_int_equal(taken, 0);
    assert_status(gh_file_send_push(&self->op, gh_str_make(NULL, 1), &taken), GH_INVALID_BUFFER);
    assert_status(gh_file_send_push(&self->op, gh_str_make(NULL, 0), &taken), GH_OK);
    assert_status(gh_file_send_finish(&self->op), GH_OK);
    assert_status(gh_file_send_finish(&self->op), GH_OK);
    assert_status(gh_file_send_push(&self->op, NAME, &taken), GH_CLOSED);
    GAME_UNTIL(gh_op_poll(&self->op.op) != GH_PENDING);
    assert_status(gh_op_poll(&self->op.op), GH_OK);
    assert_status(gh_file_send_push(&self->op, NAME, &taken), GH_CLOSED);
    assert_status(gh_file_send_finish(&self->op), GH_OK);
}

/* ---- read ---------------------------------------------------------------------------------------------- */

static gh_status read_with(reader* self, gh_str name, gh_str reader_name)
{
    return gh_file_read_begin(&self->op, self->owner->client, name, reader_name, &self->config);
}

static void bad_configs_of_a_reader(void** state)
{
    (void)state;
    game* a = offline();
    reader* self = GAME_NEW(a, reader);
    gh_str me = gh_str_literal("me");
    reader_init(self, a, 10);
    assert_status(gh_file_read_begin(NULL, a->client, NAME, me, &self->config), GH_INVALID_OP);
    assert_status(gh_file_read_begin(&self->op, NULL, NAME, me, &self->config), GH_INVALID_CLIENT);
    assert_status(gh_file_read_begin(&self->op, a->client, NAME, me, NULL), GH_INVALID_CONFIG);
    assert_status(read_with(self, gh_str_of(""), me), GH_INVALID_NAME);
    assert_status(read_with(self, too_long(), me), GH_INVALID_NAME);
    assert_status(read_with(self, NAME, gh_str_of("")), GH_INVALID_READERS);
    assert_status(read_with(self, NAME, too_long()), GH_INVALID_READERS);
    REFUSED(self, read_with(self, NAME, me), struct_size, 1, GH_INVALID_CONFIG);
    REFUSED(self, read_with(self, NAME, me), channel, too_long(), GH_INVALID_CHANNEL);
    REFUSED(self, read_with(self, NAME, me), format, (gh_file_format)2, GH_INVALID_FORMAT);
    gh_file_read_config packed = self->config;
    packed.format = GH_FILE_GZIP;
    if (gh_file_read_memory(&packed) == 0) /* built without zlib */
        REFUSED(self, read_with(self, NAME, me), format, GH_FILE_GZIP, GH_INVALID_FORMAT);
    REFUSED(self, read_with(self, NAME, me), keep, (gh_file_keep)2, GH_INVALID_FORMAT);
    REFUSED(self, read_with(self, NAME, me), chunk_bytes, GH_FILE_CHUNK_MIN - 1, GH_INVALID_CHUNK);
    REFUSED(self, read_with(self, NAME, me), chunk_bytes, GH_FILE_CHUNK_MAX + 1, GH_INVALID_CHUNK);
    REFUSED(self, read_with(self, NAME, me), lanes, 0, GH_INVALID_CHUNK);
    REFUSED(self, read_with(self, NAME, me), lanes, GH_FILE_LANES_MAX + 1, GH_INVALID_CHUNK);
    REFUSED(self, read_with(self, NAME, me), line_bytes, 0, GH_INVALID_LINE);
    REFUSED(self, read_with(self, NAME, me), line_bytes, GH_FILE_LINE_MAX + 1, GH_INVALID_LINE);
    REFUSED(self, read_with(self, NAME, me), tick_bytes, 0, GH_INVALID_TICK_BYTES);
    REFUSED(self, read_with(self, NAME, me), tick_bytes, 1073741825, GH_INVALID_TICK_BYTES);
    REFUSED(self, read_with(self, NAME, me), progress_us, 999, GH_INVALID_TIMEOUT);
    REFUSED(self, read_with(self, NAME, me), progress_us, UINT64_C(86400000001), GH_INVALID_TIMEOUT);
    REFUSED(self, read_with(self, NAME, me), memory, NULL, GH_INVALID_MEMORY);
    REFUSED(self, read_with(self, NAME, me), memory, (char*)self->config.memory + 4, GH_INVALID_MEMORY);
    for (size_t size = self->config.memory_size; size-- > 0;)
        REFUSED(self, read_with(self, NAME, me), memory_size, size, GH_INVALID_MEMORY);
    assert_int_equal(game_stats(a).ops_busy, 0);
    assert_int_equal(gh_file_read_memory(NULL), 0);
    gh_str view;
    assert_status(gh_file_read_block(NULL, &view), GH_INVALID_OP);
    assert_status(gh_file_read_line(&self->op, NULL), GH_INVALID_OUT);
    assert_status(gh_file_read_block(&self->op, &view), GH_INVALID_MEMORY);
    assert_status(gh_file_read_done(&self->op), GH_INVALID_MEMORY);
    assert_status(gh_file_read_done(NULL), GH_INVALID_OP);
    assert_status(gh_file_read_recall(NULL, NAME), GH_INVALID_OP);
    assert_status(read_with(self, NAME, me), GH_OK);
    assert_status(read_with(self, NAME, me), GH_INVALID_OP);
    assert_status(gh_file_read_line(&self->op, &view), GH_PENDING);
    assert_status(gh_file_read_recall(&self->op, NAME), GH_PENDING);
    assert_status(gh_file_read_done(&self->op), GH_BUSY);
    gh_op_cancel(&self->op.op);
    assert_status(gh_file_read_block(&self->op, &view), GH_CANCELLED);
}

/* Chunks that the reader's memory, or its client's replies, cannot take. */
static void chunks_that_are_too_large_are_told(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config large = game_config(redis_server_address(server));
    large.out_bytes = large.reply_bytes = 1024 * 1024;
    game* a = game_start_with(&large);
    game* b = game_start(redis_server_address(server)); /* reply_bytes of 32 KiB */
    const size_t size = 100000;
    sender* from = sender_new(a, 4, parcel_bytes(a, size, 1, false), size);
    from->config.chunk_bytes = 31 * 1024 + 1;
    assert_status(sender_run(from, NAME), GH_OK);
    reader* to = reader_new(b, size);
    to->config.chunk_bytes = 64 * 1024;
    assert_status(reader_run(to, NAME, "0"), GH_TOO_SMALL);
    to = reader_new(a, size);
    to->config.chunk_bytes = 31 * 1024;
    assert_status(reader_run(to, NAME, "0"), GH_TOO_SMALL);
    gh_str view;
    assert_status(gh_file_read_block(&to->op, &view), GH_TOO_SMALL);
    for (int i = 0; i < 3; i++) /* TOO_SMALL would be a line that was cut, with more behind it */
        assert_status(gh_file_read_line(&to->op, &view), GH_INVALID_CHUNK);
    assert_int_equal(view.size, 0);
    assert_int_equal(to->op.lines, 0);
    to = reader_new(a, size);
    to->config.chunk_bytes = 31 * 1024 + 1;
    assert_status(reader_run(to, NAME, "0"), GH_OK);
    assert_got(to, from->bytes, size);
    from->config.chunk_bytes = 31 * 1024;
    assert_status(sender_run(from, NAME), GH_TOO_SMALL); /* it was begun with larger ones */
    from = sender_new(b, 4, from->bytes, size);
    from->config.chunk_bytes = 48 * 1024 - 8192 + 1;
    from->config.memory_size = gh_file_send_memory(&from->config);
    from->config.memory = game_new(b, from->config.memory_size);
    assert_status(begin_with(from, gh_str_literal("other")), GH_TOO_LARGE);
    from->config.chunk_bytes--;
    assert_status(begin_with(from, gh_str_literal("other")), GH_OK);
    GAME_UNTIL(sender_step(from));
    assert_status(gh_op_poll(&from->op.op), GH_OK);
}

/* One op and one a lane must be free. */
static void ops_at_capacity(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.ops_capacity = 5;
    game* a = game_start_with(&config);
    sender* from = GAME_NEW(a, sender);
    reader* to = GAME_NEW(a, reader);
    gh_file_look* look = GAME_NEW(a, gh_file_look);
    sender_init(from, a, 1, "hello", 5);
    reader_init(to, a, 5);
    assert_status(gh_file_look_begin(look, a->client, NAME, NULL), GH_OK);
    assert_status(begin_with(from, NAME), GH_NO_ROOM);
    assert_status(read_with(to, NAME, gh_str_of("0")), GH_NO_ROOM);
    GAME_UNTIL(gh_op_poll(&look->op) != GH_PENDING);
    assert_status(sender_run(from, NAME), GH_OK);
    assert_status(reader_run(to, NAME, "0"), GH_OK);
}

/* ---- list, look, remove -------------------------------------------------------------------------------- */

static gh_status list_with(gh_files_list* op, game* from, const gh_files_list_config* config)
{
    return gh_files_list_begin(op, from->client, NAME, config);
}

typedef struct lister
{
    gh_files_list op;
    gh_files_list_config config;
    game* owner;
    gh_file_entry entries[2];
    char names[2 * GH_NAME_SIZE_MAX];
} lister;

static void bad_input_of_the_small_ones(void** state)
{
    (void)state;
    game* a = offline();
    lister* self = GAME_NEW(a, lister);
    self->owner = a;
    self->config = gh_files_list_config_default();
    self->config.entries = self->entries;
    self->config.entry_count = 2;
    self->config.names = self->names;
    self->config.names_size = sizeof(self->names);
    assert_status(list_with(NULL, a, &self->config), GH_INVALID_OP);
    assert_status(gh_files_list_begin(&self->op, NULL, NAME, &self->config), GH_INVALID_CLIENT);
    assert_status(gh_files_list_begin(&self->op, a->client, gh_str_of(""), &self->config), GH_INVALID_CHANNEL);
    assert_status(gh_files_list_begin(&self->op, a->client, too_long(), &self->config), GH_INVALID_CHANNEL);
    assert_status(list_with(&self->op, a, NULL), GH_INVALID_CONFIG);
    REFUSED(self, list_with(&self->op, a, &self->config), struct_size, 3, GH_INVALID_CONFIG);
    REFUSED(self, list_with(&self->op, a, &self->config), wait_us, UINT64_C(3600000001), GH_INVALID_WAIT);
    REFUSED(self, list_with(&self->op, a, &self->config), timeout_us, 999, GH_INVALID_TIMEOUT);
    REFUSED(self, list_with(&self->op, a, &self->config), timeout_us, 60000001, GH_INVALID_TIMEOUT);
    REFUSED(self, list_with(&self->op, a, &self->config), after, UINT64_C(1) << 53, GH_INVALID_ID);
    REFUSED(self, list_with(&self->op, a, &self->config), entries, NULL, GH_INVALID_BUFFER);
    REFUSED(self, list_with(&self->op, a, &self->config), entry_count, 0, GH_INVALID_BUFFER);
    REFUSED(self, list_with(&self->op, a, &self->config), entry_count, 3, GH_INVALID_BUFFER);
    REFUSED(self, list_with(&self->op, a, &self->config), names, NULL, GH_INVALID_BUFFER);
    gh_file_look* look = GAME_NEW(a, gh_file_look);
    assert_status(gh_file_look_begin(NULL, a->client, NAME, NULL), GH_INVALID_OP);
    assert_status(gh_file_look_begin(look, NULL, NAME, NULL), GH_INVALID_CLIENT);
    assert_status(gh_file_look_begin(look, a->client, too_long(), NULL), GH_INVALID_NAME);
    gh_file_look_config looks = gh_file_look_config_default();
    looks.struct_size = 0;
    assert_status(gh_file_look_begin(look, a->client, NAME, &looks), GH_INVALID_CONFIG);
    looks = gh_file_look_config_default();
    looks.timeout_us = 999;
    assert_status(gh_file_look_begin(look, a->client, NAME, &looks), GH_INVALID_TIMEOUT);
    looks.timeout_us = 60 * SECOND_US + 1;
    assert_status(gh_file_look_begin(look, a->client, NAME, &looks), GH_INVALID_TIMEOUT);
    gh_file_remove* removal = GAME_NEW(a, gh_file_remove);
    gh_str none = gh_str_of("");
    assert_status(gh_file_remove_begin(NULL, a->client, NAME, 1, none, NULL), GH_INVALID_OP);
    assert_status(gh_file_remove_begin(removal, NULL, NAME, 1, none, NULL), GH_INVALID_CLIENT);
    assert_status(gh_file_remove_begin(removal, a->client, none, 1, none, NULL), GH_INVALID_NAME);
    assert_status(gh_file_remove_begin(removal, a->client, NAME, 0, none, NULL), GH_INVALID_ID);
    assert_status(gh_file_remove_begin(removal, a->client, NAME, UINT64_C(1) << 53, none, NULL), GH_INVALID_ID);
    assert_status(gh_file_remove_begin(removal, a->client, NAME, 1, too_long(), NULL), GH_INVALID_CHANNEL);
    gh_file_remove_config removes = gh_file_remove_config_default();
    removes.struct_size = 0;
    assert_status(gh_file_remove_begin(removal, a->client, NAME, 1, none, &removes), GH_INVALID_CONFIG);
    removes = gh_file_remove_config_default();
    removes.timeout_us = 999;
    assert_status(gh_file_remove_begin(removal, a->client, NAME, 1, none, &removes), GH_INVALID_TIMEOUT);
    removes.timeout_us = 60 * SECOND_US + 1;
    assert_status(gh_file_remove_begin(removal, a->client, NAME, 1, none, &removes), GH_INVALID_TIMEOUT);
    assert_int_equal(game_stats(a).ops_busy, 0);
    assert_status(gh_op_poll(&look->op), GH_INVALID_TIMEOUT);
    assert_status(gh_op_poll(&removal->op), GH_INVALID_TIMEOUT);
    assert_status(list_with(&self->op, a, &self->config), GH_OK);
    assert_status(list_with(&self->op, a, &self->config), GH_INVALID_OP);
}

/* Also where a field is out of range for what another one says. */
static void no_memory_for_what_is_refused(void** state)
{
    (void)state;
    gh_file_send_config sends = gh_file_send_config_default();
    gh_file_read_config reads = gh_file_read_config_default();
    sends.cap_bytes = sends.chunk_bytes - 1;
    assert_int_equal(gh_file_send_memory(&sends), 0);
    sends.cap_bytes = sends.chunk_bytes;
    assert_true(gh_file_send_memory(&sends) > 0);
    sends.channel_bytes = sends.cap_bytes - 1;
    assert_int_equal(gh_file_send_memory(&sends), 0);
    sends.channel_bytes = sends.cap_bytes;
    sends.tick_bytes = sends.chunk_bytes - 1;
    assert_int_equal(gh_file_send_memory(&sends), 0);
    reads.keep = (gh_file_keep)2;
    assert_int_equal(gh_file_read_memory(&reads), 0);
}

TEST_FILE(files_input, cmocka_unit_test(no_memory_for_what_is_refused), cmocka_unit_test(bad_configs_of_a_sender),
          cmocka_unit_test(readers_at_their_most), cmocka_unit_test(bad_calls_on_a_sender),
          cmocka_unit_test(bad_configs_of_a_reader), cmocka_unit_test(chunks_that_are_too_large_are_told),
          cmocka_unit_test(ops_at_capacity), cmocka_unit_test(bad_input_of_the_small_ones));
