/* scripts.c -- the longest time that one script holds the server, each at its caps: the slow log's longest
   entry of an op, the best of 15 ops (of 3, where an op runs many scripts), because whatever else uses the
   core only adds to it. */

#include "harness/crew.h"
#include "guildhall/platform.h"
#include "scripts_flows.h"

#include <stdlib.h>

enum
{
    REPEATS = 15,
    REPEATS_OF_FLOWS = 3,
    POSTS = GH_MESSAGES_MAX,
    POST_SIZE = GH_MESSAGES_BYTES_MAX / GH_MESSAGES_MAX - 16,
    TASK_SIZE = GH_TASKS_BYTES_MAX / GH_TASKS_BATCH_MAX - 160,
    TOUCHED = GH_CONTACTS_TOUCH_MAX,
    TOUCH_CAPACITY = GH_CONTACTS_TOUCH_WORK / GH_CONTACTS_TOUCH_MAX,
    PERMITS = 100,
    COUNTERS = 2560,
    FILE_SIZE = 2 * GH_FILE_CHUNK_MAX,
    NAME_SIZE = 32,
    BUFFER_SIZE = 4 * 1024 * 1024
};

static const double longest_goal_us = 500.0;

typedef struct caps
{
    bench* owner;
    bench_client client;
    unsigned number; /* of the repeat */
    char* buffer;
    char body[POST_SIZE];
    char payload[TASK_SIZE];
    char names[GH_GUILD_MEMBERS_MAX][NAME_SIZE];
    gh_post posts[POSTS];
    gh_task_spec specs[GH_TASKS_BATCH_MAX];
    gh_task tasks[GH_TASKS_BATCH_MAX];
    char task_memory[GH_TASKS_BATCH_MAX * 1024 + GH_TASK_BYTES_MAX];
    gh_queue mail;
    gh_tasks_take take;
    gh_permit permits[PERMITS];
    gh_counters* counters;
    void* counters_memory;
    gh_counter handles[COUNTERS];
    gh_file_send_config file;
} caps;

/* One op at its caps; its begin's status or its end. */
typedef gh_status (*cap_op)(caps* self);

/* How the op ends that was just begun, or how its begin did. */
static gh_status end_of(caps* self, const gh_op* op, gh_status begun)
{
    return begun == GH_OK ? bench_await(&self->client, op) : begun;
}

static gh_status push_tasks(caps* self)
{
    gh_tasks_push op = {0};
    return end_of(self, &op.op, gh_tasks_push_begin(&op, &self->mail, self->specs, GH_TASKS_BATCH_MAX));
}

static gh_status take_tasks(caps* self)
{
    return end_of(self, &self->take.op,
                  gh_tasks_take_begin(&self->take, &self->mail, self->tasks, GH_TASKS_BATCH_MAX, self->task_memory,
                                      sizeof self->task_memory));
}

static gh_status finish_tasks(caps* self)
{
    gh_tasks_finish op = {0};
    for (uint32_t i = 0; i < self->take.count; i++)
    {
        self->tasks[i].action = GH_TASK_ACTION_DONE;
    }
    return end_of(self, &op.op, gh_tasks_finish_begin(&op, &self->mail, self->tasks, self->take.count));
}

static gh_chat raid_of(caps* self)
{
    gh_chat raid;
    gh_chat_config config = gh_chat_config_default();
    config.keep = GH_CHAT_KEEP_MAX;
    gh_chat_init(&raid, self->client.client, gh_str_literal("raid"), &config);
    return raid;
}

static gh_status create_chat(caps* self)
{
    gh_chat_change op = {0};
    gh_chat raid = raid_of(self);
    gh_str member = gh_str_literal("jason");
    return end_of(self, &op.op, gh_chat_create_begin(&op, &raid, &member, 1, NULL));
}

static gh_status send_posts(caps* self)
{
    gh_chat_send op = {0};
    gh_chat raid = raid_of(self);
    return end_of(self, &op.op, gh_chat_send_begin(&op, &raid, self->posts, POSTS));
}

