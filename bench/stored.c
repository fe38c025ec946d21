/* stored.c -- bytes in Redis: of a waiting task, a chat message, a lock and its waiters, a list of contacts.
   MEMORY USAGE of all keys of the thing, divided by how many there are. */

#include "harness/crew.h"
#include "guildhall/platform.h"
#include "harness/waiters.h"

enum
{
    FEW = 10000,
    MANY = 100000,
    PAYLOAD = 100,
    CONTACTS = 100,
    WRITERS = 8,
    WAITERS = 1000
};

static const char body[] = "where are you? we wait at the gate";

static void report_bytes(bench* self, const char* name, double bytes, double goal, const char* note)
{
    bench_figure figure = bench_figure_of(name, "bytes", bytes);
    bench_figure_goal(&figure, goal > 0.0 ? BENCH_VALUE_AT_MOST : BENCH_NO_GOAL, goal);
    bench_figure_note(&figure, "%s", note);
    bench_report(self, &figure);
}

/* The small one against the goal, the large one beside the small one. */
static void report_each(bench* self, const char* name, const double each[2], double goal, const char* note)
{
    char slope[64];
    bench_figure figure = bench_figure_of(name, "bytes", each[0]);
    bench_figure_goal(&figure, BENCH_VALUE_AT_MOST, goal);
    bench_figure_note(&figure, "%s", note);
    bench_report(self, &figure);
    if (each[1] == 0.0)
    {
        return; /* a quick run */
    }
    snprintf(slope, sizeof slope, "%.40s: 100,000", name);
    figure = bench_figure_of(slope, "bytes", each[1]);
    snprintf(figure.peer_name, sizeof figure.peer_name, "10,000");
    bench_series_add(&figure.peer, each[0]);
    figure.slope = true;
    bench_report(self, &figure);
}

static bool went(const char* what, size_t i, gh_status status)
{
    return status == GH_OK || bench_crew_complain(what, i, status) != BENCH_STEP_FAILED;
}

/* --- tasks ---------------------------------------------------------------------------------------------- */

static bool push_tasks(bench_client* client, const char* queue, size_t count)
{
    static gh_task_spec specs[GH_TASKS_BATCH_MAX];
    static char payload[PAYLOAD];
    gh_tasks_push push = {0};
    gh_queue mail;
    gh_status status = gh_queue_init(&mail, client->client, gh_str_of(queue), NULL);
    for (size_t i = 0; i < GH_TASKS_BATCH_MAX; i++)
    {
        specs[i].handler = gh_str_literal("mail");
        specs[i].payload = gh_str_make(payload, PAYLOAD);
    }
    for (size_t done = 0; done < count && status == GH_OK; done += GH_TASKS_BATCH_MAX)
    {
        status = gh_tasks_push_begin(&push, &mail, specs, GH_TASKS_BATCH_MAX);
        status = status == GH_OK ? bench_await(client, &push.op) : status;
    }
    return went("push", count, status);
}

static void measure_tasks(bench* self, bench_client* client)
{
    static const size_t counts[2] = {FEW, MANY};
    double each[2] = {0.0, 0.0};
    bool good = true;
    for (size_t i = 0; i < (self->options.quick ? 1u : 2u) && good; i++)
    {
        char queue[32];
        char pattern[64];
        snprintf(queue, sizeof queue, "mail%zu", counts[i]);
        snprintf(pattern, sizeof pattern, "gh:{tasks:%s}:*", queue);
        good = push_tasks(client, queue, counts[i]);
        each[i] = (double)bench_server_memory_of(self->server, pattern) / (double)counts[i] - PAYLOAD;
    }
    if (good)
    {
        report_each(self, "a waiting task beyond its payload", each, 125.0,
                    "handler of 4 bytes, id made by Guildhall, payload of 100 bytes");
    }
    else
    {
        bench_report_gap(self, "tasks were not measured, see stderr");
    }
}

/* --- messages ------------------------------------------------------------------------------------------- */

static bool send_messages(bench_client* client, const char* chat, size_t count)
{
    static gh_post posts[GH_MESSAGES_MAX];
    gh_chat_config config = gh_chat_config_default();
    gh_str member = gh_str_literal("jason");
    gh_chat_change change = {0};
    gh_chat_send send = {0};
    gh_chat on;
    config.keep = GH_CHAT_KEEP_MAX;
    gh_chat_init(&on, client->client, gh_str_of(chat), &config);
    gh_status status = gh_chat_create_begin(&change, &on, &member, 1, NULL);
    status = status == GH_OK ? bench_await(client, &change.op) : status;
    for (size_t i = 0; i < GH_MESSAGES_MAX; i++)
    {
        posts[i].sender = member;
        posts[i].body = gh_str_of(body);
    }
    for (size_t left = count; left > 0 && status == GH_OK;)
    {
        size_t some = left < GH_MESSAGES_MAX ? left : GH_MESSAGES_MAX;
        status = gh_chat_send_begin(&send, &on, posts, some);
        status = status == GH_OK ? bench_await(client, &send.op) : status;
        left -= some;
    }
    return went("send", count, status);
}

