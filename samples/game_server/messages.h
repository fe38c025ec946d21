/* messages.h -- what a player's program and a game server say to each other, over ENet, reliable and in
   order.

   All have one shape: a type, a number, four values, a name and a text. A request carries a number of the
   player's own count, and its answer brings it back; what the server says by itself has number 0.

       the player asks  name      text      values                             the server answers
       ENTER            player's            player's number                    QUEUED ..., WELCOME, BAG ...
       LEAVE                                                                   FAREWELL
       SAY              chat      words                                        SAID
       WHISPER          to whom   words                                        SENT
       READ                                 epoch, mail id: handled up to it   (none)
       HEARD            chat                epoch, chat id: the same           (none)
       FIND_CONTACT               prefix                                       NAMES
       FIND_MEMBER                prefix                                       NAMES
       BROWSE                                                                  OFFERS
       SELL                                 item, price, opens in ms,          LISTED
                                            ends in ms (0: never)
       BUY                                  item, version, price, seller       BOUGHT
       MAIL_GUILD                 words                                        SENT
       HIT                                  how hard                           (none: it is only counted)
       LOOK                                 number of a promotion              PROMOTION

       the server says  name      text      values
       QUEUED                               place in line, 1 is                as often as it changes
                                            next; 0: not known
       WELCOME          guild               player, gold, coins on hold,       BAG follows for each of them
                                            items
       BAG                                  item, version                      it is in the player's bag now
       SAID             chat                epoch
       SENT
       CHAT             chat      words     epoch, id, sender                  ids of a chat have no gap
       CHAT_GAP         chat                epoch, first, last                 these are gone, unread
       MAIL             from whom words     epoch, id                          again after the next ENTER, if
                                                                               it was not READ
       NAMES                      names     how many                           one a line
       OFFERS                     offers    how many                           lines: as below
       LISTED                               item, version, when it opens in ms
       BOUGHT                               item, version, price, gold left
       PROMOTION                  row       number, age in ms, how fresh (a gh_status)
       FAREWELL                             gold, coins on hold, items         the seat is free again
       SORRY                      why       a sorry_reason                     the request was not carried out

   FAREWELL comes unasked, too, when the seat is lost. What has no answer by then may have been done, or not.

   A line of OFFERS is "item version price seller". The lines are neighbours by their prices, from anywhere in
   the market: so not all players want the same.

   Mail about trade is written by workers, and may come more than once, as all that is done at least once:
       "sold <item> <version> <price>"       the seller's gold has grown by that much
       "back <item> <version>"               nobody bought it in time, it is in the bag again, as that version
   So may mail to a guild, which its writer does not get. */

#ifndef GAME_SERVER_MESSAGES_H
#define GAME_SERVER_MESSAGES_H

#include "guildhall/base.h"

enum
{
    MESSAGE_VALUES = 4,
    MESSAGE_NAME_MAX = 64,
    MESSAGE_TEXT_MAX = 2000,
    MESSAGE_SIZE_MAX = 1 + 4 + 8 * MESSAGE_VALUES + 1 + MESSAGE_NAME_MAX + 2 + MESSAGE_TEXT_MAX,
    MESSAGE_CHANNELS = 1,
    PLAYERS_MAX = 4096, /* in the whole world, by number */
    PLAYER_NAME_SIZE = 24,
    GUILD_SIZE = 20, /* player p is in the guild "guild-<p / GUILD_SIZE>", and in its chat of that name */
    GUILD_COUNT = (PLAYERS_MAX + GUILD_SIZE - 1) / GUILD_SIZE,
    ZONE_COUNT = 8, /* and talks in the chat "zone-<p % ZONE_COUNT>" */
    PROMOTIONS = 8
};

typedef enum message_type
{
    /* of players */
    MESSAGE_ENTER = 1,
    MESSAGE_LEAVE,
    MESSAGE_SAY,
    MESSAGE_WHISPER,
    MESSAGE_READ,
    MESSAGE_HEARD,
    MESSAGE_FIND_CONTACT,
    MESSAGE_FIND_MEMBER,
    MESSAGE_BROWSE,
    MESSAGE_SELL,
    MESSAGE_BUY,
    MESSAGE_MAIL_GUILD,
    MESSAGE_HIT,
    MESSAGE_LOOK,
    /* of servers */
    MESSAGE_QUEUED = 64,
    MESSAGE_WELCOME,
    MESSAGE_BAG,
    MESSAGE_SAID,
    MESSAGE_SENT,
    MESSAGE_CHAT,
    MESSAGE_CHAT_GAP,
    MESSAGE_MAIL,
    MESSAGE_NAMES,
    MESSAGE_OFFERS,
    MESSAGE_LISTED,
    MESSAGE_BOUGHT,
    MESSAGE_PROMOTION,
    MESSAGE_FAREWELL,
    MESSAGE_SORRY
} message_type;

typedef enum sorry_reason
{
    SORRY_BUSY = 1,  /* one request of a kind at a time, or the server is full of them; ask again */
    SORRY_STORE,     /* the store could not be reached in time, nothing was done; text says more */
    SORRY_UNSURE,    /* as above, but it may have been done: the player must not count on either */
    SORRY_TOO_LATE,  /* BUY: somebody else has it, or the offer has changed */
    SORRY_NO_FUNDS,  /* BUY */
    SORRY_NOT_YOURS, /* SELL: it is not in your bag */
    SORRY_NO_SUCH,   /* no such chat or player; a promotion that is not there, or not yet */
    SORRY_NONSENSE   /* a request that no honest program sends */
} sorry_reason;

/* name and text point into the bytes that the message was read from. */
typedef struct message
{
    message_type type;
    uint32_t number;
    int64_t values[MESSAGE_VALUES];
    gh_str name;
    gh_str text;
} message;

/* The size of what it wrote; 0 if name or text is too long. */
size_t message_write(const message* m, unsigned char out[MESSAGE_SIZE_MAX]);

/* False if the bytes are not exactly one message: what comes over the network is never trusted. */
bool message_read(message* m, const void* bytes, size_t size);

/* The name of the player of that number, such as "Runa0007"; NUL-terminated. Others have other names. */
gh_str player_name(uint32_t number, char out[PLAYER_NAME_SIZE]);

#endif
