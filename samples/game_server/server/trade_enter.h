/* trade_enter.h -- a player comes in: the purse, a purchase that another session left, the bag; and goes. */

#ifndef GAME_SERVER_TRADE_ENTER_H
#define GAME_SERVER_TRADE_ENTER_H

#include "server/trader.h"

void trader_entered(trader* p);
void trader_found(trader* p);
void trader_forgot(trader* p);
void trader_next_hint(trader* p);
void trader_all_found(trader* p);
void trader_counted(trader* p);

#endif
