#include "market.h"

#include <inttypes.h>
#include <stdio.h>

/* -----------------------------------------------------------------------------------------------------------
   The scripts */

/* A player arrives. The first time it gets its purse and its bag; again, nothing changes. */
static const char enter_lua[] =
    "-- KEYS  1 meta  2 funds  3 inventory:<player>                         \n"
    "-- ARGV  1 player  2 gold  3.. items                                   \n"
    "redis.call('HSETNX', KEYS[1], 'day', 1)                                \n"
    "if redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2]) == 1 then           \n"
    "    redis.call('SADD', KEYS[3], unpack(ARGV, 3))                       \n"
    "end                                                                    \n"
    "return tonumber(redis.call('HGET', KEYS[2], ARGV[1]))                  \n";

/* What all deeds begin with: is the market open, and was this very deed done before? */
#define DEED_LUA                                                                  \
    "-- KEYS  1 meta  2 ledger                                              \n"   \
    "-- ARGV  1 id of the deed  2 day                                       \n"   \
    "local SOLD, PRICE, POOR, BAG_FULL = 0, -1, -2, -3                      \n"   \
    "local NOT_YOURS, VOID, GONE = -4, -5, -6                               \n"   \
    "local meta, ledger, id, day = KEYS[1], KEYS[2], ARGV[1], ARGV[2]       \n"   \
    "if redis.call('HGET', meta, 'day') ~= day then                         \n"   \
    "    return GONE                                                        \n"   \
    "end                                                                    \n"   \
    "local before = redis.call('HGET', ledger, id)                          \n"   \
    "if before then                                                         \n"   \
    "    return tonumber(string.match(before, '^%d+')) or VOID              \n"   \
    "end                                                                    \n"   \
    "local function done(...)                                               \n"   \
    "    local serial = redis.call('HINCRBY', meta, 'serial', 1)            \n"   \
    "    local words = table.concat({serial, ...}, ' ')                     \n"   \
    "    redis.call('HSET', ledger, id, words)                              \n"   \
    "    return serial                                                      \n"   \
    "end                                                                    \n"

static const char list_lua[] =
    DEED_LUA
    "-- KEYS  3 offers  4 inventory:<seller>                                \n"
    "-- ARGV  3 item  4 seller  5 price                                     \n"
    "local item, seller, price = ARGV[3], ARGV[4], ARGV[5]                  \n"
    "if redis.call('SREM', KEYS[4], item) == 0 then                         \n"
    "    return NOT_YOURS                                                   \n"
    "end                                                                    \n"
    "redis.call('ZADD', KEYS[3], price, item .. '.' .. seller)              \n"
    "return done('list', item, seller, price)                               \n";

/* Looks at everything before it writes anything: a script that stops half way is not rolled back. */
static const char buy_lua[] =
    DEED_LUA
    "-- KEYS  3 offers  4 funds  5 inventory:<buyer>                        \n"
    "-- ARGV  3 item  4 seller  5 price  6 buyer  7 bag size                \n"
    "local item, seller, buyer = ARGV[3], ARGV[4], ARGV[6]                  \n"
    "local price, bag_size = tonumber(ARGV[5]), tonumber(ARGV[7])           \n"
    "local offer = item .. '.' .. seller                                    \n"
    "local asked = redis.call('ZSCORE', KEYS[3], offer)                     \n"
    "local gold = redis.call('HGET', KEYS[4], buyer)                        \n"
    "if not asked then return SOLD end                                      \n"
    "if tonumber(asked) ~= price then return PRICE end                      \n"
    "if not gold or tonumber(gold) < price then return POOR end             \n"
    "if redis.call('SCARD', KEYS[5]) >= bag_size then return BAG_FULL end   \n"
    "redis.call('ZREM', KEYS[3], offer)                                     \n"
    "redis.call('HINCRBY', KEYS[4], buyer, -price)                          \n"
    "redis.call('HINCRBY', KEYS[4], seller, price)                          \n"
    "redis.call('SADD', KEYS[5], item)                                      \n"
    "return done('buy', item, seller, buyer, price)                         \n";

