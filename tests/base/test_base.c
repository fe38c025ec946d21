/* test_base.c -- guildhall/base.h, and the heap, the arena, the hashes and sums of sdk/src/base. */

#include "base/arena.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/sum.h"
#include "guildhall/guildhall.h"
#include "support/random.h"
#include "support/suite.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Statuses ---- */

typedef struct listed_status
{
    gh_status status;
    int value;
    const char* name;
    const char* text;
} listed_status;

static const listed_status statuses[] = {
#define LISTED(name, value, text) {GH_##name, value, #name, text},
    GH_STATUS_LIST(LISTED)
#undef LISTED
#define LISTED(name, word, value, text) {GH_##name, GH_##word - 256 * value, #name, text},
        GH_DETAIL_LIST(LISTED)
#undef LISTED
};

#define STATUS_COUNT (sizeof(statuses) / sizeof(statuses[0]))

/* The compiler does not know that an int from anywhere is meant. */
static gh_status as_status(int value)
{
    gh_status status = GH_OK;
    memcpy(&status, &value, sizeof(status));
    return status;
}

static void every_status_has_its_name_and_its_sentence(void** state)
{
    (void)state;
    for (size_t i = 0; i < STATUS_COUNT; i++)
    {
        assert_int_equal(statuses[i].status, statuses[i].value);
        assert_string_equal(gh_status_name(statuses[i].status), statuses[i].name);
        assert_string_equal(gh_status_text(statuses[i].status), statuses[i].text);
        assert_true(strlen(statuses[i].text) > 3);
        for (size_t other = 0; other < i; other++)
        {
            assert_int_not_equal(statuses[i].value, statuses[other].value);
            assert_string_not_equal(statuses[i].name, statuses[other].name);
            assert_string_not_equal(statuses[i].text, statuses[other].text);
        }
    }
}

static void a_number_that_is_no_status_is_told_as_such(void** state)
{
    (void)state;
    enum
    {
        LOWEST = -256 * 256 * 2,
        HIGHEST = 1000
    };
    static const int far_away[] = {INT_MIN, INT_MIN + 1, -(1 << 24), 65536, INT_MAX};
    static bool is_listed[HIGHEST - LOWEST + 1];
    size_t listed = 0;
    for (size_t i = 0; i < STATUS_COUNT; i++) is_listed[statuses[i].value - LOWEST] = true;
    for (int value = LOWEST; value <= HIGHEST; value++)
    {
        const bool known = is_listed[value - LOWEST];
        assert_int_equal(strcmp(gh_status_name(as_status(value)), "?") != 0, known);
        assert_int_equal(strcmp(gh_status_text(as_status(value)), "not a status of Guildhall") != 0, known);
        if (known) listed++;
    }
    assert_int_equal(listed, STATUS_COUNT);
    for (size_t i = 0; i < sizeof(far_away) / sizeof(far_away[0]); i++)
    {
        assert_string_equal(gh_status_name(as_status(far_away[i])), "?");
        assert_string_equal(gh_status_text(as_status(far_away[i])), "not a status of Guildhall");
    }
}

static void the_families_of_statuses_are_told_by_their_sign(void** state)
{
    (void)state;
    static const gh_status not_errors[] = {GH_PENDING, GH_IDLE, GH_HELD, GH_EMPTY, GH_EXISTS};
    static const gh_status failures[] = {GH_FULL,    GH_TIMEOUT, GH_LOST,    GH_REFUSED,   GH_CORRUPT,    GH_CANCELLED,
                                         GH_UNKNOWN, GH_FENCED,  GH_ERROR,   GH_CLOSED,    GH_NO_ROOM,    GH_TOO_LARGE,
                                         GH_GONE,    GH_BUSY,    GH_DIFFERS, GH_RESTARTED, GH_NOT_MEMBER, GH_LIMITED};
    assert_int_equal(GH_OK, 0);
    for (size_t i = 0; i < sizeof(not_errors) / sizeof(not_errors[0]); i++) assert_true((int)not_errors[i] > 0);
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) assert_true((int)failures[i] < 0);
    for (size_t i = 0; i < STATUS_COUNT; i++)
    {
        bool named_invalid = strncmp(statuses[i].name, "INVALID", 7) == 0;
        bool is_word = statuses[i].value > -256;
        assert_int_equal(gh_status_is_invalid(statuses[i].status), named_invalid);
        assert_int_equal(gh_status_is_over(statuses[i].status), statuses[i].value != 1 && statuses[i].value != 3);
        assert_int_equal(gh_status_word(statuses[i].status), is_word         ? statuses[i].status
                                                             : named_invalid ? GH_INVALID
                                                                             : GH_FULL);
    }
}

