/* test_slots_reader.c -- sdk/src/wire/slots_reader.h: what it makes of each form of an answer, that it is the same
   however the bytes are cut, and of bytes that are damaged what hiredis makes of them. */

#include "support/suite.h"
#include "wire/scan.h"
#include "wire/slots_answer.h"

#include <stdio.h>
#include <string.h>

#define NODE(host, port) "*2\r\n$" host "\r\n:" port "\r\n"

static const char three_nodes[] = "*3\r\n"
                                  "*4\r\n:0\r\n:5460\r\n"
                                  "*4\r\n$9\r\n10.0.0.71\r\n:6379\r\n$2\r\nid\r\n*2\r\n$8\r\nhostname\r\n$4\r\nn1.x\r\n"
                                  "*3\r\n$9\r\n10.0.0.72\r\n:6379\r\n$2\r\nid\r\n"
                                  "*3\r\n:5461\r\n:10922\r\n"
                                  "*4\r\n$-1\r\n:6380\r\n$2\r\nid\r\n*0\r\n"
                                  "*3\r\n:10923\r\n:16383\r\n"
                                  "*3\r\n$11\r\n2001:db8::7\r\n:6379\r\n$2\r\nid\r\n";

static const char three_rows[] = "0-5460 10.0.0.71:6379 n1.x 1\n"
                                 "5461-10922 asked:6380 - 0\n"
                                 "10923-16383 2001:db8::7:6379 - 0\n"
                                 "done\n";

static void must_read(const char* bytes, size_t size, const char* expected)
{
    byte_buffer text = {0};
    slots_read(&text, bytes, size, NULL, 0);
    if (strcmp(text.bytes, expected) != 0) fail_msg("%s\nis read as\n%snot as\n%s", bytes, text.bytes, expected);
    buffer_free(&text);
}

static void must_read_text(const char* bytes, const char* expected)
{
    must_read(bytes, strlen(bytes), expected);
}

static void rows_are_read(void** state)
{
    (void)state;
    must_read_text(three_nodes, three_rows);
    must_read_text("*0\r\n", "done\n");
    assert_true(sizeof(gh_slots_reader) <= 592);
}

/* One piece, two pieces with the cut anywhere, bytes one by one. And what comes behind the answer is left alone. */
static void a_cut_changes_nothing(void** state)
{
    (void)state;
    for (size_t cut = 0; cut < sizeof(three_nodes); cut++)
    {
        gh_slots_reader reader;
        byte_buffer text = {0};
        size_t used = 0, size = sizeof(three_nodes) - 1;
        gh_slots_reader_begin(&reader);
        gh_slots_read result = GH_SLOTS_MORE;
        for (size_t at = 0; result == GH_SLOTS_MORE || result == GH_SLOTS_ROW; at += used)
        {
            size_t end = at < cut ? cut : size;
            result = gh_slots_reader_next(&reader, three_nodes + at, end - at, &used);
            if (at == size && result == GH_SLOTS_MORE) fail_msg("no end, cut at %zu", cut);
            if (result == GH_SLOTS_ROW) slots_print(&text, "%u-%u ", reader.row.first, reader.row.last);
        }
        assert_int_equal(result, GH_SLOTS_DONE);
        assert_string_equal(text.bytes, "0-5460 5461-10922 10923-16383 ");
        buffer_free(&text);
    }
}

static void all_pieces_of_all_sizes(void** state)
{
    random_stream stream = random_for_test("pieces");
    (void)state;
    for (size_t most = 1; most < 120; most++)
    {
        byte_buffer text = {0};
        assert_int_equal(slots_read(&text, three_nodes, sizeof(three_nodes) - 1, &stream, most),
                         sizeof(three_nodes) - 1);
        assert_string_equal(text.bytes, three_rows);
        buffer_free(&text);
    }
}

