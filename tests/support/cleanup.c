/* cleanup.c -- the list of what must be ended, run backwards. */

#include "support/cleanup.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct cleanup_entry
{
    void (*end)(void* thing);
    void* thing;
} cleanup_entry;

static cleanup_entry* entries; /* first those that are kept for the run, then those of the test */
static size_t entry_count;
static size_t entry_capacity;
static size_t kept_count;
static pid_t owner; /* a forked child inherits the list but must not end its parent's servers */

static void run_at_exit(void)
{
    cleanup_end();
    free(entries);
    entries = NULL;
    entry_capacity = 0;
}

void cleanup_add(void (*end)(void* thing), void* thing)
{
    if (owner == 0)
    {
        owner = getpid();
        atexit(run_at_exit);
    }
    if (entry_count == entry_capacity)
    {
        entry_capacity = entry_capacity * 2 + 64;
        entries = realloc(entries, entry_capacity * sizeof(*entries));
        if (entries == NULL) abort();
    }
    entries[entry_count].end = end;
    entries[entry_count].thing = thing;
    entry_count++;
}

void cleanup_forget(const void* thing)
{
    for (size_t i = entry_count; i-- > 0;)
    {
        if (entries[i].thing != thing) continue;
        memmove(&entries[i], &entries[i + 1], (entry_count - i - 1) * sizeof(entries[0]));
        entry_count--;
        if (i < kept_count) kept_count--;
        return;
    }
}

size_t cleanup_mark(void)
{
    return entry_count;
}

void cleanup_keep(size_t mark)
{
    for (size_t i = mark; i < entry_count; i++)
    {
        cleanup_entry entry = entries[i];
        memmove(&entries[kept_count + 1], &entries[kept_count], (i - kept_count) * sizeof(entries[0]));
        entries[kept_count++] = entry;
    }
}

static void run_down_to(size_t rest)
{
    if (owner != getpid()) return;
    while (entry_count > rest)
    {
        cleanup_entry entry = entries[--entry_count]; /* taken off first: end() may fail the test and jump */
        entry.end(entry.thing);
    }
}

void cleanup_run(void)
{
    run_down_to(kept_count);
}

void cleanup_end(void)
{
    kept_count = 0;
    run_down_to(0);
}
