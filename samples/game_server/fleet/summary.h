/* summary.h -- what is said at the end, on the terminal and as JSON, and whether all of it is as it
   must be. */

#ifndef GAME_SERVER_SUMMARY_H
#define GAME_SERVER_SUMMARY_H

#include "children.h"
#include "events.h"
#include "snapshot.h"
#include "store_audit.h"

typedef struct summary
{
    const snapshot* shown;
    const children* children;
    const store_audit* audit; /* NULL: it was not done */
    const events* events;     /* NULL: nothing was done to the store */
    uint64_t tasks_waiting;
    uint64_t tasks_dead;
    bool ended_early; /* Ctrl-C twice, or somebody did not end in time */
} summary;

/* Every check of every process held, each process ended in good order, the audit found nothing, all that was to be done
   to the store was done and made no op fail, what was told to be lost may have been, and no frame was late because of
   what gh_tick computed. */
bool summary_holds(const summary* s);

void summary_print(const summary* s);

/* False, with errno: it could not be written. */
bool summary_write_json(const summary* s, const char* path);

#endif
