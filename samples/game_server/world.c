#include "world.h"

#define THINK_MIN_US 200000u /* a player acts about once a second */
#define THINK_MAX_US 1500000u
#define AGAIN_US 200000u     /* pause before what must be done is tried again */
#define PRICE_MAX 100u

/* splitmix64: one multiplication short of being a good hash, and good enough for players. */
static uint32_t pick(world* w, uint32_t below)
{
    uint64_t x = w->random += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return (uint32_t)(((x >> 32) * below) >> 32);
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

/* -----------------------------------------------------------------------------------------------------------
   Wishes: what an idle player begins. A begin that is refused is a wish given up; nothing has happened then. */

/* Something from the player's bag, the search beginning anywhere. */
static bool find_to_sell(world* w, uint32_t seller, uint32_t* found)
{
    const history* h = w->history;
    uint32_t start = pick(w, h->item_count);
    for (uint32_t i = 0; i < h->item_count; i++)
    {
        uint32_t at = (start + i) % h->item_count;
        if (h->items[at].holder == seller && h->items[at].price == 0)
        {
            *found = at;
            return true;
        }
    }
    return false;
}

static gh_status wish(world* w, player* p, uint32_t self)
{
    p->trade = (market_trade){.seller = self, .buyer = self};
    if (pick(w, 2) == 0 && find_to_sell(w, self, &p->trade.item))
    {
        p->trade.price = 1 + pick(w, PRICE_MAX);
        p->state = PLAYER_LISTING;
        return market_list(w->market, &p->call, &p->trade);
    }
    p->state = PLAYER_BROWSING;
    return market_browse(w->market, &p->call);
}

/* One of the offers seen, not the player's own. */
static bool choose(world* w, player* p, uint32_t self)
{
    market_trade offers[MARKET_BROWSE_MAX];
    uint32_t count = market_offers(&p->call, offers);
    if (count == 0) return false;
    p->trade = offers[pick(w, count)];
    p->trade.buyer = self;
    return p->trade.seller != self;
}

static gh_status want_lock(world* w, player* p, uint64_t now_us)
{
    gh_lock_config want = gh_lock_config_default();
    want.lease_us = 3000000;
    want.wait_us = 2000000;
    p->state = PLAYER_LOCKING;
    p->since_us = now_us;
    p->waited = false;
    return gh_lock_begin(&p->lock, w->market->client, market_lock_name(w->market, p->trade.item, p->lock_name), &want);
}

/* -----------------------------------------------------------------------------------------------------------
   Outcomes */

static void release(player* p)
{
    gh_lock_release(&p->lock); /* nothing happens if it was never wanted, or is lost */
    p->state = PLAYER_RELEASING;
}

/* The store has spoken about the deed of p->call.id. */
static void conclude(world* w, player* p, int64_t answer)
{
    world_counts* counts = &w->counts;
    bool listing = p->trade.seller == p->trade.buyer;
    if (answer > 0)
    {
        history_add(w->history, p->call.id, answer, &p->trade);
        counts->listings += listing;
        counts->trades += !listing;
    }
    switch (answer)
    {
    case MARKET_VOID: history_add(w->history, p->call.id, 0, &p->trade); break;
    case MARKET_GONE: w->gone = true; break;
    case MARKET_SOLD:
    case MARKET_PRICE: counts->too_late++; break;
    case MARKET_POOR:
    case MARKET_BAG_FULL: counts->declined++; break;
    case MARKET_NOT_YOURS: counts->contradicted++; break;
    default: break;
    }
    release(p);
}

/* The call of a deed has ended without the store's word. Not done is not done; everything else has to be asked about,
   FENCED too: it may be the answer to a repeat, after the first request was carried out and its answer was lost. */
static void settle(world* w, player* p, gh_status status, uint64_t now_us)
{
    count_ending(w, status);
    if (status == GH_TIMEOUT || status == GH_CANCELLED)
    {
        release(p);
        return;
    }
    p->state = PLAYER_SETTLING;
    p->asking = false;
    p->act_us = now_us;
}

/* For the calls that must succeed in the end. True once this one has; if not, it is begun again after a pause. */
static bool insist(world* w, player* p, uint64_t now_us)
{
    if (p->asking)
    {
        gh_status status = gh_command_poll(&p->call.op);
        if (status == GH_OK) return true;
        if (status == GH_PENDING) return false;
        count_ending(w, status);
        p->asking = false;
        p->act_us = now_us + AGAIN_US;
    }
    if (now_us >= p->act_us)
    {
        uint32_t self = (uint32_t)(p - w->players);
        uint32_t each = w->items_each;
        gh_status status = p->state == PLAYER_ENTERING
                               ? market_enter(w->market, &p->call, self, w->gold_each, self * each, each)
                               : market_settle(w->market, &p->call);
        p->asking = status == GH_OK;
        count_ending(w, status);
        p->act_us = now_us + AGAIN_US;
    }
    return false;
}

/* -----------------------------------------------------------------------------------------------------------
   The player's states */

static void locking_step(world* w, player* p, uint64_t now_us)
{
    gh_status status = gh_lock_poll(&p->lock);
    if (status == GH_PENDING)
    {
        p->waited = p->waited || p->lock.position > 0;
        return;
    }
    if (status != GH_OK)
    {
        count_ending(w, status);
        rest(w, p, now_us);
        return;
    }
    w->counts.grants++;
    if (p->waited)
    {
        w->counts.waits++;
        histogram_add(&w->wait_us, now_us - p->since_us);
    }
    status = market_buy(w->market, &p->call, &p->trade, gh_lock_fence(&p->lock));
    count_ending(w, status);
    p->state = PLAYER_BUYING;
    if (status != GH_OK) release(p);
}

static void player_step(world* w, player* p, uint64_t now_us, bool closing)
{
    uint32_t self = (uint32_t)(p - w->players);
    gh_status status;
    switch (p->state)
    {
    case PLAYER_ENTERING:
        if (!p->asking && closing) break; /* nothing of this player is in the store, or it does not matter */
        if (!insist(w, p, now_us)) break;
        history_enter(w->history, self, w->gold_each, w->items_each);
        rest(w, p, now_us);
        break;

    case PLAYER_IDLE:
        if (closing || now_us < p->act_us) break;
        status = wish(w, p, self);
        count_ending(w, status);
        if (status != GH_OK) rest(w, p, now_us);
        break;

    case PLAYER_BROWSING:
        status = gh_command_poll(&p->call.op);
        if (status == GH_PENDING) break;
        count_ending(w, status);
        if (status == GH_OK && choose(w, p, self)) status = want_lock(w, p, now_us);
        if (p->state == PLAYER_LOCKING) count_ending(w, status);
        if (p->state != PLAYER_LOCKING || status != GH_OK) rest(w, p, now_us);
        break;

    case PLAYER_LOCKING: locking_step(w, p, now_us); break;

    case PLAYER_LISTING:
    case PLAYER_BUYING:
        status = gh_command_poll(&p->call.op);
        if (status == GH_OK) conclude(w, p, market_reply(&p->call));
        else if (status != GH_PENDING) settle(w, p, status, now_us);
        break;

    case PLAYER_SETTLING:
        if (insist(w, p, now_us)) conclude(w, p, market_reply(&p->call));
        break;

    case PLAYER_RELEASING:
        status = gh_lock_poll(&p->lock);
        if (status == GH_PENDING) break;
        count_ending(w, status); 
        rest(w, p, now_us);
        break;
    }
}

void world_frame(world* w, uint64_t now_us, bool closing)
{
    w->busy = 0;
    for (uint32_t i = 0; i < w->player_count; i++)
    {
        player_step(w, &w->players[i], now_us, closing);
        w->busy += w->players[i].state != PLAYER_IDLE;
    }
}
