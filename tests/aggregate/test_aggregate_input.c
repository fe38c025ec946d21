/* What aggregate.h is given that it must refuse, with the status that names it and nothing changed. */

#include "support/server/fake_server.h"
#include "support/server/foreign.h"
#include "support/scene/keys.h"
#include "support/scene/places.h"

#include <stdio.h>
#include <string.h>

#define SET       gh_str_literal("events")
#define FILE_NAME gh_str_literal("log")

static gh_str name_of(size_t size)
{
    static char bytes[128];
    memset(bytes, 'x', sizeof(bytes));
    return gh_str_make(bytes, size);
}

static void bad_memory_and_tables(void** state)
{
    (void)state;
    game* a = game_start("unix:/nowhere");
    gh_aggregate_config config = gh_aggregate_config_default();
    gh_aggregate* aggregate = NULL;
    assert_int_equal(gh_aggregate_memory(NULL), gh_aggregate_memory(&config));
    char* defaults = game_new(a, gh_aggregate_memory(NULL));
    assert_status(gh_aggregate_init(&aggregate, NULL, defaults, gh_aggregate_memory(NULL) - 1), GH_INVALID_MEMORY);
    assert_status(gh_aggregate_init(&aggregate, NULL, defaults, gh_aggregate_memory(NULL)), GH_OK);
    aggregate = NULL;
    config.nodes_capacity = 100;
    size_t size = gh_aggregate_memory(&config);
    char* memory = game_new(a, size + 16);
    assert_status(gh_aggregate_init(NULL, &config, memory, size), GH_INVALID_OUT);
    assert_status(gh_aggregate_init(&aggregate, &config, NULL, size), GH_INVALID_MEMORY);
    assert_status(gh_aggregate_init(&aggregate, &config, memory + 8, size), GH_INVALID_MEMORY);
    for (size_t less = 0; less < size; less++)
        assert_status(gh_aggregate_init(&aggregate, &config, memory, less), GH_INVALID_MEMORY);
    static const uint32_t bad[][2] = {{0, 3}, {16777217, 3}, {100, 0}, {100, GH_AGGREGATE_DAYS_MAX + 1}};
    for (size_t i = 0; i < 4; i++)
    {
        config.nodes_capacity = bad[i][0];
        config.days_capacity = bad[i][1];
        assert_int_equal(gh_aggregate_memory(&config), 0);
        assert_status(gh_aggregate_init(&aggregate, &config, memory, size), GH_INVALID_CAPACITY);
    }
    config = gh_aggregate_config_default();
    config.action = gh_str_make(NULL, 1);
    assert_status(gh_aggregate_init(&aggregate, &config, memory, size), GH_INVALID_CONFIG);
    config.action = name_of(GH_NAME_SIZE_MAX + 1);
    assert_int_equal(gh_aggregate_memory(&config), 0);
    assert_status(gh_aggregate_init(&aggregate, &config, memory, size), GH_INVALID_CONFIG);
    config = gh_aggregate_config_default();
    config.nodes_capacity = 100;
    config.struct_size++;
    assert_status(gh_aggregate_init(&aggregate, &config, memory, size), GH_INVALID_CONFIG);
    config.struct_size--;
    assert_null(aggregate);
    assert_status(gh_aggregate_init(&aggregate, &config, memory, size), GH_OK);

    gh_aggregate_stats stats;
    assert_int_equal(gh_aggregate_count(aggregate, PLACES_DAY, 0), 0);
    assert_status(gh_aggregate_add(NULL, SET), GH_INVALID_AGGREGATE);
    assert_status(gh_aggregate_add(aggregate, SET), GH_INVALID_AGGREGATE); /* no table yet */
    assert_status(gh_aggregate_add_line(aggregate, SET), GH_INVALID_AGGREGATE);
    assert_status(gh_aggregate_start(NULL, places_world(a)), GH_INVALID_AGGREGATE);
    assert_status(gh_aggregate_start(aggregate, NULL), GH_INVALID_TABLE);
    gh_geo_config geo_config = gh_geo_config_default();
    gh_geo* building = NULL;
    void* geo_memory = game_new(a, gh_geo_memory(&geo_config));
    assert_status(gh_geo_init(&building, &geo_config, geo_memory, gh_geo_memory(&geo_config)), GH_OK);
    assert_status(gh_aggregate_start(aggregate, building), GH_INVALID_TABLE);
    assert_status(gh_aggregate_start(aggregate, places_world(a)), GH_OK);
    assert_status(gh_aggregate_add(aggregate, gh_str_make(NULL, 1)), GH_INVALID_BUFFER);
    assert_status(gh_aggregate_add(aggregate, gh_str_make(NULL, 0)), GH_OK);
    assert_status(gh_aggregate_get_stats(NULL, &stats), GH_INVALID_AGGREGATE);
    assert_status(gh_aggregate_get_stats(aggregate, NULL), GH_INVALID_OUT);
    assert_int_equal(gh_aggregate_count(NULL, PLACES_DAY, 0), 0);
    assert_int_equal(gh_aggregate_count(aggregate, SET, 0), 0);
    assert_int_equal(gh_aggregate_count(aggregate, PLACES_DAY, 12345), 0);
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("81.0.0.1 2011-10-10 13:55:36 x\n")), GH_OK);
    assert_int_equal(gh_aggregate_count(aggregate, PLACES_DAY, 12345), 0);
    memset(defaults, 0, 64); /* what is none any more */
    gh_aggregate* gone = (gh_aggregate*)(void*)defaults;
    assert_status(gh_aggregate_add(gone, SET), GH_INVALID_AGGREGATE);
    assert_status(gh_aggregate_start(gone, places_world(a)), GH_INVALID_AGGREGATE);
    assert_status(gh_aggregate_get_stats(gone, &stats), GH_INVALID_AGGREGATE);
    assert_int_equal(gh_aggregate_count(gone, PLACES_DAY, 0), 0);
}

