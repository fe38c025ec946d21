/* Tests of samples/game_server/messages.h: what comes over the network is never trusted. */

#include "support/random.h"
#include "support/suite.h"

#include "messages.h"

#include <stdlib.h>
#include <string.h>

static message full_message(char* name, char* text)
{
    memset(name, 'n', MESSAGE_NAME_MAX);
    memset(text, 't', MESSAGE_TEXT_MAX);
    return (message){.type = MESSAGE_SORRY,
                     .number = UINT32_MAX,
                     .values = {INT64_MIN, INT64_MAX, -1, 0},
                     .name = gh_str_make(name, MESSAGE_NAME_MAX),
                     .text = gh_str_make(text, MESSAGE_TEXT_MAX)};
}

static bool are_same(const message* a, const message* b)
{
    return a->type == b->type && a->number == b->number && memcmp(a->values, b->values, sizeof(a->values)) == 0 &&
           gh_str_equal(a->name, b->name) && gh_str_equal(a->text, b->text);
}

static void what_is_written_is_read(void** state)
{
    (void)state;
    char name[MESSAGE_NAME_MAX];
    char text[MESSAGE_TEXT_MAX];
    const message written[] = {
        full_message(name, text),
        {.type = MESSAGE_ENTER},
        {.type = MESSAGE_BUY, .number = 7, .values = {1, 2, 3, 4}, .name = gh_str_literal("Runa0007")},
        {.type = MESSAGE_SAY, .name = gh_str_literal("zone-1"), .text = gh_str_literal("with a \0 in it")},
    };
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
    {
        unsigned char bytes[MESSAGE_SIZE_MAX];
        size_t size = message_write(&written[i], bytes);
        message read;
        assert_true(size > 0);
        assert_true(message_read(&read, bytes, size));
        assert_true(are_same(&written[i], &read));
    }
}

static void the_bytes_do_not_depend_on_the_machine(void** state)
{
    (void)state;
    static const unsigned char expected[] = {3, 2, 1, 0, 0, 254, 255, 255, 255, 255, 255, 255, 255, 0, 0,
                                             0, 0, 0, 0, 0, 0,   0,   0,   0,   0,   0,   0,   0,   0, 0,
                                             0, 0, 0, 0, 0, 0,   0,   1,   'z', 2,   0,   'h', 'i'};
    message m = {
        .type = MESSAGE_SAY, .number = 258, .values = {-2}, .name = gh_str_literal("z"), .text = gh_str_literal("hi")};
    unsigned char bytes[MESSAGE_SIZE_MAX];
    assert_int_equal(message_write(&m, bytes), sizeof(expected));
    assert_memory_equal(bytes, expected, sizeof(expected));
}

static void what_is_too_long_is_not_written(void** state)
{
    (void)state;
    static const char long_text[MESSAGE_TEXT_MAX + 1];
    unsigned char bytes[MESSAGE_SIZE_MAX];
    message m = {.type = MESSAGE_SAY, .name = gh_str_make(long_text, MESSAGE_NAME_MAX + 1)};
    assert_int_equal(message_write(&m, bytes), 0);
    m.name.size = MESSAGE_NAME_MAX;
    m.text = gh_str_make(long_text, MESSAGE_TEXT_MAX + 1);
    assert_int_equal(message_write(&m, bytes), 0);
    m.text.size = MESSAGE_TEXT_MAX;
    assert_int_equal(message_write(&m, bytes), MESSAGE_SIZE_MAX);
}

/* Each size in a block of its own, so that a sanitizer sees a read past the end. */
static bool reads(const unsigned char* bytes, size_t size)
{
    unsigned char* block = malloc(size == 0 ? 1 : size);
    assert_non_null(block);
    if (size > 0) memcpy(block, bytes, size);
    message m;
    bool whole = message_read(&m, block, size);
    free(block);
    return whole;
}

static void no_other_size_is_a_message(void** state)
{
    (void)state;
    char name[MESSAGE_NAME_MAX];
    char text[MESSAGE_TEXT_MAX];
    message m = full_message(name, text);
    unsigned char bytes[MESSAGE_SIZE_MAX + 1] = {0};
    size_t size = message_write(&m, bytes);
    assert_true(reads(bytes, size));
    for (size_t less = 0; less < size; less++) assert_false(reads(bytes, less));
    assert_false(reads(bytes, size + 1));
}