static gh_status fetch_page(caps* self)
{
    gh_chat_fetch op = {0};
    gh_chat raid = raid_of(self);
    gh_chat_member member = {.name = gh_str_literal("jason")};
    gh_chat_fetch_config config = gh_chat_fetch_config_default();
    config.messages_max = GH_CHAT_FETCH_MAX;
    config.buffer = self->buffer;
    config.buffer_size = BUFFER_SIZE;
    return end_of(self, &op.op, gh_chat_fetch_begin(&op, &raid, &member, 1, &config));
}

static gh_status push_letters(caps* self)
{
    gh_mailbox_push op = {0};
    gh_mailbox jason;
    gh_mailbox_init(&jason, self->client.client, gh_str_literal("jason"), NULL);
    return end_of(self, &op.op, gh_mailbox_push_begin(&op, &jason, self->posts, POSTS));
}

static gh_status join_guild(caps* self)
{
    gh_guild_change op = {0};
    gh_guild guild;
    gh_guild_config config = gh_guild_config_default();
    static gh_guild_member members[GH_GUILD_MEMBERS_MAX];
    config.capacity = GH_GUILD_CAPACITY_MAX;
    gh_guild_init(&guild, self->client.client, gh_str_literal("knights"), &config);
    for (size_t i = 0; i < GH_GUILD_MEMBERS_MAX; i++)
    {
        snprintf(self->names[i], NAME_SIZE, "player_%u_%zu", self->number, i);
        members[i].name = gh_str_of(self->names[i]);
    }
    return end_of(self, &op.op, gh_guild_join_begin(&op, &guild, members, GH_GUILD_MEMBERS_MAX));
}

static gh_status touch_contacts(caps* self)
{
    gh_contacts_change op = {0};
    gh_contacts contacts;
    gh_contacts_config config = gh_contacts_config_default();
    static gh_str names[TOUCHED];
    config.capacity = TOUCH_CAPACITY;
    gh_contacts_init(&contacts, self->client.client, gh_str_literal("jason"), &config, NULL, 0);
    for (size_t i = 0; i < TOUCHED; i++)
    {
        snprintf(self->names[i], NAME_SIZE, "player_%zu", (self->number * TOUCHED + i) * 7 % 1000);
        names[i] = gh_str_of(self->names[i]);
    }
    return end_of(self, &op.op, gh_contacts_touch_many_begin(&op, &contacts, names, TOUCHED));
}

static gh_semaphore arena_of(caps* self)
{
    gh_semaphore arena;
    gh_semaphore_config config = gh_semaphore_config_default();
    config.limit = PERMITS;
    gh_semaphore_init(&arena, self->client.client, gh_str_literal("arena"), &config);
    return arena;
}

static gh_status look_at_holders(caps* self)
{
    static gh_permit_holder holders[GH_SEMAPHORE_HOLDERS_MAX];
    gh_semaphore_look op = {0};
    gh_semaphore arena = arena_of(self);
    return end_of(self, &op.op, gh_semaphore_look_begin(&op, &arena, holders, GH_SEMAPHORE_HOLDERS_MAX));
}

/* A hundred permits of one name, which are refreshed in one request when a third of the lease is over. */
static gh_status refresh_permits(caps* self)
{
    gh_client_stats stats;
    uint64_t later_us = bench_now_us();
    uint64_t jump_us = GH_SEMAPHORE_LEASE_MAX_US / 3 + 1000000;
    do
    {
        gh_tick(self->client.client, later_us + jump_us * (self->number + 1u), 0);
        gh_client_get_stats(self->client.client, &stats);
        bench_sleep_us(100);
    } while (stats.requests_sent + stats.requests_waiting > 0 && bench_now_us() < later_us + 1000000);
    gh_status status = gh_op_poll(&self->permits[PERMITS - 1].op);
    return status == GH_HELD ? GH_OK : status;
}

static gh_status hold_permits(caps* self)
{
    gh_permit_config config = gh_permit_config_default();
    gh_semaphore arena = arena_of(self);
    gh_status status = GH_OK;
    config.lease_us = GH_SEMAPHORE_LEASE_MAX_US;
    for (size_t i = 0; i < PERMITS && status == GH_OK; i++)
    {
        status = gh_permit_begin(&self->permits[i], &arena, &config);
    }
    for (size_t i = 0; i < PERMITS && status == GH_OK; i++)
    {
        status = bench_await(&self->client, &self->permits[i].op) == GH_HELD ? GH_OK : GH_ERROR;
    }
    return status;
}