static void bad_flushes(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_geo* world = places_world(a);
    gh_aggregate* aggregate = places_aggregate(a, world, 2);
    gh_aggregate_flush* op = GAME_NEW(a, gh_aggregate_flush);
    gh_client* client = a->client;
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("81.0.0.1 2011-10-10 13:55:36 x\n")), GH_OK);
    assert_status(gh_aggregate_flush_begin(NULL, client, aggregate, SET, FILE_NAME, NULL), GH_INVALID_OP);
    assert_status(gh_aggregate_flush_begin(op, NULL, aggregate, SET, FILE_NAME, NULL), GH_INVALID_CLIENT);
    assert_status(gh_aggregate_flush_begin(op, client, NULL, SET, FILE_NAME, NULL), GH_INVALID_AGGREGATE);
    assert_status(gh_aggregate_flush_begin(op, client, aggregate, gh_str_of(""), FILE_NAME, NULL), GH_INVALID_NAME);
    assert_status(
        gh_aggregate_flush_begin(op, client, aggregate, name_of(GH_AGGREGATE_SET_SIZE_MAX + 1), FILE_NAME, NULL),
        GH_INVALID_NAME);
    assert_status(gh_aggregate_flush_begin(op, client, aggregate, SET, name_of(GH_NAME_SIZE_MAX + 1), NULL),
                  GH_INVALID_NAME);
    gh_aggregate_flush_config config = gh_aggregate_flush_config_default();
    static const uint64_t bad[][3] = {
        {999, 0, 1}, {UINT64_C(86400000001), 0, 1}, {1000, 1, 2}, {1000, UINT64_C(3155760000000001), 2}};
    for (size_t i = 0; i < 4; i++)
    {
        config.progress_us = bad[i][0];
        config.keep_us = bad[i][1];
        assert_status(gh_aggregate_flush_begin(op, client, aggregate, SET, FILE_NAME, &config),
                      bad[i][2] == 1 ? GH_INVALID_TIMEOUT : GH_INVALID_ABANDONED);
    }
    config.struct_size = 0;
    assert_status(gh_aggregate_flush_begin(op, client, aggregate, SET, FILE_NAME, &config), GH_INVALID_CONFIG);
    assert_status(gh_op_poll(&op->op), GH_INVALID_CONFIG);
    gh_op_cancel(&op->op);
    assert_status(gh_aggregate_flush_begin(op, client, aggregate, name_of(GH_AGGREGATE_SET_SIZE_MAX), FILE_NAME, NULL),
                  GH_OK);
    assert_status(gh_aggregate_flush_begin(op, client, aggregate, SET, FILE_NAME, NULL), GH_INVALID_OP);
    gh_aggregate_flush* other = GAME_NEW(a, gh_aggregate_flush);
    assert_status(gh_aggregate_flush_begin(other, client, aggregate, SET, FILE_NAME, NULL), GH_INVALID_AGGREGATE);
    assert_status(gh_aggregate_start(aggregate, world), GH_INVALID_AGGREGATE);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    assert_status(gh_op_poll(&op->op), GH_OK);
    assert_status(gh_aggregate_start(aggregate, world), GH_OK);
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("broken\n")), GH_OK);
    assert_status(places_flush(a, aggregate, "events", "nothing in it"), GH_OK);
}

