/* What becomes of an op, and of a hand-shake, for each kind of error that a server may answer. */

#include "support/command.h"
#include "support/server/fake_server.h"
#include "support/scene/game.h"
#include "support/server/redis_server.h"

#include <string.h>

#define MS UINT64_C(1000)

/* What an error means. */
typedef enum meaning
{
    AGAIN,     /* asked again on the same link until it is done                     */
    HEALTH,    /* as AGAIN, and a warning is logged                                 */
    LOAD,      /* the script is loaded and the request repeated                     */
    ELSEWHERE, /* the link is given up, and the request goes over the next one      */
    LOGIN,     /* as ELSEWHERE for an op; in the hand-shake refused                 */
    REFUSED,   /* ends GH_REFUSED                                                   */
    FENCED,    /* ends GH_FENCED                                                    */
    FOREIGN,   /* ends GH_CORRUPT                                                   */
    BROKEN,    /* a command reports it; a lock ends GH_CORRUPT                      */
    STOPPED,   /* a script may have written before it: a command reports it, a lock is UNKNOWN */
    HALF,      /* the same of a script whose slot moves: a lock asks again, a command is UNKNOWN */
    OTHER      /* a command reports it; a lock, whose scripts do not err, is UNKNOWN           */
} meaning;

typedef struct row
{
    meaning means;
    const char* text;
} row;

#define OLD_SCRIPT_ERROR                                                                                               \
    "ERR Error running script (call to f_6b1bf486c81ceb7edf3c093f4c48582e38c0e791): @user_script:1: "                  \
    "@user_script: 1: "

