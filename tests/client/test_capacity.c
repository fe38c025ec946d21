/* Capacities: exactly what the config says and no more; what is full is a status, and small is only
   slower. And the numbers of gh_client_get_stats, which must agree with what was seen from outside. */

#include "support/command.h"
#include "support/scene/game.h"
#include "support/scene/ledger.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"

#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000)

/* ---- ops_capacity -------------------------------------------------------------------------------------- */

static gh_status try_lock(scripted* world, gh_lock* lock, const char* name)
{
    gh_lock_config want = gh_lock_config_default();
    return gh_lock_begin(lock, world->client, gh_str_of(name), &want);
}

static void exactly_so_many_ops(uint32_t capacity)
{
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    const gh_str word = gh_str_literal("A");
    config.ops_capacity = capacity;
    scripted_start_ready(world, &config);
    world->silent = true;
    for (uint32_t i = 0; i < capacity; i++) scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);

    gh_command* command = SCRIPTED_NEW(world, gh_command);
    gh_lock* lock = SCRIPTED_NEW(world, gh_lock);
    gh_command command_before;
    gh_lock lock_before;
    memset(command, 0, sizeof(*command));
    command->op.user = lock->op.user = world;
    command_before = *command;
    lock_before = *lock;
    gh_client_stats before = scripted_stats(world);
    for (int i = 0; i < 3; i++)
    {
        assert_status(gh_command_begin(command, world->client, &word, 1, NULL), GH_NO_ROOM);
        assert_status(try_lock(world, lock, "sword"), GH_NO_ROOM);
        assert_begin_refused(command, &command_before, GH_NO_ROOM);
        assert_begin_refused(lock, &lock_before, GH_NO_ROOM);
        scripted_tick(world, MS);
    }
    assert_int_equal(scripted_stats(world).ops_begun, before.ops_begun);
    assert_int_equal(scripted_stats(world).ops_busy, capacity);
    assert_int_equal(scripted_stats(world).ops_busy_max, capacity);

    scripted_speak(world); /* all end, and there is room again */
    SCRIPTED_UNTIL(world, scripted_stats(world).ops_busy == 0, MS, 60 * SECOND_US);
    for (uint32_t i = 1; i < capacity; i++) scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    assert_status(try_lock(world, lock, "sword"), GH_OK);
    assert_status(gh_command_begin(command, world->client, &word, 1, NULL), GH_NO_ROOM);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, 60 * SECOND_US);
}

static void ops_fit_up_to_the_capacity(void** state)
{
    (void)state;
    const uint32_t capacities[] = {1, 2, 3, 7, 8, 9, 64, 511, 512, 513, 5000};
    for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) exactly_so_many_ops(capacities[i]);
}

/* ---- the capacities of the wire ------------------------------------------------------------------------ */

/* A thousand ops through as little as there may be. */
static void thousand_ops(const gh_client_config* wanted, uint32_t most_bytes)
{
    enum
    {
        OPS = 1000,
        LOCKS = 100
    };
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = *wanted;
    config.address = gh_str_of(redis_server_address(server));
    game* a = game_start_with(&config);
    gh_command** commands = GAME_NEW_ARRAY(a, gh_command*, OPS);
    gh_lock* locks = GAME_NEW_ARRAY(a, gh_lock, LOCKS);
    char(*names)[16] = game_new(a, sizeof(*names) * LOCKS);
    char line[4200] = "SETRANGE text:0000 0 ";
    for (int i = 0; i < OPS; i++)
    {
        size_t head = (size_t)snprintf(line, sizeof(line), "SETRANGE text:%d 0 ", i);
        size_t size = (size_t)i * 7919 % 4000 + 1;
        memset(line + head, 'a' + i % 26, size);
        line[head + size] = '\0';
        gh_command_config safe = command_config(a, GH_REPEAT_SAFE, 0);
        safe.timeout_us = 60 * SECOND_US;
        commands[i] = say(a, &safe, line);
    }
    for (int i = 0; i < LOCKS; i++)
    {
        snprintf(names[i], sizeof(names[i]), "n%d", i);
        assert_status(gh_lock_begin(&locks[i], a->client, gh_str_of(names[i]), NULL), GH_OK);
    }
    for (int i = 0; i < OPS; i++)
    {
        assert_ends(commands[i], GH_OK);
        assert_int_equal(gh_command_reply(commands[i])->integer, i * 7919 % 4000 + 1);
    }
    for (int i = 0; i < LOCKS; i++) GAME_UNTIL(gh_op_poll(&locks[i].op) == GH_HELD);
    gh_client_stats stats = game_stats(a);
    assert_in_range(stats.requests_sent_max, 1, config.requests_capacity);
    assert_in_range(stats.out_bytes_used_max, 1, most_bytes);
    assert_int_equal(stats.links_lost, 0);
    assert_int_equal(redis_server_keys(server) >= OPS + LOCKS, 1);
}

