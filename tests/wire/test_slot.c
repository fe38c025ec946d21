/* test_slot.c -- sdk/src/wire/slot.h: slots of keys, by the rule and by a server; the tags of the groups, computed. */

#include "support/random.h"
#include "support/server/redis_server.h"
#include "support/suite.h"
#include "wire/slot.h"

#include <stdio.h>
#include <string.h>

/* Bit by bit, as the polynomial says. */
static uint16_t crc_by_bits(const char* bytes, size_t size)
{
    unsigned crc = 0;
    for (size_t i = 0; i < size; i++)
    {
        crc ^= (unsigned)(unsigned char)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++) crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
    }
    return (uint16_t)crc;
}

static void crc_is_that_of_xmodem(void** state)
{
    char bytes[64];
    random_stream stream = random_for_test("crc");
    (void)state;
    assert_int_equal(gh_slot_crc(0, "123456789", 9), 0x31c3);
    assert_int_equal(gh_slot_crc(0, NULL, 0), 0);
    for (int byte = 0; byte < 256; byte++)
    {
        bytes[0] = (char)byte;
        assert_int_equal(gh_slot_crc(0, bytes, 1), crc_by_bits(bytes, 1));
    }
    for (int round = 0; round < 10000; round++)
    {
        size_t size = (size_t)random_below(&stream, sizeof(bytes));
        size_t cut = (size_t)random_below(&stream, size + 1);
        random_fill(&stream, bytes, size);
        uint16_t whole = gh_slot_crc(0, bytes, size);
        assert_int_equal(whole, crc_by_bits(bytes, size));
        assert_int_equal(gh_slot_crc(gh_slot_crc(0, bytes, cut), bytes + cut, size - cut), whole);
    }
}

static void what_stands_in_the_braces_decides(void** state)
{
    static const char* const rows[][2] = {
        {"", ""},
        {"foo", "foo"},
        {"{user1000}.following", "user1000"},
        {"gh:{lock:x}:s", "lock:x"},
        {"foo{}{bar}", "foo{}{bar}"},
        {"foo{{bar}}zap", "{bar"},
        {"foo{bar}{zap}", "bar"},
        {"}a{b}", "b"},
        {"a}b", "a}b"},
        {"{", "{"},
        {"{}", "{}"},
        {"{a", "{a"},
        {"a{", "a{"},
        {"{}a}", "{}a}"},
        {"x{y}", "y"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        gh_str tag = gh_slot_tag(gh_str_of(rows[i][0]));
        if (!gh_str_equal(tag, gh_str_of(rows[i][1]))) fail_msg("'%s' decides in '%s'", rows[i][1], rows[i][0]);
        assert_int_equal(gh_slot_of_key(gh_str_of(rows[i][0])), crc_by_bits(rows[i][1], strlen(rows[i][1])) % GH_SLOTS);
    }
    assert_int_equal(gh_slot_of_key(gh_str_make(NULL, 0)), 0);
    assert_int_equal(gh_slot_of_key(gh_str_literal("{\0}x")), gh_slot_of_key(gh_str_literal("\0")));
}

/* Made of few letters, so that braces come in every order. */
static size_t make_key(random_stream* stream, char key[24])
{
    static const char letters[] = "{{}}ab\0\xff";
    size_t size = (size_t)random_below(stream, 24);
    for (size_t i = 0; i < size; i++) key[i] = letters[random_below(stream, sizeof(letters) - 1)];
    return size;
}

static void a_server_says_the_same(void** state)
{
    redis_server* node = redis_server_cluster_node();
    random_stream stream = random_for_test("keys");
    (void)state;
    for (int round = 0; round < 2000; round++)
    {
        char key[24];
        size_t size = make_key(&stream, key);
        assert_int_equal(gh_slot_of_key(gh_str_make(key, size)),
                         redis_server_integer(node, "CLUSTER KEYSLOT %b", key, size));
    }
}

static void each_group_has_its_smallest_tag(void** state)
{
    unsigned found[GH_SLOT_GROUPS];
    unsigned count = 0, largest = 0;
    (void)state;
    memset(found, 0xff, sizeof(found));
    for (unsigned number = 0; count < GH_SLOT_GROUPS; number++)
    {
        char key[32];
        int size = snprintf(key, sizeof(key), "gh:{%u}:epoch", number);
        uint32_t group = gh_slot_of_key(gh_str_make(key, (size_t)size)) / GH_SLOT_GROUP_SLOTS;
        if (found[group] != UINT32_MAX) continue;
        found[group] = largest = number;
        count++;
    }
    assert_int_equal(largest, GH_SLOT_GROUP_TAG_MAX);
    for (uint32_t group = 0; group < GH_SLOT_GROUPS; group++) assert_int_equal(gh_slot_group_tag(group), found[group]);
}

TEST_FILE(slot, cmocka_unit_test(crc_is_that_of_xmodem), cmocka_unit_test(what_stands_in_the_braces_decides),
          cmocka_unit_test(a_server_says_the_same), cmocka_unit_test(each_group_has_its_smallest_tag));