static const row rows[] = {
    {AGAIN, "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."},
    {AGAIN, "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."},
    {AGAIN, "LOADING Redis is loading the dataset in memory"},
    {AGAIN, "LOADING Valkey is loading the dataset in memory"},
    {AGAIN, "TRYAGAIN Multiple keys request during rehashing of slot"},
    {AGAIN, "CLUSTERDOWN The cluster is down"},
    {AGAIN, "CLUSTERDOWN The cluster is down and only accepts read commands"},
    {AGAIN, "CLUSTERDOWN Hash slot not served"},
    {AGAIN, "ERR max number of clients reached"},
    {AGAIN, "ERR max number of clients + cluster connections reached"},
    {HEALTH, "OOM command not allowed when used memory > 'maxmemory'."},
    {HEALTH, "OOM command not allowed when used memory > 'maxmemory'. script: 6b1bf486, on @user_script:1."},
    {HEALTH, OLD_SCRIPT_ERROR "-OOM command not allowed when used memory > 'maxmemory'. "},
    {HEALTH, "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."},
    {HEALTH, "MISCONF Errors writing to the AOF file: No space left on device"},
    {HEALTH, OLD_SCRIPT_ERROR "-MISCONF Errors writing to the AOF file: No space left on device"},
    {HEALTH, "NOREPLICAS Not enough good replicas to write."},
    {HEALTH, OLD_SCRIPT_ERROR "-NOREPLICAS Not enough good replicas to write."},
    {LOAD, "NOSCRIPT No matching script. Please use EVAL."},
    {ELSEWHERE, "READONLY You can't write against a read only replica."},
    {ELSEWHERE, "READONLY You can't write against a read only replica. script: 6b1bf486, on @user_script:1."},
    {ELSEWHERE, OLD_SCRIPT_ERROR "-READONLY You can't write against a read only replica. "},
    {ELSEWHERE, "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."},
    {LOGIN, "NOAUTH Authentication required."},
    {REFUSED, "NOPERM this user has no permissions to run the 'evalsha' command"},
    {REFUSED, "NOPERM this user has no permissions to access one of the keys used as arguments"},
    {REFUSED, "WRONGPASS invalid username-password pair or user is disabled."},
    {REFUSED, "ERR invalid password"},
    {STOPPED, "ERR The user executing the script can't run this command or subcommand script: 6b1bf486"},
    {STOPPED, OLD_SCRIPT_ERROR "-NOPERM this user has no permissions to run the 'get' command or its subcommand "},
    {REFUSED, "ERR unknown command 'EVALSHA', with args beginning with: '6b1b' '1' "},
    {STOPPED, "ERR Unknown Redis command called from script script: 6b1bf486, on @user_script:1."},
    {HALF, "ERR Script attempted to access a non local key in a cluster node script: 6b1bf486"},
    {REFUSED, "CROSSSLOT Keys in request don't hash to the same slot"},
    {REFUSED, "MOVED 3999 127.0.0.1:1"},
    {REFUSED, "MOVED 16383 0.0.0.0:0"},
    {AGAIN, "ASK 3999 127.0.0.1:1"},
    {REFUSED, "EXECABORT Transaction discarded because of previous errors."},
    {FENCED, "FENCED the lock is not held with this fence"},
    {FOREIGN, "CORRUPT the lock is not of the form that KEYS.md describes"},
    {OTHER, "FENCED by somebody else's script"},
    {BROKEN, "CORRUPT by somebody else's word"},
    {OTHER, "BUSY says a script of the game's own"},
    {BROKEN, "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {BROKEN, "WRONGTYPE Operation against a key holding the wrong kind of value script: 6b1bf486"},
    {BROKEN, OLD_SCRIPT_ERROR "-WRONGTYPE Operation against a key holding the wrong kind of value "},
    {OTHER, "ERR wrong number of arguments for 'get' command"},
    {OTHER, "ERR value is not an integer or out of range"},
    {OTHER, "ERR Error running script"},
    {OTHER, "ERR Error running script (call to f_6b1bf486c81ceb7edf3c093f4c48582e38c0e791): @user_script:1: why"},
    {OTHER, "SOMETHING that no server says today"},
    {OTHER, "BUSYGROUP Consumer Group name already exists"},
    {OTHER, "BUSYKEY Target key name already exists."},
    {OTHER, "MOVEDX"},
    {OTHER, "OOMPH"},
    {OTHER, "err lower case"},
    {OTHER, "ERR"},
    {OTHER, ""},
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

/* ---- the peer: a real server, with one error in the way ------------------------------------------------ */

typedef struct liar
{
    const char* text;    /* the error                                                 */
    const char* command; /* two words compare two arguments                           */
    size_t count;        /* of the request's arguments; 0: any                        */
    unsigned times;      /* so many of those requests get the error                   */
    unsigned seen;       /* read after the fake has ended                             */
} liar;

static void lie(void* context, const fake_request* request, fake_reply* reply)
{
    liar* self = context;
    bool fits = fake_request_is(request, self->command) && (self->count == 0 || request->count == self->count);
    if (fits && self->seen++ < self->times) fake_reply_format(reply, "-%s\r\n", self->text);
    else fake_reply_default(reply);
}

static game* start_behind(fake_server* fake)
{
    gh_client_config config = game_config(fake_server_address(fake));
    config.wake = false;
    config.connect_timeout_us = 60 * SECOND_US; /* so that every link is lost for what the peer says */
    config.request_timeout_us = 60 * SECOND_US;
    config.backoff_min_us = MS;
    config.backoff_max_us = 2 * MS;
    config.user = gh_str_literal("default"); /* so that AUTH and SELECT are said too */
    config.password = gh_str_literal("anything");
    config.database = 1;
    return game_start_with(&config);
}

/* ---- ops ----------------------------------------------------------------------------------------------- */

static gh_status end_of_command(meaning means)
{
    switch (means)
    {
    case REFUSED: return GH_REFUSED;
    case FENCED: return GH_FENCED;
    case FOREIGN: return GH_CORRUPT;
    case HALF: return GH_UNKNOWN;
    case STOPPED:
    case BROKEN:
    case OTHER: return GH_ERROR;
    case AGAIN:
    case HEALTH:
    case LOAD:
    case ELSEWHERE:
    case LOGIN: break;
    }
    return GH_OK;
}

static gh_status end_of_lock(meaning means)
{
    switch (means)
    {
    case BROKEN: return GH_CORRUPT;
    case STOPPED:
    case OTHER: return GH_UNKNOWN;
    case HALF: return GH_OK;
    case AGAIN:
    case HEALTH:
    case LOAD:
    case ELSEWHERE:
    case LOGIN:
    case REFUSED:
    case FENCED:
    case FOREIGN: break;
    }
    return end_of_command(means);
}

static void assert_accounted_for(const game* self, meaning means, gh_status ended, unsigned times, size_t i)
{
    gh_client_stats stats = game_stats(self);
    bool again = means == AGAIN || means == HEALTH || (means == HALF && ended == GH_OK);
    bool moved = means == ELSEWHERE || means == LOGIN;
    unsigned warnings = means == HALF ? (ended == GH_OK ? times : 1) : moved || means == HEALTH ? times : 0;
    bool told = means == REFUSED || means == STOPPED || means == FOREIGN;
    if (stats.retries != (again ? times : 0)) fail_msg("row %zu: %d retries", i, (int)stats.retries);
    if (stats.links_lost != (moved ? times : 0)) fail_msg("row %zu: %d links lost", i, (int)stats.links_lost);
    if (stats.script_reloads != (means == LOAD ? times : 0)) fail_msg("row %zu: no reload", i);
    if (stats.protocol_errors != 0) fail_msg("row %zu: a protocol error", i);
    if (self->warnings_logged != warnings) fail_msg("row %zu: %u warnings", i, self->warnings_logged);
    if (told != (self->errors_logged > 0) && means != OTHER && means != BROKEN)
        fail_msg("row %zu: %u errors: %s", i, self->errors_logged, self->last_error);
}

static void lock_by_each_error(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    for (size_t i = 0; i < ROW_COUNT; i++)
    {
        liar self = {.text = rows[i].text, .command = "EVALSHA", .count = 13, .times = 2};
        fake_server* fake = fake_server_start(lie, &self, redis_server_address(server));
        game* a = start_behind(fake);
        gh_lock* lock = GAME_NEW(a, gh_lock);
        assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), NULL), GH_OK);
        GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
        gh_status expected = end_of_lock(rows[i].means);
        gh_status ended = gh_op_poll(&lock->op) == GH_HELD ? GH_OK : gh_op_poll(&lock->op);
        if (ended != expected) fail_msg("row %zu: %s, not %s", i, gh_status_name(ended), gh_status_name(expected));
        assert_accounted_for(a, rows[i].means, expected, 2, i);
        gh_lock_release(lock);
        GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
        game_end(a);
        fake_server_end(fake);
        assert_int_equal(self.seen, expected == GH_OK ? 3 : 1);
    }
}

