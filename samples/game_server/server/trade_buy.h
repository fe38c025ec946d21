/* trade_buy.h -- a player buys: the lock of the item, and the steps of market.h, one after the other. */

#ifndef GAME_SERVER_TRADE_BUY_H
#define GAME_SERVER_TRADE_BUY_H

#include "server/trader.h"

/* What BUY asks for. False: it makes no sense, and nothing has happened. */
bool trader_buy(trade_floor* f, trader* p, const message* m);

void trader_looked(trade_floor* f, trader* p);
void trader_took(trade_floor* f, trader* p, bool done);
void trader_sold(trade_floor* f, trader* p, bool done);
gh_status trader_tell_seller(trade_floor* f, trader* p); /* the task that pays and tells */
void trader_settled(trade_floor* f, trader* p);
void trader_purchase_over(trade_floor* f, trader* p);

#endif
