/* aside.h -- where roles print what they have to say at their end: stdout, or, when they are threads, the fleet's file,
   so that it does not disturb the live view. */

#ifndef GAME_SERVER_ASIDE_H
#define GAME_SERVER_ASIDE_H

#include <stdio.h>

FILE* aside(void);

/* From here on to the end of that file, for all threads. NULL: stdout. Called before they begin. */
void aside_to(const char* path);

#endif
