/* Defects that the naive way to share files and totals has, each brought about on a real server: a naive way
   would fail the test. */

#include "support/scene/parcel.h"
#include "support/scene/places.h"
#include "support/server/proxy.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME       gh_str_literal("map 7")
#define KEY(part)  "gh:{file:map%%207}:" part
#define CHUNK      ((size_t)1024)
#define MINUTE_US  (60 * (int64_t)SECOND_US)
#define DAY        "2011-10-10"
#define SECOND_DAY "2011-10-11"
#define COUNTRIES  12u
#define CITIES     (COUNTRIES * 50u)

/* A server, a game that sends and one that reads. */
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

/* ---- 1: numbers compared as text ----------------------------------------------------------------------- */

/* The naive way compares how many have finished with how many there are as text, and "2" is not less than
   "10": the file is gone when two of ten readers have it. */
static void ten_readers_are_ten_and_not_two(void** state)
{
    (void)state;
    scene self = scene_start(false);
    const char* bytes = parcel_bytes(self.a, 3 * CHUNK, 3, false);
    sender* from = sender_new(self.a, 10, bytes, 3 * CHUNK);
    assert_status(sender_run(from, NAME), GH_OK);
    for (int i = 0; i < 10; i++)
    {
        gh_file_look* look = GAME_NEW(self.a, gh_file_look);
        assert_status(gh_file_look_begin(look, self.a->client, NAME, NULL), GH_OK);
        GAME_UNTIL(gh_op_poll(&look->op) != GH_PENDING);
        assert_int_equal(look->readers_left, 10 - i);
        assert_int_equal(look->readers_done, i);
        assert_int_equal(look->stored_bytes, 3 * CHUNK);
        reader* to = reader_new(self.b, 3 * CHUNK);
        to->config.keep = GH_FILE_AT_END;
        assert_status(reader_run(to, NAME, from->texts[i]), GH_OK);
        assert_got(to, bytes, 3 * CHUNK);
    }
    assert_int_equal(redis_server_integer(self.server, "EXISTS " KEY("c") " " KEY("o")), 0);
}

/* ---- 2: totals overwritten ----------------------------------------------------------------------------- */

/* The naive way sets a day's totals to those of the file that came last, and a file that is counted twice
   counts twice. */
static void second_file_of_a_day_adds(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_geo* table = places_many(a, COUNTRIES);
    unsigned long long* counts = GAME_NEW_ARRAY(a, unsigned long long, 2 * (CITIES + 1));
    for (unsigned i = 0; i < 3; i++)
    {
        gh_aggregate* aggregate = places_aggregate(a, table, 2);
        size_t size = 0;
        char* log = places_log(a, COUNTRIES, 3000, 10 + i, &size);
        char name[16];
        snprintf(name, sizeof(name), "log %u", i);
        places_count(log, size, CITIES, counts);
        assert_status(gh_aggregate_add(aggregate, gh_str_make(log, size)), GH_OK);
        assert_status(places_flush(a, aggregate, "events", name), GH_OK);
        assert_status(places_flush(a, aggregate, "events", name), GH_EXISTS); /* as it is */
        assert_status(gh_aggregate_start(aggregate, table), GH_OK);
        assert_status(gh_aggregate_add(aggregate, gh_str_make(log, size)), GH_OK);
        assert_status(places_flush(a, aggregate, "events", name), GH_EXISTS); /* and counted again */
    }
    places_must_be(server, "events", DAY, COUNTRIES, counts);
    places_must_be(server, "events", SECOND_DAY, COUNTRIES, counts + CITIES + 1);
}

/* ---- 3: blocks twice, dead readers, files larger than the cap ------------------------------------------ */

/* The naive way appends, so a block whose answer was lost and that is sent again is there twice. */
static void block_that_is_sent_again_is_there_once(void** state)
{
    (void)state;
    scene self = scene_start(false);
    chaos_proxy* proxy = proxy_start(redis_server_address(self.server), PROXY_UNIX);
    game* a = game_start_ready(proxy_address(proxy));
    const size_t size = 40 * CHUNK;
    const char* bytes = parcel_bytes(a, size, 6, false);
    sender* from = sender_new(a, 1, bytes, size);
    sender_begin(from, NAME);
    for (size_t i = 1; i <= 4; i++) /* the store has carried them out, and the answers are cut off */
    {
        uint64_t fired = proxy_fired(proxy);
        GAME_UNTIL((sender_step(from), from->op.stored_bytes >= 8 * i * CHUNK));
        proxy_arm(proxy, PROXY_REPLY, 3, PROXY_RST);
        GAME_UNTIL((sender_step(from), proxy_fired(proxy) > fired));
    }
    GAME_UNTIL(sender_step(from));
    assert_status(gh_op_poll(&from->op.op), GH_OK);
    assert_true(game_stats(a).resends > 0);
    assert_int_equal(redis_server_integer(self.server, "HLEN " KEY("c")), 40);
    reader* to = reader_new(self.b, size);
    assert_status(reader_run(to, NAME, "0"), GH_OK);
    assert_got(to, bytes, size);
}

static void note_stored(redis_server* server, long long* most)
{
    long long stored = redis_server_integer(server, "HLEN " KEY("c"));
    if (stored > *most) *most = stored;
}

