/* trade_enter.c -- where the answers lead when a player comes in, and when it goes. */

#include "server/trade_enter.h"
#include "market/market_replies.h"
#include "server/trade_lock.h"

/* With coins on hold: the purchase goes on from where nobody knows whether it was done. */
void trader_entered(trader* p)
{
    market_purse purse;
    if (!market_purse_of(&p->call, &purse)) p->abandoned = true;
    p->gold = purse.gold;
    p->hold = purse.hold;
    p->number = purse.number;
    p->hint_count = market_hints(&p->call, p->hints);
    p->hint = 0;
    p->forgot = false;
    p->bag.count = 0;
    p->finishing = purse.hold > 0;
    trader_go(p, TRADER_FINDING);
    if (!p->finishing) return;
    p->trade = purse.held;
    p->trade.buyer = p->self;
    p->taken = true;
    trader_want_lock(p);
}

void trader_next_hint(trader* p)
{
    p->hint++;
    trader_go(p, TRADER_FINDING);
}

void trader_forgot(trader* p)
{
    p->forgot = true;
    trader_next_hint(p);
}

/* What was sold since the last time is forgotten now, and there may be more behind it. */
void trader_all_found(trader* p)
{
    if (p->forgot && p->hint_count == MARKET_HINTS_MAX)
    {
        trader_go(p, TRADER_ENTERING);
        return;
    }
    p->in = true;
    trader_rest(p);
}

void trader_found(trader* p)
{
    market_item item;
    uint32_t number = p->hints[p->hint];
    if (!market_item_of(&p->call, &item))
    {
        trader_go(p, TRADER_OPENING);
        return;
    }
    if (item.holder != p->self)
    {
        trader_go(p, TRADER_FORGETTING);
        return;
    }
    if (item.price > 0) /* perhaps the server that listed it died before it could show it */
    {
        p->trade = (market_trade){.item = number, .seller = p->self};
        p->trade.version = item.version;
        p->trade.price = item.price;
        trader_go(p, TRADER_SHOWING);
        return;
    }
    if (!item.sold) bag_add(&p->bag, number, item.version);
    trader_next_hint(p);
}

void trader_counted(trader* p)
{
    market_purse purse;
    if (market_purse_of(&p->call, &purse))
    {
        p->gold = purse.gold;
        p->hold = purse.hold;
    }
    trader_go(p, TRADER_AWAY);
}
