/* Every fault of support/fault.h over commands and scripts, and what GH_REPEAT_NEVER, _SAFE and _ONCE promise
   about them:

       NEVER   done once or not at all; OK means once; TIMEOUT and CANCELLED mean not at all; UNKNOWN means look
       SAFE    goes on until it is OK
       ONCE    goes on until it is OK, and then it was done once */

#include "support/command.h"
#include "support/faults/fault.h"

#include <stdio.h>
#include <string.h>

#define KEY_SIZE (GH_LOCK_TAG_SIZE_MAX + 8)

/* An op with all that it needs to stay in place. */
typedef struct faulted_command
{
    gh_command command; /* first: the harness hands out the address of the whole */
    gh_script script;
    gh_str arguments[3];
    gh_command_config config;
    char key[KEY_SIZE];
    char text[256];
    uint64_t memory[32];
    uint64_t links_lost; /* before it began */
} faulted_command;

/* ---- pieces -------------------------------------------------------------------------------------------- */

/* The key is in the slot of the lock of the run, so that a fence may go with it on Cluster. */
static faulted_command* faulted(fault_scene* scene, gh_repeat repeat)
{
    faulted_command* self = scene->op;
    size_t size = gh_lock_tag(scene->game->client, fault_name(scene), self->key, sizeof(self->key));
    memcpy(self->key + size, ":key", 5);
    self->links_lost = game_stats(scene->game).links_lost;
    self->config = gh_command_config_default();
    self->config.timeout_us = 15 * SECOND_US * suite_patience();
    self->config.repeat = repeat;
    self->config.reply_memory = self->memory;
    self->config.reply_size = sizeof(self->memory);
    return self;
}

/* Also before the op has begun. */
static const char* key_of(fault_scene* scene)
{
    faulted_command* self = scene->op;
    if (self->key[0] == 0) faulted(scene, GH_REPEAT_NEVER);
    return self->key;
}

static void begin_words(fault_scene* scene, faulted_command* self, const char* verb, const char* argument)
{
    self->arguments[0] = gh_str_of(verb);
    self->arguments[1] = gh_str_of(self->key);
    self->arguments[2] = gh_str_of(argument);
    assert_status(
        gh_command_begin(&self->command, scene->game->client, self->arguments, argument == NULL ? 2 : 3, &self->config),
        GH_OK);
}

/* A text of its own in each run: its way to the server is cut too. */
static void begin_text(fault_scene* scene, faulted_command* self, const char* body)
{
    snprintf(self->text, sizeof(self->text), "%s -- %llu", body, (unsigned long long)scene->run);
    self->script.text = gh_str_of(self->text);
    self->arguments[0] = gh_str_of(self->key);
    self->arguments[1] = gh_str_literal("id of mine");
    assert_status(gh_script_begin(&self->command, scene->game->client, &self->script, self->arguments, 1,
                                  self->arguments + 1, 1, &self->config),
                  GH_OK);
}

/* UNKNOWN is an end that the harness must accept here; the audit asks the op itself. */
static gh_status poll_unrepeated(const void* op)
{
    gh_status status = gh_op_poll(op);
    return status == GH_UNKNOWN ? GH_OK : status;
}

static long long stored_number(fault_scene* scene)
{
    return redis_server_integer(scene->server, "INCRBY %s 0", key_of(scene)); /* 0 when it is not there */
}

/* What was sent on a connection that is lost may still be on its way through the server when the op has
   ended. It is behind us once the server has read that connection to its end: then it has the game's, the
   other one's, the audit's. */
static void wait_for_old_connections(fault_scene* scene)
{
    GAME_UNTIL(gh_client_ready(scene->game->client) && gh_client_ready(scene->other->client) &&
               strstr(redis_server_text(scene->server, "INFO clients"), "connected_clients:3\r\n") != NULL);
}

static void audit_done_at_most_once(fault_scene* scene, gh_status status)
{
    const faulted_command* self = scene->op;
    gh_status real = gh_op_poll(&self->command.op);
    (void)status;
    wait_for_old_connections(scene);
    long long times = stored_number(scene);
    if (real == GH_OK) assert_int_equal(gh_command_reply(&self->command)->integer, 1);
    if (real == GH_UNKNOWN) assert_true(game_stats(scene->game).links_lost > self->links_lost);
    if (times < 0 || times > 1 || (real == GH_OK && times != 1) || (real != GH_OK && real != GH_UNKNOWN && times != 0))
        fail_msg("done %lld times, and ended %s", times, gh_status_name(real));
}

