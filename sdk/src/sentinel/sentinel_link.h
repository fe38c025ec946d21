/* sentinel_link.h -- one sentinel: the connection over which it is asked where the master is, and tells what happens.

       IDLE -> CONNECTING -> HANDSHAKE --AUTH, the question, SUBSCRIBE--> READY --> the question again: UNSUBSCRIBE, it,
                                                                                    SUBSCRIBE, in one piece

   It knows nothing of the client's other links: what it has heard is handed to whoever moves it. */

#ifndef GH_SENTINEL_LINK_H
#define GH_SENTINEL_LINK_H

#include "client/link.h"
#include "guildhall/sentinel.h"

/* What a sentinel has said of the master of the name that was asked for. Host and port are empty unless said so; they
   live until the next is asked for. */
typedef enum gh_sentinel_word
{
    GH_SENTINEL_NOTHING = 0,
    GH_SENTINEL_MASTER,    /* the answer to the question: it is at host and port              */
    GH_SENTINEL_UNKNOWN,   /* the answer to the question: there is no master of that name     */
    GH_SENTINEL_SWITCHED,  /* it is at host and port from now on                              */
    GH_SENTINEL_PROMOTING, /* the replica at host and port is told to become the master       */
    GH_SENTINEL_GIVEN_UP   /* a failover was ended without a new master                       */
} gh_sentinel_word;

typedef struct gh_sentinel_news
{
    gh_sentinel_word word;
    gh_str host;
    gh_str port;
} gh_sentinel_news;

typedef struct gh_sentinel
{
    gh_link link;
    gh_target target;
    gh_login login;
    uint64_t asked_us;
    bool asked; /* and not answered yet */
} gh_sentinel;

bool gh_sentinel_carve(gh_sentinel* sentinel, gh_arena* arena); /* sentinel NULL: measuring */

/* Connects it, asks, keeps it alive. */
void gh_sentinel_move(gh_sentinel* sentinel, gh_client* client);
uint64_t gh_sentinel_due(const gh_sentinel* sentinel, const gh_client* client);

/* What it has said since, or the beginning of that: anybody may PUBLISH there, and a tick must end. To be called when
   all that came before was asked for. */
void gh_sentinel_receive(gh_sentinel* sentinel, gh_client* client);

/* The next of it. */
gh_sentinel_news gh_sentinel_next(gh_sentinel* sentinel, gh_client* client);

/* Asks it where the master is. False: it cannot be asked now. */
bool gh_sentinel_ask(gh_sentinel* sentinel, gh_client* client);

#endif
