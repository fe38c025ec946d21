/* After gh_client_shutdown the client's memory is the caller's again. Whatever was begun with the client is inert from
   then on: each public function of each op and object is called with the memory taken away. */

#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "support/scene/everything.h"
#include "support/scene/fronted.h"
#include "support/server/redis_server.h"
#include "support/source_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FOLDER "sdk/include/guildhall"

/* A client whose memory can be taken away. */
typedef struct doomed
{
    gh_client* client;
    void* memory;
    size_t size;
} doomed;

static doomed doomed_start(redis_server* server)
{
    doomed self;
    gh_client_config config = game_config(redis_server_address(server));
    fronted_dress(&config);
    self.size = gh_client_memory(&config);
    self.memory = mmap(NULL, self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(self.memory, MAP_FAILED);
    assert_status(gh_client_init(self.memory, self.size, &config, gh_platform_default(), &self.client), GH_OK);
    return self;
}

#define DOOMED_UNTIL(self, condition)                                                                                  \
    do                                                                                                                 \
    {                                                                                                                  \
        uint64_t doomed_end_us = wait_cap_us();                                                                        \
        while (!(condition))                                                                                           \
        {                                                                                                              \
            if (wait_now_us() >= doomed_end_us) fail_msg("waited too long for: %s", #condition);                       \
            assert_status(gh_tick((self)->client, wait_now_us(), 0), GH_OK);                                           \
            wait_briefly();                                                                                            \
        }                                                                                                              \
    } while (0)

/* While the memory is still there, the client says that it is none. */
static void client_must_be_none(gh_client* client)
{
    gh_client_stats stats;
    gh_client_handle handle;
    char unique[GH_UNIQUE_SIZE];
    bool want_write = true;
    gh_task task = {0};
    assert_status(gh_tick(client, wait_now_us(), 0), GH_INVALID_CLIENT);
    assert_int_equal(gh_next_deadline(client), GH_FOREVER);
    assert_int_equal(gh_client_fd(client, GH_LINK_COMMANDS, &want_write), -1);
    assert_false(want_write);
    assert_int_equal(gh_client_handles(client, &handle, 1), 0);
    assert_int_equal(gh_client_link_state(client, GH_LINK_WAKE), GH_LINK_IDLE);
    assert_false(gh_client_ready(client));
    assert_status(gh_client_tick(client, 0), GH_INVALID_CLIENT);
    assert_status(gh_client_dump(client, NULL, NULL), GH_INVALID_CLIENT);
    assert_status(gh_client_drain(client, 0), GH_INVALID_CLIENT);
    assert_false(gh_client_drained(client));
    assert_int_equal(gh_client_last_invalid(client).size, 0);
    assert_int_equal(gh_client_id(client), 0);
    assert_status(gh_client_unique(client, unique), GH_INVALID_CLIENT);
    assert_status(gh_client_get_stats(client, &stats), GH_INVALID_CLIENT);
    task.state = 1;
    task.lease_end_us = GH_FOREVER;
    assert_int_equal(gh_task_remaining_us(client, &task), 0);
    gh_client_shutdown(client);
}

/* The begins come last: they find every op idle again. */
static void must_be_inert(doomed* self, everything* all)
{
    gh_client_shutdown(self->client);
    client_must_be_none(self->client);
    assert_int_equal(mprotect(self->memory, self->size, PROT_NONE), 0);
    everything_touch(all);
    assert_int_equal(mprotect(self->memory, self->size, PROT_READ | PROT_WRITE), 0);
    everything_begin(all, self->client, false);
    assert_int_equal(munmap(self->memory, self->size), 0);
}

static void what_was_never_begun_is_inert(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* keeper = game_start(redis_server_address(server));
    doomed self = doomed_start(server);
    must_be_inert(&self, everything_new(keeper));
}

static void what_was_begun_is_inert(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* keeper = game_start(redis_server_address(server));
    doomed self = doomed_start(server);
    everything* all = everything_new(keeper);
    everything_begin(all, self.client, true);
    must_be_inert(&self, all);
}

/* After a few ticks requests are on the wire; scripts have yet to be loaded in the first of them. */
static void what_was_asked_for_is_inert(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* keeper = game_start(redis_server_address(server));
    for (int ticks = 1; ticks <= 12; ticks++)
    {
        doomed self = doomed_start(server);
        everything* all = everything_new(keeper);
        DOOMED_UNTIL(&self, gh_client_ready(self.client));
        everything_begin(all, self.client, true);
        for (int i = 0; i < ticks; i++)
        {
            assert_status(gh_tick(self.client, wait_now_us(), 0), GH_OK);
            everything_use(all);
        }
        must_be_inert(&self, all);
    }
}

static void what_is_held_is_inert(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* keeper = game_start(redis_server_address(server));
    doomed self = doomed_start(server);
    everything* all = everything_new(keeper);
    everything_begin(all, self.client, true);
    DOOMED_UNTIL(&self, everything_use(all));
    must_be_inert(&self, all);
}

static void what_has_ended_is_inert(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* keeper = game_start(redis_server_address(server));
    doomed self = doomed_start(server);
    everything* all = everything_new(keeper);
    everything_begin(all, self.client, true);
    DOOMED_UNTIL(&self, everything_use(all));
    assert_status(gh_client_drain(self.client, SECOND_US), GH_OK);
    DOOMED_UNTIL(&self, gh_client_drained(self.client));
    must_be_inert(&self, all);
}

/* ---- no function is forgotten ---------------------------------------------------------------------------------- */

/* They know no client and no op; or, at the end, client_must_be_none calls them. */
static bool needs_no_call(const char* name)
{
    static const char* const beginnings[] = {
        "gh_geo_",      "gh_fold_", "gh_status_", "gh_str_",          "gh_version",   "gh_message_", "gh_client_",
        "gh_platform_", "gh_tick",  "gh_sizeof",  "gh_next_deadline", "gh_topology_", "gh_replicas_"};
    static const char* const others[] = {"gh_lock_tag",
                                         "gh_name_str",
                                         "gh_reply_at",
                                         "gh_reply_int",
                                         "gh_reply_str",
                                         "gh_name_format",
                                         "gh_aggregate_init",
                                         "gh_task_remaining_us",
                                         "gh_op_was_moved",
                                         "gh_counters_read_stats",
                                         "gh_aggregate_read_stats"}; /* both by their _get_stats */
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return true;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(name, others[i]) == 0) return true;
    return (size > 15 && strcmp(name + size - 15, "_config_default") == 0) ||
           (size > 7 && strcmp(name + size - 7, "_memory") == 0);
}

/* The text without comments and without the preprocessor's lines. */
static void strip(char* text)
{
    char* to = text;
    bool line_begins = true;
    for (const char* from = text; *from != 0;)
    {
        const char* end = from;
        if (strncmp(from, "/*", 2) == 0)
        {
            end = strstr(from, "*/");
            assert_non_null(end);
            from = end + 2;
        }
        else if (line_begins && *from == '#')
        {
            while (*end != '\n' || end[-1] == '\\') end++;
            from = end;
        }
        else
        {
            if (*from != ' ') line_begins = *from == '\n';
            *to++ = *from++;
        }
    }
    *to = 0;
}

/* Every "gh_name(" that stands outside of braces and brackets declares a function. */
static unsigned look_through(char* text, const char* header)
{
    unsigned found = 0;
    int depth = 0;
    strip(text);
    for (char* at = text; *at != 0; at++)
    {
        char* end = at;
        char after;
        if (*at == '{' || *at == '(') depth++;
        if (*at == '}' || *at == ')') depth--;
        if (strncmp(at, "extern \"C\"", 10) == 0) at = strchr(at, '\n'); /* its brace is no function's */
        if (depth != 0 || strncmp(at, "gh_", 3) != 0) continue;
        while (isalnum((unsigned char)*end) || *end == '_') end++;
        after = *end;
        *end = 0;
        if (after == '(' && !needs_no_call(at) && !everything_has_called(at))
            fail_msg("%s of %s is called by no test of this file", at, header);
        if (after == '(') found++;
        *end = after;
        at = end - 1;
    }
    return found;
}

static unsigned look_through_header(const char* name)
{
    char relative[300];
    char path[SOURCE_TREE_PATH_SIZE];
    static char text[1 << 17];
    snprintf(relative, sizeof relative, FOLDER "/%s", name);
    assert_true(source_tree_path(path, relative));
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_true(size > 0 && size < sizeof text - 1);
    text[size] = 0;
    return look_through(text, name);
}

static void no_function_is_forgotten(void** state)
{
    char path[SOURCE_TREE_PATH_SIZE];
    unsigned found = 0;
    struct dirent* entry;
    what_is_held_is_inert(state);
    assert_true(source_tree_path(path, FOLDER));
    DIR* folder = opendir(path);
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL)
        if (strstr(entry->d_name, ".h") != NULL) found += look_through_header(entry->d_name);
    closedir(folder);
    assert_in_range(found, 150, 400);
}

TEST_FILE(after_shutdown, cmocka_unit_test(what_was_never_begun_is_inert), cmocka_unit_test(what_was_begun_is_inert),
          cmocka_unit_test(what_was_asked_for_is_inert), cmocka_unit_test(what_is_held_is_inert),
          cmocka_unit_test(what_has_ended_is_inert), cmocka_unit_test(no_function_is_forgotten));
