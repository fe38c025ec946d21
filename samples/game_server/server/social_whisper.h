/* social_whisper.h -- a word to one other player, who need not be here. */

#ifndef GAME_SERVER_SOCIAL_WHISPER_H
#define GAME_SERVER_SOCIAL_WHISPER_H

#include "server/social_parts.h"

void whisper_to(social* s, social_player* p, const message* m);
bool whisper_frame(social* s, social_player* p);

#endif