static void measure_messages(bench* self, bench_client* client)
{
    static const size_t counts[2] = {FEW, MANY};
    double each[2] = {0.0, 0.0};
    bool good = true;
    for (size_t i = 0; i < (self->options.quick ? 1u : 2u) && good; i++)
    {
        char chat[32];
        char pattern[64];
        snprintf(chat, sizeof chat, "raid%zu", counts[i]);
        snprintf(pattern, sizeof pattern, "gh:{chat:%s}:m", chat);
        good = send_messages(client, chat, counts[i]);
        each[i] = (double)bench_server_memory_of(self->server, pattern) / (double)counts[i] - (double)(sizeof body - 1);
    }
    if (good)
    {
        report_each(self, "a chat message beyond its body", each, 30.0, "sender of 5 bytes, body of 34 bytes");
    }
    else
    {
        bench_report_gap(self, "messages were not measured, see stderr");
    }
}

/* --- locks ---------------------------------------------------------------------------------------------- */

static void measure_locks(bench* self, bench_client* client)
{
    gh_lock lock = {0};
    gh_status status = gh_lock_begin(&lock, client->client, gh_str_literal("item_00000000"), NULL);
    if (status == GH_OK && bench_await(client, &lock.op) != GH_HELD) status = gh_op_poll(&lock.op);
    if (!went("lock", 0, status))
    {
        bench_report_gap(self, "locks were not measured, see stderr");
        return;
    }
    report_bytes(self, "a held lock", (double)bench_server_memory_of(self->server, "gh:{lock:item_00000000}:*"), 160.0,
                 "the name has 13 bytes");
    gh_lock_release(&lock);
    if (bench_await(client, &lock.op) == GH_OK)
    {
        report_bytes(self, "a free lock", (double)bench_server_memory_of(self->server, "gh:{lock:item_00000000}:*"),
                     0.0, "it goes an hour after its last use");
    }
    else
    {
        bench_report_gap(self, "a free lock was not measured: %s", gh_status_text(gh_op_poll(&lock.op)));
    }
}

static void measure_waiters(bench* self)
{
    bench_waiters waiters;
    char pattern[96];
    if (bench_waiters_open(self, &waiters, WAITERS, 1) && bench_waiters_queue(&waiters))
    {
        snprintf(pattern, sizeof pattern, "gh:{lock:%s}:[qc]", waiters.name);
        report_bytes(self, "a waiter for a lock", (double)bench_server_memory_of(self->server, pattern) / (WAITERS - 1),
                     0.0, "queue and clients, by 999 waiters of one client");
    }
    else
    {
        bench_report_gap(self, "waiters were not measured, see stderr");
    }
    bench_waiters_close(&waiters);
}

/* --- contacts ------------------------------------------------------------------------------------------- */

/* Eight servers write to the list in turn; a bare list gets the same names. */
static bool touch_all(bench* self, bench_client* clients)
{
    gh_contacts_change change = {0};
    gh_contacts contacts;
    bool good = true;
    for (size_t i = 0; i < CONTACTS && good; i++)
    {
        char name[24];
        bench_client* client = &clients[i % WRITERS];
        snprintf(name, sizeof name, "player_%05zu", i * 7919 % 100000);
        bench_client_wake(client);
        gh_contacts_init(&contacts, client->client, gh_str_literal("jason"), NULL, NULL, 0);
        gh_status status = gh_contacts_touch_begin(&change, &contacts, gh_str_of(name));
        status = status == GH_OK ? bench_await(client, &change.op) : status;
        good = went("touch", i, status) && bench_server_do(self->server, "LPUSH recent:jason %s", name);
    }
    return good;
}

static void measure_contacts(bench* self)
{
    bench_client clients[WRITERS];
    gh_client_config config = bench_client_config(self);
    bool good = true;
    memset(clients, 0, sizeof clients);
    for (size_t i = 0; i < WRITERS; i++)
    {
        good = good && bench_client_open(&clients[i], &config, gh_platform_default());
    }
    if (good && touch_all(self, clients))
    {
        double all = (double)bench_server_memory_of(self->server, "gh:{contacts:jason}:*");
        double names = (double)bench_server_memory_of(self->server, "gh:{contacts:jason}:l");
        bench_figure figure = bench_figure_of("100 contacts, 8 writers", "bytes", all);
        snprintf(figure.peer_name, sizeof figure.peer_name, "bare list");
        bench_series_add(&figure.peer, (double)bench_server_memory_of(self->server, "recent:jason"));
        bench_figure_goal(&figure, BENCH_RATIO_AT_MOST, 1.25);
        bench_figure_note(&figure, "names of 12 bytes");
        bench_figure_limit(&figure, "the names take %.0f bytes, the marks of 8 writers %.0f", names, all - names);
        bench_report(self, &figure);
    }
    else
    {
        bench_report_gap(self, "contacts were not measured, see stderr");
    }
    for (size_t i = 0; i < WRITERS; i++)
    {
        bench_client_close(&clients[i]);
    }
}

void bench_stored(bench* self)
{
    bench_client client;
    gh_client_config config = bench_client_config(self);
    config.out_bytes = 256 * 1024;
    if (!bench_client_open(&client, &config, gh_platform_default()))
    {
        bench_report_gap(self, "not measured, see stderr");
        return;
    }
    bench_progress(self, "10,000 and 100,000 tasks and messages are stored");
    measure_tasks(self, &client);
    measure_messages(self, &client);
    measure_locks(self, &client);
    bench_client_close(&client);
    measure_waiters(self);
    measure_contacts(self);
}
