/* The judge of outcomes: each cell of its table, as it is promised, written out. How ops come to it is in
   test_reply_classes.c, test_endings.c and below. */

#include "client/outcome.h"
#include "support/scene/game.h"
#include "support/scene/on.h"
#include "support/server/fake_server.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"

#include <string.h>

#define MS UINT64_C(1000)

typedef struct cell
{
    gh_reason reason;
    gh_knowledge knowledge;
    gh_op_effect effect;
    gh_status status;
} cell;

#define ROW(reason, unsent, answered, maybe, reads)                                                                    \
    {GH_REASON_##reason, GH_KNOWN_UNSENT, GH_OP_CHANGES, GH_##unsent},                                                 \
        {GH_REASON_##reason, GH_KNOWN_ANSWERED, GH_OP_CHANGES, GH_##answered},                                         \
        {GH_REASON_##reason, GH_KNOWN_MAYBE, GH_OP_CHANGES, GH_##maybe},                                               \
        {GH_REASON_##reason, GH_KNOWN_UNSENT, GH_OP_CALLERS, GH_##unsent},                                             \
        {GH_REASON_##reason, GH_KNOWN_ANSWERED, GH_OP_CALLERS, GH_##answered},                                         \
        {GH_REASON_##reason, GH_KNOWN_MAYBE, GH_OP_CALLERS, GH_##maybe},                                               \
        {GH_REASON_##reason, GH_KNOWN_UNSENT, GH_OP_READS, GH_##reads},                                                \
        {GH_REASON_##reason, GH_KNOWN_ANSWERED, GH_OP_READS, GH_##reads},                                              \
    {                                                                                                                  \
        GH_REASON_##reason, GH_KNOWN_MAYBE, GH_OP_READS, GH_##reads                                                    \
    }

static const cell cells[] = {
    /*             unsent     answered   maybe     reads */
    ROW(DEADLINE, TIMEOUT, UNKNOWN, UNKNOWN, TIMEOUT),
    ROW(CANCEL, CANCELLED, UNKNOWN, UNKNOWN, CANCELLED),
    ROW(REFUSED, REFUSED, REFUSED, UNKNOWN, REFUSED),
    ROW(HALFWAY, UNKNOWN, UNKNOWN, UNKNOWN, REFUSED),
    ROW(FENCED, FENCED, FENCED, UNKNOWN, FENCED),
    ROW(CORRUPT, CORRUPT, CORRUPT, UNKNOWN, CORRUPT),
    ROW(ERROR, ERROR, ERROR, UNKNOWN, ERROR),
    ROW(LINK, UNKNOWN, UNKNOWN, UNKNOWN, TIMEOUT),
    ROW(UNUSABLE, UNKNOWN, UNKNOWN, UNKNOWN, CORRUPT),
    ROW(TOO_LARGE, UNKNOWN, UNKNOWN, UNKNOWN, CORRUPT),
    ROW(NO_ROOM, TOO_LARGE, TOO_LARGE, UNKNOWN, TOO_LARGE),
};

#define CELLS (sizeof(cells) / sizeof(cells[0]))

static void each_cell_is_as_promised(void** state)
{
    (void)state;
    for (size_t i = 0; i < CELLS; i++)
    {
        gh_status status = gh_outcome(cells[i].reason, cells[i].knowledge, cells[i].effect);
        if (status != cells[i].status)
            fail_msg("reason %d, knowledge %d, effect %d: %s, not %s", (int)cells[i].reason, (int)cells[i].knowledge,
                     (int)cells[i].effect, gh_status_name(status), gh_status_name(cells[i].status));
    }
}

static void all_cells_are_here(void** state)
{
    (void)state;
    bool seen[GH_REASON_COUNT][GH_KNOWLEDGE_COUNT][3] = {{{false}}};
    assert_int_equal(CELLS, GH_REASON_COUNT * GH_KNOWLEDGE_COUNT * 3);
    for (size_t i = 0; i < CELLS; i++)
    {
        bool* place = &seen[cells[i].reason][cells[i].knowledge][cells[i].effect];
        assert_false(*place);
        *place = true;
    }
}

/* What may have been done is never told as undone, and what reads is never unknown. */
static void cells_keep_the_two_rules(void** state)
{
    (void)state;
    for (size_t i = 0; i < CELLS; i++)
    {
        if (cells[i].effect == GH_OP_READS) assert_int_not_equal(cells[i].status, GH_UNKNOWN);
        else if (cells[i].knowledge == GH_KNOWN_MAYBE) assert_int_equal(cells[i].status, GH_UNKNOWN);
    }
}

/* ---- ops that meet them ---------------------------------------------------------------------------------- */

/* The first copy of A is never answered and its link dies; the next one, and perhaps the hand-shake, gets this. */
typedef struct second_answer
{
    unsigned seen;
    const char* text;      /* to the second copy */
    const char* handshake; /* to AUTH after the first copy, instead */
} second_answer;

static bool answer_the_second(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    second_answer* self = world->context;
    (void)count;
    if (self->seen > 0 && self->handshake != NULL && gh_str_equal(words[0], gh_str_literal("AUTH")))
    {
        buffer_add(reply, self->handshake, strlen(self->handshake));
        return true;
    }
    if (!gh_str_equal(words[0], gh_str_literal("A"))) return false;
    if (self->seen++ > 0 && self->text != NULL) buffer_add(reply, self->text, strlen(self->text));
    return true;
}

static gh_status end_of_second(const char* text, const char* handshake)
{
    scripted* world = scripted_new();
    second_answer* self = SCRIPTED_NEW(world, second_answer);
    gh_client_config config = scripted_config();
    *self = (second_answer){.text = text, .handshake = handshake};
    config.password = gh_str_literal("word");
    config.request_timeout_us = 50 * MS;
    config.backoff_min_us = config.backoff_max_us = MS;
    world->context = self;
    world->answer = answer_the_second;
    scripted_start_ready(world, &config);
    gh_command* op = scripted_ask(world, "A", 10 * SECOND_US, GH_REPEAT_SAFE);
    SCRIPTED_UNTIL(world, gh_op_poll(&op->op) != GH_PENDING, MS, 20 * SECOND_US);
    return gh_op_poll(&op->op);
}

static void refused_after_a_copy_that_may_be_done_is_unknown(void** state)
{
    (void)state;
    assert_status(end_of_second("-NOPERM this user has no permissions to run the 'a' command\r\n", NULL), GH_UNKNOWN);
    assert_status(end_of_second("-WRONGTYPE Operation against a key\r\n", NULL), GH_UNKNOWN);
    assert_status(end_of_second("+OK\r\n", NULL), GH_OK);
}

static void refused_hand_shake_after_a_copy_that_may_be_done_is_unknown(void** state)
{
    (void)state;
    assert_status(end_of_second(NULL, "-WRONGPASS invalid username-password pair\r\n"), GH_UNKNOWN);
}

static void fenced_after_a_copy_that_may_be_done_is_unknown(void** state)
{
    (void)state;
    assert_status(end_of_second("-FENCED the lock is not held with this fence\r\n", NULL), GH_UNKNOWN);
}

/* The lock's script answers its own sequence, and then nonsense: of all others nobody hears of it. */
static void odd_answer_ends_its_op_alone(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    fake_rule rules[] = {{.command = "EVALSHA", .text = "$5\r\n1 odd\r\n", .skip = 2, .times = 1}};
    fake_rules table = {rules, 1};
    fake_server* fake = fake_server_start(fake_answer_by_rules, &table, redis_server_address(server));
    game* a = game_start_deaf(fake_server_address(fake));
    GAME_UNTIL(gh_client_ready(a->client));
    gh_lock* lock = GAME_NEW(a, gh_lock);
    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_UNKNOWN);
    assert_int_equal(game_stats(a).links_lost, 0);
    assert_int_equal(game_stats(a).protocol_errors, 0);
}

/* A client whose server refuses all scripts after those of the hand-shake, two, and the first one of an op. */
static game* game_refused_after_one(redis_server* server)
{
    static fake_rule rule;
    static fake_rules table = {&rule, 1};
    rule = (fake_rule){.command = "EVALSHA", .text = "-NOPERM no rights\r\n", .skip = 3};
    fake_server* fake = fake_server_start(fake_answer_by_rules, &table, redis_server_address(server));
    game* a = game_start_deaf(fake_server_address(fake));
    GAME_UNTIL(gh_client_ready(a->client));
    return a;
}

/* The limit is set, and more dead waiters were in front than one call passes over: asked to go on, the server
   refuses. */
static void refused_after_a_part_that_was_done_is_unknown(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_refused_after_one(server);
    redis_server_do(server, "SET gh:{semaphore:arena}:s %s", "1 0 1 1000 -");
    redis_server_do(server, "EVAL %s 1 gh:{semaphore:arena}:q",
                    "for i = 1, 1000 do redis.call('ZADD', KEYS[1], i, string.format('%016x:%016x 1', i, i)) end");
    gh_semaphore_limit* limit = GAME_NEW(a, gh_semaphore_limit);
    assert_status(gh_semaphore_limit_begin(limit, ON_SEMAPHORE(a->client, gh_str_literal("arena"), 0), 7), GH_OK);
    GAME_UNTIL(gh_op_poll(&limit->op) != GH_PENDING);
    assert_status(gh_op_poll(&limit->op), GH_UNKNOWN);
    assert_int_equal(redis_server_integer(server, "EVAL %s 1 gh:{semaphore:arena}:s",
                                          "return tonumber(string.match(redis.call('GET', KEYS[1]), '^%d+'))"),
                     7);
}

/* The file goes first, then its announcement. */
static void refused_after_the_file_is_gone_is_unknown(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_refused_after_one(server);
    redis_server_do(server, "HSET gh:{file:map}:s i 7");
    gh_file_remove* removal = GAME_NEW(a, gh_file_remove);
    assert_status(gh_file_remove_begin(removal, a->client, gh_str_literal("map"), 7, gh_str_literal("maps"), NULL),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&removal->op) != GH_PENDING);
    assert_status(gh_op_poll(&removal->op), GH_UNKNOWN);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{file:map}:s"), 0);

    assert_status(gh_file_remove_begin(removal, a->client, gh_str_literal("map"), 7, gh_str_literal("maps"), NULL),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&removal->op) != GH_PENDING);
    assert_status(gh_op_poll(&removal->op), GH_REFUSED);
}

TEST_FILE(outcomes, cmocka_unit_test(each_cell_is_as_promised), cmocka_unit_test(all_cells_are_here),
          cmocka_unit_test(cells_keep_the_two_rules),
          cmocka_unit_test(refused_after_a_copy_that_may_be_done_is_unknown),
          cmocka_unit_test(refused_hand_shake_after_a_copy_that_may_be_done_is_unknown),
          cmocka_unit_test(fenced_after_a_copy_that_may_be_done_is_unknown),
          cmocka_unit_test(odd_answer_ends_its_op_alone),
          cmocka_unit_test(refused_after_a_part_that_was_done_is_unknown),
          cmocka_unit_test(refused_after_the_file_is_gone_is_unknown));
