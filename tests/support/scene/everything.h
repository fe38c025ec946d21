/* everything.h -- one of each op and object that a client can have, for tests of what all of them have in common.

   Each public function is called through a word that notes its name, so that a test can ask which were forgotten. */

#ifndef GUILDHALL_TESTS_EVERYTHING_H
#define GUILDHALL_TESTS_EVERYTHING_H

#include "support/scene/game.h"

typedef struct everything everything;

/* What names are overwritten with as soon as a begin has returned. */
#define EVERYTHING_GONE '!'

/* All idle. They live as long as their owner, which is another client than the one that they are begun with. */
everything* everything_new(game* owner);

/* Begins all of them that can begin now. `live`: each must begin; else each must say GH_INVALID_CLIENT. */
void everything_begin(everything* all, gh_client* client, bool live);

/* To be called between ticks until it is true: then there are locks, a set, permits, tasks, a room of the feed, a load
   of a row in hand, waiters behind some of them, and requests under way. */
bool everything_use(everything* all);

/* Calls each function that takes an op or an object and no client, and those that say how an op stands must say
   something that is not GH_PENDING. */
void everything_touch(everything* all);

/* Detaches all that are ops, and writes over their memory; ends the counters, which stay where they are. */
void everything_detach(everything* all);

/* True: it was called by one of the above. */
bool everything_has_called(const char* function);

/* For the parts of it: that function is called. */
void everything_note(const char* function);

#endif
