/* Files seen from the store: crashes of senders and readers, leases that run out, requests that come twice or
   too early, bytes that went bad. The store is audited with hiredis alone, by the layout of KEYS.md. */

#include "support/server/foreign.h"
#include "support/scene/keys.h"
#include "support/scene/parcel.h"
#include "support/server/redis_server.h"
#include "support/server/store_script.h"

#include <stdio.h>
#include <string.h>

#define NAME      gh_str_literal("map")
#define CHUNK     ((size_t)1024)
#define MINUTE_US (60 * (int64_t)SECOND_US)

typedef struct scene
{
    redis_server* server;
    game* a;
    game* b;
} scene;

static scene scene_start(bool clock)
{
    redis_server_options options = {.clock = clock};
    scene self;
    self.server = redis_server_start(&options);
    self.a = game_start_ready(redis_server_address(self.server));
    self.b = game_start_ready(redis_server_address(self.server));
    return self;
}

static long long exists(const scene* self)
{
    return redis_server_integer(self->server, "EXISTS gh:{file:map}:s gh:{file:map}:c gh:{file:map}:o gh:{file:map}:e");
}

/* Time passes in the store; keys that are over go as they are looked at. */
static void let_pass(const scene* self, int64_t passed_us)
{
    redis_server_shift_clock(self->server, passed_us);
}

/* ---- crashes ------------------------------------------------------------------------------------------- */

static void sender_goes_on_where_the_dead_one_was(void** state)
{
    (void)state;
    scene self = scene_start(false);
    const size_t size = 20 * CHUNK + 100;
    const char* bytes = parcel_bytes(self.a, size, 1, false);
    for (size_t cut = 0; cut <= size; cut += 3 * CHUNK + 50)
    {
        char name[16];
        snprintf(name, sizeof(name), "cut %zu", cut);
        game* dies = game_start_ready(redis_server_address(self.server));
        sender* first = sender_new(dies, 1, bytes, size);
        first->stop_at = cut;
        sender_begin(first, gh_str_of(name));
        GAME_UNTIL((sender_step(first), first->op.stored_bytes >= cut / CHUNK * CHUNK && first->op.id != 0));
        uint64_t id = first->op.id;
        game_end(dies);
        sender* second = sender_new(self.a, 1, bytes, size);
        assert_status(sender_run(second, gh_str_of(name)), GH_OK);
        assert_int_equal(second->op.id, id);
        assert_int_equal(second->op.resumed_bytes, cut / CHUNK * CHUNK);
        reader* to = reader_new(self.b, size);
        assert_status(reader_run(to, gh_str_of(name), "0"), GH_OK);
        assert_got(to, bytes, size);
        assert_true(to->op.is_whole);
    }
}

/* All was stored, and the sender died before the seal, or right behind it. */
static void sender_died_beside_the_seal(void** state)
{
    (void)state;
    scene self = scene_start(false);
    const size_t size = 3 * CHUNK + 100;
    const char* bytes = parcel_bytes(self.a, size, 2, false);
    sender* first = sender_new(self.a, 2, bytes, size);
    sender_begin(first, NAME);
    GAME_UNTIL((sender_step(first), first->op.stored_bytes == size));
    gh_op_cancel(&first->op.op);
    assert_status(gh_op_poll(&first->op.op), GH_CANCELLED);
    sender* second = sender_new(self.b, 2, bytes, size);
    assert_status(sender_run(second, NAME), GH_OK);
    assert_int_equal(second->op.resumed_bytes, size);
    assert_status(sender_run(first, NAME), GH_OK); /* sealed already: compared to the last byte */
    assert_int_equal(first->op.resumed_bytes, size);
    for (int i = 0; i < 2; i++) assert_status(reader_run(reader_new(self.b, size), NAME, i == 0 ? "0" : "1"), GH_OK);
    assert_status(sender_run(first, NAME), GH_OK); /* and read by all */
    assert_int_equal(exists(&self), 1);
}

static gh_status send_again(const scene* self, const char* bytes, size_t size, unsigned readers)
{
    return sender_run(sender_new(self->b, readers, bytes, size), NAME);
}