static gh_status flush_counters(caps* self)
{
    for (size_t i = 0; i < COUNTERS; i++)
    {
        (void)gh_counters_add(self->counters, self->handles[i], 1);
    }
    gh_status status = gh_counters_flush(self->counters);
    return status == GH_OK ? bench_await_counters(&self->client, self->counters) : status;
}

/* Two chunks of 128 KiB. */
static gh_status send_file(caps* self)
{
    static const gh_str readers[] = {{"counter", 7}};
    static gh_file_send op;
    char name[NAME_SIZE];
    size_t taken = 0;
    size_t sent = 0;
    memset(&op, 0, sizeof op);
    snprintf(name, sizeof name, "log_%u", self->number);
    self->file.readers = readers;
    gh_status status = gh_file_send_begin(&op, self->client.client, gh_str_of(name), &self->file);
    if (status != GH_OK)
    {
        return status;
    }
    while (gh_op_poll(&op.op) == GH_PENDING && sent < FILE_SIZE)
    {
        (void)gh_file_send_push(&op, gh_str_make(self->buffer + sent, FILE_SIZE - sent), &taken);
        sent += taken;
        gh_tick(self->client.client, bench_now_us(), 0);
    }
    (void)gh_file_send_finish(&op);
    return bench_await(&self->client, &op.op);
}

/* -------------------------------------------------------------------------------------------------------- */

static gh_status lock_set(caps* self)
{
    return bench_flow_lock_set(&self->client);
}

static gh_status flush_sums(caps* self)
{
    return bench_flow_aggregate(&self->client, self->number);
}

static gh_status refresh_rows(caps* self)
{
    return bench_flow_rows(&self->client);
}

typedef struct cap_case
{
    const char* name;
    cap_op before; /* NULL: nothing has to be there first; run before each */
    cap_op op;
    unsigned repeats; /* 0: REPEATS */
} cap_case;

static const cap_case cases[] = {
    {"tasks_push: 100 tasks, 64 KiB", NULL, push_tasks, 0},
    {"tasks_take: 100 tasks, 64 KiB", push_tasks, take_tasks, 0},
    {"tasks_finish: 100 tasks", take_tasks, finish_tasks, 0},
    {"chat_send: 64 posts, 64 KiB", NULL, send_posts, 0},
    {"chat_read: a page of 1 MiB", NULL, fetch_page, 0},
    {"mailbox_push: 64 letters, 64 KiB", NULL, push_letters, 0},
    {"guild_join: 64 members", NULL, join_guild, 0},
    {"contacts_touch: 64, capacity 312", NULL, touch_contacts, 0},
    {"counters_flush: 2,560 counters", NULL, flush_counters, 0},
    {"files_chunk: 128 KiB", NULL, send_file, 0},
    {"lock_acquire: a set of 64", NULL, lock_set, REPEATS_OF_FLOWS},
    {"aggregate_stage, _add: 5,000 cities", NULL, flush_sums, REPEATS_OF_FLOWS},
    {"rows_claim, _finish: 10 rows of 8 KiB", NULL, refresh_rows, REPEATS_OF_FLOWS},
    {"semaphore_look: 100 holders", NULL, look_at_holders, 0},
    {"semaphore_refresh: 100 permits", NULL, refresh_permits, 0},
};

static bool open_counters(caps* self)
{
    gh_counters_config config = gh_counters_config_default();
    config.counters_max = COUNTERS;
    config.flush_us = 3600u * 1000000ull; /* only when we say so */
    config.clean_us = 0;
    size_t size = gh_counters_memory(&config);
    self->counters_memory = aligned_alloc(64, (size + 63) / 64 * 64);
    gh_status status = GH_INVALID_MEMORY;
    if (self->counters_memory != NULL)
    {
        status = gh_counters_init(&self->counters, self->client.client, &config, self->counters_memory, size);
    }
    for (size_t i = 0; i < COUNTERS && status == GH_OK; i++)
    {
        snprintf(self->names[0], NAME_SIZE, "kills_%zu", i);
        status = gh_counters_open(self->counters, gh_str_of(self->names[0]), &self->handles[i]);
    }
    return status == GH_OK;
}

