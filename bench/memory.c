/* memory.c -- bytes here: of a client, of the ops, of the library's code and of a program's. */

#include "harness/bench.h"

#include <stdlib.h>

static const char default_library[] = "build/bin/release/libguildhall.a";
static const char default_program[] = "build/bin/release/quickstart";

static void report_bytes(bench* self, const char* name, double bytes, double goal, const char* note)
{
    bench_figure figure = bench_figure_of(name, "bytes", bytes);
    bench_figure_goal(&figure, goal > 0.0 ? BENCH_VALUE_AT_MOST : BENCH_NO_GOAL, goal);
    bench_figure_note(&figure, "%s", note);
    bench_report(self, &figure);
}

/* Every struct that a begin takes. */
#define OPS(X)                                                                                                         \
    X(gh_aggregate_flush)                                                                                              \
    X(gh_aggregate_read)                                                                                               \
    X(gh_chat_change)                                                                                                  \
    X(gh_chat_commit)                                                                                                  \
    X(gh_chat_fetch)                                                                                                   \
    X(gh_chat_list)                                                                                                    \
    X(gh_chat_send)                                                                                                    \
    X(gh_command)                                                                                                      \
    X(gh_contacts_change)                                                                                              \
    X(gh_contacts_load)                                                                                                \
    X(gh_counter_read)                                                                                                 \
    X(gh_counters_list)                                                                                                \
    X(gh_file_look)                                                                                                    \
    X(gh_file_read)                                                                                                    \
    X(gh_file_remove)                                                                                                  \
    X(gh_file_send)                                                                                                    \
    X(gh_files_list)                                                                                                   \
    X(gh_guild_change)                                                                                                 \
    X(gh_guild_has)                                                                                                    \
    X(gh_guild_search)                                                                                                 \
    X(gh_guild_size)                                                                                                   \
    X(gh_lock)                                                                                                         \
    X(gh_lock_look)                                                                                                    \
    X(gh_lock_set)                                                                                                     \
    X(gh_mailbox_commit)                                                                                               \
    X(gh_mailbox_fetch)                                                                                                \
    X(gh_mailbox_push)                                                                                                 \
    X(gh_permit)                                                                                                       \
    X(gh_row_get)                                                                                                      \
    X(gh_row_schedule)                                                                                                 \
    X(gh_semaphore_limit)                                                                                              \
    X(gh_semaphore_look)                                                                                               \
    X(gh_tasks_control)                                                                                                \
    X(gh_tasks_count)                                                                                                  \
    X(gh_tasks_dead)                                                                                                   \
    X(gh_tasks_edit)                                                                                                   \
    X(gh_tasks_extend)                                                                                                 \
    X(gh_tasks_finish)                                                                                                 \
    X(gh_tasks_look)                                                                                                   \
    X(gh_tasks_push)                                                                                                   \
    X(gh_tasks_take)

static void report_ops(bench* self)
{
#define ENTRY(name) {#name, sizeof(name)},
    static const struct
    {
        const char* name;
        size_t size;
    } ops[] = {OPS(ENTRY)};
#undef ENTRY
    size_t largest = 0;
    size_t over = 0;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
    {
        largest = ops[i].size > ops[largest].size ? i : largest;
        over += ops[i].size > 256 ? 1u : 0u;
    }
    bench_figure figure = bench_figure_of("largest op", "bytes", (double)ops[largest].size);
    bench_figure_goal(&figure, BENCH_VALUE_AT_MOST, 256.0);
    bench_figure_note(&figure,
                      "%s, of %zu structs that a begin takes; the worker, the chat feed, and the refresher of "
                      "rows are made of several and left out: %zu, %zu and %zu bytes",
                      ops[largest].name, sizeof ops / sizeof ops[0], sizeof(gh_tasks_worker), sizeof(gh_chat_feed),
                      sizeof(gh_rows));
    bench_figure_limit(&figure, "%zu of them are larger than 256; their heads alone, gh_op and gh_gate, are %zu", over,
                       sizeof(gh_op) + sizeof(gh_gate));
    bench_report(self, &figure);
    report_bytes(self, "gh_lock", sizeof(gh_lock), 256.0, "");
}

/* What a command of the shell, in which the file is "$0", says as a number; 0: nothing. */
static double file_says(const char* file, const char* command)
{
    char answer[256];
    char* arguments[] = {(char[]){"sh"}, (char[]){"-c"}, (char*)(uintptr_t)command, (char*)(uintptr_t)file, NULL};
    return bench_program(arguments, answer, sizeof answer) ? strtod(answer, NULL) : 0.0;
}

static double unwind_tables(const char* file)
{
    return file_says(file, "size -A \"$0\" | awk '$1 == \".eh_frame\" { n += $2 } END { print n + 0 }'");
}

static void report_library(bench* self)
{
    const char* library = self->options.library != NULL ? self->options.library : default_library;
    double code = file_says(library, "size -t \"$0\" | awk 'END { print $1 }'");
    if (code <= 0.0)
    {
        bench_report_gap(self, "the code's size was not measured: `size -t %s` gave no sum", library);
        return;
    }
    bench_figure figure = bench_figure_of("code of the library", "bytes", code);
    bench_figure_goal(&figure, BENCH_VALUE_AT_MOST, 200.0 * 1024.0);
    bench_figure_note(&figure, "text of `size -t`, the scripts' text included");
    bench_figure_limit(
        &figure, "the scripts have %.0f bytes of it, and the tables by which a program walks its own stack %.0f",
        file_says(library, "size \"$0\" | awk '$6 ~ /_scripts.o|script_codes.o/ { n += $1 } END { print n }'"),
        unwind_tables(library));
    bench_report(self, &figure);
}

/* The quickstart, without what it does not call. */
static void report_program(bench* self)
{
    double code = file_says(default_program, "size \"$0\" | awk 'END { print $1 + $2 }'");
    if (code <= 0.0)
    {
        bench_report_gap(self, "a program's size was not measured: there is no %s", default_program);
        return;
    }
    bench_figure figure = bench_figure_of("program that takes a lock", "bytes", code);
    bench_figure_goal(&figure, BENCH_VALUE_AT_MOST, 72.0 * 1024.0);
    bench_figure_note(&figure, "text and data by `size` of the quickstart, which needs nothing of hiredis");
    bench_figure_limit(&figure, "%.0f bytes are tables by which a program walks its own stack",
                       unwind_tables(default_program));
    bench_report(self, &figure);
}

void bench_memory(bench* self)
{
    gh_client_config config = bench_client_config(self);
    report_bytes(self, "client at defaults", (double)gh_client_memory(&config), 256.0 * 1024.0, "gh_client_memory");
    report_ops(self);
    report_library(self);
    report_program(self);
}
