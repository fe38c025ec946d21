#include "history.h"

bool history_is_ours(const history* h, uint32_t player)
{
    return player >= h->first_player && player - h->first_player < h->player_count;
}

/* NULL: the player of another game server. */
static purse_history* our_purse(history* h, uint32_t player)
{
    return history_is_ours(h, player) ? &h->purses[player - h->first_player] : NULL;
}

/* The answers to two game servers can overtake each other; what is older is no news. */
static void note_item(history* h, uint32_t item, item_history now)
{
    item_history* before = &h->items[item];
    now.sold_version = before->sold_version;
    if (now.version > before->version) *before = now;
}

void history_entered(history* h, uint32_t player)
{
    for (uint32_t i = 0; i < MARKET_ITEMS_EACH; i++)
    {
        note_item(h, player * MARKET_ITEMS_EACH + i, (item_history){.version = 1, .holder = player});
    }
}

void history_listed(history* h, const market_trade* trade)
{
    item_history now = {.version = trade->version + 1, .holder = trade->seller, .price = trade->price};
    note_item(h, trade->item, now);
}

void history_taken(history* h, const market_trade* trade)
{
    purse_history* buyer = our_purse(h, trade->buyer);
    if (buyer != NULL) buyer->number = trade->number;
}

void history_sold(history* h, const market_trade* trade)
{
    item_history* item = &h->items[trade->item];
    h->sold_twice += trade->version <= item->sold_version;
    item->sold_version = trade->version;
    item_history now = {.version = trade->version + 1, .holder = trade->seller, .sold = true};
    note_item(h, trade->item, now);
}

void history_paid(history* h, const market_trade* trade)
{
    purse_history* seller = our_purse(h, trade->seller);
    if (seller != NULL) seller->earned += trade->price;
}

void history_delivered(history* h, const market_trade* trade)
{
    note_item(h, trade->item, (item_history){.version = trade->version + 2, .holder = trade->buyer});
}

void history_bought(history* h, const market_trade* trade)
{
    purse_history* buyer = our_purse(h, trade->buyer);
    if (buyer != NULL) buyer->spent += trade->price;
    h->purchases++;
}
