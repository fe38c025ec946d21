/* member.h -- what every process of the fleet that talks to the store has: a client, and a row on the board
 * that shows how it is. */

#ifndef GAME_SERVER_MEMBER_H
#define GAME_SERVER_MEMBER_H

#include "board.h"
#include "options.h"

typedef struct member
{
    gh_client* client;
    board_row row; /* as the others will see it; counts and checks are the role's to fill */

    /* private */
    board* board; /* NULL: nobody looks at us */
    uint32_t slot;
    void* memory;
} member;

/* capacities: a config from gh_client_config_default in which the role has set what it needs; address, names,
   hooks and the like are set here. False: it was said on stderr why not. */
bool member_open(member* m, const options* o, const char* role, gh_client_config capacities);

/* Each frame: shows the row, with the client's counts. */
void member_publish(member* m, uint64_t now_us, const char* phase);

/* Ends the client, shows "over" if all went well, and forgets. */
void member_close(member* m, bool good);

#endif
