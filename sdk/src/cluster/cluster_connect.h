/* cluster_connect.h -- which nodes are connected, and when: cluster_connect.c. */

#ifndef GH_CLUSTER_CONNECT_H
#define GH_CLUSTER_CONNECT_H

#include "cluster/cluster_state.h"

/* Of the two nodes of a server, of which the second connects beside the first, one that somebody waits to ask. NULL:
   nobody does. */
gh_node* gh_cluster_awaited_of(gh_node* node);

/* Of a node that is not open. */
bool gh_cluster_is_to_connect(gh_node* node);

/* gh_topology.find. */
bool gh_cluster_find(gh_node* node);

#endif
