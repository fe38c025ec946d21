/* Files over a store that is not as it was: older data, halves that a stopped script has left, copies that come late,
   leases that are in doubt. */

#include "support/server/foreign.h"
#include "support/scene/parcel.h"
#include "support/server/redis_server.h"
#include "support/server/store_script.h"

#include <stdio.h>
#include <string.h>

#define NAME     gh_str_literal("map")
#define CHUNK    ((size_t)1024)
#define SIZE     (10 * CHUNK + 7)
#define KEYS4    "gh:{file:map}:s gh:{file:map}:c gh:{file:map}:o gh:{file:map}:e"
#define CHANNEL4 "gh:{files:news}:s gh:{files:news}:f gh:{files:news}:l gh:{files:news}:h"

typedef struct scene
{
    redis_server* server;
    game* a;
    game* b;
    char* bytes;
} scene;

static scene scene_start(void)
{
    redis_server_options options = {.append_only = true};
    scene self;
    self.server = redis_server_start(&options);
    self.a = game_start_ready(redis_server_address(self.server));
    self.b = game_start_ready(redis_server_address(self.server));
    self.bytes = parcel_bytes(self.a, SIZE, 9, false);
    return self;
}

static const char* const all_keys[] = {"gh:{file:map}:s",   "gh:{file:map}:c",   "gh:{file:map}:o",  "gh:{file:map}:e",
                                       "gh:{files:news}:s", "gh:{files:news}:f", "gh:{files:news}:l"};

/* Its data as it is now ... */
static void keep(const scene* self)
{
    for (size_t i = 0; i < sizeof(all_keys) / sizeof(all_keys[0]); i++)
        redis_server_integer(self->server, "COPY %s %s DB 5 REPLACE", all_keys[i], all_keys[i]);
}

/* ... is all that it has. */
static void go_back(const scene* self)
{
    redis_server_do(self->server, "FLUSHDB");
    redis_server_do(self->server, "SELECT 5");
    for (size_t i = 0; i < sizeof(all_keys) / sizeof(all_keys[0]); i++)
        redis_server_integer(self->server, "COPY %s %s DB 0 REPLACE", all_keys[i], all_keys[i]);
    redis_server_do(self->server, "SELECT 0");
}

/* A sender that has stored so many chunks, and would go on. */
static sender* send_up_to(const scene* self, size_t chunks, bool stream)
{
    sender* out = sender_new(self->a, 2, self->bytes, SIZE);
    out->config.stream = stream;
    out->stop_at = chunks * CHUNK;
    sender_begin(out, NAME);
    GAME_UNTIL((sender_step(out), out->op.stored_bytes == chunks * CHUNK));
    return out;
}

static void assert_read_whole(const scene* self, const char* name)
{
    reader* in = reader_new(self->b, SIZE);
    assert_status(reader_run(in, NAME, name), GH_OK);
    assert_got(in, self->bytes, SIZE);
}

/* ---- older data ------------------------------------------------------------------------------------------ */

static void sender_goes_on_from_what_an_older_store_has(void** state)
{
    (void)state;
    for (int all = 0; all < 2; all++)
    {
        scene self = scene_start();
        sender* out = send_up_to(&self, 4, false);
        keep(&self);
        out->stop_at = 8 * CHUNK;
        GAME_UNTIL((sender_step(out), out->op.stored_bytes == 8 * CHUNK));
        if (all == 1) /* and all of it, so that it is the seal that finds out */
        {
            out->stop_at = SIZE - 1;
            GAME_UNTIL((sender_step(out), out->op.stored_bytes == 10 * CHUNK));
        }
        go_back(&self);
        out->stop_at = SIZE;
        GAME_UNTIL(sender_step(out));
        assert_status(gh_op_poll(&out->op.op), GH_GONE);
        sender* again = sender_new(self.a, 2, self.bytes, SIZE);
        assert_status(sender_run(again, NAME), GH_OK);
        assert_int_equal(again->op.resumed_bytes, 4 * CHUNK);
        assert_read_whole(&self, "0");
    }
}

