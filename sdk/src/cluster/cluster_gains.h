/* cluster_gains.h -- what becomes of the nodes that a new map gives slots to, or takes all slots from:
   cluster_gains.c. */

#ifndef GH_CLUSTER_GAINS_H
#define GH_CLUSTER_GAINS_H

#include "cluster/cluster_state.h"

/* Behind each map. Nodes that no map names any more take no ops, and are forgotten when their link is gone. But for one
   that gets its first slot: no map has it yet, and it is asked out of turn. True: one of them had slots, and was
   replaced, whatever waits there yet. */
bool gh_cluster_retire(gh_cluster* cluster, gh_client* client);

/* Behind that, which has said whether one was replaced: who has got slots is asked whether what is held there is still
   known, even if nobody asks anything else there. */
void gh_cluster_look_at_gains(gh_cluster* cluster, gh_client* client, bool replaced);

/* In each tick: of those that are to be asked, some have been. */
void gh_cluster_end_looks(gh_cluster* cluster, gh_client* client);

#endif
