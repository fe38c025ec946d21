/* trade_back.c -- what has come back goes into the bag. */

#include "server/trade_back.h"
#include "market/market_replies.h"

#include <inttypes.h>
#include <stdio.h>

/* "back <item> <version>" */
static bool read_back(gh_str words, uint32_t* item)
{
    char text[48];
    int64_t version = 0;
    if (words.size >= sizeof text) return false;
    memcpy(text, words.bytes, words.size);
    text[words.size] = '\0';
    bool good = sscanf(text, "back %" SCNu32 " %" SCNd64, item, &version) == 2;
    return good && *item < MARKET_ITEMS_MAX;
}

/* No room: it stays the player's in the store, for another time. */
void trader_letter(trader* p, gh_str words)
{
    uint32_t item = 0;
    bool here = p->state != TRADER_AWAY && !p->leaving && !p->abandoned;
    if (!here || p->return_count == BAG_MAX || !read_back(words, &item) || bag_has(&p->bag, item)) return;
    p->returns[p->return_count++] = item;
    if (p->state == TRADER_IDLE) trader_rest(p); /* else when it comes to rest */
}

/* The player may have listed it again, as it does not need the bag for that. */
void trader_returned(trade_floor* f, trader* p)
{
    market_item item;
    uint32_t number = p->returns[0];
    p->returns[0] = p->returns[--p->return_count];
    bool mine = market_item_of(&p->call, &item) && item.holder == p->self && item.price == 0 && !item.sold;
    if (mine && !bag_has(&p->bag, number) && bag_add(&p->bag, number, item.version))
    {
        network_send(f->network, p->slot, &(message){.type = MESSAGE_BAG, .values = {number, item.version}});
    }
    trader_rest(p);
}
