/* Peers that are no server, or a broken one: the link is given up cleanly, nothing hangs, nothing is
   believed. */

#include "support/scene/game.h"
#include "support/server/scripted.h"

#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000)

static void add_text(byte_buffer* reply, const char* text)
{
    buffer_add(reply, text, strlen(text));
}

/* ---- what is said instead of the answer to an op, or of its own accord --------------------------------- */

typedef enum found
{
    FOUND_AT_ONCE,
    FOUND_TOO_LARGE, /* at once too; asking again would not help           */
    FOUND_IN_TIME    /* it could still become a reply: only the time-out tells */
} found;

typedef struct saying
{
    const char* text;
    found how;
} saying;

static const saying sayings[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", FOUND_AT_ONCE},
    {"SSH-2.0-OpenSSH_9.2\r\n", FOUND_AT_ONCE},
    {"\r\n\r\n\r\n", FOUND_AT_ONCE},
    {"\x16\x03\x01\x02", FOUND_AT_ONCE},
    {"\xff", FOUND_AT_ONCE},
    {"*x\r\n", FOUND_AT_ONCE},
    {"*\r\n", FOUND_AT_ONCE},
    {"$x\r\n", FOUND_AT_ONCE},
    {"$-2\r\n", FOUND_AT_ONCE},
    {"*-2\r\n", FOUND_AT_ONCE},
    {"$2147483648\r\n", FOUND_TOO_LARGE},
    {"$4294967296\r\n", FOUND_TOO_LARGE},
    {"$9223372036854775807\r\n", FOUND_TOO_LARGE},
    {"$18446744073709551615\r\n", FOUND_AT_ONCE},
    {"$99999999999999999999999999\r\n", FOUND_AT_ONCE},
    {"$32768\r\n", FOUND_TOO_LARGE},
    {"*2147483647\r\n", FOUND_TOO_LARGE},
    {"*4294967295\r\n", FOUND_TOO_LARGE},
    {"*9223372036854775807\r\n", FOUND_AT_ONCE},
    {"*513\r\n", FOUND_TOO_LARGE},
    {":9223372036854775808\r\n", FOUND_AT_ONCE},
    {":1x\r\n", FOUND_AT_ONCE},
    {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n+deep\r\n", FOUND_AT_ONCE},
    {">2\r\n$4\r\npush\r\n$1\r\nx\r\n", FOUND_AT_ONCE},
    {"%1\r\n$1\r\na\r\n$1\r\nb\r\n", FOUND_AT_ONCE},
    {"~1\r\n$1\r\na\r\n", FOUND_AT_ONCE},
    {"_\r\n", FOUND_AT_ONCE},
    {"#t\r\n", FOUND_AT_ONCE},
    {",1.5\r\n", FOUND_AT_ONCE},
    {"(12345678901234567890\r\n", FOUND_AT_ONCE},
    {"=8\r\ntxt:text\r\n", FOUND_AT_ONCE},
    {"!5\r\nERR x\r\n", FOUND_AT_ONCE},
    {"|1\r\n+a\r\n+b\r\n+c\r\n", FOUND_AT_ONCE},
    {"+OK", FOUND_IN_TIME},
    {"$5\r\nab", FOUND_IN_TIME},
    {"$5", FOUND_IN_TIME},
    {"*3\r\n$1\r\na\r\n", FOUND_IN_TIME},
    {"*2\r\n*2\r\n:1\r\n", FOUND_IN_TIME},
    {"-ERR half a line", FOUND_IN_TIME},
    {":", FOUND_IN_TIME},
};

static bool say_text(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    const char* text = world->context;
    (void)count;
    if (!gh_str_equal(words[0], gh_str_literal("ECHO"))) return false;
    add_text(reply, text);
    return true;
}

/* An op that may be repeated gets the saying for an answer: the link is given up, and with a sane peer the
   op is done. */
static void nonsense_for_an_answer_gives_up_the_link(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sayings) / sizeof(sayings[0]); i++)
    {
        found how = sayings[i].how;
        scripted* world = scripted_new();
        scripted_start_ready(world, NULL);
        gh_command* op = scripted_ask(world, "ECHO", 60 * SECOND_US, GH_REPEAT_SAFE);
        world->context = (void*)(uintptr_t)sayings[i].text;
        world->answer = say_text;
        uint64_t begin_us = world->now_us;
        SCRIPTED_UNTIL(world, !gh_client_ready(world->client), MS, 3 * SECOND_US);
        if ((how != FOUND_IN_TIME) != (world->now_us - begin_us < 10 * MS))
            fail_msg("saying %zu is found out after %d us", i, (int)(world->now_us - begin_us));
        assert_int_equal(scripted_stats(world).protocol_errors, how == FOUND_IN_TIME ? 0 : 1);
        assert_int_equal(scripted_stats(world).links_lost, 1);
        assert_status(gh_op_poll(&op->op), how == FOUND_TOO_LARGE ? GH_TOO_SMALL : GH_PENDING);
        assert_int_equal(op->reply_needed, 0);
        world->answer = NULL;
        op = scripted_ask(world, "ECHO", 60 * SECOND_US, GH_REPEAT_SAFE);
        SCRIPTED_UNTIL(world, gh_op_poll(&op->op) == GH_OK, MS, SECOND_US);
    }
}