static void no_other_type_is_a_message(void** state)
{
    (void)state;
    message m = {.type = MESSAGE_ENTER};
    unsigned char bytes[MESSAGE_SIZE_MAX];
    size_t size = message_write(&m, bytes);
    for (unsigned type = 0; type < 256; type++)
    {
        bytes[0] = (unsigned char)type;
        bool known =
            (type >= MESSAGE_ENTER && type <= MESSAGE_LOOK) || (type >= MESSAGE_QUEUED && type <= MESSAGE_SORRY);
        assert_int_equal(reads(bytes, size), known);
    }
}

static void sizes_beyond_the_caps_are_refused(void** state)
{
    (void)state;
    unsigned char bytes[4096] = {MESSAGE_SAY};
    enum
    {
        NAME_SIZE_AT = 1 + 4 + 8 * MESSAGE_VALUES
    };
    bytes[NAME_SIZE_AT] = MESSAGE_NAME_MAX + 1; /* and all its bytes are there */
    assert_false(reads(bytes, NAME_SIZE_AT + 1 + MESSAGE_NAME_MAX + 1 + 2));
    bytes[NAME_SIZE_AT] = 0;
    bytes[NAME_SIZE_AT + 1] = (MESSAGE_TEXT_MAX + 1) & 255;
    bytes[NAME_SIZE_AT + 2] = (MESSAGE_TEXT_MAX + 1) >> 8;
    assert_false(reads(bytes, NAME_SIZE_AT + 3 + MESSAGE_TEXT_MAX + 1));
}

/* Whatever comes is refused, or is one message that would be written just like that. */
static void hostile_bytes_are_refused_or_harmless(void** state)
{
    (void)state;
    random_stream random = random_for_test("bytes");
    size_t read = 0;
    for (int i = 0; i < 100000; i++)
    {
        unsigned char bytes[200];
        size_t size = (size_t)random_below(&random, sizeof(bytes) + 1);
        random_fill(&random, bytes, size);
        if (size > 39 && random_one_in(&random, 2)) /* sizes that nearly fit */
        {
            bytes[37] = (unsigned char)random_below(&random, size - 38);
            size_t text_at = 38u + bytes[37];
            if (text_at + 2 <= size) bytes[text_at] = (unsigned char)(size - text_at - 2), bytes[text_at + 1] = 0;
        }
        message m;
        if (!message_read(&m, bytes, size)) continue;
        read++;
        unsigned char again[MESSAGE_SIZE_MAX];
        assert_int_equal(message_write(&m, again), size);
        assert_memory_equal(again, bytes, size);
    }
    assert_true(read > 100);
}

static int compare_names(const void* a, const void* b)
{
    return strcmp(a, b);
}

static void each_player_has_a_name_of_his_own(void** state)
{
    (void)state;
    static char names[PLAYERS_MAX][PLAYER_NAME_SIZE];
    for (uint32_t i = 0; i < PLAYERS_MAX; i++)
    {
        gh_str name = player_name(i, names[i]);
        assert_int_equal(strlen(names[i]), name.size);
        assert_true(name.size >= 7 && name.size < MESSAGE_NAME_MAX);
    }
    qsort(names, PLAYERS_MAX, sizeof(names[0]), compare_names);
    for (uint32_t i = 1; i < PLAYERS_MAX; i++) assert_string_not_equal(names[i - 1], names[i]);
    char largest[PLAYER_NAME_SIZE];
    assert_int_equal(strlen(largest), player_name(UINT32_MAX, largest).size);
}

TEST_FILE(game_messages, cmocka_unit_test(what_is_written_is_read),
          cmocka_unit_test(the_bytes_do_not_depend_on_the_machine), cmocka_unit_test(what_is_too_long_is_not_written),
          cmocka_unit_test(no_other_size_is_a_message), cmocka_unit_test(no_other_type_is_a_message),
          cmocka_unit_test(sizes_beyond_the_caps_are_refused), cmocka_unit_test(hostile_bytes_are_refused_or_harmless),
          cmocka_unit_test(each_player_has_a_name_of_his_own));
