/* trade_sell.h -- a player looks at the offers, or makes one. */

#ifndef GAME_SERVER_TRADE_SELL_H
#define GAME_SERVER_TRADE_SELL_H

#include "server/trader.h"

void trader_tell_offers(trade_floor* f, trader* p);

/* What SELL asks for. False: it makes no sense, and nothing has happened. */
bool trader_sell(trader* p, const message* m);

void trader_seen(trade_floor* f, trader* p);
void trader_listed(trade_floor* f, trader* p, bool done);
gh_status trader_post(trade_floor* f, trader* p); /* the tasks that open and end the offer */
void trader_offer_shown(trade_floor* f, trader* p);

#endif
