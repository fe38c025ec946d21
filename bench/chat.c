/* chat.c -- sends to group chats, one a request and a tick's sends together. */

#include "chat_fetch.h"
#include "harness/crew.h"
#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    CHATS = 512,
    CHATS_MANY = 5120,
    TOGETHER = GH_MESSAGES_MAX,
    CREATED = 64, /* at once */
    MEMBERS = 4
};

static const char body[] = "where are you? we wait at the gate";
static const char* const member_names[MEMBERS] = {"jason", "jeff", "jenny", "jack"};

typedef struct send_side
{
    bench_crew crew;
    size_t together;
    gh_chat_send* sends;
    gh_post* posts; /* together for each chat */
    char (*names)[40];
    char (*members)[40]; /* MEMBERS for each chat; a player can be in no more than 1,000 */
} send_side;

static bool begin(bench_crew* crew, size_t i)
{
    send_side* self = crew->context;
    gh_chat chat;
    gh_chat_init(&chat, crew->client.client, gh_str_of(self->names[i]), NULL);
    gh_status status = gh_chat_send_begin(&self->sends[i], &chat, &self->posts[i * self->together], self->together);
    return status == GH_OK || bench_crew_complain("gh_chat_send_begin", i, status) != BENCH_STEP_FAILED;
}

static gh_status poll_send(const bench_crew* crew, size_t i)
{
    const send_side* self = crew->context;
    return gh_op_poll(&self->sends[i].op);
}

static bench_step look(bench_crew* crew, size_t i, gh_status status)
{
    (void)crew;
    return status == GH_OK ? BENCH_STEP_OVER : bench_crew_complain("send", i, status);
}

static bool create_all(send_side* side)
{
    static gh_chat_change changes[CREATED];
    static gh_str members[CREATED][MEMBERS];
    memset(changes, 0, sizeof changes);
    for (size_t i = 0; i < side->crew.count + CREATED; i++)
    {
        gh_chat_change* change = &changes[i % CREATED];
        gh_status status = i < CREATED ? GH_OK : bench_await(&side->crew.client, &change->op);
        for (size_t k = 0; k < MEMBERS && i < side->crew.count; k++)
        {
            members[i % CREATED][k] = gh_str_of(side->members[i * MEMBERS + k]);
        }
        if (status == GH_OK && i < side->crew.count)
        {
            gh_chat chat;
            gh_chat_init(&chat, side->crew.client.client, gh_str_of(side->names[i]), NULL);
            status = gh_chat_create_begin(change, &chat, members[i % CREATED], MEMBERS, NULL);
        }
        if (status != GH_OK)
        {
            (void)bench_crew_complain("create", i, status);
            return false;
        }
    }
    return true;
}

static void name_all(send_side* side, unsigned number)
{
    for (size_t i = 0; i < side->crew.count; i++)
    {
        snprintf(side->names[i], sizeof side->names[i], "raid_%u_%zu", number, i);
        for (size_t k = 0; k < MEMBERS; k++)
        {
            snprintf(side->members[i * MEMBERS + k], sizeof side->members[0], "%s_%zu", member_names[k], i / 256);
        }
        for (size_t k = 0; k < side->together; k++)
        {
            gh_post* post = &side->posts[i * side->together + k];
            post->sender = gh_str_of(side->members[i * MEMBERS + k % MEMBERS]);
            post->body = gh_str_of(body);
        }
    }
}

static bool open_side(bench* self, send_side* side, size_t chats, size_t together)
{
    static unsigned number; /* so that two sides have chats of their own */
    gh_client_config config = bench_client_config(self);
    memset(side, 0, sizeof *side);
    config.ops_capacity = (uint32_t)chats + 16;
    config.out_bytes = 4 * 1024 * 1024;
    side->together = together;
    side->sends = calloc(chats, sizeof *side->sends);
    side->posts = calloc(chats * together, sizeof *side->posts);
    side->names = calloc(chats, sizeof *side->names);
    side->crew = (bench_crew){.owner = self, .count = chats, .weight = (double)together, .context = side};
    side->crew.begin = begin;
    side->crew.poll = poll_send;
    side->crew.look = look;
    side->members = calloc(chats * MEMBERS, sizeof *side->members);
    if (side->sends == NULL || side->posts == NULL || side->names == NULL || side->members == NULL)
    {
        return false;
    }
    name_all(side, ++number);
    return bench_client_open(&side->crew.client, &config, gh_platform_default()) && create_all(side);
}

static void close_side(send_side* side)
{
    bench_client_close(&side->crew.client);
    free(side->sends);
    free(side->posts);
    free(side->names);
    free(side->members);
}

enum
{
    SINGLE,
    TICK,
    SINGLE_MANY,
    LISTING,
    SIDES
};

static void report_sends(bench* self, const bench_side* sides)
{
    bench_report_rate(self, &(bench_rate){"send, one a request", "messages", &sides[SINGLE], &sides[LISTING], 20.0,
                                          "to 512 chats in turn, whose sends are in flight together"});
    bench_report_slope(self, "the same, 5,120 chats", "messages", &sides[SINGLE_MANY], &sides[SINGLE]);
    bench_report_rate(self, &(bench_rate){"send, a tick's 64 together", "messages", &sides[TICK], &sides[LISTING], 60.0,
                                          "64 posts of 4 members to a chat in one request"});
}

static void measure_sends(bench* self)
{
    static send_side all[LISTING];
    static const size_t chats[LISTING] = {CHATS, CHATS, CHATS_MANY};
    static const size_t together[LISTING] = {1, TOGETHER, 1};
    bench_asked_side listing = {self, BENCH_PEER_PYTHON, "send"};
    bool good = true;
    memset(all, 0, sizeof all);
    for (size_t i = 0; i < LISTING; i++)
    {
        good = good && open_side(self, &all[i], chats[i], together[i]);
    }
    if (good)
    {
        bench_side sides[SIDES] = {
            {.name = "Guildhall, one a request", .run = bench_crew_run, .context = &all[SINGLE].crew},
            {.name = "Guildhall, 64 a request", .run = bench_crew_run, .context = &all[TICK].crew},
            {.name = "Guildhall, 5,120 chats", .run = bench_crew_run, .context = &all[SINGLE_MANY].crew},
            {.name = "listing (Python)", .run = bench_asked_run, .context = &listing},
        };
        sides[LISTING].missing = bench_peer_missing(self, BENCH_PEER_PYTHON);
        sides[LISTING].lacks = "an end to waiting if a sender dies: its lock has no lease; a bound on what is kept";
        bench_alternate(self, sides, SIDES);
        sides[SINGLE].name = "512 chats";
        report_sends(self, sides);
    }
    else
    {
        bench_report_gap(self, "sends were not measured, see stderr");
    }
    for (size_t i = 0; i < LISTING; i++)
    {
        close_side(&all[i]);
    }
}

void bench_chat(bench* self)
{
    measure_sends(self);
    bench_chat_fetch(self);
}
