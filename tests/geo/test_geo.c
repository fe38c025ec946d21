/* Tests of guildhall/geo.h: against a plain list, on every kind of row, and at every capacity. */

#include "support/faults/heap.h"
#include "support/random.h"
#include "support/suite.h"
#include "support/scene/game.h"

#include "guildhall/geo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gh_geo* make_table(const gh_geo_config* config)
{
    size_t size = gh_geo_memory(config);
    void* memory = NULL;
    gh_geo* table = NULL;
    assert_true(size > 0);
    assert_int_equal(posix_memalign(&memory, 16, size), 0);
    memset(memory, 0xa5, size);
    assert_status(gh_geo_init(&table, config, memory, size), GH_OK);
    return table;
}

static gh_geo* small_table(void)
{
    gh_geo_config config = gh_geo_config_default();
    config.ipv4_capacity = config.ipv6_capacity = 4096;
    return make_table(&config);
}

static void drop_table(gh_geo* table)
{
    free(table); /* the table is the first thing in its block */
}

static void add_rows(gh_geo* table, const char* rows)
{
    size_t used = 0;
    assert_status(gh_geo_add_rows(table, gh_str_of(rows), &used), GH_OK);
    assert_int_equal(used, strlen(rows));
}

static void assert_place(const gh_geo* table, const char* address, const char* expected)
{
    char text[512] = "none";
    gh_geo_place place;
    if (gh_geo_find(table, gh_str_of(address), &place) == GH_OK)
        snprintf(text, sizeof(text), "%.*s/%.*s/%.*s", (int)place.country.size, place.country.bytes,
                 (int)place.region.size, place.region.bytes, (int)place.city.size, place.city.bytes);
    if (strcmp(text, expected) != 0) fail_msg("%s lies in %s, not in %s", address, text, expected);
}

/* ---- columns --------------------------------------------------------------------------------------------- */

/* Rows as the usual free tables have them: quoted numbers with a code and a name; texts with a continent; countries. */
static void columns_are_where_the_config_says(void** state)
{
    (void)state;
    gh_geo_config config = gh_geo_config_default();
    config.columns = (gh_geo_columns){0, 1, 3, 4, 5};
    gh_geo* table = make_table(&config);
    add_rows(table, "\"16777216\",\"16777471\",\"AU\",\"Australia\",\"Queensland\",\"Bris\"\"bane\",\"-27.4\",\"153\"\n"
                    "2.0.0.0,2.0.0.255,EU,FR,\"Ile-de-France, le\",Paris,48.9,2.35\n"
                    "3.0.0.0,3.0.0.255,EU,DE\n"
                    "4.0.0.0,4.0.0.255,EU\n" /* without a country: malformed */
                    "5.0.0.0,5.0.0.255,\"EU,DE\n" /* a quote that does not end, where nobody looks */);
    while (gh_geo_seal(table, 0) == GH_PENDING)
    {
    }
    assert_place(table, "1.0.0.7", "Australia/Queensland/Bris\"bane");
    assert_place(table, "2.0.0.7", "FR/Ile-de-France, le/Paris");
    assert_place(table, "3.0.0.7", "DE//");
    gh_geo_stats stats;
    assert_status(gh_geo_get_stats(table, &stats), GH_OK);
    assert_int_equal(stats.rows, 5);
    assert_int_equal(stats.rows_malformed, 2);
    gh_geo_clear(table); /* keeps its columns */
    add_rows(table, "1.0.0.0,1.0.0.255,x,AU,q,b\n");
    while (gh_geo_seal(table, 0) == GH_PENDING)
    {
    }
    assert_place(table, "1.0.0.7", "AU/q/b");
    drop_table(table);

    config.columns = (gh_geo_columns){2, 3, 0, GH_GEO_NO_COLUMN, GH_GEO_NO_COLUMN};
    table = make_table(&config);
    char wide[GH_GEO_NAME_SIZE_MAX * 3];
    snprintf(wide, sizeof(wide), "AU,%0300d,1.0.0.0,1.0.0.255,x,y\n", 0); /* what nobody wants may be long */
    add_rows(table, wide);
    while (gh_geo_seal(table, 0) == GH_PENDING)
    {
    }
    assert_place(table, "1.0.0.7", "AU//");
    drop_table(table);
}