static void other_bytes_under_the_same_name_are_told(void** state)
{
    (void)state;
    scene self = scene_start(false);
    const size_t size = 10 * CHUNK;
    char* bytes = parcel_bytes(self.a, size + 1, 3, false);
    char* other = parcel_bytes(self.a, size + 1, 3, false);
    other[CHUNK + 5] ^= 1;
    for (int sealed = 0; sealed < 2; sealed++)
    {
        sender* first = sender_new(self.a, 2, bytes, size);
        if (sealed == 0)
        {
            first->stop_at = 5 * CHUNK;
            sender_begin(first, NAME);
            GAME_UNTIL((sender_step(first), first->op.stored_bytes == 5 * CHUNK));
            gh_op_cancel(&first->op.op);
            assert_status(send_again(&self, bytes, 4 * CHUNK, 2), GH_DIFFERS); /* shorter */
        }
        else
        {
            assert_status(sender_run(first, NAME), GH_OK);
            assert_status(send_again(&self, bytes, size - 1, 2), GH_DIFFERS);
            assert_status(send_again(&self, bytes, size - CHUNK, 2), GH_DIFFERS);
            assert_status(send_again(&self, bytes, size + 1, 2), GH_DIFFERS);
        }
        assert_status(send_again(&self, other, size, 2), GH_DIFFERS);
        assert_status(send_again(&self, bytes, size, 3), GH_DIFFERS); /* other readers */
        assert_status(send_again(&self, bytes, size, 1), GH_DIFFERS);
        assert_status(send_again(&self, bytes, size, 2), GH_OK);
        assert_status(send_again(&self, bytes, 0, 2), GH_DIFFERS);
    }
}

/* Two senders at once: the one that opened last writes, the other is told. */
static void second_sender_takes_over(void** state)
{
    (void)state;
    scene self = scene_start(false);
    const size_t size = 10 * CHUNK;
    const char* bytes = parcel_bytes(self.a, size, 4, false);
    sender* first = sender_new(self.a, 1, bytes, size);
    first->stop_at = 5 * CHUNK;
    sender_begin(first, NAME);
    GAME_UNTIL((sender_step(first), first->op.stored_bytes == 5 * CHUNK));
    sender* second = sender_new(self.b, 1, bytes, size);
    second->stop_at = 6 * CHUNK;
    sender_begin(second, NAME);
    GAME_UNTIL((sender_step(second), second->op.stored_bytes == 6 * CHUNK));
    first->stop_at = SIZE_MAX;
    GAME_UNTIL(sender_step(first));
    assert_status(gh_op_poll(&first->op.op), GH_LOST);
    second->stop_at = SIZE_MAX;
    GAME_UNTIL(sender_step(second));
    assert_status(gh_op_poll(&second->op.op), GH_OK);
    reader* to = reader_new(self.b, size);
    assert_status(reader_run(to, NAME, "0"), GH_OK);
    assert_got(to, bytes, size);
}

/* A reader that died goes on at the byte, or the line, behind what it had said to have read. */
static void reader_goes_on_where_it_died(void** state)
{
    (void)state;
    scene self = scene_start(false);
    const size_t size = 40 * CHUNK + 77;
    char* text = parcel_bytes(self.a, size, 5, true);
    text[size - 1] = '\n';
    for (int way = READER_BLOCKS; way <= READER_LINES; way++)
    {
        char name[16];
        snprintf(name, sizeof(name), "way %d", way);
        assert_status(sender_run(sender_new(self.a, 1, text, size), gh_str_of(name)), GH_OK);
        size_t got = 0;
        unsigned lives = 0;
        bool whole = false;
        for (bool over = false; !over; lives++)
        {
            game* dies = game_start_ready(redis_server_address(self.server));
            reader* to = reader_new(dies, size);
            to->way = (reader_way)way;
            to->config.line_bytes = 1000;
            to->pulls_max = 1;
            reader_begin(to, gh_str_of(name), "0");
            GAME_UNTIL(to->op.id != 0);
            uint64_t from = to->op.resumed_bytes;
            assert_true(from <= got);
            if (way == READER_LINES && from > 0) assert_int_equal(text[from - 1], '\n');
            if (lives > 0) assert_true(from > 0);
            assert_status(gh_file_read_recall(&to->op, gh_str_make(text, from)), GH_OK);
            assert_status(gh_file_read_recall(&to->op, gh_str_make(text, 1)), GH_INVALID_BUFFER);
            size_t least = 9 * CHUNK;
            GAME_UNTIL(reader_step(to) || to->got_size > least);
            assert_memory_equal(to->got, text + from, to->got_size);
            got = from + to->got_size;
            over = gh_op_poll(&to->op.op) == GH_OK;
            whole = to->op.is_whole;
            game_end(dies);
        }
        assert_int_equal(got, size);
        assert_true(lives > 3 && whole);
    }
}

