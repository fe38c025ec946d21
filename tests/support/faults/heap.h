/* heap.h -- counts the calls to the heap that a stretch of code makes.

   The linker sends every call of malloc, calloc, realloc, free, strdup and posix_memalign that is made in the
   objects and static libraries of the binary through counters, given

       -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=strdup,--wrap=posix_memalign

   Calls from inside shared libraries are not seen: link hiredis statically where its calls shall count.
   Only the thread that called heap_watch_begin is counted. */

#ifndef GUILDHALL_TESTS_HEAP_H
#define GUILDHALL_TESTS_HEAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct heap_counts
{
    uint64_t malloc_calls;
    uint64_t calloc_calls;
    uint64_t realloc_calls;
    uint64_t free_calls; /* free(NULL) counts too */
    uint64_t strdup_calls;
    uint64_t posix_memalign_calls;
    uint64_t total; /* all of the above */
} heap_counts;

/* Starts counting at zero on this thread. */
void heap_watch_begin(void);

/* Stops counting on this thread and tells what was counted since the begin. */
heap_counts heap_watch_end(void);

/* False when the binary was linked without the options above: a test of the heap must then not pass. */
bool heap_watch_works(void);

#endif
