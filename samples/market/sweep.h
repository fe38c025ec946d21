/* sweep.h -- one call for each of many objects, as many at once as there are players, and none is given up.

   For times when the players rest: it borrows their calls. */

#ifndef GAME_SERVER_SWEEP_H
#define GAME_SERVER_SWEEP_H

#include "world.h"

typedef struct sweep
{
    uint32_t count; /* objects are 0 .. count - 1 */
    void* context;  /* handed to both             */
    gh_status (*begin)(void* context, market_call* call, uint32_t object);
    void (*take)(void* context, const market_call* call, uint32_t object); /* of the answer; may be NULL */

    /* private */
    uint32_t next;
    uint32_t ended;
} sweep;

void sweep_begin(sweep* s, world* w);

/* Each frame. True when every object has been answered. */
bool sweep_frame(sweep* s, world* w, uint64_t now_us);

#endif
