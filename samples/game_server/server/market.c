/* market.c -- the steps of market.h as requests: keys, arguments, and which script. */

#include "market.h"

#include <inttypes.h>
#include <stdio.h>

#include "market_scripts.h"

void market_init(market* m, gh_client* client, const char* world, market_guard guard)
{
    *m = (market){.client = client, .guard = guard};
    snprintf(m->world, sizeof m->world, "%s", world);
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

static gh_str item_lock_name(uint32_t item, char out[GH_NAME_SIZE_MAX + 1])
{
    snprintf(out, GH_NAME_SIZE_MAX + 1, "item:%" PRIu32, item);
    return gh_str_of(out);
}

gh_str market_lock_name(const market* m, uint32_t item, char out[GH_NAME_SIZE_MAX + 1])
{
    if (m->guard != MARKET_COARSE) return item_lock_name(item, out);
    snprintf(out, GH_NAME_SIZE_MAX + 1, "market");
    return gh_str_of(out);
}

gh_str market_player_lock_name(uint32_t player, char out[GH_NAME_SIZE_MAX + 1])
{
    snprintf(out, GH_NAME_SIZE_MAX + 1, "player:%" PRIu32, player);
    return gh_str_of(out);
}

static void begin_keys(market_call* call)
{
    call->argument_count = 0;
    call->key_count = 0;
}

static void add_key(market_call* call, const market* m, const char* tag, const char* part)
{
    char* text = call->key_texts[call->key_count];
    snprintf(text, sizeof call->key_texts[0], "%s:market%s%s%s", m->world, tag[0] == '\0' ? "" : ":", tag,
             part);
    call->keys[call->key_count++] = gh_str_of(text);
}

/* In the slot of its lock, so that a script can look at the fence and write in one step. */
static void add_locked_key(market_call* call, const market* m, gh_str lock_name, const char* part)
{
    char tag[GH_LOCK_TAG_SIZE_MAX + 1];
    tag[gh_lock_tag(lock_name, tag, sizeof tag - 1)] = '\0';
    add_key(call, m, tag, part);
}

static void market_key(const market* m, market_call* call, const char* part)
{
    begin_keys(call);
    add_key(call, m, "", part);
}

static void purse_key(const market* m, market_call* call, uint32_t player)
{
    char name[GH_NAME_SIZE_MAX + 1];
    begin_keys(call);
    add_locked_key(call, m, market_player_lock_name(player, name), ":purse");
}

static void add_bag_key(const market* m, market_call* call, uint32_t player)
{
    char name[GH_NAME_SIZE_MAX + 1];
    add_locked_key(call, m, market_player_lock_name(player, name), ":bag");
}

static void item_key(const market* m, market_call* call, uint32_t item)
{
    char name[GH_NAME_SIZE_MAX + 1];
    begin_keys(call);
    add_locked_key(call, m, item_lock_name(item, name), ":item");
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
    return gh_script_begin(&call->op, m->client, &m->scripts[script], call->keys, call->key_count,
                           call->arguments, call->argument_count, &config);
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
    call->arguments[1] = call->keys[0];
    call->argument_count = 2;
}

/* ---- Opening ------------------------------------------------------------------------------------------- */

gh_status market_open(market* m, market_call* call)
{
    market_key(m, call, "");
    add_text(call, market_guard_name(m->guard));
    add_number(call, MARKET_ITEMS_EACH);
    add_number(call, MARKET_GOLD_EACH);
    return begin_script(m, call, MARKET_OPEN, NULL);
}

gh_status market_enter(market* m, market_call* call, uint32_t player)
{
    purse_key(m, call, player);
    add_bag_key(m, call, player);
    add_number(call, MARKET_GOLD_EACH);
    add_number(call, (int64_t)player * MARKET_ITEMS_EACH);
    add_number(call, (int64_t)(player + 1) * MARKET_ITEMS_EACH - 1);
    add_number(call, MARKET_HINTS_MAX);
    return begin_script(m, call, MARKET_ENTER, NULL);
}

gh_status market_open_item(market* m, market_call* call, uint32_t item, uint32_t holder)
{
    item_key(m, call, item);
    add_number(call, holder);
    return begin_script(m, call, MARKET_OPEN_ITEM, NULL);
}

gh_status market_forget(market* m, market_call* call, uint32_t player, uint32_t item)
{
    begin_keys(call);
    add_bag_key(m, call, player);
    add_command(call, "ZREM");
    add_number(call, item);
    return begin_command(m, call);
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

gh_status market_take_back(market* m, market_call* call, const market_trade* offer)
{
    item_key(m, call, offer->item);
    add_number(call, offer->version);
    add_number(call, offer->seller);
    return begin_script(m, call, MARKET_TAKE_BACK, NULL);
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

gh_status market_browse(market* m, market_call* call, uint32_t draw)
{
    market_key(m, call, ":offers");
    add_number(call, draw);
    add_number(call, MARKET_BROWSE_MAX);
    return begin_script(m, call, MARKET_BROWSE, NULL);
}

/* ---- Buying -------------------------------------------------------------------------------------------- */

gh_status market_take(market* m, market_call* call, const market_trade* trade, const gh_fence* player)
{
    purse_key(m, call, trade->buyer);
    add_number(call, trade->number);
    add_number(call, trade->price);
    add_offer(call, trade);
    return begin_script(m, call, MARKET_TAKE, player);
}

gh_status market_sell(market* m, market_call* call, const market_trade* trade, const gh_fence* item)
{
    item_key(m, call, trade->item);
    add_number(call, trade->version);
    add_number(call, trade->price);
    add_number(call, trade->seller);
    add_sale(call, trade);
    add_number(call, trade->buyer);
    return begin_script(m, call, MARKET_SELL, item);
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

gh_status market_settle(market* m, market_call* call, const market_trade* trade, bool bought,
                        const gh_fence* player)
{
    purse_key(m, call, trade->buyer);
    add_bag_key(m, call, trade->buyer);
    add_number(call, trade->number);
    add_text(call, bought ? "spent" : "gold");
    add_number(call, trade->item);
    add_number(call, trade->version + 2);
    return begin_script(m, call, MARKET_SETTLE, player);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

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