static void audit_done_once(fault_scene* scene, gh_status status)
{
    wait_for_old_connections(scene);
    assert_int_equal(stored_number(scene), status == GH_OK ? 1 : 0);
}

/* ---- SET, which may be repeated ------------------------------------------------------------------------ */

static void begin_set(fault_scene* scene)
{
    begin_words(scene, faulted(scene, GH_REPEAT_SAFE), "SET", "1");
}

static const fault_operation set = {
    "set", sizeof(faulted_command), 0, 0, NULL, begin_set, fault_poll_op, NULL, fault_cancel_op, audit_done_once};

/* ---- GET, whose answer must be whole ------------------------------------------------------------------- */

static const char payload[] = "0123456789\r\nabcdefghijklmnopqrstuvwxyz\r\n";

static void prepare_get(fault_scene* scene)
{
    redis_server_do(scene->server, "SET %s %b", key_of(scene), payload, sizeof(payload));
}

static void begin_get(fault_scene* scene)
{
    begin_words(scene, faulted(scene, GH_REPEAT_SAFE), "GET", NULL);
}

static void audit_get(fault_scene* scene, gh_status status)
{
    const gh_reply* reply = gh_command_reply(scene->op);
    if (status != GH_OK) return;
    assert_non_null(reply);
    assert_true(gh_str_equal(reply->text, gh_str_make(payload, sizeof(payload))));
}

static const fault_operation get = {"get", sizeof(faulted_command), 0,        0, prepare_get, begin_get, fault_poll_op,
                                    NULL,  fault_cancel_op,         audit_get};

/* ---- INCR, which must not be repeated ------------------------------------------------------------------ */

static void begin_incr(fault_scene* scene)
{
    begin_words(scene, faulted(scene, GH_REPEAT_NEVER), "INCR", NULL);
}

static const fault_operation incr = {
    "incr",          sizeof(faulted_command), 0, 0, NULL, begin_incr, poll_unrepeated, NULL,
    fault_cancel_op, audit_done_at_most_once};

/* ---- a script that must not be repeated, and one that knows its own id --------------------------------- */

static void begin_script(fault_scene* scene)
{
    begin_text(scene, faulted(scene, GH_REPEAT_NEVER), "return redis.call('INCR', KEYS[1])");
}

static const fault_operation script = {
    "script",        sizeof(faulted_command), 0, 3, NULL, begin_script, poll_unrepeated, NULL,
    fault_cancel_op, audit_done_at_most_once};

static const char knows_its_id[] =
    "if redis.call('SADD', KEYS[1] .. ':ids', ARGV[1]) == 1 then redis.call('INCR', KEYS[1]) end return 'OK'";

static void begin_known(fault_scene* scene)
{
    begin_text(scene, faulted(scene, GH_REPEAT_SAFE), knows_its_id);
}

static const fault_operation known = {
    "known", sizeof(faulted_command), 0, 3, NULL, begin_known, fault_poll_op, NULL, fault_cancel_op, audit_done_once};

/* The same text in each run, so that it is known and then forgotten. */
static void begin_shared(fault_scene* scene)
{
    static gh_script one;
    faulted_command* self = faulted(scene, GH_REPEAT_NEVER);
    if (scene->run == 1) memset(&one, 0, sizeof(one)); /* another client */
    one.text = gh_str_literal("return redis.call('INCR', KEYS[1])");
    self->arguments[0] = gh_str_of(self->key);
    assert_status(
        gh_script_begin(&self->command, scene->game->client, &one, self->arguments, 1, NULL, 0, &self->config), GH_OK);
}

static const fault_operation shared = {
    "shared",        sizeof(faulted_command), 0, 3, NULL, begin_shared, poll_unrepeated, NULL,
    fault_cancel_op, audit_done_at_most_once};

/* ---- with a fence -------------------------------------------------------------------------------------- */

/* The other game's, and in its memory: it outlives this run. */
static void prepare_fence(fault_scene* scene)
{
    gh_lock** lock = scene->more;
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = 600 * SECOND_US; /* the owner sleeps while the fault strikes */
    char* name = GAME_NEW_ARRAY(scene->other, char, sizeof(scene->name));
    memcpy(name, scene->name, sizeof(scene->name));
    *lock = GAME_NEW(scene->other, gh_lock);
    assert_status(gh_lock_begin(*lock, scene->other->client, gh_str_of(name), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&(*lock)->op) == GH_HELD);
}