static void seal_finds_an_older_store(void** state)
{
    (void)state;
    scene self = scene_start();
    char seal[FOREIGN_DIGEST_SIZE];
    sender* out = send_up_to(&self, 4, false);
    foreign_load(self.server, seal, "files/files_seal.lua");
    char token[64];
    snprintf(token, sizeof(token), "%s", redis_server_text(self.server, "HGET gh:{file:map}:s w"));
    redisReply* reply = redis_server_command(
        self.server, "EVALSHA %s 4 " KEYS4 " %s 1 1 9216 00000000000000000000000000000000", seal, token);
    assert_int_equal(store_code(reply, 1), 2);
    gh_op_cancel(&out->op.op);
}

static void reader_of_an_older_store_begins_again(void** state)
{
    (void)state;
    scene self = scene_start();
    sender* out = send_up_to(&self, 4, true);
    GAME_UNTIL(redis_server_integer(self.server, "HEXISTS gh:{file:map}:s v") == 1);
    keep(&self);
    out->stop_at = 8 * CHUNK;
    reader* in = reader_new(self.b, SIZE);
    reader_begin(in, NAME, "0");
    GAME_UNTIL((sender_step(out), reader_step(in), in->got_size == 8 * CHUNK));
    go_back(&self);
    GAME_UNTIL(reader_step(in));
    assert_status(gh_op_poll(&in->op.op), GH_LOST);
    out->stop_at = SIZE;
    GAME_UNTIL(sender_step(out));
    assert_status(sender_run(sender_new(self.a, 2, self.bytes, SIZE), NAME), GH_OK);
    assert_read_whole(&self, "0");
}

static gh_files_list* listed(const scene* self, uint64_t after)
{
    gh_files_list* list = GAME_NEW(self->b, gh_files_list);
    gh_files_list_config config = gh_files_list_config_default();
    config.after = after;
    config.entries = GAME_NEW_ARRAY(self->b, gh_file_entry, 4), config.entry_count = 4;
    config.names = game_new(self->b, 4 * GH_NAME_SIZE_MAX), config.names_size = 4 * GH_NAME_SIZE_MAX;
    assert_status(gh_files_list_begin(list, self->b->client, gh_str_literal("news"), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&list->op) != GH_PENDING);
    return list;
}

/* What is announced next may have a smaller number than the reader knows: it must not be passed over. */
static void channel_of_an_older_store_is_listed_anew(void** state)
{
    (void)state;
    scene self = scene_start();
    const gh_str names[] = {gh_str_literal("map"), gh_str_literal("lost")};
    for (int i = 0; i < 2; i++)
    {
        sender* out = sender_new(self.a, 2, self.bytes, SIZE);
        out->config.channel = gh_str_literal("news");
        assert_status(sender_run(out, names[i]), GH_OK);
        if (i == 0) keep(&self);
    }
    gh_files_list* list = listed(&self, 0);
    assert_int_equal(list->count, 2);
    uint64_t last = list->entries[1].number;
    assert_status(gh_op_poll(&listed(&self, last)->op), GH_EMPTY);
    go_back(&self);
    list = listed(&self, last);
    assert_status(gh_op_poll(&list->op), GH_OK);
    assert_int_equal(list->count, 1);
    assert_true(list->entries[0].number < last);
    assert_status(gh_op_poll(&listed(&self, list->entries[0].number)->op), GH_EMPTY);
}

/* ---- copies that come late ------------------------------------------------------------------------------- */

static long long open_as(const scene* self, const char* digest, int who, const char* not_after)
{
    redisReply* reply = redis_server_command(
        self->server, "EVALSHA %s 4 " KEYS4 " 000000000000000%d:0000000000000001 1 1024 65536 60000000 60000000 %s 0 1",
        digest, who, not_after);
    long long numbers[7];
    assert_int_equal(redis_server_numbers(reply, numbers, 7), 7);
    freeReplyObject(reply);
    return numbers[1];
}