static void reader_that_keeps_all_reads_anew(void** state)
{
    (void)state;
    scene self = scene_start(false);
    const size_t size = 20 * CHUNK;
    const char* bytes = parcel_bytes(self.a, size, 6, false);
    assert_status(sender_run(sender_new(self.a, 1, bytes, size), NAME), GH_OK);
    for (int life = 0; life < 3; life++)
    {
        game* dies = game_start_ready(redis_server_address(self.server));
        reader* to = reader_new(dies, size);
        to->config.keep = GH_FILE_AT_END;
        to->stop_at = life < 2 ? 15 * CHUNK : SIZE_MAX;
        reader_begin(to, NAME, "0");
        GAME_UNTIL(reader_step(to));
        assert_int_equal(to->op.resumed_bytes, 0);
        assert_memory_equal(to->got, bytes, to->got_size);
        if (life == 2) assert_status(gh_op_poll(&to->op.op), GH_OK);
        game_end(dies);
    }
}

/* ---- leases and other ends ----------------------------------------------------------------------------- */

static void file_goes_with_the_last_lease(void** state)
{
    (void)state;
    scene self = scene_start(true);
    const char* bytes = parcel_bytes(self.a, 5 * CHUNK, 8, false);
    sender* from = sender_new(self.a, 2, bytes, 5 * CHUNK);
    from->config.lease_us = 2 * (uint64_t)MINUTE_US;
    assert_status(sender_run(from, NAME), GH_OK);
    reader* to = reader_new(self.b, 5 * CHUNK);
    to->stop_at = CHUNK;
    let_pass(&self, MINUTE_US);
    reader_begin(to, NAME, "0");
    GAME_UNTIL(reader_step(to));
    let_pass(&self, 2 * MINUTE_US + (int64_t)SECOND_US); /* the first lease is over, the second not */
    assert_int_equal(exists(&self), 4);
    let_pass(&self, 3 * MINUTE_US + 2 * (int64_t)SECOND_US);
    assert_int_equal(exists(&self), 0);
}

static void abandoned_upload_goes(void** state)
{
    (void)state;
    scene self = scene_start(true);
    sender* from = sender_new(self.a, 1, parcel_bytes(self.a, 9 * CHUNK, 9, false), 9 * CHUNK);
    from->config.abandoned_us = 2 * (uint64_t)MINUTE_US;
    from->config.stream = true;
    from->stop_at = 3 * CHUNK;
    sender_begin(from, NAME);
    GAME_UNTIL((sender_step(from), from->op.stored_bytes == 3 * CHUNK));
    let_pass(&self, MINUTE_US);
    from->stop_at = 6 * CHUNK; /* each chunk counts anew */
    GAME_UNTIL((sender_step(from), from->op.stored_bytes == 6 * CHUNK));
    reader* to = reader_new(self.b, 9 * CHUNK);
    reader_begin(to, NAME, "0");
    GAME_UNTIL((reader_step(to), to->got_size == 6 * CHUNK));
    let_pass(&self, 2 * MINUTE_US + (int64_t)SECOND_US);
    assert_true(exists(&self) > 0);
    let_pass(&self, 3 * MINUTE_US + MINUTE_US / 2 +
                        2 * (int64_t)SECOND_US); /* a reader that waits for more does not keep it */
    GAME_UNTIL(reader_step(to));
    assert_status(gh_op_poll(&to->op.op), GH_GONE);
    from->stop_at = SIZE_MAX;
    GAME_UNTIL(sender_step(from));
    assert_status(gh_op_poll(&from->op.op), GH_GONE);
}