static void begin_fenced(fault_scene* scene)
{
    faulted_command* self = faulted(scene, GH_REPEAT_NEVER);
    self->config.fence = gh_lock_fence(*(gh_lock**)scene->more);
    begin_words(scene, self, "INCR", NULL);
}

static const fault_operation fenced = {
    "fenced", sizeof(faulted_command), sizeof(gh_lock*),       3, prepare_fence, begin_fenced, poll_unrepeated,
    NULL,     fault_cancel_op,         audit_done_at_most_once};

static void begin_fenced_script(fault_scene* scene)
{
    faulted_command* self = faulted(scene, GH_REPEAT_SAFE);
    self->config.fence = gh_lock_fence(*(gh_lock**)scene->more);
    begin_text(scene, self, knows_its_id);
}

static const fault_operation fenced_script = {"fenced-script", sizeof(faulted_command), sizeof(gh_lock*), 17,
                                              prepare_fence,   begin_fenced_script,     fault_poll_op,    NULL,
                                              fault_cancel_op, audit_done_once};

/* ---- what must not be done twice, and is sent again all the same --------------------------------------- */

static void begin_once(fault_scene* scene)
{
    begin_words(scene, faulted(scene, GH_REPEAT_ONCE), "INCR", NULL);
}

static const fault_operation once = {
    "once",          sizeof(faulted_command), 0, 0, NULL, begin_once, fault_poll_op, NULL,
    fault_cancel_op, audit_done_at_most_once};

static void begin_once_script(fault_scene* scene)
{
    begin_text(scene, faulted(scene, GH_REPEAT_ONCE), "return redis.call('INCR', KEYS[1])");
}

static const fault_operation once_script = {
    "once-script",   sizeof(faulted_command), 0, 17, NULL, begin_once_script, fault_poll_op, NULL,
    fault_cancel_op, audit_done_at_most_once};

static void begin_once_fenced(fault_scene* scene)
{
    faulted_command* self = faulted(scene, GH_REPEAT_ONCE);
    self->config.fence = gh_lock_fence(*(gh_lock**)scene->more);
    begin_words(scene, self, "INCR", NULL);
}

static const fault_operation once_fenced = {"once-fenced",   sizeof(faulted_command), sizeof(gh_lock*), 3,
                                            prepare_fence,   begin_once_fenced,       fault_poll_op,    NULL,
                                            fault_cancel_op, audit_done_at_most_once};

/* All but the one that needs a script which the server had before. */
#define PLAIN_FAULT_TESTS(operation)                                                                                   \
    FAULT_TEST(operation, cut_at_every_byte)                                                                           \
    FAULT_TEST(operation, link_lost_at_every_tick)                                                                     \
    FAULT_TEST(operation, server_killed)                                                                               \
    FAULT_TEST(operation, server_frozen)                                                                               \
    FAULT_TEST(operation, small_client)                                                                                \
    FAULT_TEST(operation, one_slot)                                                                                    \
    FAULT_TEST(operation, no_heap)

