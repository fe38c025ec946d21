/* The client's memory: how much, exactly that, and nothing else: no heap, whatever happens. */

#include "client/state.h"
#include "support/scene/game.h"
#include "support/faults/heap.h"
#include "support/server/proxy.h"
#include "support/random.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000)

/* ---- size ---------------------------------------------------------------------------------------------- */

static void defaults_fit_256_kib(void** state)
{
    (void)state;
    gh_client_config config = scripted_config();
    config.wake = true;
    assert_in_range(gh_client_memory(&config), 1, 256 * 1024);
}

/* Each byte of a buffer, each place of a table costs what it must, and no field is without effect. */
static void size_grows_with_each_field(void** state)
{
    (void)state;
    gh_client_config config = scripted_config();
    size_t size = gh_client_memory(&config);
#define CHECK_GROWS(field, more, least, most)                                                                          \
    config = scripted_config();                                                                                        \
    config.field += (more);                                                                                            \
    assert_in_range(gh_client_memory(&config) - size, (size_t)(more) * (least), (size_t)(more) * (most));
    CHECK_GROWS(ops_capacity, 1024, 2 * sizeof(void*), 128)
    CHECK_GROWS(requests_capacity, 1024, sizeof(void*), 128)
    CHECK_GROWS(detached_capacity, 1024, sizeof(gh_permit), 384)
    CHECK_GROWS(out_bytes, 4096, 1, 1)
    CHECK_GROWS(reply_bytes, 4096, 1, 2)
    CHECK_GROWS(reply_nodes, 1024, sizeof(gh_reply), 2 * sizeof(gh_reply))
#undef CHECK_GROWS
    config = scripted_config();
    config.wake = true;
    assert_true(gh_client_memory(&config) > size);
    config = scripted_config();
    config.address = gh_str_literal("unix:/a/path/that/is/much/longer/than/the/address/of/the/tests");
    assert_true(gh_client_memory(&config) > size);
}

/* The block may end right before memory that is not the client's. */
static void random_configs_stay_within_their_block(void** state)
{
    (void)state;
    random_stream dice = random_for_test("configs");
    for (int i = 0; i < 300; i++)
    {
        scripted* world = scripted_new();
        gh_client_config config = scripted_config();
        config.ops_capacity = (uint32_t)random_between(&dice, 1, 300);
        config.requests_capacity = (uint32_t)random_between(&dice, 8, 100);
        config.out_bytes = (uint32_t)random_between(&dice, 16 * 1024, 20 * 1024);
        config.reply_bytes = (uint32_t)random_between(&dice, 16 * 1024, 20 * 1024);
        config.reply_nodes = (uint32_t)random_between(&dice, 64, 100);
        config.wake = random_one_in(&dice, 2);
        size_t size = gh_client_memory(&config);
        assert_int_equal(size % 16, 0);
        unsigned char* block = NULL;
        assert_int_equal(posix_memalign((void**)&block, 16, size + 4096), 0);
        memset(block, 0xa5, size + 4096);
        gh_client* client = NULL;
        assert_status(gh_client_init(block, size - 1, &config, &world->platform, &client), GH_INVALID_MEMORY);
        assert_status(gh_client_init(block, size, &config, &world->platform, &world->client), GH_OK);
        gh_command* ops[50];
        unsigned begun = 0;
        for (; begun < 50 && begun < config.ops_capacity; begun++)
            ops[begun] = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
        SCRIPTED_UNTIL(world, gh_op_poll(&ops[begun - 1]->op) == GH_OK, MS, SECOND_US);
        gh_client_shutdown(world->client);
        for (size_t j = size; j < size + 4096; j++) assert_int_equal(block[j], 0xa5);
        world->client = NULL;
        free(block);
    }
}

/* ---- small capacities, each at each size --------------------------------------------------------------- */

