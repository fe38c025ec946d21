/* arena.h -- cuts a caller's block into pieces, once, at init.

   The same code first measures and then cuts: with base NULL it only counts, so that gh_client_memory and
   gh_client_init cannot disagree. There is no free. */

#ifndef GH_ARENA_H
#define GH_ARENA_H

#include "guildhall/base.h"

#define GH_ARENA_ALIGNMENT 16u

typedef struct gh_arena
{
    char* base;  /* NULL: measure only */
    size_t size; /* room at base       */
    size_t used; /* so far; may exceed size when measuring */
} gh_arena;

static inline gh_arena gh_arena_make(void* base, size_t size)
{
    gh_arena arena;
    arena.base = (char*)base;
    arena.size = size;
    arena.used = 0;
    return arena;
}

/* size bytes, zeroed and aligned; NULL when measuring or out of room. */
static inline void* gh_arena_take(gh_arena* arena, size_t size)
{
    size_t at = arena->used;
    arena->used += (size + GH_ARENA_ALIGNMENT - 1) & ~(size_t)(GH_ARENA_ALIGNMENT - 1);
    if (arena->base == NULL || arena->used > arena->size) return NULL;
    memset(arena->base + at, 0, size);
    return arena->base + at;
}

/* A copy of the string, with a NUL behind it for the debugger. */
static inline gh_str gh_arena_copy(gh_arena* arena, gh_str str)
{
    char* bytes = (char*)gh_arena_take(arena, str.size + 1);
    if (bytes == NULL) return gh_str_make(NULL, 0);
    if (str.size > 0) memcpy(bytes, str.bytes, str.size);
    return gh_str_make(bytes, str.size);
}

#endif
