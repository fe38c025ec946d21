/* memory.c -- bytes: of a client, of an op, of the library's code, of a lock in the store. */

#include "platform.h"
#include "waiters.h"

#include <stdlib.h>

enum
{
    STORED_LOCKS = 64,
    WAITERS = 1000,
    NAME_SIZE = 24
};

static const char default_library[] = "build/bin/release/libguildhall.a";

static void report_bytes(bench* self, const char* name, double bytes, double goal, const char* note)
{
    bench_figure figure = bench_figure_of(name, "bytes", bytes);
    bench_figure_goal(&figure, goal > 0.0 ? BENCH_VALUE_AT_MOST : BENCH_NO_GOAL, goal);
    bench_figure_note(&figure, "%s", note);
    bench_report(self, &figure);
}

static void report_code(bench* self)
{
    const char* library = self->options.library != NULL ? self->options.library : default_library;
    char path[1024];
    char answer[16384];
    snprintf(path, sizeof path, "%s", library);
    char* arguments[] = {(char[]){"size"}, (char[]){"-t"}, path, NULL};
    /* One line an object, "text data bss dec hex name", and the sum behind them all. */
    bool good = bench_program(arguments, answer, sizeof answer);
    char* end = good ? strstr(answer, "(TOTALS)") : NULL;
    while (end != NULL && end > answer && end[-1] != '\n')
    {
        end--;
    }
    double code = end == NULL ? 0.0 : strtod(end, NULL);
    if (code <= 0.0)
    {
        bench_report_remark(self, "the code's size was not measured: `size -t %s` gave no sum", library);
        return;
    }
    report_bytes(self, "code of the library", code, 160.0 * 1024.0,
                 "text of `size -t`, the scripts' text included");
}

/* --- in the store --------------------------------------------------------------------------------------- */

typedef struct store
{
    bench_client client;
    gh_lock locks[STORED_LOCKS];
    char names[STORED_LOCKS][NAME_SIZE];
} store;

/* Ticks until each lock's status is the one that is wanted. */
static bool store_reach(store* self, gh_status wanted)
{
    uint64_t give_up_us = bench_now_us() + 10u * 1000u * 1000u;
    for (size_t i = 0; i < STORED_LOCKS; i++)
    {
        while (gh_lock_poll(&self->locks[i]) != wanted)
        {
            if (bench_now_us() > give_up_us)
            {
                fprintf(stderr, "  lock %zu is %s\n", i, gh_status_text(gh_lock_poll(&self->locks[i])));
                return false;
            }
            gh_tick(self->client.client, bench_now_us(), 0);
            bench_clients_wait(&self->client, 1, 1000);
        }
    }
    return true;
}

static int64_t usage_of(bench* self, const char* lock, char part)
{
    char key[96];
    snprintf(key, sizeof key, "gh:{lock:%s}:%c", lock, part);
    return bench_server_memory_usage(self->server, key);
}

static void measure_stored(bench* self, store* all)
{
    for (size_t i = 0; i < STORED_LOCKS; i++)
    {
        snprintf(all->names[i], sizeof all->names[i], "item_%08zu", i);
        gh_lock_begin(&all->locks[i], all->client.client, gh_str_of(all->names[i]), NULL);
    }
    if (!store_reach(all, GH_OK))
    {
        bench_report_remark(self, "a lock in the store was not measured, see stderr");
        return;
    }
    report_bytes(self, "a held lock in the store", (double)usage_of(self, all->names[0], 's'), 160.0,
                 "MEMORY USAGE; the name has 13 bytes");
    for (size_t i = 0; i < STORED_LOCKS; i++)
    {
        gh_lock_release(&all->locks[i]);
    }
    if (store_reach(all, GH_IDLE))
    {
        report_bytes(self, "a free lock in the store", (double)usage_of(self, all->names[0], 's'), 0.0,
                     "MEMORY USAGE; it goes an hour after its last use");
    }
}

static void measure_waiters(bench* self)
{
    bench_waiters waiters;
    if (bench_waiters_open(self, &waiters, WAITERS, 1) && bench_waiters_queue(&waiters))
    {
        double queue = (double)usage_of(self, waiters.name, 'q');
        double clients = (double)usage_of(self, waiters.name, 'c');
        report_bytes(self, "a waiter in the store", (queue + clients) / (WAITERS - 1), 0.0,
                     "MEMORY USAGE of queue and clients, by 999 waiters of one client");
    }
    bench_waiters_close(&waiters);
}

void bench_memory(bench* self)
{
    static store all;
    gh_client_config config = bench_client_config(self);
    report_bytes(self, "client at defaults", (double)gh_client_memory(&config), 256.0 * 1024.0,
                 "gh_client_memory");
    report_bytes(self, "gh_lock", sizeof(gh_lock), 256.0, "");
    report_bytes(self, "gh_command", sizeof(gh_command), 256.0, "");
    report_bytes(self, "gh_lock_set", sizeof(gh_lock_set), 256.0, "");
    report_code(self);
    memset(&all, 0, sizeof all);
    if (bench_client_open(&all.client, &config, gh_platform_default()))
    {
        measure_stored(self, &all);
        bench_client_close(&all.client);
    }
    measure_waiters(self);
}
