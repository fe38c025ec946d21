#include "world.h"

#define THINK_MIN_US 200000u /* a player acts about once a second */
#define THINK_MAX_US 1500000u
#define PRICE_MAX 100u
#define LEASE_US 3000000u
#define PATIENCE_US 2000000u

/* splitmix64: good enough for players. */
static uint32_t pick(world* w, uint32_t below)
{
    uint64_t x = w->random += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return (uint32_t)(((x >> 32) * below) >> 32);
}

static void go(player* p, player_state state)
{
    p->state = state;
    p->act_us = 0;
}

static void rest(world* w, player* p, uint64_t now_us)
{
    p->state = PLAYER_IDLE;
    p->act_us = now_us + THINK_MIN_US + pick(w, THINK_MAX_US - THINK_MIN_US);
}

static void count_ending(world* w, gh_status status)
{
    world_counts* counts = &w->counts;
    switch ((int)status)
    {
    case GH_OK:
    case GH_IDLE: break;
    case GH_LOST: counts->lost++; break;
    case GH_TIMEOUT: counts->timeouts++; break;
    case GH_UNKNOWN: counts->unknown++; break;
    case GH_FENCED: counts->fenced++; break;
    case GH_FULL: counts->full++; break;
    default:
        counts->others++;
        w->last_other = status;
    }
}

/* ---- Wishes -------------------------------------------------------------------------------------------- */

static void wish(world* w, player* p, uint64_t now_us)
{
    p->trade = (market_trade){0};
    if (p->bag_count > 0 && (p->bag_count == WORLD_BAG_SIZE || pick(w, 2) == 0))
    {
        bag_item* chosen = &p->bag[pick(w, p->bag_count)];
        p->trade = (market_trade){.item = chosen->item, .version = chosen->version, .seller = p->self};
        p->trade.price = 1 + pick(w, PRICE_MAX);
        *chosen = p->bag[--p->bag_count];
        go(p, PLAYER_LISTING);
    }
    else if (p->bag_count < WORLD_BAG_SIZE)
    {
        go(p, PLAYER_BROWSING);
    }
    else
    {
        rest(w, p, now_us);
    }
}

/* One of the offers seen, not the player's own. */
static bool choose(world* w, player* p)
{
    market_trade offers[MARKET_BROWSE_MAX];
    uint32_t count = market_offers(&p->call, offers);
    if (count == 0) return false;
    p->trade = offers[pick(w, count)];
    p->trade.buyer = p->self;
    return p->trade.seller != p->self;
}

/* ---- The lock ------------------------------------------------------------------------------------------ */

static void want_lock(world* w, player* p, uint64_t now_us)
{
    gh_lock_config want = gh_lock_config_default();
    want.lease_us = LEASE_US;
    want.wait_us = PATIENCE_US;
    p->since_us = now_us;
    p->waited = false;
    gh_str name = market_lock_name(w->market, p->trade.item, p->lock_name);
    gh_status status = gh_lock_begin(&p->lock, w->market->client, name, &want);
    count_ending(w, status);
    if (status == GH_OK) go(p, PLAYER_LOCKING);
    else rest(w, p, now_us);
}

static void give_lock_back(world* w, player* p)
{
    w->counts.lost += p->locked && gh_lock_poll(&p->lock) == GH_LOST;
    p->locked = false;
    gh_lock_release(&p->lock); /* goes on by itself; nothing happens if it was never wanted, or is lost */
}

static void locking_step(world* w, player* p, uint64_t now_us, bool closing)
{
    gh_status status = gh_lock_poll(&p->lock);
    if (status == GH_PENDING)
    {
        p->waited = p->waited || p->lock.position > 0;
        if (closing) gh_lock_cancel(&p->lock);
    }
    else if (status == GH_OK)
    {
        w->counts.grants++;
        w->counts.waits += p->waited;
        if (p->waited) histogram_add(&w->wait_us, now_us - p->since_us);
        p->locked = true;
        p->fence = gh_lock_fence(&p->lock);
        go(p, PLAYER_LOOKING);
    }
    else
    {
        if (status != GH_CANCELLED) count_ending(w, status);
        rest(w, p, now_us);
    }
}