static void few_requests_at_once(void** state)
{
    (void)state;
    gh_client_config config = gh_client_config_default();
    config.ops_capacity = 2000;
    config.requests_capacity = 8;
    thousand_ops(&config, config.out_bytes);
}

static void few_bytes_at_once(void** state)
{
    (void)state;
    gh_client_config config = gh_client_config_default();
    config.ops_capacity = 2000;
    config.out_bytes = config.reply_bytes = 16 * 1024;
    config.reply_nodes = 64;
    thousand_ops(&config, config.out_bytes);
}

static void few_of_everything(void** state)
{
    (void)state;
    gh_client_config config = gh_client_config_default();
    config.ops_capacity = 1100;
    config.requests_capacity = 8;
    config.out_bytes = config.reply_bytes = 16 * 1024;
    config.reply_nodes = 64;
    config.wake = false;
    thousand_ops(&config, config.out_bytes);
}

/* One request alone fills the buffer: refused at once if it never fits, carried out if it just does. */
static void largest_request(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.out_bytes = 16 * 1024;
    game* a = game_start_with(&config);
    char* value = GAME_NEW_ARRAY(a, char, 20000);
    memset(value, 'x', 20000);
    gh_str words[3] = {gh_str_literal("SET"), gh_str_literal("large"), gh_str_make(value, 0)};
    size_t largest = 0;
    for (size_t size = 20000; size >= 10000; size -= 37)
    {
        gh_command* op = GAME_NEW(a, gh_command);
        words[2].size = size;
        gh_status status = gh_command_begin(op, a->client, words, 3, NULL);
        if (status == GH_TOO_LARGE && largest == 0) continue;
        assert_status(status, GH_OK);
        assert_ends(op, GH_OK);
        assert_int_equal(redis_server_integer(server, "STRLEN large"), size);
        if (largest == 0) largest = size;
    }
    assert_in_range(largest, config.out_bytes - 3072, config.out_bytes);
}

/* The largest reply that fits, and the first that does not. */
static void largest_reply(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.reply_bytes = 16 * 1024;
    config.reply_nodes = 64;
    game* a = game_start_with(&config);
    gh_command_config roomy = command_config(a, GH_REPEAT_SAFE, 64 * 1024);
    redis_server_do(server, "SETRANGE fits %d x", config.reply_bytes - 2);
    redis_server_do(server, "SETRANGE toolarge %d x", config.reply_bytes);
    for (int i = 0; i < 63; i++) redis_server_do(server, "RPUSH list63 %d", i);
    for (int i = 0; i < 64; i++) redis_server_do(server, "RPUSH list64 %d", i);
    gh_command* op = say(a, &roomy, "GET fits");
    assert_ends(op, GH_OK);
    assert_int_equal(gh_command_reply(op)->text.size, config.reply_bytes - 1);
    op = say(a, &roomy, "LRANGE list63 0 -1");
    assert_ends(op, GH_OK);
    assert_int_equal(gh_command_reply(op)->count, 63);
    assert_int_equal(game_stats(a).links_lost, 0);
    assert_true(game_stats(a).reply_bytes_max >= config.reply_bytes - 1);
    assert_ends(say(a, &roomy, "GET toolarge"), GH_TOO_SMALL);
    GAME_UNTIL(gh_client_ready(a->client));
    assert_ends(say(a, &roomy, "LRANGE list64 0 -1"), GH_TOO_SMALL); /* the array itself is an element too */
    assert_ends(say(a, &roomy, "GET fits"), GH_OK);
    assert_int_equal(game_stats(a).protocol_errors, 2);
}

/* ---- stats --------------------------------------------------------------------------------------------- */

static void say_nothing(void* context, gh_log_level level, gh_str text)
{
    (void)context, (void)level, (void)text;
}

