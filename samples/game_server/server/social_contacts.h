/* social_contacts.h -- whom the player was last in touch with. */

#ifndef GAME_SERVER_SOCIAL_CONTACTS_H
#define GAME_SERVER_SOCIAL_CONTACTS_H

#include "server/social_parts.h"

void contacts_enter(social* s, social_player* p);
void contacts_find(social* s, social_player* p, const message* m);

/* So many more touches it takes now. */
uint32_t contacts_room(const social_player* p);
void contacts_touch(social* s, social_player* p, gh_str name);

bool contacts_frame(social* s, social_player* p);
void contacts_leave(social* s, social_player* p);

#endif
