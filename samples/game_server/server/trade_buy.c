/* trade_buy.c -- where the answers lead when a player buys: the steps of market.h, one after the other. */

#include "server/trade_buy.h"
#include "market/market_replies.h"
#include "server/trade_lock.h"

bool trader_buy(trade_floor* f, trader* p, const message* m)
{
    const int64_t* v = m->values;
    bool version = v[1] >= 1 && v[1] <= INT64_MAX / 2;
    bool seller = v[3] >= 0 && v[3] < MARKET_PLAYERS_MAX && v[3] != p->self;
    if (!trade_is_item(v[0]) || !version || !trade_is_price(v[2]) || !seller) return false;
    p->trade = (market_trade){.item = (uint32_t)v[0], .version = v[1], .price = v[2]};
    p->trade.seller = (uint32_t)v[3];
    p->trade.buyer = p->self;
    p->sorry = 0;
    if (bag_is_full(&p->bag)) trader_sorry(f, p, SORRY_BUSY, "the bag is full");
    else trader_want_lock(p);
    return true;
}

static void too_late(trade_floor* f, trader* p, trader_state next)
{
    trade_tally_add(f, TRADE_TOO_LATE);
    p->sorry = SORRY_TOO_LATE;
    trader_give_lock_back(p);
    trader_go(p, next);
}

void trader_looked(trade_floor* f, trader* p)
{
    market_item item;
    const market_trade* o = &p->trade;
    bool same = market_item_of(&p->call, &item) && item.version == o->version && item.price == o->price &&
                item.holder == o->seller;
    if (!same)
    {
        too_late(f, p, TRADER_HIDING);
        return;
    }
    p->trade.number = ++p->number;
    trader_go(p, TRADER_TAKING);
}

void trader_took(trade_floor* f, trader* p, bool done)
{
    p->taken = done;
    if (done)
    {
        trader_go(p, TRADER_SELLING); /* if the lock is lost by now, the fence will say so */
        return;
    }
    trade_tally_add(f, TRADE_POOR);
    trader_give_lock_back(p);
    trader_sorry(f, p, SORRY_NO_FUNDS, "not enough gold");
    trader_rest(p);
}

void trader_sold(trade_floor* f, trader* p, bool done)
{
    if (done)
    {
        trader_give_lock_back(p);
        trader_go(p, TRADER_TELLING);
        return;
    }
    trade_tally_add(f, TRADE_REFUNDS);
    too_late(f, p, TRADER_REFUNDING);
}

gh_status trader_tell_seller(trade_floor* f, trader* p)
{
    job sold = trader_job(p, JOB_SOLD, 0);
    job_push_clear(&p->push);
    job_push_add(&p->push, &sold);
    return job_push_begin(&p->push, f->client);
}

void trader_settled(trade_floor* f, trader* p)
{
    p->taken = false;
    p->gold = market_number(&p->call);
    p->hold = 0;
    if (p->state == TRADER_SETTLING && !p->finishing) bag_add(&p->bag, p->trade.item, p->trade.version + 2);
    if (p->state == TRADER_SETTLING) trade_tally_add(f, TRADE_BOUGHT);
    if (p->state == TRADER_SETTLING) social_count(f->social, p->self, SOCIAL_TRADE, 1);
    trader_go(p, TRADER_HIDING);
}

void trader_purchase_over(trade_floor* f, trader* p)
{
    if (p->finishing)
    {
        trade_tally_add(f, TRADE_FINISHED);
        trader_go(p, TRADER_ENTERING);
        return;
    }
    const market_trade* o = &p->trade;
    if (p->sorry != 0) trader_sorry(f, p, p->sorry, "somebody was faster");
    else trader_tell(f, p, &(message){.type = MESSAGE_BOUGHT, .values = {o->item, o->version + 2, o->price, p->gold}});
    trader_rest(p);
}