/* Of nine chunks three are sent, and it may stand still for two minutes. */
static sender* sender_that_stops(const scene* self)
{
    sender* from = sender_new(self->a, 1, parcel_bytes(self->a, 9 * CHUNK, 9, false), 9 * CHUNK);
    from->config.abandoned_us = 2 * (uint64_t)MINUTE_US;
    from->stop_at = 3 * CHUNK;
    sender_begin(from, NAME);
    GAME_UNTIL((sender_step(from), from->op.stored_bytes == 3 * CHUNK));
    return from;
}

/* Its chunks move its times to live once in a quarter of the time that it may stand still: what comes in between counts
   for the whole of it, too. */
static void upload_stays_as_long_as_it_may_stand_still(void** state)
{
    (void)state;
    scene self = scene_start(true);
    sender* from = sender_that_stops(&self);
    const int64_t last_us = 27 * (int64_t)SECOND_US;
    let_pass(&self, last_us);
    from->stop_at = 6 * CHUNK;
    GAME_UNTIL((sender_step(from), from->op.stored_bytes == 6 * CHUNK));
    let_pass(&self, last_us + 2 * MINUTE_US - (int64_t)SECOND_US);
    assert_int_equal(exists(&self), 3);
    let_pass(&self, last_us + 2 * MINUTE_US + MINUTE_US / 2 + (int64_t)SECOND_US);
    assert_int_equal(exists(&self), 0);
}

static void upload_without_readers_goes_by_itself(void** state)
{
    (void)state;
    scene self = scene_start(true);
    (void)sender_that_stops(&self);
    assert_int_equal(exists(&self), 3);
    let_pass(&self, 2 * MINUTE_US + MINUTE_US / 2 + (int64_t)SECOND_US);
    assert_int_equal(exists(&self), 0);
}

static void removed_file_is_gone_for_all(void** state)
{
    (void)state;
    scene self = scene_start(false);
    sender* from = sender_new(self.a, 1, parcel_bytes(self.a, 9 * CHUNK, 9, false), 9 * CHUNK);
    from->config.channel = gh_str_literal("news");
    assert_status(sender_run(from, NAME), GH_OK);
    gh_file_remove* removal = GAME_NEW(self.a, gh_file_remove);
    assert_status(gh_file_remove_begin(removal, self.a->client, NAME, from->op.id + 1, from->config.channel, NULL),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&removal->op) != GH_PENDING);
    assert_status(gh_op_poll(&removal->op), GH_OK);
    assert_int_equal(exists(&self), 4); /* it is another one that was meant */
    assert_status(gh_file_remove_begin(removal, self.a->client, NAME, from->op.id, from->config.channel, NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&removal->op) != GH_PENDING);
    assert_status(gh_op_poll(&removal->op), GH_OK);
    assert_int_equal(exists(&self), 0);
    assert_int_equal(redis_server_integer(self.server, "HLEN gh:{files:news}:f"), 0);
    assert_status(reader_run(reader_new(self.b, 9 * CHUNK), NAME, "0"), GH_GONE);
    gh_file_look* look = GAME_NEW(self.a, gh_file_look);
    assert_status(gh_file_look_begin(look, self.a->client, NAME, NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&look->op) != GH_PENDING);
    assert_status(gh_op_poll(&look->op), GH_GONE);
}

/* ---- who may read -------------------------------------------------------------------------------------- */