/* The naive way looks for ever for room for a file that is larger than its limit. Here one ten times the cap
   goes through, and no more than the cap ever lies in the store. */
static void file_larger_than_the_cap_goes_through(void** state)
{
    (void)state;
    scene self = scene_start(false);
    const size_t size = 80 * CHUNK + 5;
    const char* bytes = parcel_bytes(self.a, size, 4, false);
    sender* from = sender_new(self.a, 2, bytes, size);
    reader* fast = reader_new(self.b, size);
    reader* slow = reader_new(self.b, size);
    long long most = 0;
    from->config.cap_bytes = 8 * CHUNK;
    slow->pulls_max = 1;
    sender_begin(from, NAME);
    GAME_UNTIL(from->op.id != 0);
    reader_begin(fast, NAME, "0");
    reader_begin(slow, NAME, "1");
    GAME_UNTIL((note_stored(self.server, &most), (sender_step(from) & reader_step(fast)) & reader_step(slow)));
    assert_status(gh_op_poll(&from->op.op), GH_OK);
    assert_got(fast, bytes, size);
    assert_got(slow, bytes, size);
    assert_true(fast->op.is_whole && slow->op.is_whole);
    assert_int_equal(most, 8);
}

/* The naive way waits for ever for a reader that died, and the file stays. */
#define ALL_KEYS "EXISTS " KEY("s") " " KEY("c") " " KEY("o") " " KEY("e")

static void dead_reader_stops_nobody_for_ever(void** state)
{
    (void)state;
    scene self = scene_start(true);
    const size_t size = 30 * CHUNK;
    const char* bytes = parcel_bytes(self.a, size, 7, false);
    sender* from = sender_new(self.a, 2, bytes, size);
    from->config.cap_bytes = 4 * CHUNK;
    from->config.lease_us = 2 * (uint64_t)MINUTE_US;
    sender_begin(from, NAME);
    GAME_UNTIL((sender_step(from), from->op.is_full));
    reader* living = reader_new(self.b, size);
    reader* dead = reader_new(self.b, size);
    living->stop_at = 4 * CHUNK;
    dead->stop_at = 2 * CHUNK;
    reader_begin(living, NAME, "0");
    reader_begin(dead, NAME, "1");
    GAME_UNTIL((sender_step(from), reader_step(living) & reader_step(dead)));
    gh_op_cancel(&dead->op.op);
    redis_server_shift_clock(self.server, MINUTE_US);
    living->stop_at = SIZE_MAX;
    uint64_t end_us = game_now_us(self.a) + SECOND_US / 2;
    GAME_UNTIL((sender_step(from), reader_step(living), game_now_us(self.a) >= end_us));
    assert_true(gh_op_poll(&from->op.op) == GH_PENDING); /* the silent one still counts */
    redis_server_shift_clock(self.server, 2 * MINUTE_US + (int64_t)SECOND_US);
    GAME_UNTIL(sender_step(from) & reader_step(living));
    assert_status(gh_op_poll(&from->op.op), GH_OK);
    assert_status(gh_op_poll(&living->op.op), GH_OK);
    assert_got(living, bytes, size);
    assert_status(reader_run(reader_new(self.b, size), NAME, "1"), GH_LOST);
    assert_int_equal(redis_server_integer(self.server, ALL_KEYS), 1); /* only the note of who has read it */
    redis_server_shift_clock(self.server, 70 * MINUTE_US);
    assert_int_equal(redis_server_integer(self.server, ALL_KEYS), 0);
    assert_status(reader_run(reader_new(self.b, size), NAME, "1"), GH_GONE);
}

/* ---- 4: asking without end ----------------------------------------------------------------------------- */

/* The naive way asks again at once when nothing is there, for as long as nothing is there. */
static void waiting_reader_asks_in_pauses(void** state)
{
    (void)state;
    scene self = scene_start(false);
    sender* from = sender_new(self.a, 1, parcel_bytes(self.a, 2 * CHUNK, 5, false), 2 * CHUNK);
    from->config.stream = true;
    from->stop_at = CHUNK;
    sender_begin(from, NAME);
    GAME_UNTIL((sender_step(from), from->op.stored_bytes == CHUNK));
    reader* to = reader_new(self.b, 2 * CHUNK);
    reader_begin(to, NAME, "0");
    GAME_UNTIL((reader_step(to), to->got_size == CHUNK));
    uint64_t requests = game_stats(self.b).requests;
    uint64_t end_us = game_now_us(self.b) + SECOND_US;
    GAME_UNTIL((reader_step(to), game_now_us(self.b) >= end_us));
    assert_true(game_stats(self.b).requests - requests < 40);
    from->stop_at = SIZE_MAX;
    GAME_UNTIL(sender_step(from) & reader_step(to));
    assert_got(to, from->bytes, 2 * CHUNK);
}

TEST_FILE(defects_files, cmocka_unit_test(ten_readers_are_ten_and_not_two), cmocka_unit_test(second_file_of_a_day_adds),
          cmocka_unit_test(block_that_is_sent_again_is_there_once),
          cmocka_unit_test(file_larger_than_the_cap_goes_through), cmocka_unit_test(dead_reader_stops_nobody_for_ever),
          cmocka_unit_test(waiting_reader_asks_in_pauses));
