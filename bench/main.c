/* main.c -- guildhall_bench: Guildhall and its peers on the same work, in the same run.

   guildhall_bench --redis unix:PATH [--quick] [--only NAME] [--peers LIST] [--out DIR] [--list] ...

   It ends with 1, and names what it is, if something could not be measured. A peer that is not there is no such thing,
   nor is a goal that was missed. */

#include "harness/bench.h"
#include "paths/path.h"

#include <stdlib.h>
#include <sys/stat.h>

typedef struct bench_entry
{
    const char* name;
    void (*run)(bench* self);
    const char* goal;
} bench_entry;

/* A new system adds its line here. */
static const bench_entry entries[] = {
    {"lock_cycle", bench_lock_cycle, "0.95 x of the server's own speed; 1/8 of the CPU of hiredis' asynchronous API"},
    {"lock_waiters", bench_lock_waiters, "3.2 requests a grant, 3.6 with 30 % dead; 50 x of polling"},
    {"tick_idle", bench_tick_idle, "100,000 waiting ops cost at most 1.2 x of 10; 200 ns"},
    {"tick_worst", bench_tick_worst, "1.1 x of the budget"},
    {"permits", bench_permits, "10 x of the listing; 500,000 refreshed a second in batches of 50"},
    {"tasks", bench_tasks, "10 x of BullMQ in batches of 10, 14 x in batches of 50"},
    {"chat", bench_chat, "20 x of the listing, 60 x a tick's together; fetch 20 x"},
    {"guild", bench_guild, "40 x of the listing; 100,000 members cost at most 1.5 x of 1,000"},
    {"contacts", bench_contacts, "1,000 ns a key-stroke"},
    {"counters", bench_counters, "10 ns an add; flush 10 x of the listing"},
    {"geo", bench_geo, "20 M look-ups a second in 3 M ranges"},
    {"aggregate", bench_aggregate, "10 M lines a second"},
    {"files", bench_files, "0.9 x of plain SETRANGE and GETRANGE"},
    {"memory", bench_memory, "256 KiB a client, 256 B an op, 200 KiB of code, 72 KiB in a program that locks"},
    {"stored", bench_stored, "payload + 125 B a task, body + 30 B a message, 160 B a lock, 1.25 x a list"},
    {"scripts", bench_scripts, "500 us for the longest at its caps"},
    {"fleet", bench_fleet, "1.4 x of one server; 400, 550, 850 KB for 3, 32, 100 nodes"},
    {"nodes", bench_nodes, "an idle tick at 3 and at 100 nodes at most 1,000 ns over that at one server"},
    {"game_server", bench_game_server, "p99.9 of gh_tick 1 ms; no frame late because of it"},
    {"heap", bench_heap, "no call of the heap after gh_client_init"},
};

enum
{
    ENTRY_COUNT = sizeof entries / sizeof entries[0]
};

static int usage(FILE* file, int code)
{
    fputs("guildhall_bench --redis unix:PATH|HOST:PORT [options]\n"
          "  The server must be empty: the benches fill and flush it.\n"
          "  --tls ADDRESS   where the same server speaks TLS: Guildhall's clients go there, its peers do not\n"
          "  --tls-roots FILE   who signed its certificate\n"
          "  --fleet LIST    nodes of a Cluster, or Sentinels, of empty servers: what they cost beside the one\n"
          "  --sentinel NAME how the Sentinels of the list call their master\n"
          "  --quick         short rounds, under a minute altogether\n"
          "  --only NAME     only benches whose name contains NAME\n"
          "  --peers LIST    of hiredis,redis-benchmark,python,bullmq,memcpy; default: all that are there\n"
          "  --out DIR       where bench.json and bench.html go; default build/bench\n"
          "  --scripts DIR   where peer_listing.py is; default bench/peers\n"
          "  --node DIR      where bullmq is installed with its peer.js; default: nowhere\n"
          "  --library FILE  libguildhall.a, to tell the size of its code\n"
          "  --list          the benches and their goals\n"
          "  --game FILE     the program of the sample game_server, to run it with 1,000 players\n"
          "guildhall_bench --path NAME --count N [--tape FILE] [--redis ADDRESS]\n"
          "  One of the hottest paths and nothing else; with --redis the tape is written. --paths lists "
          "them.\n",
          file);
    return code;
}

