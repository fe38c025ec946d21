/* test_redirect.c -- sdk/src/wire/redirect.h and endpoint.h: MOVED and ASK in all forms that servers and proxies have,
   and what is none. */

#include "support/random.h"
#include "support/server/redis_server.h"
#include "support/suite.h"
#include "wire/redirect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of bytes in memory of exactly their size; the sanitizer sees who reads behind them. */
typedef struct exact_redirect
{
    gh_redirect redirect;
    char* bytes;
} exact_redirect;

static exact_redirect parse_exactly(const char* bytes, size_t size)
{
    exact_redirect made;
    made.bytes = malloc(size + (size == 0));
    if (size > 0) memcpy(made.bytes, bytes, size);
    made.redirect = gh_redirect_parse(gh_str_make(made.bytes, size));
    return made;
}

static void all_forms_of_a_node(void** state)
{
    static const struct
    {
        const char* text;
        gh_redirect_kind kind;
        unsigned slot;
        gh_endpoint_kind endpoint;
        const char* host;
        unsigned port;
    } rows[] = {
        {"MOVED 3999 127.0.0.1:6381", GH_REDIRECT_MOVED, 3999, GH_ENDPOINT_GIVEN, "127.0.0.1", 6381},
        {"ASK 3999 127.0.0.1:6381", GH_REDIRECT_ASK, 3999, GH_ENDPOINT_GIVEN, "127.0.0.1", 6381},
        {"MOVED 0 a:1", GH_REDIRECT_MOVED, 0, GH_ENDPOINT_GIVEN, "a", 1},
        {"MOVED 16383 n-1_x.game.Example:65535", GH_REDIRECT_MOVED, 16383, GH_ENDPOINT_GIVEN, "n-1_x.game.Example",
         65535},
        {"MOVED 1 2001:db8::7:6379", GH_REDIRECT_MOVED, 1, GH_ENDPOINT_GIVEN, "2001:db8::7", 6379},
        {"MOVED 1 ::1:6379", GH_REDIRECT_MOVED, 1, GH_ENDPOINT_GIVEN, "::1", 6379},
        {"MOVED 1 ::ffff:10.0.0.7:6379", GH_REDIRECT_MOVED, 1, GH_ENDPOINT_GIVEN, "::ffff:10.0.0.7", 6379},
        {"ASK 1 [2001:db8::7]:6379", GH_REDIRECT_ASK, 1, GH_ENDPOINT_GIVEN, "2001:db8::7", 6379},
        {"MOVED 1 :6379", GH_REDIRECT_MOVED, 1, GH_ENDPOINT_ASKED, "", 6379},
        {"ASK 1 :1", GH_REDIRECT_ASK, 1, GH_ENDPOINT_ASKED, "", 1},
        {"MOVED 1 ?:6379", GH_REDIRECT_MOVED, 1, GH_ENDPOINT_NOWHERE, "", 0},
        {"MOVED 1 10.0.0.7:0", GH_REDIRECT_MOVED, 1, GH_ENDPOINT_NOWHERE, "", 0},
        {"MOVED 1 :0", GH_REDIRECT_MOVED, 1, GH_ENDPOINT_NOWHERE, "", 0},
        {"ASK 1 ?:0", GH_REDIRECT_ASK, 1, GH_ENDPOINT_NOWHERE, "", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        exact_redirect got = parse_exactly(rows[i].text, strlen(rows[i].text));
        if (got.redirect.kind != rows[i].kind || got.redirect.slot != rows[i].slot ||
            got.redirect.endpoint.kind != rows[i].endpoint || got.redirect.endpoint.port != rows[i].port ||
            !gh_str_equal(got.redirect.endpoint.host, gh_str_of(rows[i].host)))
            fail_msg("%s", rows[i].text);
        free(got.bytes);
    }
}

static void what_makes_no_sense_is_broken(void** state)
{
    static const char* const rows[] = {"MOVED",
                                       "MOVED ",
                                       "MOVED 1",
                                       "MOVED 1 ",
                                       "MOVED 1 a",
                                       "MOVED 1 a:",
                                       "MOVED 1 :",
                                       "MOVED  1 a:1",
                                       "MOVED 1  a:1",
                                       "MOVED 1 a:1 ",
                                       "MOVED 1 a:1\r",
                                       "MOVED 1 a:1 b:2",
                                       "MOVED -1 a:1",
                                       "MOVED 16384 a:1",
                                       "MOVED 65536 a:1",
                                       "MOVED 01 a:1",
                                       "MOVED +1 a:1",
                                       "MOVED x a:1",
                                       "MOVED 1x a:1",
                                       "MOVED 4294967297 a:1",
                                       "MOVED 1 a:65536",
                                       "MOVED 1 a:-1",
                                       "MOVED 1 a:01",
                                       "MOVED 1 a:1x",
                                       "MOVED 1 a:4294967297",
                                       "MOVED 1 a/b:1",
                                       "MOVED 1 a\nb:1",
                                       "MOVED 1 g::1:1",
                                       "MOVED 1 a-::1:1",
                                       "MOVED 1 a:b:1",
                                       "MOVED 1 1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:1",
                                       "MOVED 1 []:1",
                                       "MOVED 1 [a:1",
                                       "MOVED 1 a]:1",
                                       "MOVED 1 ??:1",
                                       "MOVED 1 a%eth0:1",
                                       "MOVED 1 a@b:1",
                                       "ASK",
                                       "ASK 1",
                                       "ASK 16384 a:1",
                                       "ASK 1 a",
                                       "ASK 1 a:b",
                                       "MOVED 1 a,b:1",
                                       "MOVED 1 \xc3\xa4:1",

                                       "MOVED 1 a:99999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        exact_redirect got = parse_exactly(rows[i], strlen(rows[i]));
        if (got.redirect.kind != GH_REDIRECT_BROKEN || got.redirect.slot != 0) fail_msg("%s", rows[i]);
        free(got.bytes);
    }
}

static void other_errors_are_none(void** state)
{
    static const char* const rows[] = {"",
                                       "ERR x",
                                       "moved 1 a:1",
                                       "MOVE 1 a:1",
                                       "MOVED1 a:1",
                                       "MOVED\t1 a:1",
                                       "ASKING 1 a:1",
                                       " MOVED 1 a:1",
                                       "TRYAGAIN Multiple keys request during rehashing of slot"};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        exact_redirect got = parse_exactly(rows[i], strlen(rows[i]));
        if (got.redirect.kind != GH_REDIRECT_NONE) fail_msg("%s", rows[i]);
        free(got.bytes);
    }
    assert_int_equal(gh_redirect_parse(gh_str_make(NULL, 0)).kind, GH_REDIRECT_NONE);
}

