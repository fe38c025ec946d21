/* cluster_connect.c -- which nodes are connected: those that somebody needs, and one from the beginning.

   Some of them have to wait: who may have replaced a master, for the map that says where the epoch lies; and who has
   got slots of a master that was replaced, until its successor was asked first. */

#include "cluster/cluster_connect.h"

#include "cluster/cluster_epoch.h"

gh_node* gh_cluster_awaited_of(gh_node* node)
{
    if (gh_node_has_unsent(node)) return node;
    if (node->client->config.replicas == NULL || node->second == NULL) return NULL;
    return gh_node_has_unsent(node->second) ? node->second : NULL;
}

/* One is remembered that was open when it was looked for last, and most likely still is. */
static bool is_any_open(gh_cluster* cluster, const gh_client* client)
{
    const gh_node* node;
    for (node = client->nodes; node < client->nodes + client->servers; node++)
    {
        if (!gh_link_is_open(&node->link)) continue;
        cluster->open_place = gh_cluster_place_number(node);
        return true;
    }
    return false;
}

/* One that was lost is made anew: somebody may hold something there, or wait for what was lost with it. */
static bool is_needed(const gh_cluster* cluster, gh_node* node)
{
    if (node->link.state == GH_LINK_BACKOFF || gh_cluster_awaited_of(node) != NULL) return true;
    return cluster->looking && gh_cluster_place_of(node)->look;
}

/* What it has got from a master that was replaced may not be the newest, and who has replaced that one would say so.
   One that cannot be connected holds nobody up. */
static bool awaits_new_masters(gh_node* node)
{
    const gh_cluster* cluster = gh_cluster_of(node->client);
    const gh_node* other;
    if (!gh_cluster_place_of(node)->behind || !cluster->looking) return false;
    for (other = node->client->nodes; other < node->client->nodes + node->client->servers; other++)
    {
        const gh_cluster_place* place = gh_cluster_place_of(other);
        if (place->look && !place->behind && other->link.failures == 0) return true;
    }
    return false;
}

static const gh_slots_node* known_node(const gh_node* node)
{
    return &gh_cluster_of(node->client)->map.nodes[gh_cluster_place_number(node)];
}

/* Connections are made when somebody needs them, and one from the beginning. Asked of each node in each tick, of which
   nearly all need none. */
bool gh_cluster_is_to_connect(gh_node* node)
{
    const gh_client* client = node->client;
    gh_cluster* cluster = gh_cluster_of(client);
    const bool needed = is_needed(cluster, node);
    if (!needed && gh_link_is_open(&client->nodes[cluster->open_place].link)) return false;
    if (known_node(node)->host_size == 0) return false;
    return (needed || !is_any_open(cluster, client)) && !gh_cluster_awaits_map(node) && !awaits_new_masters(node);
}

bool gh_cluster_find(gh_node* node)
{
    const gh_slots_node* known;
    gh_cluster_place* place;
    if (!gh_cluster_is_to_connect(node)) return false;
    known = known_node(node);
    place = gh_cluster_place_of(node);
    place->behind = false;
    node->link.target = &place->target;
    gh_cluster_place_set(place, known);
    return true;
}
