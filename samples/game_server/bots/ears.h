/* ears.h -- who hears a chat, and what must hold of what is heard. It knows nothing of the network.

       hall    one chat, as all bots together know it: who says what under which id, and the newest id
       ear     one member of it: how far it has come, and the last count that it heard of each member

   Ids have no gap; the words of a member come in the order of their counts, none twice; all hear the same
   under an id.

   Who stays a member while it is away (a guild) is told at the next session what it has not handled: that may
   repeat what was heard before, and may not leave anything out. Who leaves the chat with the game (a zone)
   begins anew each time. So a zone may lose its last member and be made anew, under a larger epoch. */

#ifndef GAME_SERVER_EARS_H
#define GAME_SERVER_EARS_H

#include "said.h"

enum
{
    HALL_LINES = 4096 /* how many ids back it is known what was said */
};

typedef struct hall_line
{
    uint64_t id;
    uint32_t member;
    uint32_t count;
} hall_line;

typedef struct hall
{
    bool stays; /* members stay while they are away */
    uint64_t epoch;
    uint64_t newest;
    uint32_t member_count;
    said* said;      /* by each member                                       */
    uint32_t* known; /* of each member: the last count that anybody has heard */
    hall_line lines[HALL_LINES];
} hall;

typedef struct ear
{
    hall* hall;
    uint64_t epoch; /* 0: has never heard anything          */
    uint64_t heard; /* the largest id                       */
    uint64_t at;    /* the last id in this session; 0: none */
    uint32_t* last; /* count heard of each member; 0: none  */
    bool skipped;   /* a gap was told: counts may jump      */
} ear;

typedef enum ear_fault
{
    EAR_GAP = 1 << 0,       /* ids or counts are missing                      */
    EAR_TWICE = 1 << 1,     /* a count again under another id, or an id again */
    EAR_DIFFERENT = 1 << 2, /* others heard something else under this id      */
    EAR_NONSENSE = 1 << 3   /* said by nobody                                 */
} ear_fault;

/* False: no memory. */
bool hall_open(hall* h, uint32_t member_count, bool stays);
bool ear_open(ear* e, hall* h);
void hall_close(hall* h);
void ear_close(ear* e);

/* A session begins. */
void ear_enter(ear* e);

/* Each returns the faults, 0 if there are none. members are counted 0 .. member_count - 1 in this hall. */
unsigned ear_hear(ear* e, uint64_t epoch, uint64_t id, uint32_t member, uint32_t count);
unsigned ear_skip(ear* e, uint64_t epoch, uint64_t first, uint64_t last);

/* True if it has heard all that anybody has; of a zone, in this session. */
bool ear_has_all(const ear* e);

/* True if all that the member has said, and that is not unsure, was heard by somebody. Not for zones: who
   says something and leaves may have been alone. */
bool hall_has_all(const hall* h, uint32_t member);

#endif
