/* Tests of guildhall/aggregate.h: lines are counted as another way counts them, and each file once. */

#include "support/faults/heap.h"
#include "support/scene/places.h"

#include "aggregate/aggregate_room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY        "2011-10-10"
#define SECOND_DAY "2011-10-11"
#define COUNTRIES  12u
#define CITIES     (COUNTRIES * 50u)

static void add(gh_aggregate* aggregate, const char* text)
{
    assert_status(gh_aggregate_add(aggregate, gh_str_of(text)), GH_OK);
}

static gh_aggregate_stats stats_of(const gh_aggregate* aggregate)
{
    gh_aggregate_stats stats;
    assert_status(gh_aggregate_get_stats(aggregate, &stats), GH_OK);
    return stats;
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static void plain_line_counts_in_its_country_region_and_city(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_geo* world = places_world(a);
    gh_aggregate* aggregate = places_aggregate(a, world, 3);
    gh_geo_place place;
    add(aggregate, "173.194.38.137 2011-10-10 13:55:36 achievement-762\n");
    assert_status(gh_geo_find(world, gh_str_literal("173.194.38.137"), &place), GH_OK);
    assert_int_equal(gh_aggregate_count(aggregate, PLACES_DAY, place.node), 1);
    assert_int_equal(gh_aggregate_count(aggregate, PLACES_DAY, gh_geo_node_parent(world, place.node)), 1);
    assert_int_equal(gh_aggregate_count(aggregate, gh_str_literal(SECOND_DAY), place.node), 0);
    assert_status(places_flush(a, aggregate, "events", "log 1"), GH_OK);
    assert_int_equal(places_score(server, "events", DAY, 0, "US"), 1);
    assert_int_equal(places_score(server, "events", DAY, 1, "US\tCalifornia"), 1);
    assert_int_equal(places_score(server, "events", DAY, 2, "US\tCalifornia\tMountain View"), 1);
}

/* Each alone in a file: counted where, or malformed. */
static void lines_of_every_kind(void** state)
{
    (void)state;
    static const struct
    {
        const char* line;
        char what; /* c counted, u in no range, m malformed, n nothing */
    } rows[] = {
        {"173.194.38.137 2011-10-10 13:55:36 achievement-762", 'c'},
        {"173.194.38.137 2011-10-10 13:55:36 achievement-762\r", 'c'},
        {"  173.194.38.137\t2011-10-10   13:55:36 x ", 'c'},
        {"2001:db8::1 2011-10-10 13:55:36 x", 'c'},
        {"::ffff:173.194.38.137 2011-10-10 13:55:36 x", 'c'},
        {"173.194.38.137 2012-02-29 00:00:00 x y z", 'c'},
        {"173.194.38.137 2011-10-10 23:59:60 x", 'c'},
        {"1.2.3.4 2011-10-10 13:55:36 achievement-762", 'u'},
        {"173.195.0.0 2011-10-10 13:55:36 achievement-762", 'u'},
        {"2001:db9::1 2011-10-10 13:55:36 x", 'u'},
        {"", 'n'},
        {"   ", 'n'},
        {"\r", 'n'},
        {"x", 'm'},
        {"173.194.38.137", 'm'},
        {"173.194.38.137 2011-10-10", 'm'},
        {"173.194.38.137 2011-10-10 13:55:36", 'm'},
        {"173.194.38.137 2011-10-10 13:55:36 ", 'm'},
        {"173.194.38 2011-10-10 13:55:36 achievement", 'm'},
        {"173.194.38.137.1 2011-10-10 13:55:36 achievement", 'm'},
        {"173.194.38.256 2011-10-10 13:55:36 achievement", 'm'},
        {"173.194.038.137 2011-10-10 13:55:36 achievement", 'm'},
        {"173.194.38.1370 2011-10-10 13:55:36 achievement", 'm'},
        {"-73.194.38.137 2011-10-10 13:55:36 achievement", 'm'},
        {"173.194.38.137 2011-10-32 13:55:36 achievement", 'm'},
        {"173.194.38.137 2011-00-10 13:55:36 achievement", 'm'},
        {"173.194.38.137 2011-02-29 13:55:36 achievement", 'm'},
        {"173.194.38.137 2011-04-31 13:55:36 achievement", 'm'},
        {"173.194.38.137 1999-10-10 13:55:36 achievement", 'm'},
        {"173.194.38.137 2100-10-10 13:55:36 achievement", 'm'},
        {"173.194.38.137 2011/10/10 13:55:36 achievement", 'm'},
        {"173.194.38.137 11-10-10 13:55:36 achievement", 'm'},
        {"173.194.38.137 2011-10-10 24:00:00 achievement", 'm'},
        {"173.194.38.137 2011-10-10 13:60:00 achievement", 'm'},
        {"173.194.38.137 2011-10-10 1:55:36 achievement", 'm'},
        {"173.194.38.137 2011-10-10 13-55-36 achievement", 'm'},
    };
    game* a = game_start("unix:/nowhere");
    gh_geo* world = places_world(a);
    gh_aggregate* aggregate = places_aggregate(a, world, 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        for (int way = 0; way < 2; way++)
        {
            char text[128];
            snprintf(text, sizeof(text), "%s\n", rows[i].line);
            assert_status(gh_aggregate_start(aggregate, world), GH_OK);
            if (way == 0) assert_status(gh_aggregate_add_line(aggregate, gh_str_of(rows[i].line)), GH_OK);
            else add(aggregate, text);
            gh_aggregate_stats stats = stats_of(aggregate);
            bool counted = rows[i].what == 'c' || rows[i].what == 'u';
            if (stats.lines != counted || stats.lines_unknown != (rows[i].what == 'u') ||
                stats.lines_malformed != (rows[i].what == 'm'))
                fail_msg("'%s' is not taken for '%c'", rows[i].line, rows[i].what);
        }
    }
}

typedef struct taken
{
    uint64_t lines;
    uint64_t unknown;
    uint64_t malformed;
    uint64_t country;
} taken;

/* What one line comes to, alone, in a piece, or in two pieces. */
static taken taken_of(gh_aggregate* aggregate, const gh_geo* world, gh_str line, int way)
{
    gh_geo_place place;
    const gh_str first = gh_str_make(line.bytes, line.size / 2);
    assert_status(gh_aggregate_start(aggregate, world), GH_OK);
    if (way == 0) assert_status(gh_aggregate_add_line(aggregate, line), GH_OK);
    if (way == 2) assert_status(gh_aggregate_add(aggregate, first), GH_OK);
    if (way == 2) line = gh_str_make(line.bytes + first.size, line.size - first.size);
    if (way > 0) assert_status(gh_aggregate_add(aggregate, line), GH_OK);
    assert_status(gh_geo_find(world, gh_str_literal("81.0.0.1"), &place), GH_OK);
    const gh_aggregate_stats stats = stats_of(aggregate);
    return (taken){stats.lines, stats.lines_unknown, stats.lines_malformed,
                   gh_aggregate_count(aggregate, PLACES_DAY, place.node)};
}

/* Whatever byte stands where in it: a line of the common form is counted the fast way, all others the slow one. */
static void line_comes_to_the_same_in_each_way(void** state)
{
    (void)state;
    static const char bytes[] = "/0123456789:;- .\t\rx";
    static const char* const lines[] = {"81.0.0.1 2011-10-10 13:55:36 x\n", "173.194.38.137 2012-02-29 00:00:60 y\n",
                                        "81.0.0.1\t2011-10-10 13:55:36 x\n"};
    game* a = game_start("unix:/nowhere");
    gh_geo* world = places_world(a);
    gh_aggregate* aggregate = places_aggregate(a, world, 1);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
    {
        const size_t size = strlen(lines[i]);
        for (size_t at = 0; at < (size - 1) * (sizeof(bytes) - 1); at++)
        {
            char line[64];
            snprintf(line, sizeof(line), "%s", lines[i]);
            line[at / (sizeof(bytes) - 1)] = bytes[at % (sizeof(bytes) - 1)];
            const taken alone = taken_of(aggregate, world, gh_str_make(line, size), 0);
            for (int way = 1; way < 3; way++)
            {
                const taken other = taken_of(aggregate, world, gh_str_make(line, size), way);
                if (memcmp(&alone, &other, sizeof(alone)) != 0) fail_msg("it depends on the way: %s", line);
            }
            assert_int_equal(alone.lines + alone.malformed, 1);
        }
    }
}

/* No count can go beyond 32 bits: the file after so many lines is another one. */
static void more_lines_than_can_be_counted_are_not_taken(void** state)
{
    (void)state;
    game* a = game_start("unix:/nowhere");
    gh_aggregate* aggregate = places_aggregate(a, places_world(a), 1);
    const gh_str line = gh_str_literal("81.0.0.1 2011-10-10 13:55:36 x\n");
    aggregate->lines = UINT32_MAX - 1;
    assert_status(gh_aggregate_add(aggregate, line), GH_OK);
    assert_status(gh_aggregate_add(aggregate, line), GH_FULL);
    assert_status(gh_aggregate_add_line(aggregate, line), GH_FULL);
    assert_status(gh_aggregate_add_line(aggregate, gh_str_literal("")), GH_FULL);
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("81.0.0.1 2011")), GH_FULL);
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("-10-10 13:55:36")), GH_FULL);
    assert_int_equal(stats_of(aggregate).lines, UINT32_MAX);
    assert_int_equal(stats_of(aggregate).lines_malformed, 0);
}

