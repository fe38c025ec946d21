/* market_replies.c -- what the store has answered to the steps of market.h. */

#include "market/market_replies.h"

/* Takes a number of at most 18 digits and the space behind it off the front of text. */
static bool take_number(gh_str* text, int64_t* number)
{
    size_t i = 0;
    int64_t value = 0;
    while (i < text->size && i < 18 && text->bytes[i] >= '0' && text->bytes[i] <= '9')
    {
        value = value * 10 + (text->bytes[i++] - '0');
    }
    if (i == 0 || (i < text->size && text->bytes[i] != ' ')) return false;
    *number = value;
    i += i < text->size;
    *text = gh_str_make(text->bytes + i, text->size - i);
    return true;
}

static bool take_id(gh_str* text, uint32_t* id)
{
    int64_t number;
    if (!take_number(text, &number) || number > UINT32_MAX) return false;
    *id = (uint32_t)number;
    return true;
}

static bool is_number(gh_str text, int64_t* number)
{
    return take_number(&text, number) && text.size == 0;
}

static bool is_id(gh_str text, uint32_t* id)
{
    return take_id(&text, id) && text.size == 0;
}

int64_t market_number(const market_call* call)
{
    const gh_reply* reply = gh_command_reply(&call->op);
    int64_t number;
    if (reply != NULL && reply->type == GH_REPLY_INTEGER) return reply->integer;
    if (reply != NULL && reply->type == GH_REPLY_STRING && is_number(reply->text, &number)) return number;
    return MARKET_MISSING;
}

uint32_t market_offers(const market_call* call, market_trade out[MARKET_BROWSE_MAX])
{
    uint32_t count = 0;
    const gh_reply* reply = gh_command_reply(&call->op);
    const gh_reply* offer = reply == NULL ? NULL : reply->first;
    for (; offer != NULL && offer->next != NULL && count < MARKET_BROWSE_MAX; offer = offer->next->next)
    {
        market_trade trade = {0};
        gh_str text = offer->text;
        bool good = take_id(&text, &trade.item) && take_id(&text, &trade.seller);
        good = good && is_number(text, &trade.version) && is_number(offer->next->text, &trade.price);
        good = good && trade.item < MARKET_ITEMS_MAX && trade.seller < MARKET_PLAYERS_MAX && trade.price > 0;
        if (good) out[count++] = trade;
    }
    return count;
}

/* The texts of an array of at least that many strings, or exactly. */
static bool texts_of(const market_call* call, gh_str* texts, uint32_t count, bool exactly)
{
    const gh_reply* reply = gh_command_reply(&call->op);
    if (reply == NULL || reply->type != GH_REPLY_ARRAY || reply->count < count) return false;
    if (exactly && reply->count > count) return false;
    const gh_reply* value = reply->first;
    for (uint32_t i = 0; i < count; i++, value = value->next)
    {
        if (value == NULL || value->type != GH_REPLY_STRING) return false;
        texts[i] = value->text;
    }
    return true;
}

/* "price item seller version", or nothing. */
static bool hold_of(gh_str text, market_purse* purse)
{
    market_trade* held = &purse->held;
    if (text.size == 0) return true;
    if (!take_number(&text, &held->price) || !take_id(&text, &held->item)) return false;
    if (!take_id(&text, &held->seller) || !is_number(text, &held->version)) return false;
    held->number = purse->number;
    purse->hold = held->price;
    return held->item < MARKET_ITEMS_MAX && held->seller < MARKET_PLAYERS_MAX;
}

bool market_purse_of(const market_call* call, market_purse* purse)
{
    gh_str texts[5];
    *purse = (market_purse){0};
    if (!texts_of(call, texts, 5, false)) return false;
    if (!is_number(texts[0], &purse->gold) || !is_number(texts[1], &purse->earned)) return false;
    if (!is_number(texts[2], &purse->spent) || !is_number(texts[3], &purse->number)) return false;
    return hold_of(texts[4], purse);
}

uint32_t market_hints(const market_call* call, uint32_t items[MARKET_HINTS_MAX])
{
    uint32_t count = 0;
    const gh_reply* value = gh_reply_at(gh_command_reply(&call->op), 5);
    for (; value != NULL && count < MARKET_HINTS_MAX; value = value->next)
    {
        bool good = value->type == GH_REPLY_STRING && is_id(value->text, &items[count]);
        count += good && items[count] < MARKET_ITEMS_MAX;
    }
    return count;
}

bool market_item_of(const market_call* call, market_item* item)
{
    gh_str texts[4];
    *item = (market_item){0};
    if (!texts_of(call, texts, 4, true)) return false;
    if (!is_number(texts[0], &item->version) || !is_number(texts[1], &item->price)) return false;
    if (!is_id(texts[2], &item->holder)) return false;
    item->sold = texts[3].size > 0;
    return !item->sold || (take_id(&texts[3], &item->buyer) && is_number(texts[3], &item->number));
}
