/* store_pool.h -- memory in sizes of 16 bytes up to 512, kept for the next one of that size: Lua and the store take and
   give small pieces all the time. What is larger goes to the heap. */

#ifndef GUILDHALL_EMBEDDED_STORE_POOL_H
#define GUILDHALL_EMBEDDED_STORE_POOL_H

#include <stddef.h>

enum
{
    STORE_POOL_STEP = 16,
    STORE_POOL_CLASSES = 33 /* the last is for 512 bytes */
};

typedef struct store_pool
{
    void* kept[STORE_POOL_CLASSES]; /* each points to the next */
    char* slab;
    size_t slab_left;
    void* slabs; /* each points to the next */
} store_pool;

/* Never NULL: a program without memory ends. */
void* gh_store_pool_take(store_pool* pool, size_t size);
void gh_store_pool_give(store_pool* pool, void* piece, size_t size);
void* gh_store_pool_resize(store_pool* pool, void* piece, size_t size, size_t wanted);
void gh_store_pool_end(store_pool* pool);

/* From the heap, and never NULL either. */
void* gh_store_heap_resize(void* piece, size_t size);

#endif
