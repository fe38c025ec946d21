/* letters.h -- who gets mail, and what must hold of it. It knows nothing of the network.

       box      one mailbox: ids have no gap, and come again in a later session only
       thread   what one bot whispers to one other: each count once, in order
       round    what one bot writes to its guild: all get all of it, in any order */

#ifndef GAME_SERVER_LETTERS_H
#define GAME_SERVER_LETTERS_H

#include "said.h"

typedef enum letter_fault
{
    LETTER_GAP = 1 << 0,     /* ids or counts are missing                    */
    LETTER_TWICE = 1 << 1,   /* an id again in a session, or a count again   */
    LETTER_NONSENSE = 1 << 2 /* written by nobody                            */
} letter_fault;

/* ---- A mailbox ----------------------------------------------------------------------------------------- */

typedef struct box
{
    uint64_t epoch;
    uint64_t heard; /* the largest id                       */
    uint64_t at;    /* the last id in this session; 0: none */
    uint64_t read;  /* the server was told up to this one   */
} box;

void box_enter(box* b); /* a session begins */

/* *again: it came in an earlier session, and nothing more needs to be done about it. */
unsigned box_take(box* b, uint64_t epoch, uint64_t id, bool* again);

/* ---- Whispers ------------------------------------------------------------------------------------------ */

typedef struct thread
{
    said said;
    uint32_t heard;
} thread;

unsigned thread_hear(thread* t, uint32_t count);
bool thread_has_all(const thread* t); /* all that is not unsure */

/* ---- Guild mail ---------------------------------------------------------------------------------------- */

enum
{
    ROUND_WINDOW = 64, /* letters that are looked after at a time */
    ROUND_MEMBERS_MAX = 32
};

/* wanted: the members that must get it, a bit each; got: those who did. */
typedef struct round
{
    said said;
    uint32_t oldest; /* the first that is looked after, from 1 */
    uint32_t wanted[ROUND_WINDOW];
    uint32_t got[ROUND_WINDOW];
} round;

bool round_has_room(const round* r);
uint32_t round_write(round* r, uint32_t wanted);

/* *again: the member has it already, as may happen: mail to a guild is sent at least once. */
unsigned round_hear(round* r, uint32_t count, uint32_t member, bool* again);

/* Forgets what all have got. Returns how many those were. */
uint32_t round_settle(round* r);
bool round_is_missed_by(const round* r, uint32_t member);

#endif
