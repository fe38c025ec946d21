/* test_slots_map.c -- sdk/src/wire/slots_map.h: whose each slot is, by rows and by MOVED, and against a model that
   looks at each slot by itself. */

#include "support/cleanup.h"
#include "support/random.h"
#include "support/suite.h"
#include "wire/slots_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In a block of exactly the measured size. */
static gh_slots_map* map_new(uint32_t capacity)
{
    gh_slots_map* map = calloc(1, sizeof(*map));
    gh_arena measured = gh_arena_make(NULL, 0);
    assert_false(gh_slots_map_take(map, &measured, capacity));
    void* block = aligned_alloc(GH_ARENA_ALIGNMENT, (measured.used + 15) / 16 * 16);
    memset(block, 0xa5, measured.used);
    gh_arena arena = gh_arena_make(block, measured.used);
    assert_true(gh_slots_map_take(map, &arena, capacity));
    cleanup_add(free, block);
    cleanup_add(free, map);
    return map;
}

static gh_endpoint endpoint_of(const char* host, unsigned port)
{
    return gh_endpoint_make(gh_str_of(host), port);
}

static gh_slots_row row_of(unsigned first, unsigned last, const char* host, unsigned port)
{
    gh_endpoint endpoint = endpoint_of(host, port);
    gh_slots_row row;
    memset(&row, 0, sizeof(row));
    row.is_good = first <= last;
    row.first = (uint16_t)first;
    row.last = (uint16_t)last;
    row.endpoint = endpoint.kind;
    row.port = endpoint.port;
    row.host_size = (uint8_t)endpoint.host.size;
    if (endpoint.host.size > 0) memcpy(row.host, endpoint.host.bytes, endpoint.host.size);
    return row;
}

static uint16_t take_row(gh_slots_map* map, unsigned first, unsigned last, const char* host, unsigned port)
{
    gh_slots_row row = row_of(first, last, host, port);
    return gh_slots_map_row(map, &row, gh_str_literal("asked.x"));
}

static uint16_t take_moved(gh_slots_map* map, unsigned slot, const char* host, unsigned port)
{
    return gh_slots_map_moved(map, (uint16_t)slot, endpoint_of(host, port), gh_str_literal("asked.x"));
}

static void must_own(const gh_slots_map* map, unsigned slot, const char* host, unsigned port)
{
    uint16_t place = gh_slots_map_owner(map, (uint16_t)slot);
    if (place >= map->capacity) fail_msg("slot %u is nobody's: %u", slot, place);
    const gh_slots_node* node = &map->nodes[place];
    if (node->port != port || !gh_str_equal(gh_str_make(node->host, node->host_size), gh_str_of(host)))
        fail_msg("slot %u is of %.*s:%u, not of %s:%u", slot, node->host_size, node->host, node->port, host, port);
}

static void no_slot_has_an_owner_at_first(void** state)
{
    (void)state;
    gh_slots_map* map = map_new(3);
    for (unsigned slot = 0; slot < GH_SLOTS; slot++)
        assert_int_equal(gh_slots_map_owner(map, (uint16_t)slot), GH_SLOTS_NOBODY);
    for (uint32_t place = 0; place < 4; place++) assert_false(gh_slots_map_names(map, place));
}

static void rows_hold_as_soon_as_they_come(void** state)
{
    (void)state;
    gh_slots_map* map = map_new(3);
    gh_slots_map_begin(map);
    uint16_t first = take_row(map, 0, 63, "a", 1);
    must_own(map, 0, "a", 1);
    must_own(map, 63, "a", 1);
    assert_int_equal(gh_slots_map_owner(map, 64), GH_SLOTS_NOBODY);
    uint16_t second = take_row(map, 64, 16383, "a", 2); /* another port is another node */
    assert_int_not_equal(first, second);
    must_own(map, 64, "a", 2);
    must_own(map, 16383, "a", 2);
    gh_slots_map_end(map);
    assert_int_equal(map->seen.gaps, 0);
    assert_int_equal(map->seen.rows, 2);
    assert_int_equal(map->seen.overlapping, 0);
}

static void a_node_keeps_its_place(void** state)
{
    (void)state;
    gh_slots_map* map = map_new(3);
    uint16_t places[3];
    for (unsigned round = 0; round < 5; round++)
    {
        gh_slots_map_begin(map);
        for (unsigned i = 0; i < 3; i++)
        {
            static const char* const hosts[] = {"a", "b", "2001:db8::7"};
            unsigned which = (i + round) % 3;
            uint16_t place = take_row(map, i * 100, i * 100 + 99, hosts[which], 7);
            if (round == 0) places[which] = place;
            assert_int_equal(place, places[which]);
        }
        gh_slots_map_end(map);
    }
}

