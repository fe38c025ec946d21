/* trade_sell.c -- where the answers lead when a player looks at the offers, or makes one. */

#include "server/trade_sell.h"
#include "market/market_replies.h"

#include <inttypes.h>
#include <stdio.h>

#define DELAY_MAX_MS 3600000

/* ---- Looking ------------------------------------------------------------------------------------------- */

void trader_tell_offers(trade_floor* f, trader* p)
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
    trader_tell(f, p, &(message){.type = MESSAGE_OFFERS, .values = {count}, .text = gh_str_make(lines, size)});
    trader_rest(p);
}

/* ---- Selling ------------------------------------------------------------------------------------------- */

static bool is_delay(int64_t ms)
{
    return ms >= 0 && ms <= DELAY_MAX_MS;
}

bool trader_sell(trader* p, const message* m)
{
    const int64_t* v = m->values;
    if (!trade_is_item(v[0]) || !trade_is_price(v[1]) || !is_delay(v[2]) || !is_delay(v[3])) return false;
    p->trade = (market_trade){.item = (uint32_t)v[0], .price = v[1], .seller = p->self};
    p->opens_ms = (uint64_t)v[2];
    p->ends_ms = (uint64_t)v[3];
    trader_go(p, bag_take(&p->bag, p->trade.item, &p->trade.version) ? TRADER_LISTING : TRADER_SEEING);
    return true;
}

void trader_seen(trade_floor* f, trader* p)
{
    market_item item;
    bool there = market_item_of(&p->call, &item);
    if (there && item.holder == p->self && item.price == 0 && !item.sold)
    {
        p->trade.version = item.version;
        trader_go(p, TRADER_LISTING);
        return;
    }
    trader_sorry(f, p, SORRY_NOT_YOURS, "not in your bag");
    trader_rest(p);
}

void trader_listed(trade_floor* f, trader* p, bool done)
{
    if (!done)
    {
        trader_sorry(f, p, SORRY_NOT_YOURS, "not in your bag any more");
        trader_rest(p);
        return;
    }
    p->trade.version++;
    trader_go(p, p->opens_ms > 0 || p->ends_ms > 0 ? TRADER_POSTING : TRADER_SHOWING);
}

gh_status trader_post(trade_floor* f, trader* p)
{
    job open = trader_job(p, JOB_OPEN, p->opens_ms);
    job end = trader_job(p, JOB_END, p->ends_ms);
    job_push_clear(&p->push);
    if (p->opens_ms > 0) job_push_add(&p->push, &open);
    if (p->ends_ms > 0) job_push_add(&p->push, &end);
    return job_push_begin(&p->push, f->client);
}

void trader_offer_shown(trade_floor* f, trader* p)
{
    trade_tally_add(f, TRADE_LISTED);
    trader_tell(f, p,
                &(message){.type = MESSAGE_LISTED, .values = {p->trade.item, p->trade.version, (int64_t)p->opens_ms}});
    trader_rest(p);
}