/* One action of a file: the lines of others are counted as others, take no day, and malformed ones stay malformed; in
   whole pieces, cut anywhere, and line by line. */
static void one_action_counts_alone(void** state)
{
    (void)state;
    static const char file[] = "81.0.0.1 2011-10-10 13:55:36 login\n"
                               "81.0.0.1 2011-10-10 13:55:36 logi\n"
                               "81.0.0.1 2011-10-11 13:55:36 achievement-762\n"
                               "81.0.0.1 2011-10-10 13:55:36 login-again\r\n"
                               "81.0.0.1\t2011-10-10  13:55:36 login x\n"
                               "81.0.0.1 2011-10-10 13:55:36  xlogin\n"
                               "1.2.3.4 2011-10-10 13:55:36 login\n"
                               "81.0.0.1 2011-10-32 13:55:36 other\n"
                               "81.0.0.1 2011-10-10 13:55 other\n"
                               "nonsense other\n";
    game* a = game_start("unix:/nowhere");
    gh_geo* table = places_world(a);
    for (size_t cut = 0; cut < sizeof(file); cut++)
    {
        char action[] = "login";
        gh_aggregate_config config = gh_aggregate_config_default();
        config.nodes_capacity = gh_geo_node_count(table);
        config.days_capacity = 1;
        config.action = gh_str_of(action);
        gh_aggregate* aggregate = NULL;
        size_t size = gh_aggregate_memory(&config);
        assert_status(gh_aggregate_init(&aggregate, &config, game_new(a, size), size), GH_OK);
        memset(action, 'x', sizeof(action)); /* it was copied */
        assert_status(gh_aggregate_start(aggregate, table), GH_OK);
        assert_status(gh_aggregate_add(aggregate, gh_str_make(file, cut)), GH_OK);
        assert_status(gh_aggregate_add(aggregate, gh_str_make(file + cut, sizeof(file) - 1 - cut)), GH_OK);
        gh_aggregate_stats stats;
        assert_status(gh_aggregate_get_stats(aggregate, &stats), GH_OK);
        assert_int_equal(stats.lines, 4);
        assert_int_equal(stats.lines_unknown, 1);
        assert_int_equal(stats.lines_other, 3);
        assert_int_equal(stats.lines_malformed, 3);
        assert_int_equal(stats.days, 1);
        assert_status(gh_aggregate_start(aggregate, table), GH_OK);
        assert_status(gh_aggregate_add_line(aggregate, gh_str_literal("81.0.0.1 2011-10-10 13:55:36 x")), GH_OK);
        assert_status(gh_aggregate_get_stats(aggregate, &stats), GH_OK);
        assert_int_equal(stats.lines, 0);
        assert_int_equal(stats.lines_other, 1);
    }
}

