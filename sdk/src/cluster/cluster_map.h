/* cluster_map.h -- asks for maps, and reads them: cluster_map.c. */

#ifndef GH_CLUSTER_MAP_H
#define GH_CLUSTER_MAP_H

#include "cluster/cluster_state.h"

/* True once behind each map that has come to its end. */
bool gh_cluster_map_move(gh_cluster* cluster, gh_client* client);

/* The node at that place has said where something else is than the last one did. */
void gh_cluster_map_tell(gh_cluster* cluster, const gh_client* client, uint32_t place);

/* There is news: one is asked for soon, however many there were of late. */
void gh_cluster_map_hurry(gh_cluster* cluster, gh_client* client);

/* A map, MOVED or ASK has named a node that there is no place for. */
void gh_cluster_map_warn_of_capacity(gh_client* client);

uint64_t gh_cluster_map_due(const gh_cluster* cluster, const gh_client* client);

#endif
