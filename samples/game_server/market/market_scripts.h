/* market_scripts.h -- what the store does in each step of market.h. For market/ alone.

   Each looks at everything before it writes anything: a script that stops half way is not rolled back.
   They answer 1: done (also if it was done before), 0: refused for good, -1: the key is missing. */

#ifndef GAME_SERVER_MARKET_SCRIPTS_H
#define GAME_SERVER_MARKET_SCRIPTS_H

typedef enum market_script
{
    MARKET_OPEN = 0,
    MARKET_ENTER,
    MARKET_OPEN_ITEM,
    MARKET_BROWSE,
    MARKET_LIST,
    MARKET_TAKE_BACK,
    MARKET_TAKE,
    MARKET_SELL,
    MARKET_PAY,
    MARKET_DELIVER,
    MARKET_SETTLE,
    MARKET_SCRIPTS
} market_script;

extern const char* const market_script_texts[MARKET_SCRIPTS];

#endif