static void counting_never_calls_the_heap(void** state)
{
    (void)state;
    assert_true(heap_watch_works());
    game* a = game_start("unix:/nowhere");
    gh_geo* table = places_many(a, COUNTRIES);
    gh_aggregate* aggregate = places_aggregate(a, table, 2);
    size_t size = 0;
    char* log = places_log(a, COUNTRIES, 5000, 3, &size);
    heap_watch_begin();
    gh_status started = gh_aggregate_start(aggregate, table);
    gh_status added = gh_aggregate_add(aggregate, gh_str_make(log, size));
    heap_counts counts = heap_watch_end();
    assert_int_equal(counts.total, 0);
    assert_true(started == GH_OK && added == GH_OK);
    assert_true(stats_of(aggregate).lines > 1000);
}

/* Lines that are cut anywhere, against a count with strtok. */
static void pieces_of_any_size_count_the_same(void** state)
{
    (void)state;
    game* a = game_start("unix:/nowhere");
    gh_geo* table = places_many(a, COUNTRIES);
    gh_aggregate* aggregate = places_aggregate(a, table, 2);
    size_t size = 0;
    char* log = places_log(a, COUNTRIES, 20000, 1, &size);
    unsigned long long* counts = GAME_NEW_ARRAY(a, unsigned long long, 2 * (CITIES + 1));
    unsigned malformed = places_count(log, size, CITIES, counts);
    static const size_t steps[] = {1, 7, 64, 1000, 100000, SIZE_MAX};
    for (size_t i = 0; i < 6; i++)
    {
        assert_status(gh_aggregate_start(aggregate, table), GH_OK);
        for (size_t at = 0; at < size;)
        {
            size_t step = steps[i] < size - at ? steps[i] : size - at;
            assert_status(gh_aggregate_add(aggregate, gh_str_make(log + at, step)), GH_OK);
            at += step;
        }
        assert_int_equal(stats_of(aggregate).lines_malformed, malformed);
        assert_int_equal(stats_of(aggregate).days, 2);
        assert_int_equal(gh_aggregate_count(aggregate, PLACES_DAY, GH_GEO_NO_NODE), counts[CITIES]);
        for (unsigned city = 0; city < CITIES; city++)
        {
            uint32_t node = gh_geo_find_ipv4(table, 10u << 24 | city << 8);
            assert_int_equal(gh_aggregate_count(aggregate, PLACES_DAY, node), counts[city]);
            assert_int_equal(gh_aggregate_count(aggregate, gh_str_literal(SECOND_DAY), node),
                             counts[CITIES + 1 + city]);
        }
    }
}