static void bad_reads(void** state)
{
    (void)state;
    game* a = game_start("unix:/nowhere");
    gh_aggregate_read* op = GAME_NEW(a, gh_aggregate_read);
    gh_aggregate_read_config config = gh_aggregate_read_config_default();
    gh_aggregate_total totals[2];
    char text[100];
    config.totals = totals;
    config.total_count = 2;
    config.text = text;
    config.text_size = sizeof(text);
    const gh_aggregate_read_config good = config;
    gh_client* client = a->client;
    assert_status(gh_aggregate_read_begin(NULL, client, SET, PLACES_DAY, &config), GH_INVALID_OP);
    assert_status(gh_aggregate_read_begin(op, NULL, SET, PLACES_DAY, &config), GH_INVALID_CLIENT);
    assert_status(gh_aggregate_read_begin(op, client, gh_str_of(""), PLACES_DAY, &config), GH_INVALID_NAME);
    assert_status(gh_aggregate_read_begin(op, client, name_of(54), PLACES_DAY, &config), GH_INVALID_NAME);
    assert_status(gh_aggregate_read_begin(op, client, SET, gh_str_of("2011-02-30"), &config), GH_INVALID_DAY);
    assert_status(gh_aggregate_read_begin(op, client, SET, gh_str_of("2011-2-3"), &config), GH_INVALID_DAY);
    assert_status(gh_aggregate_read_begin(op, client, SET, gh_str_make(NULL, 10), &config), GH_INVALID_DAY);
    assert_status(gh_aggregate_read_begin(op, client, SET, PLACES_DAY, NULL), GH_INVALID_CONFIG);
    config.level = (gh_aggregate_level)3;
    assert_status(gh_aggregate_read_begin(op, client, SET, PLACES_DAY, &config), GH_INVALID_LEVEL);
    config = good, config.timeout_us = 60000001;
    assert_status(gh_aggregate_read_begin(op, client, SET, PLACES_DAY, &config), GH_INVALID_TIMEOUT);
    config = good, config.totals = NULL;
    assert_status(gh_aggregate_read_begin(op, client, SET, PLACES_DAY, &config), GH_INVALID_TOTALS);
    config = good, config.total_count = 0;
    assert_status(gh_aggregate_read_begin(op, client, SET, PLACES_DAY, &config), GH_INVALID_TOTALS);
    config = good, config.total_count = GH_AGGREGATE_TOTALS_MAX + 1;
    assert_status(gh_aggregate_read_begin(op, client, SET, PLACES_DAY, &config), GH_INVALID_TOTALS);
    config = good, config.text = NULL;
    assert_status(gh_aggregate_read_begin(op, client, SET, PLACES_DAY, &config), GH_INVALID_TOTALS);
    config = good, config.text_size = 0;
    assert_status(gh_aggregate_read_begin(op, client, SET, PLACES_DAY, &config), GH_INVALID_TOTALS);
    config = good, config.struct_size = 0;
    assert_status(gh_aggregate_read_begin(op, client, SET, PLACES_DAY, &config), GH_INVALID_CONFIG);
    assert_int_equal(game_stats(a).ops_busy, 0);
    assert_status(gh_aggregate_read_begin(op, client, SET, PLACES_DAY, &good), GH_OK);
    assert_status(gh_aggregate_read_begin(op, client, SET, PLACES_DAY, &good), GH_INVALID_OP);
    gh_op_cancel(&op->op);
    assert_status(gh_op_poll(&op->op), GH_CANCELLED);
}