static void only_readers_that_were_named_read_and_each_once(void** state)
{
    (void)state;
    scene self = scene_start(false);
    const char* bytes = parcel_bytes(self.a, 9 * CHUNK, 10, false);
    assert_status(sender_run(sender_new(self.a, 2, bytes, 9 * CHUNK), NAME), GH_OK);
    assert_status(reader_run(reader_new(self.b, 9 * CHUNK), NAME, "2"), GH_NOT_MEMBER);
    assert_status(reader_run(reader_new(self.b, 9 * CHUNK), NAME, "0"), GH_OK);
    assert_status(reader_run(reader_new(self.b, 9 * CHUNK), NAME, "0"), GH_EXISTS);
    reader* one = reader_new(self.a, 9 * CHUNK);
    reader* same = reader_new(self.b, 9 * CHUNK);
    one->pulls_max = same->pulls_max = 1;
    one->stop_at = CHUNK;
    reader_begin(one, NAME, "1");
    GAME_UNTIL(reader_step(one));
    reader_begin(same, NAME, "1");
    GAME_UNTIL(reader_step(same));
    assert_status(gh_op_poll(&same->op.op), GH_OK);
    one->stop_at = SIZE_MAX;
    GAME_UNTIL(reader_step(one)); /* it may have had all in its lanes; else what it needs is gone */
    gh_status status = gh_op_poll(&one->op.op);
    assert_true(status == GH_LOST || status == GH_EXISTS || status == GH_OK || status == GH_GONE);
}

/* ---- bytes that went bad ------------------------------------------------------------------------------- */

static void flipped_bits_are_found(void** state)
{
    (void)state;
    scene self = scene_start(false);
    const char* bytes = parcel_bytes(self.a, 5 * CHUNK, 11, false);
    for (size_t at = 0; at < CHUNK + 16; at += 103)
    {
        char name[16];
        snprintf(name, sizeof(name), "flip%zu", at);
        assert_status(sender_run(sender_new(self.a, 1, bytes, 5 * CHUNK), gh_str_of(name)), GH_OK);
        redisReply* chunk = redis_server_command(self.server, "HGET gh:{file:%s}:c 2", name);
        chunk->str[at] ^= 4;
        redis_server_do(self.server, "HSET gh:{file:%s}:c 2 %b", name, chunk->str, chunk->len);
        freeReplyObject(chunk);
        reader* to = reader_new(self.b, 5 * CHUNK);
        assert_status(reader_run(to, gh_str_of(name), "0"), GH_CORRUPT);
        assert_true(to->got_size <= 2 * CHUNK);
        assert_memory_equal(to->got, bytes, to->got_size);
    }
}

/* Chunks that are right each by itself, and wrong together. */
static void whole_is_verified_too(void** state)
{
    (void)state;
    scene self = scene_start(false);
    const char* bytes = parcel_bytes(self.a, 5 * CHUNK, 12, false);
    assert_status(sender_run(sender_new(self.a, 1, bytes, 5 * CHUNK), NAME), GH_OK);
    redisReply* one = redis_server_command(self.server, "HGET gh:{file:map}:c 1");
    redisReply* two = redis_server_command(self.server, "HGET gh:{file:map}:c 2");
    redis_server_do(self.server, "HSET gh:{file:map}:c 1 %b 2 %b", two->str, two->len, one->str, one->len);
    freeReplyObject(one);
    freeReplyObject(two);
    reader* to = reader_new(self.b, 5 * CHUNK);
    assert_status(reader_run(to, NAME, "0"), GH_CORRUPT);
    assert_false(to->at_end);
    assert_status(sender_run(sender_new(self.a, 1, bytes, 5 * CHUNK), gh_str_literal("gap")), GH_OK);
    redis_server_do(self.server, "HDEL gh:{file:gap}:c 3");
    assert_status(reader_run(reader_new(self.b, 5 * CHUNK), gh_str_literal("gap"), "0"), GH_CORRUPT);
}

/* ---- requests that come twice, too early, or from one that does not know ------------------------------- */

static long long chunk_as(const scene* self, const char* script, const char* token, int number, const char* value)
{
    redisReply* reply = redis_server_command(
        self->server, "EVALSHA %s 4 gh:{file:x}:s gh:{file:x}:c gh:{file:x}:o gh:{file:x}:e %s 1 %d %s %s %s", script,
        token, number, value, "00000000000000000000000000000000", token);
    return store_code(reply, 1);
}

