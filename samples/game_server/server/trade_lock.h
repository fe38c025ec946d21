/* trade_lock.h -- the lock of the item that a player buys, unless the market is guarded by scripts alone. */

#ifndef GAME_SERVER_TRADE_LOCK_H
#define GAME_SERVER_TRADE_LOCK_H

#include "server/trader.h"

void trader_want_lock(trader* p);
void trader_locking_step(trade_floor* f, trader* p, uint64_t now_us);
void trader_give_lock_back(trader* p);

#endif