/* In the hand-shake the same sayings keep the link from becoming ready; attempts stay far apart. */
static bool say_text_always(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    (void)words, (void)count;
    add_text(reply, world->context);
    return true;
}

static void nonsense_in_the_hand_shake_is_not_believed(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sayings) / sizeof(sayings[0]); i++)
    {
        scripted* world = scripted_new();
        gh_client_config config = scripted_config();
        config.wake = true;
        world->context = (void*)(uintptr_t)sayings[i].text;
        world->answer = say_text_always;
        scripted_start(world, &config);
        for (int j = 0; j < 10000; j++)
        {
            scripted_tick(world, MS);
            assert_false(gh_client_ready(world->client));
        }
        assert_in_range(world->opens, 2, 30);
        world->answer = NULL;
        SCRIPTED_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_READY, MS, 4 * SECOND_US);
    }
}

static void unasked_words_give_up_an_idle_link(void** state)
{
    (void)state;
    const char* const words[] = {"+OK\r\n",
                                 ":1\r\n",
                                 "$-1\r\n",
                                 "*0\r\n",
                                 "-ERR by the way\r\n",
                                 "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
    {
        scripted* world = scripted_new();
        scripted_start_ready(world, NULL);
        scripted_say(world, words[i]);
        SCRIPTED_UNTIL(world, !gh_client_ready(world->client), MS, 10 * MS);
        assert_int_equal(scripted_stats(world).links_lost, 1);
        SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
    }
}

/* Two replies to one request: the second must not become the answer to the next op. */
static bool say_twice(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    unsigned* times = world->context;
    (void)count;
    if (gh_str_equal(words[0], gh_str_literal("FIRST")) && (*times)++ == 0)
        add_text(reply, "$5\r\nfirst\r\n$6\r\nforged\r\n");
    else if (gh_str_equal(words[0], gh_str_literal("FIRST"))) add_text(reply, "$5\r\nfirst\r\n");
    else if (gh_str_equal(words[0], gh_str_literal("SECOND"))) add_text(reply, "$6\r\nsecond\r\n");
    else return false;
    return true;
}

static void surplus_answer_is_nobodys(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    unsigned times = 0;
    scripted_start_ready(world, NULL);
    world->context = &times;
    world->answer = say_twice;
    gh_command* first = scripted_ask(world, "FIRST", 10 * SECOND_US, GH_REPEAT_SAFE);
    SCRIPTED_UNTIL(world, gh_op_poll(&first->op) == GH_OK, MS, SECOND_US);
    gh_command* second = scripted_ask(world, "SECOND", 10 * SECOND_US, GH_REPEAT_SAFE);
    SCRIPTED_UNTIL(world, gh_op_poll(&second->op) == GH_OK, MS, SECOND_US);
    assert_true(gh_str_equal(gh_command_reply(first)->text, gh_str_literal("first")));
    assert_true(gh_str_equal(gh_command_reply(second)->text, gh_str_literal("second")));
    assert_int_equal(scripted_stats(world).links_lost, 1);
    world->answer = NULL;
}

/* ---- a lock's replies have a shape --------------------------------------------------------------------- */

/* The context: an answer with the number of the request in it. What does not begin with a type of RESP is a text. */
static bool say_to_scripts(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    char text[256];
    if (!gh_str_equal(words[0], gh_str_literal("EVALSHA")) || count != 13) return false;
    snprintf(text, sizeof(text), world->context, (int)words[7].size, words[7].bytes);
    if (strchr("+-:$*", text[0]) != NULL) add_text(reply, text);
    else buffer_add_bulk(reply, "%s", text);
    return true;
}

/* One that carries the request's own number is an answer to it, though none that can be: that op ends. What carries
   another number, or none, says that the stream is out of step: the link goes. */
static void lock_believes_no_other_shape(void** state)
{
    (void)state;
    const char* const strays[] = {
        "+%.*s\r\n",
        "$-1\r\n",
        "$0\r\n\r\n",
        "*0\r\n",
        ":%.*s\r\n",
        "*6\r\n:%.*s\r\n:0\r\n:7\r\n:9999999\r\n:0\r\n:7\r\n",
        "1%.*s 0 7 9999999 0 7",
        "0%.*s 0 7 9999999 0 7",
        " %.*s 0 7 9999999 0 7",
        "x%.*s 0 7 9999999 0 7",
    };
    const char* const answers[] = {
        "%.*s 0 7 9999999 0",    "%.*s 0 7 9999999 0 7 7", "%.*s 0 -7 9999999 0 7", "%.*s 0 x 9999999 0 7",
        "%.*s 0 7 9999999  0 7", "%.*s 0 7 9999999 0 7 ",  "%.*s 0 07 9999999 0 7",
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
    {
        scripted* world = scripted_new();
        scripted_start_ready(world, NULL);
        world->context = (void*)(uintptr_t)answers[i];
        world->answer = say_to_scripts;
        gh_lock* lock = scripted_want(world, "sword", 10 * SECOND_US, 5 * SECOND_US);
        SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) != GH_PENDING, MS, 10 * SECOND_US);
        assert_status(gh_op_poll(&lock->op), GH_UNKNOWN);
        assert_int_equal(scripted_stats(world).protocol_errors, 0);
        assert_true(gh_client_ready(world->client));
        world->answer = NULL;
    }
    for (size_t i = 0; i < sizeof(strays) / sizeof(strays[0]); i++)
    {
        scripted* world = scripted_new();
        scripted_start_ready(world, NULL);
        world->context = (void*)(uintptr_t)strays[i];
        world->answer = say_to_scripts;
        gh_lock* lock = scripted_want(world, "sword", 10 * SECOND_US, 5 * SECOND_US);
        SCRIPTED_UNTIL(world, !gh_client_ready(world->client), MS, SECOND_US);
        assert_int_equal(scripted_stats(world).protocol_errors, 1);
        assert_status(gh_op_poll(&lock->op), GH_PENDING);
        world->answer = NULL;
        SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, SECOND_US);
        assert_int_equal(lock->fence, lock->op.sequence); /* as the made-up server gives it, and no stray one */
    }
}

