/* forms.c -- see forms.h. */

#include "differential/forms.h"

#include <stdio.h>
#include <stdlib.h>

/* A small letter alone is drawn. (HRANDFIELD asks for none, for all, or for repeats, which can be foretold.) k a key, m
   a member or field, v a value, i a place, s a score, b a bound by score, l one by name, t a time to live, T a moment,
   c a cursor. All else is the word itself. */
static const char* const forms[] = {"GET k",
                                    "SET k v",
                                    "SET k v PX t",
                                    "SET k v KEEPTTL",
                                    "SET k v NX",
                                    "SET k v XX PX t",
                                    "SET k v PXAT T",
                                    "SET k v EX t",
                                    "SET k v GET",
                                    "SET k v NX GET",
                                    "SET k v XX KEEPTTL",
                                    "SET k v PX t NX XX",
                                    "DEL k",
                                    "UNLINK k k",
                                    "EXISTS k k k",
                                    "TYPE k",
                                    "PTTL k",
                                    "TTL k",
                                    "PEXPIRETIME k",
                                    "PEXPIRE k t",
                                    "PEXPIRE k t NX",
                                    "PEXPIRE k t XX",
                                    "PEXPIRE k t GT",
                                    "PEXPIRE k t LT",
                                    "PEXPIRE k t v",
                                    "EXPIRE k t",
                                    "PEXPIREAT k T",
                                    "EXPIREAT k t",
                                    "PERSIST k",
                                    "STRLEN k",
                                    "APPEND k v",
                                    "INCR k",
                                    "DECR k",
                                    "INCRBY k i",
                                    "DECRBY k i",
                                    "SETNX k v",
                                    "GETDEL k",
                                    "MGET k k k",
                                    "MSET k v k v",
                                    "MSET k v k",
                                    "HSET k m v",
                                    "HSET k m v m v m v",
                                    "HSET k m v m",
                                    "HMSET k m v m v",
                                    "HSETNX k m v",
                                    "HGET k m",
                                    "HMGET k m m m",
                                    "HDEL k m",
                                    "HDEL k m m m",
                                    "HLEN k",
                                    "HSTRLEN k m",
                                    "HEXISTS k m",
                                    "HGETALL k",
                                    "HKEYS k",
                                    "HVALS k",
                                    "HINCRBY k m i",
                                    "HRANDFIELD k",
                                    "HRANDFIELD k 0",
                                    "HRANDFIELD k 100",
                                    "HRANDFIELD k -5",
                                    "HRANDFIELD k 100 WITHVALUES",
                                    "HRANDFIELD k x",
                                    "HRANDFIELD k -2 WITHVALUES",
                                    "HRANDFIELD k 2 v",
                                    "RPUSH k v",
                                    "RPUSH k v v v",
                                    "LPUSH k v v",
                                    "RPUSHX k v",
                                    "LPUSHX k v",
                                    "LLEN k",
                                    "LINDEX k i",
                                    "LRANGE k i i",
                                    "LTRIM k i i",
                                    "LREM k i v",
                                    "LSET k i v",
                                    "LINSERT k BEFORE v v",
                                    "LINSERT k AFTER v v",
                                    "LINSERT k v v v",
                                    "LPOP k",
                                    "RPOP k",
                                    "LPOP k i",
                                    "RPOP k i",
                                    "ZADD k s m",
                                    "ZADD k s m s m s m",
                                    "ZADD k NX s m s m",
                                    "ZADD k XX s m",
                                    "ZADD k XX GT s m s m",
                                    "ZADD k LT s m",
                                    "ZADD k GT CH s m s m",
                                    "ZADD k NX XX s m",
                                    "ZADD k GT LT s m",
                                    "ZADD k INCR s m",
                                    "ZADD k NX INCR s m",
                                    "ZADD k XX INCR s m",
                                    "ZADD k GT INCR s m",
                                    "ZADD k INCR s m s m",
                                    "ZADD k s m s",
                                    "ZINCRBY k s m",
                                    "ZREM k m m",
                                    "ZSCORE k m",
                                    "ZMSCORE k m m m",
                                    "ZCARD k",
                                    "ZRANK k m",
                                    "ZREVRANK k m",
                                    "ZRANGE k i i",
                                    "ZRANGE k i i WITHSCORES",
                                    "ZRANGE k i i REV WITHSCORES",
                                    "ZRANGE k b b BYSCORE",
                                    "ZRANGE k b b BYSCORE REV LIMIT i i WITHSCORES",
                                    "ZRANGE k i i LIMIT 0 i",
                                    "ZRANGE k i i v",
                                    "ZREVRANGE k i i WITHSCORES",
                                    "ZREVRANGE k i i",
                                    "ZRANGEBYSCORE k b b",
                                    "ZRANGEBYSCORE k b b WITHSCORES LIMIT i i",
                                    "ZRANGEBYSCORE k b b v",
                                    "ZREVRANGEBYSCORE k b b WITHSCORES",
                                    "ZREVRANGEBYSCORE k b b LIMIT 0 i",
                                    "ZCOUNT k b b",
                                    "ZREMRANGEBYSCORE k b b",
                                    "ZREMRANGEBYRANK k i i",
                                    "ZPOPMIN k",
                                    "ZPOPMIN k i",
                                    "ZPOPMAX k i",
                                    "ZPOPMIN k i i",
                                    "ZADD k 7 m 7 m 7 m 7 m",
                                    "ZSCAN k 0",
                                    "ZSCAN k 0 COUNT i",
                                    "ZSCAN k c MATCH m*",
                                    "ZSCAN k 0 v",
                                    "HSCAN k 0",
                                    "SADD k m",
                                    "SREM k m",
                                    "SISMEMBER k m",
                                    "SCARD k",
                                    "TIME",
                                    "PUBLISH k v",
                                    "PING",
                                    "PING v",
                                    "ECHO v",
                                    "GET",
                                    "GET k k",
                                    "NOTHING k v",
                                    "SELECT 0",
                                    "SCRIPT EXISTS v",
                                    "EVALSHA v 0",
                                    "EVAL v i k",
                                    "WAIT 0 1",
                                    "SUBSCRIBE"};