static void line_as_long_as_may_be_counts_and_a_longer_one_does_not(void** state)
{
    (void)state;
    game* a = game_start("unix:/nowhere");
    gh_geo* world = places_world(a);
    gh_aggregate* aggregate = places_aggregate(a, world, 1);
    char* line = game_new(a, GH_AGGREGATE_LINE_MAX + 8);
    for (int extra = -1; extra <= 1; extra++)
    {
        size_t size = (size_t)(GH_AGGREGATE_LINE_MAX + extra);
        memset(line, 'x', size);
        memcpy(line, "173.194.38.137 2011-10-10 13:55:36 ", 35);
        memcpy(line + size, "\r\n", 2);
        for (size_t step = 1; step <= size + 2; step = step * 9 + 4)
        {
            assert_status(gh_aggregate_start(aggregate, world), GH_OK);
            for (size_t at = 0; at < size + 2; at += step)
                assert_status(
                    gh_aggregate_add(aggregate, gh_str_make(line + at, step < size + 2 - at ? step : size + 2 - at)),
                    GH_OK);
            add(aggregate, "173.194.38.137 2011-10-10 13:55:36 x\n"); /* and the next one is whole */
            assert_int_equal(stats_of(aggregate).lines, extra <= 0 ? 2 : 1);
            assert_int_equal(stats_of(aggregate).lines_malformed, extra <= 0 ? 0 : 1);
        }
    }
}

static void days_and_nodes_at_capacity(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_geo* world = places_world(a);
    gh_aggregate* aggregate = places_aggregate(a, world, 2);
    gh_aggregate_flush* flush = GAME_NEW(a, gh_aggregate_flush);
    add(aggregate, "81.0.0.1 2011-10-10 13:55:36 x\n81.0.0.1 2011-10-11 13:55:36 x\n81.0.0.1 2011-10-10 13:55:36 x\n");
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("81.0.0.1 2011-10-12 13:55:36 x\n")), GH_FULL);
    assert_int_equal(stats_of(aggregate).lines, 3);
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("81.0.0.1 2011-10-10 13:55:36 x\n")), GH_FULL);
    gh_str set = gh_str_literal("events");
    assert_status(gh_aggregate_flush_begin(flush, a->client, aggregate, set, set, NULL), GH_FULL);
    gh_geo* larger = places_many(a, 1);
    assert_status(gh_aggregate_start(aggregate, larger), GH_FULL);
    assert_status(gh_aggregate_start(aggregate, world), GH_OK);
    add(aggregate, "81.0.0.1 2011-10-12 13:55:36 x"); /* no end: the flush takes it as it is */
    assert_status(places_flush(a, aggregate, "events", "log"), GH_OK);
    assert_int_equal(places_score(server, "events", "2011-10-12", 1, "DE\tBerlin"), 1);
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("x\n")), GH_INVALID_AGGREGATE);
}

/* ---- files --------------------------------------------------------------------------------------------- */

