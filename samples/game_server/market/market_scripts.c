/* market_scripts.c -- the scripts of market.h. */

#include "market/market_scripts.h"

const char* const market_script_texts[MARKET_SCRIPTS] = {
    [MARKET_OPEN] = "-- KEYS market  ARGV guard, items, gold\n"
                    "local has = redis.call('HMGET', KEYS[1], 'guard', 'items', 'gold')\n"
                    "if not has[1] then\n"
                    "    redis.call('HSET', KEYS[1], 'guard', ARGV[1], 'items', ARGV[2], 'gold', ARGV[3])\n"
                    "    return 1\n"
                    "end\n"
                    "return (has[1] == ARGV[1] and has[2] == ARGV[2] and has[3] == ARGV[3]) and 1 or -2\n",

    [MARKET_ENTER] =
        "-- KEYS purse, bag  ARGV gold, first item, last item, most hints\n"
        "if redis.call('EXISTS', KEYS[1]) == 0 then\n"
        "    for item = ARGV[2], ARGV[3] do redis.call('ZADD', KEYS[2], 1, item) end\n"
        "    redis.call('HSET', KEYS[1], 'gold', ARGV[1], 'earned', 0, 'spent', 0, 'number', 0, 'hold', '')\n"
        "end\n"
        "local answer = redis.call('HMGET', KEYS[1], 'gold', 'earned', 'spent', 'number', 'hold')\n"
        "local hints = redis.call('ZREVRANGE', KEYS[2], 0, ARGV[4] - 1)\n"
        "for _, item in ipairs(hints) do answer[#answer + 1] = item end\n"
        "return answer\n",

    [MARKET_OPEN_ITEM] = "-- KEYS item  ARGV holder\n"
                         "if redis.call('EXISTS', KEYS[1]) == 0 then\n"
                         "    redis.call('HSET', KEYS[1], 'version', 1, 'holder', ARGV[1], 'price', 0, 'sale', '')\n"
                         "end\n"
                         "return 1\n",

    [MARKET_BROWSE] = "-- KEYS offers  ARGV any number, page\n"
                      "local page = tonumber(ARGV[2])\n"
                      "local places = redis.call('ZCARD', KEYS[1]) - page + 1\n"
                      "local first = places > 1 and ARGV[1] % places or 0\n"
                      "return redis.call('ZRANGE', KEYS[1], first, first + page - 1, 'WITHSCORES')\n",

    [MARKET_LIST] = "-- KEYS item  ARGV version, holder, price\n"
                    "local version, holder = tonumber(ARGV[1]), ARGV[2]\n"
                    "local has = redis.call('HMGET', KEYS[1], 'version', 'holder', 'sale')\n"
                    "if not has[1] then return -1 end\n"
                    "if tonumber(has[1]) > version then return 1 end\n"
                    "if tonumber(has[1]) < version then return 0 end\n"
                    "if has[2] ~= holder or has[3] ~= '' then return 0 end\n"
                    "redis.call('HSET', KEYS[1], 'version', version + 1, 'price', ARGV[3])\n"
                    "return 1\n",

    [MARKET_TAKE_BACK] =
        "-- KEYS item  ARGV version, seller\n"
        "-- The worker may have died before it told the seller, who has listed the item anew meanwhile.\n"
        "local version = tonumber(ARGV[1])\n"
        "local has = redis.call('HMGET', KEYS[1], 'version', 'holder', 'sale', 'price', 'back')\n"
        "if not has[1] then return -1 end\n"
        "if has[5] == ARGV[1] then return 1 end\n"
        "if has[2] ~= ARGV[2] or has[3] ~= '' then return 0 end\n"
        "if tonumber(has[1]) ~= version or has[4] == '0' then return 0 end\n"
        "redis.call('HSET', KEYS[1], 'version', version + 1, 'price', 0, 'back', version)\n"
        "return 1\n",

    [MARKET_TAKE] = "-- KEYS purse  ARGV number, price, what for\n"
                    "-- Refused, the number is used up too: this very request must not succeed later.\n"
                    "local number, price = tonumber(ARGV[1]), tonumber(ARGV[2])\n"
                    "local has = redis.call('HMGET', KEYS[1], 'number', 'gold', 'hold')\n"
                    "if not has[1] then return -1 end\n"
                    "local last, gold, hold = tonumber(has[1]), tonumber(has[2]), has[3]\n"
                    "if last == number then return hold ~= '' and 1 or 0 end\n"
                    "if last > number or hold ~= '' then return 0 end\n"
                    "if gold < price then\n"
                    "    redis.call('HSET', KEYS[1], 'number', number)\n"
                    "    return 0\n"
                    "end\n"
                    "redis.call('HSET', KEYS[1], 'number', number, 'gold', gold - price,\n"
                    "           'hold', price .. ' ' .. ARGV[3])\n"
                    "return 1\n",

    [MARKET_SELL] = "-- KEYS item  ARGV version, price, seller, buyer and number, buyer\n"
                    "-- Delivered already is sold already: a player who came in anew asks again.\n"
                    "local version, price, seller, sale = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]\n"
                    "local has = redis.call('HMGET', KEYS[1], 'version', 'price', 'holder', 'sale')\n"
                    "if not has[1] then return -1 end\n"
                    "if has[4] == sale then return 1 end\n"
                    "if tonumber(has[1]) == version + 2 and has[3] == ARGV[5] then return 1 end\n"
                    "if tonumber(has[1]) ~= version then return 0 end\n"
                    "if has[2] ~= price or has[3] ~= seller then return 0 end\n"
                    "redis.call('HSET', KEYS[1], 'version', version + 1, 'price', 0, 'sale', sale)\n"
                    "return 1\n",

    [MARKET_PAY] = "-- KEYS purse  ARGV item, version, price\n"
                   "local paid, version, price = 'paid:' .. ARGV[1], tonumber(ARGV[2]), ARGV[3]\n"
                   "local has = redis.call('HMGET', KEYS[1], 'gold', paid)\n"
                   "if not has[1] then return -1 end\n"
                   "if tonumber(has[2] or 0) >= version then return 1 end\n"
                   "redis.call('HINCRBY', KEYS[1], 'gold', price)\n"
                   "redis.call('HINCRBY', KEYS[1], 'earned', price)\n"
                   "redis.call('HSET', KEYS[1], paid, version)\n"
                   "return 1\n",

    [MARKET_DELIVER] = "-- KEYS item  ARGV version, buyer, buyer and number\n"
                       "local version = tonumber(ARGV[1])\n"
                       "local has = redis.call('HMGET', KEYS[1], 'version', 'sale')\n"
                       "if not has[1] then return -1 end\n"
                       "if has[2] == ARGV[3] and tonumber(has[1]) == version + 1 then\n"
                       "    redis.call('HSET', KEYS[1], 'version', version + 2, 'holder', ARGV[2], 'sale', '')\n"
                       "end\n"
                       "return 1\n",

    [MARKET_SETTLE] =
        "-- KEYS purse, bag  ARGV number, 'spent' or 'gold': where the coins on hold go, item, its version\n"
        "local has = redis.call('HMGET', KEYS[1], 'number', 'hold', 'gold')\n"
        "if not has[1] then return -1 end\n"
        "if has[1] == ARGV[1] and has[2] ~= '' then\n"
        "    if ARGV[2] == 'spent' then redis.call('ZADD', KEYS[2], ARGV[4], ARGV[3]) end\n"
        "    redis.call('HINCRBY', KEYS[1], ARGV[2], string.match(has[2], '^%d+'))\n"
        "    redis.call('HSET', KEYS[1], 'hold', '')\n"
        "end\n"
        "return tonumber(redis.call('HGET', KEYS[1], 'gold'))\n",
};