static void command_by_each_error(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    for (size_t i = 0; i < ROW_COUNT; i++)
    {
        if (rows[i].means == LOAD) continue; /* a command has no script */
        liar self = {.text = rows[i].text, .command = "INCR", .times = 2};
        fake_server* fake = fake_server_start(lie, &self, redis_server_address(server));
        game* a = start_behind(fake);
        redis_server_do(server, "FLUSHALL");
        gh_command* op = say(a, NULL, "INCR counter"); /* NEVER: an error says that it was not done */
        gh_status ended = settle_command(op);
        gh_status expected = end_of_command(rows[i].means);
        if (ended != expected) fail_msg("row %zu: %s, not %s", i, gh_status_name(ended), gh_status_name(expected));
        if (expected == GH_OK) assert_int_equal(gh_command_reply(op)->integer, 1);
        if (expected == GH_ERROR) assert_string_equal(reply_text(a, op), rows[i].text);
        assert_accounted_for(a, rows[i].means, expected, 2, i);
        game_end(a);
        fake_server_end(fake);
        assert_int_equal(self.seen, expected == GH_OK ? 3 : 1);
    }
}

/* Whatever came before, one NOSCRIPT is nothing to give up for: a server that was busy did not take the
   script either. */
static void script_forgotten_after_many_retries(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    fake_rule rules[] = {
        {.command = "EVALSHA", .text = "-BUSY Redis is busy running a script.\r\n", .skip = 2, .times = 9},
        {.command = "EVALSHA", .text = "-NOSCRIPT No matching script. Please use EVAL.\r\n", .skip = 2, .times = 1}};
    fake_rules table = {rules, 2};
    fake_server* fake = fake_server_start(fake_answer_by_rules, &table, redis_server_address(server));
    game* a = game_start(fake_server_address(fake));
    gh_command_config config = command_config(a, GH_REPEAT_SAFE, 0);
    config.timeout_us = 60 * SECOND_US;
    assert_ends(run_script(a, &config, script_new(a, "return 7"), "", ""), GH_OK);
    assert_int_equal(game_stats(a).retries, 9);
    assert_int_equal(game_stats(a).script_reloads, 1);
}

