/* gh_client_dump: what a person sees of a client, in which state ever, and what he must not see. */

#include "support/faults/heap.h"
#include "support/scene/everything.h"
#include "support/scene/game.h"
#include "support/server/made_cluster.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"
#include "support/source_tree.h"

#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000)

static char text[32 * 1024];
static size_t text_size;

static void note_line(void* context, gh_str line)
{
    assert_ptr_equal(context, text);
    assert_in_range(line.size, 1, 200);
    for (size_t i = 0; i < line.size; i++) assert_in_range((unsigned char)line.bytes[i], ' ', '~');
    assert_true(text_size + line.size + 2 < sizeof text);
    memcpy(text + text_size, line.bytes, line.size);
    text_size += line.size;
    text[text_size++] = '\n';
    text[text_size] = 0;
}

static void dump_of(const gh_client* client)
{
    text_size = 0;
    heap_watch_begin();
    gh_status status = gh_client_dump(client, note_line, text);
    heap_counts counts = heap_watch_end();
    assert_status(status, GH_OK);
    assert_int_equal(counts.total, 0);
}

static void assert_says(const char* line)
{
    if (strstr(text, line) == NULL) fail_msg("no '%s' in:\n%s", line, text);
}

static void assert_keeps(const char* secret)
{
    if (strstr(text, secret) != NULL) fail_msg("'%s' is in:\n%s", secret, text);
}

static void each_state_is_told(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start(world, NULL);
    dump_of(world->client);
    assert_says(", never ticked\n");
    assert_says("command link: idle, connection 0");
    assert_says("timers: next in never, leases 0, the first ends in never");
    world->open_status = GH_REFUSED;
    scripted_tick(world, MS);
    dump_of(world->client);
    assert_says("command link: back-off for another ");
    assert_says(", failed in a row 1,");
    world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_lock* lock = scripted_want(world, "sword", SECOND_US, SECOND_US);
    dump_of(world->client);
    assert_says("command link: ready, ");
    assert_says("requests: urgent 0, waiting 1, on the wire 0 of ");
    assert_says("ops: busy 1 of ");
    assert_says("  lock, state 1: 1, of these queued 1, sent 0, paused 0\n");
    world->silent = true;
    scripted_tick(world, MS);
    scripted_tick(world, 7 * MS);
    dump_of(world->client);
    assert_says("  on the wire: lock, for 7000 us\n");
    assert_says("state 1: 1, of these queued 0, sent 1, paused 0\n");
    assert_says("ops_begun 1\n");
    assert_true(gh_op_is_busy(&lock->op));
    gh_client_drain(world->client, SECOND_US);
    dump_of(world->client);
    assert_says(", draining, over in 1000000 us\n");
}

static unsigned lines_with(const char* begin)
{
    unsigned count = 0;
    for (const char* at = text; (at = strstr(at, begin)) != NULL; at++) count += at == text || at[-1] == '\n';
    return count;
}

static void what_comes_seldom_is_told(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->open_status = world->connected_status = GH_PENDING;
    scripted_start(world, NULL);
    scripted_tick(world, MS);
    dump_of(world->client);
    assert_says("command link: connecting for another ");
    world = scripted_new();
    scripted_start_ready(world, NULL);
    world->silent = true;
    gh_command* commands[12];
    for (int i = 0; i < 12; i++)
    {
        commands[i] = scripted_ask(world, "GET", 60 * SECOND_US, GH_REPEAT_SAFE);
        commands[i]->op.tag = 7;
    }
    scripted_tick(world, MS);
    gh_op_detach(&commands[0]->op);
    scripted_tick(world, MS);
    dump_of(world->client);
    assert_says("  on the wire: an op that has ended, for ");
    assert_says("  on the wire: command, for ");
    assert_int_equal(lines_with("  on the wire: "), 8); /* the oldest */
    world->silent = false;
    scripted_speak(world);
    SCRIPTED_UNTIL(world, !gh_op_is_busy(&commands[11]->op), MS, SECOND_US);
    dump_of(world->client);
    assert_says(", to be handed out 11\n");
}