/* Two workers with the same file at the same time, and one that dies at every point of its flush. */
static void file_is_counted_once_whoever_counts_it(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_geo* table = places_many(a, COUNTRIES);
    size_t size = 0;
    char* log = places_log(a, COUNTRIES, 3000, 20, &size);
    unsigned long long* counts = GAME_NEW_ARRAY(a, unsigned long long, 2 * (CITIES + 1));
    places_count(log, size, CITIES, counts);
    gh_aggregate* first = places_aggregate(a, table, 2);
    gh_aggregate* second = places_aggregate(a, table, 2);
    assert_status(gh_aggregate_add(first, gh_str_make(log, size)), GH_OK);
    assert_status(gh_aggregate_add(second, gh_str_make(log, size)), GH_OK);
    gh_aggregate_flush* flush = GAME_NEW(a, gh_aggregate_flush);
    for (unsigned ticks = 0; ticks < 100; ticks++)
    {
        char set[16];
        snprintf(set, sizeof(set), "set %u", ticks);
        game* dies = game_start_ready(redis_server_address(server));
        assert_status(gh_aggregate_flush_begin(flush, dies->client, first, gh_str_of(set), gh_str_literal("log"), NULL),
                      GH_OK);
        for (unsigned i = 0; i < ticks; i++) game_tick_all();
        bool over = gh_op_poll(&flush->op) == GH_OK;
        game_end(dies);
        gh_status status = places_flush(a, second, set, "log");
        if (over) assert_status(status, GH_EXISTS);
        if (over) break;
        if (status != GH_EXISTS) assert_status(status, GH_OK); /* the last answer may have been lost */
        assert_int_equal(places_score(server, "x", DAY, 0, ""), 0);
        char encoded[20];
        snprintf(encoded, sizeof(encoded), "set%%20%u", ticks);
        if (ticks % 4 != 0) continue;
        places_must_be(server, encoded, DAY, COUNTRIES, counts);
        places_must_be(server, encoded, SECOND_DAY, COUNTRIES, counts + CITIES + 1);
    }
    gh_aggregate_flush* other = GAME_NEW(a, gh_aggregate_flush);
    game* b = game_start_ready(redis_server_address(server));
    assert_status(
        gh_aggregate_flush_begin(flush, a->client, first, gh_str_literal("race"), gh_str_literal("log"), NULL), GH_OK);
    assert_status(
        gh_aggregate_flush_begin(other, b->client, second, gh_str_literal("race"), gh_str_literal("log"), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&flush->op) != GH_PENDING && gh_op_poll(&other->op) != GH_PENDING);
    places_must_be(server, "race", DAY, COUNTRIES, counts);
    places_must_be(server, "race", SECOND_DAY, COUNTRIES, counts + CITIES + 1);
}

/* A file of the same name with other lines is told, and nothing of it is added. */
static void other_file_of_that_name_is_told(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_geo* world = places_world(a);
    gh_aggregate* aggregate = places_aggregate(a, world, 2);
    add(aggregate, "81.0.0.1 2011-10-11 13:55:36 x\n");
    assert_status(places_flush(a, aggregate, "events", "log"), GH_OK);
    assert_status(gh_aggregate_start(aggregate, world), GH_OK);
    add(aggregate, "81.0.0.1 2011-10-10 13:55:36 x\n81.0.0.1 2011-10-11 13:55:36 x\n81.0.1.1 2011-10-11 13:55:36 x\n");
    assert_status(places_flush(a, aggregate, "events", "log"), GH_DIFFERS);
    assert_int_equal(places_score(server, "events", SECOND_DAY, 0, "DE"), 1);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{daily:events.2011-10-10}:0"), 0);
}

/* A worker died while it added, and the next one has another table of places: the first one's file is
   finished. */
static void half_added_file_is_finished_by_one_with_another_table(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_geo* table = places_many(a, COUNTRIES);
    gh_geo* newer = places_many(a, COUNTRIES - 1);
    size_t size = 0;
    char* log = places_log(a, COUNTRIES, 3000, 30, &size);
    unsigned long long* counts = GAME_NEW_ARRAY(a, unsigned long long, 2 * (CITIES + 1));
    places_count(log, size, CITIES, counts);
    gh_aggregate* first = places_aggregate(a, table, 2);
    gh_aggregate* second = places_aggregate(a, newer, 2);
    assert_status(gh_aggregate_add(first, gh_str_make(log, size)), GH_OK);
    assert_status(gh_aggregate_add(second, gh_str_make(log, size)), GH_OK);
    gh_aggregate_flush* flush = GAME_NEW(a, gh_aggregate_flush);
    assert_status(gh_aggregate_flush_begin(flush, a->client, first, gh_str_literal("s"), gh_str_literal("log"), NULL),
                  GH_OK);
    GAME_UNTIL(flush->chunks_added > 0 && flush->chunks_added < flush->chunks);
    gh_op_cancel(&flush->op);
    GAME_UNTIL(gh_op_poll(&flush->op) != GH_PENDING);
    assert_status(gh_op_poll(&flush->op), GH_CANCELLED);
    assert_int_equal(flush->days_done, 0);
    assert_status(places_flush(a, second, "s", "log"), GH_DIFFERS);
    assert_status(places_flush(a, first, "s", "log"), GH_OK);
    places_must_be(server, "s", DAY, COUNTRIES, counts);
    places_must_be(server, "s", SECOND_DAY, COUNTRIES, counts + CITIES + 1);
}

