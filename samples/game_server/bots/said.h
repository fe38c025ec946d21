/* said.h -- what somebody has said to the same ears, numbered 1, 2, 3, ... in the words themselves: so who
   listens can tell what is missing, and what came twice.

       said_next      3 is said now
       said_not       the server says that it was not stored: 3 will be said again
       said_unsure    nobody can tell: 3 may be heard or not, once at most; the next is 4 */

#ifndef GAME_SERVER_SAID_H
#define GAME_SERVER_SAID_H

#include <stdbool.h>
#include <stdint.h>

enum
{
    SAID_WINDOW = 256 /* how far back it is remembered what was unsure */
};

typedef struct said
{
    uint32_t count; /* the last that was said */
    uint64_t unsure[SAID_WINDOW / 64];
} said;

uint32_t said_next(said* s);
void said_not(said* s);
void said_unsure(said* s);

/* True if each of first .. last was unsure, or is too long ago to tell. None at all may always be missing. */
bool said_may_miss(const said* s, uint32_t first, uint32_t last);

#endif
