/* storm_guild.c -- players who join and leave few guilds, one or several at once. */

#include "guildhall/guild.h"

#include "storm/storm.h"
#include "storm/storm_contacts.h"

#include <stdio.h>

enum
{
    CHANGES = 2,
    TOGETHER = 1
};

typedef struct guild_hand
{
    gh_guild_change change;
    gh_guild_member member;
    uint32_t op;
    char name[16];
} guild_hand;

typedef struct guild_actor
{
    storm_client* me;
    random_stream random;
    guild_hand hands[CHANGES];
} guild_actor;

static const char* const whats[] = {"?", "join", "leave", "load", "there"};
static const gh_str guilds[SET_OWNERS] = {GH_STR_INIT("knights"), GH_STR_INIT("elves"), GH_STR_INIT("orcs")};

static void start(void* actor, storm_client* me, random_stream random)
{
    guild_actor* a = actor;
    a->me = me;
    a->random = random;
}

static void begin_change(guild_actor* a, guild_hand* hand)
{
    gh_guild_config config = gh_guild_config_default();
    gh_guild made;
    uint8_t guild = (uint8_t)random_below(&a->random, SET_OWNERS);
    uint64_t name = random_below(&a->random, SET_NAMES);
    bool out = random_one_in(&a->random, 2);
    config.timeout_us = random_between(&a->random, 200000, 3000000);
    config.capacity = SET_GUILD_CAPACITY;
    gh_guild_init(&made, a->me->client, guilds[guild], &config);
    int size = snprintf(hand->name, sizeof hand->name, "member%u", (unsigned)name);
    hand->member = (gh_guild_member){.name = gh_str_make(hand->name, (size_t)size)};
    hand->op = history_begin(a->me->who, STORM_guild, out ? SET_OUT : SET_IN, guild);
    if (hand->op == 0) return;
    history_at(hand->op)->a = name;
    gh_status status = out ? gh_guild_leave_begin(&hand->change, &made, &hand->member, TOGETHER)
                           : gh_guild_join_begin(&hand->change, &made, &hand->member, TOGETHER);
    if (status == GH_OK) return;
    history_end(hand->op, STORM_NOT_DONE, status);
    hand->op = 0;
}

static void turn_hand(guild_actor* a, guild_hand* hand, bool may_begin)
{
    if (hand->op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 40)) begin_change(a, hand);
        return;
    }
    gh_status status = gh_op_poll(&hand->change.op);
    if (status == GH_PENDING) return;
    history_at(hand->op)->b = (uint64_t)(int64_t)hand->member.status;
    history_end(hand->op, storm_outcome_of(status), status);
    hand->op = 0;
}

static void turn(void* actor, bool may_begin)
{
    guild_actor* a = actor;
    for (int i = 0; i < CHANGES; i++) turn_hand(a, &a->hands[i], may_begin);
}

static bool idle(const void* actor)
{
    const guild_actor* a = actor;
    bool busy = false;
    for (int i = 0; i < CHANGES; i++) busy = busy || a->hands[i].op != 0;
    return !busy;
}

static void audit(storm_look* look)
{
    static gh_guild_search search;
    static _Alignas(16) char buffer[GH_GUILD_BUFFER_SIZE(SET_NAMES * 2)];
    for (uint8_t i = 0; i < SET_OWNERS; i++)
    {
        gh_guild_search_config config = gh_guild_search_config_default();
        config.limit = SET_NAMES * 2;
        config.buffer = buffer;
        config.buffer_size = sizeof buffer;
        uint32_t op = history_begin(look->who, STORM_guild, SET_LOAD, i);
        gh_guild guild;
        gh_guild_init(&guild, look->client, guilds[i], NULL);
        gh_status status = gh_guild_complete_begin(&search, &guild, gh_str_make(NULL, 0), &config);
        while ((status = gh_op_poll(&search.op)) == GH_PENDING && storm_look_turn(look))
        {
        }
        history_at(op)->a = search.count;
        history_end(op, storm_outcome_of(status), status);
        for (uint32_t k = 0; status == GH_OK && k < search.count; k++)
        {
            char text[32];
            unsigned name = SET_NAMES;
            (void)snprintf(text, sizeof text, "%.*s", (int)search.hits[k].name.size, search.hits[k].name.bytes);
            (void)sscanf(text, "member%u", &name);
            storm_event event = {.system = STORM_guild, .what = SET_THERE, .object = i, .a = name, .b = k};
            (void)history_event(look->who, event);
        }
    }
}

const storm_system storm_guild = {.name = "guild",
                                  .whats = whats,
                                  .actor_size = sizeof(guild_actor),
                                  .start = start,
                                  .turn = turn,
                                  .idle = idle,
                                  .audit = audit,
                                  .check = check_guild};