/* Locks, commands of some size and a script, with whatever does not fit at once tried again later. */
static void standard_scenario(const gh_client_config* config)
{
    enum
    {
        OPS = 24
    };
    scripted* world = scripted_new();
    gh_script* script = SCRIPTED_NEW(world, gh_script);
    gh_command* commands = scripted_keep(world, sizeof(*commands) * OPS);
    gh_lock* locks = scripted_keep(world, sizeof(*locks) * OPS);
    gh_str* words = scripted_keep(world, sizeof(*words) * 2);
    char* text = scripted_keep(world, 2000);
    memset(text, 'x', 2000);
    words[0] = gh_str_literal("A");
    script->text = gh_str_literal("return 7");
    scripted_start_ready(world, config);
    unsigned begun = 0;
    unsigned refused = 0;
    for (unsigned ticks = 0; begun < 2 * OPS || scripted_stats(world).ops_busy > 0; ticks++)
    {
        gh_status status = GH_OK;
        words[1] = gh_str_make(text, 2000);
        while (begun < 2 * OPS && status == GH_OK)
        {
            gh_command* command = &commands[begun / 2];
            gh_str name = gh_str_make(text, 1 + begun);
            if (begun % 2 == 1) status = gh_lock_begin(&locks[begun / 2], world->client, name, NULL);
            else if (begun % 4 == 0) status = gh_command_begin(command, world->client, words, 2, NULL);
            else status = gh_script_begin(command, world->client, script, NULL, 0, words, 2, NULL);
            if (status == GH_OK) begun++;
            else refused++;
        }
        assert_true(status == GH_OK || status == GH_NO_ROOM);
        scripted_tick(world, MS);
        for (unsigned i = 0; i < OPS; i++)
            if (gh_op_poll(&locks[i].op) == GH_HELD) gh_lock_release(&locks[i]);
        if (ticks > 5000)
            fail_msg("stuck: ops %u, requests %u, out %u", config->ops_capacity, config->requests_capacity,
                     config->out_bytes);
    }
    for (unsigned i = 0; i < OPS; i++)
    {
        assert_status(gh_op_poll(&commands[i].op), GH_OK);
        assert_status(gh_op_poll(&locks[i].op), GH_OK);
    }
    assert_int_equal(refused > 0, config->ops_capacity < 2 * OPS);
    assert_int_equal(scripted_stats(world).links_lost, 0);
    assert_int_equal(scripted_stats(world).ops_ended, 2 * OPS);
}

static gh_client_config least(void)
{
    gh_client_config config = scripted_config();
    config.ops_capacity = 1;
    config.requests_capacity = 8;
    config.out_bytes = config.reply_bytes = 16 * 1024;
    config.reply_nodes = 64;
    return config;
}

static void each_number_of_ops(void** state)
{
    (void)state;
    for (uint32_t ops = 1; ops <= 100; ops++)
    {
        gh_client_config config = least();
        config.ops_capacity = ops;
        standard_scenario(&config);
    }
}

static void each_number_of_requests(void** state)
{
    (void)state;
    for (uint32_t requests = 8; requests <= 120; requests++)
    {
        gh_client_config config = least();
        config.ops_capacity = 64;
        config.requests_capacity = requests;
        standard_scenario(&config);
    }
}

/* Every size of the buffer of requests from the least to one that takes all at once, at a stride that hits
   odd ones. */
static void each_size_of_the_out_buffer(void** state)
{
    (void)state;
    for (uint32_t bytes = 16 * 1024; bytes <= 80 * 1024; bytes += 97)
    {
        gh_client_config config = least();
        config.ops_capacity = 64;
        config.requests_capacity = 64;
        config.out_bytes = bytes;
        standard_scenario(&config);
    }
}

static void each_size_of_the_reply(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 200; i++)
    {
        gh_client_config config = least();
        config.ops_capacity = 64;
        config.reply_bytes += i * 31;
        config.reply_nodes += i;
        standard_scenario(&config);
    }
}

/* ---- the heap ------------------------------------------------------------------------------------------ */

static bool trap(void* context, const char* file, int line, const char* expression)
{
    (void)context;
    fprintf(stderr, "%s:%d: the library asserts: %s\n", file, line, expression);
    abort();
}

/* One tick under watch. */
static uint64_t watched_tick(game* self)
{
    heap_watch_begin();
    gh_status status = gh_tick(self->client, wait_now_us(), 500);
    heap_counts counts = heap_watch_end();
    assert_status(status, GH_OK);
    wait_briefly();
    return counts.total;
}