static void the_library_has_the_version_of_its_headers(void** state)
{
    (void)state;
    assert_int_equal(gh_version(), GH_VERSION_MAJOR * 10000 + GH_VERSION_MINOR * 100 + GH_VERSION_PATCH);
}

/* ---- Byte strings ---- */

static void strings_are_views_with_a_length(void** state)
{
    (void)state;
    const char text[] = "a\0b";
    assert_ptr_equal(gh_str_make(text, 3).bytes, text);
    assert_int_equal(gh_str_make(text, 3).size, 3);
    assert_int_equal(gh_str_of(text).size, 1);
    assert_ptr_equal(gh_str_of(text).bytes, text);
    assert_int_equal(gh_str_of("").size, 0);
    assert_int_equal(gh_str_of(NULL).size, 0);
    assert_null(gh_str_of(NULL).bytes);
    assert_int_equal(gh_str_literal("a\0b").size, 3);
    assert_int_equal(gh_str_literal("").size, 0);
}

static void strings_are_printed_by_their_length(void** state)
{
    (void)state;
    char text[16];
    snprintf(text, sizeof text, "<%.*s>", GH_STR_ARG(gh_str_make("jason", 3)));
    assert_string_equal(text, "<jas>");
    snprintf(text, sizeof text, "<%.*s>", GH_STR_ARG(gh_str_of(NULL)));
    assert_string_equal(text, "<>");
}

static void structs_tell_their_size(void** state)
{
    (void)state;
    assert_int_equal(gh_sizeof("gh_lock"), sizeof(gh_lock));
    assert_int_equal(gh_sizeof("gh_str"), sizeof(gh_str));
    assert_int_equal(gh_sizeof("gh_client_config"), sizeof(gh_client_config));
    assert_int_equal(gh_sizeof("gh_client"), 0); /* nobody's but the library's */
    assert_int_equal(gh_sizeof("gh_loc"), 0);
    assert_int_equal(gh_sizeof(""), 0);
    assert_int_equal(gh_sizeof(NULL), 0);
}

static void version_is_one_number(void** state)
{
    (void)state;
    assert_int_equal(gh_version(), GH_VERSION);
    assert_int_equal(GH_VERSION / 100 % 100, GH_VERSION_MINOR);
}

static void strings_are_equal_byte_by_byte(void** state)
{
    (void)state;
    assert_true(gh_str_equal(gh_str_literal("a\0b"), gh_str_make("a\0bc", 3)));
    assert_false(gh_str_equal(gh_str_literal("a\0b"), gh_str_literal("a\0c")));
    assert_false(gh_str_equal(gh_str_literal("a"), gh_str_literal("ab")));
    assert_false(gh_str_equal(gh_str_literal("a"), gh_str_literal("")));
    assert_true(gh_str_equal(gh_str_make(NULL, 0), gh_str_literal("")));
    assert_true(gh_str_equal(gh_str_make(NULL, 0), gh_str_make(NULL, 0)));
    assert_false(gh_str_equal(gh_str_literal("a"), gh_str_literal("A")));
}

/* ---- The arena ---- */

static void an_arena_measures_what_it_then_cuts(void** state)
{
    (void)state;
    random_stream stream = random_for_test("sizes");
    static _Alignas(16) char block[16384];
    for (int round = 0; round < 200; round++)
    {
        size_t sizes[32], count = (size_t)random_between(&stream, 1, 32);
        gh_arena measure = gh_arena_make(NULL, 0);
        for (size_t i = 0; i < count; i++)
        {
            sizes[i] = (size_t)random_below(&stream, 300);
            assert_null(gh_arena_take(&measure, sizes[i]));
        }
        memset(block, 0x5a, sizeof(block));
        gh_arena arena = gh_arena_make(block, measure.used);
        char* end = block;
        for (size_t i = 0; i < count; i++)
        {
            char* piece = gh_arena_take(&arena, sizes[i]);
            assert_non_null(piece);
            assert_int_equal((uintptr_t)piece % GH_ARENA_ALIGNMENT, 0);
            assert_true(piece >= end);
            for (size_t at = 0; at < sizes[i]; at++) assert_int_equal(piece[at], 0);
            end = piece + sizes[i];
        }
        assert_true(end <= block + measure.used);
        assert_int_equal(arena.used, measure.used);
        assert_int_equal(block[measure.used], 0x5a);
        assert_null(gh_arena_take(&arena, 1));
    }
}

