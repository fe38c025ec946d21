/* crowd.h -- all the bots, and what they know of one another. For bots/ alone.

       bots.c              the loop: arrives, plays, settles, judges
         |
         |--> judge.c      who still has to hear something, and what must hold at the end
         v
       bot.c               one visit: AWAY -> CONNECTING -> IN_LINE -> LOADING -> PLAYING -> LEAVING -> AWAY ... OVER
         |
         |--> news.c       what servers tell by themselves: chats, mail, the bag
         |--> wishes.c     what it does next, by the seed and its number of actions alone
         |--> answers.c    what the answers say; they may lead to the next request
         v
       requests.c          what it has asked, until it is answered

   All of these know the crowd: their memory, who knows whom (crowd.c), with the network (wire.c) and the names of
   the checks (checks.c). said, ears, letters, account, sales and names judge; they know no network, and have unit
   tests. */

#ifndef GAME_SERVER_CROWD_H
#define GAME_SERVER_CROWD_H

#include "bots/account.h"
#include "bots/checks.h"
#include "bots/ears.h"
#include "bots/letters.h"
#include "bots/sales.h"
#include "bots/wire.h"
#include "options.h"
#include "random.h"

enum
{
    FRIENDS = 6, /* that a bot whispers to */
    CHATS = 2,   /* its zone and its guild */
    REQUESTS_MAX = 24,
    PREFIX_SIZE = PLAYER_NAME_SIZE
};

typedef enum bot_state
{
    BOT_AWAY = 0,
    BOT_CONNECTING,
    BOT_IN_LINE,
    BOT_LOADING, /* WELCOME; the bag follows */
    BOT_PLAYING,
    BOT_LEAVING, /* FAREWELL must come       */
    BOT_OVER
} bot_state;

/* What was asked, until it is answered. */
typedef struct request
{
    uint32_t number; /* 0: none */
    message_type type;
    uint64_t asked_us;
    uint32_t which; /* SAY: the chat; WHISPER: the friend; LOOK: the promotion  */
    uint32_t count; /* SAY, WHISPER, MAIL_GUILD: of the words                   */
    uint32_t any;   /* BROWSE: which offer to buy                               */
    sale trade;     /* SELL, BUY                                                */
    bool told;      /* SELL: mail has told of this offer before the answer did  */
    int64_t earned; /* by the account, when it was asked */
    size_t prefix_size;
    char prefix[PREFIX_SIZE]; /* FIND_ */
    char wanted[PREFIX_SIZE]; /* FIND_: must be among the names; or empty */
} request;

typedef struct bot
{
    uint32_t number;
    bot_state state;
    uint64_t until_us; /* AWAY: when it comes; CONNECTING: when it gives up; PLAYING: when it acts     */
    uint32_t server;   /* where it is, or goes next                                                    */
    uint32_t visits;
    uint32_t farewells;
    uint32_t actions;    /* that it has done, all visits together: with the seed they say what comes     */
    uint32_t stay;       /* actions until it leaves                                                      */
    uint32_t place;      /* in line; 0: not told                                                         */
    int64_t bag_to_come; /* LOADING                                                                      */
    int64_t earned;      /* by the account, when the connection began, or LEAVE was said */
    bool in;             /* WELCOME came in this visit                                                   */
    bool dropped;        /* its last visit had no FAREWELL                                               */
    bool joined;         /* its guild knows it: a search in there was answered                           */
    bool wanted;         /* there is something for it to hear                                            */
    account account;
    box box;
    ear ears[CHATS];
    uint64_t told[CHATS]; /* HEARD was said up to this id */
    uint32_t friends[FRIENDS];
    uint32_t touched; /* bits of friends whom it has whispered to in this visit */
    uint32_t next_number;
    request requests[REQUESTS_MAX];

    /* a name that is being typed */
    message_type typing; /* 0: none */
    uint64_t stroke_us;
    size_t typed;
    char name[PLAYER_NAME_SIZE]; /* what it types */
    bool must_be_there;
} bot;

typedef enum tally
{
    TALLY_VISITS = 0,
    TALLY_DROPS, /* connections ended without a word */
    TALLY_ASKED,
    TALLY_ANSWERED,
    TALLY_HEARD,
    TALLY_GAPS_TOLD,
    TALLY_MAILS,
    TALLY_AGAIN, /* mail that came in an earlier visit already */
    TALLY_HITS,
    TALLY_LISTED,
    TALLY_BOUGHT,
    TALLY_BUSY, /* the reasons of SORRY */
    TALLY_STORE,
    TALLY_UNSURE,
    TALLY_LATE,
    TALLY_POOR,
    TALLY_OTHER,
    TALLIES
} tally;

typedef struct crowd
{
    const options* options;
    wire* wire;
    uint32_t count;
    bot* bots;
    hall zones[ZONE_COUNT];
    hall* guilds;    /* count / GUILD_SIZE, rounded up */
    thread* threads; /* FRIENDS for each bot           */
    round* rounds;   /* one for each bot               */
    sales sales;
    bool promotions_seen[PROMOTIONS];
    board_row* row;
    uint64_t* tallies[TALLIES];
    uint64_t now_us;
    uint64_t trouble_us; /* when the last bot noticed that the store was in trouble; 0: never */
    bool closing;        /* nobody wishes anything any more                                   */
    bool settled;        /* and everything that was asked was answered                        */
} crowd;

/* ---- crowd.c ------------------------------------------------------------------------------------------- */

/* False: no memory. */
bool crowd_open(crowd* c, const options* o, board_row* row);
void crowd_close(crowd* c);

void tally_add(crowd* c, tally t);
uint64_t tally_of(const crowd* c, tally t);

/* Something has gone wrong; calm is when nothing did for a while. */
void crowd_trouble(crowd* c);
bool crowd_is_calm(const crowd* c);

/* Of any bot: its guild mates, itself included, are first .. first + count - 1. */
uint32_t guild_first(const bot* b);
uint32_t guild_count(const crowd* c, const bot* b);

/* ---- requests.c ---------------------------------------------------------------------------------------- */

request* request_begin(bot* b, message_type type); /* NULL: one of the kind is under way */
void request_send(crowd* c, bot* b, request* r, const message* m);
bool request_is_open(const bot* b);

/* ---- answers.c ----------------------------------------------------------------------------------------- */

void answers_take(crowd* c, bot* b, const message* m);
void answers_never_come(crowd* c, bot* b); /* to what is open */

/* ---- wishes.c ------------------------------------------------------------------------------------------ */

void wish(crowd* c, bot* b);
void type_on(crowd* c, bot* b); /* the next key-stroke, if it is time */
void tell_handled(crowd* c, bot* b);
random_source source_of(const crowd* c, const bot* b, uint32_t action);

/* ---- news.c -------------------------------------------------------------------------------------------- */

void news_chat(crowd* c, bot* b, const message* m);
void news_gap(crowd* c, bot* b, const message* m);
void news_mail(crowd* c, bot* b, const message* m);
void news_bag(crowd* c, bot* b, const message* m);

/* ---- bot.c --------------------------------------------------------------------------------------------- */

void bot_frame(crowd* c, bot* b);
void bot_connected(crowd* c, bot* b);
void bot_message(crowd* c, bot* b, const message* m);
void bot_lost(crowd* c, bot* b); /* the connection */

/* ---- judge.c ------------------------------------------------------------------------------------------- */

void judge_wanted(crowd* c); /* sets `wanted` of all */
void judge_all(crowd* c);

#endif