static const char settle_lua[] =
    DEED_LUA
    "redis.call('HSET', ledger, id, 'void')                                 \n"
    "return VOID                                                            \n";

/* Again, it finds the day closed already and leaves it at that. */
static const char close_lua[] =
    "-- KEYS  1 meta  2 ledger                                              \n"
    "-- ARGV  1 day                                                         \n"
    "if redis.call('HGET', KEYS[1], 'day') == ARGV[1] then                  \n"
    "    redis.call('UNLINK', KEYS[2])                                      \n"
    "    redis.call('HINCRBY', KEYS[1], 'day', 1)                           \n"
    "end                                                                    \n"
    "return tonumber(redis.call('HGET', KEYS[1], 'day'))                    \n";

/* -----------------------------------------------------------------------------------------------------------
   Names */

void market_init(market* m, gh_client* client)
{
    *m = (market){.client = client, .day = 1};
    snprintf(m->name, sizeof m->name, "%016" PRIx64, gh_client_id(client));
    snprintf(m->meta, sizeof m->meta, "market:{%s}:meta", m->name);
    snprintf(m->funds, sizeof m->funds, "market:{%s}:funds", m->name);
    snprintf(m->offers, sizeof m->offers, "market:{%s}:offers", m->name);
    snprintf(m->ledger, sizeof m->ledger, "market:{%s}:ledger", m->name);
    m->enter.text = gh_str_of(enter_lua);
    m->list.text = gh_str_of(list_lua);
    m->buy.text = gh_str_of(buy_lua);
    m->settle.text = gh_str_of(settle_lua);
    m->close.text = gh_str_of(close_lua);
}

gh_str market_inventory(const market* m, uint32_t player, char out[MARKET_TEXT_SIZE])
{
    snprintf(out, MARKET_TEXT_SIZE, "market:{%s}:inventory:%" PRIu32, m->name, player);
    return gh_str_of(out);
}

gh_str market_lock_name(const market* m, uint32_t item, char out[MARKET_TEXT_SIZE])
{
    snprintf(out, MARKET_TEXT_SIZE, "%s:item:%" PRIu32, m->name, item);
    return gh_str_of(out);
}

bool market_parse_number(gh_str text, int64_t* number)
{
    int64_t value = 0;
    size_t i = text.size > 0 && text.bytes[0] == '-' ? 1 : 0;
    if (i == text.size || text.size > 18) return false;
    for (; i < text.size; i++)
    {
        if (text.bytes[i] < '0' || text.bytes[i] > '9') return false;
        value = value * 10 + (text.bytes[i] - '0');
    }
    *number = text.bytes[0] == '-' ? -value : value;
    return true;
}

bool market_parse_offer(gh_str text, uint32_t* item, uint32_t* seller)
{
    const char* dot = text.size > 0 ? memchr(text.bytes, '.', text.size) : NULL;
    if (dot == NULL) return false;
    size_t before = (size_t)(dot - text.bytes);
    int64_t left = 0;
    int64_t right = 0;
    if (!market_parse_number(gh_str_make(text.bytes, before), &left)) return false;
    if (!market_parse_number(gh_str_make(dot + 1, text.size - before - 1), &right)) return false;
    if (left < 0 || left > UINT32_MAX || right < 0 || right > UINT32_MAX) return false;
    *item = (uint32_t)left;
    *seller = (uint32_t)right;
    return true;
}

/* -----------------------------------------------------------------------------------------------------------
   Calls */

static gh_command_config repeatable(market_call* call)
{
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_SAFE; /* every call of this file is; see DEED_LUA */
    config.reply_memory = call->reply;
    config.reply_size = sizeof call->reply;
    return config;
}

/* The i-th argument becomes this number; its text has to live as long as the call. */
static void put_number(market_call* call, uint32_t i, int64_t value)
{
    snprintf(call->texts[i], sizeof call->texts[i], "%" PRId64, value);
    call->arguments[i] = gh_str_of(call->texts[i]);
}

static void put_deed(const market* m, market_call* call)
{
    call->keys[0] = gh_str_of(m->meta);
    call->keys[1] = gh_str_of(m->ledger);
    call->arguments[0] = gh_str_of(call->id);
    put_number(call, 1, m->day);
}