static void what_follows_is_not_touched(void** state)
{
    static const char bytes[] = "*1\r\n*3\r\n:1\r\n:2\r\n" NODE("1\r\na", "7") "+OK\r\n";
    byte_buffer text = {0};
    (void)state;
    assert_int_equal(slots_read(&text, bytes, sizeof(bytes) - 1, NULL, 0), sizeof(bytes) - 1 - 5);
    assert_string_equal(text.bytes, "1-2 a:7 - 0\ndone\n");
    buffer_free(&text);
}

/* ---- endpoints --------------------------------------------------------------------------------------------------- */

static void must_read_node(const char* host, const char* port, const char* name, const char* expected)
{
    byte_buffer bytes = {0}, line = {0};
    slots_print(&bytes, "*1\r\n*3\r\n:7\r\n:9\r\n");
    slots_put_node(&bytes, host, port, name);
    slots_print(&line, "7-9 %s 0\ndone\n", expected);
    must_read(bytes.bytes, bytes.size, line.bytes);
    buffer_free(&bytes);
    buffer_free(&line);
}

static void all_forms_of_an_endpoint(void** state)
{
    (void)state;
    must_read_node("10.0.0.7", "6379", NULL, "10.0.0.7:6379 -");
    must_read_node("::1", "65535", NULL, "::1:65535 -");
    must_read_node("node-1.game.example", "1", NULL, "node-1.game.example:1 -");
    must_read_node("10.0.0.7", "6379", "node-1.game.example", "10.0.0.7:6379 node-1.game.example");
    must_read_node(NULL, "6379", NULL, "asked:6379 -");
    must_read_node("", "6379", NULL, "asked:6379 -");
    must_read_text("*1\r\n*3\r\n:7\r\n:9\r\n*3\r\n*-1\r\n:6379\r\n$1\r\nx\r\n", "7-9 asked:6379 - 0\ndone\n");
    must_read_node(NULL, "6379", "n.x", "asked:6379 n.x");
    must_read_node("?", "6379", NULL, "nowhere -");
    must_read_node("10.0.0.7", "0", NULL, "nowhere -");
    must_read_node("", "0", NULL, "nowhere -");
    must_read_node("10.0.0.7", "65536", NULL, "bad -");
    must_read_node("10.0.0.7", "-1", NULL, "bad -");
    must_read_node("10.0.0.7", "9223372036854775807", NULL, "bad -");
    must_read_node("a b", "6379", NULL, "bad -");
    must_read_node("a\r\nb", "6379", NULL, "bad -");
    must_read_node("10.0.0.7", "6379", "not a name", "10.0.0.7:6379 -");
    must_read_node("10.0.0.7", "6379", "", "10.0.0.7:6379 -");
}

static void hosts_and_names_have_as_many_bytes_as_fit(void** state)
{
    char host[GH_ENDPOINT_HOST_MAX + 2], expected[2 * sizeof(host) + 32];
    (void)state;
    for (size_t size = GH_ENDPOINT_HOST_MAX - 1; size <= GH_ENDPOINT_HOST_MAX + 1; size++)
    {
        memset(host, 'h', size);
        host[size] = '\0';
        bool fits = size <= GH_ENDPOINT_HOST_MAX;
        snprintf(expected, sizeof(expected), "%s%s %s", fits ? host : "bad", fits ? ":6379" : "", fits ? host : "-");
        must_read_node(host, "6379", host, expected);
    }
}

