/* trade.c -- who trades, what they ask for, and who is to be looked at in a frame. */

#include "server/trader.h"

#include <stdio.h>
#include <stdlib.h>

#define PRICE_MAX    1000000
#define DELAY_MAX_MS 3600000

/* ---- Open and close ------------------------------------------------------------------------------------ */

trade* trade_open(const trade_config* config)
{
    static const char* const names[TRADE_TALLIES] = {"trade.listed", "trade.bought",  "trade.too late",
                                                     "trade.poor",   "trade.refunds", "trade.finished",
                                                     "trade.fenced", "trade.again"};
    trade* t = calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    t->config = *config;
    t->traders = calloc(config->players_max, sizeof *t->traders);
    t->busy = calloc(config->players_max, sizeof *t->busy);
    if (t->traders == NULL || t->busy == NULL)
    {
        trade_close(t);
        return NULL;
    }
    /* Touched now, not in the first busy frame. */
    for (uint32_t slot = 0; slot < config->players_max; slot++) t->traders[slot] = (trader){.slot = slot};
    for (int i = 0; i < TRADE_TALLIES; i++) t->tallies[i] = board_count_of(config->row, names[i]);
    return t;
}

void trade_close(trade* t)
{
    free(t->busy);
    free(t->traders);
    free(t);
}

/* ---- Words to the player ------------------------------------------------------------------------------- */

void trade_tally_add(trade* t, trade_tally tally)
{
    if (t->tallies[tally] != NULL) ++*t->tallies[tally];
}

void trade_tell(trade* t, const trader* p, const message* m)
{
    message numbered = *m;
    numbered.number = p->request;
    network_send(t->config.network, p->slot, &numbered);
}

void trade_sorry(trade* t, const trader* p, sorry_reason reason, const char* why)
{
    trade_tell(t, p, &(message){.type = MESSAGE_SORRY, .values = {reason}, .text = gh_str_of(why)});
}

/* ---- The bag ------------------------------------------------------------------------------------------- */

/* What does not fit stays the player's in the store, for another time. */
bool bag_add(trader* p, uint32_t item, int64_t version)
{
    if (p->bag_count == TRADE_BAG_MAX) return false;
    p->bag[p->bag_count++] = (trade_item){.item = item, .version = version};
    return true;
}

bool bag_has(const trader* p, uint32_t item)
{
    for (uint32_t i = 0; i < p->bag_count; i++)
        if (p->bag[i].item == item) return true;
    return false;
}

bool bag_take(trader* p, uint32_t item, int64_t* version)
{
    for (uint32_t i = 0; i < p->bag_count; i++)
    {
        if (p->bag[i].item != item) continue;
        *version = p->bag[i].version;
        p->bag[i] = p->bag[--p->bag_count];
        return true;
    }
    return false;
}

/* ---- Coming and going ---------------------------------------------------------------------------------- */

void trade_wake(trade* t, trader* p)
{
    if (!p->busy) t->busy[t->busy_count++] = p->slot;
    p->busy = true;
}

void trade_enter(trade* t, uint32_t slot, uint32_t player, const gh_fence* player_lock)
{
    trader* p = &t->traders[slot];
    *p = (trader){.slot = slot, .self = player, .player_lock = *player_lock};
    trader_go(p, TRADER_ENTERING);
    trade_wake(t, p);
}

bool trade_is_in(const trade* t, uint32_t slot)
{
    return t->traders[slot].in;
}

void trade_leave(trade* t, uint32_t slot, bool lost)
{
    trader* p = &t->traders[slot];
    if (p->state == TRADER_AWAY) return;
    p->leaving = true;
    p->abandoned = p->abandoned || lost;
    trade_drop_waiting(t, p, SORRY_BUSY, "the player leaves");
    if (p->state == TRADER_IDLE) trader_rest(p);
    trade_wake(t, p);
}

bool trade_is_busy(const trade* t, uint32_t slot)
{
    return t->traders[slot].busy;
}

trade_view trade_look(const trade* t, uint32_t slot)
{
    const trader* p = &t->traders[slot];
    return (trade_view){.gold = p->gold, .hold = p->hold, .bag = p->bag, .bag_count = p->bag_count};
}

