/* account.c -- what a player should have by what it was told. */

#include "account.h"

#include <stddef.h>

static thing* find(account* a, uint32_t item)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (a->things[i].item == item) return &a->things[i];
    return NULL;
}

static bool add(account* a, thing added)
{
    if (a->count == ACCOUNT_THINGS_MAX) return false;
    a->things[a->count++] = added;
    return true;
}

static void drop(account* a, thing* dropped)
{
    *dropped = a->things[--a->count];
}

void account_open(account* a, uint32_t first_item, uint32_t item_count, int64_t gold)
{
    *a = (account){.gold = gold};
    for (uint32_t i = 0; i < item_count; i++) add(a, (thing){.item = first_item + i, .state = THING_IN_BAG});
}

const thing* account_thing(const account* a, uint32_t item)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (a->things[i].item == item) return &a->things[i];
    return NULL;
}

static uint32_t count_of(const account* a, thing_state state)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->count; i++) count += a->things[i].state == state;
    return count;
}

const thing* account_pick(const account* a, uint32_t any)
{
    uint32_t count = count_of(a, THING_IN_BAG);
    if (count == 0) return NULL;
    uint32_t left = any % count;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->things[i].state == THING_IN_BAG && left-- == 0) return &a->things[i];
    return NULL;
}

/* A quarter stays free for what comes back from sale. */
bool account_may_buy(const account* a, uint32_t item)
{
    return a->count < ACCOUNT_THINGS_MAX * 3 / 4 && account_thing(a, item) == NULL;
}

/* ---- Answers ------------------------------------------------------------------------------------------- */

bool account_listed(account* a, uint32_t item, int64_t version, int64_t price)
{
    thing* t = find(a, item);
    if (t == NULL || t->state != THING_IN_BAG || version <= t->version) return false;
    *t = (thing){.item = item, .version = version, .price = price, .state = THING_ON_SALE};
    return true;
}

bool account_list_unsure(account* a, uint32_t item, int64_t price)
{
    thing* t = find(a, item);
    if (t == NULL || t->state != THING_IN_BAG) return false;
    t->state = THING_MAYBE_ON_SALE;
    t->price = price;
    return true;
}

bool account_bought(account* a, uint32_t item, int64_t version, int64_t price)
{
    if (find(a, item) != NULL) return false;
    a->gold -= price;
    return add(a, (thing){.item = item, .version = version, .state = THING_IN_BAG});
}

bool account_buy_unsure(account* a, uint32_t item, int64_t version, int64_t price)
{
    if (find(a, item) != NULL) return false;
    return add(a, (thing){.item = item, .version = version, .price = price, .state = THING_MAYBE_BOUGHT});
}

/* ---- Mail ---------------------------------------------------------------------------------------------- */

/* The thing if it may be on sale in this version. */
static thing* on_sale(account* a, uint32_t item, int64_t version)
{
    thing* t = find(a, item);
    if (t == NULL) return NULL;
    if (t->state == THING_MAYBE_ON_SALE) return version > t->version ? t : NULL;
    if (t->state != THING_ON_SALE) return NULL;
    return t->version == 0 || t->version == version ? t : NULL;
}

bool account_sold(account* a, uint32_t item, int64_t version, int64_t price)
{
    thing* t = on_sale(a, item, version);
    if (t == NULL || t->price != price) return false;
    a->gold += price;
    a->earned += price;
    drop(a, t);
    return true;
}

bool account_back(account* a, uint32_t item, int64_t version)
{
    thing* t = on_sale(a, item, version);
    if (t != NULL)
    {
        *t = (thing){.item = item, .version = version, .state = THING_IN_BAG, .seen = true, .back = true};
        return true;
    }
    /* BAG may have told it before, and it may be on sale again. */
    t = find(a, item);
    return t != NULL && t->version >= version && t->state != THING_MAYBE_BOUGHT;
}

/* ---- WELCOME and FAREWELL ------------------------------------------------------------------------------ */

void account_enter(account* a)
{
    for (uint32_t i = 0; i < a->count; i++) a->things[i].seen = false;
}

bool account_bag(account* a, uint32_t item, int64_t version)
{
    thing* t = find(a, item);
    thing in_bag = {.item = item, .version = version, .state = THING_IN_BAG, .seen = true};
    if (t == NULL)
    {
        add(a, in_bag);
        return false;
    }
    if (t->state == THING_MAYBE_ON_SALE && version == t->version && !t->doubted)
    {
        t->seen = t->doubted = true;
        return true;
    }
    bool possible = version >= t->version;
    if (t->state == THING_ON_SALE || t->state == THING_MAYBE_BOUGHT) possible = version > t->version;
    if (t->state == THING_MAYBE_BOUGHT) a->gold -= t->price;
    *t = in_bag;
    return possible;
}

bool account_settle(account* a)
{
    bool nothing_lost = true;
    for (uint32_t i = 0; i < a->count; i++)
    {
        thing* t = &a->things[i];
        if (t->seen) continue;
        if (t->state == THING_IN_BAG) nothing_lost = false;
        if (t->state == THING_MAYBE_ON_SALE) *t = (thing){.item = t->item, .price = t->price, .state = THING_ON_SALE};
        if (t->state == THING_MAYBE_BOUGHT || t->state == THING_IN_BAG)
        {
            drop(a, t);
            i--;
        }
    }
    return nothing_lost;
}

static int64_t prices_of(const account* a, thing_state state)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < a->count; i++) sum += a->things[i].state == state ? a->things[i].price : 0;
    return sum;
}

static int64_t least_gold(const account* a, int64_t earned)
{
    return a->gold - prices_of(a, THING_MAYBE_BOUGHT) - (a->earned - earned);
}

bool account_fits_gold(const account* a, int64_t gold, int64_t hold, int64_t earned)
{
    int64_t most = a->gold + prices_of(a, THING_ON_SALE) + prices_of(a, THING_MAYBE_ON_SALE);
    return gold >= 0 && hold >= 0 && gold + hold >= least_gold(a, earned) && gold + hold <= most;
}

bool account_could_pay(const account* a, int64_t price, int64_t earned)
{
    return least_gold(a, earned) >= price;
}

bool account_awaits_bag(const account* a)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (a->things[i].state == THING_IN_BAG && a->things[i].back) return true;
    return false;
}

bool account_fits_items(const account* a, int64_t items)
{
    uint32_t least = 0;
    for (uint32_t i = 0; i < a->count; i++) least += a->things[i].state == THING_IN_BAG && !a->things[i].back;
    return items >= least && items <= a->count;
}

bool account_is_exact(const account* a)
{
    return count_of(a, THING_IN_BAG) == a->count;
}