/* What is announced beside the host, in any order and with more than we know. */
static void only_a_key_hostname_names(void** state)
{
    static const char* const rows[][2] = {
        {"*2\r\n$8\r\nhostname\r\n$1\r\na\r\n", "a"},
        {"*4\r\n$8\r\nhostname\r\n$1\r\na\r\n$8\r\nhostname\r\n$1\r\nb\r\n", "b"},
        {"*4\r\n$8\r\nhostname\r\n$1\r\na\r\n$8\r\nhostnama\r\n$1\r\nb\r\n", "a"},
        {"*4\r\n$1\r\nx\r\n$8\r\nhostname\r\n$1\r\nb\r\n$1\r\nc\r\n", "-"},
        {"*4\r\n$8\r\nhostname\r\n*1\r\n$1\r\na\r\n$1\r\nx\r\n$1\r\nb\r\n", "-"},
        {"*4\r\n$8\r\nhostname\r\n:1\r\n:2\r\n$1\r\nb\r\n", "-"},
        {"*4\r\n$8\r\nhostname\r\n$1\r\na\r\n:2\r\n$1\r\nb\r\n", "a"},
        {"*2\r\n$8\r\nhostname\r\n$-1\r\n", "-"},
        {"*4\r\n$8\r\nhostname\r\n$1\r\na\r\n$8\r\nhostname\r\n$-1\r\n", "-"},
        {"*2\r\n$8\r\nHOSTNAME\r\n$1\r\na\r\n", "-"},
        {"*2\r\n$9\r\nhostname1\r\n$1\r\na\r\n", "-"},
        {"*2\r\n$7\r\nhostnam\r\n$1\r\na\r\n", "-"},
        {"*1\r\n$8\r\nhostname\r\n", "-"},
        {"*1\r\n*2\r\n$8\r\nhostname\r\n$1\r\na\r\n", "-"},
        {"*-1\r\n", "-"},
        {"$8\r\nhostname\r\n", "-"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        byte_buffer bytes = {0}, line = {0};
        slots_print(&bytes, "*1\r\n*3\r\n:7\r\n:9\r\n*5\r\n$1\r\nh\r\n:1\r\n$2\r\nid\r\n%s", rows[i][0]);
        slots_print(&bytes, "*2\r\n$8\r\nhostname\r\n$1\r\nz\r\n"); /* not where names stand */
        slots_print(&line, "7-9 h:1 %s 0\ndone\n", rows[i][1]);
        must_read(bytes.bytes, bytes.size, line.bytes);
        buffer_free(&bytes);
        buffer_free(&line);
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Between two that are good. */
static void must_read_row(const char* row, const char* expected)
{
    byte_buffer bytes = {0}, lines = {0};
    slots_print(&bytes, "*3\r\n*3\r\n:1\r\n:2\r\n" NODE("1\r\na", "7") "%s*3\r\n:3\r\n:4\r\n" NODE("1\r\nb", "7"), row);
    slots_print(&lines, "1-2 a:7 - 0\n%s\n3-4 b:7 - 0\ndone\n", expected);
    must_read(bytes.bytes, bytes.size, lines.bytes);
    buffer_free(&bytes);
    buffer_free(&lines);
}

static void a_bad_row_spoils_no_other(void** state)
{
    static const char* const rows[] = {
        "*3\r\n:16384\r\n:16384\r\n" NODE("1\r\nh", "1"),
        "*3\r\n:0\r\n:16384\r\n" NODE("1\r\nh", "1"),
        "*3\r\n:-1\r\n:5\r\n" NODE("1\r\nh", "1"),
        "*3\r\n:9223372036854775807\r\n:9223372036854775807\r\n" NODE("1\r\nh", "1"),
        "*3\r\n:65536\r\n:65541\r\n" NODE("1\r\nh", "1"),
        "*3\r\n:6\r\n:5\r\n" NODE("1\r\nh", "1"),
        "*3\r\n$1\r\n5\r\n:5\r\n" NODE("1\r\nh", "1"),
        "*3\r\n:5\r\n$1\r\n5\r\n" NODE("1\r\nh", "1"),
        "*3\r\n:5\r\n$-1\r\n" NODE("1\r\nh", "1"),
        "*3\r\n*1\r\n:5\r\n:5\r\n" NODE("1\r\nh", "1"),
        "*2\r\n:5\r\n:5\r\n",
        "*1\r\n:5\r\n",
        "*0\r\n",
        "*3\r\n:5\r\n:5\r\n*0\r\n",
        "*3\r\n:5\r\n:5\r\n*-1\r\n",
        "*3\r\n:5\r\n:5\r\n$1\r\nh\r\n",
        "*3\r\n:5\r\n:5\r\n:1\r\n",
        "*3\r\n:5\r\n:5\r\n*1\r\n$1\r\nh\r\n",
        "*3\r\n:5\r\n:5\r\n*2\r\n:1\r\n:1\r\n",
        "*3\r\n:5\r\n:5\r\n*2\r\n$1\r\nh\r\n$1\r\n1\r\n",
        "*3\r\n:5\r\n:5\r\n*2\r\n*1\r\n$1\r\nh\r\n:1\r\n",
        "*4\r\n:5\r\n:5\r\n*0\r\n" NODE("1\r\nh", "1"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) must_read_row(rows[i], "none");
    must_read_row("*3\r\n:0\r\n:16383\r\n" NODE("1\r\nh", "1"), "0-16383 h:1 - 0");
}

static void replicas_are_counted_and_passed_over(void** state)
{
    (void)state;
    must_read_row("*6\r\n:5\r\n:5\r\n" NODE("1\r\nh", "1") NODE("1\r\ni", "2") NODE("1\r\n?", "0") "*1\r\n:1\r\n",
                  "5-5 h:1 - 3");
    must_read_row("*6\r\n:5\r\n:5\r\n" NODE("1\r\nh", "1") "$1\r\nx\r\n:5\r\n*0\r\n", "5-5 h:1 - 0");
    must_read_row(
        "*4\r\n:5\r\n:5\r\n" NODE(
            "1\r\nh",
            "1") "*4\r\n$200\r\n"
                 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                 "\r\n:99999999\r\n$2\r\nid\r\n*2\r\n$8\r\nhostname\r\n$1\r\nz\r\n",
        "5-5 h:1 - 1");
}

/* ---- what is no answer ------------------------------------------------------------------------------------------- */

static void what_is_no_answer_is_broken(void** state)
{
    static const char* const rows[] = {"+OK\r\n",
                                       ":1\r\n",
                                       "$1\r\na\r\n",
                                       "*-1\r\n",
                                       "*-2\r\n",
                                       "*16385\r\n",
                                       "*1\r\n:1\r\n",
                                       "*1\r\n$1\r\na",
                                       "*1\r\n*-1\r\n",
                                       "*1\r\n-ERR\r\n",
                                       "*01\r\n",
                                       "*-0\r\n",
                                       "*\r\n",
                                       "*-\r\n",
                                       "*--1\r\n",
                                       "*1x\r\n",
                                       "*1\n",
                                       "*1\rx",
                                       "*1\r\n*16385\r\n",
                                       "*1\r\n*1\r\n$65537\r\n",
                                       "x",
                                       "\r\n",
                                       "%1\r\n",
                                       "~1\r\n",
                                       "_\r\n",
                                       "*1\r\n*1\r\n+",
                                       "*1\r\n*1\r\n-",
                                       "*1\r\n*1\r\n#",
                                       "*1\r\n*1\r\n$-2\r\n",
                                       "*1\r\n*1\r\n$1\r\nab",
                                       "*1\r\n*1\r\n$1\r\na\n",
                                       "*1\r\n*1\r\n$1\r\na\r\r",
                                       "*1\r\n*1\r\n$0\r\na",
                                       "*1\r\n*1\r\n:9223372036854775808",
                                       "*1\r\n*1\r\n:-9223372036854775809",
                                       "*1\r\n*1\r\n:99999999999999999999",
                                       "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*0\r\n"};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) must_read_text(rows[i], "broken\n");
    must_read_text("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*0\r\n", "none\ndone\n");
    must_read_text("*1\r\n*1\r\n:-9223372036854775808\r\n", "none\ndone\n");
}

/* Rows that were told stay told. */
static void what_breaks_later_breaks_then(void** state)
{
    (void)state;
    must_read_text("*2\r\n*3\r\n:1\r\n:2\r\n" NODE("1\r\na", "7") "+", "1-2 a:7 - 0\nbroken\n");
    must_read_text("*2\r\n*3\r\n:1\r\n:2\r\n" NODE("1\r\na", "7"), "1-2 a:7 - 0\nmore\n");
}

static void an_error_is_left_to_who_reads_errors(void** state)
{
    static const char error[] = "-ERR This instance has cluster support disabled\r\n";
    byte_buffer text = {0};
    (void)state;
    assert_int_equal(slots_read(&text, error, sizeof(error) - 1, NULL, 0), 0);
    assert_string_equal(text.bytes, "no map\n");
    buffer_free(&text);
}

/* Rows of sixteen thousand long texts, which no server sends. */
static void an_answer_without_end_is_given_up(void** state)
{
    static char text[GH_SLOTS_STRING_MAX + 10];
    byte_buffer piece = {0};
    gh_slots_reader reader;
    size_t used, total = 0;
    (void)state;
    memset(text, 'x', GH_SLOTS_STRING_MAX);
    slots_print(&piece, "$%u\r\n%s\r\n", GH_SLOTS_STRING_MAX, text);
    gh_slots_reader_begin(&reader);
    assert_int_equal(gh_slots_reader_next(&reader, "*16384\r\n*16384\r\n", 16, &used), GH_SLOTS_MORE);
    gh_slots_read result = GH_SLOTS_MORE;
    for (total = used; result == GH_SLOTS_MORE; total += used)
        result = gh_slots_reader_next(&reader, piece.bytes, piece.size, &used);
    assert_int_equal(result, GH_SLOTS_BROKEN);
    assert_int_equal(total, GH_SLOTS_BYTES_MAX);
    buffer_free(&piece);
}

/* ---- made, damaged, and read by another -------------------------------------------------------------------------- */

static const char* any_of(random_stream* stream, const char* const* texts, size_t count)
{
    return texts[random_below(stream, count)];
}

static void make_row(byte_buffer* to, random_stream* stream)
{
    static const char* const hosts[] = {"10.0.0.7", "::1", "n.x", "", "?", NULL, "bad host", "[::1]"};
    static const char* const ports[] = {"6379", "0", "1", "65535", "65536", "-5"};
    static const char* const names[] = {NULL, NULL, "n.x", "", "no name"};
    unsigned nodes = (unsigned)random_below(stream, 4);
    slots_print(to, "*%u\r\n:%u\r\n:%u\r\n", nodes + 2, (unsigned)random_below(stream, 12000),
                (unsigned)random_between(stream, 10000, 17000));
    for (unsigned i = 0; i < nodes; i++)
        slots_put_node(to, any_of(stream, hosts, 8), any_of(stream, ports, 6), any_of(stream, names, 5));
}

static void make_answer(byte_buffer* to, random_stream* stream)
{
    unsigned rows = (unsigned)random_below(stream, 5);
    to->size = 0;
    slots_print(to, "*%u\r\n", rows);
    for (unsigned i = 0; i < rows; i++) make_row(to, stream);
}

static void damage(byte_buffer* bytes, random_stream* stream)
{
    static const char pieces[] = "\r\n+-:$*0123456789\r\n\r\n:::$$**10\0\xff_#?.n";
    size_t at = (size_t)random_below(stream, bytes->size);
    char piece = pieces[random_below(stream, sizeof(pieces) - 1)];
    switch (random_below(stream, 5))
    {
    case 0: bytes->bytes[at] = (char)(unsigned char)random_below(stream, 256); break;
    case 1: bytes->bytes[at] = piece; break;
    case 2: memmove(bytes->bytes + at, bytes->bytes + at + 1, --bytes->size - at); break;
    case 3:
        buffer_reserve(bytes, 1);
        memmove(bytes->bytes + at + 1, bytes->bytes + at, bytes->size++ - at);
        bytes->bytes[at] = piece;
        break;
    default: bytes->size = at; break;
    }
    if (bytes->size == 0) buffer_add(bytes, &piece, 1);
}

/* By scan.h and hiredis. */
static void must_agree(const byte_buffer* bytes, const byte_buffer* got, size_t used, gh_scanned scanned, size_t end)
{
    byte_buffer expected = {0};
    const char* verdict = strrchr(got->bytes, '\n');
    while (verdict > got->bytes && verdict[-1] != '\n') verdict--;
    if (scanned == GH_SCAN_WHOLE) slots_read_by_hiredis(&expected, bytes->bytes, end);
    else
        slots_print(&expected, "%s",
                    bytes->bytes[0] == '-'    ? "no map\n"
                    : scanned == GH_SCAN_MORE ? "more\n"
                                              : "broken\n");
    bool same = strcmp(expected.bytes, scanned == GH_SCAN_WHOLE ? got->bytes : verdict) == 0;
    /* A type that we do not take, or a number that is too large, is broken before all is there; rows before it are
     * told. */
    if (strcmp(verdict, "broken\n") == 0 && (scanned != GH_SCAN_WHOLE || strcmp(expected.bytes, "broken\n") == 0))
        same = true;
    if (!same) fail_msg("%.*s\nis read as\n%snot as\n%s", (int)bytes->size, bytes->bytes, got->bytes, expected.bytes);
    if (strcmp(verdict, "done\n") == 0) assert_int_equal(used, end);
    buffer_free(&expected);
}

static void damaged_answers_are_read_as_by_hiredis(void** state)
{
    random_stream stream = random_for_test("damage");
    byte_buffer bytes = {0}, whole = {0}, pieces = {0};
    unsigned done = 0, broken = 0, more = 0;
    const unsigned rounds = 60000 / suite_patience();
    (void)state;
    for (unsigned round = 0; round < rounds; round++)
    {
        gh_scan scan;
        make_answer(&bytes, &stream);
        for (uint64_t count = random_below(&stream, 4); count > 0; count--) damage(&bytes, &stream);
        whole.size = pieces.size = 0;
        size_t used = slots_read(&whole, bytes.bytes, bytes.size, NULL, 0);
        assert_int_equal(slots_read(&pieces, bytes.bytes, bytes.size, &stream, 1 + round % 40), used);
        assert_string_equal(whole.bytes, pieces.bytes);
        gh_scan_begin(&scan, UINT32_MAX, UINT32_MAX);
        gh_scanned scanned = gh_scan_on(&scan, bytes.bytes, bytes.size);
        must_agree(&bytes, &whole, used, scanned, scan.at);
        done += strstr(whole.bytes, "done\n") != NULL;
        broken += strstr(whole.bytes, "broken\n") != NULL;
        more += strstr(whole.bytes, "more\n") != NULL;
    }
    const unsigned few = rounds / 60;
    if (done < few || broken < few || more < few) fail_msg("%u done, %u broken, %u more", done, broken, more);
    buffer_free(&bytes);
    buffer_free(&whole);
    buffer_free(&pieces);
}

TEST_FILE(slots_reader, cmocka_unit_test(rows_are_read), cmocka_unit_test(a_cut_changes_nothing),
          cmocka_unit_test(all_pieces_of_all_sizes), cmocka_unit_test(what_follows_is_not_touched),
          cmocka_unit_test(all_forms_of_an_endpoint), cmocka_unit_test(hosts_and_names_have_as_many_bytes_as_fit),
          cmocka_unit_test(only_a_key_hostname_names), cmocka_unit_test(a_bad_row_spoils_no_other),
          cmocka_unit_test(replicas_are_counted_and_passed_over), cmocka_unit_test(what_is_no_answer_is_broken),
          cmocka_unit_test(what_breaks_later_breaks_then), cmocka_unit_test(an_error_is_left_to_who_reads_errors),
          cmocka_unit_test(an_answer_without_end_is_given_up),
          cmocka_unit_test(damaged_answers_are_read_as_by_hiredis));