/* ---- Requests ------------------------------------------------------------------------------------------ */

static bool is_within(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

static bool is_market_item(int64_t item)
{
    return is_within(item, 0, MARKET_ITEMS_MAX - 1);
}

static bool sell(trader* p, const message* m)
{
    const int64_t* v = m->values;
    if (!is_market_item(v[0]) || !is_within(v[1], 1, PRICE_MAX)) return false;
    if (!is_within(v[2], 0, DELAY_MAX_MS) || !is_within(v[3], 0, DELAY_MAX_MS)) return false;
    p->trade = (market_trade){.item = (uint32_t)v[0], .price = v[1], .seller = p->self};
    p->opens_ms = (uint64_t)v[2];
    p->ends_ms = (uint64_t)v[3];
    trader_go(p, bag_take(p, p->trade.item, &p->trade.version) ? TRADER_LISTING : TRADER_SEEING);
    return true;
}

static bool buy(trade* t, trader* p, const message* m)
{
    const int64_t* v = m->values;
    if (!is_market_item(v[0]) || !is_within(v[1], 1, INT64_MAX / 2)) return false;
    if (!is_within(v[2], 1, PRICE_MAX) || !is_within(v[3], 0, MARKET_PLAYERS_MAX - 1)) return false;
    if (v[3] == p->self) return false;
    p->trade = (market_trade){.item = (uint32_t)v[0], .version = v[1], .price = v[2]};
    p->trade.seller = (uint32_t)v[3];
    p->trade.buyer = p->self;
    p->sorry = 0;
    if (p->bag_count == TRADE_BAG_MAX) trade_sorry(t, p, SORRY_BUSY, "the bag is full");
    else trader_want_lock(p);
    return true;
}

static void sorry_for(trade* t, const trader* p, const message* m, sorry_reason reason, const char* why)
{
    network_send(t->config.network, p->slot,
                 &(message){.type = MESSAGE_SORRY, .number = m->number, .values = {reason}, .text = gh_str_of(why)});
}

void trade_drop_waiting(trade* t, trader* p, sorry_reason reason, const char* why)
{
    if (p->waiting.type != 0) sorry_for(t, p, &p->waiting, reason, why);
    p->waiting = (message){0};
}

static void begin(trade* t, trader* p, const message* m)
{
    bool makes_sense = true;
    p->request = m->number;
    if (m->type == MESSAGE_BROWSE) trader_go(p, TRADER_BROWSING);
    else if (m->type == MESSAGE_SELL) makes_sense = sell(p, m);
    else makes_sense = buy(t, p, m);
    if (!makes_sense) trade_sorry(t, p, SORRY_NONSENSE, "no such trade");
    if (p->state != TRADER_IDLE) trade_wake(t, p);
}

bool trade_message(trade* t, uint32_t slot, const message* m)
{
    trader* p = &t->traders[slot];
    bool ours = m->type == MESSAGE_BROWSE || m->type == MESSAGE_SELL || m->type == MESSAGE_BUY;
    if (!ours) return false;
    if (p->state == TRADER_IDLE) begin(t, p, m);
    else if (p->state == TRADER_RETURNING && p->waiting.type == 0)
    {
        p->waiting = (message){.type = m->type, .number = m->number};
        memcpy(p->waiting.values, m->values, sizeof m->values);
    }
    else sorry_for(t, p, m, SORRY_BUSY, "one trade at a time");
    return true;
}

static void begin_waiting(trade* t, trader* p)
{
    message waiting = p->waiting;
    p->waiting = (message){0};
    begin(t, p, &waiting);
}

/* ---- The frame ----------------------------------------------------------------------------------------- */

void trade_frame(trade* t, uint64_t now_us)
{
    for (uint32_t i = 0; i < t->busy_count;)
    {
        trader* p = &t->traders[t->busy[i]];
        trader_step(t, p, now_us);
        if (p->state == TRADER_IDLE && p->waiting.type != 0) begin_waiting(t, p);
        bool at_rest = p->state == TRADER_IDLE || p->state == TRADER_AWAY;
        p->busy = !at_rest || gh_op_poll(&p->lock.op) == GH_PENDING;
        if (p->busy) i++;
        else t->busy[i] = t->busy[--t->busy_count];
    }
}
