/* Tests of GH_REPEAT_ONCE: copies that come late, clocks that jump, and what a server may say at the wrong time. */

#include "support/scene/till.h"
#include "support/server/fake_server.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- late copies ----------------------------------------------------------------------------------------------- */

#define SHORT_US (SECOND_US / 5) /* a link is given up after so long */

/* The first copy hangs on the way, and the second one is carried out. */
static gh_command* hold_the_first_copy(till* self)
{
    assert_ends(say_once(self->game, "INCR warm"), GH_OK);
    uint64_t lost = game_stats(self->game).links_lost;
    proxy_arm(self->proxy, PROXY_REQUEST, 0, PROXY_HOLD);
    gh_command* command = say_once(self->game, "INCR count");
    assert_ends(command, GH_OK);
    assert_int_equal(game_stats(self->game).links_lost, lost + 1);
    assert_int_equal(redis_server_integer(self->server, "GET count"), 1);
    return command;
}

/* The held bytes have been read and carried out when the server has read them to their end. */
static void let_the_copy_go(till* self)
{
    long long before = redis_server_calls(self->server, "evalsha");
    proxy_release(self->proxy);
    WAIT_FOR(redis_server_calls(self->server, "evalsha") > before);
}

/* Before its time is over, by the store's clock. */
static void late_copy_finds_the_receipt(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    till self = till_open(&options, SHORT_US * suite_patience());
    hold_the_first_copy(&self);
    redis_server_shift_clock(self.server, -60 * (int64_t)SECOND_US);
    let_the_copy_go(&self);
    assert_int_equal(redis_server_integer(self.server, "GET count"), 1);
}

/* The receipt has gone, and with it all that the store knew of the op. */
static void copy_that_outlives_its_receipt_does_nothing(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    till self = till_open(&options, SHORT_US * suite_patience());
    hold_the_first_copy(&self);
    redis_server_shift_clock(self.server, 7200 * (int64_t)SECOND_US);
    assert_int_equal(redis_server_integer(self.server, "EXISTS count"), 1);
    WAIT_FOR(redis_server_keys(self.server) == 2 + 1); /* count, warm, the epoch; no receipt */
    let_the_copy_go(&self);
    assert_int_equal(redis_server_integer(self.server, "GET count"), 1);
}

/* All copies of an op are of one time: what was told UNKNOWN is not done after that. */
static void copy_of_an_op_that_is_over_does_nothing(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    till self = till_open(&options, 0);
    assert_ends(say_once(self.game, "INCR warm"), GH_OK);
    gh_command_config config = once_config(self.game);
    config.timeout_us = SECOND_US / 2;
    proxy_arm(self.proxy, PROXY_REQUEST, 0, PROXY_HOLD);
    gh_command* command = say(self.game, &config, "INCR count");
    assert_ends(command, GH_UNKNOWN);
    redis_server_shift_clock(self.server, (int64_t)self.game->config.request_timeout_us);
    let_the_copy_go(&self);
    assert_int_equal(redis_server_integer(self.server, "EXISTS count"), 0);
}

/* Of an op that was sent once a late copy is no loss: the answer says what time it is. */
static void clock_that_jumps_costs_a_round_trip(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    till self = till_open(&options, 0);
    for (int hour = 1; hour <= 3; hour++)
    {
        redis_server_shift_clock(self.server, 3600 * (int64_t)SECOND_US * (hour == 2 ? -hour : hour));
        gh_command* command = say_once(self.game, "INCR count");
        assert_ends(command, GH_OK);
        assert_int_equal(gh_command_reply(command)->integer, hour);
    }
    assert_int_equal(game_stats(self.game).links_lost, 0);
}

