/* market_call.h -- a request of market_steps.c is put together in its market_call, whose texts live as long as it
   does: first the keys, then the arguments. For market_steps.c alone. */

#ifndef GAME_SERVER_MARKET_CALL_H
#define GAME_SERVER_MARKET_CALL_H

#include "market/market.h"

/* The first key. */
void call_market_key(const market* m, market_call* call, const char* part);
void call_purse_key(const market* m, market_call* call, uint32_t player);
void call_item_key(const market* m, market_call* call, uint32_t item);
void call_bag_key(const market* m, market_call* call, uint32_t player);

/* The second one. */
void call_add_bag_key(const market* m, market_call* call, uint32_t player);

/* Of a command, before its arguments: its name, and the key that was just made. */
void call_command(market_call* call, const char* name);

void call_add_text(market_call* call, const char* text);
void call_add_number(market_call* call, int64_t value);

/* Which purchase, for the item's field sale. No other purchase ever has the same text. */
void call_add_sale(market_call* call, const market_trade* trade);

/* Which offer, for the signpost. It names the version, so a newer offer of the same item is never hidden. */
void call_add_offer(market_call* call, const market_trade* offer);

/* fence: NULL for none. */
gh_status call_begin_script(market* m, market_call* call, market_script script, const gh_fence* fence);
gh_status call_begin_command(market* m, market_call* call);

#endif
