/* options.h -- the command line. */

#ifndef GAME_SERVER_OPTIONS_H
#define GAME_SERVER_OPTIONS_H

#include "market.h"

typedef struct options
{
    const char* redis;
    const char* user;
    const char* password; /* from REDISCLI_AUTH, as redis-cli has it: a command line can be read by all */
    const char* market;   /* NULL: one of our own, which is removed at the end                         */
    market_guard guard;
    uint32_t players;
    uint32_t seconds; /* 0: until Ctrl-C */
    uint64_t seed;
    bool quiet;
} options;

/* False: the program is over, with *exit_code; what was wrong has been said. */
bool options_parse(options* o, int argc, char** argv, int* exit_code);

#endif