static void gaps_are_nobodys_at_the_end(void** state)
{
    (void)state;
    gh_slots_map* map = map_new(3);
    gh_slots_map_begin(map);
    take_row(map, 0, 16383, "a", 1);
    gh_slots_map_end(map);
    gh_slots_map_begin(map);
    take_row(map, 1, 100, "b", 1);
    take_row(map, 102, 16382, "b", 1);
    must_own(map, 0, "a", 1); /* until all is said */
    must_own(map, 101, "a", 1);
    gh_slots_map_end(map);
    static const unsigned gaps[] = {0, 101, 16383};
    for (size_t i = 0; i < 3; i++) assert_int_equal(gh_slots_map_owner(map, (uint16_t)gaps[i]), GH_SLOTS_NOBODY);
    must_own(map, 1, "b", 1);
    must_own(map, 16382, "b", 1);
    assert_int_equal(map->seen.gaps, 3);
}

static void the_first_of_two_rows_holds(void** state)
{
    (void)state;
    gh_slots_map* map = map_new(3);
    gh_slots_map_begin(map);
    take_row(map, 100, 200, "a", 1);
    take_row(map, 200, 300, "b", 1);
    take_row(map, 0, 16383, "c", 1);
    gh_slots_map_end(map);
    must_own(map, 99, "c", 1);
    must_own(map, 100, "a", 1);
    must_own(map, 200, "a", 1);
    must_own(map, 201, "b", 1);
    must_own(map, 300, "b", 1);
    must_own(map, 301, "c", 1);
    assert_int_equal(map->seen.overlapping, 2);
    assert_int_equal(map->seen.gaps, 0);
}

static void moved_holds_against_the_map_on_its_way(void** state)
{
    (void)state;
    gh_slots_map* map = map_new(4);
    gh_slots_map_begin(map);
    take_row(map, 0, 99, "a", 1);
    take_moved(map, 5, "b", 1);   /* after its row */
    take_moved(map, 200, "c", 1); /* before its row */
    take_moved(map, 201, "c", 1);
    take_moved(map, 201, "b", 1); /* the younger of the two */
    take_row(map, 100, 16383, "a", 1);
    gh_slots_map_end(map);
    must_own(map, 4, "a", 1);
    must_own(map, 5, "b", 1);
    must_own(map, 200, "c", 1);
    must_own(map, 201, "b", 1);
    must_own(map, 202, "a", 1);
    assert_int_equal(map->seen.overlapping, 1);
    take_moved(map, 300, "b", 1); /* before the next question: that map knows better */
    must_own(map, 300, "b", 1);
    gh_slots_map_begin(map);
    take_row(map, 0, 16383, "a", 1);
    gh_slots_map_end(map);
    must_own(map, 5, "a", 1);
    must_own(map, 300, "a", 1);
}

static void hosts_may_be_left_out_or_unknown(void** state)
{
    (void)state;
    gh_slots_map* map = map_new(3);
    gh_slots_map_begin(map);
    take_row(map, 0, 9, "", 7);
    assert_int_equal(take_row(map, 10, 19, "?", 7), GH_SLOTS_NOBODY);
    assert_int_equal(take_row(map, 20, 29, "a", 0), GH_SLOTS_NOBODY);
    assert_int_equal(take_row(map, 30, 39, "a b", 7), GH_SLOTS_NOBODY);
    assert_int_equal(take_moved(map, 40, "?", 7), GH_SLOTS_NOBODY);
    take_moved(map, 41, "", 7);
    gh_slots_row nowhere = row_of(50, 59, "", 7);
    assert_int_equal(gh_slots_map_row(map, &nowhere, gh_str_make(NULL, 0)), GH_SLOTS_NOBODY);
    gh_slots_map_end(map);
    must_own(map, 0, "asked.x", 7);
    must_own(map, 41, "asked.x", 7);
    for (unsigned slot = 10; slot <= 40; slot++)
        assert_int_equal(gh_slots_map_owner(map, (uint16_t)slot), GH_SLOTS_NOBODY);
    assert_int_equal(map->seen.unreachable, 4);
    assert_int_equal(map->seen.gaps, GH_SLOTS - 52);
}

static void bad_rows_mean_nothing(void** state)
{
    (void)state;
    gh_slots_map* map = map_new(3);
    gh_slots_map_begin(map);
    take_row(map, 0, 16383, "a", 1);
    assert_int_equal(take_row(map, 9, 5, "b", 1), GH_SLOTS_NOBODY);
    gh_slots_map_end(map);
    assert_int_equal(map->seen.bad_rows, 1);
    assert_int_equal(map->seen.overlapping, 0);
    must_own(map, 7, "a", 1);
}

