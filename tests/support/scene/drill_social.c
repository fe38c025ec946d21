/* drill_social.c -- the ops of contacts and guilds. */

#include "support/scene/drill.h"
#include "support/scene/social.h"

#include <stdio.h>
#include <string.h>

#define NAME gh_str_literal(DRILL_NAME)

static const gh_str names[] = {GH_STR_INIT("mia"), GH_STR_INIT("bob"), GH_STR_INIT("Jeff"), GH_STR_INIT("jenny"),
                               GH_STR_INIT("eve")};

/* ---- contacts ------------------------------------------------------------------------------------------ */

typedef struct contacts_bag
{
    gh_contacts_change change;
    gh_contacts_load load;
    gh_contacts contacts;
    _Alignas(16) char memory[64 * 1024];
} contacts_bag;

static gh_contacts_config config_of(bool times)
{
    gh_contacts_config config = gh_contacts_config_default();
    config.capacity = 4;
    config.times = times;
    return config;
}

static void touch_now(game* from, const gh_str* contacts, size_t count, bool times)
{
    gh_contacts_change* change = GAME_NEW(from, gh_contacts_change);
    gh_contacts_config config = config_of(times);
    assert_status(gh_contacts_touch_many_begin(change, some_contacts(from->client, NAME, &config), contacts, count),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    assert_status(gh_op_poll(&change->op), GH_OK);
}

static void block_now(game* from, gh_str contact)
{
    gh_contacts_change* change = GAME_NEW(from, gh_contacts_change);
    assert_status(gh_contacts_block_begin(change, some_contacts(from->client, NAME, NULL), contact), GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    assert_status(gh_op_poll(&change->op), GH_OK);
}

static void prepare_no_contacts(game* one, game* two)
{
    (void)one, (void)two;
}

static void prepare_list(game* one, game* two)
{
    touch_now(one, names, 4, false);
    block_now(two, gh_str_literal("foe"));
}

static void prepare_times(game* one, game* two)
{
    touch_now(one, names, 4, true);
    block_now(two, gh_str_literal("foe"));
}

static gh_status settle_change(drill* self, gh_contacts_change* change)
{
    DRILL_UNTIL(self, gh_op_poll(&change->op) != GH_PENDING);
    return gh_op_poll(&change->op);
}

static gh_status touch_with(drill* self, size_t first, size_t count, bool times)
{
    contacts_bag* bag = DRILL_NEW(self, contacts_bag);
    gh_contacts_config config = config_of(times);
    assert_status(gh_contacts_touch_many_begin(&bag->change, some_contacts(self->game->client, NAME, &config),
                                               names + first, count),
                  GH_OK);
    return settle_change(self, &bag->change);
}

static gh_status run_touch(drill* self)
{
    return touch_with(self, 4, 1, false);
}

static gh_status run_touch_times(drill* self)
{
    return touch_with(self, 4, 1, true);
}

static gh_status run_touch_known(drill* self)
{
    return touch_with(self, 0, 3, false);
}

static gh_status run_remove(drill* self)
{
    contacts_bag* bag = DRILL_NEW(self, contacts_bag);
    assert_status(gh_contacts_remove_begin(&bag->change, some_contacts(self->game->client, NAME, NULL), names[1]),
                  GH_OK);
    return settle_change(self, &bag->change);
}

static gh_status run_block(drill* self)
{
    contacts_bag* bag = DRILL_NEW(self, contacts_bag);
    assert_status(gh_contacts_block_begin(&bag->change, some_contacts(self->game->client, NAME, NULL), names[1]),
                  GH_OK);
    return settle_change(self, &bag->change);
}

static gh_status run_unblock(drill* self)
{
    contacts_bag* bag = DRILL_NEW(self, contacts_bag);
    assert_status(
        gh_contacts_unblock_begin(&bag->change, some_contacts(self->game->client, NAME, NULL), gh_str_literal("foe")),
        GH_OK);
    return settle_change(self, &bag->change);
}

static gh_status load_with(drill* self, contacts_bag* bag, bool blocked)
{
    gh_contacts_load_config config = gh_contacts_load_config_default();
    gh_client* client = self->game->client;
    config.blocked = blocked;
    assert_status(gh_contacts_init(&bag->contacts, client, NAME, NULL, bag->memory, sizeof(bag->memory)), GH_OK);
    assert_status(gh_contacts_load_begin(&bag->load, &bag->contacts, &config), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->load.op) != GH_PENDING);
    return gh_op_poll(&bag->load.op);
}

static gh_status run_load(drill* self)
{
    return load_with(self, DRILL_NEW(self, contacts_bag), false);
}

static gh_status run_load_blocked(drill* self)
{
    return load_with(self, DRILL_NEW(self, contacts_bag), true);
}

static void arm_touch(drill* self)
{
    assert_status(run_touch(self), GH_OK);
}

static const drill_case contacts_cases[] = {
    {"touch_new", prepare_no_contacts, NULL, run_touch, GH_OK, false, 0},
    {"touch", prepare_list, NULL, run_touch, GH_OK, false, 0},
    {"touch_again", prepare_list, arm_touch, run_touch_known, GH_OK, false, 0},
    {"touch_known", prepare_list, NULL, run_touch_known, GH_OK, false, 0},
    {"touch_with_times", prepare_times, NULL, run_touch_times, GH_OK, false, 0},
    {"touch_to_times", prepare_list, NULL, run_touch_times, GH_OK, false, 0},
    {"touch_from_times", prepare_times, NULL, run_touch, GH_OK, false, 0},
    {"remove", prepare_list, NULL, run_remove, GH_OK, false, 0},
    {"remove_of_times", prepare_times, NULL, run_remove, GH_OK, false, 0},
    {"block", prepare_list, NULL, run_block, GH_OK, false, 0},
    {"unblock", prepare_list, NULL, run_unblock, GH_OK, false, 0},
    {"load", prepare_list, NULL, run_load, GH_OK, false, 0},
    {"load_times", prepare_times, NULL, run_load, GH_OK, false, 0},
    {"load_blocked", prepare_list, NULL, run_load_blocked, GH_OK, false, 0},
};

/* A touch shows first, once, and nobody twice; what is removed is away. */
static bool heal_contacts(drill* self, char why[256])
{
    contacts_bag* bag = DRILL_NEW(self, contacts_bag);
    gh_contact found[16];
    gh_status status = touch_with(self, 0, 1, false);
    if (status != GH_OK) return snprintf(why, 256, "touch: %s", gh_status_name(status)) < 0;
    status = load_with(self, bag, false);
    if (status != GH_OK) return snprintf(why, 256, "load: %s", gh_status_name(status)) < 0;
    uint32_t count = gh_contacts_complete(&bag->contacts, gh_str_literal(""), found, 16);
    if (count < 1 || count > 4 || !gh_str_equal(found[0].name, names[0]))
        return snprintf(why, 256, "%u contacts, and not the one that was touched first", count) < 0;
    if (redis_server_integer(self->server, "EXISTS gh:{contacts:thing}:l gh:{contacts:thing}:z") != 1)
        return snprintf(why, 256, "both forms are there") < 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i + 1; k < count; k++)
            if (gh_str_equal(found[i].name, found[k].name)) return snprintf(why, 256, "one is there twice") < 0;
    gh_contacts_change* change = DRILL_NEW(self, gh_contacts_change);
    assert_status(gh_contacts_remove_begin(change, some_contacts(self->game->client, NAME, NULL), names[0]), GH_OK);
    status = settle_change(self, change);
    if (status != GH_OK) return snprintf(why, 256, "remove: %s", gh_status_name(status)) < 0;
    status = load_with(self, bag, false);
    if (status != GH_OK && status != GH_EMPTY) return snprintf(why, 256, "load: %s", gh_status_name(status)) < 0;
    if (gh_contacts_complete(&bag->contacts, names[0], found, 16) != 0)
        return snprintf(why, 256, "what was removed is still there") < 0;
    return true;
}