/* ---- Calls: what each state asks, and where its answer leads ------------------------------------------- */

static gh_status ask(world* w, player* p)
{
    market* m = w->market;
    bool locks = m->guard != MARKET_SCRIPT;
    uint32_t item = p->self * MARKET_ITEMS_EACH + p->opened - 1;
    switch (p->state)
    {
    case PLAYER_ENTERING:
        if (p->opened == 0) return market_open_purse(m, &p->call, p->self);
        return market_open_item(m, &p->call, item, p->self);
    case PLAYER_LISTING: return market_list(m, &p->call, &p->trade);
    case PLAYER_SHOWING: return market_show(m, &p->call, &p->trade);
    case PLAYER_BROWSING: return market_browse(m, &p->call);
    case PLAYER_LOOKING:
    case PLAYER_CHECKING: return market_read_item(m, &p->call, p->trade.item);
    case PLAYER_TAKING: return market_take(m, &p->call, &p->trade);
    case PLAYER_SELLING: return market_sell(m, &p->call, &p->trade, locks ? &p->fence : NULL);
    case PLAYER_PAYING: return market_pay(m, &p->call, &p->trade);
    case PLAYER_DELIVERING: return market_deliver(m, &p->call, &p->trade);
    case PLAYER_SETTLING: return market_settle(m, &p->call, &p->trade, true);
    case PLAYER_REFUNDING: return market_settle(m, &p->call, &p->trade, false);
    case PLAYER_HIDING: return market_hide(m, &p->call, &p->trade);
    case PLAYER_IDLE:
    case PLAYER_LOCKING: break;
    }
    return GH_IDLE;
}

static void entered_step(world* w, player* p, uint64_t now_us)
{
    if (++p->opened <= MARKET_ITEMS_EACH)
    {
        go(p, PLAYER_ENTERING);
        return;
    }
    history_entered(w->history, p->self);
    for (uint32_t i = 0; i < MARKET_ITEMS_EACH; i++)
    {
        p->bag[p->bag_count++] = (bag_item){.item = p->self * MARKET_ITEMS_EACH + i, .version = 1};
    }
    rest(w, p, now_us);
}

static void take_coins(player* p)
{
    p->trade.number = ++p->number;
    go(p, PLAYER_TAKING);
}

static void looked(world* w, player* p)
{
    market_item item;
    bool there = market_item_of(&p->call, &item);
    w->gone = w->gone || !there;
    if (there && item.version == p->trade.version)
    {
        take_coins(p);
        return;
    }
    w->counts.too_late++;
    give_lock_back(w, p);
    go(p, PLAYER_HIDING);
}

static void taken(world* w, player* p, bool done, uint64_t now_us)
{
    history_taken(w->history, &p->trade);
    if (!done)
    {
        w->counts.poor++;
        give_lock_back(w, p);
        rest(w, p, now_us);
        return;
    }
    go(p, PLAYER_SELLING); /* if the lock is lost by now, the fence will say so */
}

static void sold(world* w, player* p, bool done)
{
    give_lock_back(w, p);
    if (done) history_sold(w->history, &p->trade);
    else w->counts.refunds++;
    go(p, done ? PLAYER_PAYING : PLAYER_REFUNDING);
}

/* A fence that is over never comes back, so what the item says now is final. */
static bool was_sold_to(const player* p)
{
    market_item item;
    bool sold = market_item_of(&p->call, &item) && item.sold;
    return sold && item.buyer == p->self && item.number == p->trade.number;
}

static void delivered(world* w, player* p)
{
    history_delivered(w->history, &p->trade);
    p->bag[p->bag_count++] = (bag_item){.item = p->trade.item, .version = p->trade.version + 2};
    go(p, PLAYER_SETTLING);
}

static void listed(world* w, player* p, bool done, uint64_t now_us)
{
    if (!done) /* it was in the player's bag, so the store said so before */
    {
        w->history->contradicted++;
        rest(w, p, now_us);
        return;
    }
    history_listed(w->history, &p->trade);
    p->trade.version++;
    go(p, PLAYER_SHOWING);
}

