/* cluster_place.h -- where a node of a Cluster is, and for which name its certificate must be: cluster_place.c. */

#ifndef GH_CLUSTER_PLACE_H
#define GH_CLUSTER_PLACE_H

#include "client/state.h"
#include "wire/slots_map.h"

/* Where a node is, by the place that it has in the map and among the client's nodes. */
typedef struct gh_cluster_place
{
    gh_target target;
    uint64_t anew_us; /* not connected anew before that for where it sends an op */
    uint32_t passed_over; /* the tag of an epoch that was on its way or gone when it was asked for, plus 1 */
    uint32_t passed_map; /* the number of the map by which one was gone that was passed over */
    bool served; /* it has had slots */
    bool left; /* its link was given up by what the map says, which is no reason to ask for another */
    bool strayed; /* since it was asked for its epoch it has said that a slot which it had is another's: see
                     cluster_epoch.c */
    bool look; /* what it has forgotten, or never had, is to be found out, even if nobody asks it anything */
    bool behind; /* connected no sooner than those who are looked at have been asked, or could not be */
    char text[GH_ENDPOINT_TEXT_MAX];
    char name[GH_ENDPOINT_HOST_MAX]; /* that it announces */
} gh_cluster_place;

/* Of a node that has a host. */
void gh_cluster_place_set(gh_cluster_place* place, const gh_slots_node* node);

#endif
