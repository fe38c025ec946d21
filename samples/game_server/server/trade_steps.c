/* trade_steps.c -- what a player in each state asks the store, and where the answer leads; see trade.h. */

#include "server/trader.h"

#include <inttypes.h>
#include <stdio.h>

#define AGAIN_US    200000u /* pause before what failed is asked again */
#define LEASE_US    3000000u
#define PATIENCE_US 2000000u

void trader_go(trader* p, trader_state state)
{
    p->state = state;
    p->again_us = 0;
}

/* Nothing is under way: that is when a player can leave. */
void trader_rest(trader* p)
{
    trader_go(p, p->leaving ? TRADER_COUNTING : TRADER_IDLE);
}

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

static void give_lock_back(trader* p)
{
    p->locked = false;
    gh_lock_release(&p->lock); /* goes on by itself; nothing happens if it was never wanted, or is lost */
}

/* The last lock may still be on its way back. */
static void begin_lock(trade* t, trader* p, uint64_t now_us)
{
    if (gh_lock_poll(&p->lock) == GH_PENDING || now_us < p->again_us) return;
    gh_lock_config want = gh_lock_config_default();
    want.lease_us = LEASE_US;
    want.wait_us = PATIENCE_US;
    gh_str name = market_lock_name(t->config.market, p->trade.item, p->lock_name);
    p->wanting = gh_lock_begin(&p->lock, t->config.client, name, &want) == GH_OK;
    if (!p->wanting) p->again_us = now_us + AGAIN_US;
}

/* Before the coins are taken nothing is at stake. */
static void no_lock(trade* t, trader* p, gh_status status)
{
    if (p->taken)
    {
        trader_want_lock(p);
        return;
    }
    bool crowded = status == GH_FULL || (status == GH_TIMEOUT && gh_client_ready(t->config.client));
    trade_sorry(t, p, crowded ? SORRY_BUSY : SORRY_STORE, gh_status_text(status));
    trader_rest(p);
}

static void locking_step(trade* t, trader* p, uint64_t now_us)
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
    gh_status status = gh_lock_poll(&p->lock);
    if (status == GH_PENDING && p->leaving && !p->taken) gh_lock_cancel(&p->lock);
    if (status == GH_PENDING) return;
    if (status == GH_OK)
    {
        p->locked = true;
        p->item_lock = gh_lock_fence(&p->lock);
        begin_purchase_step(p);
    }
    else
        no_lock(t, p, status);
}

/* ---- Entering ------------------------------------------------------------------------------------------ */

/* With coins on hold: the purchase goes on from where nobody knows whether it was done. */
static void entered(trader* p)
{
    market_purse purse;
    if (!market_purse_of(&p->call, &purse)) p->abandoned = true;
    p->gold = purse.gold;
    p->hold = purse.hold;
    p->number = purse.number;
    p->hint_count = market_hints(&p->call, p->hints);
    p->hint = 0;
    p->finishing = purse.hold > 0;
    trader_go(p, TRADER_FINDING);
    if (!p->finishing) return;
    p->trade = purse.held;
    p->trade.buyer = p->self;
    p->taken = true;
    trader_want_lock(p);
}

static void next_hint(trader* p)
{
    p->hint++;
    trader_go(p, TRADER_FINDING);
}

static void found(trader* p)
{
    market_item item;
    uint32_t number = p->hints[p->hint];
    if (!market_item_of(&p->call, &item))
    {
        trader_go(p, TRADER_OPENING);
        return;
    }
    bool mine = item.holder == p->self;
    if (!mine)
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
    if (!item.sold) bag_add(p, number, item.version);
    next_hint(p);
}

/* ---- Selling ------------------------------------------------------------------------------------------- */

static void seen(trade* t, trader* p)
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

static void listed(trade* t, trader* p, bool done)
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

static void told_listed(trade* t, trader* p)
{
    trade_tally_add(t, TRADE_LISTED);
    trade_tell(t, p,
               &(message){.type = MESSAGE_LISTED,
                          .values = {p->trade.item, p->trade.version, (int64_t)p->opens_ms}});
    trader_rest(p);
}

static job job_of(const trader* p, job_kind kind, uint64_t delay_ms)
{
    const market_trade* o = &p->trade;
    return (job){.kind = kind,
                 .item = o->item,
                 .seller = o->seller,
                 .version = o->version,
                 .price = o->price,
                 .delay_us = delay_ms * 1000};
}

static gh_status post(trade* t, trader* p)
{
    job open = job_of(p, JOB_OPEN, p->opens_ms);
    job end = job_of(p, JOB_END, p->ends_ms);
    job_push_clear(&p->push);
    if (p->opens_ms > 0) job_push_add(&p->push, &open);
    if (p->ends_ms > 0) job_push_add(&p->push, &end);
    return job_push_begin(&p->push, t->config.client);
}

/* ---- Buying -------------------------------------------------------------------------------------------- */