static void a_full_table_says_so(void** state)
{
    (void)state;
    gh_slots_map* map = map_new(2);
    gh_slots_map_begin(map);
    uint16_t first = take_row(map, 0, 9, "a", 1);
    take_row(map, 10, 19, "b", 1);
    assert_int_equal(take_row(map, 20, 29, "c", 1), GH_SLOTS_NO_ROOM);
    assert_int_equal(take_row(map, 30, 39, "d", 1), GH_SLOTS_NO_ROOM);
    assert_int_equal(take_row(map, 40, 49, "a", 1), first);
    assert_int_equal(take_moved(map, 50, "d", 1), GH_SLOTS_NO_ROOM);
    gh_slots_map_end(map);
    assert_int_equal(map->seen.without_room, 2);
    assert_int_equal(gh_slots_map_owner(map, 25), GH_SLOTS_NO_ROOM);
    assert_int_equal(gh_slots_map_owner(map, 50), GH_SLOTS_NO_ROOM);
    gh_slots_map_forget(map, first);
    assert_int_equal(gh_slots_map_owner(map, 0), GH_SLOTS_NOBODY);
    assert_int_equal(gh_slots_map_owner(map, 40), GH_SLOTS_NOBODY);
    must_own(map, 10, "b", 1);
    assert_int_equal(take_moved(map, 25, "c", 1), first); /* its place is free now */
    must_own(map, 25, "c", 1);
}

static void who_is_in_no_map_may_be_forgotten(void** state)
{
    (void)state;
    gh_slots_map* map = map_new(4);
    gh_slots_map_begin(map);
    uint16_t a = take_row(map, 0, 8191, "a", 1);
    uint16_t b = take_row(map, 8192, 16383, "b", 1);
    gh_slots_map_end(map);
    assert_true(gh_slots_map_names(map, a) && gh_slots_map_names(map, b));
    gh_slots_map_begin(map);
    take_row(map, 0, 16383, "a", 1);
    uint16_t c = take_moved(map, 7, "c", 1);
    uint16_t d = gh_slots_map_find(map, endpoint_of("d", 1), gh_str_make(NULL, 0)); /* as for ASK */
    gh_slots_map_end(map);
    assert_true(gh_slots_map_names(map, a) && gh_slots_map_names(map, c) && gh_slots_map_names(map, d));
    assert_false(gh_slots_map_names(map, b));
    must_own(map, 7, "c", 1);
    gh_slots_map_forget(map, b);
    assert_false(gh_slots_map_names(map, b));
    gh_slots_map_forget(map, 4); /* there is no such place */
}

static void names_are_those_of_the_last_row(void** state)
{
    (void)state;
    gh_slots_map* map = map_new(2);
    gh_slots_row row = row_of(0, 9, "10.0.0.7", 1);
    memcpy(row.name, "n1.game", 7);
    row.name_size = 7;
    gh_slots_map_begin(map);
    uint16_t place = gh_slots_map_row(map, &row, gh_str_make(NULL, 0));
    assert_int_equal(map->nodes[place].name_size, 7);
    assert_memory_equal(map->nodes[place].name, "n1.game", 7);
    take_moved(map, 3, "10.0.0.7", 1); /* does not tell a name */
    assert_int_equal(map->nodes[place].name_size, 7);
    take_row(map, 10, 19, "10.0.0.7", 1);
    assert_int_equal(map->nodes[place].name_size, 0);
}

/* A bad server's thousand rows of all slots cost no more than so many words. */
static void rows_that_overlap_are_cheap(void** state)
{
    (void)state;
    gh_slots_map* map = map_new(2);
    gh_slots_map_begin(map);
    for (unsigned i = 0; i < GH_SLOTS; i++) take_row(map, 0, 16383, "a", 1);
    gh_slots_map_end(map);
    assert_int_equal(map->seen.overlapping, GH_SLOTS - 1);
}

/* ---- against a model --------------------------------------------------------------------------------------------- */

#define MODEL_CAPACITY 5
#define MODEL_NODES    8 /* more than there is room for */

typedef struct model
{
    uint16_t owners[GH_SLOTS]; /* which node, NOBODY or NO_ROOM */
    bool settled[GH_SLOTS];
    bool known[MODEL_NODES];
} model;

static unsigned known_nodes(const model* m)
{
    unsigned count = 0;
    for (unsigned i = 0; i < MODEL_NODES; i++) count += m->known[i];
    return count;
}