/* By name only where all scores are the same: other answers are whatever a server's insides make of them. */
static const char* const forms_by_name[] = {"ZADD names 7 m 7 m 7 m 7 m", "ZREM names m",
                                            "ZRANGEBYLEX names l l",      "ZRANGEBYLEX names l l LIMIT i i",
                                            "ZLEXCOUNT names l l",        "DEL names",
                                            "ZREVRANGEBYLEX names l l",   "ZRANGE names l l BYLEX",
                                            "ZREMRANGEBYLEX names l l",   "ZRANGE names l l BYLEX REV LIMIT 0 i"};

static const char* const bodies[] = {
    "return redis.call(unpack(ARGV))",
    "local r = redis.pcall(unpack(ARGV)) if type(r) == 'table' and r.err then return r.err end return r",
    "local a = {unpack(ARGV)} for i = 3, #a do a[i] = tonumber(a[i]) or a[i] end return redis.call(unpack(a))",
    "local r = redis.call(unpack(ARGV)) return {type(r), r, 1.9, -1.9, true, false, 'x'}",
    "local r = redis.call(unpack(ARGV)) return {tostring(r) == 'x', #ARGV, {r, {r}}, nil, 3}",
    "local r = redis.call(unpack(ARGV)) return r .. ''",
    "local r = redis.call(unpack(ARGV))\nreturn redis.error_reply('WRONGTYPE ' .. type(r))",
    "redis.call(unpack(ARGV)) return redis.error_reply('NOSPACE')",
    "redis.call(unpack(ARGV)) return {err = 'MY own\\nline'}",
    "redis.call(unpack(ARGV)) return redis.status_reply('FINE')",
    "redis.call(unpack(ARGV)) return redis.status_reply()",
    "local r = redis.call(unpack(ARGV)) return 1e15 + 0.5",
    "local r = redis.call(unpack(ARGV)) return string.format('%.0f %d %s %.3f %5s %q', 12345678901234567, 5, "
    "tostring(ARGV[1]), 0.1, 'x', 'y')",
    "return {#redis.call(unpack(ARGV))}",
    "return tostring(tonumber(ARGV[3]))",
    "return {tonumber(ARGV[3]), tonumber(ARGV[4])}",
    "return string.format('%d', ARGV[3])",
    "return string.format('%.0f', tonumber(ARGV[3]))",
    "return tonumber(ARGV[3], 10)",
    "return redis.call(ARGV[1], ARGV[2], 0.1, tonumber(ARGV[3]) or 1e20)",
    "undeclared = 1",
    "return undeclared",
    "return redis.call('GET', {})",
    "return redis.call()",
    "error('mine')",
    "error({err = 'CODE mine'})",
    "return {1, redis.pcall('NOTHING'), redis.pcall('GET'), redis.pcall('SUBSCRIBE', 'x')}",
    "redis.call('SET', KEYS[1] or ARGV[2], 'from lua') local t = redis.call('TIME') return {t[1], t[2]}",
    "math.randomseed(7) return {redis.sha1hex(ARGV[1]), math.random(100), math.random(), math.random(5, 7)}",
    "return cmsgpack.pack(redis.pcall(unpack(ARGV)))",
    "return {cmsgpack.unpack(cmsgpack.pack(ARGV, 1, -1, 300, -300, 1.5, 0.1, true, false, {a = 1}, 'x', 1e18, 70000))}",
    "return {pcall(cmsgpack.unpack, ARGV[2])}",
    "local x = ARGV[9] return x.y",
    "return redis.call('ZRANGEBYSCORE', 'names', string.format('%.0f', 1e300), '+inf')",
    "return redis.call(unpack(ARGV)).ok",
    "return {double = 1.5}",
    "return {KEYS[1], #KEYS, ARGV[1]}",
    "return tostring(redis.call(unpack(ARGV)) == false)",
    "return syntax error"};

