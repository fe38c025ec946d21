/* path_wire.c -- paths over the wire, as a frame would have them: a batch is begun, ticked and looked at. */

#include "paths/path_wire.h"

enum
{
    LOCKS = 64,
    TASKS = 50,
    POSTS = GH_MESSAGES_MAX,
    SEARCHES = 16,
    HITS = 10,
    MEMBERS = 60,
    NAME_SIZE = 24
};

bool bench_path_lock(bench_tape* tape, uint64_t count)
{
    static gh_lock locks[LOCKS];
    static char names[LOCKS][NAME_SIZE];
    gh_status status = GH_OK;
    for (uint64_t done = 0; done < count && status == GH_OK; done += LOCKS)
    {
        for (size_t i = 0; i < LOCKS; i++)
        {
            snprintf(names[i], NAME_SIZE, "item_%04zu", i);
            (void)gh_lock_begin(&locks[i], bench_tape_client(tape), gh_str_of(names[i]), NULL);
        }
        for (size_t i = 0; i < LOCKS && status == GH_OK; i++)
        {
            status = bench_tape_await(tape, &locks[i].op) == GH_HELD ? GH_OK : GH_ERROR;
        }
        for (size_t i = 0; i < LOCKS; i++)
        {
            gh_lock_release(&locks[i]);
        }
        for (size_t i = 0; i < LOCKS && status == GH_OK; i++)
        {
            status = bench_tape_await(tape, &locks[i].op);
        }
    }
    return status == GH_OK;
}

bool bench_path_task(bench_tape* tape, uint64_t count)
{
    static gh_task_spec specs[TASKS];
    static gh_task tasks[TASKS];
    static char memory[TASKS * 256 + GH_TASK_BYTES_MAX];
    gh_client* client = bench_tape_client(tape);
    gh_queue queue;
    gh_tasks_push push = {0};
    gh_tasks_take take = {0};
    gh_tasks_finish finish = {0};
    gh_status status = gh_queue_init(&queue, client, gh_str_literal("mail"), NULL);
    for (uint64_t done = 0; done < count && status == GH_OK; done += TASKS)
    {
        status = gh_tasks_push_begin(&push, &queue, specs, TASKS);
        status = status == GH_OK ? bench_tape_await(tape, &push.op) : status;
        status = status == GH_OK ? gh_tasks_take_begin(&take, &queue, tasks, TASKS, memory, sizeof memory) : status;
        status = status == GH_OK ? bench_tape_await(tape, &take.op) : status;
        for (uint32_t i = 0; i < take.count; i++)
        {
            tasks[i].action = GH_TASK_ACTION_DONE;
        }
        status = status == GH_OK ? gh_tasks_finish_begin(&finish, &queue, tasks, take.count) : status;
        status = status == GH_OK ? bench_tape_await(tape, &finish.op) : status;
    }
    return status == GH_OK;
}

static gh_chat raid_of(bench_tape* tape)
{
    gh_chat raid;
    gh_chat_config config = gh_chat_config_default();
    config.keep = 10000;
    gh_chat_init(&raid, bench_tape_client(tape), gh_str_literal("raid"), &config);
    return raid;
}

static gh_status create_chat(bench_tape* tape)
{
    gh_chat_change change = {0};
    gh_chat raid = raid_of(tape);
    gh_str member = gh_str_literal("jason");
    gh_status status = gh_chat_create_begin(&change, &raid, &member, 1, NULL);
    return status == GH_OK ? bench_tape_await(tape, &change.op) : status;
}

static gh_status send_batch(bench_tape* tape)
{
    static gh_post posts[POSTS];
    gh_chat_send send = {0};
    gh_chat raid = raid_of(tape);
    for (size_t i = 0; i < POSTS; i++)
    {
        posts[i].sender = gh_str_literal("jason");
        posts[i].body = gh_str_literal("where are you? we wait at the gate");
    }
    gh_status status = gh_chat_send_begin(&send, &raid, posts, POSTS);
    return status == GH_OK ? bench_tape_await(tape, &send.op) : status;
}

bool bench_path_send(bench_tape* tape, uint64_t count)
{
    gh_status status = create_chat(tape);
    for (uint64_t done = 0; done < count && status == GH_OK; done += POSTS)
    {
        status = send_batch(tape);
    }
    return status == GH_OK;
}

/* 320 messages lie there, and are fetched as often as it takes. */
bool bench_path_fetch(bench_tape* tape, uint64_t count)
{
    static _Alignas(8) char buffer[64 * 1024];
    gh_chat_fetch_config config = gh_chat_fetch_config_default();
    gh_chat raid = raid_of(tape);
    gh_status status = create_chat(tape);
    config.messages_max = 5 * POSTS;
    config.buffer = buffer;
    config.buffer_size = sizeof buffer;
    for (int i = 0; i < 5 && status == GH_OK; i++)
    {
        status = send_batch(tape);
    }
    for (uint64_t got = 0; got < count && status == GH_OK;)
    {
        gh_chat_member member = {.name = gh_str_literal("jason")};
        gh_chat_fetch fetch = {0};
        status = gh_chat_fetch_begin(&fetch, &raid, &member, 1, &config);
        status = status == GH_OK ? bench_tape_await(tape, &fetch.op) : status;
        got += fetch.count;
    }
    return status == GH_OK;
}

static gh_status fill_guild(bench_tape* tape, const gh_guild* guild)
{
    static gh_guild_member members[MEMBERS];
    static char names[MEMBERS][NAME_SIZE];
    gh_guild_change join = {0};
    for (size_t i = 0; i < MEMBERS; i++)
    {
        snprintf(names[i], NAME_SIZE, "%cplayer_%zu", (int)('a' + i % 4), i);
        members[i].name = gh_str_of(names[i]);
    }
    gh_status status = gh_guild_join_begin(&join, guild, members, MEMBERS);
    return status == GH_OK ? bench_tape_await(tape, &join.op) : status;
}

bool bench_path_guild(bench_tape* tape, uint64_t count)
{
    static gh_guild_search searches[SEARCHES];
    static _Alignas(8) char buffers[SEARCHES][GH_GUILD_BUFFER_SIZE(HITS)];
    gh_guild guild;
    gh_guild_init(&guild, bench_tape_client(tape), gh_str_literal("knights"), NULL);
    gh_status status = fill_guild(tape, &guild);
    for (uint64_t done = 0; done < count && status == GH_OK; done += SEARCHES)
    {
        for (size_t i = 0; i < SEARCHES && status == GH_OK; i++)
        {
            gh_guild_search_config config = gh_guild_search_config_default();
            config.buffer = buffers[i];
            config.buffer_size = sizeof buffers[i];
            status = gh_guild_complete_begin(&searches[i], &guild, gh_str_make(&"abcd"[i % 4], 1), &config);
        }
        for (size_t i = 0; i < SEARCHES && status == GH_OK; i++)
        {
            status = bench_tape_await(tape, &searches[i].op);
        }
    }
    return status == GH_OK;
}