static void chunks_that_come_twice_or_early(void** state)
{
    (void)state;
    scene self = scene_start(false);
    char open[FOREIGN_DIGEST_SIZE];
    char chunk[FOREIGN_DIGEST_SIZE];
    const char* token = "0000000000000001:0000000000000001";
    foreign_load(self.server, open, "files/files_open.lua");
    foreign_load(self.server, chunk, "files/files_chunk.lua");
    assert_int_equal(chunk_as(&self, chunk, token, 0, "0123456789abcdefbytes"), 4); /* gone: never there */
    redis_server_do(
        self.server,
        "EVALSHA %s 4 gh:{file:x}:s gh:{file:x}:c gh:{file:x}:o gh:{file:x}:e %s 1 5 12 1000000 1000000 0 anna", open,
        token);
    assert_int_equal(chunk_as(&self, chunk, token, 1, "0123456789abcdefbytes"), 2); /* early */
    assert_int_equal(chunk_as(&self, chunk, token, 0, "0123456789abcdefbytes"), 0);
    assert_int_equal(chunk_as(&self, chunk, token, 0, "0123456789abcdefbytes"), 0); /* again: the same */
    assert_int_equal(chunk_as(&self, chunk, token, 0, "0123456789abcdefbyteS"), 5); /* one bit is not */
    assert_int_equal(chunk_as(&self, chunk, "0000000000000001:0000000000000002", 1, "0123456789abcdefbytes"), 3);
    assert_int_equal(chunk_as(&self, chunk, token, 1, "0123456789abcdefbytes"), 0);
    assert_int_equal(chunk_as(&self, chunk, token, 2, "0123456789abcdefbytes"), 1); /* 15 are more than 12 */
    assert_int_equal(redis_server_integer(self.server, "HLEN gh:{file:x}:c"), 2);
    assert_int_equal(redis_server_integer(self.server, "HGET gh:{file:x}:s b"), 10);
    assert_int_equal(chunk_as(&self, chunk, token, 2, "0123456789abcdefby"), 0); /* 12 are not */
    assert_int_equal(chunk_as(&self, chunk, token, 3, "0123456789abcdefbytes"),
                     5); /* behind a short one comes nothing */
}

static void wrong_types_are_told(void** state)
{
    (void)state;
    scene self = scene_start(false);
    static const char* const parts[] = {"s", "c", "o", "e"};
    for (int i = 0; i < 4; i++)
    {
        redis_server_do(self.server, "DEL gh:{file:map}:s gh:{file:map}:c gh:{file:map}:o gh:{file:map}:e");
        redis_server_do(self.server, "SET gh:{file:map}:%s x", parts[i]);
        assert_status(sender_run(sender_new(self.a, 1, "hello", 5), NAME), GH_CORRUPT);
    }
    redis_server_do(self.server, "DEL gh:{file:map}:e");
    redis_server_do(self.server, "HSET gh:{file:map}:s i 5 w x");
    assert_status(sender_run(sender_new(self.a, 1, "hello", 5), NAME), GH_CORRUPT);
    assert_status(reader_run(reader_new(self.b, 5), NAME, "0"), GH_CORRUPT);
    redis_server_do(self.server, "HSET gh:{files:news}:s b many");
    sender* from = sender_new(self.a, 1, "hello", 5);
    from->config.channel = gh_str_literal("news");
    assert_status(sender_run(from, gh_str_literal("other")), GH_CORRUPT);
}

static gh_files_list* list_that_waits(const scene* self)
{
    gh_files_list* list = GAME_NEW(self->a, gh_files_list);
    gh_files_list_config config = gh_files_list_config_default();
    config.entries = GAME_NEW_ARRAY(self->a, gh_file_entry, 1);
    config.entry_count = 1;
    config.names = game_new(self->a, GH_NAME_SIZE_MAX);
    config.names_size = GH_NAME_SIZE_MAX;
    config.wait_us = 60 * SECOND_US;
    config.after = UINT64_C(1) << 52;
    assert_status(gh_files_list_begin(list, self->a->client, gh_str_literal("news"), &config), GH_OK);
    GAME_UNTIL(redis_server_integer(self->server, "EXISTS gh:{files:news}:h") == 1);
    return list;
}