#define WATCHED_UNTIL(self, condition)                                                                                 \
    do                                                                                                                 \
    {                                                                                                                  \
        uint64_t watched_end_us = wait_cap_us();                                                                       \
        while (!(condition))                                                                                           \
        {                                                                                                              \
            if (wait_now_us() >= watched_end_us) fail_msg("waited too long for: %s", #condition);                      \
            if (watched_tick(self) != 0) fail_msg("the heap was called before: %s", #condition);                       \
        }                                                                                                              \
    } while (0)

/* Begins a lock and a command on each of the places that are free, under watch. */
static void begin_all(game* self, gh_lock* locks, gh_command* commands, gh_script* script, uint32_t count)
{
    static const gh_str words[] = {{"SET", 3}, {"greeting", 8}, {"hello", 5}};
    gh_lock_config want = gh_lock_config_default();
    gh_command_config ask = gh_command_config_default();
    ask.repeat = GH_REPEAT_SAFE;
    want.hold_us = 2 * MS;
    heap_watch_begin();
    for (uint32_t i = 0; i < count; i++)
    {
        gh_lock_begin(&locks[i], self->client, gh_str_make("abcdefghijklmnopqrstuvwxyz", 1 + i % 26), &want);
        if (i % 2 == 0) gh_command_begin(&commands[i], self->client, words, 3, &ask);
        else gh_script_begin(&commands[i], self->client, script, NULL, 0, words, 1, &ask);
        gh_op_poll(&locks[i].op);
        if (i % 7 == 0) gh_op_cancel(&locks[i].op);
        if (i % 11 == 0) gh_op_cancel(&commands[i].op);
    }
    heap_counts counts = heap_watch_end();
    assert_int_equal(counts.total, 0);
}

static void busy_client_never_calls_the_heap(void** state)
{
    (void)state;
    enum
    {
        OPS = 64
    };
    assert_true(heap_watch_works());
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    gh_client_config config = game_config(proxy_address(proxy));
    config.backoff_min_us = MS;
    config.backoff_max_us = 10 * MS;
    config.request_timeout_us = 200 * MS;
    config.hooks.assertion = trap;
    game* a = game_start_with(&config);
    a->asleep = true; /* ticked by this test alone */
    gh_lock* locks = GAME_NEW_ARRAY(a, gh_lock, OPS);
    gh_command* commands = GAME_NEW_ARRAY(a, gh_command, OPS);
    gh_script* script = GAME_NEW(a, gh_script);
    script->text = gh_str_literal("return ARGV[1]");
    WATCHED_UNTIL(a, gh_client_ready(a->client));
    for (int round = 0; round < 25; round++)
    {
        begin_all(a, locks, commands, script, OPS);
        for (int i = 0; i < 5; i++) assert_int_equal(watched_tick(a), 0);
        if (round % 5 == 0) proxy_cut_now(proxy, PROXY_RST);
        if (round % 5 == 1) redis_server_do(server, "SCRIPT FLUSH");
        if (round % 5 == 2) redis_server_do(server, "CLIENT KILL TYPE pubsub");
        if (round % 5 == 3) proxy_arm(proxy, PROXY_REPLY, 200, PROXY_FIN);
        if (round == 9) redis_server_restart(server);
        if (round == 14) redis_server_restart_empty(server);
        for (int i = 0; i < 30; i++) assert_int_equal(watched_tick(a), 0);
    }
    redis_server_freeze(server);
    begin_all(a, locks, commands, script, OPS);
    WATCHED_UNTIL(a, !gh_client_ready(a->client));
    redis_server_thaw(server);
    WATCHED_UNTIL(a, gh_client_ready(a->client));
    assert_in_range(game_stats(a).links_lost, 4, 1000); /* two cuts may meet one link */
    assert_in_range(game_stats(a).store_resets, 1, 10);
    assert_int_equal(game_stats(a).protocol_errors, 0);
    assert_status(gh_client_drain(a->client, 5 * SECOND_US), GH_OK);
    WATCHED_UNTIL(a, gh_client_drained(a->client));
}

static void protocol_error_never_calls_the_heap(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.backoff_min_us = config.backoff_max_us = MS;
    config.wake = false;
    game* a = game_start_with(&config);
    a->asleep = true;
    gh_command* op = GAME_NEW(a, gh_command);
    gh_str* words = GAME_NEW_ARRAY(a, gh_str, 2);
    words[0] = gh_str_literal("GET");
    words[1] = gh_str_literal("toolarge");
    redis_server_do(server, "SETRANGE toolarge %d x", config.reply_bytes + 1);
    WATCHED_UNTIL(a, gh_client_ready(a->client));
    for (int round = 0; round < 20; round++)
    {
        assert_status(gh_command_begin(op, a->client, words, 2, NULL), GH_OK);
        WATCHED_UNTIL(a, gh_op_poll(&op->op) != GH_PENDING);
        assert_status(gh_op_poll(&op->op), GH_TOO_SMALL);
        WATCHED_UNTIL(a, gh_client_ready(a->client));
    }
    assert_int_equal(game_stats(a).protocol_errors, 20);
}

/* From the first instruction of gh_client_memory to the last one of gh_client_shutdown. */
static void making_and_ending_a_client_never_calls_the_heap(void** state)
{
    static _Alignas(16) char block[256 * 1024];
    (void)state;
    for (int wake = 0; wake < 2; wake++)
    {
        gh_client_config config = scripted_config();
        config.wake = wake == 1;
        gh_client* client = NULL;
        heap_watch_begin();
        size_t size = gh_client_memory(&config);
        gh_status status = gh_client_init(block, size, &config, gh_platform_default(), &client);
        gh_client_shutdown(client);
        heap_counts counts = heap_watch_end();
        assert_status(status, GH_OK);
        assert_int_equal(counts.total, 0);
    }
}

/* What is unsent leaves no room for a text that nobody has brought yet: it goes when there is some. */
static void script_whose_text_finds_no_room_waits(void** state)
{
    (void)state;
    enum
    {
        OUT_BYTES = 16384
    };
    gh_client_config config = scripted_config();
    config.out_bytes = OUT_BYTES;
    scripted* world = scripted_new();
    gh_script* script = SCRIPTED_NEW(world, gh_script);
    gh_command* commands = scripted_keep(world, sizeof(*commands) * 2);
    char* text = scripted_keep(world, OUT_BYTES);
    memset(text, '-', OUT_BYTES);
    gh_str words[2] = {gh_str_literal("A"), gh_str_make(text, OUT_BYTES * 3 / 4)};
    script->text = gh_str_make(text, OUT_BYTES / 2);
    scripted_start_ready(world, &config);
    const size_t send_max = world->send_max;
    world->send_max = 0;
    assert_status(gh_command_begin(&commands[0], world->client, words, 2, NULL), GH_OK);
    assert_status(gh_script_begin(&commands[1], world->client, script, NULL, 0, NULL, 0, NULL), GH_OK);
    for (int i = 0; i < 5; i++) scripted_tick(world, MS);
    assert_status(gh_op_poll(&commands[1].op), GH_PENDING);
    world->send_max = send_max;
    SCRIPTED_UNTIL(world, gh_op_poll(&commands[1].op) != GH_PENDING, MS, SECOND_US);
    assert_status(gh_op_poll(&commands[0].op), GH_OK);
    assert_status(gh_op_poll(&commands[1].op), GH_OK);
}

/* Of the script that was used, as if somebody had said SCRIPT FLUSH. */
static bool forget_a_script_once(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    unsigned* runs = world->context;
    const char* text = "-NOSCRIPT No matching script. Please use EVAL.\r\n";
    if (!gh_str_equal(words[0], gh_str_literal("EVALSHA")) || words[count - 1].size < 1000 || ++*runs != 2)
        return false;
    buffer_add(reply, text, strlen(text));
    return true;
}

/* Each has room in the out buffer, and both together have none: the text goes first, and once. */
static void forgotten_script_and_its_argument_go_one_behind_the_other(void** state)
{
    (void)state;
    enum
    {
        OUT_BYTES = 16384,
        EACH = OUT_BYTES * 5 / 8
    };
    gh_client_config config = scripted_config();
    config.out_bytes = OUT_BYTES;
    scripted* world = scripted_new();
    world->context = SCRIPTED_NEW(world, unsigned);
    world->answer = forget_a_script_once;
    gh_script* script = SCRIPTED_NEW(world, gh_script);
    gh_command* commands = scripted_keep(world, sizeof(*commands) * 2);
    char* text = scripted_keep(world, EACH);
    memset(text, '-', EACH);
    const gh_str argument = gh_str_make(text, EACH);
    script->text = gh_str_make(text, EACH);
    scripted_start_ready(world, &config);
    for (int i = 0; i < 2; i++)
    {
        assert_status(gh_script_begin(&commands[i], world->client, script, NULL, 0, &argument, 1, NULL), GH_OK);
        SCRIPTED_UNTIL(world, gh_op_poll(&commands[i].op) != GH_PENDING, MS, 10 * SECOND_US);
        assert_status(gh_op_poll(&commands[i].op), GH_OK);
    }
    assert_int_equal(scripted_stats(world).script_reloads, 1);
}

TEST_FILE(memory, cmocka_unit_test(forgotten_script_and_its_argument_go_one_behind_the_other),
          cmocka_unit_test(script_whose_text_finds_no_room_waits), cmocka_unit_test(defaults_fit_256_kib),
          cmocka_unit_test(size_grows_with_each_field), cmocka_unit_test(random_configs_stay_within_their_block),
          cmocka_unit_test(each_number_of_ops), cmocka_unit_test(each_number_of_requests),
          cmocka_unit_test(each_size_of_the_out_buffer), cmocka_unit_test(each_size_of_the_reply),
          cmocka_unit_test(busy_client_never_calls_the_heap), cmocka_unit_test(protocol_error_never_calls_the_heap),
          cmocka_unit_test(making_and_ending_a_client_never_calls_the_heap));
