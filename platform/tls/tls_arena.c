/* tls_arena.c -- memory for mbedTLS, out of the caller's block.

   Pieces lie behind one another, each with its size and whether it is taken in front of it. A request takes the first
   free piece that is large enough, and leaves the rest; giving back joins it with free neighbours, of which the one in
   front is known by its size, too. */

#include "tls_inside.h"

#include <stdlib.h>

/* In front of each piece. */
typedef struct piece_head
{
    size_t size;   /* with this head; a multiple of TLS_BLOCK_ALIGN */
    size_t before; /* the size of the piece in front; 0: the first  */
    size_t taken;
    size_t spare; /* heads are 32 bytes: pieces stay aligned */
} piece_head;

#define HEAD_BYTES ((sizeof(piece_head) + TLS_BLOCK_ALIGN - 1) / TLS_BLOCK_ALIGN * TLS_BLOCK_ALIGN)

void tls_arena_make(tls_arena* arena, void* base, size_t size)
{
    piece_head* first = (piece_head*)base;
    arena->base = (char*)base;
    arena->size = base == NULL ? 0 : size / TLS_BLOCK_ALIGN * TLS_BLOCK_ALIGN;
    arena->used = arena->most = 0;
    arena->ran_out = false;
    if (arena->size < HEAD_BYTES) arena->size = 0;
    if (arena->size == 0) return;
    first->size = arena->size;
    first->before = 0;
    first->taken = 0;
}

static piece_head* piece_behind(const tls_arena* arena, piece_head* piece)
{
    char* behind = (char*)piece + piece->size;
    return behind == arena->base + arena->size ? NULL : (piece_head*)behind;
}

static void piece_split(const tls_arena* arena, piece_head* piece, size_t size)
{
    piece_head* rest;
    piece_head* behind = piece_behind(arena, piece);
    if (piece->size - size < HEAD_BYTES + TLS_BLOCK_ALIGN) return;
    rest = (piece_head*)((char*)piece + size);
    rest->size = piece->size - size;
    rest->before = size;
    rest->taken = 0;
    piece->size = size;
    if (behind != NULL) behind->before = rest->size;
}

void* tls_arena_take(tls_arena* arena, size_t count, size_t size)
{
    piece_head* piece = arena->size == 0 ? NULL : (piece_head*)arena->base;
    size_t bytes;
    if (size != 0 && count > arena->size / size) piece = NULL;
    bytes = count * size;
    bytes = HEAD_BYTES + (bytes == 0 ? 1 : (bytes + TLS_BLOCK_ALIGN - 1) / TLS_BLOCK_ALIGN) * TLS_BLOCK_ALIGN;
    while (piece != NULL && (piece->taken || piece->size < bytes)) piece = piece_behind(arena, piece);
    if (piece == NULL)
    {
        arena->ran_out = true;
        return NULL;
    }
    piece_split(arena, piece, bytes);
    piece->taken = 1;
    arena->used += piece->size;
    if (arena->used > arena->most) arena->most = arena->used;
    return memset((char*)piece + HEAD_BYTES, 0, piece->size - HEAD_BYTES);
}

/* Two free pieces become one. */
static void piece_join(const tls_arena* arena, piece_head* piece)
{
    piece_head* behind = piece_behind(arena, piece);
    if (behind == NULL || behind->taken || piece->taken) return;
    piece->size += behind->size;
    behind = piece_behind(arena, piece);
    if (behind != NULL) behind->before = piece->size;
}

void tls_arena_give(tls_arena* arena, void* bytes)
{
    piece_head* piece = (piece_head*)((char*)bytes - HEAD_BYTES);
    arena->used -= piece->size;
    piece->taken = 0;
    piece_join(arena, piece);
    if (piece->before > 0) piece_join(arena, (piece_head*)((char*)piece - piece->before));
}

bool tls_arena_has(const tls_arena* arena, const void* piece)
{
    return arena->size > 0 && (uintptr_t)piece - (uintptr_t)arena->base < arena->size;
}

/* ---- mbedTLS's calls --------------------------------------------------------------------------------------------- */

#if defined(MBEDTLS_PLATFORM_MEMORY)

#if defined(_MSC_VER)
#define TLS_OF_THREAD __declspec(thread)
#else
#define TLS_OF_THREAD _Thread_local
#endif

static TLS_OF_THREAD tls_arena* arena_of_thread;

void* gh_tls_calloc(size_t count, size_t size)
{
    return arena_of_thread == NULL ? calloc(count, size) : tls_arena_take(arena_of_thread, count, size);
}

void gh_tls_free(void* piece)
{
    if (piece == NULL) return;
    if (arena_of_thread != NULL && tls_arena_has(arena_of_thread, piece)) tls_arena_give(arena_of_thread, piece);
    else free(piece);
}

tls_arena* tls_arena_enter(tls_arena* arena)
{
    tls_arena* before = arena_of_thread;
    arena_of_thread = arena;
    return before;
}

void tls_arena_leave(tls_arena* before)
{
    arena_of_thread = before;
}

void tls_arena_hook(void)
{
#if !defined(MBEDTLS_PLATFORM_CALLOC_MACRO)
    (void)mbedtls_platform_set_calloc_free(gh_tls_calloc, gh_tls_free);
#endif
}

#else

tls_arena* tls_arena_enter(tls_arena* arena)
{
    (void)arena;
    return NULL;
}

void tls_arena_leave(tls_arena* before)
{
    (void)before;
}

void tls_arena_hook(void)
{
}

#endif
