#include "market.h"

#include <inttypes.h>
#include <stdio.h>

#include "market_scripts.h"

void market_init(market* m, gh_client* client, const char* name, market_guard guard)
{
    *m = (market){.client = client, .guard = guard};
    snprintf(m->name, sizeof m->name, "%s", name);
    for (uint32_t i = 0; i < MARKET_SCRIPTS; i++)
    {
        m->scripts[i].text = gh_str_of(market_script_texts[i]);
    }
}

const char* market_guard_name(market_guard guard)
{
    static const char* const names[] = {"coarse", "fine", "script"};
    return names[guard];
}

/* ---- Keys ---------------------------------------------------------------------------------------------- */

/* MARKET_SCRIPT never takes this lock, but its items have to live somewhere too. */
gh_str market_lock_name(const market* m, uint32_t item, char out[GH_NAME_SIZE_MAX + 1])
{
    if (m->guard == MARKET_COARSE) snprintf(out, GH_NAME_SIZE_MAX + 1, "%s", m->name);
    else snprintf(out, GH_NAME_SIZE_MAX + 1, "%s.item.%" PRIu32, m->name, item);
    return gh_str_of(out);
}

static void begin_key(market_call* call)
{
    call->argument_count = 0;
    call->key = gh_str_of(call->key_text);
}

static void market_key(const market* m, market_call* call, const char* part)
{
    snprintf(call->key_text, sizeof call->key_text, "market:{%s}%s", m->name, part);
    begin_key(call);
}

static void purse_key(const market* m, market_call* call, uint32_t player)
{
    snprintf(call->key_text, sizeof call->key_text, "market:{%s.player.%" PRIu32 "}:purse", m->name, player);
    begin_key(call);
}

/* In the slot of the item's lock, so that a script can look at the fence and sell the item in one step. */
static void item_key(const market* m, market_call* call, uint32_t item)
{
    char name[GH_NAME_SIZE_MAX + 1];
    char tag[GH_LOCK_TAG_SIZE_MAX + 1];
    size_t size = gh_lock_tag(market_lock_name(m, item, name), tag, sizeof tag - 1);
    tag[size] = '\0';
    snprintf(call->key_text, sizeof call->key_text, "market:%s:item:%" PRIu32, tag, item);
    begin_key(call);
}

/* ---- Requests ------------------------------------------------------------------------------------------ */

static void add_text(market_call* call, const char* text)
{
    char* copy = call->texts[call->argument_count]; /* has to live as long as the call */
    snprintf(copy, sizeof call->texts[0], "%s", text);
    call->arguments[call->argument_count++] = gh_str_of(copy);
}

static void add_number(market_call* call, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    add_text(call, text);
}

/* Which purchase, for the item's field sale. No other purchase ever has the same text. */
static void add_sale(market_call* call, const market_trade* trade)
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu32 " %" PRId64, trade->buyer, trade->number);
    add_text(call, text);
}

/* Which offer, for the signpost. It names the version, so a newer offer of the same item is never hidden. */
static void add_offer(market_call* call, const market_trade* offer)
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu32 " %" PRIu32 " %" PRId64, offer->item, offer->seller,
             offer->version);
    add_text(call, text);
}

static gh_command_config repeatable(market_call* call)
{
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_SAFE; /* every call of this file is, see market.h */
    config.reply_memory = call->reply;
    config.reply_size = sizeof call->reply;
    return config;
}

static gh_status begin_script(market* m, market_call* call, market_script script, const gh_fence* fence)
{
    gh_command_config config = repeatable(call);
    if (fence != NULL) config.fence = *fence;
    return gh_script_begin(&call->op, m->client, &m->scripts[script], &call->key, 1, call->arguments,
                           call->argument_count, &config);
}

static gh_status begin_command(market* m, market_call* call)
{
    gh_command_config config = repeatable(call);
    return gh_command_begin(&call->op, m->client, call->arguments, call->argument_count, &config);
}

/* The command's name and the key that was just made. */
static void add_command(market_call* call, const char* name)
{
    call->arguments[0] = gh_str_of(name);
    call->arguments[1] = call->key;
    call->argument_count = 2;
}

/* ---- Opening ------------------------------------------------------------------------------------------- */

gh_status market_join(market* m, market_call* call, uint32_t players)
{
    char server[17];
    snprintf(server, sizeof server, "%016" PRIx64, gh_client_id(m->client));
    market_key(m, call, "");
    add_text(call, server);
    add_number(call, players);
    add_text(call, market_guard_name(m->guard));
    add_number(call, MARKET_ITEMS_EACH);
    add_number(call, MARKET_GOLD_EACH);
    add_number(call, MARKET_PLAYERS_MAX);
    return begin_script(m, call, MARKET_JOIN, NULL);
}