static void keys_are_those_of_the_page(void** state)
{
    (void)state;
    scene self = scene_start(false);
    sender* from = sender_new(self.a, 2, parcel_bytes(self.a, 5 * CHUNK, 13, false), 5 * CHUNK);
    from->config.channel = gh_str_literal("news");
    assert_status(sender_run(from, NAME), GH_OK);
    reader* to = reader_new(self.b, 5 * CHUNK);
    to->stop_at = CHUNK;
    reader_begin(to, NAME, "0");
    GAME_UNTIL(reader_step(to));
    list_that_waits(&self);
    keys_must_be_on_the_page(self.server, "gh:{file:");
    keys_must_be_on_the_page(self.server, "gh:{files:");
}

/* Its next question is due in two seconds and a half, or later; one who is not in the store is not hinted. */
static void list_asks_at_once_after_a_loss(void** state)
{
    (void)state;
    scene self = scene_start(false);
    const gh_files_list* list = list_that_waits(&self);
    uint64_t began_us;
    GAME_UNTIL(list->op.state == 2);
    began_us = game_now_us(self.a);
    redis_server_do(self.server, "FLUSHALL");
    redis_server_do(self.server, "CLIENT KILL TYPE normal SKIPME yes");
    GAME_UNTIL(redis_server_integer(self.server, "EXISTS gh:{files:news}:h") == 1);
    assert_true(game_now_us(self.a) - began_us < 2 * SECOND_US);
}

/* ---- channels ------------------------------------------------------------------------------------------ */

/* The channel is full: a sender waits until a file is read, and evicts one that has gone without a word. */
static void full_channel_makes_senders_wait(void** state)
{
    (void)state;
    scene self = scene_start(false);
    const char* bytes = parcel_bytes(self.a, 4 * CHUNK, 14, false);
    sender* senders[3];
    char names[3][16];
    for (int i = 0; i < 3; i++)
    {
        senders[i] = sender_new(self.a, 1, bytes, 4 * CHUNK);
        senders[i]->config.channel = gh_str_literal("news");
        senders[i]->config.cap_bytes = senders[i]->config.size_bytes = 4 * CHUNK;
        senders[i]->config.channel_bytes = 8 * CHUNK;
        snprintf(names[i], sizeof(names[i]), "n%d", i);
    }
    for (int i = 0; i < 2; i++) assert_status(sender_run(senders[i], gh_str_of(names[i])), GH_OK);
    assert_int_equal(redis_server_integer(self.server, "HGET gh:{files:news}:s b"), 8 * CHUNK);
    sender_begin(senders[2], gh_str_of(names[2]));
    uint64_t end_us = game_now_us(self.a) + SECOND_US / 2;
    GAME_UNTIL((sender_step(senders[2]), game_now_us(self.a) >= end_us));
    assert_int_equal(senders[2]->op.taken_bytes, 0);
    assert_true(gh_op_poll(&senders[2]->op.op) == GH_PENDING);
    redis_server_do(self.server,
                    "DEL gh:{file:n0}:s gh:{file:n0}:c gh:{file:n0}:o gh:{file:n0}:e"); /* its leases ran out */
    GAME_UNTIL(sender_step(senders[2]));
    assert_status(gh_op_poll(&senders[2]->op.op), GH_OK);
    assert_int_equal(redis_server_integer(self.server, "HEXISTS gh:{files:news}:f n0"), 0);
    assert_int_equal(redis_server_integer(self.server, "HGET gh:{files:news}:s b"), 8 * CHUNK);
    for (int i = 1; i < 3; i++)
    {
        reader* to = reader_new(self.b, 4 * CHUNK);
        to->config.channel = gh_str_literal("news");
        assert_status(reader_run(to, gh_str_of(names[i]), "0"), GH_OK);
    }
    assert_int_equal(redis_server_integer(self.server, "HGET gh:{files:news}:s b"), 0);
    assert_int_equal(redis_server_integer(self.server, "EXISTS gh:{files:news}:f gh:{files:news}:l"), 0);
}