/* What others wrote under our keys is told, and left as it is. */
static void wrong_types_are_told(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_geo* world = places_world(a);
    static const char* const parts[] = {"f", "g", "0", "1", "2"};
    for (int i = 0; i < 5; i++)
    {
        gh_aggregate* aggregate = places_aggregate(a, world, 2);
        assert_status(gh_aggregate_add(aggregate, gh_str_literal("81.0.0.1 2011-10-10 13:55:36 x\n")), GH_OK);
        redis_server_do(server, "FLUSHALL");
        redis_server_do(server, "SET gh:{daily:events.2011-10-10}:%s x", parts[i]);
        assert_status(places_flush(a, aggregate, "events", "log"), GH_CORRUPT);
        for (int level = 0; level < 3; level++)
            if (i != level + 2)
                assert_int_equal(redis_server_integer(server, "EXISTS gh:{daily:events.2011-10-10}:%d", level), 0);
    }
    redis_server_do(server, "FLUSHALL");
    redis_server_do(server, "HSET gh:{daily:events.2011-10-10}:f log nonsense");
    gh_aggregate* aggregate = places_aggregate(a, world, 2);
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("81.0.0.1 2011-10-10 13:55:36 x\n")), GH_OK);
    assert_status(places_flush(a, aggregate, "events", "log"), GH_CORRUPT);
}

/* No script counts up from a number that is in a key, and none answers it. */
static void record_with_numbers_of_any_size_is_corrupt(void** state)
{
    (void)state;
    static const char* const records[] = {"9007199254740993 0 9007199254740995 1",
                                          "1 0 99999999999999999999 1",
                                          "18446744073709551616 0 3 1",
                                          "2 0 1 1",
                                          "1 2 1 1",
                                          "2 1 3 1",
                                          "-1 0 1 1",
                                          "1 0 1 9999999999999999",
                                          "1 0 1e400 1",
                                          "nan 0 1 1",
                                          "1  1 1",
                                          "1 0 1 -5"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_geo* world = places_world(a);
    for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++)
    {
        gh_aggregate* aggregate = places_aggregate(a, world, 2);
        assert_status(gh_aggregate_add(aggregate, gh_str_literal("81.0.0.1 2011-10-10 13:55:36 x\n")), GH_OK);
        char record[128];
        snprintf(record, sizeof(record), "0123456789abcdef0123456789abcdef %s", records[i]);
        redis_server_do(server, "FLUSHALL");
        redis_server_do(server, "HSET gh:{daily:events.2011-10-10}:f log %s", record);
        assert_status(places_flush(a, aggregate, "events", "log"), GH_CORRUPT);
        assert_int_equal(redis_server_keys(server), 1);
    }
    assert_int_equal(game_stats(a).links_lost, 0);
}

static void answer_too_much(void* context, const fake_request* request, fake_reply* reply)
{
    const char* numbers = context;
    const fake_argument* key = &request->arguments[request->count > 3 ? 3 : 0];
    if (!fake_request_is(request, "EVALSHA") || key->size < 10 || memcmp(key->bytes, "gh:{daily:", 10) != 0)
    {
        fake_reply_default(reply);
        return;
    }
    fake_reply_bulk(reply, "%.*s 0 %s", (int)request->arguments[8].size, request->arguments[8].bytes, numbers);
}

static void answer_with_numbers_of_any_size_is_corrupt(void** state)
{
    (void)state;
    static char answers[][64] = {"4294967297 0 1", "0 4294967296 1", "1 1 4294967297",
                                 "4294967297 4294967297 4294967297"};
    redis_server* server = redis_server_start(NULL);
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
    {
        fake_server* fake = fake_server_start(answer_too_much, answers[i], redis_server_address(server));
        game* a = game_start_ready(fake_server_address(fake));
        gh_aggregate* aggregate = places_aggregate(a, places_world(a), 2);
        assert_status(gh_aggregate_add(aggregate, gh_str_literal("81.0.0.1 2011-10-10 13:55:36 x\n")), GH_OK);
        assert_status(places_flush(a, aggregate, "events", "log"), GH_CORRUPT);
        assert_int_equal(game_stats(a).links_lost, 0);
    }
}