static void an_arena_without_room_gives_nothing_and_writes_nothing(void** state)
{
    (void)state;
    static _Alignas(16) char block[64];
    memset(block, 0x5a, sizeof(block));
    gh_arena arena = gh_arena_make(block, 47);
    assert_ptr_equal(gh_arena_take(&arena, 16), block);
    assert_null(gh_arena_take(&arena, 32));
    assert_null(gh_arena_take(&arena, 1)); /* what failed once stays failed: no hole is filled by accident */
    assert_true(arena.used > arena.size);
    for (size_t i = 16; i < sizeof(block); i++) assert_int_equal(block[i], 0x5a);
}

typedef struct wish
{
    size_t size;
    size_t count;
    size_t more;
} wish;

static void* cut_a_wish(gh_arena* arena, const void* settings)
{
    const wish* wanted = settings;
    void* first = gh_arena_take(arena, 32);
    (void)gh_arena_take_each(arena, wanted->size, wanted->count);
    (void)gh_arena_take(arena, wanted->more);
    return first;
}

/* As a table of 64 days with 16,777,216 places is on 32 bits, 2^32 bytes, which came to none. */
static void an_arena_that_cannot_say_how_much_has_no_room(void** state)
{
    (void)state;
    static _Alignas(16) char block[64];
    const wish wishes[] = {{4, SIZE_MAX / 4 + 1, 0}, {SIZE_MAX, SIZE_MAX, 0}, {1, SIZE_MAX, 1},
                           {4, SIZE_MAX / 4, 0},     {1, SIZE_MAX - 32, 16},  {1, SIZE_MAX - 64, 32},
                           {1, 1, SIZE_MAX},         {1, 1, SIZE_MAX - 40},   {SIZE_MAX / 2 + 1, 2, SIZE_MAX - 32}};
    memset(block, 0x5a, sizeof(block));
    for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++)
    {
        assert_int_equal(gh_arena_measure(cut_a_wish, &wishes[i]), 0);
        assert_null(gh_arena_cut_from(block, SIZE_MAX, cut_a_wish, &wishes[i]));
        assert_null(gh_arena_cut_from(block, sizeof(block), cut_a_wish, &wishes[i]));
    }
    for (size_t i = 0; i < sizeof(block); i++) assert_int_equal(block[i], 0x5a);
    const wish small = {4, 3, 1};
    assert_int_equal(gh_arena_measure(cut_a_wish, &small), sizeof(block));
    assert_ptr_equal(gh_arena_cut_from(block, sizeof(block), cut_a_wish, &small), block);
}

/* Wherever the block begins, the piece lies at a multiple of 64 and in its own room. */
static void an_arena_aligns_what_hashes(void** state)
{
    (void)state;
    static _Alignas(64) char block[256];
    gh_arena measure = gh_arena_make(NULL, 0);
    assert_null(gh_arena_take_at_64(&measure, 64));
    for (size_t at = 0; at < 64; at += GH_ARENA_ALIGNMENT)
    {
        gh_arena arena = gh_arena_make(block + at, measure.used);
        char* piece = gh_arena_take_at_64(&arena, 64);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % 64, 0);
        assert_true(piece >= block + at && piece + 64 <= block + at + measure.used);
        assert_true(gh_arena_fits(block + at, measure.used, measure.used));
    }
    assert_false(gh_arena_fits(block + 8, sizeof(block), 1));
    assert_false(gh_arena_fits(block, 63, 64));
    assert_false(gh_arena_fits(NULL, 64, 0));
}

