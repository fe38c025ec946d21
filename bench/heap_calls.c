/* heap_calls.c -- counts the calls to the heap that this thread makes between two points. The linker sends
   every call in the objects and static libraries of the program here, given --wrap for each name. */

#include "bench.h"

#include <stdlib.h>

static _Thread_local volatile bool watching;
static _Thread_local volatile int64_t calls;

/* Weak, so that a link without --wrap succeeds and can be told apart. */
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

static void note(void)
{
    calls += watching ? 1 : 0;
}

void* __wrap_malloc(size_t size)
{
    note();
    return __real_malloc(size);
}

void* __wrap_calloc(size_t count, size_t size)
{
    note();
    return __real_calloc(count, size);
}

void* __wrap_realloc(void* block, size_t size)
{
    note();
    return __real_realloc(block, size);
}

void __wrap_free(void* block)
{
    note();
    __real_free(block);
}

char* __wrap_strdup(const char* text)
{
    note();
    return __real_strdup(text);
}

int __wrap_posix_memalign(void** block, size_t alignment, size_t size)
{
    note();
    return __real_posix_memalign(block, alignment, size);
}

/* A call that is known to happen must be seen. */
static bool works(void)
{
    int64_t before = calls;
    void* volatile block = malloc(1);
    free(block);
    return calls == before + 2;
}

void bench_heap_begin(void)
{
    calls = 0;
    watching = true;
}

int64_t bench_heap_end(void)
{
    int64_t seen = calls;
    bool counted = works();
    watching = false;
    return counted ? seen : -1;
}
