/* trade.c -- who trades, what they ask for, and who is to be looked at in a frame. */

#include "server/trade.h"
#include "server/trade_back.h"
#include "server/trade_buy.h"
#include "server/trade_sell.h"
#include "server/trade_steps.h"

#include <stdlib.h>

struct trade
{
    trade_floor floor;
    trader* traders; /* by slot */
    uint32_t* busy;  /* the slots of those that are */
    uint32_t busy_count;
};

/* ---- Open and close ------------------------------------------------------------------------------------ */

trade* trade_open(const trade_config* config)
{
    static const char* const names[TRADE_TALLIES] = {"trade.listed", "trade.bought",  "trade.too late",
                                                     "trade.poor",   "trade.refunds", "trade.finished",
                                                     "trade.fenced", "trade.again"};
    trade* t = calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    t->floor = (trade_floor){.client = config->client,
                             .network = config->network,
                             .social = config->social,
                             .market = config->market,
                             .random = config->random};
    t->traders = calloc(config->players_max, sizeof *t->traders);
    t->busy = calloc(config->players_max, sizeof *t->busy);
    if (t->traders == NULL || t->busy == NULL)
    {
        trade_close(t);
        return NULL;
    }
    /* Touched now, not in the first busy frame. */
    for (uint32_t slot = 0; slot < config->players_max; slot++) t->traders[slot] = (trader){.slot = slot};
    for (int i = 0; i < TRADE_TALLIES; i++) t->floor.tallies[i] = board_count_of(config->row, names[i]);
    return t;
}

void trade_close(trade* t)
{
    free(t->busy);
    free(t->traders);
    free(t);
}

/* ---- Coming and going ---------------------------------------------------------------------------------- */

static void wake(trade* t, trader* p)
{
    if (!p->busy) t->busy[t->busy_count++] = p->slot;
    p->busy = true;
}

void trade_enter(trade* t, uint32_t slot, uint32_t player, const gh_fence* player_lock)
{
    trader* p = &t->traders[slot];
    *p = (trader){.slot = slot, .self = player, .player_lock = *player_lock};
    trader_go(p, TRADER_ENTERING);
    wake(t, p);
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
    trader_drop_waiting(&t->floor, p, SORRY_BUSY, "the player leaves");
    if (p->state == TRADER_IDLE) trader_rest(p);
    wake(t, p);
}

void trade_letter(trade* t, uint32_t slot, gh_str words)
{
    trader* p = &t->traders[slot];
    trader_letter(p, words);
    if (p->state == TRADER_RETURNING) wake(t, p);
}

bool trade_is_busy(const trade* t, uint32_t slot)
{
    return t->traders[slot].busy;
}

trade_view trade_look(const trade* t, uint32_t slot)
{
    const trader* p = &t->traders[slot];
    return (trade_view){.gold = p->gold, .hold = p->hold, .bag = &p->bag};
}

/* ---- Requests ------------------------------------------------------------------------------------------ */

static void begin(trade* t, trader* p, const message* m)
{
    bool makes_sense = true;
    p->request = m->number;
    if (m->type == MESSAGE_BROWSE) trader_go(p, TRADER_BROWSING);
    else if (m->type == MESSAGE_SELL) makes_sense = trader_sell(p, m);
    else makes_sense = trader_buy(&t->floor, p, m);
    if (!makes_sense) trader_sorry(&t->floor, p, SORRY_NONSENSE, "no such trade");
    if (p->state != TRADER_IDLE) wake(t, p);
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
    else trader_sorry_for(&t->floor, p, m, SORRY_BUSY, "one trade at a time");
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
        trader_step(&t->floor, p, now_us);
        if (p->state == TRADER_IDLE && p->waiting.type != 0) begin_waiting(t, p);
        bool at_rest = p->state == TRADER_IDLE || p->state == TRADER_AWAY;
        p->busy = !at_rest || gh_op_poll(&p->lock.op) == GH_PENDING;
        if (p->busy) i++;
        else t->busy[i] = t->busy[--t->busy_count];
    }
}