/* A server that forgets each script at once: the op ends, and does not go round for ever. */
static void script_forgotten_each_time(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    liar self = {.text = "NOSCRIPT No matching script. Please use EVAL.",
                 .command = "EVALSHA",
                 .count = 13,
                 .times = UINT32_MAX};
    fake_server* fake = fake_server_start(lie, &self, redis_server_address(server));
    game* a = start_behind(fake);
    gh_lock* lock = GAME_NEW(a, gh_lock);
    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_REFUSED);
    assert_in_range(game_stats(a).script_reloads, 1, 20);
}

/* The link goes for it; but nothing of the request was sent, so it goes again, also one that may never be repeated. */
static void load_is_answered_with_no_digest(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    fake_rule rules[] = {{.command = "SCRIPT LOAD", .text = "+what\r\n", .skip = 2, .times = 1}};
    fake_rules table = {rules, 1};
    fake_server* fake = fake_server_start(fake_answer_by_rules, &table, redis_server_address(server));
    game* a = start_behind(fake);
    GAME_UNTIL(gh_client_ready(a->client));
    gh_command_config config = command_config(a, GH_REPEAT_NEVER, 64);
    config.timeout_us = 60 * SECOND_US;
    gh_command* op = run_script(a, &config, script_new(a, "return redis.call('INCR', KEYS[1])"), "counter", "");
    assert_ends(op, GH_OK);
    assert_int_equal(gh_command_reply(op)->integer, 1);
    assert_int_equal(game_stats(a).protocol_errors, 1);
    assert_int_equal(game_stats(a).links_lost, 1);
}

/* Answered the same for as long as it lives, an op ends in time, and asks with pauses that grow. */
static void op_that_is_told_to_wait_for_ever(void** state)
{
    (void)state;
    const meaning kinds[] = {AGAIN, HEALTH, ELSEWHERE};
    redis_server* server = redis_server_start(NULL);
    for (int kind = 0; kind < 3; kind++)
    {
        size_t i = 0;
        while (rows[i].means != kinds[kind]) i++;
        liar self = {.text = rows[i].text, .command = "INCR", .times = UINT32_MAX};
        fake_server* fake = fake_server_start(lie, &self, redis_server_address(server));
        game* a = start_behind(fake);
        GAME_UNTIL(gh_client_ready(a->client));
        gh_command_config config = command_config(a, GH_REPEAT_NEVER, 64);
        config.timeout_us = 700 * MS;
        /* On a slow machine its end may fall between a question and the answer: that op cannot know. */
        gh_status ended = GH_UNKNOWN;
        unsigned tries = 0;
        while (ended == GH_UNKNOWN && tries++ < 10)
        {
            gh_command* op = say(a, &config, "INCR counter");
            GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
            ended = gh_op_poll(&op->op);
        }
        assert_status(ended, GH_TIMEOUT);
        redis_server_do(server, "SELECT 1"); /* as the client of start_behind */
        assert_int_equal(redis_server_integer(server, "EXISTS counter"), 0);
        game_end(a);
        fake_server_end(fake);
        if (kinds[kind] != ELSEWHERE) assert_in_range(self.seen, 5, 16 * tries);
    }
}

/* ---- the hand-shake ------------------------------------------------------------------------------------ */

typedef struct shake
{
    const char* command;
    size_t count;
    bool harmless; /* the link does without it */
} shake;

static const shake shakes[] = {{"AUTH", 0, false},        {"SELECT", 0, false},          {"CLIENT SETNAME", 0, true},
                               {"INFO server", 0, true},  {"INFO replication", 0, true}, {"INFO cluster", 0, true},
                               {"SCRIPT LOAD", 0, false}, {"EVALSHA", 8, false},         {"PUBLISH", 0, true}};

