/* member.h -- what every process of the fleet has that talks to the store: a client, a clock, and a row on
   the board that shows how it is.

   member_open --> frame_begin, member_tick, your work, member_tick, member_end_frame --> ... member_close */

#ifndef GAME_SERVER_MEMBER_H
#define GAME_SERVER_MEMBER_H

#include "delays.h"
#include "frame.h"
#include "options.h"
#include "tls_way.h"

#define MEMBER_BUDGET_US 500 /* of a frame; its two ticks share it */
#define MEMBER_SYSTEMS   48  /* names; several files of one system may each have their own */

/* Where the ops of a system are counted. Its name is compared by its address, which costs a tick next to nothing. */
typedef struct member_system
{
    const char* name;
    uint64_t* ops;
} member_system;

typedef struct member
{
    gh_client* client;
    frame_clock clock;
    board_row row; /* yours to fill: port, players, counts, checks; the rest is filled in */

    /* private */
    board* board; /* NULL: nobody looks at us */
    uint32_t slot;
    void* memory;
    tls_way way;
    delays delays;
    member_system systems[MEMBER_SYSTEMS];
} member;

/* capacities: from gh_client_config_default, with what this role needs more of. False: it was said on stderr
   why not. */
bool member_open(member* m, const options* o, const char* role, const gh_client_config* capacities);

void member_phase(member* m, const char* phase);
void member_tick(member* m);

/* Shows the row, and sleeps until the next frame. */
void member_end_frame(member* m);

/* Shows the row for the last time, with the phase "over" if all went well, and ends the client. */
void member_close(member* m, bool good);

#endif