/* A code that the script does not have: the store's script is not ours. */
static void lock_believes_no_other_code(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    world->context = (void*)(uintptr_t)"%.*s 99 7 9999999 0 7";
    world->answer = say_to_scripts;
    gh_lock* lock = scripted_want(world, "sword", 10 * SECOND_US, 5 * SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) != GH_PENDING, MS, SECOND_US);
    assert_status(gh_op_poll(&lock->op), GH_UNKNOWN);
    assert_int_equal(scripted_stats(world).protocol_errors, 0);
    world->answer = NULL;
}

/* ---- too much, too slow -------------------------------------------------------------------------------- */

static void endless_line_is_given_up(void** state)
{
    (void)state;
    const char firsts[] = {'+', '-', ':', '$', '*'};
    for (size_t i = 0; i < sizeof(firsts); i++)
    {
        scripted* world = scripted_new();
        char piece[4097];
        scripted_start_ready(world, NULL);
        scripted_ask(world, "A", SECOND_US, GH_REPEAT_NEVER);
        world->silent = true;
        scripted_tick(world, MS);
        memset(piece, '1', sizeof(piece) - 1);
        piece[sizeof(piece) - 1] = '\0';
        piece[0] = firsts[i];
        uint64_t received = 0;
        for (int j = 0; j < 100 && gh_client_ready(world->client); j++)
        {
            scripted_say(world, piece);
            piece[0] = '1';
            scripted_tick(world, MS);
            received += sizeof(piece) - 1;
        }
        assert_false(gh_client_ready(world->client));
        assert_int_equal(scripted_stats(world).protocol_errors, 1);
        assert_in_range(received, 1, 64 * 1024);
    }
}

