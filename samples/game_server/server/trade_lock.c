/* trade_lock.c -- a purchase waits for the lock of its item, and gives it back. */

#include "server/trade_lock.h"

#define LEASE_US    3000000u
#define PATIENCE_US 2000000u

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
    gh_lock_release(&p->lock); /* goes on by itself; nothing happens if it was never wanted, or is lost */
}

/* The last lock may still be on its way back. */
static void begin_lock(trade_floor* f, trader* p, uint64_t now_us)
{
    if (gh_op_poll(&p->lock.op) == GH_PENDING || now_us < p->again_us) return;
    gh_lock_config want = gh_lock_config_default();
    want.lease_us = LEASE_US;
    want.wait_us = PATIENCE_US;
    gh_str name = market_lock_name(f->market, p->trade.item, p->lock_name);
    p->wanting = gh_lock_begin(&p->lock, f->client, name, &want) == GH_OK;
    if (!p->wanting) p->again_us = now_us + TRADER_AGAIN_US;
}

/* Before the coins are taken nothing is at stake. */
static void no_lock(trade_floor* f, trader* p, gh_status status)
{
    if (p->taken)
    {
        trader_want_lock(p);
        return;
    }
    bool late = status == GH_TIMEOUT && gh_client_ready(f->client);
    bool crowded = late || status == GH_NO_ROOM || status == GH_FULL;
    trader_sorry(f, p, crowded ? SORRY_BUSY : SORRY_STORE, gh_status_text(status));
    trader_rest(p);
}

void trader_locking_step(trade_floor* f, trader* p, uint64_t now_us)
{
    if (f->market->guard == MARKET_SCRIPT)
    {
        begin_purchase_step(p);
        return;
    }
    if (!p->wanting)
    {
        begin_lock(f, p, now_us);
        return;
    }
    gh_status status = gh_op_poll(&p->lock.op);
    if (status == GH_PENDING && p->leaving && !p->taken) gh_op_cancel(&p->lock.op);
    if (status == GH_PENDING) return;
    if (status == GH_HELD)
    {
        p->item_lock = gh_lock_fence(&p->lock);
        begin_purchase_step(p);
    }
    else no_lock(f, p, status);
}
