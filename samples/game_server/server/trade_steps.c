/* trade_steps.c -- what a player in each state asks the store, and where the answer leads. */

#include "server/trade_steps.h"
#include "market/market_replies.h"
#include "market/market_steps.h"
#include "server/trade_back.h"
#include "server/trade_buy.h"
#include "server/trade_enter.h"
#include "server/trade_lock.h"
#include "server/trade_sell.h"

static bool is_push(const trader* p)
{
    return p->state == TRADER_POSTING || p->state == TRADER_TELLING;
}

static gh_status ask(trade_floor* f, trader* p)
{
    market* m = f->market;
    const gh_fence* item_lock = m->guard == MARKET_SCRIPT ? NULL : &p->item_lock;
    switch (p->state)
    {
    case TRADER_ENTERING: return market_enter(m, &p->call, p->self);
    case TRADER_FINDING: return market_read_item(m, &p->call, p->hints[p->hint]);
    case TRADER_OPENING: return market_open_item(m, &p->call, p->hints[p->hint], p->self);
    case TRADER_FORGETTING: return market_forget(m, &p->call, p->self, p->hints[p->hint]);
    case TRADER_RETURNING: return market_read_item(m, &p->call, p->returns[0]);
    case TRADER_BROWSING: return market_browse(m, &p->call, (uint32_t)random_draw(&f->random));
    case TRADER_LISTING: return market_list(m, &p->call, &p->trade);
    case TRADER_POSTING: return trader_post(f, p);
    case TRADER_SHOWING: return market_show(m, &p->call, &p->trade);
    case TRADER_SEEING:
    case TRADER_LOOKING: return market_read_item(m, &p->call, p->trade.item);
    case TRADER_TAKING: return market_take(m, &p->call, &p->trade, &p->player_lock);
    case TRADER_SELLING: return market_sell(m, &p->call, &p->trade, item_lock);
    case TRADER_TELLING: return trader_tell_seller(f, p);
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

static void answered(trade_floor* f, trader* p)
{
    bool done = !is_push(p) && market_number(&p->call) == MARKET_DONE;
    switch (p->state)
    {
    case TRADER_ENTERING: trader_entered(p); break;
    case TRADER_FINDING: trader_found(p); break;
    case TRADER_OPENING: trader_go(p, TRADER_FINDING); break;
    case TRADER_FORGETTING: trader_forgot(p); break;
    case TRADER_RETURNING: trader_returned(f, p); break;
    case TRADER_BROWSING: trader_tell_offers(f, p); break;
    case TRADER_SEEING: trader_seen(f, p); break;
    case TRADER_LISTING: trader_listed(f, p, done); break;
    case TRADER_POSTING:
        if (p->opens_ms > 0) trader_offer_shown(f, p);
        else trader_go(p, TRADER_SHOWING);
        break;
    case TRADER_SHOWING:
        if (p->in) trader_offer_shown(f, p);
        else trader_next_hint(p);
        break;
    case TRADER_LOOKING: trader_looked(f, p); break;
    case TRADER_TAKING: trader_took(f, p, done); break;
    case TRADER_SELLING: trader_sold(f, p, done); break;
    case TRADER_TELLING: trader_go(p, TRADER_DELIVERING); break;
    case TRADER_DELIVERING: trader_go(p, TRADER_SETTLING); break;
    case TRADER_SETTLING:
    case TRADER_REFUNDING: trader_settled(f, p); break;
    case TRADER_HIDING: trader_purchase_over(f, p); break;
    case TRADER_COUNTING: trader_counted(p); break;
    case TRADER_AWAY:
    case TRADER_IDLE:
    case TRADER_LOCKING: break;
    }
}

/* The request has ended without an answer. To ask again is always right; where nothing is at
   stake, let go. */
static void failed(trade_floor* f, trader* p, gh_status status, uint64_t now_us)
{
    p->again_us = now_us + TRADER_AGAIN_US;
    if (status == GH_FENCED)
    {
        trade_tally_add(f, TRADE_FENCED);
        if (p->state == TRADER_SELLING) trader_want_lock(p); /* the item's lock was lost */
        else p->abandoned = true;                            /* the player's             */
        return;
    }
    bool looks = p->state == TRADER_BROWSING || p->state == TRADER_LOOKING || p->state == TRADER_SEEING;
    if (!looks)
    {
        trade_tally_add(f, TRADE_AGAIN);
        return;
    }
    trader_give_lock_back(p);
    trader_sorry(f, p, status == GH_NO_ROOM ? SORRY_BUSY : SORRY_STORE, gh_status_text(status));
    trader_rest(p);
}

static void asking_step(trade_floor* f, trader* p, uint64_t now_us)
{
    gh_status status = is_push(p) ? job_push_poll(&p->push) : gh_op_poll(&p->call.op.op);
    if (status == GH_PENDING) return;
    p->asking = false;
    bool missing = status == GH_OK && !is_push(p) && market_number(&p->call) == MARKET_MISSING &&
                   gh_command_reply(&p->call.op)->type == GH_REPLY_INTEGER;
    if (missing) p->abandoned = true; /* the store has lost data */
    else if (status == GH_OK) answered(f, p);
    else failed(f, p, status, now_us);
}

/* What is left to do will be done where the player comes in next. */
static void abandon(trade_floor* f, trader* p)
{
    bool under_way = p->state > TRADER_IDLE && p->state < TRADER_COUNTING && p->in;
    if (under_way) trader_sorry(f, p, SORRY_UNSURE, "the session is lost");
    trader_drop_waiting(f, p, SORRY_STORE, "the session is lost");
    trader_give_lock_back(p);
    p->return_count = 0;
    p->leaving = true;
    trader_go(p, TRADER_COUNTING);
}

void trader_step(trade_floor* f, trader* p, uint64_t now_us)
{
    if (p->asking) asking_step(f, p, now_us);
    if (p->asking) return;
    if (p->abandoned && p->state != TRADER_COUNTING && p->state != TRADER_AWAY) abandon(f, p);
    if (p->state == TRADER_LOCKING) trader_locking_step(f, p, now_us);
    if (p->state == TRADER_FINDING && p->hint == p->hint_count) trader_all_found(p);
    /* Also what was just decided on: its request goes out at the end of this very frame. */
    bool asks = p->state != TRADER_AWAY && p->state != TRADER_IDLE && p->state != TRADER_LOCKING;
    if (!asks || now_us < p->again_us) return;
    gh_status status = ask(f, p);
    p->asking = status == GH_OK;
    if (!p->asking) failed(f, p, status, now_us);
}
