/* heap.c -- a binary heap of times, of which every entry knows its place. */

#include "base/heap.h"

static void heap_put(gh_heap* heap, uint32_t at, gh_heap_entry entry)
{
    *gh_heap_at(heap, at) = entry;
    *entry.place = at + 1;
}

static void heap_rise(gh_heap* heap, uint32_t at, gh_heap_entry entry)
{
    while (at > 0)
    {
        uint32_t parent = (at - 1) / 2;
        if (gh_heap_at(heap, parent)->due_us <= entry.due_us) break;
        heap_put(heap, at, *gh_heap_at(heap, parent));
        at = parent;
    }
    heap_put(heap, at, entry);
}

static void heap_sink(gh_heap* heap, uint32_t at, gh_heap_entry entry)
{
    for (;;)
    {
        uint32_t child = 2 * at + 1;
        if (child >= heap->count) break;
        if (child + 1 < heap->count && gh_heap_at(heap, child + 1)->due_us < gh_heap_at(heap, child)->due_us) child++;
        if (entry.due_us <= gh_heap_at(heap, child)->due_us) break;
        heap_put(heap, at, *gh_heap_at(heap, child));
        at = child;
    }
    heap_put(heap, at, entry);
}

static bool heap_has_room(const gh_heap* heap)
{
    const uint32_t count_beside = heap->beside == NULL ? 0 : heap->beside->count;
    return heap->count + count_beside < heap->capacity;
}

void gh_heap_share(gh_heap* heap, gh_heap* from_end, gh_heap_entry* entries, uint32_t capacity)
{
    memset(heap, 0, sizeof *heap);
    heap->entries = entries;
    heap->capacity = capacity;
    *from_end = *heap;
    from_end->from_end = true;
    heap->beside = from_end;
    from_end->beside = heap;
}

bool gh_heap_set(gh_heap* heap, uint32_t* place, uint64_t due_us)
{
    gh_heap_entry entry;
    entry.due_us = due_us;
    entry.place = place;
    if (*place == 0)
    {
        if (!heap_has_room(heap)) return false;
        heap_rise(heap, heap->count++, entry);
    }
    else if (due_us < gh_heap_at(heap, *place - 1)->due_us)
    {
        heap_rise(heap, *place - 1, entry);
    }
    else
    {
        heap_sink(heap, *place - 1, entry);
    }
    return true;
}

void gh_heap_remove(gh_heap* heap, uint32_t* place)
{
    uint32_t at;
    gh_heap_entry last;
    if (*place == 0) return;
    at = *place - 1;
    *place = 0;
    last = *gh_heap_at(heap, --heap->count);
    if (at == heap->count) return; /* it was the last one itself */
    if (at > 0 && last.due_us < gh_heap_at(heap, (at - 1) / 2)->due_us) heap_rise(heap, at, last);
    else heap_sink(heap, at, last);
}