static void answered(world* w, player* p, uint64_t now_us)
{
    bool done = market_number(&p->call) == MARKET_DONE; /* of a script; the rest look at the reply again */
    switch (p->state)
    {
    case PLAYER_ENTERING: entered_step(w, p, now_us); break;
    case PLAYER_LISTING: listed(w, p, done, now_us); break;
    case PLAYER_SHOWING:
        w->counts.listings++;
        rest(w, p, now_us);
        break;
    case PLAYER_BROWSING:
        if (!choose(w, p)) rest(w, p, now_us);
        else if (w->market->guard == MARKET_SCRIPT) take_coins(p);
        else want_lock(w, p, now_us);
        break;
    case PLAYER_LOOKING: looked(w, p); break;
    case PLAYER_TAKING: taken(w, p, done, now_us); break;
    case PLAYER_SELLING: sold(w, p, done); break;
    case PLAYER_CHECKING: sold(w, p, was_sold_to(p)); break;
    case PLAYER_PAYING:
        history_paid(w->history, &p->trade);
        go(p, PLAYER_DELIVERING);
        break;
    case PLAYER_DELIVERING: delivered(w, p); break;
    case PLAYER_SETTLING:
        history_bought(w->history, &p->trade);
        go(p, PLAYER_HIDING);
        break;
    case PLAYER_REFUNDING: go(p, PLAYER_HIDING); break;
    case PLAYER_HIDING: rest(w, p, now_us); break;
    case PLAYER_IDLE:
    case PLAYER_LOCKING: break;
    }
}

/* The call has ended without an answer. To ask again is always right; where nothing is at stake, let go. */
static void failed(world* w, player* p, gh_status status, uint64_t now_us)
{
    count_ending(w, status);
    p->act_us = now_us + WORLD_AGAIN_US;
    if (status == GH_FENCED)
    {
        go(p, PLAYER_CHECKING);
    }
    else if (p->state == PLAYER_BROWSING || p->state == PLAYER_LOOKING)
    {
        give_lock_back(w, p);
        rest(w, p, now_us);
    }
}

static void calling_step(world* w, player* p, uint64_t now_us)
{
    if (!p->asking) return;
    gh_status status = gh_command_poll(&p->call.op);
    if (status == GH_PENDING) return;
    p->asking = false;
    if (status != GH_OK)
    {
        failed(w, p, status, now_us);
        return;
    }
    if (market_number(&p->call) == MARKET_MISSING && gh_command_reply(&p->call.op)->type == GH_REPLY_INTEGER)
    {
        w->gone = true;
    }
    else answered(w, p, now_us);
}

/* ---- The frame ----------------------------------------------------------------------------------------- */

static void player_step(world* w, player* p, uint64_t now_us, bool closing)
{
    if (p->state == PLAYER_LOCKING) locking_step(w, p, now_us, closing);
    else if (p->state != PLAYER_IDLE) calling_step(w, p, now_us);
    else if (!closing && now_us >= p->act_us && gh_lock_poll(&p->lock) != GH_PENDING) wish(w, p, now_us);

    /* Also what was just decided on: its request goes out at the end of this very frame. */
    bool calls = p->state != PLAYER_LOCKING && p->state != PLAYER_IDLE;
    if (calls && !p->asking && !w->gone && now_us >= p->act_us)
    {
        gh_status status = ask(w, p);
        p->asking = status == GH_OK;
        if (!p->asking) failed(w, p, status, now_us);
    }
}

static bool is_busy(const world* w, const player* p)
{
    if (gh_lock_poll(&p->lock) == GH_PENDING) return true;
    return w->gone ? p->asking : p->state != PLAYER_IDLE;
}

void world_init(world* w, uint32_t first)
{
    for (uint32_t i = 0; i < w->player_count; i++)
    {
        w->players[i].self = first + i;
    }
}

void world_frame(world* w, uint64_t now_us, bool closing)
{
    w->busy = 0;
    for (uint32_t i = 0; i < w->player_count; i++)
    {
        player* p = &w->players[i];
        player_step(w, p, now_us, closing);
        if (w->gone) give_lock_back(w, p);
        w->busy += is_busy(w, p);
    }
}
