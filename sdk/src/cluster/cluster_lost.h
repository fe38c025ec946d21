/* cluster_lost.h -- what waits for a node that is lost, and who finds out its successor: cluster_lost.c. */

#ifndef GH_CLUSTER_LOST_H
#define GH_CLUSTER_LOST_H

#include "cluster/cluster_state.h"

/* gh_topology.lost. */
void gh_cluster_lost(gh_node* node);

/* When cluster->scout_us is over, which says then when the next ones go. */
void gh_cluster_send_scouts(gh_cluster* cluster, gh_client* client);

#endif
