/* test_fake.c -- support/fake_server.h answers what it was told, and what a real server would otherwise. */

#include "support/server/fake_server.h"
#include "support/server/raw.h"
#include "support/server/redis_server.h"
#include "support/sha1.h"
#include "support/server/stream.h"
#include "support/suite.h"
#include "support/wait.h"

#include <stdio.h>
#include <string.h>

#define PING "*1\r\n$4\r\nPING\r\n"
#define GET  "*2\r\n$3\r\nGET\r\n$1\r\na\r\n"
#define INCR "*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n"

static void expect_answer(int client, const char* request, const char* answer)
{
    raw_say(client, request);
    raw_expect_text(client, answer);
}

/* ---- By default ---- */

static void answers_a_handshake_by_itself(void** state)
{
    (void)state;
    static const char script[] = "return 1";
    char name[41], loaded[64];
    fake_server* fake = fake_server_start(NULL, NULL, NULL);
    int client = raw_connect(fake_server_address(fake));
    sha1_hex(script, sizeof(script) - 1, name);
    snprintf(loaded, sizeof(loaded), "$40\r\n%s\r\n", name);
    expect_answer(client, PING, "+PONG\r\n");
    expect_answer(client, "*3\r\n$4\r\nauth\r\n$1\r\nu\r\n$1\r\np\r\n", "+OK\r\n");
    expect_answer(client, "*2\r\n$6\r\nSELECT\r\n$1\r\n1\r\n", "+OK\r\n");
    expect_answer(client, "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$1\r\nx\r\n", "+OK\r\n");
    expect_answer(client, "*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n", ":1\r\n");
    expect_answer(client, "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$8\r\nreturn 1\r\n", loaded);
    expect_answer(client, "*4\r\n$6\r\nSCRIPT\r\n$6\r\nEXISTS\r\n$1\r\na\r\n$1\r\nb\r\n", "*2\r\n:1\r\n:1\r\n");
    expect_answer(client, "*2\r\n$4\r\nECHO\r\n$3\r\na\r\n\r\n", "$3\r\na\r\n\r\n");
    expect_answer(client, "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
    expect_answer(client, "*1\r\n$4\r\nTIME\r\n", "*2\r\n$10\r\n");
    assert_int_equal(fake_server_requests(fake), 10);
    assert_int_equal(fake_server_connections(fake), 1);
    int second = raw_connect(fake_server_address(fake));
    expect_answer(second, GET, "-ERR ");
}

static void understands_requests_in_any_pieces(void** state)
{
    (void)state;
    static const char two[] = PING "*2\r\n$4\r\nECHO\r\n$5\r\na\r\nb\n\r\n";
    fake_server* fake = fake_server_start(NULL, NULL, NULL);
    for (size_t cut = 1; cut < sizeof(two) - 1; cut++)
    {
        int client = raw_connect(fake_server_address(fake));
        raw_send(client, two, cut);
        if (cut % 8 == 0) WAIT_FOR(fake_server_connections(fake) == cut); /* some are read in two steps for sure */
        raw_send(client, two + cut, sizeof(two) - 1 - cut);
        raw_expect_text(client, "+PONG\r\n$5\r\na\r\nb\n\r\n");
        raw_close(client);
    }
    assert_int_equal(fake_server_malformed(fake), 0);
}

static void closes_on_what_is_no_request(void** state)
{
    (void)state;
    static const char* const wrong[] = {"PING\r\n",           "*0\r\n",        "*-1\r\n",
                                        "*1\r\n:1\r\n",       "*1\r\n$-1\r\n", "*1\r\n$1\r\nabc",
                                        "* 1\r\n$1\r\na\r\n", "*\n1\r\n",      "*9999999\r\n"};
    fake_server* fake = fake_server_start(NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
    {
        int client = raw_connect(fake_server_address(fake));
        raw_say(client, wrong[i]);
        raw_expect_end(client);
        assert_int_equal(fake_server_malformed(fake), i + 1);
        raw_close(client);
    }
    assert_int_equal(fake_server_requests(fake), 0);
}

static void passes_on_to_a_real_server(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    fake_server* fake = fake_server_start(NULL, NULL, redis_server_address(server));
    int client = raw_connect(fake_server_address(fake));
    expect_answer(client, INCR, ":1\r\n");
    expect_answer(client, GET, "$-1\r\n");
    expect_answer(client, "*2\r\n$6\r\nLRANGE\r\n$1\r\nn\r\n", "-ERR wrong number of arguments");
    int second = raw_connect(fake_server_address(fake));
    expect_answer(second, INCR INCR, ":2\r\n:3\r\n");
    redis_server_stop(server);
    raw_say(second, INCR);
    raw_expect_end(second);
}

/* ---- Rules ---- */

static void replaces_answers_by_rules(void** state)
{
    (void)state;
    fake_rule rules[] = {{.command = "GET", .text = "$1\r\nx\r\n", .skip = 1, .times = 2},
                         {.command = "SCRIPT LOAD", .text = "-BUSY\r\n"},
                         {.command = "ECHO", .text = "+a\0b\r\n", .size = 6}};
    fake_rules table = {rules, 3};
    fake_server* fake = fake_server_start(fake_answer_by_rules, &table, NULL);
    int client = raw_connect(fake_server_address(fake));
    raw_say(client, GET GET GET GET PING);
    raw_expect_text(client, "-ERR the fake server has no answer to this\r\n$1\r\nx\r\n$1\r\nx\r\n"
                            "-ERR the fake server has no answer to this\r\n+PONG\r\n");
    expect_answer(client, "*3\r\n$6\r\nscript\r\n$4\r\nload\r\n$1\r\nx\r\n", "-BUSY\r\n");
    expect_answer(client, "*3\r\n$6\r\nSCRIPT\r\n$6\r\nEXISTS\r\n$1\r\nx\r\n", "*1\r\n:1\r\n");
    raw_say(client, "*2\r\n$4\r\nECHO\r\n$1\r\nx\r\n");
    raw_expect(client, "+a\0b\r\n", 6);
    fake_server_end(fake);
    assert_int_equal(rules[0].seen, 4);
    assert_int_equal(rules[1].seen, 1);
}

static void executes_and_says_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    fake_rule rules[] = {{.command = "INCR", .execute = true, .times = 1}, {.command = "GET", .times = 1}};
    fake_rules table = {rules, 2};
    fake_server* fake = fake_server_start(fake_answer_by_rules, &table, redis_server_address(server));
    int client = raw_connect(fake_server_address(fake));
    raw_say(client, INCR GET INCR); /* the first runs without an answer, the second gets none */
    raw_expect_text(client, ":2\r\n");
    assert_true(raw_is_silent(client, 10000));
}

static void closes_after_its_last_words(void** state)
{
    (void)state;
    fake_rule rule = {.text = "-ERR go away\r\n", .close = true};
    fake_rules table = {&rule, 1};
    fake_server* fake = fake_server_start(fake_answer_by_rules, &table, NULL);
    int client = raw_connect(fake_server_address(fake));
    expect_answer(client, PING, "-ERR go away\r\n");
    assert_int_equal(raw_expect_end(client), RAW_FIN);
}

/* ---- A callback ---- */

typedef struct noted
{
    uint64_t connection;
    uint64_t number;
    size_t count;
    size_t raw_size;
} noted;

static void answer_in_many_ways(void* context, const fake_request* request, fake_reply* reply)
{
    noted* note = context;
    size_t size = 0;
    *note = (noted){request->connection, request->number, request->count, request->raw_size};
    if (fake_request_is(request, "FILL"))
    {
        fake_reply_text(reply, "$70000\r\n");
        fake_reply_fill(reply, 'x', 70000);
        fake_reply_text(reply, "\r\n");
    }
    else if (fake_request_is(request, "ENDLESS")) fake_reply_endless(reply, '+');
    else if (fake_request_is(request, "ALTER"))
    {
        fake_reply_format(reply, ":%d\r\n:%d\r\n", 12, 34);
        fake_reply_so_far(reply, &size)[1] = '9';
        fake_reply_cut(reply, size - 5);
    }
    else fake_reply_default(reply);
}

static void lets_a_callback_say_anything(void** state)
{
    (void)state;
    char bytes[70000];
    noted note = {0};
    memset(bytes, 'x', sizeof(bytes));
    fake_server* fake = fake_server_start(answer_in_many_ways, &note, NULL);
    int first = raw_connect(fake_server_address(fake));
    expect_answer(first, PING "*1\r\n$5\r\nALTER\r\n", "+PONG\r\n:92\r\n");
    int client = raw_connect(fake_server_address(fake));
    expect_answer(client, "*2\r\n$4\r\nFILL\r\n$0\r\n\r\n", "$70000\r\n");
    raw_expect(client, bytes, sizeof(bytes));
    raw_expect_text(client, "\r\n");
    fake_server_end(fake);
    assert_int_equal(note.connection, 2);
    assert_int_equal(note.number, 2);
    assert_int_equal(note.count, 2);
    assert_int_equal(note.raw_size, strlen("*2\r\n$4\r\nFILL\r\n$0\r\n\r\n"));
}

static void serves_others_beside_an_endless_answer(void** state)
{
    (void)state;
    char got[65536];
    size_t total = 0;
    noted note = {0};
    fake_server* fake = fake_server_start(answer_in_many_ways, &note, NULL);
    int drinker = raw_connect(fake_server_address(fake));
    int other = raw_connect(fake_server_address(fake));
    raw_say(drinker, "*1\r\n$7\r\nENDLESS\r\n");
    while (total < 4 * 1024 * 1024)
    {
        size_t size = raw_read(drinker, got, sizeof(got));
        assert_true(size > 0 && memchr(got, '+', size) == got && got[size - 1] == '+');
        total += size;
    }
    expect_answer(other, PING, "+PONG\r\n");
}

static void greets(void** state)
{
    (void)state;
    fake_server* fake = fake_server_start(NULL, NULL, NULL);
    fake_server_greet(fake, "-ERR max number of clients reached\r\n", true);
    int client = raw_connect(fake_server_address(fake));
    raw_expect_text(client, "-ERR max number of clients reached\r\n");
    raw_expect_end(client);
    fake_server_greet(fake, "+hello\r\n", false);
    client = raw_connect(fake_server_address(fake));
    expect_answer(client, PING, "+hello\r\n+PONG\r\n");
    fake_server_greet(fake, NULL, false);
    client = raw_connect(fake_server_address(fake));
    expect_answer(client, PING, "+PONG\r\n");
}

static void is_gone_when_ended(void** state)
{
    (void)state;
    char address[RAW_ADDRESS_SIZE];
    fake_server* fake = fake_server_start(NULL, NULL, NULL);
    snprintf(address, sizeof(address), "%s", fake_server_address(fake));
    int client = raw_connect(address);
    expect_answer(client, PING, "+PONG\r\n");
    fake_server_end(fake);
    assert_int_equal(raw_expect_end(client), RAW_FIN);
    assert_int_equal(stream_connect(address), -1);
}

TEST_FILE(fake, cmocka_unit_test(answers_a_handshake_by_itself), cmocka_unit_test(understands_requests_in_any_pieces),
          cmocka_unit_test(closes_on_what_is_no_request), cmocka_unit_test(passes_on_to_a_real_server),
          cmocka_unit_test(replaces_answers_by_rules), cmocka_unit_test(executes_and_says_nothing),
          cmocka_unit_test(closes_after_its_last_words), cmocka_unit_test(lets_a_callback_say_anything),
          cmocka_unit_test(serves_others_beside_an_endless_answer), cmocka_unit_test(greets),
          cmocka_unit_test(is_gone_when_ended));
