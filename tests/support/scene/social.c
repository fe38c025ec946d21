/* social.c -- guilds and contacts that are made where they are used. */

#include "support/scene/social.h"

#include <string.h>

const gh_guild* a_guild(gh_client* client, gh_str name, const gh_guild_config* config)
{
    static gh_guild guild;
    memset(&guild, '!', sizeof(guild));
    assert_status(gh_guild_init(&guild, client, name, config), GH_OK);
    return &guild;
}

gh_contacts* some_contacts(gh_client* client, gh_str owner, const gh_contacts_config* config)
{
    static gh_contacts contacts;
    memset(&contacts, '!', sizeof(contacts));
    assert_status(gh_contacts_init(&contacts, client, owner, config, NULL, 0), GH_OK);
    return &contacts;
}

gh_contacts* mirrored_contacts(game* from, gh_str owner, const gh_contacts_config* config)
{
    gh_contacts* contacts = GAME_NEW(from, gh_contacts);
    size_t size = gh_contacts_memory(config);
    assert_status(gh_contacts_init(contacts, from->client, owner, config, game_new(from, size), size), GH_OK);
    return contacts;
}