static void columns_that_cannot_be_are_refused(void** state)
{
    (void)state;
    static const gh_geo_columns bad[] = {{0, 0, 2, 3, 4},   {0, 1, 2, 3, 3},  {32, 1, 2, 3, 4}, {0, 255, 2, 3, 4},
                                         {0, 1, 255, 3, 4}, {0, 1, 2, 32, 4}, {0, 1, 2, 3, 254}};
    gh_geo_config config = gh_geo_config_default();
    gh_geo* table = NULL;
    static _Alignas(16) char memory[64];
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
    {
        config.columns = bad[i];
        assert_int_equal(gh_geo_memory(&config), 0);
        assert_status(gh_geo_init(&table, &config, memory, SIZE_MAX), GH_INVALID_CONFIG);
    }
    config.columns = (gh_geo_columns){31, 30, 29, 28, 27};
    assert_true(gh_geo_memory(&config) > 0);
}

/* ---- looking up ----------------------------------------------------------------------------------------- */

static void finds_places_and_nothing_in_gaps(void** state)
{
    (void)state;
    gh_geo* table = small_table();
    add_rows(table, "first,last,country,region,city\n"
                    "173.194.0.0,173.194.255.255,US,CA,Mountain View\n"
                    "1.0.0.0,1.0.0.255,AU,QLD,\"South, Brisbane\"\r\n"
                    "16777472,16778239,CN,\"Fu\"\"jian\",\n"
                    "2001:db8::,2001:db8:0:ffff:ffff:ffff:ffff:ffff,DE,BE,Berlin,10115,52.5\n");
    assert_status(gh_geo_seal(table, 0), GH_OK);
    assert_place(table, "173.194.38.137", "US/CA/Mountain View");
    assert_place(table, "173.194.0.0", "US/CA/Mountain View");
    assert_place(table, "173.194.255.255", "US/CA/Mountain View");
    assert_place(table, "173.195.0.0", "none");
    assert_place(table, "173.193.255.255", "none");
    assert_place(table, "1.0.0.255", "AU/QLD/South, Brisbane");
    assert_place(table, "1.0.1.0", "CN/Fu\"jian/");
    assert_place(table, "1.0.4.0", "none");
    assert_place(table, "0.0.0.0", "none");
    assert_place(table, "255.255.255.255", "none");
    assert_place(table, "2001:db8::1", "DE/BE/Berlin");
    assert_place(table, "2001:db8:1::", "none");
    assert_place(table, "::ffff:173.194.38.137", "US/CA/Mountain View");
    gh_geo_stats stats;
    assert_status(gh_geo_get_stats(table, &stats), GH_OK);
    assert_int_equal(stats.rows, 5);
    assert_int_equal(stats.rows_malformed, 1);
    drop_table(table);
}

static void equal_names_in_other_places_are_other_nodes(void** state)
{
    (void)state;
    gh_geo* table = small_table();
    add_rows(table, "1.0.0.0,1.0.0.1,US,TX,Paris\n1.0.0.2,1.0.0.3,FR,IDF,Paris\n"
                    "1.0.0.4,1.0.0.5,US,TX,Paris\n1.0.0.6,1.0.0.7,US,,\n");
    assert_status(gh_geo_seal(table, 0), GH_OK);
    assert_int_equal(gh_geo_node_count(table), 8);
    uint32_t texas = gh_geo_find_ipv4(table, 0x01000000u);
    uint32_t france = gh_geo_find_ipv4(table, 0x01000002u);
    assert_true(texas != france);
    assert_int_equal(gh_geo_find_ipv4(table, 0x01000004u), texas);
    assert_int_equal(gh_geo_node_level(table, texas), 2);
    assert_int_equal(gh_geo_node_level(table, gh_geo_node_parent(table, texas)), 1);
    assert_int_equal(gh_geo_node_parent(table, gh_geo_node_parent(table, gh_geo_node_parent(table, texas))),
                     GH_GEO_NO_NODE);
    assert_place(table, "1.0.0.7", "US//");
    drop_table(table);
}