static gh_status tell_seller(trade* t, trader* p)
{
    job sold = job_of(p, JOB_SOLD, 0);
    job_push_clear(&p->push);
    job_push_add(&p->push, &sold);
    return job_push_begin(&p->push, t->config.client);
}

static void too_late(trade* t, trader* p, trader_state next)
{
    trade_tally_add(t, TRADE_TOO_LATE);
    p->sorry = SORRY_TOO_LATE;
    give_lock_back(p);
    trader_go(p, next);
}

static void looked(trade* t, trader* p)
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

static void took(trade* t, trader* p, bool done)
{
    p->taken = done;
    if (done)
    {
        trader_go(p, TRADER_SELLING); /* if the lock is lost by now, the fence will say so */
        return;
    }
    trade_tally_add(t, TRADE_POOR);
    give_lock_back(p);
    trade_sorry(t, p, SORRY_NO_FUNDS, "not enough gold");
    trader_rest(p);
}

static void sold(trade* t, trader* p, bool done)
{
    if (done)
    {
        give_lock_back(p);
        trader_go(p, TRADER_TELLING);
        return;
    }
    trade_tally_add(t, TRADE_REFUNDS);
    too_late(t, p, TRADER_REFUNDING);
}

static void settled(trade* t, trader* p)
{
    p->taken = false;
    p->gold = market_number(&p->call);
    p->hold = 0;
    if (p->state == TRADER_SETTLING && !p->finishing) bag_add(p, p->trade.item, p->trade.version + 2);
    if (p->state == TRADER_SETTLING) trade_tally_add(t, TRADE_BOUGHT);
    if (p->state == TRADER_SETTLING) social_count(t->config.social, SOCIAL_TRADE, 1);
    trader_go(p, TRADER_HIDING);
}

static void purchase_over(trade* t, trader* p)
{
    if (p->finishing)
    {
        trade_tally_add(t, TRADE_FINISHED);
        trader_go(p, TRADER_ENTERING);
        return;
    }
    const market_trade* o = &p->trade;
    if (p->sorry != 0)
        trade_sorry(t, p, p->sorry, "somebody was faster");
    else
        trade_tell(
            t, p, &(message){.type = MESSAGE_BOUGHT, .values = {o->item, o->version + 2, o->price, p->gold}});
    trader_rest(p);
}

static void tell_offers(trade* t, trader* p)
{
    market_trade offers[MARKET_BROWSE_MAX];
    char lines[MARKET_BROWSE_MAX * 80];
    size_t size = 0;
    uint32_t count = market_offers(&p->call, offers);
    for (uint32_t i = 0; i < count; i++)
    {
        const market_trade* o = &offers[i];
        int written =
            snprintf(lines + size, sizeof lines - size, "%s%" PRIu32 " %" PRId64 " %" PRId64 " %" PRIu32,
                     i == 0 ? "" : "\n", o->item, o->version, o->price, o->seller);
        size += (size_t)written;
    }
    trade_tell(t, p, &(message){.type = MESSAGE_OFFERS, .values = {count}, .text = gh_str_make(lines, size)});
    trader_rest(p);
}

/* ---- The step ------------------------------------------------------------------------------------------ */

static bool is_push(const trader* p)
{
    return p->state == TRADER_POSTING || p->state == TRADER_TELLING;
}

static gh_status ask(trade* t, trader* p)
{
    market* m = t->config.market;
    const gh_fence* item_lock = m->guard == MARKET_SCRIPT ? NULL : &p->item_lock;
    switch (p->state)
    {
    case TRADER_ENTERING: return market_enter(m, &p->call, p->self);
    case TRADER_FINDING: return market_read_item(m, &p->call, p->hints[p->hint]);
    case TRADER_OPENING: return market_open_item(m, &p->call, p->hints[p->hint], p->self);
    case TRADER_FORGETTING: return market_forget(m, &p->call, p->self, p->hints[p->hint]);
    case TRADER_BROWSING: return market_browse(m, &p->call);
    case TRADER_LISTING: return market_list(m, &p->call, &p->trade);
    case TRADER_POSTING: return post(t, p);
    case TRADER_SHOWING: return market_show(m, &p->call, &p->trade);
    case TRADER_SEEING:
    case TRADER_LOOKING: return market_read_item(m, &p->call, p->trade.item);
    case TRADER_TAKING: return market_take(m, &p->call, &p->trade, &p->player_lock);
    case TRADER_SELLING: return market_sell(m, &p->call, &p->trade, item_lock);
    case TRADER_TELLING: return tell_seller(t, p);
    case TRADER_DELIVERING: return market_deliver(m, &p->call, &p->trade);
    case TRADER_SETTLING: return market_settle(m, &p->call, &p->trade, true, &p->player_lock);
    case TRADER_REFUNDING: return market_settle(m, &p->call, &p->trade, false, &p->player_lock);
    case TRADER_HIDING: return market_hide(m, &p->call, &p->trade);
    case TRADER_COUNTING: return market_read_purse(m, &p->call, p->self);
    case TRADER_AWAY:
    case TRADER_IDLE:
    case TRADER_LOCKING: break;
    }
    return GH_IDLE;
}

