/* store_pool.h -- memory in sizes of 16 bytes up to 512, kept for the next one of that size: Lua and the store take and
   give small pieces all the time. What is larger goes to the heap. */

#ifndef GUILDHALL_EMBEDDED_STORE_POOL_H
#define GUILDHALL_EMBEDDED_STORE_POOL_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum
{
    STORE_POOL_STEP = 16,
    STORE_POOL_CLASSES = 33, /* the last is for 512 bytes */
    STORE_POOL_SLAB = 1 << 18
};

/* Larger pieces are the heap's; with a sanitizer each piece is, so that it sees where one ends. */
#if defined(__SANITIZE_ADDRESS__)
#define STORE_POOL_LARGEST ((size_t)0)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STORE_POOL_LARGEST ((size_t)0)
#endif
#endif
#if !defined(STORE_POOL_LARGEST)
#define STORE_POOL_LARGEST ((size_t)(STORE_POOL_CLASSES - 1) * STORE_POOL_STEP)
#endif

typedef struct store_pool
{
    void* kept[STORE_POOL_CLASSES]; /* each points to the next */
    char* slab;
    size_t slab_left;
    void* slabs; /* each points to the next */
} store_pool;

/* From the heap, and never NULL: a program without memory ends. */
void* gh_store_heap_resize(void* piece, size_t size);

void gh_store_pool_end(store_pool* pool);
void gh_store_pool_begin_slab(store_pool* pool);

/* Its slab is the pool's from now on, and so is all that another pool has. */
void gh_store_pool_add_slab(store_pool* pool, void* slab);
void gh_store_pool_join(store_pool* pool, const store_pool* other);

/* What will be wanted soon, and is all over the place, is brought near meanwhile. It need not be there. */
#if defined(__GNUC__)
#define STORE_PREFETCH(piece) __builtin_prefetch(piece)
#else
#define STORE_PREFETCH(piece) (void)(piece)
#endif

static inline size_t gh_store_pool_class(size_t size)
{
    return (size + STORE_POOL_STEP - 1) / STORE_POOL_STEP;
}

/* From the slab, of any size that one has. */
static inline void* gh_store_pool_cut(store_pool* pool, size_t size)
{
    const size_t whole = gh_store_pool_class(size) * STORE_POOL_STEP;
    void* piece;
    if (pool->slab_left < whole) gh_store_pool_begin_slab(pool);
    piece = pool->slab;
    pool->slab += whole;
    pool->slab_left -= whole;
    return piece;
}

/* Never NULL. */
static inline void* gh_store_pool_take(store_pool* pool, size_t size)
{
    const size_t number = gh_store_pool_class(size);
    void* piece;
    if (size > STORE_POOL_LARGEST) return gh_store_heap_resize(NULL, size);
    piece = pool->kept[number];
    if (piece == NULL) return gh_store_pool_cut(pool, size);
    memcpy(&pool->kept[number], piece, sizeof(void*));
    STORE_PREFETCH(pool->kept[number]);
    return piece;
}

static inline void gh_store_pool_give(store_pool* pool, void* piece, size_t size)
{
    void** kept;
    if (piece == NULL) return;
    if (size > STORE_POOL_LARGEST)
    {
        free(piece);
        return;
    }
    kept = &pool->kept[gh_store_pool_class(size)];
    memcpy(piece, kept, sizeof *kept);
    *kept = piece;
}

#endif