#define PLAIN_FAULT_TEST_LIST(operation)                                                                               \
    cmocka_unit_test(operation##_cut_at_every_byte), cmocka_unit_test(operation##_link_lost_at_every_tick),            \
        cmocka_unit_test(operation##_server_killed), cmocka_unit_test(operation##_server_frozen),                      \
        cmocka_unit_test(operation##_small_client), cmocka_unit_test(operation##_one_slot),                            \
        cmocka_unit_test(operation##_no_heap)

PLAIN_FAULT_TESTS(set)
FAULT_CANCEL_TEST(set)
PLAIN_FAULT_TESTS(get)
PLAIN_FAULT_TESTS(incr)
FAULT_CANCEL_TEST(incr)
PLAIN_FAULT_TESTS(script)
FAULT_CANCEL_TEST(script)
PLAIN_FAULT_TESTS(known)
FAULT_TESTS(shared)
FAULT_TESTS(fenced)
FAULT_CANCEL_TEST(fenced)
PLAIN_FAULT_TESTS(fenced_script)
FAULT_TESTS(once)
FAULT_CANCEL_TEST(once)
PLAIN_FAULT_TESTS(once_script)
FAULT_CANCEL_TEST(once_script)
FAULT_TESTS(once_fenced)

/* ---- what the harness does not do ---------------------------------------------------------------------- */

typedef struct proxied_game
{
    redis_server* server;
    chaos_proxy* proxy;
    game* game;
} proxied_game;

static proxied_game start_behind_proxy(void)
{
    proxied_game self;
    self.server = redis_server_start(NULL);
    self.proxy = proxy_start(redis_server_address(self.server), PROXY_UNIX);
    gh_client_config config = game_config(proxy_address(self.proxy));
    config.wake = false;
    config.backoff_min_us = 1000;
    self.game = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(self.game->client));
    return self;
}

/* The request lies somewhere on the way and is carried out long after its op has ended. UNKNOWN said so. */
static void zombie_was_unknown(void** state)
{
    (void)state;
    proxied_game at = start_behind_proxy();
    gh_command_config config = command_config(at.game, GH_REPEAT_NEVER, 0);
    config.timeout_us = SECOND_US / 2;                   /* it is sent in that, by a slow machine too */
    assert_ends(say(at.game, NULL, "GET count"), GH_OK); /* of a Cluster nothing else has to be asked any more */
    proxy_arm(at.proxy, PROXY_REQUEST, 0, PROXY_HOLD);
    gh_command* command = say(at.game, &config, "INCR count");
    assert_ends(command, GH_UNKNOWN);
    assert_int_equal(redis_server_integer(at.server, "EXISTS count"), 0);
    proxy_release(at.proxy);
    WAIT_FOR(redis_server_integer(at.server, "EXISTS count") == 1);
    assert_ends(say(at.game, NULL, "INCR count"), GH_OK);
    assert_int_equal(redis_server_integer(at.server, "GET count"), 2);
}

/* Sent whole on a link that died, and waiting to be sent again on one that does not come: nobody can know. So
   neither the deadline nor a cancel may say that it was not done. */
static void sent_on_a_dead_link_stays_unknown(void** state)
{
    (void)state;
    proxied_game at = start_behind_proxy();
    gh_command_config config = command_config(at.game, GH_REPEAT_SAFE, 0);
    config.timeout_us = SECOND_US / 2;
    gh_script* counts = script_new(at.game, "return redis.call('INCR', KEYS[1])");
    assert_ends(run_script(at.game, NULL, counts, "warm", ""), GH_OK);
    proxy_arm(at.proxy, PROXY_REPLY, 0, PROXY_FIN);
    gh_command* command = say(at.game, &config, "INCR count");
    gh_command* by_script = run_script(at.game, &config, counts, "count", "");
    GAME_UNTIL(game_stats(at.game).requests_sent == 2);
    proxy_set_mode(at.proxy, PROXY_REFUSE);
    GAME_UNTIL(game_stats(at.game).links_lost == 1);
    gh_op_cancel(&command->op);
    game_tick(at.game);
    assert_status(gh_op_poll(&command->op), GH_PENDING);
    gh_command* unsent = say(at.game, &config, "INCR unsent");
    assert_ends(command, GH_UNKNOWN);
    assert_ends(by_script, GH_UNKNOWN);
    assert_ends(unsent, GH_TIMEOUT);
    assert_int_equal(redis_server_integer(at.server, "GET count"), 2);
    assert_int_equal(redis_server_integer(at.server, "EXISTS unsent"), 0);
}

/* Some bytes of the answer are here when its time is over; the others still come, and are nobody else's. */
static void late_answer_reaches_nobody_else(void** state)
{
    (void)state;
    proxied_game at = start_behind_proxy();
    gh_command_config config = command_config(at.game, GH_REPEAT_NEVER, 64);
    config.timeout_us = SECOND_US / 2; /* it is sent in that, by a slow machine too */
    proxy_arm(at.proxy, PROXY_REPLY, 3, PROXY_HOLD);
    gh_command* late = say(at.game, &config, "ECHO late");
    assert_ends(late, GH_UNKNOWN);
    gh_command* next = say(at.game, NULL, "ECHO next");
    gh_command* last = say(at.game, NULL, "ECHO last");
    game_tick(at.game);
    proxy_release(at.proxy);
    assert_ends(next, GH_OK);
    assert_ends(last, GH_OK);
    assert_string_equal(reply_text(at.game, next), "next");
    assert_string_equal(reply_text(at.game, last), "last");
    assert_int_equal(game_stats(at.game).replies_late, 1);
    assert_int_equal(game_stats(at.game).links_lost, 0);
}

/* An answer for which there is no room costs the link of all, but not when nobody waits for it any more. */
static void answer_of_any_size_to_nobody_is_dropped(void** state)
{
    (void)state;
    proxied_game at = start_behind_proxy();
    gh_command_config config = command_config(at.game, GH_REPEAT_SAFE, 64);
    redis_server_do(at.server, "SETRANGE large 1000000 x");
    for (uint64_t i = 0; i < 3; i++)
    {
        proxy_arm(at.proxy, PROXY_REPLY, i * 4, PROXY_HOLD); /* some of it may be here already */
        gh_command* large = say(at.game, &config, "GET large");
        GAME_UNTIL(proxy_fired(at.proxy) == i + 1);
        gh_op_detach(&large->op);
        gh_command* next = say(at.game, NULL, "ECHO next");
        proxy_release(at.proxy);
        assert_ends(next, GH_OK);
        assert_string_equal(reply_text(at.game, next), "next");
    }
    assert_int_equal(game_stats(at.game).replies_late, 3);
    assert_int_equal(game_stats(at.game).protocol_errors, 0);
    assert_int_equal(game_stats(at.game).links_lost, 0);
}

static void replies_come_byte_by_byte(void** state)
{
    (void)state;
    proxied_game at = start_behind_proxy();
    static const char* const lines[] = {"GET nothing", "SET key value",   "GET key",       "INCR count",
                                        "INCR key",    "LRANGE list 0 9", "CONFIG GET m*", "COMMAND INFO GET"};
    proxy_chop(at.proxy, PROXY_REPLY, 1, 0);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
    {
        gh_command_config config = command_config(at.game, GH_REPEAT_SAFE, 16 * 1024);
        redisReply* expected = redis_server_command(at.server, lines[i]);
        if (expected->type == REDIS_REPLY_INTEGER) redis_server_do(at.server, "DEL count");
        gh_command* command = say(at.game, &config, lines[i]);
        assert_ends(command, expected->type == REDIS_REPLY_ERROR ? GH_ERROR : GH_OK);
        if (!reply_equals(gh_command_reply(command), expected)) fail_msg("another reply to %s", lines[i]);
        freeReplyObject(expected);
    }
}

/* The link goes under the hands of hundreds of ops at once; each is told what is true for it. */
static void crowd_is_told_the_truth(void** state)
{
    (void)state;
    enum
    {
        CROWD = 200,
        ROUNDS = 20
    };
    proxied_game at = start_behind_proxy();
    unsigned unknown = 0;
    for (unsigned round = 0; round < ROUNDS; round++)
    {
        gh_command* commands[CROWD];
        char line[64];
        GAME_UNTIL(gh_client_ready(at.game->client));
        proxy_arm(at.proxy, round % 2 == 0 ? PROXY_REQUEST : PROXY_REPLY, 37 + round * 61, PROXY_FIN);
        for (unsigned i = 0; i < CROWD; i++)
        {
            snprintf(line, sizeof(line), "INCR count-%u-%u", round, i);
            commands[i] = say(at.game, NULL, line);
        }
        for (unsigned i = 0; i < CROWD; i++)
        {
            gh_status status = settle_command(commands[i]);
            if (status == GH_UNKNOWN) unknown++;
            else assert_status(status, GH_OK);
            const char* text = redis_server_text(at.server, "GET count-%u-%u", round, i);
            if (status == GH_OK) assert_string_equal(text, "1");
            else if (text != NULL) assert_string_equal(text, "1");
        }
        proxy_disarm(at.proxy);
    }
    assert_true(unknown > 0);
    assert_int_equal(game_stats(at.game).ops_unknown, unknown);
}

TEST_FILE(command_faults, PLAIN_FAULT_TEST_LIST(set), FAULT_CANCEL_TEST_LIST(set), PLAIN_FAULT_TEST_LIST(get),
          PLAIN_FAULT_TEST_LIST(incr), FAULT_CANCEL_TEST_LIST(incr), PLAIN_FAULT_TEST_LIST(script),
          FAULT_CANCEL_TEST_LIST(script), PLAIN_FAULT_TEST_LIST(known), FAULT_TEST_LIST(shared),
          FAULT_TEST_LIST(fenced), FAULT_CANCEL_TEST_LIST(fenced), PLAIN_FAULT_TEST_LIST(fenced_script),
          FAULT_TEST_LIST(once), FAULT_CANCEL_TEST_LIST(once), PLAIN_FAULT_TEST_LIST(once_script),
          FAULT_CANCEL_TEST_LIST(once_script), FAULT_TEST_LIST(once_fenced), cmocka_unit_test(zombie_was_unknown),
          cmocka_unit_test(sent_on_a_dead_link_stays_unknown), cmocka_unit_test(late_answer_reaches_nobody_else),
          cmocka_unit_test(answer_of_any_size_to_nobody_is_dropped), cmocka_unit_test(replies_come_byte_by_byte),
          cmocka_unit_test(crowd_is_told_the_truth));
