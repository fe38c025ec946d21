/* cluster_redirect.h -- an op that a node sends elsewhere, or tells to come again: cluster_redirect.c. */

#ifndef GH_CLUSTER_REDIRECT_H
#define GH_CLUSTER_REDIRECT_H

#include "cluster/cluster_state.h"

/* gh_topology.redirect. */
void gh_cluster_redirect(gh_node* node, gh_op* op, gh_str error);

#endif
