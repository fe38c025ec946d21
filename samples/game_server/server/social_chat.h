/* social_chat.h -- being in chats: that of the player's zone and that of its guild. */

#ifndef GAME_SERVER_SOCIAL_CHAT_H
#define GAME_SERVER_SOCIAL_CHAT_H

#include "server/social_parts.h"

size_t chat_feed_memory(uint32_t players_max);
bool chat_open(social* s, void* memory);
void chat_enter(social* s, social_player* p);
bool chat_is_in(const social_player* p);
void chat_join_again(social* s, social_player* p, membership* m);
bool chat_frame(social* s, social_player* p);
void chat_leave(social* s, social_player* p);

#endif
