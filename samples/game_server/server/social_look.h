/* social_look.h -- players look at promotions. */

#ifndef GAME_SERVER_SOCIAL_LOOK_H
#define GAME_SERVER_SOCIAL_LOOK_H

#include "server/social_parts.h"

void look_at(social* s, social_player* p, const message* m);
bool look_frame(social* s, social_player* p);
void look_leave(social* s, social_player* p);

#endif
