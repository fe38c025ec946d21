/* market.c -- a market, and the names of its locks. */

#include "market/market.h"

#include <inttypes.h>
#include <stdio.h>

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

gh_str market_item_lock_name(uint32_t item, char out[GH_NAME_SIZE_MAX + 1])
{
    snprintf(out, GH_NAME_SIZE_MAX + 1, "item:%" PRIu32, item);
    return gh_str_of(out);
}

gh_str market_lock_name(const market* m, uint32_t item, char out[GH_NAME_SIZE_MAX + 1])
{
    if (m->guard != MARKET_COARSE) return market_item_lock_name(item, out);
    snprintf(out, GH_NAME_SIZE_MAX + 1, "market");
    return gh_str_of(out);
}

gh_str market_player_lock_name(uint32_t player, char out[GH_NAME_SIZE_MAX + 1])
{
    snprintf(out, GH_NAME_SIZE_MAX + 1, "player:%" PRIu32, player);
    return gh_str_of(out);
}
