/* made_sentinels.h -- sentinels and servers that a test makes up, on a world of scripted.h: honest until they are told
   to be otherwise.

       made_sentinels* fleet = made_sentinels_new(3);
       made_sentinels_start(fleet);                  // a client that is ready at server 0
       fleet->named[2] = 1;                          // a failover of which only that one knows
       scripted_tick(fleet->world, 5000);

   Sentinel n is 10.0.0.9:(MADE_SENTINEL_PORT + n), server n is 10.0.0.1:(MADE_SERVER_PORT + n). */

#ifndef GUILDHALL_TESTS_MADE_SENTINELS_H
#define GUILDHALL_TESTS_MADE_SENTINELS_H

#include "support/server/scripted.h"

#define MADE_SENTINELS_MOST 5
#define MADE_SERVERS_MOST   3
#define MADE_SENTINEL_PORT  26379
#define MADE_SERVER_PORT    7000

typedef struct made_sentinels
{
    scripted* world;
    gh_client_config config; /* to be changed before the start */
    unsigned count;
    unsigned named[MADE_SENTINELS_MOST];   /* the server that is said to be the master              */
    unsigned asked[MADE_SENTINELS_MOST];   /* how often                                             */
    const char* said[MADE_SENTINELS_MOST]; /* instead of whom it names; NULL: nothing               */
    bool away[MADE_SENTINELS_MOST];        /* nobody connects to it                                 */
    bool is_replica[MADE_SERVERS_MOST];    /* as it says of itself                                  */
    bool silent[MADE_SERVERS_MOST];        /* it takes requests, and answers none                   */
    unsigned connected[MADE_SERVERS_MOST]; /* how often                                             */
} made_sentinels;

made_sentinels* made_sentinels_new(unsigned count);
void made_sentinels_start(made_sentinels* fleet);

/* An open stream; NULL: there is none. */
scripted_stream* made_sentinels_stream(made_sentinels* fleet, unsigned port);

/* The sentinel closes its connection. */
void made_sentinels_part(made_sentinels* fleet, unsigned sentinel);

/* It says something on a channel of its own accord. */
void made_sentinels_tell(made_sentinels* fleet, unsigned sentinel, const char* channel, const char* text);

#endif
