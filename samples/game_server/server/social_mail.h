/* social_mail.h -- each player's mailbox. */

#ifndef GAME_SERVER_SOCIAL_MAIL_H
#define GAME_SERVER_SOCIAL_MAIL_H

#include "server/social_parts.h"

void mail_enter(social* s, social_player* p);
void mail_read(social* s, social_player* p, const message* m);
bool mail_frame(social* s, social_player* p);
void mail_leave(social* s, social_player* p);

#endif
