/* trade_back.c -- what nobody bought comes back into the bag of a player who is here: mail says so, and the
   store is asked whether it is still so. */

#include "server/trader.h"

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
void trade_letter(trade* t, uint32_t slot, gh_str words)
{
    trader* p = &t->traders[slot];
    uint32_t item = 0;
    bool here = p->state != TRADER_AWAY && !p->leaving && !p->abandoned;
    if (!here || p->return_count == TRADE_BAG_MAX || !read_back(words, &item) || bag_has(p, item)) return;
    p->returns[p->return_count++] = item;
    if (p->state != TRADER_IDLE) return; /* when it comes to rest */
    trader_rest(p);
    trade_wake(t, p);
}

/* The player may have listed it again, as it does not need the bag for that. */
void trader_returned(trade* t, trader* p)
{
    market_item item;
    uint32_t number = p->returns[0];
    p->returns[0] = p->returns[--p->return_count];
    bool mine = market_item_of(&p->call, &item) && item.holder == p->self && item.price == 0 && !item.sold;
    if (mine && !bag_has(p, number) && bag_add(p, number, item.version))
    {
        network_send(t->config.network, p->slot, &(message){.type = MESSAGE_BAG, .values = {number, item.version}});
    }
    trader_rest(p);
}
