/* social.h -- all that players do together and that is not trade: chats, mail, contacts, guilds; and what the
   server keeps of them: counters, promotions. One place in a game for each of mailbox.h, chat.h, contacts.h,
   guild.h, counters.h, rows.h.

   Who does it, each knowing only what is below:

       social.c            who is here, whose request it is, who is looked at in a frame
         |
         |--> social_talk.c      says and hears       --> social_chat.c      being in chats
         |--> social_mail.c      reads its mail       -.
         |--> social_whisper.c   writes to another    -'> social_contacts.c  whom it was last in touch with
         |--> social_guild.c     is in its guild, finds names in it, writes to all of it
         |--> social_look.c      looks at promotions, which promotions.c keeps fresh
         v
       social_parts.h      what is kept of each player, in parts; how it is answered

   A player of slot s:   social_enter --> until social_is_in --> (social_message ...) --> social_leave -->
                         until social_is_busy is false */

#ifndef GAME_SERVER_SOCIAL_H
#define GAME_SERVER_SOCIAL_H

#include "board.h"
#include "server/event_log.h"
#include "server/network.h"

typedef struct social social;

typedef struct social_config
{
    gh_client* client;
    network* network;
    board_row* row; /* counts go here */
    event_log* log; /* what happens   */
    uint32_t players_max;
    const char* database; /* SQLite file with the promotions; made if it is not there */

    /* Called for each letter of the market that was told to a player. */
    void (*on_market_letter)(void* context, uint32_t slot, gh_str words);
    void* context;
} social_config;

/* Places of the client's ops_capacity that it takes. */
uint32_t social_ops(uint32_t players_max);

/* NULL: it was said on stderr why not. All memory is reserved here. */
social* social_open(const social_config* config);

/* Once the client was drained or shut down. */
void social_close(social* s);

void social_enter(social* s, uint32_t slot, uint32_t player, gh_str name);

/* In its chats and its guild: all that is said there from now on, and all mail to the guild, is for it too.
   Nothing is told to the player before the next social_frame. */
bool social_is_in(const social* s, uint32_t slot);

void social_leave(social* s, uint32_t slot); /* begins; what is under way ends by itself */
bool social_is_busy(const social* s, uint32_t slot);

/* False: not one of ours, or the player is not in. It is answered, now or in a later frame, whatever happens.
   Once a WHISPER was answered by SENT, FIND_CONTACT finds whom it went to. */
bool social_message(social* s, uint32_t slot, const message* m);

void social_frame(social* s, uint64_t now_us, uint64_t frame_us);

/* What happens to players, for the counters of the fleet and for the log; from any part of the server. */
typedef enum social_event
{
    SOCIAL_HIT = 0,
    SOCIAL_TRADE,
    SOCIAL_LOGIN
} social_event;

void social_count(social* s, uint32_t player, social_event event, int64_t amount);

#endif