static void an_arena_copies_strings_with_a_nul_behind(void** state)
{
    (void)state;
    static _Alignas(16) char block[64];
    gh_arena arena = gh_arena_make(block, sizeof(block));
    gh_str copy = gh_arena_copy(&arena, gh_str_literal("a\0b"));
    assert_int_equal(copy.size, 3);
    assert_memory_equal(copy.bytes, "a\0b", 4);
    copy = gh_arena_copy(&arena, gh_str_make(NULL, 0));
    assert_int_equal(copy.size, 0);
    assert_string_equal(copy.bytes, "");
    assert_int_equal(gh_arena_copy(&arena, gh_str_make(block, 40)).size, 0);
    gh_arena measure = gh_arena_make(NULL, 0);
    assert_int_equal(gh_arena_copy(&measure, gh_str_make(block, 16)).size, 0);
    assert_int_equal(measure.used, 32);
}

/* ---- The heap of times ---- */

#define ITEMS 64u

typedef struct heap_scene
{
    gh_heap heap;
    gh_heap other; /* where there are two in one array */
    uint32_t capacity;
    gh_heap_entry entries[1 + ITEMS + 1]; /* those around the array must never be touched */
    uint32_t places[ITEMS];
    uint64_t due_us[ITEMS]; /* the model: a plain table */
    gh_heap* in[ITEMS];     /* NULL: in none */
} heap_scene;

static void check_one_heap(const heap_scene* s, const gh_heap* heap)
{
    uint64_t first = GH_FOREVER;
    uint32_t count = 0;
    for (uint32_t i = 0; i < ITEMS; i++)
    {
        assert_int_equal(s->places[i] != 0, s->in[i] != NULL);
        if (s->in[i] != heap) continue;
        count++;
        if (s->due_us[i] < first) first = s->due_us[i];
        assert_true(s->places[i] <= heap->count);
        assert_ptr_equal(gh_heap_at(heap, s->places[i] - 1)->place, &s->places[i]);
        assert_true(gh_heap_at(heap, s->places[i] - 1)->due_us == s->due_us[i]);
    }
    assert_int_equal(heap->count, count);
    assert_true(gh_heap_due(heap) == first);
    for (uint32_t i = 1; i < count; i++)
        assert_true(gh_heap_at(heap, (i - 1) / 2)->due_us <= gh_heap_at(heap, i)->due_us);
}

static void check_heaps(const heap_scene* s)
{
    check_one_heap(s, &s->heap);
    check_one_heap(s, &s->other);
    assert_null(s->entries[0].place);
    for (uint32_t i = 1 + s->capacity; i < 1 + ITEMS + 1; i++) assert_null(s->entries[i].place);
}

static heap_scene* empty_scene(uint32_t capacity)
{
    static heap_scene scene;
    memset(&scene, 0, sizeof(scene));
    scene.capacity = capacity;
    scene.heap.entries = scene.entries + 1;
    scene.heap.capacity = capacity;
    return &scene;
}

static heap_scene* empty_scene_of_two(uint32_t capacity)
{
    heap_scene* scene = empty_scene(capacity);
    gh_heap_share(&scene->heap, &scene->other, scene->entries + 1, capacity);
    return scene;
}

static bool scene_has_room(const heap_scene* s)
{
    return s->heap.count + s->other.count < s->capacity;
}

static void scene_remove(heap_scene* s, uint32_t i)
{
    gh_heap_remove(s->in[i] == NULL ? &s->heap : s->in[i], &s->places[i]);
    s->in[i] = NULL;
}

static void scene_set(heap_scene* s, gh_heap* heap, uint32_t i, uint64_t due_us)
{
    bool room = s->in[i] != NULL || scene_has_room(s);
    assert_int_equal(gh_heap_set(heap, &s->places[i], due_us), room);
    if (!room) return;
    s->due_us[i] = due_us;
    s->in[i] = heap;
}

static uint64_t draw_time(random_stream* stream)
{
    switch (random_below(stream, 8))
    {
    case 0: return 0;
    case 1: return GH_FOREVER;
    case 2: return random_next(stream);
    default: return random_below(stream, 20); /* many ties */
    }
}

