/* market_call.c -- a request of market_steps.c is put together: its keys, its arguments, and off it goes. */

#include "market/market_call.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- Keys ---------------------------------------------------------------------------------------------- */

static void begin_keys(market_call* call)
{
    call->argument_count = 0;
    call->key_count = 0;
}

static void add_key(market_call* call, const char* head, const char* part)
{
    char* text = call->key_texts[call->key_count];
    snprintf(text, sizeof call->key_texts[0], "%s:market%s", head, part);
    call->keys[call->key_count++] = gh_str_of(text);
}

/* In the slot of its lock, so that a script can look at the fence and write in one step. */
static void add_locked_key(market_call* call, const market* m, gh_str lock_name, const char* part)
{
    char tag[GH_LOCK_TAG_SIZE_MAX];
    gh_lock_tag(m->client, lock_name, tag, sizeof tag);
    add_key(call, tag, part);
}

void call_market_key(const market* m, market_call* call, const char* part)
{
    begin_keys(call);
    add_key(call, m->world, part);
}

void call_purse_key(const market* m, market_call* call, uint32_t player)
{
    char name[GH_NAME_SIZE_MAX + 1];
    begin_keys(call);
    add_locked_key(call, m, market_player_lock_name(player, name), ":purse");
}

void call_add_bag_key(const market* m, market_call* call, uint32_t player)
{
    char name[GH_NAME_SIZE_MAX + 1];
    add_locked_key(call, m, market_player_lock_name(player, name), ":bag");
}

void call_bag_key(const market* m, market_call* call, uint32_t player)
{
    begin_keys(call);
    call_add_bag_key(m, call, player);
}

void call_item_key(const market* m, market_call* call, uint32_t item)
{
    char name[GH_NAME_SIZE_MAX + 1];
    begin_keys(call);
    add_locked_key(call, m, market_item_lock_name(item, name), ":item");
}

/* ---- Requests ------------------------------------------------------------------------------------------ */

void call_add_text(market_call* call, const char* text)
{
    char* copy = call->texts[call->argument_count]; /* has to live as long as the call */
    snprintf(copy, sizeof call->texts[0], "%s", text);
    call->arguments[call->argument_count++] = gh_str_of(copy);
}

void call_add_number(market_call* call, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    call_add_text(call, text);
}

void call_add_sale(market_call* call, const market_trade* trade)
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu32 " %" PRId64, trade->buyer, trade->number);
    call_add_text(call, text);
}

void call_add_offer(market_call* call, const market_trade* offer)
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu32 " %" PRIu32 " %" PRId64, offer->item, offer->seller, offer->version);
    call_add_text(call, text);
}

static gh_command_config repeatable(market_call* call)
{
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_SAFE; /* every call of this file is, see market.h */
    config.reply_memory = call->reply;
    config.reply_size = sizeof call->reply;
    return config;
}

gh_status call_begin_script(market* m, market_call* call, market_script script, const gh_fence* fence)
{
    gh_command_config config = repeatable(call);
    if (fence != NULL) config.fence = *fence;
    return gh_script_begin(&call->op, m->client, &m->scripts[script], call->keys, call->key_count, call->arguments,
                           call->argument_count, &config);
}

gh_status call_begin_command(market* m, market_call* call)
{
    gh_command_config config = repeatable(call);
    return gh_command_begin(&call->op, m->client, call->arguments, call->argument_count, &config);
}

void call_command(market_call* call, const char* name)
{
    call->arguments[0] = gh_str_of(name);
    call->arguments[1] = call->keys[0];
    call->argument_count = 2;
}
