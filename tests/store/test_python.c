/* Python and Guildhall share one store: tests/foreign.py does what sdk/KEYS.md promises, and the library sees
   it; and the other way round. Skipped where there is no python3-redis. */

#include "support/faults/counting.h"
#include "support/scene/desk.h"
#include "support/scene/on.h"
#include "support/source_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A Python that has the redis module: the first in the path may be another than the one that the packages are
 * for. */
static const char* python(void)
{
    static const char* const names[] = {"python3", "/usr/bin/python3"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (system(counting_text("%s -c 'import redis' > /dev/null 2>&1", names[i])) == 0) return names[i];
    suite_skip("there is no python3 with the redis module (python3-redis)");
    return NULL;
}

/* What foreign.py says to these words of a shell; it must end well. The text is good until the next call. */
static const char* python_says(const char* interpreter, redis_server* server, const char* words)
{
    static char said[4096];
    char path[SOURCE_TREE_PATH_SIZE];
    char command[SOURCE_TREE_PATH_SIZE + 1024];
    assert_true(source_tree_path(path, "tests/foreign.py"));
    snprintf(command, sizeof(command), "%s -B '%s' '%s' %s", interpreter, path,
             redis_server_address(server) + strlen("unix:"), words);
    FILE* pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t size = fread(said, 1, sizeof(said) - 1, pipe);
    said[size] = 0;
    if (pclose(pipe) != 0) fail_msg("foreign.py %s does not end well", words);
    game_tick_all(); /* python can take a slow machine seconds, and time-outs count from the last tick */
    return said;
}

static void task_that_python_pushes_is_handed_out(void** state)
{
    (void)state;
    const char* interpreter = python();
    redis_server* server = redis_server_start(NULL);
    game* self = game_start_ready(redis_server_address(server));
    assert_string_equal(python_says(interpreter, server, "push 'post office' letter mail 'dear all' 0"), "o e\n");
    gh_task task;
    memset(&task, 0, sizeof(task));
    char* memory = GAME_NEW_ARRAY(self, char, 16 * 1024);
    gh_tasks_take* take = GAME_NEW(self, gh_tasks_take);
    assert_status(gh_tasks_take_begin(take, queue_made(self->client, gh_str_literal("post office"), NULL), &task, 1,
                                      memory, 16 * 1024),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&take->op) != GH_PENDING);
    assert_status(gh_op_poll(&take->op), GH_OK);
    assert_int_equal(take->count, 1);
    assert_true(gh_str_equal(task.id, gh_str_literal("letter")));
    assert_true(gh_str_equal(task.handler, gh_str_literal("mail")));
    assert_true(gh_str_equal(task.payload, gh_str_literal("dear all")));
    assert_int_equal(task.attempt, 1);
    assert_int_equal(task.attempts_max, 5);
}

static void message_that_python_sends_is_fetched(void** state)
{
    (void)state;
    const char* interpreter = python();
    redis_server* server = redis_server_start(NULL);
    game* self = game_start_ready(redis_server_address(server));
    gh_str names[] = {gh_str_literal("jason"), gh_str_literal("jeff")};
    gh_chat_change* create = GAME_NEW(self, gh_chat_change);
    gh_str chat = gh_str_literal("raid {7}");
    assert_string_equal(python_says(interpreter, server, "say 'raid {7}' jason 'anybody?'"),
                        "1 0\n"); /* no such chat */
    assert_status(gh_chat_create_begin(create, ON_CHAT(self->client, chat), names, 2, NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&create->op) != GH_PENDING);
    assert_status(gh_op_poll(&create->op), GH_OK);
    assert_string_equal(python_says(interpreter, server, "say 'raid {7}' jason 'ready?'"), "0 1\n");
    assert_string_equal(python_says(interpreter, server, "say 'raid {7}' jason 'now?'"), "0 2\n");

    gh_chat_member* member = GAME_NEW(self, gh_chat_member);
    member->name = names[1];
    gh_chat_fetch* fetch = GAME_NEW(self, gh_chat_fetch);
    gh_chat_fetch_config config = gh_chat_fetch_config_default();
    config.buffer = GAME_NEW_ARRAY(self, char, 4096);
    config.buffer_size = 4096;
    assert_status(gh_chat_fetch_begin(fetch, ON_CHAT(self->client, chat), member, 1, &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&fetch->op) != GH_PENDING);
    assert_status(gh_op_poll(&fetch->op), GH_OK);
    assert_int_equal(fetch->count, 2);
    assert_true(gh_str_equal(fetch->messages[0].sender, names[0]));
    assert_true(gh_str_equal(fetch->messages[0].body, gh_str_literal("ready?")));
    assert_true(gh_str_equal(fetch->messages[1].body, gh_str_literal("now?")));
}

static void python_reads_what_was_counted(void** state)
{
    (void)state;
    const char* interpreter = python();
    redis_server* server = server_with_clock();
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    uint64_t hour_s = next_hour_s();
    for (unsigned i = 0; i < 3; i++)
    {
        stand_at(server, hour_s + 60 * i + 30);
        counting_add(hits, "hits of {all}", 10 + i);
        counting_settle(hits);
    }
    assert_string_equal(
        python_says(interpreter, server, "read 'hits of {all}' 60"),
        counting_text("%" PRIu64 " 10\n%" PRIu64 " 11\n%" PRIu64 " 12\n", hour_s, hour_s + 60, hour_s + 120));
    assert_string_equal(python_says(interpreter, server, "read 'hits of {all}' 3600"),
                        counting_text("%" PRIu64 " 33\n", hour_s));
    assert_string_equal(python_says(interpreter, server, "read misses 60"), "");
}

static void lock_that_python_holds_is_held(void** state)
{
    (void)state;
    const char* interpreter = python();
    redis_server* server = redis_server_start(NULL);
    game* self = game_start_ready(redis_server_address(server));
    gh_lock* lock = GAME_NEW(self, gh_lock);
    uint64_t fence = 0;
    assert_int_equal(sscanf(python_says(interpreter, server, "hold sword 60000000"), "0 %" SCNu64, &fence), 1);
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 0;
    assert_status(gh_lock_begin(lock, self->client, gh_str_literal("sword"), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_BUSY);

    assert_status(gh_lock_begin(lock, self->client, gh_str_literal("shield"), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    assert_true(lock->fence > fence);
    assert_int_equal(strncmp(python_says(interpreter, server, "hold shield 60000000"), "2 ", 2), 0); /* busy */
}

TEST_FILE(python, cmocka_unit_test(task_that_python_pushes_is_handed_out),
          cmocka_unit_test(message_that_python_sends_is_fetched), cmocka_unit_test(python_reads_what_was_counted),
          cmocka_unit_test(lock_that_python_holds_is_held));