/* ---- against a plain list ------------------------------------------------------------------------------------- */

typedef struct plain_range
{
    uint32_t first;
    uint32_t last;
    int city;
} plain_range;

static int compare_ranges(const void* a, const void* b)
{
    const plain_range* one = a;
    const plain_range* two = b;
    return (one->first > two->first) - (one->first < two->first);
}

/* Ranges with gaps, in any order, some sharing their first 16 bits and some spanning many of them. */
static void agrees_with_a_plain_list(void** state)
{
    (void)state;
    enum
    {
        RANGES = 3000,
        LOOKUPS = 200000
    };
    static plain_range ranges[RANGES];
    random_stream random = random_for_test("ranges");
    uint32_t at = 0;
    for (int i = 0; i < RANGES; i++)
    {
        uint32_t most = random_one_in(&random, 10) ? 2000000u : 3000u;
        ranges[i].first = at + (uint32_t)random_below(&random, most);
        ranges[i].last = ranges[i].first + (uint32_t)random_below(&random, most);
        ranges[i].city = i % 500;
        at = ranges[i].last + 1;
    }
    gh_geo* table = small_table();
    for (int i = 0; i < RANGES; i++) /* shuffled */
    {
        int j = (int)random_below(&random, RANGES);
        plain_range kept = ranges[i];
        ranges[i] = ranges[j];
        ranges[j] = kept;
    }
    for (int i = 0; i < RANGES; i++)
    {
        char row[128];
        snprintf(row, sizeof(row), "%u,%u,XX,,city %d\n", ranges[i].first, ranges[i].last, ranges[i].city);
        add_rows(table, row);
    }
    unsigned steps = 0;
    while (gh_geo_seal(table, 100) == GH_PENDING) steps++;
    assert_true(steps > 50); /* it came in pieces */
    qsort(ranges, RANGES, sizeof(ranges[0]), compare_ranges);
    for (int i = 0; i < LOOKUPS; i++)
    {
        const plain_range* near = &ranges[random_below(&random, RANGES)];
        uint32_t address = i % 2 == 0 ? (uint32_t)random_below(&random, (uint64_t)at + 100000)
                                      : near->first - 2 + (uint32_t)random_below(&random, near->last - near->first + 4);
        int low = 0;
        int high = RANGES;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (ranges[middle].last < address) low = middle + 1;
            else high = middle;
        }
        uint32_t node = gh_geo_find_ipv4(table, address);
        if (low == RANGES || ranges[low].first > address)
        {
            assert_int_equal(node, GH_GEO_NO_NODE);
            continue;
        }
        char expected[32];
        snprintf(expected, sizeof(expected), "city %d", ranges[low].city);
        assert_true(gh_str_equal(gh_geo_node_name(table, node), gh_str_of(expected)));
    }
    drop_table(table);
}

