#include "audit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Counts a fault unless the condition holds; the first few are kept in words. */
static void expect(audit* a, bool condition, const char* format, ...)
{
    if (condition) return;
    if (a->faults < AUDIT_FAULTS_SHOWN)
    {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(a->fault_texts[a->faults], AUDIT_TEXT_SIZE, format, arguments);
        va_end(arguments);
    }
    a->faults++;
}

/* Sums over all objects, so the order in which they are read does not matter. */
static void add_to_digest(audit* a, uint32_t object, const int64_t* values, size_t count)
{
    uint64_t hash = 0xCBF29CE484222325ull ^ object;
    for (size_t i = 0; i < count; i++)
    {
        hash = (hash ^ (uint64_t)values[i]) * 0x100000001B3ull;
        hash ^= hash >> 29;
    }
    a->digest += hash;
}

static bool is_alone(const audit* a)
{
    return a->players == a->world->history->player_count;
}

/* ---- One object ---------------------------------------------------------------------------------------- */

static void check_our_purse(audit* a, uint32_t number, const market_purse* purse, const purse_history* ours)
{
    expect(a, purse->number == ours->number,
           "player %" PRIu32 ": %" PRId64 " purchases in the store, %" PRId64 " here", number, purse->number,
           ours->number);
    expect(a, purse->spent == ours->spent,
           "player %" PRIu32 ": spent %" PRId64 " in the store, %" PRId64 " here", number, purse->spent,
           ours->spent);
    expect(a, purse->hold == 0, "player %" PRIu32 ": %" PRId64 " coins still on hold", number, purse->hold);
    bool earned = is_alone(a) ? purse->earned == ours->earned : purse->earned >= ours->earned;
    expect(a, earned, "player %" PRIu32 ": earned %" PRId64 " in the store, %" PRId64 " here", number,
           purse->earned, ours->earned);
}

/* That another server's player is not there says nothing: that server may be about to open its purse. */
static void check_purse(audit* a, const market_call* call, uint32_t number)
{
    const history* h = a->world->history;
    bool is_ours = history_is_ours(h, number);
    market_purse purse;
    bool there = market_purse_of(call, &purse);
    expect(a, there || !is_ours, "the purse of player %" PRIu32 " is gone", number);
    if (!there) return;

    if (is_ours) check_our_purse(a, number, &purse, &h->purses[number - h->first_player]);
    expect(a, purse.gold + purse.hold + purse.spent == MARKET_GOLD_EACH + purse.earned,
           "player %" PRIu32 ": %" PRId64 " coins in the purse are not what came in less what went out",
           number, purse.gold);
    a->brought += MARKET_GOLD_EACH;
    a->gold += purse.gold;
    a->hold += purse.hold;
    int64_t values[] = {purse.gold, purse.earned, purse.spent, purse.number, purse.hold};
    add_to_digest(a, number, values, 5);
}

static void check_item(audit* a, const market_call* call, uint32_t number)
{
    const history* h = a->world->history;
    const item_history* ours = &h->items[number];
    market_item item;
    bool there = market_item_of(call, &item);
    expect(a, there || ours->version == 0, "item %" PRIu32 " is gone", number);
    if (!there) return;

    expect(a, item.holder < a->players, "item %" PRIu32 " belongs to nobody", number);
    expect(a, !item.sold || !history_is_ours(h, item.buyer), "item %" PRIu32 " was sold and never delivered",
           number);
    bool known = is_alone(a) ? item.version == ours->version : item.version >= ours->version;
    expect(a, known, "item %" PRIu32 ": version %" PRId64 " in the store, %" PRId64 " here", number,
           item.version, ours->version);
    if (item.version == ours->version)
    {
        bool same = item.holder == ours->holder && item.price == ours->price && item.sold == ours->sold;
        expect(a, same, "item %" PRIu32 ": not with the holder and the price that were acknowledged", number);
    }
    int64_t values[] = {item.version, item.price, item.holder, item.sold};
    add_to_digest(a, a->players + number, values, 4);
}

/* ---- All of them --------------------------------------------------------------------------------------- */

/* First the one key that knows the number of players, then their purses and the items. */
static gh_status read_object(void* context, market_call* call, uint32_t object)
{
    audit* a = context;
    market* m = a->world->market;
    if (a->counting) return market_read_players(m, call);
    if (object < a->players) return market_read_purse(m, call, object);
    return market_read_item(m, call, object - a->players);
}

static void take_object(void* context, const market_call* call, uint32_t object)
{
    audit* a = context;
    if (!a->counting)
    {
        if (object < a->players) check_purse(a, call, object);
        else check_item(a, call, object - a->players);
        return;
    }
    int64_t players = market_number(call);
    bool sane = players >= a->world->player_count && players <= MARKET_PLAYERS_MAX;
    expect(a, sane, "the market's own key is gone");
    a->players = sane ? (uint32_t)players : 0;
}

static void start_sweep(audit* a, bool counting)
{
    a->counting = counting;
    a->reading.count = counting ? 1 : a->players * (1 + MARKET_ITEMS_EACH);
    sweep_begin(&a->reading, a->world);
}

static void start_reading(audit* a)
{
    const history* h = a->world->history;
    a->last_digest = a->digest;
    a->digest = 0;
    a->brought = 0;
    a->gold = 0;
    a->hold = 0;
    a->faults = 0;
    expect(a, h->sold_twice == 0, "%" PRIu64 " offers were sold twice", h->sold_twice);
    expect(a, h->contradicted == 0, "%" PRIu64 " times the store denied what it had acknowledged",
           h->contradicted);
    start_sweep(a, true);
}

void audit_begin(audit* a, world* w)
{
    *a = (audit){.world = w};
    a->reading = (sweep){.context = a, .begin = read_object, .take = take_object};
    start_reading(a);
}

static void count_coins(audit* a)
{
    a->conserved = a->gold <= a->brought && a->brought <= a->gold + a->hold;
    expect(a, a->conserved, "%" PRId64 " coins came in, %" PRId64 " are in purses and %" PRId64 " on hold",
           a->brought, a->gold, a->hold);
}

bool audit_frame(audit* a, uint64_t now_us)
{
    if (!sweep_frame(&a->reading, a->world, now_us)) return false;
    if (a->counting)
    {
        if (a->players == 0) return true;
        start_sweep(a, false);
        return false;
    }
    a->readings++;
    if (a->faults > 0) return true;
    bool still = is_alone(a) || (a->readings > 1 && a->digest == a->last_digest);
    if (still) count_coins(a);
    else start_reading(a);
    return still;
}

bool audit_holds(const audit* a)
{
    return a->readings > 0 && a->faults == 0;
}