static int list(void)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++)
    {
        printf("%-16s %s\n", entries[i].name, entries[i].goal);
    }
    return 0;
}

/* Fills the options; false if something is not known or lacks its value. */
static bool read_arguments(int count, char** arguments, bench_options* options)
{
    const struct
    {
        const char* name;
        const char** value;
    } with_value[] = {
        {"--redis", &options->redis},     {"--tls", &options->tls},     {"--tls-roots", &options->tls_roots},
        {"--only", &options->only},       {"--out", &options->out},     {"--library", &options->library},
        {"--scripts", &options->scripts}, {"--node", &options->node},   {"--peers", &options->peers},
        {"--path", &options->path},       {"--count", &options->count}, {"--tape", &options->tape},
        {"--game", &options->game},       {"--fleet", &options->fleet}, {"--sentinel", &options->sentinel}};
    for (int i = 1; i < count; i++)
    {
        bool known = strcmp(arguments[i], "--quick") == 0;
        options->quick |= known;
        for (size_t k = 0; k < sizeof with_value / sizeof with_value[0] && !known; k++)
        {
            if (strcmp(arguments[i], with_value[k].name) == 0 && i + 1 < count)
            {
                *with_value[k].value = arguments[++i];
                known = true;
            }
        }
        if (!known)
        {
            fprintf(stderr, "what is %s?\n", arguments[i]);
            return false;
        }
    }
    return bench_peers_check(options->peers);
}

/* Makes the folder and those above it. */
static void make_folder(const char* path)
{
    char part[1024];
    snprintf(part, sizeof part, "%s", path);
    for (char* at = part + 1; *at != 0; at++)
    {
        if (*at == '/')
        {
            *at = 0;
            (void)mkdir(part, 0777);
            *at = '/';
        }
    }
    (void)mkdir(part, 0777);
}

static void run_all(bench* self)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++)
    {
        if (self->options.only != NULL && strstr(entries[i].name, self->options.only) == NULL)
        {
            continue;
        }
        self->name = entries[i].name;
        uint64_t begun_us = bench_now_us();
        entries[i].run(self);
        bench_progress(self, "done in %.1f s", (double)(bench_now_us() - begun_us) / 1e6);
        bench_peers_forget(self);
        (void)bench_server_flush(self->server);
    }
}

static int run(bench* self)
{
    int64_t keys = bench_server_key_count(self->server);
    if (keys != 0)
    {
        fprintf(stderr,
                "the server at %s is not empty (%lld keys); the benches would flush it. Give them one of "
                "their own.\n",
                self->options.redis, (long long)keys);
        return 2;
    }
    bench_find_facts(self);
    make_folder(self->options.out);
    run_all(self);
    bench_report_print(self, stdout);
    bool written = bench_report_write(self) && bench_report_write_page(self);
    return bench_report_is_whole(self, stderr) && written ? 0 : 1;
}

int main(int count, char** arguments)
{
    bench self;
    memset(&self, 0, sizeof self);
    self.name = "start";
    self.options.out = "build/bench";
    for (int i = 1; i < count; i++)
    {
        if (strcmp(arguments[i], "--help") == 0)
        {
            return usage(stdout, 0);
        }
        if (strcmp(arguments[i], "--list") == 0)
        {
            return list();
        }
        if (strcmp(arguments[i], "--paths") == 0)
        {
            return bench_path_run(NULL, NULL, NULL, NULL);
        }
    }
    bool good = read_arguments(count, arguments, &self.options);
    if (good && self.options.path != NULL)
    {
        return bench_path_run(self.options.path, self.options.count, self.options.tape, self.options.redis);
    }
    if (!good || self.options.redis == NULL)
    {
        return usage(stderr, 2);
    }
    if (!bench_tls_begin(&self.options))
    {
        return 2;
    }
    self.rounds = self.options.quick ? 3 : 7;
    self.warm_up_us = self.options.quick ? 30000 : 200000;
    self.round_us = self.options.quick ? 120000 : 1000000;
    self.report = bench_report_open();
    self.server = bench_server_open(self.options.redis);
    int code = self.report != NULL && self.server != NULL ? run(&self) : 2;
    bench_peers_close(&self);
    bench_server_close(self.server);
    bench_report_close(self.report);
    return code;
}