static void the_heap_is_as_a_plain_table(void** state)
{
    (void)state;
    random_stream stream = random_for_test("moves");
    for (uint32_t capacity = 0; capacity <= ITEMS; capacity += 8)
    {
        heap_scene* s = empty_scene(capacity);
        for (int move = 0; move < 2000; move++)
        {
            uint32_t i = (uint32_t)random_below(&stream, ITEMS);
            if (random_one_in(&stream, 3)) scene_remove(s, i);
            else scene_set(s, &s->heap, i, draw_time(&stream));
            check_heaps(s);
        }
    }
}

/* Whatever is in the one and in the other: an array is full when both together fill it, and not before. */
static void two_heaps_of_one_array_are_as_two_tables(void** state)
{
    (void)state;
    random_stream stream = random_for_test("sides");
    for (uint32_t capacity = 0; capacity <= ITEMS; capacity += 8)
    {
        heap_scene* s = empty_scene_of_two(capacity);
        uint32_t times_full = 0;
        for (int move = 0; move < 4000; move++)
        {
            uint32_t i = (uint32_t)random_below(&stream, ITEMS);
            gh_heap* heap = random_below(&stream, 2000) < (uint64_t)move % 2000 ? &s->heap : &s->other;
            if (random_one_in(&stream, 4)) scene_remove(s, i);
            else if (s->in[i] == NULL || s->in[i] == heap) scene_set(s, heap, i, draw_time(&stream));
            else
            {
                scene_remove(s, i); /* it changes over, as full as the array may be */
                assert_true(scene_has_room(s));
                scene_set(s, heap, i, s->due_us[i]);
            }
            if (!scene_has_room(s)) times_full++;
            check_heaps(s);
        }
        if (capacity < ITEMS / 2) assert_in_range(times_full, 100, 4000);
    }
}

static void the_heap_gives_times_in_order(void** state)
{
    (void)state;
    random_stream stream = random_for_test("times");
    heap_scene* s = empty_scene(ITEMS);
    for (uint32_t i = 0; i < ITEMS; i++) scene_set(s, &s->heap, i, draw_time(&stream));
    uint64_t before = 0;
    for (uint32_t left = ITEMS; left > 0; left--)
    {
        uint64_t due_us = gh_heap_due(&s->heap);
        assert_true(due_us >= before);
        before = due_us;
        scene_remove(s, (uint32_t)(gh_heap_at(&s->heap, 0)->place - s->places));
        check_heaps(s);
    }
    assert_true(gh_heap_due(&s->heap) == GH_FOREVER);
    scene_remove(s, 0); /* not in it: nothing happens */
    check_heaps(s);
}

/* ---- Hashes ---- */

static void hashes_are_those_that_other_languages_compute(void** state)
{
    (void)state;
    static const uint8_t digest_of_nothing[16] = {0x99, 0xaa, 0x06, 0xd3, 0x01, 0x47, 0x98, 0xd8,
                                                  0x60, 0x01, 0xc3, 0x24, 0x46, 0x8d, 0x49, 0x7f};
    assert_true(gh_hash_seeded("", 0, 0) == UINT64_C(0x2d06800538d394c2));
    assert_memory_equal(gh_hash_digest("", 0).bytes, digest_of_nothing, 16);
    assert_int_equal(gh_hash_shard("", 0, 1000), UINT64_C(0x2d06800538d394c2) % 1000);
    assert_int_equal(gh_hash_shard("name", 4, 4096), gh_hash_seeded("name", 4, 0) % 4096);
}

static void a_seed_changes_every_hash(void** state)
{
    (void)state;
    char name[16];
    for (int i = 0; i < 200; i++)
    {
        size_t size = (size_t)snprintf(name, sizeof(name), "player%d", i);
        assert_true(gh_hash_seeded(name, size, 1) == gh_hash_seeded(name, size, 1));
        assert_true(gh_hash_seeded(name, size, 1) != gh_hash_seeded(name, size, 2));
    }
}

static void shards_share_the_names_evenly(void** state)
{
    (void)state;
    unsigned counts[16] = {0};
    char name[16];
    for (int i = 0; i < 16000; i++)
    {
        size_t size = (size_t)snprintf(name, sizeof(name), "row%d", i);
        uint32_t shard = gh_hash_shard(name, size, 16);
        assert_true(shard < 16);
        counts[shard]++;
    }
    for (size_t i = 0; i < 16; i++) assert_in_range(counts[i], 850, 1150);
    assert_int_equal(gh_hash_shard("a", 1, 1), 0);
    assert_int_equal(gh_hash_shard("a", 1, 0), 0); /* not a division by zero */
}

