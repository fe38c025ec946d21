/* arena.c -- cuts a block into pieces. */

#include "base/arena.h"

#define ARENA_MOST (SIZE_MAX & ~(size_t)(GH_ARENA_ALIGNMENT - 1)) /* and more: no block has room for it */

void* gh_arena_take_as_is(gh_arena* arena, size_t size)
{
    size_t at = arena->used;
    if (size > ARENA_MOST - at) size = ARENA_MOST - at;
    arena->used += (size + GH_ARENA_ALIGNMENT - 1) & ~(size_t)(GH_ARENA_ALIGNMENT - 1);
    return arena->base == NULL || arena->used > arena->size ? NULL : arena->base + at;
}

void* gh_arena_take(gh_arena* arena, size_t size)
{
    void* piece = gh_arena_take_as_is(arena, size);
    if (piece != NULL) memset(piece, 0, size);
    return piece;
}

void* gh_arena_take_each(gh_arena* arena, size_t size, size_t count)
{
    return gh_arena_take(arena, count > ARENA_MOST / size ? ARENA_MOST : size * count);
}

void* gh_arena_take_at_64(gh_arena* arena, size_t size)
{
    char* at = (char*)gh_arena_take(arena, size + 64);
    return at == NULL ? NULL : at + (64 - (uintptr_t)at % 64) % 64;
}

size_t gh_arena_measure(gh_arena_cut* cut, const void* config)
{
    gh_arena arena = gh_arena_make(NULL, 0);
    cut(&arena, config);
    return arena.used == ARENA_MOST ? 0 : arena.used;
}

void* gh_arena_cut_from(void* base, size_t size, gh_arena_cut* cut, const void* config)
{
    gh_arena arena = gh_arena_make(base, size);
    return gh_arena_fits(base, size, gh_arena_measure(cut, config)) ? cut(&arena, config) : NULL;
}

gh_str gh_arena_copy(gh_arena* arena, gh_str str)
{
    char* bytes = (char*)gh_arena_take(arena, str.size + 1);
    if (bytes == NULL) return gh_str_make(NULL, 0);
    if (str.size > 0) memcpy(bytes, str.bytes, str.size);
    return gh_str_make(bytes, str.size);
}
