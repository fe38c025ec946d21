/* cluster_epoch.h -- which epoch a node is known by, and who is left because there is none: cluster_epoch.c. */

#ifndef GH_CLUSTER_EPOCH_H
#define GH_CLUSTER_EPOCH_H

#include "cluster/cluster_state.h"

/* gh_topology.epoch, and gh_topology.strays. */
gh_epoch* gh_cluster_epoch(gh_node* node, uint32_t* tag);
bool gh_cluster_strays(gh_node* node, gh_str error);

/* The key that its hand-shake asked for is not there any more, or there is one and there was none. */
bool gh_cluster_epoch_has_moved(gh_node* node);

/* It is not to be connected before a map has come that may say where its epoch lies. */
bool gh_cluster_awaits_map(gh_node* node);

/* By what the map says, which is no loss. */
void gh_cluster_leave(gh_node* node);

/* MOVED has said that the slot is the node's. */
void gh_cluster_leave_if_new(gh_cluster* cluster, gh_node* node, uint16_t slot);

/* Rows of a map were read; it need not have come to its end. */
void gh_cluster_leave_gains_of_rows(const gh_cluster* cluster, gh_client* client);

#endif
