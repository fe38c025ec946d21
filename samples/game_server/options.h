/* options.h -- the command line of every role. */

#ifndef GAME_SERVER_OPTIONS_H
#define GAME_SERVER_OPTIONS_H

#include "board.h"
#include "market/market.h"

typedef enum options_role
{
    ROLE_FLEET = 1 << 0,
    ROLE_SERVER = 1 << 1,
    ROLE_WORKER = 1 << 2,
    ROLE_AGGREGATOR = 1 << 3,
    ROLE_BOTS = 1 << 4,
    ROLE_STORE = ROLE_FLEET | ROLE_SERVER | ROLE_WORKER | ROLE_AGGREGATOR, /* those that talk to the store */
    ROLE_MEMBERS = ROLE_SERVER | ROLE_WORKER | ROLE_AGGREGATOR | ROLE_BOTS /* those that the fleet starts  */
} options_role;

enum
{
    OPTIONS_PORTS_MAX = 8
};

/* What a role has no option for is as options.c says: nobody looks at it. */
typedef struct options
{
    /* the store */
    const char* redis;
    bool cluster;          /* redis is one, or several nodes of a Cluster                                  */
    const char* sentinel;  /* what the Sentinels at redis call the master; NULL: they are none              */
    const char* user;
    const char* password;  /* from REDISCLI_AUTH, as redis-cli has it: a command line can be read by all */
    const char* tls_roots; /* who signed its certificate, as PEM; NULL: no TLS */
    bool embedded;         /* it is in this process: no redis, and all roles are threads */
    const char* prefix;    /* of all keys of one world; NULL in the fleet: it makes one                  */

    /* the place in the fleet */
    const char* name;
    const char* board; /* NULL: nobody looks at us */
    uint32_t slot;
    uint64_t seed;

    /* a server */
    uint32_t port;        /* 0: any */
    uint32_t seats;       /* 0: as many as the role thinks right */
    uint32_t players_max; /* connections, with those who wait in line */
    market_guard guard;
    bool realtime; /* ask for a real-time class of the scheduler, as on a machine that is not ours alone */
    const char* logs;
    const char* database;

    /* aggregators */
    const char* addresses; /* NULL: the made table */

    /* bots */
    uint32_t bots;
    uint32_t ports[OPTIONS_PORTS_MAX]; /* of the servers */
    uint32_t port_count;
    uint32_t seconds; /* 0: until Ctrl-C */

    /* the fleet */
    uint32_t servers;
    uint32_t workers;
    uint32_t page; /* port of the page; 0: none */
    bool quiet;
    const char* summary; /* NULL: none */
    const char* events;  /* NULL: nothing is done to the store; see fleet/events.h */
} options;

/* arguments: those behind the name of the role. False: the program is over, with *exit_code; what was wrong
   has been said. */
bool options_parse(options* o, options_role role, int count, char** arguments, int* exit_code);

#endif