const drill_system drill_contacts = {
    "contacts", "contacts", contacts_cases, sizeof(contacts_cases) / sizeof(contacts_cases[0]), heal_contacts, false};

/* ---- guilds -------------------------------------------------------------------------------------------- */

typedef struct guild_bag
{
    gh_guild_change change;
    gh_guild_search search;
    gh_guild_has has;
    gh_guild_size size;
    gh_guild_member members[3];
    _Alignas(16) char buffer[GH_GUILD_BUFFER_SIZE(8)];
} guild_bag;

static void fill_members(gh_guild_member* members, size_t first)
{
    for (size_t i = 0; i < 3 && first + i < 5; i++)
    {
        members[i].name = names[first + i];
        members[i].id = gh_str_literal("17");
    }
}

static void prepare_guild(game* one, game* two)
{
    gh_guild_change* change = GAME_NEW(one, gh_guild_change);
    gh_guild_member* members = GAME_NEW_ARRAY(one, gh_guild_member, 3);
    fill_members(members, 1);
    assert_status(gh_guild_join_begin(change, a_guild(one->client, NAME, NULL), members, 3), GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    assert_status(gh_op_poll(&change->op), GH_OK);
    gh_guild_change* leave = GAME_NEW(two, gh_guild_change);
    assert_status(gh_guild_leave_begin(leave, a_guild(two->client, NAME, NULL), members + 2, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&leave->op) != GH_PENDING);
    assert_status(gh_op_poll(&leave->op), GH_OK);
}

static gh_status change_guild(drill* self, guild_bag* bag, size_t first, size_t count, bool leaves)
{
    fill_members(bag->members, first);
    memset(&bag->change, 0, sizeof(bag->change));
    assert_status((leaves ? gh_guild_leave_begin : gh_guild_join_begin)(
                      &bag->change, a_guild(self->game->client, NAME, NULL), bag->members, count),
                  GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->change.op) != GH_PENDING);
    return gh_op_poll(&bag->change.op);
}