static const char* const values[] = {"v",        "",   "17",  "-3", "0.5", "a longer value with blanks",
                                     "17 5 h 0", "v2", "1e5", "+1", "007", "9223372036854775807"};
static const char* const places[] = {"0", "1",   "-1", "2", "-2", "5", "-5",   "100",
                                     "x", "1.5", "01", "3", "4",  "",  "-100", "9223372036854775807"};
static const char* const scores[] = {"0",
                                     "1",
                                     "2",
                                     "3",
                                     "-1",
                                     "0.1",
                                     "1.5",
                                     "1e3",
                                     "1700000000123456",
                                     "9007199254740993",
                                     "123456789012345678",
                                     "-9999999999999999999",
                                     "3.3333333333333335",
                                     "-0",
                                     "x",
                                     "nan",
                                     "inf",
                                     "1e300",
                                     "12345678901234567890",
                                     "0.30000000000000004",
                                     "1e17",
                                     "9007199254740993",
                                     "",
                                     "-inf",
                                     " 1",
                                     "0x10",
                                     "1e"};
static const char* const bounds[] = {"-inf", "+inf", "0", "(0",    "1", "(1", "2",    "(1.5",
                                     "(x",   "1e3",  "5", "(-inf", "(", "",   "nope", "1700000000123456",
                                     "(7",   "inf"};
static const char* const names[] = {"-", "+", "[a", "(a", "[m3", "(m3", "[m9", "(m5", "x", "[", "", "(", "--", "[m"};
static const char* const lives[] = {
    "1", "5", "100", "1000", "0", "-5", "3600000", "10.5", "x", "99999999999", "9223372036854775807"};

#define PICK(random, of) of[random_below(random, sizeof of / sizeof *of)]

