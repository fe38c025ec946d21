/* What a flush says of a file while a request to add a piece of it hangs on the way, and may reach the store when
   everything is over; and while it looks whether what it added is still there. */

#include "support/cleanup.h"
#include "support/server/fake_server.h"
#include "support/scene/places.h"
#include "support/server/raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSED        "-NOPERM this user has no permissions to run the 'evalsha' command\r\n"
#define CORRUPT        "-CORRUPT file of a day is not of the form that KEYS.md describes\r\n"
#define NOTHING_STAGED "2 0 0"   /* says aggregate_add.lua */
#define NOTHING_KNOWN  "1 0 0 1" /* says aggregate_stage.lua, of a day of one piece */
#define PIECES         4u

/* What becomes of a request; all others are answered by the server behind. */
typedef enum fate
{
    FATE_NONE = 0,
    FATE_HANGS,   /* its link dies, and it arrives when all is over */
    FATE_UNHEARD, /* it is carried out, and its link dies           */
    FATE_ANSWERED /* with that text, behind the sequence unless it is an error */
} fate;

typedef struct stop
{
    char kind;       /* l: looks, s: stages, a: adds */
    unsigned number; /* of its kind, from 1          */
    fate what;
    const char* text;
} stop;

#define STOPS_MAX 3

/* The way to the server. What hangs is kept here; only the fake's thread touches it while the fake is there. */
typedef struct way
{
    stop stops[STOPS_MAX];
    unsigned seen[128];
    char hanging[1024];
    size_t hanging_size;
} way;

static char kind_of(const fake_request* request)
{
    static const char prefix[] = "gh:{daily:";
    if (!fake_request_is(request, "EVALSHA") || request->count < 11) return 0;
    const fake_argument* key = &request->arguments[3];
    if (key->size < sizeof(prefix) || memcmp(key->bytes, prefix, sizeof(prefix) - 1) != 0) return 0;
    if (request->count == 11) return 'a';
    return request->arguments[12].bytes[0] == '-' ? 'l' : 's';
}

static const stop* stop_of(way* self, char kind)
{
    unsigned number = ++self->seen[(unsigned char)kind];
    for (size_t i = 0; i < STOPS_MAX; i++)
        if (self->stops[i].kind == kind && self->stops[i].number == number) return &self->stops[i];
    return NULL;
}

static void answer_with(const char* text, const fake_request* request, fake_reply* reply)
{
    const fake_argument* sequence = &request->arguments[8];
    if (text[0] == '-') fake_reply_text(reply, text);
    else fake_reply_bulk(reply, "%.*s %s", (int)sequence->size, sequence->bytes, text);
}

static void answer(void* context, const fake_request* request, fake_reply* reply)
{
    way* self = context;
    char kind = kind_of(request);
    const stop* here = kind == 0 ? NULL : stop_of(self, kind);
    switch (here == NULL ? FATE_NONE : here->what)
    {
    case FATE_NONE: fake_reply_default(reply); break;
    case FATE_HANGS:
        self->hanging_size = request->raw_size < sizeof(self->hanging) ? request->raw_size : 0;
        memcpy(self->hanging, request->raw, self->hanging_size);
        break;
    case FATE_UNHEARD:
        fake_reply_default(reply);
        fake_reply_cut(reply, 0);
        break;
    case FATE_ANSWERED: answer_with(here->text, request, reply); break;
    }
}

/* A flush whose requests go that way, and the server at its end. */
typedef struct trip
{
    redis_server* server;
    fake_server* fake;
    game* far;
    gh_aggregate* aggregate;
    gh_aggregate_flush* flush;
    way* way;
} trip;

static trip trip_open(const stop* stops, size_t count)
{
    trip self = {.server = redis_server_start(NULL), .way = calloc(1, sizeof(way))};
    assert_non_null(self.way);
    cleanup_add(free, self.way);
    memcpy(self.way->stops, stops, count * sizeof(stop));
    self.fake = fake_server_start(answer, self.way, redis_server_address(self.server));
    gh_client_config config = game_config(fake_server_address(self.fake));
    config.wake = false;
    config.request_timeout_us = SECOND_US / 4 * suite_patience(); /* no other request may go twice */
    config.backoff_min_us = config.backoff_max_us = 1000;
    self.far = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(self.far->client));
    self.flush = GAME_NEW(self.far, gh_aggregate_flush);
    return self;
}

