/* Defects that the naive way to complete names, look up addresses, cache rows and clean counters has, each
   brought about on a real server: a naive way would fail the test. */

#include "support/faults/counting.h"
#include "support/scene/places.h"
#include "support/process.h"
#include "support/scene/refresher.h"
#include "support/scene/social.h"

#include <stdio.h>
#include <string.h>

#define GUILD     gh_str_literal("knights")
#define MEMBERS   "gh:{guild:knights}:m"
#define PERIOD_US (SECOND_US / 5)

/* ---- 12: names beyond a to z, and reads that write ----------------------------------------------------- */

typedef struct searcher
{
    gh_guild_search search;
    gh_guild_search_config config;
    _Alignas(8) char buffer[GH_GUILD_BUFFER_SIZE(10)];
} searcher;

static searcher* searcher_new(game* from)
{
    searcher* self = GAME_NEW(from, searcher);
    self->config = gh_guild_search_config_default();
    self->config.limit = 10;
    self->config.buffer = self->buffer;
    self->config.buffer_size = sizeof(self->buffer);
    return self;
}

static uint32_t found(game* from, searcher* self, const char* prefix)
{
    assert_status(
        gh_guild_complete_begin(&self->search, a_guild(from->client, GUILD, NULL), gh_str_of(prefix), &self->config),
        GH_OK);
    GAME_UNTIL(gh_op_poll(&self->search.op) != GH_PENDING);
    assert_status(gh_op_poll(&self->search.op), self->search.count > 0 ? GH_OK : GH_EMPTY);
    return self->search.count;
}

static void join(game* from, gh_guild_member* members, size_t count)
{
    gh_guild_change* change = GAME_NEW(from, gh_guild_change);
    assert_status(gh_guild_join_begin(change, a_guild(from->client, GUILD, NULL), members, count), GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    assert_status(gh_op_poll(&change->op), GH_OK);
}

/* The naive way computes the ends of a range from the alphabet of a to z: names with digits, capitals, signs
   or letters of other scripts are found by nobody, or by those who type something else. */
static void names_of_any_letters_are_found(void** state)
{
    (void)state;
    static const char* const names[] = {"42", "_x",   "Jeff",    "jörg", "je{", "je{x", "je`", "z{", "\xd0\xaf\xd0\xbd",
                                        "{",  "~end", "\xff\xfe"};
    static const struct
    {
        const char* prefix;
        uint32_t count;
    } rows[] = {{"4", 1},   {"42", 1},   {"_", 1}, {"J", 5},  {"je", 4},   {"je{", 2},
                {"je`", 1}, {"jö", 1},   {"z", 1}, {"{", 1},  {"\xd0", 1}, {"\xd0\xaf", 1},
                {"~", 1},   {"\xff", 1}, {"k", 0}, {"j{", 0}, {"5", 0}};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    searcher* self = searcher_new(a);
    gh_guild_member members[sizeof(names) / sizeof(names[0])];
    memset(members, 0, sizeof(members));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) members[i].name = gh_str_of(names[i]);
    join(a, members, sizeof(names) / sizeof(names[0]));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (found(a, self, rows[i].prefix) != rows[i].count)
            fail_msg("%s: %u are found", rows[i].prefix, self->search.count);
}

/* Searches as fast as it can until it is killed. */
static int search_on(void* context, int results)
{
    game_forget_all();
    game* self = game_start(context);
    searcher* who = searcher_new(self);
    for (;;)
        if (found(self, who, "je") > 0) CHILD_CHECK(write(results, "!", 1) == 1);
}

/* The naive way puts two members into the guild to search between them: searches stand in one another's way,
   and one that dies leaves them there, among the ten that the next one shows. */
