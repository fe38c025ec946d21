/* market_steps.h -- one request for each step of market.h.

   market_..(m, &call, ..) --> poll call.op until it is GH_OK --> market_replies.h */

#ifndef GAME_SERVER_MARKET_STEPS_H
#define GAME_SERVER_MARKET_STEPS_H

#include "market/market.h"

/* Each begins a call and returns what gh_command_begin returned; poll call->op.
   open answers DONE or MISMATCH. enter makes the purse if there is none, and answers it with what is in the
   bag. */
gh_status market_open(market* m, market_call* call);
gh_status market_enter(market* m, market_call* call, uint32_t player);
gh_status market_open_item(market* m, market_call* call, uint32_t item, uint32_t holder);

/* Of an item that the player does not have any more. */
gh_status market_forget(market* m, market_call* call, uint32_t player, uint32_t item);

/* trade->version is the item's before it is listed; the offer has the next one. take_back: of an offer that
   nobody took; REFUSED: it was sold, or it is another offer by now. Asked again it answers DONE again, also
   when the seller has listed the item anew since. browse: draw, any number, says where the page begins. */
gh_status market_list(market* m, market_call* call, const market_trade* trade);
gh_status market_take_back(market* m, market_call* call, const market_trade* offer);
gh_status market_show(market* m, market_call* call, const market_trade* offer);
gh_status market_hide(market* m, market_call* call, const market_trade* offer);
gh_status market_browse(market* m, market_call* call, uint32_t draw);

/* The steps of a purchase. player: the fence of the buyer's lock; item: of the item's, NULL for
   MARKET_SCRIPT. settle answers the gold that is left. */
gh_status market_take(market* m, market_call* call, const market_trade* trade, const gh_fence* player);
gh_status market_sell(market* m, market_call* call, const market_trade* trade, const gh_fence* item);
gh_status market_pay(market* m, market_call* call, const market_trade* trade);
gh_status market_deliver(market* m, market_call* call, const market_trade* trade);
gh_status market_settle(market* m, market_call* call, const market_trade* trade, bool bought,
                        const gh_fence* player);

/* To look, and for the audit. */
gh_status market_read_purse(market* m, market_call* call, uint32_t player);
gh_status market_read_item(market* m, market_call* call, uint32_t item);

#endif
