/* store_pool.c -- see store_pool.h. */

#include "store_pool.h"

#include <stdio.h>

#define SLAB_HEAD ((size_t)STORE_POOL_STEP)

void* gh_store_heap_resize(void* piece, size_t size)
{
    void* result = realloc(piece, size == 0 ? 1 : size);
    if (result != NULL) return result;
    fprintf(stderr, "the embedded store: no memory for %zu bytes\n", size);
    abort();
}

void gh_store_pool_add_slab(store_pool* pool, void* slab)
{
    memcpy(slab, &pool->slabs, sizeof pool->slabs);
    pool->slabs = slab;
}

/* The rest of the last slab is small, and left. */
void gh_store_pool_begin_slab(store_pool* pool)
{
    char* slab = (char*)gh_store_heap_resize(NULL, STORE_POOL_SLAB);
    gh_store_pool_add_slab(pool, slab);
    pool->slab = slab + SLAB_HEAD;
    pool->slab_left = STORE_POOL_SLAB - SLAB_HEAD;
}

/* Behind the last of a chain. */
static void join(void** chain, void* other)
{
    void* last = *chain;
    void* next = last;
    while (next != NULL)
    {
        last = next;
        memcpy(&next, last, sizeof next);
    }
    if (last == NULL) *chain = other;
    else memcpy(last, &other, sizeof other);
}

void gh_store_pool_join(store_pool* pool, const store_pool* other)
{
    unsigned i;
    for (i = 0; i < STORE_POOL_CLASSES; i++) join(&pool->kept[i], other->kept[i]);
    join(&pool->slabs, other->slabs);
    if (pool->slab_left >= other->slab_left) return;
    pool->slab = other->slab;
    pool->slab_left = other->slab_left;
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
