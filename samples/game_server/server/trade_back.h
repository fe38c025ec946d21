/* trade_back.h -- what nobody bought comes back into the bag of a player who is here: mail says so, and the
   store is asked whether it is still so. */

#ifndef GAME_SERVER_TRADE_BACK_H
#define GAME_SERVER_TRADE_BACK_H

#include "server/trader.h"

/* A letter of the market, as trade_letter has it. A player at rest is not any more, if it says that something
   has come back. */
void trader_letter(trader* p, gh_str words);

void trader_returned(trade_floor* f, trader* p);

#endif
