/* test_wire.c -- what Guildhall writes: sdk/src/wire/name.h and request.h. test_reader.c has what it
   reads. */

#include "support/faults/heap.h"
#include "support/random.h"
#include "support/suite.h"
#include "wire/name.h"
#include "wire/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whoever wants two names to share a key, or a name to be taken for something else, would use these. */
static const char nasty[12] = {'a', 'A', '0', '%', ':', '{', '}', '\0', '\r', '\n', '\xff', '7'};

#define NAME_MAX_SIZE    64u
#define ENCODED_MAX_SIZE (NAME_MAX_SIZE * 3u)

typedef struct encoded_name
{
    char bytes[ENCODED_MAX_SIZE + 1];
    size_t size;
} encoded_name;

static encoded_name encode(gh_str name)
{
    encoded_name result;
    memset(&result, 0x7f, sizeof(result));
    result.size = gh_name_encoded_size(name);
    assert_true(result.size <= ENCODED_MAX_SIZE);
    char* end = gh_name_encode(name, result.bytes);
    assert_ptr_equal(end, result.bytes + result.size);
    assert_int_equal(*end, 0x7f); /* not a byte more than it said */
    *end = '\0';
    return result;
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool stays_itself(char c)
{
    return c != '\0' && (is_letter_or_digit(c) || strchr("_.-", c) != NULL);
}

/* Reads it back as KEYS.md tells other languages to. The existence of a way back is what makes an encoding
   injective. */
static size_t decode(const encoded_name* name, char* out)
{
    size_t size = 0;
    for (size_t i = 0; i < name->size; i++)
    {
        char digits[3] = "";
        if (name->bytes[i] != '%')
        {
            assert_true(stays_itself(name->bytes[i]));
            out[size++] = name->bytes[i];
            continue;
        }
        assert_true(i + 2 < name->size);
        memcpy(digits, name->bytes + i + 1, 2);
        assert_int_equal(strspn(digits, "0123456789abcdef"), 2);
        out[size++] = (char)(unsigned char)strtoul(digits, NULL, 16);
        assert_false(stays_itself(out[size - 1])); /* there is one way to write a byte */
        i += 2;
    }
    return size;
}

static void check_round_trip(gh_str name)
{
    char back[NAME_MAX_SIZE];
    encoded_name encoded = encode(name);
    size_t size = decode(&encoded, back);
    assert_true(gh_str_equal(gh_str_make(back, size), name));
    assert_int_equal(gh_name_is_plain(name), encoded.size == name.size);
}

/* ---- Names ---- */

static void names_are_written_as_the_contract_says(void** state)
{
    (void)state;
    static const struct
    {
        gh_str name;
        const char* encoded;
    } table[] = {
        {{"", 0}, ""},
        {{"sword", 5}, "sword"},
        {{"Az09_.-", 7}, "Az09_.-"},
        {{"a:b", 3}, "a%3ab"},
        {{"{tag}", 5}, "%7btag%7d"},
        {{"100%", 4}, "100%25"},
        {{"%3a", 3}, "%253a"},
        {{"a b", 3}, "a%20b"},
        {{"\0", 1}, "%00"},
        {{"\r\n", 2}, "%0d%0a"},
        {{"\xff\x80", 2}, "%ff%80"},
        {{"\xe5\xb0\x8f", 3}, "%e5%b0%8f"},
        {{"/~+*?[]\\\"'", 10}, "%2f%7e%2b%2a%3f%5b%5d%5c%22%27"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
    {
        assert_string_equal(encode(table[i].name).bytes, table[i].encoded);
    }
}

static void each_single_byte_stays_or_becomes_three(void** state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++)
    {
        char c = (char)(unsigned char)byte;
        gh_str name = gh_str_make(&c, 1);
        assert_int_equal(gh_name_encoded_size(name), stays_itself(c) ? 1 : 3);
        assert_int_equal(gh_name_is_plain(name), stays_itself(c));
        check_round_trip(name);
    }
    assert_true(gh_name_is_plain(gh_str_make(NULL, 0)));
}

static void all_pairs_of_bytes_come_back(void** state)
{
    (void)state;
    char bytes[2];
    for (unsigned pair = 0; pair < 65536; pair++)
    {
        bytes[0] = (char)(unsigned char)(pair >> 8);
        bytes[1] = (char)(unsigned char)(pair & 255);
        check_round_trip(gh_str_make(bytes, 2));
    }
}

#define SHORT_NAMES (1u + 12u + 12u * 12u + 12u * 12u * 12u)

static int compare_encoded(const void* a, const void* b)
{
    return strcmp(a, b);
}

static void no_two_short_nasty_names_share_an_encoding(void** state)
{
    (void)state;
    static char all[SHORT_NAMES][10];
    size_t count = 0;
    for (unsigned size = 0; size <= 3; size++)
    {
        unsigned words = size == 0 ? 1 : size == 1 ? 12 : size == 2 ? 144 : 1728;
        for (unsigned word = 0; word < words; word++)
        {
            char name[3] = {nasty[word % 12], nasty[word / 12 % 12], nasty[word / 144]};
            encoded_name encoded = encode(gh_str_make(name, size));
            memcpy(all[count++], encoded.bytes, encoded.size + 1);
        }
    }
    assert_int_equal(count, SHORT_NAMES);
    qsort(all, count, sizeof(all[0]), compare_encoded);
    for (size_t i = 1; i < count; i++) assert_string_not_equal(all[i - 1], all[i]);
}

static size_t draw_name(random_stream* stream, char* name)
{
    size_t size = (size_t)random_below(stream, NAME_MAX_SIZE + 1);
    bool any = random_one_in(stream, 2);
    for (size_t i = 0; i < size; i++)
    {
        uint64_t draw = random_next(stream);
        name[i] = any ? (char)(unsigned char)(draw >> 56) : nasty[draw % 12];
    }
    return size;
}

/* Pairs that differ little are the ones that could meet. */
static size_t change_a_little(random_stream* stream, const char* from, size_t size, char* name)
{
    memcpy(name, from, size);
    if (size == 0 || (size < NAME_MAX_SIZE && random_one_in(stream, 3)))
    {
        name[size] = nasty[random_below(stream, 12)];
        return size + 1;
    }
    if (random_one_in(stream, 3)) return size - 1;
    name[random_below(stream, size)] = nasty[random_below(stream, 12)];
    return size;
}

static void random_names_come_back_and_differ_when_they_differ(void** state)
{
    (void)state;
    char a[NAME_MAX_SIZE], b[NAME_MAX_SIZE];
    random_stream stream = random_for_test("names");
    for (int i = 0; i < 20000; i++)
    {
        gh_str first = gh_str_make(a, draw_name(&stream, a));
        gh_str second = gh_str_make(b, change_a_little(&stream, a, first.size, b));
        check_round_trip(first);
        encoded_name one = encode(first), other = encode(second);
        assert_int_equal(strcmp(one.bytes, other.bytes) == 0, gh_str_equal(first, second));
    }
}

/* ---- Numbers ---- */

static void numbers_are_written_in_decimal(void** state)
{
    (void)state;
    random_stream stream = random_for_test("numbers");
    for (int i = 0; i < 2000; i++)
    {
        uint64_t ten = 1;
        for (int zeros = i % 20; zeros > 0; zeros--) ten *= 10;
        uint64_t number = i < 20 ? ten : i < 40 ? ten - 1 : random_next(&stream) >> random_below(&stream, 64);
        if (i == 40) number = UINT64_MAX;
        char text[24], expected[24];
        memset(text, 0x7f, sizeof(text));
        char* end = gh_decimal_encode(number, text);
        assert_true(end <= text + 20);
        assert_int_equal(*end, 0x7f);
        *end = '\0';
        snprintf(expected, sizeof(expected), "%" PRIu64, number);
        assert_string_equal(text, expected);
    }
}

static void numbers_are_written_and_read_in_hexadecimal(void** state)
{
    (void)state;
    random_stream stream = random_for_test("numbers");
    for (int i = 0; i < 2000; i++)
    {
        uint64_t number = i == 0 ? 0 : i == 1 ? UINT64_MAX : random_next(&stream) >> random_below(&stream, 64);
        uint64_t back = ~number;
        char text[24], expected[24];
        memset(text, 0x7f, sizeof(text));
        assert_ptr_equal(gh_hex_encode(number, text), text + 16);
        assert_int_equal(text[16], 0x7f);
        snprintf(expected, sizeof(expected), "%016" PRIx64, number);
        assert_memory_equal(text, expected, 16);
        assert_true(gh_hex_decode(gh_str_make(text, 16), &back));
        assert_true(back == number);
    }
}

static void what_is_no_hexadecimal_number_is_refused(void** state)
{
    (void)state;
    static const char good[] = "0123456789abcdef";
    uint64_t value = 77;
    for (unsigned byte = 0; byte < 256; byte++)
    {
        char c = (char)(unsigned char)byte;
        bool digit = c != '\0' && strchr(good, c) != NULL;
        for (size_t at = 0; at < 16; at++)
        {
            char text[17];
            memcpy(text, good, sizeof(text));
            text[at] = c;
            value = 77;
            assert_int_equal(gh_hex_decode(gh_str_make(text, 16), &value), digit);
            if (!digit) assert_true(value == 77);
        }
    }
    value = 77;
    for (size_t size = 0; size < 16; size++) assert_false(gh_hex_decode(gh_str_make(good, size), &value));
    assert_false(gh_hex_decode(gh_str_literal("0123456789abcdef0"), &value));
    assert_true(value == 77);
}

/* As it is written, and in no other way. */
static void what_is_no_token_is_refused(void** state)
{
    (void)state;
    static const char good[] = "0123456789abcdef:fedcba9876543210";
    uint64_t client = 0;
    uint64_t sequence = 0;
    assert_int_equal(sizeof(good) - 1, GH_TOKEN_SIZE);
    assert_true(gh_token_decode(gh_str_make(good, GH_TOKEN_SIZE), &client, &sequence));
    assert_true(client == UINT64_C(0x0123456789abcdef) && sequence == UINT64_C(0xfedcba9876543210));
    for (size_t size = 0; size < GH_TOKEN_SIZE; size++)
        assert_false(gh_token_decode(gh_str_make(good, size), &client, &sequence));
    assert_false(gh_token_decode(gh_str_make(good, sizeof(good)), &client, &sequence));
    for (size_t at = 0; at < GH_TOKEN_SIZE; at++)
    {
        for (unsigned byte = 0; byte < 256; byte++)
        {
            char text[sizeof(good)];
            memcpy(text, good, sizeof(text));
            text[at] = (char)(unsigned char)byte;
            bool fits = at == 16 ? text[at] == ':' : byte != 0 && strchr("0123456789abcdef", text[at]) != NULL;
            assert_int_equal(gh_token_decode(gh_str_make(text, GH_TOKEN_SIZE), &client, &sequence), fits);
        }
    }
}

/* ---- Requests ---- */

#define OUT_SIZE 512u
#define CANARY   '\x7f'

typedef void (*request_writer)(gh_request* request);

/* Writes into a buffer of that capacity; the bytes behind it must stay. Returns the size, or SIZE_MAX when
   full. */
static size_t write_within(request_writer writer, size_t capacity, char out[OUT_SIZE])
{
    memset(out, CANARY, OUT_SIZE);
    gh_request request = {.at = out, .end = out + capacity};
    writer(&request);
    for (size_t i = capacity; i < OUT_SIZE; i++) assert_int_equal(out[i], CANARY);
    assert_true(request.at >= out && request.at <= out + capacity);
    return request.full ? SIZE_MAX : (size_t)(request.at - out);
}

static void write_a_command(gh_request* request)
{
    gh_request_array(request, 4);
    gh_request_str(request, gh_str_literal("SET"));
    gh_request_str(request, gh_str_literal("a\r\nb\0c"));
    gh_request_str(request, gh_str_make(NULL, 0));
    gh_request_number(request, UINT64_MAX);
}

static void write_joined(gh_request* request)
{
    gh_request_joined(request, gh_str_literal("one"), gh_str_literal("two"));
    gh_request_joined(request, gh_str_make(NULL, 0), gh_str_literal("two"));
    gh_request_joined(request, gh_str_literal("one"), gh_str_make(NULL, 0));
}

static void write_token(gh_request* request)
{
    gh_request_token(request, 0x1234abcdu, UINT64_MAX);
}

static void write_key(gh_request* request)
{
    gh_request_keys(request, gh_str_literal("gh"), gh_str_literal("lock"), gh_str_literal("a:{b}"), "s");
}

static void write_evalsha(gh_request* request)
{
    gh_request_evalsha(request, "0123456789abcdef0123456789abcdef01234567 and no more", 10, 1);
}

static void write_empty_array(gh_request* request)
{
    gh_request_array(request, 0);
    gh_request_array(request, UINT32_MAX);
}

#define TEXT(literal) {literal, sizeof(literal) - 1}

static const struct
{
    request_writer writer;
    gh_str text;
} requests[] = {
    {write_a_command, TEXT("*4\r\n$3\r\nSET\r\n$6\r\na\r\nb\0c\r\n$0\r\n\r\n$20\r\n18446744073709551615\r\n")},
    {write_joined, TEXT("$6\r\nonetwo\r\n$3\r\ntwo\r\n$3\r\none\r\n")},
    {write_token, TEXT("$33\r\n000000001234abcd:ffffffffffffffff\r\n")},
    {write_key, TEXT("$23\r\ngh:{lock:a%3a%7bb%7d}:s\r\n")},
    {write_evalsha, TEXT("*14\r\n$7\r\nEVALSHA\r\n$40\r\n0123456789abcdef0123456789abcdef01234567\r\n$2\r\n10\r\n")},
    {write_empty_array, TEXT("*0\r\n*4294967295\r\n")},
};

#define REQUEST_COUNT (sizeof(requests) / sizeof(requests[0]))

static void requests_are_written_to_the_byte(void** state)
{
    (void)state;
    char out[OUT_SIZE];
    for (size_t i = 0; i < REQUEST_COUNT; i++)
    {
        size_t size = write_within(requests[i].writer, OUT_SIZE, out);
        assert_int_equal(size, requests[i].text.size);
        assert_memory_equal(out, requests[i].text.bytes, size);
    }
}

/* Room is asked for in advance and a little generously; but what fits is whole, and what does not fit says
   so. */
static void requests_fit_whole_or_say_that_they_do_not(void** state)
{
    (void)state;
    char out[OUT_SIZE];
    for (size_t i = 0; i < REQUEST_COUNT; i++)
    {
        size_t true_size = requests[i].text.size;
        bool fitted = false;
        for (size_t capacity = 0; capacity <= true_size + 32; capacity++)
        {
            size_t size = write_within(requests[i].writer, capacity, out);
            bool fits = size != SIZE_MAX;
            if (capacity < true_size) assert_false(fits);
            if (capacity >= true_size + 26) assert_true(fits);
            assert_false(fitted && !fits); /* more room never fits less */
            if (fits) assert_int_equal(size, true_size);
            if (fits) assert_memory_equal(out, requests[i].text.bytes, true_size);
            fitted = fits;
        }
    }
}

static void a_full_request_stays_full(void** state)
{
    (void)state;
    char out[OUT_SIZE];
    memset(out, CANARY, sizeof(out));
    gh_request request = {.at = out, .end = out + 64};
    gh_request_str(&request, gh_str_make(out + 128, 100));
    assert_true(request.full);
    gh_request_array(&request, 1);
    gh_request_str(&request, gh_str_literal("x"));
    gh_request_number(&request, 1);
    gh_request_token(&request, 1, 1);
    gh_request_evalsha(&request, "0123456789abcdef0123456789abcdef01234567", 1, 1);
    gh_request_keys(&request, gh_str_literal("g"), gh_str_literal("l"), gh_str_literal("n"), "s");
    assert_ptr_equal(request.at, out);
    for (size_t i = 0; i < sizeof(out); i++) assert_int_equal(out[i], CANARY);
}

/* The bound that callers use ahead of time must never be smaller than what is written. */
static void a_string_takes_no_more_than_its_bound(void** state)
{
    (void)state;
    static char bytes[70000], out[70100];
    static const size_t sizes[] = {0, 1, 9, 10, 11, 99, 100, 101, 999, 1000, 9999, 10000, 65535, 65536, 70000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
    {
        gh_request request = {.at = out, .end = out + sizeof(out)};
        gh_request_str(&request, gh_str_make(bytes, sizes[i]));
        assert_false(request.full);
        assert_true((size_t)(request.at - out) <= gh_request_str_size(sizes[i]));
    }
}

/* Takes one argument off the front, as a server would. */
static gh_str read_argument(const char** at, const char* end)
{
    char* digits_end = NULL;
    assert_true(*at < end && **at == '$');
    size_t size = (size_t)strtoul(*at + 1, &digits_end, 10);
    assert_memory_equal(digits_end, "\r\n", 2);
    gh_str argument = gh_str_make(digits_end + 2, size);
    assert_true(argument.bytes + size + 2 <= end);
    assert_memory_equal(argument.bytes + size, "\r\n", 2);
    *at = argument.bytes + size + 2;
    return argument;
}

/* Whatever is in the arguments, the server sees the same arguments, and nothing else. */
static void random_requests_are_understood_as_they_were_meant(void** state)
{
    (void)state;
    static char bytes[8][NAME_MAX_SIZE], out[2048];
    random_stream stream = random_for_test("requests");
    for (int round = 0; round < 5000; round++)
    {
        gh_str arguments[8];
        uint32_t count = (uint32_t)random_between(&stream, 1, 8);
        gh_request request = {.at = out, .end = out + sizeof(out)};
        gh_request_array(&request, count);
        for (uint32_t i = 0; i < count; i++)
        {
            arguments[i] = gh_str_make(bytes[i], draw_name(&stream, bytes[i]));
            size_t cut = (size_t)random_below(&stream, arguments[i].size + 1);
            gh_request_joined(&request, gh_str_make(bytes[i], cut),
                              gh_str_make(bytes[i] + cut, arguments[i].size - cut));
        }
        assert_false(request.full);
        const char* at = out + 4;
        for (uint32_t i = 0; i < count; i++) assert_true(gh_str_equal(read_argument(&at, request.at), arguments[i]));
        assert_ptr_equal(at, request.at);
    }
}

/* A key names its prefix, kind, name and part in one way only: cut at ":{", at the first ':' after it, and at
   "}:". */
static void keys_are_taken_apart_in_one_way(void** state)
{
    (void)state;
    char name[NAME_MAX_SIZE], back[NAME_MAX_SIZE], out[512];
    random_stream stream = random_for_test("keys");
    for (int round = 0; round < 5000; round++)
    {
        gh_request request = {.at = out, .end = out + sizeof(out)};
        gh_str given = gh_str_make(name, draw_name(&stream, name));
        gh_request_keys(&request, gh_str_literal("g-h.1"), gh_str_literal("lock"), given, "q");
        assert_false(request.full);
        const char* at = out;
        gh_str key = read_argument(&at, request.at);
        assert_ptr_equal(at, request.at);
        assert_memory_equal(key.bytes, "g-h.1:{lock:", 12);
        assert_memory_equal(key.bytes + key.size - 3, "}:q", 3);
        encoded_name encoded = {.size = key.size - 15};
        memcpy(encoded.bytes, key.bytes + 12, encoded.size);
        /* The slot is the object's, whatever its name. */
        assert_null(memchr(encoded.bytes, '{', encoded.size));
        assert_null(memchr(encoded.bytes, '}', encoded.size));
        assert_null(memchr(encoded.bytes, ':', encoded.size));
        size_t size = decode(&encoded, back);
        assert_true(gh_str_equal(gh_str_make(back, size), given));
    }
}

static void writing_takes_nothing_from_the_heap(void** state)
{
    (void)state;
    char out[OUT_SIZE];
    assert_true(heap_watch_works());
    heap_watch_begin();
    for (size_t i = 0; i < REQUEST_COUNT; i++)
    {
        gh_request request = {.at = out, .end = out + sizeof(out)};
        requests[i].writer(&request);
    }
    heap_counts seen = heap_watch_end();
    assert_int_equal(seen.total, 0);
}

/* After the last of a script's keys comes one of the same object that never exists, in each way to write keys. */
static void phantom_comes_after_the_last_key(void** state)
{
    (void)state;
    static const char digest[] = "0123456789012345678901234567890123456789";
    char out[1024];
    gh_request request = {.at = out, .end = out + sizeof(out), .phantom = '-'};
    gh_request_evalsha(&request, digest, 3, 1);
    gh_request_keys(&request, gh_str_literal("gh"), gh_str_literal("chat"), gh_str_literal("a:b"), "sm");
    gh_request_shelf_key(&request, gh_str_literal("gh"), gh_str_literal("chat"), gh_str_literal("a:b"),
                         0xab00000000000000u);
    gh_request_number(&request, 7);
    static const char expected[] = "*8\r\n$7\r\nEVALSHA\r\n$40\r\n0123456789012345678901234567890123456789\r\n"
                                   "$1\r\n4\r\n"
                                   "$17\r\ngh:{chat:a%3ab}:s\r\n$17\r\ngh:{chat:a%3ab}:m\r\n"
                                   "$19\r\ngh:{chat:a%3ab}:wab\r\n"
                                   "$17\r\ngh:{chat:a%3ab}:-\r\n$1\r\n7\r\n";
    assert_false(request.full);
    assert_int_equal(request.at - out, sizeof(expected) - 1);
    assert_memory_equal(out, expected, sizeof(expected) - 1);
    request = (gh_request){.at = out, .end = out + sizeof(out), .phantom = '-'};
    gh_request_evalsha(&request, digest, 1, 0);
    gh_request_key(&request, gh_str_literal("gh:{rows:5}:d"));
    static const char one[] = "*5\r\n$7\r\nEVALSHA\r\n$40\r\n0123456789012345678901234567890123456789\r\n"
                              "$1\r\n2\r\n"
                              "$13\r\ngh:{rows:5}:d\r\n$13\r\ngh:{rows:5}:-\r\n";
    assert_int_equal(request.at - out, sizeof(one) - 1);
    assert_memory_equal(out, one, sizeof(one) - 1);
}

/* ECHO <first> <joined of both> <number>, as a sum */
static uint32_t sum_of(const char* first, const char* second, uint64_t number)
{
    gh_request sum = gh_request_sum();
    gh_request_array(&sum, 4);
    gh_request_str(&sum, gh_str_literal("ECHO"));
    gh_request_keys(&sum, gh_str_literal("gh"), gh_str_literal("chat"), gh_str_literal("a"), "sm");
    gh_request_str(&sum, gh_str_of(first));
    gh_request_joined(&sum, gh_str_of(first), gh_str_of(second));
    gh_request_number(&sum, number);
    gh_request_token(&sum, number, number);
    assert_null(gh_request_bulk(&sum, 1));
    assert_null(sum.at);
    return sum.sum.value;
}

static void sum_is_of_its_strings_and_of_no_number(void** state)
{
    (void)state;
    const uint32_t sum = sum_of("abc", "def", 7);
    assert_int_equal(sum_of("abc", "def", 123456789), sum);
    assert_int_not_equal(sum_of("abd", "def", 7), sum);
    assert_int_not_equal(sum_of("abc", "deg", 7), sum);
    assert_int_not_equal(sum_of("ab", "cdef", 7), sum);
    assert_int_not_equal(sum_of("abc", "", 7), sum);
}

/* What has a buffer, however small, adds nothing up. */
static void full_request_is_no_sum(void** state)
{
    (void)state;
    char out[4];
    gh_request request = {.at = out, .end = out + sizeof(out)};
    gh_request_str(&request, gh_str_literal("abc"));
    gh_request_joined(&request, gh_str_literal("abc"), gh_str_literal("def"));
    assert_true(request.full);
    assert_false(gh_request_is_sum(&request));
    assert_int_equal(request.sum.value, 0);
}

TEST_FILE(wire, cmocka_unit_test(names_are_written_as_the_contract_says),
          cmocka_unit_test(each_single_byte_stays_or_becomes_three), cmocka_unit_test(all_pairs_of_bytes_come_back),
          cmocka_unit_test(no_two_short_nasty_names_share_an_encoding),
          cmocka_unit_test(random_names_come_back_and_differ_when_they_differ),
          cmocka_unit_test(numbers_are_written_in_decimal),
          cmocka_unit_test(numbers_are_written_and_read_in_hexadecimal),
          cmocka_unit_test(what_is_no_hexadecimal_number_is_refused), cmocka_unit_test(what_is_no_token_is_refused),
          cmocka_unit_test(requests_are_written_to_the_byte),
          cmocka_unit_test(requests_fit_whole_or_say_that_they_do_not), cmocka_unit_test(a_full_request_stays_full),
          cmocka_unit_test(a_string_takes_no_more_than_its_bound),
          cmocka_unit_test(random_requests_are_understood_as_they_were_meant),
          cmocka_unit_test(keys_are_taken_apart_in_one_way), cmocka_unit_test(writing_takes_nothing_from_the_heap),
          cmocka_unit_test(phantom_comes_after_the_last_key), cmocka_unit_test(sum_is_of_its_strings_and_of_no_number),
          cmocka_unit_test(full_request_is_no_sum));