/* A worker died while it staged: one with other sums must wait a minute, and then takes its place. */
static void abandoned_staging_is_replaced(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start_ready(redis_server_address(server));
    gh_geo* table = places_many(a, 100);
    size_t size = 0;
    char* log = places_log(a, 100, 60000, 31, &size);
    gh_aggregate* first = places_aggregate(a, table, 2);
    gh_aggregate* second = places_aggregate(a, table, 2);
    assert_status(gh_aggregate_add(first, gh_str_make(log, size)), GH_OK);
    add(second, "10.0.0.1 2011-10-10 13:55:36 x\n10.0.0.1 2011-10-11 13:55:36 x\n");
    gh_aggregate_flush* flush = GAME_NEW(a, gh_aggregate_flush);
    assert_status(gh_aggregate_flush_begin(flush, a->client, first, gh_str_literal("s"), gh_str_literal("log"), NULL),
                  GH_OK);
    GAME_UNTIL(flush->chunks_staged >= 20);
    assert_true(flush->chunks_added == 0);
    gh_op_cancel(&flush->op);
    assert_status(places_flush(a, second, "s", "log"), GH_DIFFERS);
    redis_server_shift_clock(server, 61000000);
    assert_status(places_flush(a, second, "s", "log"), GH_OK);
    for (int i = 0; i < 2; i++)
    {
        assert_int_equal(places_score(server, "s", i == 0 ? DAY : SECOND_DAY, 0, "c0"), 1);
        assert_int_equal(redis_server_integer(server, "EXISTS gh:{daily:s.2011-10-1%d}:g", i), 0);
    }
    assert_status(places_flush(a, first, "s", "log"), GH_DIFFERS);
}

/* ---- reads --------------------------------------------------------------------------------------------- */

typedef struct totals
{
    gh_aggregate_read op;
    gh_aggregate_read_config config;
    gh_aggregate_total totals[2000];
    char text[100000];
} totals;

static totals* totals_new(game* owner, gh_aggregate_level level, size_t count)
{
    totals* self = GAME_NEW(owner, totals);
    self->config = gh_aggregate_read_config_default();
    self->config.level = level;
    self->config.totals = self->totals;
    self->config.total_count = count;
    self->config.text = self->text;
    self->config.text_size = sizeof(self->text);
    return self;
}

static gh_status read_totals(game* from, totals* self, const char* day)
{
    assert_status(
        gh_aggregate_read_begin(&self->op, from->client, gh_str_literal("events"), gh_str_of(day), &self->config),
        GH_OK);
    GAME_UNTIL(gh_op_poll(&self->op.op) != GH_PENDING);
    return gh_op_poll(&self->op.op);
}

/* In ticks that have time for next to nothing: the sums, the digest and the way to a piece in the middle take many. */
static void flush_goes_on_over_many_ticks(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    size_t size = 0;
    char* log = places_log(a, COUNTRIES, 20000, 5, &size);
    unsigned long long* counts = GAME_NEW_ARRAY(a, unsigned long long, 2 * (CITIES + 1));
    places_count(log, size, CITIES, counts);
    const gh_geo* table = places_many(a, COUNTRIES);
    unsigned ticks = 0;
    for (int half = 1; half >= 0; half--)
    {
        gh_aggregate* aggregate = places_aggregate(a, table, 2);
        assert_status(gh_aggregate_add(aggregate, gh_str_make(log, size)), GH_OK);
        gh_aggregate_flush* flush = GAME_NEW(a, gh_aggregate_flush);
        assert_status(
            gh_aggregate_flush_begin(flush, a->client, aggregate, gh_str_literal("s"), gh_str_literal("log"), NULL),
            GH_OK);
        while (gh_op_poll(&flush->op) == GH_PENDING)
        {
            assert_status(gh_tick(a->client, game_now_us(a), 1), GH_OK);
            ticks++;
            if (half == 1 && flush->chunks_staged > 2) gh_op_cancel(&flush->op);
        }
        assert_status(gh_op_poll(&flush->op), half == 1 ? GH_CANCELLED : GH_OK);
    }
    assert_true(ticks > 20);
    places_must_be(server, "s", DAY, COUNTRIES, counts);
}

