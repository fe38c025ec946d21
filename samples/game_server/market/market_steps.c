/* market_steps.c -- the steps of market.h as requests: which key, which arguments, which script. */

#include "market/market_steps.h"
#include "market/market_call.h"

/* ---- Opening ------------------------------------------------------------------------------------------- */

gh_status market_open(market* m, market_call* call)
{
    call_market_key(m, call, "");
    call_add_text(call, market_guard_name(m->guard));
    call_add_number(call, MARKET_ITEMS_EACH);
    call_add_number(call, MARKET_GOLD_EACH);
    return call_begin_script(m, call, MARKET_OPEN, NULL);
}

gh_status market_enter(market* m, market_call* call, uint32_t player)
{
    call_purse_key(m, call, player);
    call_add_bag_key(m, call, player);
    call_add_number(call, MARKET_GOLD_EACH);
    call_add_number(call, (int64_t)player * MARKET_ITEMS_EACH);
    call_add_number(call, (int64_t)(player + 1) * MARKET_ITEMS_EACH - 1);
    call_add_number(call, MARKET_HINTS_MAX);
    return call_begin_script(m, call, MARKET_ENTER, NULL);
}

gh_status market_open_item(market* m, market_call* call, uint32_t item, uint32_t holder)
{
    call_item_key(m, call, item);
    call_add_number(call, holder);
    return call_begin_script(m, call, MARKET_OPEN_ITEM, NULL);
}

gh_status market_forget(market* m, market_call* call, uint32_t player, uint32_t item)
{
    call_bag_key(m, call, player);
    call_command(call, "ZREM");
    call_add_number(call, item);
    return call_begin_command(m, call);
}

/* ---- Offering ------------------------------------------------------------------------------------------ */

gh_status market_list(market* m, market_call* call, const market_trade* trade)
{
    call_item_key(m, call, trade->item);
    call_add_number(call, trade->version);
    call_add_number(call, trade->seller);
    call_add_number(call, trade->price);
    return call_begin_script(m, call, MARKET_LIST, NULL);
}

gh_status market_take_back(market* m, market_call* call, const market_trade* offer)
{
    call_item_key(m, call, offer->item);
    call_add_number(call, offer->version);
    call_add_number(call, offer->seller);
    return call_begin_script(m, call, MARKET_TAKE_BACK, NULL);
}

gh_status market_show(market* m, market_call* call, const market_trade* offer)
{
    call_market_key(m, call, ":offers");
    call_command(call, "ZADD");
    call_add_number(call, offer->price);
    call_add_offer(call, offer);
    return call_begin_command(m, call);
}

gh_status market_hide(market* m, market_call* call, const market_trade* offer)
{
    call_market_key(m, call, ":offers");
    call_command(call, "ZREM");
    call_add_offer(call, offer);
    return call_begin_command(m, call);
}

gh_status market_browse(market* m, market_call* call, uint32_t draw)
{
    call_market_key(m, call, ":offers");
    call_add_number(call, draw);
    call_add_number(call, MARKET_BROWSE_MAX);
    return call_begin_script(m, call, MARKET_BROWSE, NULL);
}

/* ---- Buying -------------------------------------------------------------------------------------------- */

gh_status market_take(market* m, market_call* call, const market_trade* trade, const gh_fence* player)
{
    call_purse_key(m, call, trade->buyer);
    call_add_number(call, trade->number);
    call_add_number(call, trade->price);
    call_add_offer(call, trade);
    return call_begin_script(m, call, MARKET_TAKE, player);
}

gh_status market_sell(market* m, market_call* call, const market_trade* trade, const gh_fence* item)
{
    call_item_key(m, call, trade->item);
    call_add_number(call, trade->version);
    call_add_number(call, trade->price);
    call_add_number(call, trade->seller);
    call_add_sale(call, trade);
    call_add_number(call, trade->buyer);
    return call_begin_script(m, call, MARKET_SELL, item);
}

gh_status market_pay(market* m, market_call* call, const market_trade* trade)
{
    call_purse_key(m, call, trade->seller);
    call_add_number(call, trade->item);
    call_add_number(call, trade->version);
    call_add_number(call, trade->price);
    return call_begin_script(m, call, MARKET_PAY, NULL);
}

gh_status market_deliver(market* m, market_call* call, const market_trade* trade)
{
    call_item_key(m, call, trade->item);
    call_add_number(call, trade->version);
    call_add_number(call, trade->buyer);
    call_add_sale(call, trade);
    return call_begin_script(m, call, MARKET_DELIVER, NULL);
}

gh_status market_settle(market* m, market_call* call, const market_trade* trade, bool bought, const gh_fence* player)
{
    call_purse_key(m, call, trade->buyer);
    call_add_bag_key(m, call, trade->buyer);
    call_add_number(call, trade->number);
    call_add_text(call, bought ? "spent" : "gold");
    call_add_number(call, trade->item);
    call_add_number(call, trade->version + 2);
    return call_begin_script(m, call, MARKET_SETTLE, player);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

gh_status market_read_purse(market* m, market_call* call, uint32_t player)
{
    static const char* const fields[] = {"gold", "earned", "spent", "number", "hold"};
    call_purse_key(m, call, player);
    call_command(call, "HMGET");
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) call_add_text(call, fields[i]);
    return call_begin_command(m, call);
}

gh_status market_read_item(market* m, market_call* call, uint32_t item)
{
    static const char* const fields[] = {"version", "price", "holder", "sale"};
    call_item_key(m, call, item);
    call_command(call, "HMGET");
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) call_add_text(call, fields[i]);
    return call_begin_command(m, call);
}
