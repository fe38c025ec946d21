/* social_guild.h -- the player's guild: the names in it, and mail to all of them. */

#ifndef GAME_SERVER_SOCIAL_GUILD_H
#define GAME_SERVER_SOCIAL_GUILD_H

#include "server/social_parts.h"

void guild_enter(social* s, social_player* p);
void guild_find(social* s, social_player* p, const message* m);
void guild_mail(social* s, social_player* p, const message* m);
bool guild_frame(social* s, social_player* p);
void guild_leave(social* s, social_player* p);

#endif