/* FLUSHALL after each number of pieces that were staged, and that were added: the flush counts again from the start. */
static void store_that_loses_all_gets_the_whole_file(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_geo* table = places_many(a, COUNTRIES);
    size_t size = 0;
    char* log = places_log(a, COUNTRIES, 3000, 30, &size);
    unsigned long long* counts = GAME_NEW_ARRAY(a, unsigned long long, 2 * (CITIES + 1));
    places_count(log, size, CITIES, counts);
    for (unsigned at = 0; at < 24; at++)
    {
        gh_aggregate* aggregate = places_aggregate(a, table, 2);
        gh_aggregate_flush* flush = GAME_NEW(a, gh_aggregate_flush);
        assert_status(gh_aggregate_add(aggregate, gh_str_make(log, size)), GH_OK);
        assert_status(
            gh_aggregate_flush_begin(flush, a->client, aggregate, gh_str_literal("s"), gh_str_literal("log"), NULL),
            GH_OK);
        /* of the first day, and then of the second when the first is done */
        uint32_t days = at / 12;
        uint32_t pieces = at % 6 + 1;
        GAME_UNTIL(gh_op_poll(&flush->op) != GH_PENDING ||
                   (flush->days_done == days && (at % 12 < 6 ? flush->chunks_staged : flush->chunks_added) >= pieces) ||
                   flush->days_done > days);
        redis_server_do(server, "FLUSHALL");
        GAME_UNTIL(gh_op_poll(&flush->op) != GH_PENDING);
        assert_status(gh_op_poll(&flush->op), GH_OK);
        assert_int_equal(flush->days_done, 2);
        assert_int_equal(flush->days_new, 2);
        places_must_be(server, "s", DAY, COUNTRIES, counts);
        places_must_be(server, "s", SECOND_DAY, COUNTRIES, counts + CITIES + 1);
        redis_server_do(server, "FLUSHALL");
    }
}

static void assert_total(const gh_aggregate_total* total, const char* expected, uint64_t count)
{
    char text[128];
    snprintf(text, sizeof(text), "%.*s/%.*s/%.*s", (int)total->country.size, total->country.bytes,
             (int)total->region.size, total->region.bytes, (int)total->city.size, total->city.bytes);
    assert_string_equal(text, expected);
    assert_int_equal(total->count, count);
}

static void totals_are_read_by_level_the_largest_first(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_aggregate* aggregate = places_aggregate(a, places_world(a), 2);
    for (int i = 0; i < 5; i++) add(aggregate, "81.0.1.1 2011-10-10 13:55:36 x\n");
    for (int i = 0; i < 3; i++) add(aggregate, "90.0.0.1 2011-10-10 13:55:36 x\n1.1.1.1 2011-10-10 13:55:36 x\n");
    for (int i = 0; i < 2; i++) add(aggregate, "90.0.0.2 2011-10-10 13:55:36 x\n81.0.2.1 2011-10-10 13:55:36 x\n");
    add(aggregate, "2001:db8::5 2011-10-10 13:55:36 x\n");
    assert_status(places_flush(a, aggregate, "events", "log"), GH_OK);
    totals* self = totals_new(a, GH_AGGREGATE_COUNTRY, 10);
    assert_status(read_totals(a, self, DAY), GH_OK);
    assert_int_equal(self->op.count, 4);
    assert_total(&self->totals[0], "DE//", 7);
    assert_total(&self->totals[1], "FR//", 5);
    assert_total(&self->totals[2], "//", 3);
    assert_total(&self->totals[3], "JP//", 1);
    self = totals_new(a, GH_AGGREGATE_CITY, 3);
    assert_status(read_totals(a, self, DAY), GH_OK);
    assert_int_equal(self->op.count, 3);
    assert_total(&self->totals[0], "FR/Ile-de-France/Paris", 5);
    assert_total(&self->totals[1], "DE/Nordrhein-Westfalen/Cologne", 5);
    assert_total(&self->totals[2], "DE/Nordrhein-Westfalen/", 2);
    self = totals_new(a, GH_AGGREGATE_REGION, 1);
    assert_status(read_totals(a, self, DAY), GH_OK);
    assert_total(&self->totals[0], "DE/Nordrhein-Westfalen/", 7);
    assert_status(read_totals(a, self, SECOND_DAY), GH_EMPTY);
    assert_int_equal(self->op.count, 0);
    self->config.text_size = 22;
    assert_status(read_totals(a, self, DAY), GH_OK);
    self->config.text_size = 21;
    assert_status(read_totals(a, self, DAY), GH_TOO_SMALL);
    assert_int_equal(self->op.count, 0);
}

/* Addresses whose row names no country count with those of no range, by country; what the row names below counts there.
 */