/* What the script of the staging says, one code after the other; the last again and again. */
static void answer_codes(void* context, const fake_request* request, fake_reply* reply)
{
    char* codes = context;
    const fake_argument* key = &request->arguments[request->count > 3 ? 3 : 0];
    if (!fake_request_is(request, "EVALSHA") || key->size < 10 || memcmp(key->bytes, "gh:{daily:", 10) != 0)
    {
        fake_reply_default(reply);
        return;
    }
    fake_reply_bulk(reply, "%.*s %c 0 0 1", (int)request->arguments[8].size, request->arguments[8].bytes, codes[0]);
    if (codes[1] != 0) memmove(codes, codes + 1, strlen(codes));
}

/* 1: no file of that name is there; then its one piece is staged. */
static void codes_of_a_staging_that_are_none(void** state)
{
    (void)state;
    static const struct
    {
        const char* codes;
        gh_status status;
    } rows[] = {{"9", GH_CORRUPT}, {"19", GH_UNKNOWN}, {"11", GH_UNKNOWN}, {"13", GH_DIFFERS}, {"14", GH_DIFFERS}};
    redis_server* server = redis_server_start(NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        char codes[8];
        strcpy(codes, rows[i].codes);
        fake_server* fake = fake_server_start(answer_codes, codes, redis_server_address(server));
        game* a = game_start_ready(fake_server_address(fake));
        gh_aggregate* aggregate = places_aggregate(a, places_world(a), 2);
        assert_status(gh_aggregate_add(aggregate, gh_str_literal("81.0.0.1 2011-10-10 13:55:36 x\n")), GH_OK);
        const gh_status status = places_flush(a, aggregate, "events", "log");
        if (status != rows[i].status) fail_msg("%s ends %s", rows[i].codes, gh_status_name(status));
        assert_int_equal(game_stats(a).links_lost, 0);
        game_end(a);
        fake_server_end(fake);
    }
}

/* A tab stands between the names of a total, and a line's end behind it. */
static void tabs_in_names_are_blanks_in_totals(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_geo_config config = gh_geo_config_default();
    const gh_str names[3] = {GH_STR_INIT("P\te"), GH_STR_INIT("C\nu"), GH_STR_INIT("\t\n")};
    gh_geo* table = NULL;
    void* memory = game_new(a, gh_geo_memory(&config));
    assert_status(gh_geo_init(&table, &config, memory, gh_geo_memory(&config)), GH_OK);
    assert_status(
        gh_geo_add(table, gh_str_literal("81.0.0.0"), gh_str_literal("81.0.0.255"), names[0], names[1], names[2]),
        GH_OK);
    assert_status(gh_geo_seal(table, 0), GH_OK);
    gh_aggregate* aggregate = places_aggregate(a, table, 2);
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("81.0.0.1 2011-10-10 13:55:36 x\n")), GH_OK);
    assert_status(places_flush(a, aggregate, "events", "log"), GH_OK);
    assert_int_equal(places_score(server, "events", "2011-10-10", 2, "P e\tC u\t  "), 1);
}

static void keys_are_those_of_the_page(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_geo* table = places_many(a, 12);
    gh_aggregate* aggregate = places_aggregate(a, table, 2);
    size_t size = 0;
    char* log = places_log(a, 12, 2000, 9, &size);
    assert_status(gh_aggregate_add(aggregate, gh_str_make(log, size)), GH_OK);
    gh_aggregate_flush* op = GAME_NEW(a, gh_aggregate_flush);
    assert_status(gh_aggregate_flush_begin(op, a->client, aggregate, SET, FILE_NAME, NULL), GH_OK);
    GAME_UNTIL(op->chunks_added == 1 && op->chunks > 3);
    keys_must_be_on_the_page(server, "gh:{daily:");
}

