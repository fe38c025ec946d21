/* chat_fetch.c -- a member that has been away fetches everything that it missed: 10,000 and 100,000 messages.

   Each fetch is by another member, to whom all is new, and ends with the word that all is handled. One member
   never comes, so that nothing goes. */

#include "chat_fetch.h"

#include "harness/crew.h"
#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    READERS = 900,
    FEW = 10000,
    MANY = 100000,
    BUFFER_SIZE = 1024 * 1024,
    REPLY_SIZE = 1024 * 1024,
    PAGE = 8192
};

static const char body[] = "where are you? we wait at the gate";

typedef struct fetch_side
{
    bench* owner;
    bench_client client;
    char name[40];
    gh_chat chat;
    size_t pending;
    size_t readers;
    size_t next_reader;
    gh_chat_fetch_config config;
} fetch_side;

static void reader_name(size_t i, char out[40])
{
    snprintf(out, 40, "reader_%zu", i);
}

static bool join_all(fetch_side* self)
{
    gh_chat_config config = gh_chat_config_default();
    gh_str absent = gh_str_literal("absent");
    gh_chat_change change = {0};
    config.keep = GH_CHAT_KEEP_MAX;
    gh_chat_init(&self->chat, self->client.client, gh_str_of(self->name), &config);
    gh_status status = gh_chat_create_begin(&change, &self->chat, &absent, 1, NULL);
    status = status == GH_OK ? bench_await(&self->client, &change.op) : status;
    for (size_t i = 0; i < self->readers && status == GH_OK; i++)
    {
        char name[40];
        reader_name(i, name);
        status = gh_chat_join_begin(&change, &self->chat, gh_str_of(name), GH_CHAT_FROM_START);
        status = status == GH_OK ? bench_await(&self->client, &change.op) : status;
    }
    return status == GH_OK || bench_crew_complain("join", self->pending, status) != BENCH_STEP_FAILED;
}

static bool fill_chat(fetch_side* self)
{
    static gh_post posts[GH_MESSAGES_MAX];
    gh_chat_send send = {0};
    gh_status status = GH_OK;
    for (size_t i = 0; i < GH_MESSAGES_MAX; i++)
    {
        posts[i].sender = gh_str_literal("absent");
        posts[i].body = gh_str_of(body);
    }
    for (size_t left = self->pending; left > 0 && status == GH_OK;)
    {
        size_t count = left < GH_MESSAGES_MAX ? left : GH_MESSAGES_MAX;
        status = gh_chat_send_begin(&send, &self->chat, posts, count);
        status = status == GH_OK ? bench_await(&self->client, &send.op) : status;
        left -= count;
    }
    return status == GH_OK || bench_crew_complain("fill", self->pending, status) != BENCH_STEP_FAILED;
}

static bool open_side(bench* self, fetch_side* side, size_t pending)
{
    gh_client_config config = bench_client_config(self);
    memset(side, 0, sizeof *side);
    config.reply_bytes = REPLY_SIZE;
    config.reply_nodes = 4 * PAGE;
    side->owner = self;
    side->pending = pending;
    side->readers = self->options.quick ? READERS / 4 : READERS;
    snprintf(side->name, sizeof side->name, "hall_%zu", pending);
    side->config = gh_chat_fetch_config_default();
    side->config.messages_max = PAGE;
    side->config.buffer_size = BUFFER_SIZE;
    side->config.buffer = calloc(1, BUFFER_SIZE);
    return side->config.buffer != NULL && bench_client_open(&side->client, &config, gh_platform_default()) &&
           join_all(side) && fill_chat(side);
}

static void close_side(fetch_side* side)
{
    bench_client_close(&side->client);
    free(side->config.buffer);
}

/* Everything, and the word that it is handled; false: it was not everything. */
static bool fetch_all(fetch_side* self)
{
    char name[40];
    gh_chat_member member = {0};
    gh_chat_fetch fetch = {0};
    uint64_t got = 0;
    gh_status status = GH_OK;
    reader_name(self->next_reader++, name);
    member.name = gh_str_of(name);
    while (status == GH_OK)
    {
        status = gh_chat_fetch_begin(&fetch, &self->chat, &member, 1, &self->config);
        status = status == GH_OK ? bench_await(&self->client, &fetch.op) : status;
        if (status == GH_OK && fetch.count > 0)
        {
            got += fetch.count;
            member.handled = fetch.messages[fetch.count - 1].id;
        }
    }
    if (status != GH_EMPTY || got != self->pending)
    {
        fprintf(stderr, "  %llu of %zu messages were fetched: %s\n", (unsigned long long)got, self->pending,
                gh_status_text(status));
        return false;
    }
    return true;
}

static bool run_fetch(void* context, uint64_t duration_us, bench_sample* sample)
{
    fetch_side* self = context;
    uint64_t end_us = bench_now_us() + duration_us;
    const size_t end = self->next_reader + self->readers / (self->owner->rounds + 1); /* and one to warm up */
    bool good = true;
    size_t fetches = 0;
    bench_client_wake(&self->client);
    bench_heap_begin();
    do
    {
        good = self->next_reader < end && fetch_all(self);
        fetches += good ? 1u : 0u;
    } while (good && bench_now_us() < end_us);
    sample->heap_calls = (double)bench_heap_end();
    sample->cycles = (double)(fetches * self->pending);
    return good || (fetches > 0 && self->next_reader == end);
}

static void report_fetch(bench* self, bench_side* sides)
{
    sides[0].name = "10,000 pending";
    bench_report_rate(self, &(bench_rate){"fetch of 100,000 pending", "messages", &sides[1], &sides[2], 20.0,
                                          "pages of up to 8,192, the last request says that all is handled"});
    bench_report_slope(self, "100,000 beside 10,000 pending", "messages", &sides[1], &sides[0]);
}

void bench_chat_fetch(bench* self)
{
    static fetch_side few;
    static fetch_side many;
    bench_asked_side listing = {self, BENCH_PEER_PYTHON, "fetch"};
    bench_progress(self, "chats of 10,000 and 100,000 messages are filled");
    bool good = open_side(self, &few, FEW);
    bool good_many = good && open_side(self, &many, MANY);
    if (good_many)
    {
        bench_side sides[] = {
            {.name = "Guildhall, 10,000 pending", .run = run_fetch, .context = &few},
            {.name = "Guildhall, 100,000 pending", .run = run_fetch, .context = &many},
            {.name = "listing (Python)", .run = bench_asked_run, .context = &listing},
        };
        sides[2].missing = bench_peer_missing(self, BENCH_PEER_PYTHON);
        sides[2].lacks = "a commit: what was fetched by a process that dies is lost; bounds on memory and replies";
        bench_alternate(self, sides, 3);
        report_fetch(self, sides);
        close_side(&many);
    }
    else
    {
        bench_report_gap(self, "fetching was not measured, see stderr");
    }
    if (good)
    {
        close_side(&few);
    }
}
