/* cleaner.h -- takes everything of a world out of the store: all keys that begin with its prefix. */

#ifndef GAME_SERVER_CLEANER_H
#define GAME_SERVER_CLEANER_H

#include "guildhall/command.h"

typedef struct cleaner
{
    /* private */
    gh_client* client;
    gh_script script;
    gh_command op;
    bool asked;
    char pattern[64];
    char cursor[24];
    gh_str arguments[2];
    uint64_t reply[16];
} cleaner;

void cleaner_begin(cleaner* c, gh_client* client, const char* prefix);

/* Each frame. True when none is left. */
bool cleaner_frame(cleaner* c);

#endif
