/* heap.h -- a binary heap of times in a fixed array: the next one first, ties in no order.

   Each item keeps its own place in a uint32_t (plus 1, so that zero means "not in the heap"), which is how an item is
   found again to move or remove it. Every call costs O(log n) at worst; looking at the first one costs nothing. That
   bound holds for each single call, which a wheel or a pairing heap cannot say, and every frame has to be kept.

   Two heaps whose items change over from the one to the other may share an array, each from an end of its own. Both
   together then need no more room than either would alone.

       | first of one, ... ->      free      <- ..., first of the other | */

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
    gh_heap_entry* entries;       /* the array; the i-th of the heap is gh_heap_at(heap, i) */
    const struct gh_heap* beside; /* in the same array; NULL: there is none                 */
    uint32_t capacity;            /* of the array                                           */
    uint32_t count;
    bool from_end; /* its first entry is the array's last */
} gh_heap;

/* Makes two empty heaps of one array: together they have room for as many as it has. */
void gh_heap_share(gh_heap* heap, gh_heap* from_end, gh_heap_entry* entries, uint32_t capacity);

static inline gh_heap_entry* gh_heap_at(const gh_heap* heap, uint32_t i)
{
    return &heap->entries[heap->from_end ? heap->capacity - 1 - i : i];
}

/* Puts an item in, or moves it. False if there is no room. */
bool gh_heap_set(gh_heap* heap, uint32_t* place, uint64_t due_us);

/* Takes an item out; nothing happens if it is not in. */
void gh_heap_remove(gh_heap* heap, uint32_t* place);

/* The earliest time; GH_FOREVER if there is none. */
static inline uint64_t gh_heap_due(const gh_heap* heap)
{
    return heap->count == 0 ? GH_FOREVER : gh_heap_at(heap, 0)->due_us;
}

#endif