static gh_status run_guild_join(drill* self)
{
    return change_guild(self, DRILL_NEW(self, guild_bag), 0, 3, false);
}

static gh_status run_guild_leave(drill* self)
{
    return change_guild(self, DRILL_NEW(self, guild_bag), 1, 2, true);
}

static gh_status search_guild(drill* self, guild_bag* bag, const char* prefix, uint32_t limit)
{
    gh_guild_search_config config = gh_guild_search_config_default();
    config.limit = limit;
    config.buffer = bag->buffer;
    config.buffer_size = sizeof(bag->buffer);
    assert_status(
        gh_guild_complete_begin(&bag->search, a_guild(self->game->client, NAME, NULL), gh_str_of(prefix), &config),
        GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->search.op) != GH_PENDING);
    return gh_op_poll(&bag->search.op);
}

static gh_status run_search(drill* self)
{
    return search_guild(self, DRILL_NEW(self, guild_bag), "je", 8);
}

static gh_status run_search_next(drill* self)
{
    guild_bag* bag = DRILL_NEW(self, guild_bag);
    gh_status status = search_guild(self, bag, "", 1);
    if (status != GH_OK || !bag->search.more) return status;
    assert_status(gh_guild_next_begin(&bag->search, a_guild(self->game->client, NAME, NULL)), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->search.op) != GH_PENDING);
    return gh_op_poll(&bag->search.op);
}

static gh_status ask_guild(drill* self, guild_bag* bag, size_t first)
{
    fill_members(bag->members, first);
    assert_status(gh_guild_has_begin(&bag->has, a_guild(self->game->client, NAME, NULL), bag->members, 2), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->has.op) != GH_PENDING);
    return gh_op_poll(&bag->has.op);
}

static gh_status run_has(drill* self)
{
    return ask_guild(self, DRILL_NEW(self, guild_bag), 0);
}

static gh_status run_size(drill* self)
{
    guild_bag* bag = DRILL_NEW(self, guild_bag);
    assert_status(gh_guild_size_begin(&bag->size, a_guild(self->game->client, NAME, NULL)), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->size.op) != GH_PENDING);
    return gh_op_poll(&bag->size.op);
}

static void arm_leave(drill* self)
{
    assert_status(run_guild_leave(self), GH_OK);
}

static const drill_case guild_cases[] = {
    {"join_first", prepare_no_contacts, NULL, run_guild_join, GH_OK, false, 0},
    {"join", prepare_guild, NULL, run_guild_join, GH_OK, false, 0},
    {"join_again", prepare_guild, arm_leave, run_guild_join, GH_OK, false, 0},
    {"leave", prepare_guild, NULL, run_guild_leave, GH_OK, false, 0},
    {"search", prepare_guild, NULL, run_search, GH_OK, false, 0},
    {"next", prepare_guild, NULL, run_search_next, GH_OK, false, 0},
    {"has", prepare_guild, NULL, run_has, GH_OK, false, 0},
    {"size", prepare_guild, NULL, run_size, GH_OK, false, 0},
};

/* Who joins is found, and is not any more when it has left; the size is the number of members. */
static bool heal_guild(drill* self, char why[256])
{
    guild_bag* bag = DRILL_NEW(self, guild_bag);
    gh_status status = change_guild(self, bag, 0, 3, false);
    if (status != GH_OK) return snprintf(why, 256, "join: %s", gh_status_name(status)) < 0;
    uint32_t size = bag->change.size;
    long long members = redis_server_integer(self->server, "ZCARD %s", drill_key("gh:{guild:<name>}:m"));
    if (members != (long long)size) return snprintf(why, 256, "%u members of %lld", size, members) < 0;
    status = search_guild(self, bag, "mia", 8);
    if (status != GH_OK || bag->search.count != 1)
        return snprintf(why, 256, "search: %s, %u", gh_status_name(status), bag->search.count) < 0;
    status = ask_guild(self, bag, 0);
    if (status != GH_OK || bag->has.found != 2)
        return snprintf(why, 256, "has: %s, %u of 2", gh_status_name(status), bag->has.found) < 0;
    status = change_guild(self, bag, 0, 3, true);
    if (status != GH_OK) return snprintf(why, 256, "leave: %s", gh_status_name(status)) < 0;
    status = search_guild(self, bag, "mia", 8);
    if ((status != GH_OK && status != GH_EMPTY) || bag->search.count != 0)
        return snprintf(why, 256, "search: %s, %u", gh_status_name(status), bag->search.count) < 0;
    return true;
}

const drill_system drill_guild = {"guild",    "guild", guild_cases, sizeof(guild_cases) / sizeof(guild_cases[0]),
                                  heal_guild, false};
