/* tls_arena.h -- memory for an mbedTLS that asks us for it: the first piece that fits, out of the caller's block.

   Such an mbedTLS calls two functions for the whole process, so the arena is that of the thread: set while this library
   is inside mbedTLS, and nothing otherwise. What others in the process ask mbedTLS for then comes from the heap. */

#ifndef GH_TLS_ARENA_H
#define GH_TLS_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tls_arena
{
    char* base;
    size_t size;
    size_t used; /* headers counted */
    size_t most;
    bool ran_out; /* a request was refused since this was last cleared */
} tls_arena;

/* The block is cut anew. One that is too small for a piece refuses all. */
void tls_arena_make(tls_arena* arena, void* base, size_t size);

/* Zeroed; NULL: no room. */
void* tls_arena_take(tls_arena* arena, size_t count, size_t size);
void tls_arena_give(tls_arena* arena, void* piece);
bool tls_arena_has(const tls_arena* arena, const void* piece);

/* From here on, and until the other, mbedTLS on this thread takes from it. Returns the one before. Both do nothing if
   mbedTLS uses the heap. */
tls_arena* tls_arena_enter(tls_arena* arena);
void tls_arena_leave(tls_arena* before);

/* To be called before anything of mbedTLS. */
void tls_arena_hook(void);

/* For an mbedTLS that is built to call these; see mbedtls_config.h. */
void* gh_tls_calloc(size_t count, size_t size);
void gh_tls_free(void* piece);

#endif