static void hand_shake_step_by_each_error(const shake* step)
{
    redis_server* server = redis_server_start(NULL);
    for (size_t i = 0; i < ROW_COUNT; i++)
    {
        meaning means = rows[i].means;
        bool patient = means == AGAIN || means == HEALTH || means == ELSEWHERE || means == LOAD;
        if (means == LOAD && strcmp(step->command, "EVALSHA") != 0) continue;
        if (means == LOGIN && step->harmless) continue; /* never alone: the next step is refused too */
        bool loads_two = strcmp(step->command, "SCRIPT LOAD") == 0;
        liar self = {.text = rows[i].text, .command = step->command, .count = step->count, .times = loads_two ? 4 : 2};
        fake_server* fake = fake_server_start(lie, &self, redis_server_address(server));
        game* a = start_behind(fake);
        gh_command* op = say(a, NULL, "GET greeting");
        gh_status ended = settle_command(op);
        bool of_a_key = strstr(rows[i].text, "CORRUPT ") != NULL || strstr(rows[i].text, "WRONGTYPE Oper") != NULL;
        bool of_the_key = step->count == 8 && of_a_key;
        gh_status expected = patient || step->harmless ? GH_OK : of_the_key ? GH_CORRUPT : GH_REFUSED;
        if (ended != expected)
            fail_msg("%s [%s], row %zu: %s, not %s", step->command, a->last_error, i, gh_status_name(ended),
                     gh_status_name(expected));
        if (!patient && !step->harmless && a->errors_logged == 0)
            fail_msg("%s, row %zu: nobody is told", step->command, i);
        if (patient && a->errors_logged != 0) fail_msg("%s, row %zu: %s", step->command, i, a->last_error);
        GAME_UNTIL(gh_client_ready(a->client)); /* the third attempt meets no error */
        assert_int_equal(game_stats(a).protocol_errors, 0);
        assert_int_equal(game_stats(a).links_ready, 1);
        assert_int_equal(fake_server_connections(fake), step->harmless && !patient ? 1 : 3);
        game_end(a);
        fake_server_end(fake);
    }
}

#define SHAKE_TEST(name, number)                                                                                       \
    static void name(void** state)                                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        hand_shake_step_by_each_error(&shakes[number]);                                                                \
    }
SHAKE_TEST(auth_by_each_error, 0)
SHAKE_TEST(select_by_each_error, 1)
SHAKE_TEST(name_by_each_error, 2)
SHAKE_TEST(info_by_each_error, 3)
SHAKE_TEST(role_by_each_error, 4)
SHAKE_TEST(cluster_by_each_error, 5)
SHAKE_TEST(load_by_each_error, 6)
SHAKE_TEST(epoch_by_each_error, 7)
SHAKE_TEST(publish_by_each_error, 8)

/* Said by servers that are full or protected, before anything was asked, and then they close. */
static void error_for_a_greeting(void** state)
{
    (void)state;
    const char* const greetings[] = {"-ERR max number of clients reached\r\n",
                                     "-DENIED Redis is running in protected mode \r\n"};
    redis_server* server = redis_server_start(NULL);
    for (int i = 0; i < 2; i++)
    {
        fake_server* fake = fake_server_start(NULL, NULL, redis_server_address(server));
        fake_server_greet(fake, greetings[i], true);
        game* a = start_behind(fake);
        GAME_UNTIL(fake_server_connections(fake) >= 5);
        assert_false(gh_client_ready(a->client));
        assert_int_equal(game_stats(a).protocol_errors, 0);
        fake_server_greet(fake, NULL, false);
        GAME_UNTIL(gh_client_ready(a->client));
        game_end(a);
        fake_server_end(fake);
    }
}

TEST_FILE(reply_classes, cmocka_unit_test(lock_by_each_error), cmocka_unit_test(command_by_each_error),
          cmocka_unit_test(script_forgotten_after_many_retries), cmocka_unit_test(script_forgotten_each_time),
          cmocka_unit_test(load_is_answered_with_no_digest), cmocka_unit_test(op_that_is_told_to_wait_for_ever),
          cmocka_unit_test(auth_by_each_error), cmocka_unit_test(select_by_each_error),
          cmocka_unit_test(name_by_each_error), cmocka_unit_test(info_by_each_error),
          cmocka_unit_test(role_by_each_error), cmocka_unit_test(cluster_by_each_error),
          cmocka_unit_test(load_by_each_error), cmocka_unit_test(epoch_by_each_error),
          cmocka_unit_test(publish_by_each_error), cmocka_unit_test(error_for_a_greeting));
