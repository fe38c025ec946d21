/* cluster.c -- the topology of a Cluster: its config, which node an op goes to, and what is done in each tick.

       a redirection  cluster_redirect.c     what becomes of an op that a node sends elsewhere
       a loss         cluster_lost.c         what becomes of what waits for the node, and who succeeds it
       a map          cluster_map.c          asked for, read
                      cluster_gains.c        what it changes: who has slots that had none, and the other way round
       a connection   cluster_connect.c      who is connected
                      cluster_epoch.c        by which epoch a node is known, and who is left that has none
                      cluster_place.c        its address
       a hint         cluster_hints.c        if hints stay on the node of their object

   All of them share what cluster_state.h has. */

#include "cluster/cluster_connect.h"
#include "cluster/cluster_epoch.h"
#include "cluster/cluster_gains.h"
#include "cluster/cluster_hints.h"
#include "cluster/cluster_lost.h"
#include "cluster/cluster_map.h"
#include "cluster/cluster_redirect.h"

#include "base/least.h"

#define MAP_OUT_BYTES   1024u /* AUTH with the longest user and password, CLUSTER SLOTS */
#define MAP_REPLY_BYTES 4096u
#define MAP_REPLY_NODES 8u

/* ---- the config -------------------------------------------------------------------------------------------------- */

static gh_status cluster_check(const gh_client_config* config)
{
    gh_str list = config->address;
    gh_status status = GH_OK;
    if (config->database != 0) return GH_INVALID_DATABASE;
    do
    {
        status = gh_address_check(config, gh_address_next(&list));
    } while (status == GH_OK && list.size > 0);
    return status;
}

static uint32_t cluster_nodes(const gh_client_config* config)
{
    return config->nodes_capacity;
}

static bool cluster_carve(gh_arena* arena, gh_client* client, gh_str addresses)
{
    gh_cluster measured;
    gh_cluster* made = (gh_cluster*)gh_arena_take(arena, sizeof(gh_cluster));
    gh_cluster* cluster = made;
    bool fits;
    (void)addresses;
    if (cluster == NULL) cluster = &measured;
    memset(cluster, 0, sizeof *cluster);
    client->topology = made;
    gh_link_init(&cluster->link, GH_LOG_MAP_LINK, "map link: ", &cluster->asked.target);
    cluster->link.out = (char*)gh_arena_take(arena, MAP_OUT_BYTES);
    cluster->link.out_capacity = MAP_OUT_BYTES;
    fits = gh_inbox_take(&cluster->link.inbox, arena, MAP_REPLY_BYTES, MAP_REPLY_NODES);
    cluster->places = (gh_cluster_place*)gh_arena_take(arena, client->config.nodes_capacity * sizeof(gh_cluster_place));
    cluster->wanted = true;
    fits = gh_cluster_hints_carve(&cluster->hints, arena, client) && fits;
    return gh_slots_map_take(&cluster->map, arena, client->config.nodes_capacity) && fits;
}

/* ---- where to ---------------------------------------------------------------------------------------------------- */

/* The first key of a request tells its slot. */
typedef struct cluster_route
{
    gh_route route;
    const gh_op* op;
    uint16_t slot; /* plus 1; 0: not known yet */
} cluster_route;

static void route_take_key(gh_route* route, gh_str key)
{
    cluster_route* self = (cluster_route*)(void*)route;
    if (self->slot != 0) return;
    self->slot = (uint16_t)(gh_slot_of_key(key) + 1u);
    if (gh_cluster_of(self->op->client)->hints.listeners != NULL)
        gh_cluster_hints_want(self->op, key, (uint16_t)(self->slot - 1u));
}

static void cluster_take_route(gh_op* op)
{
    cluster_route self = {{route_take_key}, op, 0};
    gh_request request = gh_request_route(&self.route);
    op->kind->encode(op, &request);
    op->route = self.slot;
}

