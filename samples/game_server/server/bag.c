/* bag.c -- a few items, in no order. */

#include "server/bag.h"

bool bag_is_full(const bag* b)
{
    return b->count == BAG_MAX;
}

bool bag_has(const bag* b, uint32_t item)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->items[i].item == item) return true;
    return false;
}

bool bag_add(bag* b, uint32_t item, int64_t version)
{
    if (bag_is_full(b)) return false;
    b->items[b->count++] = (bag_item){.item = item, .version = version};
    return true;
}

bool bag_take(bag* b, uint32_t item, int64_t* version)
{
    for (uint32_t i = 0; i < b->count; i++)
    {
        if (b->items[i].item != item) continue;
        *version = b->items[i].version;
        b->items[i] = b->items[--b->count];
        return true;
    }
    return false;
}