/* A line from each city: one day, four pieces. */
static void add_cities(gh_aggregate* aggregate)
{
    for (unsigned city = 0; city < 200; city++)
    {
        char line[64];
        snprintf(line, sizeof(line), "10.0.%u.1 2011-10-10 13:55:36 x\n", city);
        assert_status(gh_aggregate_add(aggregate, gh_str_of(line)), GH_OK);
    }
}

/* One day, one piece. */
static void add_line(gh_aggregate* aggregate)
{
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("10.0.0.1 2011-10-10 13:55:36 x\n")), GH_OK);
}

/* Two days of a piece each. */
static void add_days(gh_aggregate* aggregate)
{
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("10.0.0.1 2011-10-10 13:55:36 x\n"
                                                             "10.0.1.1 2011-10-11 13:55:36 x\n")),
                  GH_OK);
}

static void trip_begin(trip* self, void (*add)(gh_aggregate* aggregate))
{
    self->aggregate = places_aggregate(self->far, places_many(self->far, 4), 2);
    add(self->aggregate);
    assert_status(gh_aggregate_flush_begin(self->flush, self->far->client, self->aggregate, gh_str_literal("events"),
                                           gh_str_literal("log"), NULL),
                  GH_OK);
}

static gh_status trip_end(const trip* self)
{
    GAME_UNTIL(gh_op_poll(&self->flush->op) != GH_PENDING);
    return gh_op_poll(&self->flush->op);
}

/* What hung arrives. */
static void trip_let_it_arrive(trip* self)
{
    self->far->asleep = true;
    fake_server_end(self->fake);
    self->fake = NULL;
    assert_true(self->way->hanging_size > 0);
    int link = raw_connect(redis_server_address(self->server));
    raw_send(link, self->way->hanging, self->way->hanging_size);
    char reply[64];
    reply[raw_read(link, reply, sizeof(reply) - 1)] = 0;
    unsigned numbers[4];
    assert_int_equal(sscanf(reply, "$%*u\r\n%u %u %u %u\r\n", &numbers[0], &numbers[1], &numbers[2], &numbers[3]), 4);
}

/* It finds that nothing is left to be added. */
static void must_be_there_whole(const trip* self)
{
    game* near = game_start_ready(redis_server_address(self->server));
    self->far->asleep = true;
    assert_status(places_flush(near, self->aggregate, "events", "log"), GH_EXISTS);
    game_end(near);
}

static void trip_close(const trip* self)
{
    game_end(self->far);
    if (self->fake != NULL) fake_server_end(self->fake);
    redis_server_end(self->server);
}

static gh_status end_of(void (*add)(gh_aggregate* aggregate), const stop* stops, size_t count)
{
    trip self = trip_open(stops, count);
    trip_begin(&self, add);
    gh_status status = trip_end(&self);
    trip_close(&self);
    return status;
}

/* ---- a request to add that hangs ---------------------------------------------------------------------------- */

/* A repeat goes on with the next piece, whenever it comes; so here it is the one that brings the last. */
static void cancelled_while_a_copy_hangs_is_unknown(void** state)
{
    (void)state;
    static const stop stops[] = {{'a', 1, FATE_HANGS, NULL}};
    trip self = trip_open(stops, 1);
    trip_begin(&self, add_cities);
    GAME_UNTIL(self.flush->chunks_added == PIECES - 2); /* and the next one is on its way, and waited for */
    gh_op_cancel(&self.flush->op);
    assert_status(trip_end(&self), GH_UNKNOWN);
    assert_int_equal(self.flush->chunks, PIECES);
    assert_int_equal(self.flush->chunks_added, PIECES - 1);
    trip_let_it_arrive(&self);
    must_be_there_whole(&self);
    assert_int_equal(places_score(self.server, "events", "2011-10-10", 0, "c3"), 50);
}