/* 1,000 files are in a channel at most, however small; the next waits until one of them has ended. */
static void channel_holds_a_thousand_files(void** state)
{
    (void)state;
    static const char* const copies = "for i = 1, ARGV[2] do local key = 'gh:{file:x' .. i .. '}:s' "
                                      "if ARGV[1] == 'add' then redis.call('COPY', KEYS[1], key) "
                                      "redis.call('HSET', KEYS[2], 'x' .. i, redis.call('HGET', KEYS[2], 'first')) "
                                      "else redis.call('DEL', key) end end return redis.call('HLEN', KEYS[2])";
    scene self = scene_start(false);
    sender* senders[3];
    const gh_str names[3] = {gh_str_literal("first"), gh_str_literal("last"), gh_str_literal("one too many")};
    for (int i = 0; i < 3; i++)
    {
        senders[i] = sender_new(self.a, 1, "hello", 5);
        senders[i]->config.channel = gh_str_literal("news");
    }
    assert_status(sender_run(senders[0], names[0]), GH_OK);
    const char* fill = "EVAL %s 2 gh:{file:first}:s gh:{files:news}:f %s %d";
    assert_int_equal(redis_server_integer(self.server, fill, copies, "add", GH_FILES_CHANNEL_MAX - 2),
                     GH_FILES_CHANNEL_MAX - 1);
    assert_status(sender_run(senders[1], names[1]), GH_OK);
    sender_begin(senders[2], names[2]);
    long long calls = redis_server_calls(self.server, "evalsha"); /* it looks whether one has ended */
    GAME_UNTIL((sender_step(senders[2]), redis_server_calls(self.server, "evalsha") >= calls + 6));
    assert_status(gh_op_poll(&senders[2]->op.op), GH_PENDING);
    assert_int_equal(senders[2]->op.taken_bytes, 0);
    assert_int_equal(redis_server_integer(self.server, "HLEN gh:{files:news}:f"), GH_FILES_CHANNEL_MAX);
    /* Their leases end. */
    redis_server_integer(self.server, fill, copies, "remove", GH_FILES_CHANNEL_MAX - 2);
    GAME_UNTIL(sender_step(senders[2]));
    assert_status(gh_op_poll(&senders[2]->op.op), GH_OK);
    assert_in_range(redis_server_integer(self.server, "HLEN gh:{files:news}:f"), 1, GH_FILES_CHANNEL_MAX);
}

TEST_FILE(files_store, cmocka_unit_test(sender_goes_on_where_the_dead_one_was),
          cmocka_unit_test(sender_died_beside_the_seal), cmocka_unit_test(other_bytes_under_the_same_name_are_told),
          cmocka_unit_test(second_sender_takes_over), cmocka_unit_test(reader_goes_on_where_it_died),
          cmocka_unit_test(reader_that_keeps_all_reads_anew), cmocka_unit_test(file_goes_with_the_last_lease),
          cmocka_unit_test(abandoned_upload_goes), cmocka_unit_test(upload_stays_as_long_as_it_may_stand_still),
          cmocka_unit_test(upload_without_readers_goes_by_itself), cmocka_unit_test(removed_file_is_gone_for_all),
          cmocka_unit_test(only_readers_that_were_named_read_and_each_once), cmocka_unit_test(flipped_bits_are_found),
          cmocka_unit_test(whole_is_verified_too), cmocka_unit_test(chunks_that_come_twice_or_early),
          cmocka_unit_test(wrong_types_are_told), cmocka_unit_test(keys_are_those_of_the_page),
          cmocka_unit_test(list_asks_at_once_after_a_loss), cmocka_unit_test(full_channel_makes_senders_wait),
          cmocka_unit_test(channel_holds_a_thousand_files));
