/* store_pool.c -- see store_pool.h. */

#include "store_pool.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLAB_SIZE ((size_t)1 << 18)

/* With a sanitizer each piece is the heap's, so that it sees where one ends. */
#if defined(__SANITIZE_ADDRESS__)
#define POOL_LARGEST 0u
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_LARGEST 0u
#endif
#endif
#if !defined(POOL_LARGEST)
#define POOL_LARGEST ((size_t)(STORE_POOL_CLASSES - 1) * STORE_POOL_STEP)
#endif

/* Pieces that come back are all over the place: who takes one has the next one brought near. */
#if defined(__GNUC__)
#define PREFETCH(piece) __builtin_prefetch(piece, 1)
#else
#define PREFETCH(piece) (void)(piece)
#endif

void* gh_store_heap_resize(void* piece, size_t size)
{
    void* result = realloc(piece, size == 0 ? 1 : size);
    if (result != NULL) return result;
    fprintf(stderr, "the embedded store: no memory for %zu bytes\n", size);
    abort();
}

static size_t class_of(size_t size)
{
    return (size + STORE_POOL_STEP - 1) / STORE_POOL_STEP;
}

/* The rest of the last slab is small, and left. */
static void begin_slab(store_pool* pool)
{
    char* slab = (char*)gh_store_heap_resize(NULL, SLAB_SIZE);
    memcpy(slab, &pool->slabs, sizeof pool->slabs);
    pool->slabs = slab;
    pool->slab = slab + STORE_POOL_STEP;
    pool->slab_left = SLAB_SIZE - STORE_POOL_STEP;
}

void* gh_store_pool_take(store_pool* pool, size_t size)
{
    const size_t number = class_of(size);
    void* piece;
    if (size > POOL_LARGEST) return gh_store_heap_resize(NULL, size);
    piece = pool->kept[number];
    if (piece != NULL)
    {
        memcpy(&pool->kept[number], piece, sizeof(void*));
        PREFETCH(pool->kept[number]);
        return piece;
    }
    if (pool->slab_left < number * STORE_POOL_STEP) begin_slab(pool);
    piece = pool->slab;
    pool->slab += number * STORE_POOL_STEP;
    pool->slab_left -= number * STORE_POOL_STEP;
    return piece;
}

void gh_store_pool_give(store_pool* pool, void* piece, size_t size)
{
    if (piece == NULL) return;
    if (size > POOL_LARGEST)
    {
        free(piece);
        return;
    }
    memcpy(piece, &pool->kept[class_of(size)], sizeof(void*));
    pool->kept[class_of(size)] = piece;
}

void* gh_store_pool_resize(store_pool* pool, void* piece, size_t size, size_t wanted)
{
    void* result;
    if (piece == NULL) return gh_store_pool_take(pool, wanted);
    if (size > POOL_LARGEST && wanted > POOL_LARGEST) return gh_store_heap_resize(piece, wanted);
    if (size <= POOL_LARGEST && wanted <= POOL_LARGEST && class_of(size) == class_of(wanted)) return piece;
    result = gh_store_pool_take(pool, wanted);
    memcpy(result, piece, size < wanted ? size : wanted);
    gh_store_pool_give(pool, piece, size);
    return result;
}

void gh_store_pool_end(store_pool* pool)
{
    void* slab = pool->slabs;
    while (slab != NULL)
    {
        void* next;
        memcpy(&next, slab, sizeof next);
        free(slab);
        slab = next;
    }
    memset(pool, 0, sizeof *pool);
}
