/* screen.h -- the live view on a terminal: drawn ten times a second, from the board. */

#ifndef GAME_SERVER_SCREEN_H
#define GAME_SERVER_SCREEN_H

#include "snapshot.h"

typedef struct screen
{
    bool is_live; /* stdout is a terminal that takes text */
    uint64_t draw_us;
} screen;

void screen_open(screen* s, bool quiet);

/* Each frame; draws when it is time to. doing: what the fleet is about, such as "playing". */
void screen_frame(screen* s, const snapshot* shown, const char* doing);

/* Gives the terminal back. */
void screen_close(screen* s);

#endif
