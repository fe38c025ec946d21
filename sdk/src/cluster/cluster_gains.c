/* cluster_gains.c -- what becomes of the nodes that a new map gives slots to, or takes all slots from. */

#include "cluster/cluster_gains.h"

#include "cluster/cluster_connect.h"
#include "cluster/cluster_epoch.h"
#include "cluster/cluster_hints.h"

/* ---- who has none any more --------------------------------------------------------------------------------------- */

/* Its server is no more. */
static void forget_warnings(gh_node* node)
{
    node->warnings = node->warnings_found = 0;
    if (node->second != NULL) forget_warnings(node->second);
}

bool gh_cluster_retire(gh_cluster* cluster, gh_client* client)
{
    bool replaced = false;
    uint32_t place;
    for (place = 0; place < cluster->map.capacity; place++)
    {
        gh_node* node = &client->nodes[place];
        if (cluster->map.nodes[place].host_size == 0 || gh_slots_map_names(&cluster->map, place)) continue;
        if (cluster->map.seen.without_room > 0) cluster->wanted = true; /* for whom there is room now */
        replaced = replaced || cluster->places[place].served;
        if (gh_cluster_awaited_of(node) != NULL) continue;
        gh_cluster_leave(node);
        if (gh_link_is_open(&node->link)) continue;
        if (client->wake.target == &cluster->places[place].target) gh_wake_leave(client); /* no hint reaches it there */
        gh_cluster_hints_forget(client, place);
        gh_slots_map_forget(&cluster->map, place);
        forget_warnings(node);
        client->stats.failovers += cluster->places[place].served;
        cluster->places[place].look = cluster->places[place].served = cluster->places[place].behind = false;
        node->link.state = GH_LINK_IDLE;
        node->link.failures = 0; /* another one may get the place */
    }
    return replaced;
}

/* ---- who has got some -------------------------------------------------------------------------------------------- */

static bool anything_is_held(const gh_client* client)
{
    return client->leases[0].count + client->leases[1].count > 0;
}

static void look_at(gh_cluster* cluster, gh_node* node)
{
    if (node->link.state == GH_LINK_READY) return;
    gh_cluster_place_of(node)->look = cluster->looking = true;
    gh_node_wake(node);
}

/* By the last map: one that had slots before, and one that had none. */
static bool have_both_gained(const gh_cluster* cluster)
{
    uint32_t kinds = 0;
    uint32_t place;
    for (place = 0; place < cluster->map.capacity; place++)
        if (cluster->map.nodes[place].gained != 0) kinds |= cluster->places[place].served ? 1u : 2u;
    return kinds == 3;
}

/* Where a master was replaced, others that were there before may have got slots of it, too. What is in these may not be
   the newest, and only who has replaced it can tell that: so he is asked first. */
static void ask_new_masters_first(gh_cluster* cluster, gh_client* client)
{
    uint32_t place;
    if (!have_both_gained(cluster)) return;
    for (place = 0; place < cluster->map.capacity; place++)
    {
        if (cluster->map.nodes[place].gained == 0) continue;
        cluster->places[place].behind = cluster->places[place].served;
        if (cluster->places[place].behind) gh_cluster_leave(&client->nodes[place]);
        else look_at(cluster, &client->nodes[place]);
    }
}

/* Another node has slots now, by a failover or a reshard: whoever holds something there wants to know at once whether
   it is still known, not when it is renewed. A node that was connected before it had them, or said its hand-shake, was
   not asked for these; if nobody was replaced, they have come with their data. And a node is known again only by an
   epoch that lies on it. */
void gh_cluster_look_at_gains(gh_cluster* cluster, gh_client* client, bool replaced)
{
    const bool anything_held = anything_is_held(client);
    uint32_t place;
    if (replaced) ask_new_masters_first(cluster, client);
    for (place = 0; place < cluster->map.capacity; place++)
    {
        gh_node* node = &client->nodes[place];
        const gh_link_state state = node->link.state;
        const bool gained = cluster->map.nodes[place].gained != 0;
        if (gained && anything_held) look_at(cluster, node);
        if (gained && anything_held && replaced && (gh_link_talks(&node->link) || cluster->places[place].behind))
            gh_doubt_begin(node);
        cluster->places[place].served |= gained;
        cluster->map.nodes[place].gained = 0;
        if (state != GH_LINK_HANDSHAKE && state != GH_LINK_READY) continue;
        if (gh_cluster_epoch_has_moved(node) || (gained && cluster->places[place].strayed)) gh_cluster_leave(node);
    }
}

void gh_cluster_end_looks(gh_cluster* cluster, gh_client* client)
{
    const gh_node* node;
    if (!cluster->looking) return;
    cluster->looking = false;
    for (node = client->nodes; node < client->nodes + client->servers; node++)
    {
        gh_cluster_place* place = gh_cluster_place_of(node);
        if (place->look && node->link.state == GH_LINK_READY && !node->leaving)
        {
            place->look = false;
            gh_nodes_wake(client); /* somebody may have waited for it to be asked */
        }
        if (place->look) cluster->looking = true;
    }
}