gh_status market_open_purse(market* m, market_call* call, uint32_t player)
{
    purse_key(m, call, player);
    add_number(call, MARKET_GOLD_EACH);
    return begin_script(m, call, MARKET_OPEN_PURSE, NULL);
}

gh_status market_open_item(market* m, market_call* call, uint32_t item, uint32_t holder)
{
    item_key(m, call, item);
    add_number(call, holder);
    return begin_script(m, call, MARKET_OPEN_ITEM, NULL);
}

/* ---- Offering ------------------------------------------------------------------------------------------ */

gh_status market_list(market* m, market_call* call, const market_trade* trade)
{
    item_key(m, call, trade->item);
    add_number(call, trade->version);
    add_number(call, trade->seller);
    add_number(call, trade->price);
    return begin_script(m, call, MARKET_LIST, NULL);
}

gh_status market_show(market* m, market_call* call, const market_trade* offer)
{
    market_key(m, call, ":offers");
    add_command(call, "ZADD");
    add_number(call, offer->price);
    add_offer(call, offer);
    return begin_command(m, call);
}

gh_status market_hide(market* m, market_call* call, const market_trade* offer)
{
    market_key(m, call, ":offers");
    add_command(call, "ZREM");
    add_offer(call, offer);
    return begin_command(m, call);
}

gh_status market_browse(market* m, market_call* call)
{
    market_key(m, call, ":offers");
    add_command(call, "ZRANGE");
    add_number(call, 0);
    add_number(call, MARKET_BROWSE_MAX - 1);
    add_text(call, "WITHSCORES");
    return begin_command(m, call);
}

/* ---- Buying -------------------------------------------------------------------------------------------- */

gh_status market_take(market* m, market_call* call, const market_trade* trade)
{
    purse_key(m, call, trade->buyer);
    add_number(call, trade->number);
    add_number(call, trade->price);
    add_offer(call, trade);
    return begin_script(m, call, MARKET_TAKE, NULL);
}

gh_status market_sell(market* m, market_call* call, const market_trade* trade, const gh_fence* fence)
{
    item_key(m, call, trade->item);
    add_number(call, trade->version);
    add_number(call, trade->price);
    add_number(call, trade->seller);
    add_sale(call, trade);
    return begin_script(m, call, MARKET_SELL, fence);
}

gh_status market_pay(market* m, market_call* call, const market_trade* trade)
{
    purse_key(m, call, trade->seller);
    add_number(call, trade->item);
    add_number(call, trade->version);
    add_number(call, trade->price);
    return begin_script(m, call, MARKET_PAY, NULL);
}

gh_status market_deliver(market* m, market_call* call, const market_trade* trade)
{
    item_key(m, call, trade->item);
    add_number(call, trade->version);
    add_number(call, trade->buyer);
    add_sale(call, trade);
    return begin_script(m, call, MARKET_DELIVER, NULL);
}

gh_status market_settle(market* m, market_call* call, const market_trade* trade, bool bought)
{
    purse_key(m, call, trade->buyer);
    add_number(call, trade->number);
    add_text(call, bought ? "spent" : "gold");
    return begin_script(m, call, MARKET_SETTLE, NULL);
}

/* ---- Reading and removing ------------------------------------------------------------------------------ */

gh_status market_read_players(market* m, market_call* call)
{
    market_key(m, call, "");
    add_command(call, "HGET");
    add_text(call, "players");
    return begin_command(m, call);
}

gh_status market_read_purse(market* m, market_call* call, uint32_t player)
{
    static const char* const fields[] = {"gold", "earned", "spent", "number", "hold"};
    purse_key(m, call, player);
    add_command(call, "HMGET");
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) add_text(call, fields[i]);
    return begin_command(m, call);
}

gh_status market_read_item(market* m, market_call* call, uint32_t item)
{
    static const char* const fields[] = {"version", "price", "holder", "sale"};
    item_key(m, call, item);
    add_command(call, "HMGET");
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) add_text(call, fields[i]);
    return begin_command(m, call);
}

static gh_status unlink_key(market* m, market_call* call)
{
    add_command(call, "UNLINK");
    return begin_command(m, call);
}

gh_status market_remove(market* m, market_call* call)
{
    market_key(m, call, "");
    return unlink_key(m, call);
}

gh_status market_remove_offers(market* m, market_call* call)
{
    market_key(m, call, ":offers");
    return unlink_key(m, call);
}

gh_status market_remove_purse(market* m, market_call* call, uint32_t player)
{
    purse_key(m, call, player);
    return unlink_key(m, call);
}

gh_status market_remove_item(market* m, market_call* call, uint32_t item)
{
    item_key(m, call, item);
    return unlink_key(m, call);
}