static void late_opening_takes_nothing_over(void** state)
{
    (void)state;
    scene self = scene_start();
    char open[FOREIGN_DIGEST_SIZE];
    foreign_load(self.server, open, "files/files_open.lua");
    assert_int_equal(open_as(&self, open, 1, "0"), 0);
    assert_int_equal(open_as(&self, open, 1, "0"), 0);
    assert_int_equal(open_as(&self, open, 2, "0"), 0);
    assert_int_equal(open_as(&self, open, 1, "0"), 3); /* the first one's copy, out of a dead connection */
    assert_int_equal(open_as(&self, open, 2, "0"), 0);
    assert_int_equal(open_as(&self, open, 3, "1"), 4);
    assert_string_equal(redis_server_text(self.server, "HGET gh:{file:map}:s w"), "0000000000000002:0000000000000001");
    redis_server_do(self.server, "FLUSHALL");
    assert_int_equal(open_as(&self, open, 1, "1"), 4);
    assert_int_equal(redis_server_integer(self.server, "DBSIZE"), 0);
}

/* ---- halves ---------------------------------------------------------------------------------------------- */

static void what_is_left_without_a_state_is_dropped(void** state)
{
    (void)state;
    scene self = scene_start();
    redis_server_do(self.server, "ZADD gh:{file:map}:o 0 0 0 1 5 2");
    redis_server_do(self.server, "HSET gh:{file:map}:c 0 old 7 older");
    assert_status(sender_run(sender_new(self.a, 2, self.bytes, SIZE), NAME), GH_OK);
    assert_int_equal(redis_server_integer(self.server, "HLEN gh:{file:map}:c"), 11);
    assert_read_whole(&self, "0");
    assert_read_whole(&self, "1");
    assert_true(redis_server_integer(self.server, "PTTL gh:{file:map}:s") > 0);
    assert_int_equal(redis_server_integer(self.server, "EXISTS gh:{file:map}:c gh:{file:map}:o gh:{file:map}:e"), 0);
}

/* Named as done, and stopped before it could leave. */
static void reader_that_was_stopped_on_its_way_out_leaves(void** state)
{
    (void)state;
    scene self = scene_start();
    assert_status(sender_run(sender_new(self.a, 2, self.bytes, SIZE), NAME), GH_OK);
    assert_read_whole(&self, "1");
    redis_server_do(self.server, "HSET gh:{file:map}:s r:0 d");
    reader* in = reader_new(self.b, SIZE);
    assert_status(reader_run(in, NAME, "0"), GH_EXISTS);
    assert_int_equal(redis_server_integer(self.server, "EXISTS gh:{file:map}:c gh:{file:map}:o gh:{file:map}:e"), 0);
    assert_string_equal(redis_server_text(self.server, "HGET gh:{file:map}:s g"), "1");
}

static void sums_of_a_channel_are_mended(void** state)
{
    (void)state;
    scene self = scene_start();
    char reserve[FOREIGN_DIGEST_SIZE];
    char withdraw[FOREIGN_DIGEST_SIZE];
    foreign_load(self.server, reserve, "files/files_reserve.lua");
    foreign_load(self.server, withdraw, "files/files_withdraw.lua");
    redis_server_do(self.server, "EVALSHA %s 4 " CHANNEL4 " 1 one 100 1000 7 0 0", reserve);
    redis_server_do(self.server, "HSET gh:{files:news}:s b 900 p 1"); /* said what it would do, and did not */
    redis_server_do(self.server, "EVALSHA %s 4 " CHANNEL4 " 1 two 50 1000 8 0 0", reserve);
    assert_int_equal(redis_server_integer(self.server, "HGET gh:{files:news}:s b"), 150);
    assert_int_equal(redis_server_integer(self.server, "HEXISTS gh:{files:news}:s p"), 0);
    redis_server_do(self.server, "HSET gh:{files:news}:s b 0 p 1");
    redis_server_do(self.server, "EVALSHA %s 4 " CHANNEL4 " 1 one 7", withdraw);
    assert_int_equal(redis_server_integer(self.server, "HGET gh:{files:news}:s b"), 50);
    redis_server_do(self.server, "HSET gh:{files:news}:s p 1");
    redis_server_do(self.server, "EVALSHA %s 4 " CHANNEL4 " 1 two 50 1000 8 0 0", reserve); /* the same again */
    assert_int_equal(redis_server_integer(self.server, "HGET gh:{files:news}:s b"), 50);
    assert_int_equal(redis_server_integer(self.server, "HEXISTS gh:{files:news}:s p"), 0);
}