static void counted(trader* p)
{
    market_purse purse;
    if (market_purse_of(&p->call, &purse)) p->gold = purse.gold, p->hold = purse.hold;
    trader_go(p, TRADER_AWAY);
}

static void answered(trade* t, trader* p)
{
    bool done = !is_push(p) && market_number(&p->call) == MARKET_DONE;
    switch (p->state)
    {
    case TRADER_ENTERING: entered(p); break;
    case TRADER_FINDING: found(p); break;
    case TRADER_OPENING: trader_go(p, TRADER_FINDING); break;
    case TRADER_FORGETTING: next_hint(p); break;
    case TRADER_BROWSING: tell_offers(t, p); break;
    case TRADER_SEEING: seen(t, p); break;
    case TRADER_LISTING: listed(t, p, done); break;
    case TRADER_POSTING:
        if (p->opens_ms > 0)
            told_listed(t, p);
        else
            trader_go(p, TRADER_SHOWING);
        break;
    case TRADER_SHOWING:
        if (p->in)
            told_listed(t, p);
        else
            next_hint(p);
        break;
    case TRADER_LOOKING: looked(t, p); break;
    case TRADER_TAKING: took(t, p, done); break;
    case TRADER_SELLING: sold(t, p, done); break;
    case TRADER_TELLING: trader_go(p, TRADER_DELIVERING); break;
    case TRADER_DELIVERING: trader_go(p, TRADER_SETTLING); break;
    case TRADER_SETTLING:
    case TRADER_REFUNDING: settled(t, p); break;
    case TRADER_HIDING: purchase_over(t, p); break;
    case TRADER_COUNTING: counted(p); break;
    case TRADER_AWAY:
    case TRADER_IDLE:
    case TRADER_LOCKING: break;
    }
}

/* The request has ended without an answer. To ask again is always right; where nothing is at stake, let go.
 */
static void failed(trade* t, trader* p, gh_status status, uint64_t now_us)
{
    p->again_us = now_us + AGAIN_US;
    if (status == GH_FENCED)
    {
        trade_tally_add(t, TRADE_FENCED);
        if (p->state == TRADER_SELLING)
            trader_want_lock(p); /* the item's lock was lost */
        else
            p->abandoned = true; /* the player's             */
        return;
    }
    bool looks = p->state == TRADER_BROWSING || p->state == TRADER_LOOKING || p->state == TRADER_SEEING;
    if (!looks)
    {
        trade_tally_add(t, TRADE_AGAIN);
        return;
    }
    give_lock_back(p);
    trade_sorry(t, p, status == GH_FULL ? SORRY_BUSY : SORRY_STORE, gh_status_text(status));
    trader_rest(p);
}

static void asking_step(trade* t, trader* p, uint64_t now_us)
{
    gh_status status = is_push(p) ? job_push_poll(&p->push) : gh_command_poll(&p->call.op);
    if (status == GH_PENDING) return;
    p->asking = false;
    bool missing = status == GH_OK && !is_push(p) && market_number(&p->call) == MARKET_MISSING &&
                   gh_command_reply(&p->call.op)->type == GH_REPLY_INTEGER;
    if (missing)
        p->abandoned = true; /* the store has lost data */
    else if (status == GH_OK)
        answered(t, p);
    else
        failed(t, p, status, now_us);
}

/* What is left to do will be done where the player comes in next. */
static void abandon(trade* t, trader* p)
{
    bool under_way = p->state >= TRADER_SEEING && p->state < TRADER_COUNTING && p->in;
    if (under_way) trade_sorry(t, p, SORRY_UNSURE, "the session is lost");
    give_lock_back(p);
    p->leaving = true;
    trader_go(p, TRADER_COUNTING);
}

void trader_step(trade* t, trader* p, uint64_t now_us)
{
    if (p->asking) asking_step(t, p, now_us);
    if (p->asking) return;
    if (p->abandoned && p->state != TRADER_COUNTING && p->state != TRADER_AWAY) abandon(t, p);
    if (p->state == TRADER_LOCKING) locking_step(t, p, now_us);
    if (p->state == TRADER_FINDING && p->hint == p->hint_count)
    {
        p->in = true;
        trader_rest(p);
    }
    /* Also what was just decided on: its request goes out at the end of this very frame. */
    bool asks = p->state != TRADER_AWAY && p->state != TRADER_IDLE && p->state != TRADER_LOCKING;
    if (!asks || now_us < p->again_us) return;
    gh_status status = ask(t, p);
    p->asking = status == GH_OK;
    if (!p->asking) failed(t, p, status, now_us);
}
