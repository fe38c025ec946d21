/* trade_buy.c -- a player buys: the steps of market.h, one after the other. */

#include "server/trader.h"

#define LEASE_US    3000000u
#define PATIENCE_US 2000000u

/* ---- The lock of the item ------------------------------------------------------------------------------ */

static void begin_purchase_step(trader* p)
{
    trader_go(p, p->taken ? TRADER_SELLING : TRADER_LOOKING);
}

void trader_want_lock(trader* p)
{
    p->wanting = false;
    trader_go(p, TRADER_LOCKING);
}

void trader_give_lock_back(trader* p)
{
    p->locked = false;
    gh_lock_release(&p->lock); /* goes on by itself; nothing happens if it was never wanted, or is lost */
}

/* The last lock may still be on its way back. */
static void begin_lock(trade* t, trader* p, uint64_t now_us)
{
    if (gh_op_poll(&p->lock.op) == GH_PENDING || now_us < p->again_us) return;
    gh_lock_config want = gh_lock_config_default();
    want.lease_us = LEASE_US;
    want.wait_us = PATIENCE_US;
    gh_str name = market_lock_name(t->config.market, p->trade.item, p->lock_name);
    p->wanting = gh_lock_begin(&p->lock, t->config.client, name, &want) == GH_OK;
    if (!p->wanting) p->again_us = now_us + TRADER_AGAIN_US;
}

/* Before the coins are taken nothing is at stake. */
static void no_lock(trade* t, trader* p, gh_status status)
{
    if (p->taken)
    {
        trader_want_lock(p);
        return;
    }
    bool late = status == GH_TIMEOUT && gh_client_ready(t->config.client);
    bool crowded = late || status == GH_NO_ROOM || status == GH_FULL;
    trade_sorry(t, p, crowded ? SORRY_BUSY : SORRY_STORE, gh_status_text(status));
    trader_rest(p);
}

void trader_locking_step(trade* t, trader* p, uint64_t now_us)
{
    if (t->config.market->guard == MARKET_SCRIPT)
    {
        begin_purchase_step(p);
        return;
    }
    if (!p->wanting)
    {
        begin_lock(t, p, now_us);
        return;
    }
    gh_status status = gh_op_poll(&p->lock.op);
    if (status == GH_PENDING && p->leaving && !p->taken) gh_op_cancel(&p->lock.op);
    if (status == GH_PENDING) return;
    if (status == GH_HELD)
    {
        p->locked = true;
        p->item_lock = gh_lock_fence(&p->lock);
        begin_purchase_step(p);
    }
    else no_lock(t, p, status);
}

job trader_job(const trader* p, job_kind kind, uint64_t delay_ms)
{
    const market_trade* o = &p->trade;
    return (job){.kind = kind,
                 .item = o->item,
                 .seller = o->seller,
                 .version = o->version,
                 .price = o->price,
                 .delay_us = delay_ms * 1000};
}

/* ---- Buying -------------------------------------------------------------------------------------------- */

gh_status trader_tell_seller(trade* t, trader* p)
{
    job sold = trader_job(p, JOB_SOLD, 0);
    job_push_clear(&p->push);
    job_push_add(&p->push, &sold);
    return job_push_begin(&p->push, t->config.client);
}

static void too_late(trade* t, trader* p, trader_state next)
{
    trade_tally_add(t, TRADE_TOO_LATE);
    p->sorry = SORRY_TOO_LATE;
    trader_give_lock_back(p);
    trader_go(p, next);
}

void trader_looked(trade* t, trader* p)
{
    market_item item;
    const market_trade* o = &p->trade;
    bool same = market_item_of(&p->call, &item) && item.version == o->version && item.price == o->price &&
                item.holder == o->seller;
    if (!same)
    {
        too_late(t, p, TRADER_HIDING);
        return;
    }
    p->trade.number = ++p->number;
    trader_go(p, TRADER_TAKING);
}

void trader_took(trade* t, trader* p, bool done)
{
    p->taken = done;
    if (done)
    {
        trader_go(p, TRADER_SELLING); /* if the lock is lost by now, the fence will say so */
        return;
    }
    trade_tally_add(t, TRADE_POOR);
    trader_give_lock_back(p);
    trade_sorry(t, p, SORRY_NO_FUNDS, "not enough gold");
    trader_rest(p);
}

void trader_sold(trade* t, trader* p, bool done)
{
    if (done)
    {
        trader_give_lock_back(p);
        trader_go(p, TRADER_TELLING);
        return;
    }
    trade_tally_add(t, TRADE_REFUNDS);
    too_late(t, p, TRADER_REFUNDING);
}

void trader_settled(trade* t, trader* p)
{
    p->taken = false;
    p->gold = market_number(&p->call);
    p->hold = 0;
    if (p->state == TRADER_SETTLING && !p->finishing) bag_add(p, p->trade.item, p->trade.version + 2);
    if (p->state == TRADER_SETTLING) trade_tally_add(t, TRADE_BOUGHT);
    if (p->state == TRADER_SETTLING) social_count(t->config.social, p->self, SOCIAL_TRADE, 1);
    trader_go(p, TRADER_HIDING);
}

void trader_purchase_over(trade* t, trader* p)
{
    if (p->finishing)
    {
        trade_tally_add(t, TRADE_FINISHED);
        trader_go(p, TRADER_ENTERING);
        return;
    }
    const market_trade* o = &p->trade;
    if (p->sorry != 0) trade_sorry(t, p, p->sorry, "somebody was faster");
    else trade_tell(t, p, &(message){.type = MESSAGE_BOUGHT, .values = {o->item, o->version + 2, o->price, p->gold}});
    trader_rest(p);
}