/* What nobody of ours can have made so large is not read at all. */
static void crowd_of_fields_is_not_read(void** state)
{
    (void)state;
    scene self = scene_start();
    assert_status(sender_run(sender_new(self.a, 2, self.bytes, SIZE), NAME), GH_OK);
    for (int i = 0; i < 100; i++) redis_server_do(self.server, "HSET gh:{file:map}:s planted%d x", i);
    gh_file_look* look = GAME_NEW(self.a, gh_file_look);
    assert_status(gh_file_look_begin(look, self.a->client, NAME, NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&look->op) != GH_PENDING);
    assert_status(gh_op_poll(&look->op), GH_CORRUPT);
}

static gh_status looked_at(const scene* self)
{
    gh_file_look* look = GAME_NEW(self->a, gh_file_look);
    assert_status(gh_file_look_begin(look, self->a->client, NAME, NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&look->op) != GH_PENDING);
    return gh_op_poll(&look->op);
}

static void numbers_that_cannot_be_are_corrupt(void** state)
{
    (void)state;
    scene self = scene_start();
    assert_status(sender_run(sender_new(self.a, 2, self.bytes, SIZE), NAME), GH_OK);
    keep(&self);
    const char* const fields[] = {"i", "k", "b", "f"};
    const char* const numbers[] = {"-1", "nan", "", "1.5", "9007199254740993", "12345678901234567890", "1e400"};
    for (size_t field = 0; field < 4; field++)
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        {
            go_back(&self);
            redis_server_do(self.server, "HSET gh:{file:map}:s %s %s", fields[field], numbers[i]);
            assert_status(looked_at(&self), GH_CORRUPT);
            assert_status(reader_run(reader_new(self.b, SIZE), NAME, "0"), GH_CORRUPT);
        }
    assert_int_equal(game_stats(self.a).links_lost + game_stats(self.b).links_lost, 0);
    assert_int_equal(game_stats(self.a).protocol_errors + game_stats(self.b).protocol_errors, 0);
}

/* Behind the largest number there is none for an announcement, and readers would call what stands there corrupt. */
static void channel_at_the_last_number_announces_nothing(void** state)
{
    (void)state;
    scene self = scene_start();
    redis_server_do(self.server, "HSET gh:{files:news}:s n 9007199254740991");
    sender* out = sender_new(self.a, 2, self.bytes, SIZE);
    out->config.channel = gh_str_literal("news");
    assert_status(sender_run(out, NAME), GH_CORRUPT);
    assert_string_equal(redis_server_text(self.server, "HGET gh:{files:news}:s n"), "9007199254740991");
    assert_status(gh_op_poll(&listed(&self, 0)->op), GH_EMPTY);
}

/* Beyond 2^53, i + 1 is i: whoever counts from there, counts for ever. */
static void count_from_beyond_all_numbers_is_not_begun(void** state)
{
    (void)state;
    scene self = scene_start();
    assert_status(sender_run(sender_new(self.a, 2, self.bytes, SIZE), NAME), GH_OK);
    redis_server_do(self.server, "HSET gh:{file:map}:s f 9007199254740992 n 100000000000000000");
    redis_server_do(self.server, "HSET gh:{file:map}:s b 100000000000000000000");
    redis_server_do(self.server, "ZADD gh:{file:map}:o 100000000000000000000 0 100000000000000000000 1");
    assert_status(reader_run(reader_new(self.b, SIZE), NAME, "0"), GH_CORRUPT);
    assert_string_equal(redis_server_text(self.server, "PING"), "PONG");
}

static void say_lease(const scene* self, double lease_us)
{
    redis_server_do(self->server, "HSET gh:{file:map}:s l %.17g", lease_us);
}

/* A reader that keeps a lease of a few microseconds asks without a pause, and has never a moment to hand anything out.
   What a sender may be given is what the scripts take, and nothing else. */
