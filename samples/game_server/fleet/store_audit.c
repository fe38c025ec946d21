/* store_audit.c -- is all in the store as it must be? */

#include "store_audit.h"
#include "market/market_replies.h"
#include "market/market_steps.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
/* Counts a fault unless the condition holds; the first few are kept in words. */
static void
expect(store_audit* a, bool holds, const char* format, ...)
{
    if (holds) return;
    if (a->faults < AUDIT_FAULTS_SHOWN)
    {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(a->fault_texts[a->faults], AUDIT_TEXT_SIZE, format, arguments);
        va_end(arguments);
    }
    a->faults++;
}

/* ---- Purses and items ---------------------------------------------------------------------------------- */

/* A player who never came in has no purse, and its items do not exist either. */
static void check_purse(store_audit* a, const market_call* call, uint32_t player)
{
    market_purse purse;
    if (!market_purse_of(call, &purse)) return;
    a->purses++;
    a->gold += purse.gold;
    expect(a, purse.hold == 0, "player %" PRIu32 ": %" PRId64 " coins still on hold", player, purse.hold);
    expect(a, purse.gold + purse.hold + purse.spent == MARKET_GOLD_EACH + purse.earned,
           "player %" PRIu32 ": %" PRId64 " coins are not what came in less what went out", player, purse.gold);
}

static void check_item(store_audit* a, const market_call* call, uint32_t number)
{
    market_item item;
    if (!market_item_of(call, &item)) return;
    a->items++;
    expect(a, item.holder < a->players, "item %" PRIu32 " belongs to nobody", number);
    expect(a, !item.sold, "item %" PRIu32 " was sold and never delivered", number);
}

static gh_status ask(store_audit* a, audit_lane* lane)
{
    if (lane->object < a->players) return market_read_purse(a->market, &lane->call, lane->object);
    return market_read_item(a->market, &lane->call, lane->object - a->players);
}

static void lane_frame(store_audit* a, audit_lane* lane, uint32_t objects)
{
    if (lane->asked)
    {
        gh_status status = gh_op_poll(&lane->call.op.op);
        if (status == GH_PENDING) return;
        lane->asked = false;
        if (status == GH_OK)
        {
            if (lane->object < a->players) check_purse(a, &lane->call, lane->object);
            else check_item(a, &lane->call, lane->object - a->players);
            a->ended++;
            lane->object = UINT32_MAX;
        }
    }
    if (lane->object == UINT32_MAX && a->next < objects) lane->object = a->next++;
    if (lane->object != UINT32_MAX) lane->asked = ask(a, lane) == GH_OK;
}

static bool read_market(store_audit* a)
{
    uint32_t objects = a->players * (1 + MARKET_ITEMS_EACH);
    for (uint32_t i = 0; i < AUDIT_LANES && a->ended < objects; i++) lane_frame(a, &a->lanes[i], objects);
    return a->ended == objects;
}

static void check_market(store_audit* a)
{
    int64_t brought = (int64_t)a->purses * MARKET_GOLD_EACH;
    expect(a, a->gold == brought, "%" PRId64 " coins came in, %" PRId64 " are there", brought, a->gold);
    expect(a, a->items == a->purses * MARKET_ITEMS_EACH,
           "%" PRIu32 " players brought items, %" PRIu32 " items are there", a->purses, a->items);
    expect(a, a->purses > 0, "nobody ever had a purse");
}

/* ---- Seats --------------------------------------------------------------------------------------------- */

static bool look_at_seats(store_audit* a)
{
    gh_semaphore seats;
    gh_status status = gh_op_poll(&a->look.op);
    if (status == GH_PENDING) return false;
    if (status == GH_OK || status == GH_GONE)
    {
        expect(a, status == GH_GONE || a->look.used == 0, "%" PRIu32 " seats of server-%" PRIu32 " are still taken",
               a->look.used, a->server);
        a->server++;
    }
    if (a->server > a->servers) return true;
    snprintf(a->seats_name, sizeof a->seats_name, "seats:server-%" PRIu32, a->server);
    gh_semaphore_init(&seats, a->market->client, gh_str_of(a->seats_name), NULL);
    gh_semaphore_look_begin(&a->look, &seats, NULL, 0);
    return false;
}

/* ---- Totals of the logs -------------------------------------------------------------------------------- */

static bool read_totals(store_audit* a)
{
    gh_status status = totals_read_poll(&a->read, &a->days[a->day]);
    if (status == GH_PENDING) return false;
    if (status == GH_OK || status == GH_EMPTY) a->lines += a->days[a->day++].lines;
    if (a->day < AUDIT_DAYS) totals_read_begin(&a->read, a->market->client, (int)a->day - 1);
    return a->day == AUDIT_DAYS;
}

static void check_totals(store_audit* a)
{
    expect(a, a->lines == a->lines_written, "servers logged %" PRIu64 " lines, the days' totals have %" PRIu64,
           a->lines_written, a->lines);
}

/* ---- All of it ----------------------------------------------------------------------------------------- */

void store_audit_begin(store_audit* a, market* m, uint32_t players, uint32_t servers, uint64_t lines_written)
{
    *a =
        (store_audit){.market = m, .players = players, .servers = servers, .lines_written = lines_written, .server = 1};
    for (uint32_t i = 0; i < AUDIT_LANES; i++) a->lanes[i].object = UINT32_MAX;
}

bool store_audit_frame(store_audit* a)
{
    uint32_t objects = a->players * (1 + MARKET_ITEMS_EACH);
    if (a->ended < objects)
    {
        if (read_market(a)) check_market(a);
        return false;
    }
    if (!a->seats_are_known)
    {
        a->seats_are_known = look_at_seats(a);
        return false;
    }
    if (a->day < AUDIT_DAYS && !read_totals(a)) return false;
    check_totals(a);
    return true;
}
