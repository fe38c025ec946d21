/* heap.c -- malloc and its kin, put between by the linker's --wrap, and counted. */

#include "support/faults/heap.h"

#include <stddef.h>
#include <stdlib.h>

/* Volatile, because compilers know malloc and free: they take for granted that these do not read our
   variables, and drop stores that only a call of the heap would see. */
static _Thread_local volatile bool watching;
static _Thread_local volatile heap_counts counts;

/* The linker gives these two names their meaning. Weak, so that a link without --wrap still succeeds and
   heap_watch_works can tell. */
#define REAL __attribute__((weak))
REAL void* __real_malloc(size_t size);
REAL void* __real_calloc(size_t count, size_t size);
REAL void* __real_realloc(void* block, size_t size);
REAL void __real_free(void* block);
REAL char* __real_strdup(const char* text);
REAL int __real_posix_memalign(void** block, size_t alignment, size_t size);

void* __wrap_malloc(size_t size);
void* __wrap_calloc(size_t count, size_t size);
void* __wrap_realloc(void* block, size_t size);
void __wrap_free(void* block);
char* __wrap_strdup(const char* text);
int __wrap_posix_memalign(void** block, size_t alignment, size_t size);

static void count(volatile uint64_t* calls)
{
    if (!watching) return;
    (*calls)++;
    counts.total++;
}

void* __wrap_malloc(size_t size)
{
    count(&counts.malloc_calls);
    return __real_malloc(size);
}

void* __wrap_calloc(size_t element_count, size_t size)
{
    count(&counts.calloc_calls);
    return __real_calloc(element_count, size);
}

void* __wrap_realloc(void* block, size_t size)
{
    count(&counts.realloc_calls);
    return __real_realloc(block, size);
}

void __wrap_free(void* block)
{
    count(&counts.free_calls);
    __real_free(block);
}

char* __wrap_strdup(const char* text)
{
    count(&counts.strdup_calls);
    return __real_strdup(text);
}

int __wrap_posix_memalign(void** block, size_t alignment, size_t size)
{
    count(&counts.posix_memalign_calls);
    return __real_posix_memalign(block, alignment, size);
}

void heap_watch_begin(void)
{
    const heap_counts none = {0};
    counts = none;
    watching = true;
}

heap_counts heap_watch_end(void)
{
    watching = false;
    return counts;
}

bool heap_watch_works(void)
{
    bool was_watching = watching;
    heap_counts before = counts;
    heap_watch_begin();
    void* volatile block = malloc(1); /* volatile, or the compiler takes the pair out */
    free(block);
    heap_counts seen = heap_watch_end();
    watching = was_watching;
    counts = before;
    return seen.malloc_calls == 1 && seen.free_calls == 1;
}
