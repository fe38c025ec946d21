/* trade_steps.h -- the request of each state of trade.h, asked again until the store has answered. */

#ifndef GAME_SERVER_TRADE_STEPS_H
#define GAME_SERVER_TRADE_STEPS_H

#include "server/trader.h"

void trader_step(trade_floor* f, trader* p, uint64_t now_us);

#endif