static void place_without_a_country_counts_with_no_range(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_geo* world =
        places_table(a, "10.0.0.0,10.0.0.255,,,\n10.0.1.0,10.0.1.255,\"\",Shire,\n10.0.2.0,10.0.2.255,US,,\n");
    gh_aggregate* aggregate = places_aggregate(a, world, 1);
    add(aggregate, "10.0.0.1 2011-10-10 13:55:36 x\n10.0.1.1 2011-10-10 13:55:36 x\n");
    add(aggregate, "10.0.2.1 2011-10-10 13:55:36 x\n11.0.0.1 2011-10-10 13:55:36 x\n");
    assert_int_equal(stats_of(aggregate).lines_unknown, 1);
    assert_status(places_flush(a, aggregate, "events", "log"), GH_OK);
    assert_status(places_flush(a, aggregate, "events", "log"), GH_EXISTS);
    totals* self = totals_new(a, GH_AGGREGATE_COUNTRY, 10);
    assert_status(read_totals(a, self, DAY), GH_OK);
    assert_int_equal(self->op.count, 2);
    assert_int_equal(self->totals[0].country.size, 0);
    assert_int_equal(self->totals[0].count, 3);
    self = totals_new(a, GH_AGGREGATE_REGION, 10);
    assert_status(read_totals(a, self, DAY), GH_OK);
    assert_int_equal(self->op.count, 3);
    assert_int_equal(places_score(server, "events", DAY, 1, "\tShire"), 1);
    assert_int_equal(places_score(server, "events", DAY, 2, "\t\t"), 1);
}

/* More than one reply can hold. */
static void long_reads_go_page_by_page(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_aggregate* aggregate = places_aggregate(a, places_many(a, COUNTRIES), 2);
    for (unsigned city = 0; city < CITIES; city++)
        for (unsigned i = 0; i <= city % 7; i++)
        {
            char line[64];
            snprintf(line, sizeof(line), "10.%u.%u.1 2011-10-10 13:55:36 x\n", city / 256, city % 256);
            add(aggregate, line);
        }
    assert_status(places_flush(a, aggregate, "events", "log"), GH_OK);
    static const size_t counts[] = {1, 72, 73, 74, 146, CITIES - 1, CITIES, CITIES + 1, 2000};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
    {
        totals* self = totals_new(a, GH_AGGREGATE_CITY, counts[i]);
        assert_status(read_totals(a, self, DAY), GH_OK);
        assert_int_equal(self->op.count, counts[i] < CITIES ? counts[i] : CITIES);
        for (uint32_t j = 0; j < self->op.count; j++)
        {
            unsigned city = (unsigned)atoi(self->totals[j].city.bytes + 12);
            assert_int_equal(self->totals[j].count, city % 7 + 1);
            if (j > 0) assert_true(self->totals[j].count <= self->totals[j - 1].count);
        }
    }
    /* Page behind page gives what one read gives, and ends. */
    totals* whole = totals_new(a, GH_AGGREGATE_CITY, CITIES);
    totals* page = totals_new(a, GH_AGGREGATE_CITY, 100);
    uint32_t seen = 0;
    assert_status(read_totals(a, whole, DAY), GH_OK);
    for (page->config.first = 0; read_totals(a, page, DAY) == GH_OK; page->config.first += page->op.count)
        for (uint32_t j = 0; j < page->op.count; j++, seen++)
        {
            assert_int_equal(page->totals[j].count, whole->totals[seen].count);
            assert_true(gh_str_equal(page->totals[j].city, whole->totals[seen].city));
        }
    assert_int_equal(seen, CITIES);
    assert_status(gh_op_poll(&page->op.op), GH_EMPTY);
    page->config.first = UINT32_MAX;
    assert_status(read_totals(a, page, DAY), GH_EMPTY);
}

TEST_FILE(aggregate, cmocka_unit_test(line_comes_to_the_same_in_each_way),
          cmocka_unit_test(more_lines_than_can_be_counted_are_not_taken),
          cmocka_unit_test(flush_goes_on_over_many_ticks),
          cmocka_unit_test(plain_line_counts_in_its_country_region_and_city), cmocka_unit_test(lines_of_every_kind),
          cmocka_unit_test(one_action_counts_alone), cmocka_unit_test(counting_never_calls_the_heap),
          cmocka_unit_test(pieces_of_any_size_count_the_same),
          cmocka_unit_test(line_as_long_as_may_be_counts_and_a_longer_one_does_not),
          cmocka_unit_test(days_and_nodes_at_capacity), cmocka_unit_test(file_is_counted_once_whoever_counts_it),
          cmocka_unit_test(other_file_of_that_name_is_told),
          cmocka_unit_test(half_added_file_is_finished_by_one_with_another_table),
          cmocka_unit_test(abandoned_staging_is_replaced), cmocka_unit_test(store_that_loses_all_gets_the_whole_file),
          cmocka_unit_test(totals_are_read_by_level_the_largest_first),
          cmocka_unit_test(place_without_a_country_counts_with_no_range), cmocka_unit_test(long_reads_go_page_by_page));
