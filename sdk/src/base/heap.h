/* heap.h -- a binary heap of times in a fixed array: the next one first, ties in no order.

   Each item keeps its own place in a uint32_t (plus 1, so that zero means "not in the heap"), which is how an item is
   found again to move or remove it. Every call costs O(log n) at worst; looking at the first one costs nothing. That
   bound holds for each single call, which a wheel or a pairing heap cannot say, and every frame has to be kept. */

#ifndef GH_HEAP_H
#define GH_HEAP_H

#include "guildhall/base.h"


typedef struct gh_heap_entry
{
    uint64_t due_us;
    uint32_t* place; /* the item's own index field */
} gh_heap_entry;

typedef struct gh_heap
{
    gh_heap_entry* entries;
    uint32_t capacity;
    uint32_t count;
} gh_heap;

/* Puts an item in, or moves it. False if the heap is full. */
bool gh_heap_set(gh_heap* heap, uint32_t* place, uint64_t due_us);

/* Takes an item out; nothing happens if it is not in. */
void gh_heap_remove(gh_heap* heap, uint32_t* place);

/* The earliest time; GH_FOREVER if there is none. */
static inline uint64_t gh_heap_due(const gh_heap* heap)
{
    return heap->count == 0 ? GH_FOREVER : heap->entries[0].due_us;
}

#endif