/* It was carried out, its answer was lost, and before it is asked for again the receipt has gone. */
static void clock_that_jumps_over_a_receipt_is_unknown(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    till self = till_open(&options, 0);
    assert_ends(say_once(self.game, "INCR warm"), GH_OK);
    proxy_set_mode(self.proxy, PROXY_REFUSE);
    till_lose_the_answer(&self);
    uint64_t lost = game_stats(self.game).links_lost;
    gh_command* command = say_once(self.game, "INCR count");
    GAME_UNTIL(game_stats(self.game).links_lost > lost);
    redis_server_shift_clock(self.server, 7200 * (int64_t)SECOND_US);
    proxy_set_mode(self.proxy, PROXY_PASS);
    assert_ends(command, GH_UNKNOWN);
    assert_int_equal(redis_server_integer(self.server, "GET count"), 1);
}

/* Between one server and the next there may be a second or two. */
static void clock_that_jumps_a_little_loses_nothing(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    till self = till_open(&options, 0);
    assert_ends(say_once(self.game, "INCR warm"), GH_OK);
    for (int times = 1; times <= 2; times++)
    {
        proxy_set_mode(self.proxy, PROXY_REFUSE);
        till_lose_the_answer(&self);
        uint64_t lost = game_stats(self.game).links_lost;
        gh_command* command = say_once(self.game, "INCR count");
        GAME_UNTIL(game_stats(self.game).links_lost > lost);
        redis_server_shift_clock(self.server, times == 1 ? 30 * (int64_t)SECOND_US : 0);
        proxy_set_mode(self.proxy, PROXY_PASS);
        assert_ends(command, GH_OK);
        assert_int_equal(gh_command_reply(command)->integer, times);
    }
}

/* ---- the end of a server in the middle --------------------------------------------------------------------------- */

static bool is_busy(redis_server* server)
{
    redisReply* reply = redis_server_command(server, "PING");
    bool busy = reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "BUSY ", 5) == 0;
    freeReplyObject(reply);
    return busy;
}

/* Its receipt is written, so only the server's end ends it. What that had written by then goes with the receipt. */
static void text_that_never_ends_goes_with_its_server(void** state)
{
    (void)state;
    redis_server_options options = {.append_only = true};
    till self = till_open(&options, 0);
    redis_server_do(self.server, "CONFIG SET busy-reply-threshold 1");
    gh_command_config config = once_config(self.game);
    config.timeout_us = 50 * SECOND_US;
    gh_script* script = script_new(self.game, "redis.call('INCR', KEYS[1]) "
                                              "while redis.call('EXISTS', KEYS[2]) == 0 do end "
                                              "return redis.call('GET', KEYS[1])");
    gh_command* command = run_script(self.game, &config, script, "count signal", "");
    GAME_UNTIL(is_busy(self.server));
    redisReply* killed = redis_server_command(self.server, "SCRIPT KILL");
    assert_int_equal(killed->type, REDIS_REPLY_ERROR);
    assert_non_null(strstr(killed->str, "UNKILLABLE"));
    freeReplyObject(killed);
    proxy_set_mode(self.proxy, PROXY_REFUSE);
    redis_server_kill9(self.server);
    redis_server_restart(self.server);
    assert_int_equal(redis_server_integer(self.server, "EXISTS count"), 0);
    redis_server_do(self.server, "SET signal 1");
    proxy_set_mode(self.proxy, PROXY_PASS);
    assert_ends(command, GH_OK);
    assert_string_equal(reply_text(self.game, command), "1");
}

/* ---- what else a server may say ---------------------------------------------------------------------------------- */

#define TALKS_MAX 3

/* What each copy is answered, one after the other; the last one as often as it is asked for. %s: the sequence. */
typedef struct talker
{
    const char* talks[TALKS_MAX + 1];
    atomic_uint asked;
} talker;

static void talk(void* context, const fake_request* request, fake_reply* reply)
{
    talker* self = context;
    if (!fake_request_is(request, "EVALSHA") || request->arguments[3].size < 40)
    {
        fake_reply_default(reply);
        return;
    }
    unsigned at = atomic_fetch_add(&self->asked, 1);
    size_t last = 0;
    while (self->talks[last + 1] != NULL) last++;
    const fake_argument* sequence = &request->arguments[3 + atoi(request->arguments[2].bytes)];
    char text[32];
    snprintf(text, sizeof(text), "%.*s", (int)sequence->size, sequence->bytes);
    const char* words = self->talks[at < last ? at : last];
    const char* place = strstr(words, "%s");
    if (place == NULL) fake_reply_text(reply, words);
    else fake_reply_format(reply, "%.*s%s%s", (int)(place - words), words, text, place + 2);
}

