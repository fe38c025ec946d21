/* social.h -- guilds and contacts of the moment.

   A gh_guild is a value, and so is a gh_contacts that has no mirror: nothing points to it once a begin has returned. So
   there is one of each here, which every call makes anew. */

#ifndef GUILDHALL_TESTS_SOCIAL_H
#define GUILDHALL_TESTS_SOCIAL_H

#include "support/scene/game.h"

/* Well made, until the next call. */
const gh_guild* a_guild(gh_client* client, gh_str name, const gh_guild_config* config);
gh_contacts* some_contacts(gh_client* client, gh_str owner, const gh_contacts_config* config);

/* With a mirror; they live as long as the game. */
gh_contacts* mirrored_contacts(game* from, gh_str owner, const gh_contacts_config* config);

#endif
