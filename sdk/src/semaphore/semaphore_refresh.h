/* semaphore_refresh.h -- the permits that a client holds of one semaphore with one lease: refreshed together.

       group    a ring in order of joining; the first of it is in the client's table of gates, by name and
                lease
       carrier  the member whose op sends the request for itself and up to 99 others */

#ifndef GH_SEMAPHORE_REFRESH_H
#define GH_SEMAPHORE_REFRESH_H

#include "client/lease.h"
#include "guildhall/semaphore.h"

#define GH_PERMIT_BATCH_MAX 100u

/* first is a member of the group, or NULL. */
void gh_permit_group_join(gh_permit* permit);

/* A batch that it carried is given up: its members are told GH_EVENT_TIMER in the next tick, and refresh
   anew. */
void gh_permit_group_leave(gh_permit* permit);

/* Chooses who is to be refreshed together with this one, and returns whose request it will be. In doubt: whoever is not
   being refreshed yet, whenever its time comes. */
gh_permit* gh_permit_batch_choose(gh_permit* permit, bool in_doubt);

/* The next member of the carrier's batch behind this one (the carrier itself is the first); NULL: there is
   none. */
gh_permit* gh_permit_batch_next(const gh_permit* carrier, gh_permit* from);

/* Takes it out of the batch. */
void gh_permit_batch_drop(gh_permit* permit);

#endif