void form_add(form_words* words, gh_str word)
{
    char* at = words->bytes + words->used;
    if (words->count == sizeof words->words / sizeof *words->words) abort();
    if (words->used + word.size > sizeof words->bytes) abort();
    if (word.size > 0) memcpy(at, word.bytes, word.size);
    words->used += word.size;
    words->words[words->count++] = gh_str_make(at, word.size);
}

void form_add_number(form_words* words, uint64_t number)
{
    char text[24];
    form_add(words, gh_str_make(text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)number)));
}

static void add_named(random_stream* random, form_words* words, const char* kind, uint64_t common, uint64_t rare)
{
    char text[24];
    const uint64_t number = random_one_in(random, 10) ? random_below(random, rare) : random_below(random, common);
    form_add(words, gh_str_make(text, (size_t)snprintf(text, sizeof text, "%s%llu", kind, (unsigned long long)number)));
}

/* Around the moment at which the run begins. */
static void add_moment(random_stream* random, form_words* words)
{
    form_add_number(words, 1700000000000ull + random_below(random, 4000000));
}

static void add_drawn(random_stream* random, form_words* words, char letter)
{
    switch (letter)
    {
    case 'k': add_named(random, words, "key", 12, 40); break;
    case 'm': add_named(random, words, "m", 8, 30); break;
    case 'v': form_add(words, gh_str_of(PICK(random, values))); break;
    case 'i': form_add(words, gh_str_of(PICK(random, places))); break;
    case 's': form_add(words, gh_str_of(PICK(random, scores))); break;
    case 'b': form_add(words, gh_str_of(PICK(random, bounds))); break;
    case 'l': form_add(words, gh_str_of(PICK(random, names))); break;
    case 't': form_add(words, gh_str_of(PICK(random, lives))); break;
    case 'T': add_moment(random, words); break;
    case 'c': form_add(words, gh_str_of(random_one_in(random, 3) ? "x" : "0")); break;
    default: abort();
    }
}

static void add_form(random_stream* random, form_words* words, const char* form)
{
    while (*form != '\0')
    {
        const size_t size = strcspn(form, " ");
        if (size == 1 && strchr("kmvisbltTc", *form) != NULL) add_drawn(random, words, *form);
        else form_add(words, gh_str_make(form, size));
        form += size + (form[size] == ' ');
    }
}

void form_draw(random_stream* random, form_words* words)
{
    add_form(random, words, random_one_in(random, 12) ? PICK(random, forms_by_name) : PICK(random, forms));
}

/* The first body as often as all others together, nearly. */
void form_draw_lua(random_stream* random, form_words* words)
{
    const bool has_key = random_one_in(random, 4);
    form_add(words, gh_str_literal("EVAL"));
    form_add(words, gh_str_of(random_one_in(random, 2) ? bodies[random_below(random, 4)] : PICK(random, bodies)));
    form_add(words, gh_str_of(has_key ? "1" : "0"));
    if (has_key) add_drawn(random, words, 'k');
    form_draw(random, words);
}

static const char* const rights[] = {
    "+@all",         "-@all",       "+get",        "-get",    "-hset",        "+hset",  "-zadd",
    "+zadd",         "-publish",    "+evalsha",    "+eval",   "+@all",        "-time",  "-set",
    "allkeys",       "resetkeys",   "~key*",       "~gh:*",   "~*2",          "&v*",    "~gh:{[a-b]*",
    "resetchannels", "allchannels", "+@all",       "allkeys", "-script|load", "+ping",  "-@write",
    "+@read",        "-@scripting", "+@scripting", "+@write", "-@fast",       "+@hash", "-@nothing"};

void form_draw_rights(random_stream* random, form_words* words)
{
    form_add(words, gh_str_literal("ACL"));
    form_add(words, gh_str_literal("SETUSER"));
    form_add(words, gh_str_literal("game"));
    form_add(words, gh_str_literal("on"));
    form_add(words, gh_str_literal(">secret"));
    for (uint64_t more = 1 + random_below(random, 4); more > 0; more--)
        form_add(words, gh_str_of(PICK(random, rights)));
}
