/* ops_social.c -- contacts with their mirrors, and guilds. */

#include "ops.h"

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

static gh_contacts* draw_contacts(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_contacts* made = place->more = OPS_LEND(place, gh_contacts);
    gh_contacts_config config = gh_contacts_config_default();
    config.capacity = 1 + fuzz_below(input, 6);
    OPS_VARY(input, config.capacity, uint32_t);
    config.timeout_us = ops_time(input, config.timeout_us);
    config.times = fuzz_bit(input);
    if (fuzz_bit(input)) config.fold = gh_fold_utf8;
    size_t size = gh_contacts_memory(&config);
    if (size > 16384 || fuzz_byte(input) > 224) size = 0;
    void* memory = size > 0 ? ops_lend(place, size) : NULL;
    gh_contacts_init(made, client, ops_name(place, input), &config, memory, size);
    return made;
}

static gh_status touch_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_contacts* contacts = draw_contacts(place, client, input);
    return gh_contacts_touch_begin(OPS_OP(place, gh_contacts_change), contacts, ops_name(place, input));
}

static gh_status touch_many_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_contacts* contacts = draw_contacts(place, client, input);
    const size_t count = ops_count(input, 5), there = count > 6 ? 0 : count;
    gh_str* names = OPS_LEND_ARRAY(place, gh_str, there);
    for (size_t i = 0; i < there; i++) names[i] = ops_lent_name(place, input);
    return gh_contacts_touch_many_begin(OPS_OP(place, gh_contacts_change), contacts, names, there);
}

static gh_status change_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_contacts* contacts = draw_contacts(place, client, input);
    gh_contacts_change* change = OPS_OP(place, gh_contacts_change);
    const gh_str name = ops_name(place, input);
    switch (fuzz_below(input, 3))
    {
    case 0: return gh_contacts_remove_begin(change, contacts, name);
    case 1: return gh_contacts_block_begin(change, contacts, name);
    default: return gh_contacts_unblock_begin(change, contacts, name);
    }
}

static gh_status load_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_contacts* contacts = draw_contacts(place, client, input);
    gh_contacts_load_config config = gh_contacts_load_config_default();
    config.blocked = fuzz_bit(input);
    return gh_contacts_load_begin(OPS_OP(place, gh_contacts_load), contacts, &config);
}

/* What is found lies in the mirror. */
static void complete_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_contacts* contacts = place->more;
    gh_contact found[8];
    (void)client;
    const uint32_t count = gh_contacts_complete(contacts, fuzz_text(input, 70), found, FUZZ_COUNT(found));
    FUZZ_MUST(count <= FUZZ_COUNT(found) && count <= contacts->count);
    for (uint32_t i = 0; i < count; i++)
    {
        FUZZ_MUST(found[i].name.size >= 1 && found[i].name.size <= GH_NAME_SIZE_MAX);
        fuzz_touch(found[i].name);
    }
}

/* ---- guild ------------------------------------------------------------------------------------------------------- */

static void draw_guild(gh_guild* made, ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_guild_config config = gh_guild_config_default();
    config.timeout_us = ops_time(input, config.timeout_us);
    OPS_VARY(input, config.capacity, uint32_t);
    if (fuzz_bit(input)) config.fold = gh_fold_utf8;
    gh_guild_init(made, client, ops_name(place, input), &config);
}

static gh_guild_member* draw_members(ops_place* place, fuzz_input* input, size_t count)
{
    gh_guild_member* members = OPS_LEND_ARRAY(place, gh_guild_member, count);
    for (size_t i = 0; i < count; i++)
    {
        members[i].name = ops_lent_name(place, input);
        if (fuzz_bit(input)) members[i].id = ops_lent_name(place, input);
    }
    return members;
}

static gh_status membership_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_guild guild;
    draw_guild(&guild, place, client, input);
    const size_t count = ops_count(input, 4), there = count > 5 ? 0 : count;
    gh_guild_member* members = draw_members(place, input, there);
    gh_guild_change* change = OPS_OP(place, gh_guild_change);
    return fuzz_bit(input) ? gh_guild_join_begin(change, &guild, members, count)
                           : gh_guild_leave_begin(change, &guild, members, count);
}

static gh_status has_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_guild guild;
    draw_guild(&guild, place, client, input);
    const size_t count = ops_count(input, 4), there = count > 5 ? 0 : count;
    return gh_guild_has_begin(OPS_OP(place, gh_guild_has), &guild, draw_members(place, input, there), count);
}

static gh_status size_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_guild guild;
    draw_guild(&guild, place, client, input);
    return gh_guild_size_begin(OPS_OP(place, gh_guild_size), &guild);
}

typedef struct searching
{
    gh_guild guild;
    const char* buffer;
    size_t size;
} searching;

static gh_status search_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_guild_search_config config = gh_guild_search_config_default();
    searching* more = place->more = OPS_LEND(place, searching);
    draw_guild(&more->guild, place, client, input);
    config.limit = 1 + fuzz_below(input, 4);
    OPS_VARY(input, config.limit, uint32_t);
    if (fuzz_byte(input) > 192) config.after = ops_name(place, input);
    config.buffer = ops_room(place, input, GH_GUILD_BUFFER_SIZE(4), &config.buffer_size);
    more->buffer = config.buffer;
    more->size = config.buffer_size;
    return gh_guild_complete_begin(OPS_OP(place, gh_guild_search), &more->guild, ops_name(place, input), &config);
}

static bool lies_in(const searching* more, gh_str text)
{
    return text.size == 0 || (text.bytes >= more->buffer && text.bytes + text.size <= more->buffer + more->size);
}

static void search_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_guild_search* search = (gh_guild_search*)place->op;
    searching* more = place->more;
    (void)input;
    if (gh_op_is_busy(&search->op)) return;
    if (gh_op_poll(&search->op) == GH_OK)
    {
        FUZZ_MUST(lies_in(more, search->cursor));
        for (uint32_t i = 0; i < search->count; i++)
            FUZZ_MUST(lies_in(more, search->hits[i].name) && lies_in(more, search->hits[i].id));
    }
    if (client == NULL) return;
    if (gh_guild_next_begin(search, &more->guild) == GH_OK) place->ended = GH_PENDING;
    else place->ended = gh_op_poll(&search->op);
}

const ops_kind ops_social[] = {
    {"contacts touch", touch_begin, complete_use, NULL},
    {"contacts touch many", touch_many_begin, complete_use, NULL},
    {"contacts change", change_begin, complete_use, NULL},
    {"contacts load", load_begin, complete_use, NULL},
    {"guild change", membership_begin, NULL, NULL},
    {"guild has", has_begin, NULL, NULL},
    {"guild size", size_begin, NULL, NULL},
    {"guild search", search_begin, search_use, NULL},
    {NULL, NULL, NULL, NULL},
};