gh_status market_enter(market* m, market_call* call, uint32_t player, int64_t gold, uint32_t item, uint32_t items)
{
    gh_command_config config = repeatable(call);
    call->keys[0] = gh_str_of(m->meta);
    call->keys[1] = gh_str_of(m->funds);
    call->keys[2] = market_inventory(m, player, call->inventory);
    put_number(call, 0, player);
    put_number(call, 1, gold);
    for (uint32_t i = 0; i < items; i++)
    {
        put_number(call, 2 + i, item + i);
    }
    return gh_script_begin(&call->op, m->client, &m->enter, call->keys, 3, call->arguments, 2 + items, &config);
}

gh_status market_browse(market* m, market_call* call)
{
    gh_command_config config = repeatable(call);
    call->arguments[0] = gh_str_literal("ZRANGE");
    call->arguments[1] = gh_str_of(m->offers);
    put_number(call, 2, 0);
    put_number(call, 3, MARKET_BROWSE_MAX - 1);
    call->arguments[4] = gh_str_literal("WITHSCORES");
    return gh_command_begin(&call->op, m->client, call->arguments, 5, &config);
}

gh_status market_list(market* m, market_call* call, const market_trade* trade)
{
    gh_command_config config = repeatable(call);
    gh_client_unique(m->client, call->id);
    put_deed(m, call);
    call->keys[2] = gh_str_of(m->offers);
    call->keys[3] = market_inventory(m, trade->seller, call->inventory);
    put_number(call, 2, trade->item);
    put_number(call, 3, trade->seller);
    put_number(call, 4, trade->price);
    return gh_script_begin(&call->op, m->client, &m->list, call->keys, 4, call->arguments, 5, &config);
}

gh_status market_buy(market* m, market_call* call, const market_trade* trade, gh_fence fence)
{
    gh_command_config config = repeatable(call);
    config.fence = fence;
    gh_client_unique(m->client, call->id);
    put_deed(m, call);
    call->keys[2] = gh_str_of(m->offers);
    call->keys[3] = gh_str_of(m->funds);
    call->keys[4] = market_inventory(m, trade->buyer, call->inventory);
    put_number(call, 2, trade->item);
    put_number(call, 3, trade->seller);
    put_number(call, 4, trade->price);
    put_number(call, 5, trade->buyer);
    put_number(call, 6, MARKET_BAG_SIZE);
    return gh_script_begin(&call->op, m->client, &m->buy, call->keys, 5, call->arguments, 7, &config);
}

gh_status market_settle(market* m, market_call* call)
{
    gh_command_config config = repeatable(call);
    put_deed(m, call);
    return gh_script_begin(&call->op, m->client, &m->settle, call->keys, 2, call->arguments, 2, &config);
}

gh_status market_close(market* m, market_call* call)
{
    gh_command_config config = repeatable(call);
    call->keys[0] = gh_str_of(m->meta);
    call->keys[1] = gh_str_of(m->ledger);
    put_number(call, 0, m->day);
    return gh_script_begin(&call->op, m->client, &m->close, call->keys, 2, call->arguments, 1, &config);
}

/* -----------------------------------------------------------------------------------------------------------
   Answers */

int64_t market_reply(const market_call* call)
{
    const gh_reply* reply = gh_command_reply(&call->op);
    return reply != NULL && reply->type == GH_REPLY_INTEGER ? reply->integer : MARKET_GONE;
}

uint32_t market_offers(const market_call* call, market_trade out[MARKET_BROWSE_MAX])
{
    uint32_t count = 0;
    const gh_reply* reply = gh_command_reply(&call->op);
    const gh_reply* offer = reply == NULL ? NULL : reply->first;
    while (offer != NULL && offer->next != NULL && count < MARKET_BROWSE_MAX)
    {
        market_trade* trade = &out[count];
        bool good = market_parse_offer(offer->text, &trade->item, &trade->seller) &&
                    market_parse_number(offer->next->text, &trade->price);
        count += good;
        offer = offer->next->next;
    }
    return count;
}
