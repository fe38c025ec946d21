/* trade_sell.c -- a player looks at the offers, or makes one. */

#include "server/trader.h"

#include <inttypes.h>
#include <stdio.h>

void trader_seen(trade* t, trader* p)
{
    market_item item;
    bool there = market_item_of(&p->call, &item);
    if (there && item.holder == p->self && item.price == 0 && !item.sold)
    {
        p->trade.version = item.version;
        trader_go(p, TRADER_LISTING);
        return;
    }
    trade_sorry(t, p, SORRY_NOT_YOURS, "not in your bag");
    trader_rest(p);
}

void trader_listed(trade* t, trader* p, bool done)
{
    if (!done)
    {
        trade_sorry(t, p, SORRY_NOT_YOURS, "not in your bag any more");
        trader_rest(p);
        return;
    }
    p->trade.version++;
    trader_go(p, p->opens_ms > 0 || p->ends_ms > 0 ? TRADER_POSTING : TRADER_SHOWING);
}

void trader_offer_shown(trade* t, trader* p)
{
    trade_tally_add(t, TRADE_LISTED);
    trade_tell(t, p,
               &(message){.type = MESSAGE_LISTED, .values = {p->trade.item, p->trade.version, (int64_t)p->opens_ms}});
    trader_rest(p);
}

gh_status trader_post(trade* t, trader* p)
{
    job open = trader_job(p, JOB_OPEN, p->opens_ms);
    job end = trader_job(p, JOB_END, p->ends_ms);
    job_push_clear(&p->push);
    if (p->opens_ms > 0) job_push_add(&p->push, &open);
    if (p->ends_ms > 0) job_push_add(&p->push, &end);
    return job_push_begin(&p->push, t->config.client);
}

void trader_tell_offers(trade* t, trader* p)
{
    market_trade offers[MARKET_BROWSE_MAX];
    char lines[MARKET_BROWSE_MAX * 80];
    size_t size = 0;
    uint32_t count = market_offers(&p->call, offers);
    for (uint32_t i = 0; i < count; i++)
    {
        const market_trade* o = &offers[i];
        int written = snprintf(lines + size, sizeof lines - size, "%s%" PRIu32 " %" PRId64 " %" PRId64 " %" PRIu32,
                               i == 0 ? "" : "\n", o->item, o->version, o->price, o->seller);
        size += (size_t)written;
    }
    trade_tell(t, p, &(message){.type = MESSAGE_OFFERS, .values = {count}, .text = gh_str_make(lines, size)});
    trader_rest(p);
}