/* One byte a tick, in both directions: slower, and nothing else. */
static void bytes_may_come_and_go_one_by_one(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.wake = true;
    config.connect_timeout_us = config.request_timeout_us = 60 * SECOND_US;
    world->send_max = world->receive_max = 1;
    scripted_start(world, &config);
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, 60 * SECOND_US);
    gh_lock* lock = scripted_want(world, "sword", 60 * SECOND_US, 60 * SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, 60 * SECOND_US);
    gh_command* op = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&op->op) == GH_OK, MS, 60 * SECOND_US);
    gh_lock_release(lock);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_OK, MS, 60 * SECOND_US);
    assert_int_equal(scripted_stats(world).links_lost, 0);
    assert_int_equal(scripted_stats(world).protocol_errors, 0);
}

/* ---- one op whose answer is too large ------------------------------------------------------------------ */

static bool say_too_much(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    (void)world, (void)count;
    if (!gh_str_equal(words[0], gh_str_literal("BIG"))) return false;
    add_text(reply, "$33000\r\n");
    memset(buffer_reserve(reply, 33000), 'x', 33000);
    reply->size += 33000;
    add_text(reply, "\r\n");
    return true;
}

/* It costs the link once, not for as long as the op lives, and nobody else's op. */
static void answer_that_is_too_large_does_not_starve_others(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    world->answer = say_too_much;
    gh_command* before = scripted_ask(world, "A", SECOND_US, GH_REPEAT_NEVER);
    gh_command* big = scripted_ask(world, "BIG", 60 * SECOND_US, GH_REPEAT_SAFE);
    gh_command* after = scripted_ask(world, "B", 60 * SECOND_US, GH_REPEAT_SAFE);
    SCRIPTED_UNTIL(world, gh_op_poll(&big->op) != GH_PENDING, MS, 10 * SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&after->op) != GH_PENDING, MS, 10 * SECOND_US);
    assert_status(gh_op_poll(&before->op), GH_OK);
    assert_status(gh_op_poll(&big->op), GH_TOO_SMALL);
    assert_status(gh_op_poll(&after->op), GH_OK);
    assert_int_equal(big->reply_needed, 0);
    assert_int_equal(scripted_stats(world).links_lost, 1);
}

/* A broken server gives the same op nonsense each time: it ends in the end, and the others live. */
static void answer_that_is_nonsense_each_time_ends_its_op(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    world->context = (void*)(uintptr_t)"?\r\n";
    world->answer = say_text;
    gh_command* bad = scripted_ask(world, "ECHO", 3600 * SECOND_US, GH_REPEAT_SAFE);
    gh_command* good = scripted_ask(world, "A", 3600 * SECOND_US, GH_REPEAT_SAFE);
    SCRIPTED_UNTIL(world, gh_op_poll(&bad->op) != GH_PENDING, MS, 60 * SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&good->op) == GH_OK, MS, 10 * SECOND_US);
    assert_status(gh_op_poll(&bad->op), GH_UNKNOWN);
    assert_in_range(scripted_stats(world).links_lost, 2, 10);
}

TEST_FILE(peers, cmocka_unit_test(nonsense_for_an_answer_gives_up_the_link),
          cmocka_unit_test(nonsense_in_the_hand_shake_is_not_believed),
          cmocka_unit_test(unasked_words_give_up_an_idle_link), cmocka_unit_test(surplus_answer_is_nobodys),
          cmocka_unit_test(lock_believes_no_other_shape), cmocka_unit_test(lock_believes_no_other_code),
          cmocka_unit_test(endless_line_is_given_up), cmocka_unit_test(bytes_may_come_and_go_one_by_one),
          cmocka_unit_test(answer_that_is_too_large_does_not_starve_others),
          cmocka_unit_test(answer_that_is_nonsense_each_time_ends_its_op));
