#include "history.h"

#include <inttypes.h>
#include <stdio.h>

void history_enter(history* h, uint32_t player, int64_t gold, uint32_t items_each)
{
    h->gold[player] = gold;
    for (uint32_t i = 0; i < items_each; i++)
    {
        h->items[player * items_each + i] = (item){.holder = player};
    }
}

void history_add(history* h, const char* id, int64_t serial, const market_trade* trade)
{
    deed* d = &h->deeds[h->deed_count++];
    *d = (deed){.serial = serial, .trade = *trade};
    memcpy(d->id, id, sizeof d->id);
    if (serial == 0) return;

    bool listing = trade->seller == trade->buyer;
    if (!listing)
    {
        h->gold[trade->buyer] -= trade->price;
        h->gold[trade->seller] += trade->price;
    }
    item* thing = &h->items[trade->item];
    if (serial > thing->serial)
    {
        thing->holder = trade->buyer;
        thing->price = listing ? trade->price : 0;
        thing->serial = serial;
    }
}

bool history_has_room(const history* h, uint32_t deeds)
{
    return h->deed_capacity - h->deed_count >= deeds;
}

gh_str history_text(const deed* d, char* out, size_t size)
{
    const market_trade* t = &d->trade;
    if (d->serial == 0)
    {
        snprintf(out, size, "void");
    }
    else if (t->seller == t->buyer)
    {
        snprintf(out, size, "%" PRId64 " list %" PRIu32 " %" PRIu32 " %" PRId64, d->serial, t->item, t->seller, t->price);
    }
    else
    {
        snprintf(out, size, "%" PRId64 " buy %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRId64, d->serial, t->item,
                 t->seller, t->buyer, t->price);
    }
    return gh_str_of(out);
}