/* Totals that are kept for a time go after it. */
static void totals_are_kept_as_long_as_said(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start_ready(redis_server_address(server));
    gh_aggregate* aggregate = places_aggregate(a, places_world(a), 2);
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("81.0.0.1 2011-10-10 13:55:36 x\n")), GH_OK);
    gh_aggregate_flush* op = GAME_NEW(a, gh_aggregate_flush);
    gh_aggregate_flush_config config = gh_aggregate_flush_config_default();
    config.keep_us = 7200 * SECOND_US;
    assert_status(gh_aggregate_flush_begin(op, a->client, aggregate, SET, FILE_NAME, &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    redis_server_shift_clock(server, 7190 * (int64_t)SECOND_US);
    assert_int_equal(places_score(server, "events", "2011-10-10", 0, "DE"), 1);
    redis_server_shift_clock(server, 7210 * (int64_t)SECOND_US);
    for (int level = 0; level < 3; level++)
        assert_int_equal(redis_server_integer(server, "EXISTS gh:{daily:events.2011-10-10}:%d", level), 0);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{daily:events.2011-10-10}:f"), 0);
}

static const char* const day_parts[] = {"f", "g", "0", "1", "2"};

/* How many keys of the day are there, and how many of them end by themselves. */
static void assert_keys(redis_server* server, int there, int mortal)
{
    int count = 0;
    int ending = 0;
    for (size_t i = 0; i < sizeof(day_parts) / sizeof(day_parts[0]); i++)
    {
        long long left = redis_server_integer(server, "TTL gh:{daily:events.2011-10-10}:%s", day_parts[i]);
        if (left != -2) count++;
        if (left > 7000) ending++;
    }
    assert_int_equal(count, there);
    assert_int_equal(ending, mortal);
}

static gh_aggregate_flush* flush_kept(game* a, const char* file, uint64_t keep_us)
{
    gh_aggregate* aggregate = places_aggregate(a, places_many(a, 4), 2);
    gh_aggregate_flush_config config = gh_aggregate_flush_config_default();
    gh_aggregate_flush* op = GAME_NEW(a, gh_aggregate_flush);
    for (int city = 0; city < 200; city++)
    {
        char line[64];
        snprintf(line, sizeof(line), "10.0.%d.1 2011-10-10 13:55:36 x\n", city);
        assert_status(gh_aggregate_add(aggregate, gh_str_of(line)), GH_OK);
    }
    config.keep_us = keep_us;
    assert_status(gh_aggregate_flush_begin(op, a->client, aggregate, SET, gh_str_of(file), &config), GH_OK);
    return op;
}

/* A worker that dies leaves nothing for ever, if its totals are not to be kept for ever. */
static void what_is_abandoned_goes_in_time(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    const gh_aggregate_flush* op = flush_kept(a, "log", 7200 * SECOND_US);
    GAME_UNTIL(op->chunks_staged == 1);
    assert_keys(server, 2, 2);
    GAME_UNTIL(op->chunks_added == 1);
    assert_true(op->chunks > 3);
    assert_keys(server, 5, 5);
}

/* The last one who says it decides, also that a day stays. */
static void last_flush_says_how_long_totals_are_kept(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    for (int i = 0; i < 4; i++)
    {
        char file[8];
        snprintf(file, sizeof(file), "log%d", i);
        const gh_aggregate_flush* op = flush_kept(a, file, i % 2 == 0 ? 7200 * SECOND_US : 0);
        GAME_UNTIL(op->chunks_staged == 1);
        assert_keys(server, i == 0 ? 2 : 5, i == 0 ? 2 : i % 2 == 0 ? 5 : 0);
        GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
        assert_status(gh_op_poll(&op->op), GH_OK);
        assert_keys(server, 4, i % 2 == 0 ? 4 : 0);
    }
}

TEST_FILE(aggregate_input, cmocka_unit_test(bad_memory_and_tables), cmocka_unit_test(bad_flushes),
          cmocka_unit_test(bad_reads), cmocka_unit_test(wrong_types_are_told),
          cmocka_unit_test(record_with_numbers_of_any_size_is_corrupt),
          cmocka_unit_test(answer_with_numbers_of_any_size_is_corrupt),
          cmocka_unit_test(codes_of_a_staging_that_are_none), cmocka_unit_test(tabs_in_names_are_blanks_in_totals),
          cmocka_unit_test(keys_are_those_of_the_page), cmocka_unit_test(totals_are_kept_as_long_as_said),
          cmocka_unit_test(what_is_abandoned_goes_in_time), cmocka_unit_test(last_flush_says_how_long_totals_are_kept));