static void searches_leave_no_trace_and_stop_nobody(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    searcher* one = searcher_new(a);
    searcher* two = searcher_new(b);
    gh_guild_member members[10];
    char texts[10][8];
    memset(members, 0, sizeof(members));
    for (size_t i = 0; i < 10; i++)
        members[i].name = gh_str_make(texts[i], (size_t)snprintf(texts[i], sizeof(texts[i]), "jeff%zu", i));
    join(a, members, 10);
    for (int i = 0; i < 5; i++)
    {
        char bytes[8];
        child_process* child = child_start(search_on, (void*)(uintptr_t)redis_server_address(server));
        assert_int_equal(child_read(child, bytes, sizeof(bytes)), sizeof(bytes));
        child_kill9(child);
    }
    long long reads = redis_server_calls(server, "zrange");
    long long changes = redis_server_calls(server, "zadd") + redis_server_calls(server, "zrem");
    for (int i = 0; i < 50; i++)
    {
        assert_status(
            gh_guild_complete_begin(&one->search, a_guild(a->client, GUILD, NULL), gh_str_literal("je"), &one->config),
            GH_OK);
        assert_int_equal(found(b, two, "JE"), 10);
        GAME_UNTIL(gh_op_poll(&one->search.op) != GH_PENDING);
        assert_int_equal(one->search.count, 10);
        assert_false(one->search.more);
    }
    /* One that a killed process had sent may still have come; of ours none was tried twice. */
    assert_in_range(redis_server_calls(server, "zrange") - reads, 100, 101);
    assert_int_equal(redis_server_calls(server, "zadd") + redis_server_calls(server, "zrem"), changes);
    assert_int_equal(redis_server_integer(server, "ZCARD " MEMBERS), 10);
}

/* ---- 13: addresses in no range, and long ones ---------------------------------------------------------- */

static gh_status place_of(const gh_geo* table, const char* address, gh_geo_place* place)
{
    return gh_geo_find(table, gh_str_of(address), place);
}

/* The naive way looks for the last range that begins before an address, and does not ask where it ends. */
static void address_in_a_gap_is_nowhere(void** state)
{
    (void)state;
    game* a = game_start("unix:/nowhere");
    gh_geo* world = places_world(a);
    gh_geo_place place;
    assert_status(place_of(world, "81.0.2.255", &place), GH_OK);
    assert_status(place_of(world, "81.0.3.0", &place), GH_EMPTY);
    assert_status(place_of(world, "89.255.255.255", &place), GH_EMPTY);
    assert_status(place_of(world, "90.0.0.0", &place), GH_OK);
    assert_true(gh_str_equal(place.city, gh_str_literal("Paris")));
    assert_status(place_of(world, "255.255.255.255", &place), GH_EMPTY);
    assert_status(place_of(world, "0.0.0.0", &place), GH_EMPTY);
}

/* The naive way keeps addresses in numbers of 53 bits: it has no IPv6, or takes neighbours for one another.
 */
static void long_addresses_are_told_apart_to_the_last_bit(void** state)
{
    (void)state;
    game* a = game_start("unix:/nowhere");
    gh_geo_config config = gh_geo_config_default();
    config.ipv4_capacity = config.ipv6_capacity = 64;
    void* memory = game_new(a, gh_geo_memory(&config));
    gh_geo* table = NULL;
    gh_geo_place place;
    assert_status(gh_geo_init(&table, &config, memory, gh_geo_memory(&config)), GH_OK);
    for (unsigned i = 0; i < 8; i++) /* of one address each, and the odd ones are gaps */
    {
        char row[96];
        size_t used = 0;
        snprintf(row, sizeof(row), "2001:db8:ffff::%x,2001:db8:ffff::%x,C%u,,\n", 2 * i, 2 * i, i);
        assert_status(gh_geo_add_rows(table, gh_str_of(row), &used), GH_OK);
    }
    assert_status(gh_geo_seal(table, 0), GH_OK);
    for (unsigned i = 0; i < 16; i++)
    {
        char address[48];
        char country[8];
        snprintf(address, sizeof(address), "2001:db8:ffff::%x", i);
        snprintf(country, sizeof(country), "C%u", i / 2);
        assert_status(place_of(table, address, &place), i % 2 == 0 ? GH_OK : GH_EMPTY);
        if (i % 2 == 0) assert_true(gh_str_equal(place.country, gh_str_of(country)));
    }
}