static void lease_that_nobody_can_keep_is_corrupt(void** state)
{
    (void)state;
    scene self = scene_start();
    const double least = (double)GH_FILE_LEASE_MIN_US, most = (double)GH_FILE_LEASE_MAX_US;
    const double leases_us[] = {0, 5, least - 1, most + 1, least + 0.5, least, most};
    assert_status(sender_run(sender_new(self.a, 2, self.bytes, SIZE), NAME), GH_OK);
    keep(&self);
    for (size_t i = 0; i < sizeof(leases_us) / sizeof(leases_us[0]); i++)
    {
        const bool is_one = i >= 5;
        go_back(&self);
        say_lease(&self, leases_us[i]);
        assert_status(reader_run(reader_new(self.b, SIZE), NAME, "0"), is_one ? GH_OK : GH_CORRUPT);
        if (!is_one) assert_int_equal(redis_server_integer(self.server, "ZSCORE gh:{file:map}:o 0"), 0);

        redis_server_do(self.server, "FLUSHDB");
        sender* out = send_up_to(&self, 4, false);
        say_lease(&self, leases_us[i]);
        out->stop_at = SIZE;
        GAME_UNTIL(sender_step(out));
        assert_status(gh_op_poll(&out->op.op), is_one ? GH_OK : GH_CORRUPT);
        if (!is_one) assert_null(redis_server_text(self.server, "HGET gh:{file:map}:s v"));
    }
}

/* ---- leases ---------------------------------------------------------------------------------------------- */

/* It would ask in minutes only; a server that was restarted makes it ask at once. */
static void reader_asks_at_once_after_a_restart(void** state)
{
    (void)state;
    scene self = scene_start();
    assert_status(sender_run(sender_new(self.a, 2, self.bytes, SIZE), NAME), GH_OK);
    reader* in = reader_new(self.b, SIZE);
    in->stop_at = CHUNK;
    reader_begin(in, NAME, "0");
    GAME_UNTIL((reader_step(in), in->got_size >= CHUNK));
    for (int i = 0; i < 100; i++) game_tick_all();
    redis_server_kill9(self.server);
    redis_server_restart(self.server);
    redis_server_do(self.server, "HSET gh:{file:map}:s r:0 x");
    redis_server_do(self.server, "ZREM gh:{file:map}:o 0");
    GAME_UNTIL(gh_op_poll(&in->op.op) != GH_PENDING);
    assert_status(gh_op_poll(&in->op.op), GH_LOST);
}

/* Nothing is handed out that may be another's by now, before the store has said that it is not. */
static void reader_hands_nothing_out_after_its_lease(void** state)
{
    (void)state;
    scene self = scene_start();
    assert_status(sender_run(sender_new(self.a, 2, self.bytes, SIZE), NAME), GH_OK);
    reader* in = reader_new(self.b, SIZE);
    in->stop_at = CHUNK;
    reader_begin(in, NAME, "0");
    GAME_UNTIL((reader_step(in), in->got_size >= CHUNK));
    for (int i = 0; i < 100; i++) game_tick_all();
    gh_str block;
    /* Its process slept for longer than its lease of 600 s, if its clock is one that runs slowly. */
    self.b->ahead_us += (int64_t)(596 * SECOND_US);
    game_tick(self.b);
    assert_status(gh_file_read_block(&in->op, &block), GH_PENDING);
    in->stop_at = SIZE_MAX;
    GAME_UNTIL(reader_step(in));
    assert_status(gh_op_poll(&in->op.op), GH_OK);
    assert_got(in, self.bytes, SIZE);
}

TEST_FILE(files_older, cmocka_unit_test(sender_goes_on_from_what_an_older_store_has),
          cmocka_unit_test(seal_finds_an_older_store), cmocka_unit_test(reader_of_an_older_store_begins_again),
          cmocka_unit_test(channel_of_an_older_store_is_listed_anew), cmocka_unit_test(late_opening_takes_nothing_over),
          cmocka_unit_test(what_is_left_without_a_state_is_dropped),
          cmocka_unit_test(reader_that_was_stopped_on_its_way_out_leaves),
          cmocka_unit_test(sums_of_a_channel_are_mended), cmocka_unit_test(crowd_of_fields_is_not_read),
          cmocka_unit_test(numbers_that_cannot_be_are_corrupt), cmocka_unit_test(lease_that_nobody_can_keep_is_corrupt),
          cmocka_unit_test(channel_at_the_last_number_announces_nothing),
          cmocka_unit_test(count_from_beyond_all_numbers_is_not_begun),
          cmocka_unit_test(reader_asks_at_once_after_a_restart),
          cmocka_unit_test(reader_hands_nothing_out_after_its_lease));