static void assert_sane(const gh_client_stats* stats, const gh_client_config* config)
{
    assert_true(stats->ops_begun >= stats->ops_ended);
    assert_true(stats->ops_begun - stats->ops_ended >= stats->ops_busy || stats->ticks == 0);
    assert_true(stats->ops_ended >= stats->ops_unknown);
    assert_true(stats->requests >= stats->replies);
    assert_true(stats->requests >= stats->resends + stats->retries);
    assert_true(stats->replies >= stats->replies_late);
    assert_in_range(stats->ops_busy_max, stats->ops_busy, config->ops_capacity);
    assert_in_range(stats->requests_sent_max, stats->requests_sent, config->requests_capacity);
    assert_in_range(stats->out_bytes_used_max, stats->out_bytes_used, config->out_bytes);
    assert_true(stats->links_ready >= stats->links_lost);
    assert_true(stats->ticks >= stats->ticks_over_budget);
}

static void stats_agree_with_what_is_seen(void** state)
{
    (void)state;
    gh_client_config config = scripted_config();
    ledger* accounts = ledger_new();
    config.hooks.context = accounts;
    config.hooks.log = say_nothing;
    config.hooks.trace = ledger_trace;
    scripted* world = scripted_new();
    scripted_start_ready(world, &config);
    gh_client_stats begin = scripted_stats(world);
    assert_int_equal(begin.links_ready, 1);
    assert_int_equal(begin.server_version, 70015);
    assert_int_equal(begin.requests, begin.replies);
    for (int i = 0; i < 100; i++) scripted_ask(world, "A", SECOND_US, GH_REPEAT_NEVER);
    world->silent = true;
    scripted_tick(world, MS);
    gh_client_stats stats = scripted_stats(world);
    assert_sane(&stats, &config);
    assert_int_equal(stats.ops_busy, 100);
    assert_int_equal(stats.requests_sent, 100);
    assert_int_equal(stats.requests_waiting, 0);
    assert_int_equal(stats.out_bytes_used, 100 * strlen("*1\r\n$1\r\nA\r\n"));
    assert_int_equal(stats.bytes_sent - begin.bytes_sent, stats.out_bytes_used);
    assert_int_equal(stats.oldest_request_us, 0);
    scripted_tick(world, 300 * MS);
    assert_int_equal(scripted_stats(world).oldest_request_us, 300 * MS);
    scripted_speak(world);
    scripted_tick(world, 50 * MS);
    stats = scripted_stats(world);
    assert_sane(&stats, &config);
    assert_int_equal(stats.round_trip_us, 350 * MS);
    assert_int_equal(stats.oldest_request_us, 0);
    assert_int_equal(stats.replies - begin.replies, 100);
    assert_int_equal(stats.bytes_received - begin.bytes_received, 100 * strlen("+OK\r\n"));
    assert_int_equal(stats.ops_begun, 100);
    assert_int_equal(stats.ops_ended, 100);
    assert_int_equal(stats.ops_busy, 0);
    assert_int_equal(stats.ticks - begin.ticks, 3);
    assert_int_equal(stats.ticks_over_budget, 0);
    assert_int_equal(accounts->sent, 100);
    assert_int_equal(accounts->replies, 100);
    ledger_assert_closed(accounts);
}

/* The first use of a script costs a request of its own, which is not the op's. */
static void trace_tells_the_requests_of_the_op_alone(void** state)
{
    (void)state;
    gh_client_config config = scripted_config();
    ledger* accounts = ledger_new();
    config.hooks.context = accounts;
    config.hooks.log = say_nothing;
    config.hooks.trace = ledger_trace;
    scripted* world = scripted_new();
    scripted_start_ready(world, &config);
    gh_client_stats begin = scripted_stats(world);
    gh_lock* lock = scripted_want(world, "sword", 10 * SECOND_US, SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, SECOND_US);
    gh_lock_release(lock);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_OK, MS, SECOND_US);
    assert_int_equal(accounts->sent, 2);
    assert_int_equal(accounts->replies, 2);
    assert_int_equal(scripted_stats(world).requests - begin.requests, 4); /* each script is loaded once */
    ledger_assert_closed(accounts);
}

TEST_FILE(capacity, cmocka_unit_test(ops_fit_up_to_the_capacity), cmocka_unit_test(few_requests_at_once),
          cmocka_unit_test(few_bytes_at_once), cmocka_unit_test(few_of_everything), cmocka_unit_test(largest_request),
          cmocka_unit_test(largest_reply), cmocka_unit_test(stats_agree_with_what_is_seen),
          cmocka_unit_test(trace_tells_the_requests_of_the_op_alone));