/* A node of a Cluster that nobody has ever needed is left out, and so is a link for hints. */
static void nodes_that_are_not_used_are_left_out(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(3);
    fleet->config.wake = true;
    fleet->config.wake_sharded = true;
    for (unsigned node = 0; node < 2; node++) (void)made_cluster_cycle(fleet, node);
    made_cluster_start(fleet);
    for (int i = 0; i < 200; i++) made_cluster_tick(fleet, 5000);
    dump_of(fleet->world->client);
    assert_int_equal(lines_with("command link: "), 2); /* of 3 that are there, and 32 that there may be */
    assert_int_equal(lines_with("shard's wake link: "), 2);
    assert_int_equal(lines_with("map link: "), 1);
}

/* Each that the header has, as the API is written down for bindings. */
static void each_count_is_told(void** state)
{
    (void)state;
    static char api[256 * 1024];
    char path[SOURCE_TREE_PATH_SIZE];
    assert_true(source_tree_path(path, "sdk/generated/api.json"));
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    api[fread(api, 1, sizeof api - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    char* at = strstr(api, "{\"name\": \"gh_client_stats\", \"fields\": [");
    assert_non_null(at);
    *strchr(at, ']') = '\0';
    scripted* world = scripted_new();
    scripted_start(world, NULL);
    dump_of(world->client);
    int count = 0;
    while ((at = strstr(at, "\"uint")) != NULL)
    {
        char line[64] = "\n";
        assert_int_equal(sscanf(at++, "\"uint%*[0-9]_t %60[a-z_]", line + 1), 1);
        strcat(line, " ");
        assert_says(line);
        count++;
    }
    assert_in_range(count, 40, 100);
}

/* One op of each sort, some of them held. */
static void everything_fits_and_nothing_private_is_shown(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    redis_server_do(server, "CONFIG SET requirepass hush-hush");
    gh_client_config config = game_config(redis_server_address(server));
    config.password = gh_str_literal("hush-hush");
    config.ops_capacity = 4096;
    game* a = game_start_with(&config);
    everything* all = everything_new(a);
    GAME_UNTIL(gh_client_ready(a->client));
    everything_begin(all, a->client, true);
    for (int i = 0; i < 10; i++)
    {
        game_tick_all();
        dump_of(a->client);
        assert_keeps("hush");
        assert_says("command link: ready");
        if (i > 0) continue; /* some have had their answers */
        assert_says("  mailbox, state ");
        assert_says("  chat, state ");
    }
    everything_use(all);
}

static void dump_in_a_hook(void* context, const gh_trace_event* event)
{
    game* self = *(game**)context;
    (void)event;
    if (self != NULL) dump_of(self->client);
}

static void hook_may_ask(void** state)
{
    (void)state;
    static game* self;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    self = NULL;
    text_size = 0;
    config.hooks.context = &self;
    config.hooks.trace = dump_in_a_hook;
    self = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(self->client));
    gh_lock* lock = GAME_NEW(self, gh_lock);
    assert_status(gh_lock_begin(lock, self->client, gh_str_literal("gate"), NULL), GH_OK);
    text_size = 0;
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    assert_says(", in a tick\n");
}

static void writer_must_be_there(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start(world, NULL);
    assert_status(gh_client_dump(world->client, NULL, NULL), GH_INVALID_OUT);
}

TEST_FILE(dump, cmocka_unit_test(what_comes_seldom_is_told), cmocka_unit_test(nodes_that_are_not_used_are_left_out),
          cmocka_unit_test(each_state_is_told), cmocka_unit_test(each_count_is_told),
          cmocka_unit_test(everything_fits_and_nothing_private_is_shown), cmocka_unit_test(hook_may_ask),
          cmocka_unit_test(writer_must_be_there));