/* ---- 14: cached rows ----------------------------------------------------------------------------------- */

/* The naive way looks, loads and then stores: a row that was taken off in between is back again, for ever. */
static void unscheduled_row_stays_away(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    row_read* read = row_read_new(a);
    refresher* self = refresher_new(b, 4);
    self->keeps = true;
    refresher_begin(self);
    assert_status(row_schedule(a, "itemX", PERIOD_US), GH_OK);
    GAME_UNTIL(self->open_count == 1);
    assert_status(row_unschedule(a, "itemX"), GH_OK);
    assert_status(refresher_complete(self, 0, GH_OK, "zombie"), GH_OK); /* it does not know yet */
    GAME_UNTIL(self->rows.lost == 1);
    assert_status(row_get(a, read, "itemX"), GH_GONE);
    assert_int_equal(redis_server_integer(server, "EXISTS %s", row_key("itemX", 'd')), 0);

    /* Scheduled again meanwhile: the old refresh is still of the row before, and is not stored. */
    assert_status(row_schedule(a, "itemX", 600 * SECOND_US), GH_OK);
    GAME_UNTIL(self->open_count == 1);
    assert_status(row_unschedule(a, "itemX"), GH_OK);
    b->asleep = true;
    assert_status(row_schedule(a, "itemX", 600 * SECOND_US), GH_OK);
    b->asleep = false;
    assert_status(refresher_complete(self, 0, GH_OK, "zombie"), GH_OK);
    GAME_UNTIL(self->rows.lost == 2 && self->open_count == 1);
    assert_status(row_get(a, read, "itemX"), GH_GONE);
    assert_status(refresher_complete(self, 0, GH_OK, "alive"), GH_OK);
    GAME_UNTIL(row_get(a, read, "itemX") == GH_OK);
    assert_true(row_is(read, "alive"));
}

/* The naive way has no age: when the one who refreshes dies, rows stay as they were for ever. */
static void row_of_a_dead_refresher_says_that_it_is_old(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    row_read* read = row_read_new(a);
    refresher_start(b, 4);
    assert_status(row_schedule(a, "itemX", PERIOD_US), GH_OK);
    GAME_UNTIL(row_get(a, read, "itemX") == GH_OK);
    game_end(b);
    GAME_UNTIL(row_get(a, read, "itemX") != GH_OK);
    assert_status(row_get(a, read, "itemX"), GH_OLD);
    assert_true(read->get.age_us > 3 * PERIOD_US);
    assert_true(read->get.value.size > 0);
    assert_in_range(redis_server_integer(server, "TTL %s", row_key("itemX", 'v')), 1, 604800); /* and goes in the end */
}

/* The naive way has each server refresh each row. */
static void one_of_many_refreshers_loads_a_row(void** state)
{
    (void)state;
    enum
    {
        GAMES = 4
    };
    redis_server* server = redis_server_start(NULL);
    refresher* fleet[GAMES];
    for (int i = 0; i < GAMES; i++)
    {
        fleet[i] = refresher_new(game_start_ready(redis_server_address(server)), 4);
        fleet[i]->keeps = true; /* the data base takes its time */
        refresher_begin(fleet[i]);
    }
    assert_status(row_schedule(fleet[0]->owner, "itemX", 600 * SECOND_US), GH_OK);
    unsigned loads = 0;
    uint64_t begun_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - begun_us > SECOND_US);
    for (int i = 0; i < GAMES; i++) loads += fleet[i]->loads;
    assert_int_equal(loads, 1);
}

/* The naive way stumbles over a row that is due and has no period, each time that it comes to it. */
static void row_without_a_period_stops_nobody(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    row_read* read = row_read_new(a);
    redis_server_do(server, "ZADD %s 1 ghost", row_key("itemX", 'd')); /* before all others of its shard */
    assert_status(row_schedule(a, "itemX", PERIOD_US), GH_OK);
    refresher* self = refresher_start(a, 1);
    GAME_UNTIL(row_get(a, read, "itemX") == GH_OK && !row_is(read, "itemX:1"));
    assert_true(self->rows.stored >= 2);
    assert_status(row_unschedule(a, "never there"), GH_GONE);
}