static void a_digest_tells_any_flipped_bit(void** state)
{
    (void)state;
    unsigned char bytes[300];
    random_stream stream = random_for_test("bytes");
    random_fill(&stream, bytes, sizeof(bytes));
    gh_digest whole = gh_hash_digest(bytes, sizeof(bytes));
    for (size_t bit = 0; bit < sizeof(bytes) * 8; bit++)
    {
        unsigned char mask = (unsigned char)(1u << bit % 8);
        bytes[bit / 8] ^= mask;
        assert_memory_not_equal(gh_hash_digest(bytes, sizeof(bytes)).bytes, whole.bytes, 16);
        bytes[bit / 8] ^= mask;
    }
    assert_memory_equal(gh_hash_digest(bytes, sizeof(bytes)).bytes, whole.bytes, 16);
}

static uint32_t sum_of(const char* bytes, size_t size)
{
    gh_sum sum = {0, true};
    gh_sum_add(&sum, gh_str_make(bytes, size));
    return sum.value;
}

static void a_sum_tells_any_flipped_bit_and_each_length(void** state)
{
    (void)state;
    random_stream stream = random_for_test("sums");
    char bytes[40];
    random_fill(&stream, bytes, sizeof(bytes));
    for (size_t size = 0; size <= sizeof(bytes); size++)
    {
        uint32_t whole = sum_of(bytes, size);
        if (size > 0) assert_int_not_equal(sum_of(bytes, size - 1), whole);
        for (size_t bit = 0; bit < size * 8; bit++)
        {
            bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
            assert_int_not_equal(sum_of(bytes, size), whole);
            bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        }
        assert_int_equal(sum_of(bytes, size), whole);
    }
    assert_int_equal(sum_of(NULL, 0), sum_of("", 0));
    assert_int_not_equal(sum_of("", 0), sum_of("\0", 1));
}

static void sum_is_of_all_strings_and_only_if_it_is_asked_for(void** state)
{
    (void)state;
    gh_sum one = {0, true};
    gh_sum other = {0, true};
    gh_sum none = {0, false};
    gh_sum_add(&one, gh_str_literal("ab"));
    gh_sum_add(&one, gh_str_literal("c"));
    gh_sum_add(&other, gh_str_literal("a"));
    gh_sum_add(&other, gh_str_literal("bc"));
    gh_sum_add(&none, gh_str_literal("abc"));
    assert_int_not_equal(one.value, other.value);
    assert_int_equal(none.value, 0);
}

TEST_FILE(base, cmocka_unit_test(every_status_has_its_name_and_its_sentence),
          cmocka_unit_test(a_number_that_is_no_status_is_told_as_such),
          cmocka_unit_test(the_families_of_statuses_are_told_by_their_sign),
          cmocka_unit_test(the_library_has_the_version_of_its_headers),
          cmocka_unit_test(strings_are_views_with_a_length), cmocka_unit_test(strings_are_printed_by_their_length),
          cmocka_unit_test(version_is_one_number), cmocka_unit_test(structs_tell_their_size),
          cmocka_unit_test(strings_are_equal_byte_by_byte), cmocka_unit_test(an_arena_measures_what_it_then_cuts),
          cmocka_unit_test(an_arena_that_cannot_say_how_much_has_no_room),
          cmocka_unit_test(an_arena_without_room_gives_nothing_and_writes_nothing),
          cmocka_unit_test(an_arena_aligns_what_hashes), cmocka_unit_test(an_arena_copies_strings_with_a_nul_behind),
          cmocka_unit_test(the_heap_is_as_a_plain_table), cmocka_unit_test(two_heaps_of_one_array_are_as_two_tables),
          cmocka_unit_test(the_heap_gives_times_in_order),
          cmocka_unit_test(hashes_are_those_that_other_languages_compute), cmocka_unit_test(a_seed_changes_every_hash),
          cmocka_unit_test(shards_share_the_names_evenly), cmocka_unit_test(a_digest_tells_any_flipped_bit),
          cmocka_unit_test(a_sum_tells_any_flipped_bit_and_each_length),
          cmocka_unit_test(sum_is_of_all_strings_and_only_if_it_is_asked_for));