static void a_host_has_as_many_bytes_as_fit(void** state)
{
    char host[GH_ENDPOINT_HOST_MAX + 1], text[GH_ENDPOINT_HOST_MAX + 32];
    (void)state;
    memset(host, 'a', sizeof(host));
    for (size_t size = GH_ENDPOINT_HOST_MAX - 1; size <= GH_ENDPOINT_HOST_MAX + 1; size++)
    {
        int used = snprintf(text, sizeof(text), "MOVED 7 %.*s:9", (int)size, host);
        exact_redirect got = parse_exactly(text, (size_t)used);
        assert_int_equal(got.redirect.kind, size <= GH_ENDPOINT_HOST_MAX ? GH_REDIRECT_MOVED : GH_REDIRECT_BROKEN);
        if (size <= GH_ENDPOINT_HOST_MAX) assert_int_equal(got.redirect.endpoint.host.size, size);
        free(got.bytes);
    }
}

/* Written again from what was read of it, it is the same text: nothing is guessed. */
static void mutations_are_read_as_they_stand(void** state)
{
    static const char seed[] = "MOVED 3999 10.0.0.7:6381";
    static const char pieces[] = " ::[]?-.0123456789afgzMOVEDASK\0\r\n\xff";
    random_stream stream = random_for_test("mutations");
    unsigned seen[4] = {0};
    (void)state;
    for (int round = 0; round < 200000; round++)
    {
        char text[64], again[96];
        size_t size = sizeof(seed) - 1;
        memcpy(text, seed, size);
        for (uint64_t count = random_below(&stream, 4); count > 0; count--)
        {
            size_t at = (size_t)random_below(&stream, size);
            if (random_one_in(&stream, 3)) memmove(text + at, text + at + 1, --size - at);
            else text[at] = pieces[random_below(&stream, sizeof(pieces) - 1)];
        }
        exact_redirect got = parse_exactly(text, size);
        gh_endpoint endpoint = got.redirect.endpoint;
        seen[got.redirect.kind]++;
        if (endpoint.kind == GH_ENDPOINT_GIVEN && got.redirect.kind != GH_REDIRECT_BROKEN &&
            memchr(text, '[', size) == NULL)
        {
            int used = snprintf(again, sizeof(again), "%s %u %.*s:%u",
                                got.redirect.kind == GH_REDIRECT_MOVED ? "MOVED" : "ASK", got.redirect.slot,
                                (int)endpoint.host.size, endpoint.host.bytes, endpoint.port);
            if ((size_t)used != size || memcmp(again, text, size) != 0)
                fail_msg("%.*s became %s", (int)size, text, again);
        }
        free(got.bytes);
    }
    if (seen[GH_REDIRECT_NONE] < 100 || seen[GH_REDIRECT_MOVED] < 100 || seen[GH_REDIRECT_BROKEN] < 100)
        fail_msg("%u none, %u moved, %u broken", seen[0], seen[1], seen[3]);
}