/* ---- 15: cleaning -------------------------------------------------------------------------------------- */

static gh_counters_config cleaning_config(void)
{
    gh_counters_config config = counting_config();
    config.clean_us = SECOND_US / 10;
    config.precisions[0] = (gh_counter_precision){1, 2};
    config.precisions[1] = (gh_counter_precision){60, 2};
    config.precision_count = 2;
    return config;
}

/* The naive way has every server clean everything. */
static void one_server_cleans_for_all(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_counters_config config = cleaning_config();
    counting* fleet[3];
    for (int i = 0; i < 3; i++) fleet[i] = counting_start(game_start_ready(redis_server_address(server)), &config);
    int owner = -1;
    for (uint64_t rounds = 0; rounds < 5;)
    {
        int count = 0;
        game_tick_all();
        for (int i = 0; i < 3; i++)
        {
            if (!counting_stats(fleet[i]).cleaner) continue;
            count++;
            owner = i;
        }
        assert_in_range(count, 0, 1);
        if (count == 1) rounds = counting_stats(fleet[owner]).rounds;
    }
    for (int i = 0; i < 3; i++)
        if (i != owner) assert_int_equal(counting_stats(fleet[i]).rounds, 0);
    assert_true(redis_server_integer(server, "PTTL gh:{counters:clean}:l") > 0);
    fleet[owner]->game->asleep = true; /* it hangs; its lease runs out */
    GAME_UNTIL(counting_stats(fleet[(owner + 1) % 3]).rounds + counting_stats(fleet[(owner + 2) % 3]).rounds >= 2);
    fleet[owner]->game->asleep = false;
    game_tick(fleet[owner]->game); /* the first that it is told is that its lease is over */
    assert_false(counting_stats(fleet[owner]).cleaner);
}

/* The naive way walks by number over a list that gets shorter under it, and passes over the next one each
   time that it removes something; and it reads all of a counter to find what is old. */
static void cleaning_passes_over_nobody(void** state)
{
    (void)state;
    enum
    {
        COUNTERS = 120
    };
    redis_server* server = server_with_clock();
    gh_counters_config config = cleaning_config();
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), &config);
    /* when the link looked at its rights */
    long long read_whole = redis_server_calls(server, "hkeys") + redis_server_calls(server, "hgetall");
    uint64_t hour_s = next_hour_s();
    stand_at(server, hour_s);
    for (int i = 0; i < COUNTERS; i++) counting_add(hits, counting_text("old%d", i), 1);
    counting_settle(hits);
    stand_at(server, hour_s + 135); /* what is kept longest is too old for 15 s */
    for (int i = 0; i < COUNTERS; i++) counting_add(hits, counting_text("new%d", i), 1);
    counting_settle(hits);
    uint64_t rounds = counting_stats(hits).rounds;
    GAME_UNTIL(counting_stats(hits).rounds >= rounds + 2); /* one whole round since then */
    assert_int_equal(counting_stats(hits).counters_removed, COUNTERS);
    for (int i = 0; i < COUNTERS; i++) assert_int_equal(stored_sum(server, counting_text("new%d", i), 60), 1);
    assert_int_equal(redis_server_calls(server, "hkeys") + redis_server_calls(server, "hgetall"), read_whole);
}

TEST_FILE(defects_data, cmocka_unit_test(names_of_any_letters_are_found),
          cmocka_unit_test(searches_leave_no_trace_and_stop_nobody), cmocka_unit_test(address_in_a_gap_is_nowhere),
          cmocka_unit_test(long_addresses_are_told_apart_to_the_last_bit), cmocka_unit_test(unscheduled_row_stays_away),
          cmocka_unit_test(row_of_a_dead_refresher_says_that_it_is_old),
          cmocka_unit_test(one_of_many_refreshers_loads_a_row), cmocka_unit_test(row_without_a_period_stops_nobody),
          cmocka_unit_test(one_server_cleans_for_all), cmocka_unit_test(cleaning_passes_over_nobody));
