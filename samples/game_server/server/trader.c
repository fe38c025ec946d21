/* trader.c -- a player's state, and the words to it. */

#include "server/trader.h"

#define PRICE_MAX 1000000

/* ---- States -------------------------------------------------------------------------------------------- */

void trader_go(trader* p, trader_state state)
{
    p->state = state;
    p->again_us = 0;
}

/* Nothing is under way: that is when things can come back to the bag, and when a player can leave. */
void trader_rest(trader* p)
{
    trader_state rest = p->leaving ? TRADER_COUNTING : TRADER_IDLE;
    trader_go(p, p->return_count > 0 ? TRADER_RETURNING : rest);
}

/* ---- Words to the player ------------------------------------------------------------------------------- */

void trade_tally_add(trade_floor* f, trade_tally tally)
{
    if (f->tallies[tally] != NULL) ++*f->tallies[tally];
}

void trader_tell(trade_floor* f, const trader* p, const message* m)
{
    message numbered = *m;
    numbered.number = p->request;
    network_send(f->network, p->slot, &numbered);
}

void trader_sorry(trade_floor* f, const trader* p, sorry_reason reason, const char* why)
{
    trader_tell(f, p, &(message){.type = MESSAGE_SORRY, .values = {reason}, .text = gh_str_of(why)});
}

void trader_sorry_for(trade_floor* f, const trader* p, const message* m, sorry_reason reason, const char* why)
{
    network_send(f->network, p->slot,
                 &(message){.type = MESSAGE_SORRY, .number = m->number, .values = {reason}, .text = gh_str_of(why)});
}

void trader_drop_waiting(trade_floor* f, trader* p, sorry_reason reason, const char* why)
{
    if (p->waiting.type != 0) trader_sorry_for(f, p, &p->waiting, reason, why);
    p->waiting = (message){0};
}

/* ---- Trades -------------------------------------------------------------------------------------------- */

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

bool trade_is_item(int64_t item)
{
    return item >= 0 && item < MARKET_ITEMS_MAX;
}

bool trade_is_price(int64_t price)
{
    return price >= 1 && price <= PRICE_MAX;
}
