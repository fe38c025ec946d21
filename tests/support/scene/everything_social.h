/* everything_social.h -- the part of everything.h that has to do with contacts and guilds. */

#ifndef GUILDHALL_TESTS_EVERYTHING_SOCIAL_H
#define GUILDHALL_TESTS_EVERYTHING_SOCIAL_H

#include "support/scene/everything.h"

typedef struct everything_social
{
    gh_contacts contacts;
    gh_contacts_change contact[5];
    gh_contacts_load load;

    gh_guild_change join;
    gh_guild_change leave;
    gh_guild_member members[2];
    gh_guild_search search;
    void* page;
    gh_guild_size size;
    gh_guild_has has;
    gh_guild_member asked[2];
} everything_social;

/* Memory of size bytes, aligned, for the mirror and for the page. */
void everything_social_begin(everything_social* all, gh_client* client, bool live, void* mirror, void* page,
                             size_t size);

/* To be called between ticks until it is true: the guild was counted. */
bool everything_social_use(everything_social* all, gh_client* client);

/* The page behind: once search has ended GH_OK. */
void everything_social_next(everything_social* all, gh_client* client, bool live);

void everything_social_touch(everything_social* all);
void everything_social_detach(everything_social* all);

#endif