/* What a slot has by the word for this node; MODEL_NODES is none that can be reached. */
static uint16_t model_find(model* m, unsigned node)
{
    if (node == MODEL_NODES) return GH_SLOTS_NOBODY;
    if (!m->known[node] && known_nodes(m) == MODEL_CAPACITY) return GH_SLOTS_NO_ROOM;
    m->known[node] = true;
    return (uint16_t)node;
}

static void must_be_like(const gh_slots_map* map, const model* m)
{
    for (unsigned slot = 0; slot < GH_SLOTS; slot++)
    {
        uint16_t place = gh_slots_map_owner(map, (uint16_t)slot);
        uint16_t owner = place < map->capacity ? (uint16_t)(map->nodes[place].host[0] - 'a') : place;
        if (owner != m->owners[slot]) fail_msg("slot %u is of %u, not of %u", slot, owner, m->owners[slot]);
    }
}

static void model_row(gh_slots_map* map, model* m, random_stream* stream)
{
    unsigned first = (unsigned)random_below(stream, GH_SLOTS);
    unsigned last = random_one_in(stream, 2) ? first : (unsigned)random_between(stream, first, GH_SLOTS - 1);
    unsigned node = (unsigned)random_below(stream, MODEL_NODES + 1);
    uint16_t owner = model_find(m, node);
    take_row(map, first, last, node == MODEL_NODES ? "?" : (char[]){(char)('a' + node), '\0'}, 7);
    for (unsigned slot = first; slot <= last; slot++)
        if (!m->settled[slot]) m->owners[slot] = owner, m->settled[slot] = true;
}

static void model_moved(gh_slots_map* map, model* m, random_stream* stream)
{
    unsigned slot = (unsigned)random_below(stream, GH_SLOTS);
    unsigned node = (unsigned)random_below(stream, MODEL_NODES);
    m->owners[slot] = model_find(m, node);
    m->settled[slot] = true;
    take_moved(map, slot, (char[]){(char)('a' + node), '\0'}, 7);
}

static void model_forget(gh_slots_map* map, model* m, random_stream* stream)
{
    uint32_t place = (uint32_t)random_below(stream, MODEL_CAPACITY);
    if (map->hashes[place] == 0) return;
    unsigned node = (unsigned)(map->nodes[place].host[0] - 'a');
    m->known[node] = false;
    for (unsigned slot = 0; slot < GH_SLOTS; slot++)
        if (m->owners[slot] == node) m->owners[slot] = GH_SLOTS_NOBODY;
    gh_slots_map_forget(map, place);
}

static void model_end(gh_slots_map* map, model* m)
{
    unsigned gaps = 0;
    gh_slots_map_end(map);
    for (unsigned slot = 0; slot < GH_SLOTS; slot++)
    {
        if (m->settled[slot]) continue;
        m->owners[slot] = GH_SLOTS_NOBODY;
        gaps++;
    }
    assert_int_equal(map->seen.gaps, gaps);
}

static void any_words_in_any_order(void** state)
{
    static model m;
    random_stream stream = random_for_test("words");
    (void)state;
    gh_slots_map* map = map_new(MODEL_CAPACITY);
    memset(&m, 0, sizeof(m));
    for (unsigned slot = 0; slot < GH_SLOTS; slot++) m.owners[slot] = GH_SLOTS_NOBODY;
    for (int round = 0; round < 2000; round++)
    {
        uint64_t what = random_below(&stream, 20);
        if (what == 0) gh_slots_map_begin(map), memset(m.settled, 0, sizeof(m.settled));
        else if (what == 1) model_end(map, &m);
        else if (what == 2) model_forget(map, &m, &stream);
        else if (what < 8) model_moved(map, &m, &stream);
        else model_row(map, &m, &stream);
        must_be_like(map, &m);
    }
}

TEST_FILE(slots_map, cmocka_unit_test(no_slot_has_an_owner_at_first), cmocka_unit_test(rows_hold_as_soon_as_they_come),
          cmocka_unit_test(a_node_keeps_its_place), cmocka_unit_test(gaps_are_nobodys_at_the_end),
          cmocka_unit_test(the_first_of_two_rows_holds), cmocka_unit_test(moved_holds_against_the_map_on_its_way),
          cmocka_unit_test(hosts_may_be_left_out_or_unknown), cmocka_unit_test(bad_rows_mean_nothing),
          cmocka_unit_test(a_full_table_says_so), cmocka_unit_test(who_is_in_no_map_may_be_forgotten),
          cmocka_unit_test(names_are_those_of_the_last_row), cmocka_unit_test(rows_that_overlap_are_cheap),
          cmocka_unit_test(any_words_in_any_order));