/* From two real nodes, with each way to name the other one. */
static void a_server_sends_elsewhere(void** state)
{
    static const struct
    {
        const char* type;
        gh_endpoint_kind kind;
        const char* host;
    } rows[] = {{"ip", GH_ENDPOINT_GIVEN, "127.0.0.1"},
                {"hostname", GH_ENDPOINT_NOWHERE, ""}, /* it announces none */
                {"unknown-endpoint", GH_ENDPOINT_ASKED, ""}};
    redis_server* nodes[2];
    (void)state;
    redis_server_cluster_pair(nodes);
    unsigned port = (unsigned)atoi(strrchr(redis_server_tcp_address(nodes[0]), ':') + 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        redis_server_do(nodes[1], "CONFIG SET cluster-preferred-endpoint-type %s", rows[i].type);
        redisReply* reply = redis_server_command(nodes[1], "GET foo");
        gh_redirect got = gh_redirect_parse(gh_str_make(reply->str, reply->len));
        if (got.kind != GH_REDIRECT_MOVED || got.slot != 12182 || got.endpoint.kind != rows[i].kind ||
            !gh_str_equal(got.endpoint.host, gh_str_of(rows[i].host)))
            fail_msg("%s", reply->str);
        if (got.endpoint.kind != GH_ENDPOINT_NOWHERE) assert_int_equal(got.endpoint.port, port);
        freeReplyObject(reply);
    }
    redis_server_do(nodes[1], "CONFIG SET cluster-preferred-endpoint-type ip");
}

TEST_FILE(redirect, cmocka_unit_test(all_forms_of_a_node), cmocka_unit_test(what_makes_no_sense_is_broken),
          cmocka_unit_test(other_errors_are_none), cmocka_unit_test(a_host_has_as_many_bytes_as_fit),
          cmocka_unit_test(mutations_are_read_as_they_stand), cmocka_unit_test(a_server_sends_elsewhere));
