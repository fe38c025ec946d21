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

/* Whether a caller's block is aligned and has room for so much; 0: for more than any block has. */
static inline bool gh_arena_fits(const void* base, size_t size, size_t needed)
{
    return base != NULL && (uintptr_t)base % GH_ARENA_ALIGNMENT == 0 && needed > 0 && size >= needed;
}

/* size bytes, zeroed and aligned; NULL when measuring or out of room. */
void* gh_arena_take(gh_arena* arena, size_t size);

/* So many of that size, one behind another; also where all together are more than a size_t of 32 bits can say. */
void* gh_arena_take_each(gh_arena* arena, size_t size, size_t count);

/* The same without zeros: for buffers, which are large, and of which nothing is read that was not written. What nobody
   uses of them is never touched. */
void* gh_arena_take_as_is(gh_arena* arena, size_t size);

/* size bytes, zeroed, at a multiple of 64, as a stream of hash.h wants it. */
void* gh_arena_take_at_64(gh_arena* arena, size_t size);

/* How a struct is cut, with all that lies behind it, for a config that was checked. NULL when measuring. */
typedef void* gh_arena_cut(gh_arena* arena, const void* config);

/* What that takes; 0: more than any block has. */
size_t gh_arena_measure(gh_arena_cut* cut, const void* config);

/* Cuts it from a caller's block. NULL: that is not aligned, or has no room for it. */
void* gh_arena_cut_from(void* base, size_t size, gh_arena_cut* cut, const void* config);

/* A copy of the string, with a NUL behind it for the debugger. */
gh_str gh_arena_copy(gh_arena* arena, gh_str str);

#endif
