/* social_talk.h -- saying and hearing, in the chats that a player is in. */

#ifndef GAME_SERVER_SOCIAL_TALK_H
#define GAME_SERVER_SOCIAL_TALK_H

#include "server/social_parts.h"

void talk_say(social* s, social_player* p, const message* m);
void talk_heard(social* s, social_player* p, const message* m);
void talk_frame(social* s); /* all chats: what is said, and what was said */

#endif