/* Of what has no slot, and where the slot's owner is not known: any node that is there, who will say. */
static uint32_t any_place(const gh_cluster* cluster, const gh_client* client)
{
    uint32_t place;
    for (place = 0; place < cluster->map.capacity; place++)
        if (client->nodes[place].link.state == GH_LINK_READY) return place;
    for (place = 0; place < cluster->map.capacity; place++)
        if (cluster->map.nodes[place].host_size > 0) return place;
    return 0;
}

static uint32_t cluster_find_place(const gh_client* client, uint16_t route)
{
    const gh_cluster* cluster = gh_cluster_of(client);
    const uint16_t owner = route == 0 ? GH_SLOTS_NOBODY : gh_slots_map_owner(&cluster->map, (uint16_t)(route - 1u));
    return owner < cluster->map.capacity ? owner : any_place(cluster, client);
}

/* ---- the tick ---------------------------------------------------------------------------------------------------- */

static void cluster_move(gh_client* client)
{
    gh_cluster* cluster = gh_cluster_of(client);
    bool has_map;
    gh_cluster_end_looks(cluster, client);
    gh_cluster_hints_move(client);
    if (cluster->scout_us != 0 && client->now_us >= cluster->scout_us) gh_cluster_send_scouts(cluster, client);
    has_map = gh_cluster_map_move(cluster, client);
    gh_cluster_leave_gains_of_rows(cluster, client);
    if (has_map || cluster->moves > 1) gh_unsent_rehome(client);
    cluster->moves = 0;
    if (!has_map) return;
    gh_nodes_wake(client); /* there may be some to connect */
    client->stats.maps_read++;
    if (cluster->map.seen.without_room > 0) gh_cluster_map_warn_of_capacity(client);
    else client->stats.warnings &= ~(uint32_t)GH_WARNING_NODES;
    gh_cluster_look_at_gains(cluster, client, gh_cluster_retire(cluster, client));
}

static uint64_t cluster_due(const gh_client* client)
{
    const gh_cluster* cluster = gh_cluster_of(client);
    const uint64_t scout_us = cluster->scout_us == 0 ? UINT64_MAX : cluster->scout_us;
    gh_node* node;
    if (cluster->moves > 1) return client->now_us;
    for (node = client->nodes; node < client->nodes + client->servers; node++)
        if (gh_link_is_due(&node->link, client) && gh_cluster_is_to_connect(node)) return client->now_us;
    return gh_least(gh_least(scout_us, gh_cluster_hints_due(client)), gh_cluster_map_due(cluster, client));
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void want_map(gh_node* node)
{
    gh_cluster_of(node->client)->wanted = true;
}

static uint32_t cluster_known(const gh_client* client)
{
    const gh_slots_map* map = &gh_cluster_of(client)->map;
    uint32_t count = 0;
    uint32_t place;
    for (place = 0; place < map->capacity; place++) count += map->nodes[place].host_size > 0;
    return count;
}

static gh_link* cluster_link(gh_client* client, uint32_t n)
{
    return n == 0 ? &gh_cluster_of(client)->link : gh_cluster_hints_link(client, n - 1);
}

const struct gh_topology* gh_topology_cluster(void)
{
    static const struct gh_topology topology = {.name = "cluster",
                                                .check = cluster_check,
                                                .carve = cluster_carve,
                                                .move = cluster_move,
                                                .due_us = cluster_due,
                                                .find = gh_cluster_find,
                                                .known = cluster_known,
                                                .link = cluster_link,
                                                .nodes = cluster_nodes,
                                                .route = cluster_take_route,
                                                .place = cluster_find_place,
                                                .redirect = gh_cluster_redirect,
                                                .lost = gh_cluster_lost,
                                                .late = want_map,
                                                .strays = gh_cluster_strays,
                                                .probe = gh_cluster_hints_probe,
                                                .refuses = gh_cluster_hints_refused,
                                                .epoch = gh_cluster_epoch};
    return &topology;
}
