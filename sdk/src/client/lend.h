/* lend.h -- buffers that the links of many nodes share: lend.c. */

#ifndef GH_LEND_H
#define GH_LEND_H

#include "base/wipe.h"
#include "client/state.h"

bool gh_lend_carve(gh_arena* arena, gh_client* client);

/* False: none is free; another tick will do. */
bool gh_lend_out(gh_client* client, gh_link* link);
bool gh_lend_in(gh_client* client, gh_link* link);

/* Whether it has one, or one is free. */
bool gh_lend_has_out(const gh_client* client, const gh_link* link);
bool gh_lend_has_in(const gh_client* client, const gh_link* link);

/* Others want what this one receives into, and of a reply no more than its beginning has been in it for long; and when
   that is so, if nothing comes: GH_FOREVER, while nobody wants it. */
bool gh_lend_is_held_up(const gh_client* client, const gh_link* link);
uint64_t gh_lend_due(const gh_client* client, const gh_link* link);

/* Takes back what has nothing in it. Of a client with many nodes alone. */
void gh_lend_settle(gh_client* client, gh_link* link);

void gh_lend_wipe(gh_client* client);

#endif
