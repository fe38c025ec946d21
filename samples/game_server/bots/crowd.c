/* crowd.c -- the memory of the bots, who knows whom, and whether all went well of late. */

#include "bots/crowd.h"

#include <stdlib.h>

#define CALM_US 20000000ull /* so long after trouble the line may still have gone back */

void tally_add(crowd* c, tally t)
{
    if (c->tallies[t] != NULL) ++*c->tallies[t];
}

uint64_t tally_of(const crowd* c, tally t)
{
    return c->tallies[t] == NULL ? 0 : *c->tallies[t];
}

/* ---- Trouble ------------------------------------------------------------------------------------------- */

void crowd_trouble(crowd* c)
{
    c->trouble_us = c->now_us;
}

bool crowd_is_calm(const crowd* c)
{
    return c->trouble_us == 0 || c->now_us - c->trouble_us > CALM_US;
}

/* ---- Guilds -------------------------------------------------------------------------------------------- */

uint32_t guild_first(const bot* b)
{
    return b->number / GUILD_SIZE * GUILD_SIZE;
}

uint32_t guild_count(const crowd* c, const bot* b)
{
    uint32_t left = c->count - guild_first(b);
    return left < GUILD_SIZE ? left : GUILD_SIZE;
}

/* ---- Open and close ------------------------------------------------------------------------------------ */

static void open_tallies(crowd* c)
{
    static const char* const names[TALLIES] = {
        "visits",      "drops",        "asked",          "answered",   "chat.heard", "chat.gaps told",
        "mail",        "mail.again",   "hits",           "listed",     "bought",     "sorry.busy",
        "sorry.store", "sorry.unsure", "sorry.too late", "sorry.poor", "sorry.other"};
    for (int i = 0; i < TALLIES; i++) c->tallies[i] = board_count_of(c->row, names[i]);
}

/* Half of them in the guild, the others anywhere. */
static void find_friends(const crowd* c, bot* b)
{
    random_source random = random_seeded(c->options->seed, UINT64_MAX - b->number);
    for (uint32_t i = 0; i < FRIENDS; i++)
    {
        uint32_t mate = guild_first(b) + random_under(&random, guild_count(c, b));
        uint32_t anybody = random_under(&random, c->count);
        b->friends[i] = i < FRIENDS / 2 ? mate : anybody;
        if (b->friends[i] == b->number) b->friends[i] = (b->number + 1) % c->count;
    }
}

static bool open_bot(crowd* c, uint32_t number)
{
    bot* b = &c->bots[number];
    random_source random = random_seeded(c->options->seed, number);
    uint32_t rush_ms = c->options->seconds > 0 && c->options->seconds < 12 ? c->options->seconds * 250 : 3000;
    b->number = number;
    b->server = number;
    b->until_us = c->now_us + random_under(&random, rush_ms + 1) * UINT64_C(1000);
    account_open(&b->account, number * MARKET_ITEMS_EACH, MARKET_ITEMS_EACH, MARKET_GOLD_EACH);
    find_friends(c, b);
    return ear_open(&b->ears[0], &c->zones[number % ZONE_COUNT]) &&
           ear_open(&b->ears[1], &c->guilds[number / GUILD_SIZE]);
}

bool crowd_open(crowd* c, const options* o, board_row* row)
{
    c->options = o;
    c->row = row;
    c->count = o->bots;
    uint32_t guilds = (c->count + GUILD_SIZE - 1) / GUILD_SIZE;
    uint32_t zone_members = (c->count + ZONE_COUNT - 1) / ZONE_COUNT;
    c->bots = calloc(c->count, sizeof *c->bots);
    c->guilds = calloc(guilds, sizeof *c->guilds);
    c->threads = calloc((size_t)c->count * FRIENDS, sizeof *c->threads);
    c->rounds = calloc(c->count, sizeof *c->rounds);
    bool good = c->bots != NULL && c->guilds != NULL && c->threads != NULL && c->rounds != NULL;
    good = good && sales_open(&c->sales);
    for (uint32_t i = 0; good && i < guilds; i++) good = hall_open(&c->guilds[i], GUILD_SIZE, true);
    for (uint32_t i = 0; good && i < ZONE_COUNT; i++) good = hall_open(&c->zones[i], zone_members, false);
    for (uint32_t i = 0; good && i < c->count; i++) good = open_bot(c, i);
    if (!good) return false;
    open_tallies(c);
    c->wire = wire_open(c->count);
    return c->wire != NULL;
}

void crowd_close(crowd* c)
{
    if (c->wire != NULL) wire_close(c->wire);
    uint32_t guilds = (c->count + GUILD_SIZE - 1) / GUILD_SIZE;
    for (uint32_t i = 0; c->guilds != NULL && i < guilds; i++) hall_close(&c->guilds[i]);
    for (uint32_t i = 0; i < ZONE_COUNT; i++) hall_close(&c->zones[i]);
    for (uint32_t i = 0; c->bots != NULL && i < c->count; i++)
        for (int k = 0; k < CHATS; k++) ear_close(&c->bots[i].ears[k]);
    sales_close(&c->sales);
    free(c->rounds);
    free(c->threads);
    free(c->guilds);
    free(c->bots);
}