static void fill_arguments(caps* self)
{
    memset(self->body, 'x', sizeof self->body);
    for (size_t i = 0; i < POSTS; i++)
    {
        self->posts[i].sender = gh_str_literal("jason");
        self->posts[i].body = gh_str_make(self->body, sizeof self->body);
    }
    for (size_t i = 0; i < GH_TASKS_BATCH_MAX; i++)
    {
        self->specs[i].handler = gh_str_literal("mail");
        self->specs[i].payload = gh_str_make(self->payload, sizeof self->payload);
    }
    self->file = gh_file_send_config_default();
    self->file.reader_count = 1;
    self->file.chunk_bytes = GH_FILE_CHUNK_MAX;
    self->file.tick_bytes = 4 * GH_FILE_CHUNK_MAX;
    self->file.memory_size = gh_file_send_memory(&self->file);
    self->file.memory = aligned_alloc(64, (self->file.memory_size + 63) / 64 * 64);
}

static bool open_caps(bench* self, caps* made)
{
    gh_client_config config = bench_client_config(self);
    memset(made, 0, sizeof *made);
    made->owner = self;
    config.out_bytes = 2 * 1024 * 1024;
    config.reply_bytes = 1024 * 1024;
    config.reply_nodes = 65536;
    made->buffer = calloc(1, BUFFER_SIZE);
    fill_arguments(made);
    return made->buffer != NULL && made->file.memory != NULL &&
           bench_client_open(&made->client, &config, gh_platform_default()) && open_counters(made) &&
           gh_queue_init(&made->mail, made->client.client, gh_str_literal("mail"), NULL) == GH_OK &&
           create_chat(made) == GH_OK && hold_permits(made) == GH_OK;
}

static void close_caps(caps* made)
{
    bench_client_close(&made->client);
    free(made->buffer);
    free(made->counters_memory);
    free(made->file.memory);
}

static void measure_case(bench* self, caps* all, const cap_case* one)
{
    bench_series longest = {.count = 0};
    bench_figure figure;
    unsigned repeats = one->repeats > 0 ? one->repeats : REPEATS;
    for (unsigned i = 0; i < repeats; i++)
    {
        all->number = i;
        gh_status status = one->before != NULL ? one->before(all) : GH_OK;
        bool good = bench_server_do(self->server, "SLOWLOG RESET");
        status = status == GH_OK ? one->op(all) : status;
        if (status != GH_OK || !good)
        {
            bench_report_gap(self, "%s was not measured: %s", one->name, gh_status_text(status));
            return;
        }
        bench_series_add(&longest, bench_server_longest_script(self->server));
    }
    figure = bench_figure_of(one->name, "us", bench_series_least(&longest));
    bench_figure_goal(&figure, BENCH_VALUE_AT_MOST, longest_goal_us);
    bench_figure_note(&figure, "the longest script of an op, in the best of %u ops; the median is %.0f us", repeats,
                      bench_series_median(&longest));
    bench_figure_limit(&figure, "a script that does nothing takes %.0f us here",
                       bench_server_one_line_us(self->server));
    bench_report(self, &figure);
}

void bench_scripts(bench* self)
{
    static caps all;
    bool good = bench_server_do(self->server, "CONFIG SET slowlog-log-slower-than 0") &&
                bench_server_do(self->server, "CONFIG SET slowlog-max-len 1024");
    if (good && open_caps(self, &all))
    {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        {
            measure_case(self, &all, &cases[i]);
        }
    }
    else
    {
        bench_report_gap(self, "not measured, see stderr");
    }
    close_caps(&all);
    (void)bench_server_do(self->server, "CONFIG SET slowlog-log-slower-than 10000");
    (void)bench_server_do(self->server, "CONFIG SET slowlog-max-len 128");
    (void)bench_server_do(self->server, "SLOWLOG RESET");
}