static void refused_while_a_copy_hangs_is_unknown(void** state)
{
    (void)state;
    static const char* const texts[] = {REFUSED, CORRUPT};
    for (size_t i = 0; i < 2; i++)
    {
        const stop stops[] = {{'a', 1, FATE_HANGS, NULL}, {'a', PIECES + 1, FATE_ANSWERED, texts[i]}};
        trip self = trip_open(stops, 2);
        trip_begin(&self, add_cities);
        assert_status(trip_end(&self), GH_UNKNOWN);
        assert_int_equal(self.flush->chunks_added, PIECES - 1);
        trip_let_it_arrive(&self);
        must_be_there_whole(&self);
        trip_close(&self);
    }
}

/* The store knows less than it did, and the flush begins anew: what is staged then may be added by what hangs. */
static void begun_anew_while_a_copy_hangs_is_unknown(void** state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
    {
        const stop stops[] = {{'a', 1, FATE_HANGS, NULL},
                              {'a', 2, FATE_ANSWERED, NOTHING_STAGED},
                              {i == 0 ? 'l' : 's', 2, FATE_ANSWERED, REFUSED}};
        trip self = trip_open(stops, 3);
        trip_begin(&self, add_line);
        assert_status(trip_end(&self), GH_UNKNOWN);
        trip_let_it_arrive(&self);
        must_be_there_whole(&self);
        trip_close(&self);
    }
}

/* Who added it can be said as little as whether: it is there, that is all. */
static void added_by_a_copy_that_hung_is_no_duplicate(void** state)
{
    (void)state;
    const stop stops[] = {{'a', 1, FATE_UNHEARD, NULL}, {'a', 2, FATE_ANSWERED, NOTHING_STAGED}};
    assert_status(end_of(add_line, stops, 2), GH_OK);
}

/* What only stages brings nothing into the totals, however late it comes. */
static void refused_while_a_staging_hangs_is_refused(void** state)
{
    (void)state;
    const stop stops[] = {{'s', 1, FATE_HANGS, NULL}, {'s', 3, FATE_ANSWERED, REFUSED}};
    assert_status(end_of(add_cities, stops, 2), GH_REFUSED);
}

/* ---- the look at what was added ------------------------------------------------------------------------------- */

/* All of it is in the totals, and whatever the look comes to, nobody is told that it is not. */
static void look_that_fails_denies_nothing(void** state)
{
    (void)state;
    static const char* const texts[] = {REFUSED, CORRUPT, "-WRONGTYPE Operation against a key\r\n", "0 7 7 7",
                                        "9 0 0 1"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
    {
        for (unsigned look = 3; look <= 4; look++)
        {
            const stop stops[] = {{'l', look, FATE_ANSWERED, texts[i]}};
            trip self = trip_open(stops, 1);
            trip_begin(&self, add_days);
            assert_status(trip_end(&self), GH_UNKNOWN);
            assert_int_equal(self.flush->days_new, 2);
            must_be_there_whole(&self);
            trip_close(&self);
        }
    }
}

/* Of what was not added yet, or was seen to be gone, that can be said. */
static void look_that_fails_before_is_told_as_that(void** state)
{
    (void)state;
    const stop refused[] = {{'l', 2, FATE_ANSWERED, REFUSED}};
    const stop corrupt[] = {{'l', 1, FATE_ANSWERED, CORRUPT}};
    const stop gone[] = {{'l', 3, FATE_ANSWERED, NOTHING_KNOWN}, {'s', 3, FATE_ANSWERED, REFUSED}};
    assert_status(end_of(add_days, refused, 1), GH_REFUSED);
    assert_status(end_of(add_days, corrupt, 1), GH_CORRUPT);
    assert_status(end_of(add_days, gone, 2), GH_REFUSED);
}

TEST_FILE(aggregate_late, cmocka_unit_test(cancelled_while_a_copy_hangs_is_unknown),
          cmocka_unit_test(refused_while_a_copy_hangs_is_unknown),
          cmocka_unit_test(begun_anew_while_a_copy_hangs_is_unknown),
          cmocka_unit_test(added_by_a_copy_that_hung_is_no_duplicate),
          cmocka_unit_test(refused_while_a_staging_hangs_is_refused), cmocka_unit_test(look_that_fails_denies_nothing),
          cmocka_unit_test(look_that_fails_before_is_told_as_that));