#define HALF     "-ERR Script attempted to access a non local key in a cluster node\r\n"
#define STOPPED  "-ERR The user executing the script can't run this command or subcommand\r\n"
#define FENCED   "-FENCED the lock is not held with this fence\r\n"
#define LATE     "*3\r\n:%s\r\n:3\r\n:1795250000000000\r\n"
#define FAR_LATE "*3\r\n:%s\r\n:3\r\n:9007199254740991\r\n"
#define DONE     "*4\r\n:%s\r\n:0\r\n:1795250000000000\r\n:7\r\n"
#define NOTHING  "*3\r\n:%s\r\n:0\r\n:1795250000000000\r\n"
#define ODD      "*3\r\n:%s\r\n:9\r\n:1795250000000000\r\n"
#define NO_TIME  "*4\r\n:%s\r\n:0\r\n$1\r\n1\r\n:7\r\n"
#define ANOTHER  "*4\r\n:999999\r\n:0\r\n:1795250000000000\r\n:7\r\n"

/* A copy whose script was stopped may have been carried out: from then on nothing is said to be undone. */
static void outcome_is_what_all_copies_allow(void** state)
{
    (void)state;
    static const struct
    {
        const char* talks[TALKS_MAX];
        gh_status expected;
        unsigned asked;
    } cases[] = {{{DONE}, GH_OK, 1},
                 {{LATE, DONE}, GH_OK, 2},
                 {{HALF, DONE}, GH_OK, 2},
                 {{HALF, LATE, DONE}, GH_OK, 3},
                 {{ANOTHER, DONE}, GH_OK, 2},
                 {{"-OOM command not allowed\r\n", DONE}, GH_OK, 2},
                 {{"-BUSY Redis is busy\r\n", DONE}, GH_OK, 2},
                 {{NOTHING}, GH_UNKNOWN, 1},
                 {{NO_TIME}, GH_UNKNOWN, 1},
                 {{ODD}, GH_UNKNOWN, 1},
                 {{FENCED}, GH_FENCED, 1},
                 {{LATE, FENCED}, GH_FENCED, 2},
                 {{HALF, FENCED}, GH_UNKNOWN, 2},
                 {{HALF, LATE, FENCED}, GH_UNKNOWN, 3},
                 {{STOPPED}, GH_REFUSED, 1},
                 {{HALF, STOPPED}, GH_UNKNOWN, 2},
                 {{HALF, FAR_LATE}, GH_UNKNOWN, 2}};
    redis_server* server = redis_server_start(NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    {
        talker* self = calloc(1, sizeof(*self)); /* until the fake has ended */
        memcpy(self->talks, cases[i].talks, sizeof(cases[i].talks));
        fake_server* fake = fake_server_start(talk, self, redis_server_address(server));
        game* owner = game_start_ready(fake_server_address(fake));
        gh_status status = settle_command(say_once(owner, "INCR count"));
        unsigned asked = atomic_load(&self->asked);
        if (status != cases[i].expected || asked != cases[i].asked)
            fail_msg("case %zu ends %s after %u copies", i, gh_status_name(status), asked);
        game_end(owner);
        fake_server_end(fake);
        free(self);
    }
}

TEST_FILE(command_once_late, cmocka_unit_test(late_copy_finds_the_receipt),
          cmocka_unit_test(copy_that_outlives_its_receipt_does_nothing),
          cmocka_unit_test(copy_of_an_op_that_is_over_does_nothing),
          cmocka_unit_test(clock_that_jumps_costs_a_round_trip),
          cmocka_unit_test(clock_that_jumps_over_a_receipt_is_unknown),
          cmocka_unit_test(clock_that_jumps_a_little_loses_nothing),
          cmocka_unit_test(text_that_never_ends_goes_with_its_server),
          cmocka_unit_test(outcome_is_what_all_copies_allow));