static void ipv6_agrees_with_a_plain_count(void** state)
{
    (void)state;
    gh_geo* table = small_table();
    char row[160];
    for (unsigned i = 4000; i-- > 0;) /* the last first; every second range is a gap; all in a few first 16 bits */
    {
        snprintf(row, sizeof(row), "20%02x:0:0:%x::,20%02x:0:0:%x:ffff:ffff:ffff:ffff,C%u,,\n", i >> 9, i * 2 & 0xffff,
                 i >> 9, i * 2 & 0xffff, i);
        add_rows(table, row);
    }
    assert_status(gh_geo_seal(table, 0), GH_OK);
    for (unsigned i = 0; i < 4000; i++)
    {
        uint64_t high = (uint64_t)(0x2000 + (i >> 9)) << 48 | (i * 2 & 0xffff);
        char expected[16];
        snprintf(expected, sizeof(expected), "C%u", i);
        uint32_t city = gh_geo_find_ipv6(table, high, i * 0x123456789u);
        assert_true(gh_str_equal(gh_geo_node_name(table, gh_geo_node_parent(table, gh_geo_node_parent(table, city))),
                                 gh_str_of(expected)));
        assert_int_equal(gh_geo_find_ipv6(table, high + 1, 0), GH_GEO_NO_NODE);
    }
    assert_int_equal(gh_geo_find_ipv6(table, 0, 5), GH_GEO_NO_NODE);
    assert_int_equal(gh_geo_find_ipv6(table, UINT64_MAX, UINT64_MAX), GH_GEO_NO_NODE);
    drop_table(table);
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static void rows_may_be_cut_anywhere(void** state)
{
    (void)state;
    const char* rows = "1.0.0.0,1.0.0.9,AU,\"Q, \"\"LD\",Bris\n\n# words\r\n1.0.1.0,1.0.1.9,CN,,\r\n"
                       "2::,2::9,DE,BE,B\nnonsense\n";
    size_t size = strlen(rows);
    for (size_t piece_size = 1; piece_size <= size; piece_size++)
    {
        gh_geo* table = small_table();
        size_t at = 0;
        size_t end = piece_size;
        while (at < size)
        {
            size_t used = 0;
            assert_status(gh_geo_add_rows(table, gh_str_make(rows + at, end - at), &used), GH_OK);
            at += used;
            end = end + piece_size > size ? size : end + piece_size;
        }
        gh_geo_stats stats;
        assert_status(gh_geo_seal(table, 0), GH_OK);
        assert_status(gh_geo_get_stats(table, &stats), GH_OK);
        assert_int_equal(stats.rows, 4);
        assert_int_equal(stats.rows_malformed, 1);
        assert_place(table, "1.0.0.5", "AU/Q, \"LD/Bris");
        assert_place(table, "2::5", "DE/BE/B");
        drop_table(table);
    }
}

static void malformed_rows_are_counted_and_left_out(void** state)
{
    (void)state;
    static const char* const rows[] = {"a,b,c,d,e",
                                       "1.0.0.0",
                                       "1.0.0.0,1.0.0.1",
                                       "1.0.0.0,1.0.0.256,US,,",
                                       "1.0.0.9,1.0.0.1,US,,",
                                       "1.0.0.0,::1,US,,",
                                       "1.0.0,1.0.0.1,US,,",
                                       "1.0.0.0.0,1.0.0.1,US,,",
                                       "01.0.0.0,1.0.0.1,US,,",
                                       "1.0.0.0,4294967296,US,,",
                                       "\"1.0.0.0,1.0.0.1,US,,",
                                       "1.0.0.0,1.0.0.1,\"US\"x,,",
                                       ":::,::1,US,,",
                                       "1::2::3,1::4,US,,",
                                       "::12345,::1,US,,",
                                       "1:2:3:4:5:6:7:8:9,::1,US,,",
                                       "1:,1::,US,,",
                                       ":1,1::,US,,",
                                       ",,,,",
                                       "-1,5,US,,",
                                       " 1.0.0.0,1.0.0.1,US,,"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        gh_geo* table = small_table();
        gh_geo_stats stats;
        size_t used = 0;
        char line[128];
        int size = snprintf(line, sizeof(line), "%s\n", rows[i]);
        assert_status(gh_geo_add_rows(table, gh_str_make(line, (size_t)size), &used), GH_OK);
        assert_status(gh_geo_get_stats(table, &stats), GH_OK);
        if (stats.rows_malformed != 1) fail_msg("taken: %s", rows[i]);
        assert_int_equal(stats.ipv4_ranges + stats.ipv6_ranges, 0);
        drop_table(table);
    }
}

static void too_long_row_is_one_malformed_row(void** state)
{
    (void)state;
    gh_geo* table = small_table();
    static char row[5000];
    size_t used = 0;
    gh_geo_stats stats;
    memset(row, 'x', sizeof(row));
    for (int i = 0; i < 3; i++)
    {
        assert_status(gh_geo_add_rows(table, gh_str_make(row, sizeof(row)), &used), GH_OK);
        assert_int_equal(used, sizeof(row));
    }
    add_rows(table, "xx\n1.0.0.0,1.0.0.1,US,,\n");
    assert_status(gh_geo_get_stats(table, &stats), GH_OK);
    assert_int_equal(stats.rows, 2);
    assert_int_equal(stats.rows_malformed, 1);
    memset(row, ',', sizeof(row));
    memcpy(row, "1.0.0.2,1.0.0.3,US", 18);
    row[GH_GEO_ROW_SIZE_MAX] = '\n';
    assert_status(gh_geo_add_rows(table, gh_str_make(row, GH_GEO_ROW_SIZE_MAX + 1), &used), GH_OK);
    row[GH_GEO_ROW_SIZE_MAX] = ',';
    row[GH_GEO_ROW_SIZE_MAX + 1] = '\n';
    assert_status(gh_geo_add_rows(table, gh_str_make(row, GH_GEO_ROW_SIZE_MAX + 2), &used), GH_OK);
    assert_status(gh_geo_get_stats(table, &stats), GH_OK);
    assert_int_equal(stats.ipv4_ranges, 2);
    assert_int_equal(stats.rows_malformed, 2);
    drop_table(table);
}

static void overlaps_are_left_out_and_counted(void** state)
{
    (void)state;
    gh_geo* table = small_table();
    gh_geo_stats stats;
    add_rows(table, "1.0.0.5,1.0.0.9,B,,\n1.0.0.0,1.0.0.5,A,,\n1.0.0.10,1.0.0.19,C,,\n"
                    "1.0.0.12,1.0.0.13,D,,\n1::,1::9,E,,\n1::9,1::f,F,,\n");
    assert_status(gh_geo_seal(table, 0), GH_OK);
    assert_status(gh_geo_get_stats(table, &stats), GH_OK);
    assert_int_equal(stats.ranges_overlapping, 3);
    assert_place(table, "1.0.0.5", "A//");
    assert_place(table, "1.0.0.6", "none");
    assert_place(table, "1.0.0.12", "C//");
    assert_place(table, "1::9", "E//");
    assert_place(table, "1::a", "none");
    drop_table(table);
}

/* ---- capacities, states, input --------------------------------------------------------------------------------- */

static void capacities_hold_what_they_say(void** state)
{
    (void)state;
    for (uint32_t capacity = 0; capacity < 4; capacity++)
    {
        gh_geo_config config = gh_geo_config_default();
        config.ipv4_capacity = config.ipv6_capacity = capacity;
        gh_geo* table = make_table(&config);
        for (uint32_t i = 0; i <= capacity; i++)
        {
            char first[64];
            snprintf(first, sizeof(first), "1.0.0.%u", i);
            gh_str none = gh_str_literal("");
            assert_status(gh_geo_add(table, gh_str_of(first), gh_str_of(first), gh_str_literal("A"), none, none),
                          i < capacity ? GH_OK : GH_FULL_IPV4);
            snprintf(first, sizeof(first), "::1:%u", i);
            assert_status(gh_geo_add(table, gh_str_of(first), gh_str_of(first), gh_str_literal("A"), none, none),
                          i < capacity ? GH_OK : GH_FULL_IPV6);
        }
        assert_status(gh_geo_seal(table, 0), GH_OK);
        drop_table(table);
    }
    gh_geo_config config = gh_geo_config_default();
    config.nodes_capacity = 6;
    config.text_bytes = 12;
    gh_geo* table = make_table(&config);
    size_t used = 0;
    gh_str rows = gh_str_literal("1.0.0.1,1.0.0.1,A,B,C\n1.0.0.2,1.0.0.2,D,E,F\n"
                                 "1.0.0.3,1.0.0.3,A,B,C\n1.0.0.4,1.0.0.4,G,,\n");
    assert_status(gh_geo_add_rows(table, rows, &used), GH_FULL_NODES);
    assert_int_equal(used, rows.size - strlen("1.0.0.4,1.0.0.4,G,,\n"));
    assert_status(gh_geo_add(table, gh_str_literal("2.0.0.1"), gh_str_literal("2.0.0.1"), gh_str_literal("G"),
                             gh_str_literal(""), gh_str_literal("")),
                  GH_FULL_NODES);
    assert_status(gh_geo_seal(table, 0), GH_OK); /* what fitted serves */
    assert_place(table, "1.0.0.3", "A/B/C");
    drop_table(table);
    config.nodes_capacity = 16;
    config.text_bytes = 6;
    table = make_table(&config);
    assert_status(gh_geo_add_rows(table, rows, &used), GH_FULL_TEXT);
    assert_int_equal(used, rows.size - strlen("1.0.0.4,1.0.0.4,G,,\n"));
    drop_table(table);
}

static void bad_input_names_its_field(void** state)
{
    (void)state;
    gh_geo_config config = gh_geo_config_default();
    gh_geo_config skipped;
    gh_geo* table = NULL;
    gh_geo_place place;
    gh_geo_address address;
    gh_geo_slot slot = {0};
    size_t used;
    static _Alignas(16) char memory[64];
    memset(&skipped, 0, sizeof(skipped));
    assert_int_equal(gh_geo_memory(NULL), gh_geo_memory(&config));
    assert_int_equal(gh_geo_memory(&skipped), 0);
    assert_status(gh_geo_init(&table, NULL, memory, gh_geo_memory(NULL) - 1), GH_INVALID_MEMORY);
    assert_status(gh_geo_init(&table, &skipped, memory, SIZE_MAX), GH_INVALID_CONFIG);
    assert_status(gh_geo_init(NULL, &config, memory, SIZE_MAX), GH_INVALID_OUT);
    assert_status(gh_geo_init(&table, &config, NULL, SIZE_MAX), GH_INVALID_MEMORY);
    assert_status(gh_geo_init(&table, &config, memory + 8, SIZE_MAX), GH_INVALID_MEMORY);
    gh_geo_config little = config;
    little.ipv4_capacity = little.ipv6_capacity = 4;
    little.nodes_capacity = 6;
    little.text_bytes = 16;
    size_t little_size = gh_geo_memory(&little);
    char* little_memory = NULL;
    assert_int_equal(posix_memalign((void**)&little_memory, 16, little_size), 0);
    memset(little_memory, 0xa5, little_size);
    for (size_t size = 0; size < little_size; size++)
        assert_status(gh_geo_init(&table, &little, little_memory, size), GH_INVALID_MEMORY);
    for (size_t i = 0; i < little_size; i++) assert_int_equal((unsigned char)little_memory[i], 0xa5);
    assert_null(table);
    assert_status(gh_geo_init(&table, &little, little_memory, little_size), GH_OK);
    free(little_memory);
    drop_table(make_table(NULL));
    table = NULL;
    config.nodes_capacity = 2;
    assert_status(gh_geo_init(&table, &config, memory, SIZE_MAX), GH_INVALID_CAPACITY);
    config = gh_geo_config_default();
    config.text_bytes = 0;
    assert_status(gh_geo_init(&table, &config, memory, SIZE_MAX), GH_INVALID_CAPACITY);
    config = gh_geo_config_default();
    config.ipv4_capacity = 16777217;
    assert_int_equal(gh_geo_memory(&config), 0);
    assert_null(table);

    gh_geo_clear(NULL);
    assert_null(gh_geo_turn(NULL));
    assert_int_equal(gh_geo_node_count(NULL), 0);
    assert_int_equal(gh_geo_node_parent(NULL, 0), GH_GEO_NO_NODE);
    assert_int_equal(gh_geo_node_level(NULL, 0), 0);
    assert_int_equal(gh_geo_node_name(NULL, 0).size, 0);

    table = small_table();
    assert_int_equal(gh_geo_node_parent(table, gh_geo_node_count(table)), GH_GEO_NO_NODE);
    assert_int_equal(gh_geo_node_name(table, UINT32_MAX).size, 0);
    gh_str none = gh_str_literal("");
    gh_str one = gh_str_literal("1.0.0.1");
    static char name[GH_GEO_NAME_SIZE_MAX + 1];
    assert_status(gh_geo_find(table, one, &place), GH_INVALID_MEMORY); /* not sealed */
    assert_status(gh_geo_offer(&slot, table), GH_INVALID_MEMORY);
    assert_status(gh_geo_add(table, gh_str_literal("x"), one, none, none, none), GH_INVALID_ADDRESS);
    assert_status(gh_geo_add(table, one, gh_str_literal("1.0.0.0"), none, none, none), GH_INVALID_ADDRESS);
    assert_status(gh_geo_add(table, one, gh_str_literal("::1"), none, none, none), GH_INVALID_ADDRESS);
    assert_status(gh_geo_add(table, one, one, gh_str_make(NULL, 1), none, none), GH_INVALID_NAME);
    assert_status(gh_geo_add(table, one, one, none, none, gh_str_make(name, sizeof(name))), GH_INVALID_NAME);
    assert_status(gh_geo_add(table, one, one, none, none, gh_str_make(name, sizeof(name) - 1)), GH_OK);
    assert_status(gh_geo_add_rows(table, gh_str_make(NULL, 1), &used), GH_INVALID_BUFFER);
    assert_status(gh_geo_add_rows(table, none, NULL), GH_INVALID_OUT);
    assert_status(gh_geo_add_rows(NULL, none, &used), GH_INVALID_MEMORY);
    assert_status(gh_geo_seal(NULL, 0), GH_INVALID_MEMORY);
    assert_status(gh_geo_seal(table, 1), GH_PENDING);
    assert_status(gh_geo_add(table, one, one, none, none, none), GH_INVALID_MEMORY);
    while (gh_geo_seal(table, 1) == GH_PENDING) assert_status(gh_geo_add_rows(table, none, &used), GH_INVALID_MEMORY);
    assert_status(gh_geo_find(table, gh_str_literal("1.0.0.1x"), &place), GH_INVALID_ADDRESS);
    assert_status(gh_geo_find(table, gh_str_make(NULL, 5), &place), GH_INVALID_ADDRESS);
    assert_status(gh_geo_find(table, one, NULL), GH_INVALID_OUT);
    assert_status(gh_geo_find(table, gh_str_literal("9.9.9.9"), &place), GH_EMPTY);
    assert_int_equal(place.node, GH_GEO_NO_NODE);
    assert_status(gh_geo_parse(one, NULL), GH_INVALID_OUT);
    assert_status(gh_geo_parse(none, &address), GH_INVALID_ADDRESS);
    assert_status(gh_geo_get_stats(NULL, NULL), GH_INVALID_MEMORY);
    assert_status(gh_geo_get_stats(table, NULL), GH_INVALID_OUT);
    assert_int_equal(gh_geo_node_parent(table, 1000), GH_GEO_NO_NODE);
    assert_int_equal(gh_geo_node_name(NULL, 0).size, 0);
    assert_status(gh_geo_offer(NULL, table), GH_INVALID_OP);
    drop_table(table);
}

static void addresses_are_taken_in_every_form(void** state)
{
    (void)state;
    static const struct
    {
        const char* text;
        uint64_t high, low;
        bool is_ipv6;
    } rows[] = {{"0.0.0.0", 0, 0, false},
                {"255.255.255.255", 0, 0xffffffffu, false},
                {"::", 0, 0, true},
                {"::1", 0, 1, true},
                {"1::", 0x0001000000000000u, 0, true},
                {"1:2:3:4:5:6:7:8", 0x0001000200030004u, 0x0005000600070008u, true},
                {"ABCD::ef01", 0xabcd000000000000u, 0xef01, true},
                {"1::2:3", 0x0001000000000000u, 0x20003, true},
                {"1:2:3:4:5:6:7::", 0x0001000200030004u, 0x0005000600070000u, true},
                {"::1.2.3.4", 0, 0x01020304u, true},
                {"::ffff:1.2.3.4", 0, 0x01020304u, false},
                {"1:2:3:4:5:6:1.2.3.4", 0x0001000200030004u, 0x0005000601020304u, true}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        gh_geo_address address;
        assert_status(gh_geo_parse(gh_str_of(rows[i].text), &address), GH_OK);
        assert_true(address.high == rows[i].high && address.low == rows[i].low && address.is_ipv6 == rows[i].is_ipv6);
    }
}

static void tables_are_swapped_at_the_turn(void** state)
{
    (void)state;
    gh_geo_slot slot = {0};
    gh_geo* first = small_table();
    gh_geo* second = small_table();
    add_rows(first, "1.0.0.0,1.0.0.9,A,,\n");
    add_rows(second, "1.0.0.0,1.0.0.9,B,,\n");
    assert_status(gh_geo_seal(first, 0), GH_OK);
    assert_status(gh_geo_seal(second, 0), GH_OK);
    assert_null(gh_geo_turn(&slot));
    assert_status(gh_geo_offer(&slot, first), GH_OK);
    assert_status(gh_geo_offer(&slot, second), GH_BUSY);
    assert_null(slot.current);
    assert_null(gh_geo_turn(&slot));
    assert_ptr_equal(slot.current, first);
    assert_status(gh_geo_offer(&slot, second), GH_OK);
    assert_place(slot.current, "1.0.0.1", "A//");
    assert_ptr_equal(gh_geo_turn(&slot), first);
    assert_place(slot.current, "1.0.0.1", "B//");
    gh_geo_clear(first);
    add_rows(first, "1.0.0.0,1.0.0.9,C,,\n");
    assert_status(gh_geo_seal(first, 0), GH_OK);
    assert_place(first, "1.0.0.1", "C//");
    assert_int_equal(gh_geo_node_count(first), 3);
    drop_table(first);
    drop_table(second);
}

static void heap_is_never_called(void** state)
{
    (void)state;
    gh_geo* table = small_table();
    gh_geo_place place;
    assert_true(heap_watch_works());
    heap_watch_begin();
    size_t used = 0;
    gh_status added = gh_geo_add_rows(table, gh_str_literal("1.0.0.0,1.0.0.9,A,B,C\n0.0.0.1,0.0.0.2,A,B,C\n"), &used);
    gh_status sealed = gh_geo_seal(table, 0);
    gh_status found = gh_geo_find(table, gh_str_literal("1.0.0.3"), &place);
    gh_geo_clear(table);
    heap_counts counts = heap_watch_end();
    assert_int_equal(counts.total, 0);
    assert_true(added == GH_OK && sealed == GH_OK && found == GH_OK);
    drop_table(table);
}

/* Nobody may clear what everybody looks into. */
static void current_table_that_is_offered_again_stays(void** state)
{
    (void)state;
    gh_geo_slot slot = {NULL, NULL};
    gh_geo* table = small_table();
    assert_status(gh_geo_seal(table, 0), GH_OK);
    assert_status(gh_geo_offer(&slot, table), GH_OK);
    assert_null(gh_geo_turn(&slot));
    assert_status(gh_geo_offer(&slot, table), GH_OK);
    assert_null(gh_geo_turn(&slot));
    assert_ptr_equal(slot.current, table);
    drop_table(table);
}

TEST_FILE(geo, cmocka_unit_test(current_table_that_is_offered_again_stays),
          cmocka_unit_test(columns_are_where_the_config_says), cmocka_unit_test(columns_that_cannot_be_are_refused),
          cmocka_unit_test(finds_places_and_nothing_in_gaps),
          cmocka_unit_test(equal_names_in_other_places_are_other_nodes), cmocka_unit_test(agrees_with_a_plain_list),
          cmocka_unit_test(ipv6_agrees_with_a_plain_count), cmocka_unit_test(rows_may_be_cut_anywhere),
          cmocka_unit_test(malformed_rows_are_counted_and_left_out),
          cmocka_unit_test(too_long_row_is_one_malformed_row), cmocka_unit_test(overlaps_are_left_out_and_counted),
          cmocka_unit_test(capacities_hold_what_they_say), cmocka_unit_test(bad_input_names_its_field),
          cmocka_unit_test(addresses_are_taken_in_every_form), cmocka_unit_test(tables_are_swapped_at_the_turn),
          cmocka_unit_test(heap_is_never_called));
