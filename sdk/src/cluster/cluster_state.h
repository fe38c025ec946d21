/* cluster_state.h -- what a client keeps of a Cluster: the map of its slots, where its nodes are, when to ask anew. */

#ifndef GH_CLUSTER_STATE_H
#define GH_CLUSTER_STATE_H

#include "client/link.h"
#include "client/topology.h"
#include "cluster/cluster_place.h"
#include "guildhall/cluster.h"
#include "wire/slots_map.h"

/* Where ops wait for hints, if these go over the slots: cluster_hints.h. */
typedef struct gh_cluster_channel gh_cluster_channel;
typedef struct gh_cluster_listener gh_cluster_listener;
typedef struct gh_cluster_hints
{
    gh_cluster_listener* listeners; /* one for each place; NULL: hints go to all nodes, and nothing of this is there */
    gh_cluster_channel* channels;
    uint32_t* chains;    /* of channels, by slot: a number, plus 1                    */
    uint32_t capacity;
    uint32_t chain_mask;
    uint32_t free;       /* a chain, the same                                         */
    uint32_t used;       /* channels that are not free                                */
    uint32_t wanted;     /* of these, such as are to be subscribed to                 */
    uint32_t open;       /* listeners with a link                                     */
    uint64_t look_us;    /* when those that are wanted are looked at next             */
    uint64_t sweep_us;   /* when it is looked for those that nobody needs any more    */
} gh_cluster_hints;

typedef struct gh_cluster
{
    gh_slots_map map;
    gh_slots_reader reader;
    gh_cluster_place* places;
    gh_epoch epochs[GH_SLOT_GROUPS];
    bool looking;        /* one of the places has `look`                                                             */
    uint32_t open_place; /* where a link was open                                                                    */
    uint32_t moves;      /* MOVED in a tick: what waits follows the first at once, and others with the next tick     */
    uint32_t scout_place; /* who was asked last                                                                     */
    uint32_t hurries;    /* maps that may still be asked for out of turn                                            */
    uint64_t scout_us;   /* when somebody is asked who took the place of a lost node; 0: nothing waits for one      */

    /* maps: one at a time, over a connection of their own, which is closed behind each */
    gh_link link;
    gh_cluster_place asked;
    uint32_t seed;       /* which of the config's addresses is asked next                */
    uint32_t next_node;  /* which of the nodes is asked next, or the one behind it       */
    uint32_t teller;     /* who said MOVED last, and no map since: a place, plus 1       */
    bool asked_teller;   /* the last map was such a one's, and may not have helped       */
    bool wanted;         /* something has happened that a map would tell                 */
    bool logged_in;      /* AUTH is answered, or was not sent: what comes is the map     */
    bool has_map;        /* there was one                                                */
    bool refused;        /* for good, by one of the addresses that were asked in turn    */
    bool told_unreachable; /* by the last map that was read: the log has it              */
    uint32_t unreached;  /* attempts in a row that have reached nobody                   */
    uint64_t ask_us;     /* not before                                                   */
    uint64_t pause_us;   /* between two maps: longer with each in a row                  */
    uint64_t refresh_us; /* asked at the latest                                          */
    uint64_t read_us;    /* when the last one was read                                   */

    gh_cluster_hints hints;
} gh_cluster;

static inline gh_cluster* gh_cluster_of(const gh_client* client)
{
    return (gh_cluster*)client->topology;
}

/* Of a server's first node: its number, in the map too. */
static inline uint32_t gh_cluster_place_number(const gh_node* node)
{
    return (uint32_t)(node - node->client->nodes);
}

static inline gh_cluster_place* gh_cluster_place_of(const gh_node* node)
{
    return &gh_cluster_of(node->client)->places[gh_cluster_place_number(node)];
}

/* By which it was connected: a redirection that names no host means this one. */
static inline gh_str gh_cluster_host_of(const gh_node* node)
{
    return node->link.target->address.host;
}

#endif
