/* everything_social.c -- contacts and guilds, begun, touched and detached as in everything.c. A guild is a value that
   is written over as soon as the ops on it have begun. */

#include "support/scene/everything_social.h"

#include "support/scene/everything_part.h"

#include <string.h>

#define BEGIN(function, ...) BEGIN_AS(live, function, __VA_ARGS__)
#define NAME(text)           gh_str_literal(text)

static void begin_contacts(everything_social* all, gh_client* client, bool live, void* mirror, size_t size)
{
    static const gh_str names[] = {GH_STR_INIT("mia"), GH_STR_INIT("bob")};
    gh_contacts* contacts = &all->contacts;
    BEGIN(gh_contacts_init, contacts, client, PASSING("jeff"), NULL, mirror, size);
    BEGIN(gh_contacts_touch_begin, &all->contact[0], contacts, PASSING("mia"));
    BEGIN(gh_contacts_touch_many_begin, &all->contact[1], contacts, names, 2);
    BEGIN(gh_contacts_remove_begin, &all->contact[2], contacts, PASSING("mia"));
    BEGIN(gh_contacts_block_begin, &all->contact[3], contacts, PASSING("bob"));
    BEGIN(gh_contacts_unblock_begin, &all->contact[4], contacts, PASSING("bob"));
    BEGIN(gh_contacts_load_begin, &all->load, contacts, NULL);
}

static void search(everything_social* all, const gh_guild* guild, bool live)
{
    gh_guild_search_config config = gh_guild_search_config_default();
    config.buffer = all->page;
    config.buffer_size = GH_GUILD_BUFFER_SIZE(config.limit);
    BEGIN(gh_guild_complete_begin, &all->search, guild, PASSING("j"), &config);
}

static void begin_guilds(everything_social* all, gh_client* client, bool live)
{
    gh_guild guild;
    all->members[0].name = all->asked[0].name = NAME("jeff");
    all->members[1].name = all->asked[1].name = NAME("jenny");
    BEGIN(gh_guild_init, &guild, client, PASSING("monks"), NULL);
    BEGIN(gh_guild_leave_begin, &all->leave, &guild, all->members, 1);
    BEGIN(gh_guild_init, &guild, client, PASSING("knights"), NULL);
    BEGIN(gh_guild_join_begin, &all->join, &guild, all->members, 2);
    search(all, &guild, live);
    BEGIN(gh_guild_size_begin, &all->size, &guild);
    BEGIN(gh_guild_has_begin, &all->has, &guild, all->asked, 2);
    memset(&guild, EVERYTHING_GONE, sizeof(guild));
}

void everything_social_begin(everything_social* all, gh_client* client, bool live, void* mirror, void* page,
                             size_t size)
{
    assert_true(size >= GH_GUILD_BUFFER_SIZE(10));
    all->page = page;
    begin_contacts(all, client, live, mirror, size);
    begin_guilds(all, client, live);
}

void everything_social_next(everything_social* all, gh_client* client, bool live)
{
    gh_guild guild;
    BEGIN(gh_guild_init, &guild, client, PASSING("knights"), NULL);
    BEGIN(gh_guild_next_begin, &all->search, &guild);
    memset(&guild, EVERYTHING_GONE, sizeof(guild));
}

bool everything_social_use(everything_social* all, gh_client* client)
{
    if (gh_op_poll(&all->search.op) == GH_EMPTY) /* before the join was */
    {
        gh_guild guild;
        assert_status(gh_guild_init(&guild, client, NAME("knights"), NULL), GH_OK);
        search(all, &guild, true);
    }
    return gh_op_poll(&all->size.op) == GH_OK;
}

void everything_social_touch(everything_social* all)
{
    gh_contact found[4];
    for (int i = 0; i < 5; i++) everything_must_be_over(&all->contact[i].op);
    everything_must_be_over(&all->load.op);
    CALL(gh_contacts_complete)(&all->contacts, NAME("m"), found, 4);
    everything_must_be_over(&all->join.op);
    everything_must_be_over(&all->leave.op);
    everything_must_be_over(&all->search.op);
    everything_must_be_over(&all->size.op);
    everything_must_be_over(&all->has.op);
}

void everything_social_detach(everything_social* all)
{
    for (int i = 0; i < 5; i++) gh_op_detach(&all->contact[i].op);
    gh_op_detach(&all->load.op);
    gh_op_detach(&all->join.op);
    gh_op_detach(&all->leave.op);
    gh_op_detach(&all->search.op);
    gh_op_detach(&all->size.op);
    gh_op_detach(&all->has.op);
    memset(all, EVERYTHING_GONE, sizeof(*all));
}
