/* cluster.c -- which node an op goes to, and what becomes of it when a node sends it elsewhere. */

#include "cluster/cluster_connect.h"
#include "cluster/cluster_epoch.h"
#include "cluster/cluster_gains.h"
#include "cluster/cluster_hints.h"
#include "cluster/cluster_lost.h"
#include "cluster/cluster_map.h"
#include "wire/name.h"
#include "wire/redirect.h"

#include "base/least.h"

#define MAP_OUT_BYTES   1024u /* AUTH with the longest user and password, CLUSTER SLOTS */
#define MAP_REPLY_BYTES 4096u
#define MAP_REPLY_NODES 8u

#define AGAIN_MIN_US     2000ull /* a slot that moves is settled soon, so it is asked often */
#define AGAIN_DOUBLINGS  5u
#define AGAIN_MAX_US     50000ull
#define REDIRECTIONS_MAX 5u /* in a row; of those behind them every second one is given time before it is followed */
#define ANEW_US          1000000ull /* so seldom a node is connected anew because it sends an op to where it is */

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

/* ---- sent elsewhere ---------------------------------------------------------------------------------------------- */

/* Of a slot that is on its way for long, however often the op was told to wait before. */
static bool is_to_rest(const gh_op* op)
{
    return op->attempts >= REDIRECTIONS_MAX && (op->attempts - REDIRECTIONS_MAX) % 2 == 0;
}

static void op_wait(gh_op* op)
{
    const uint32_t doublings = op->attempts > AGAIN_DOUBLINGS ? AGAIN_DOUBLINGS : op->attempts;
    if (op->attempts < UINT8_MAX) op->attempts++;
    else op->attempts--; /* it is followed next */
    op->client->stats.retries++;
    gh_op_pause(op, gh_client_jitter(op->client, gh_least(AGAIN_MIN_US << doublings, AGAIN_MAX_US)));
}

static void warn_of_capacity(gh_client* client)
{
    char digits[GH_DECIMAL_SIZE_MAX];
    const char* end = gh_decimal_encode(client->config.nodes_capacity, digits);
    gh_client_warn(
        client, GH_WARNING_NODES,
        "slots of nodes that have no place wait, the Cluster is larger than nodes_capacity: enlarge it, it is ",
        gh_str_make(digits, (size_t)(end - digits)));
}

/* It sends an op to where it is itself: by its name another machine is meant now, which a new connection finds, or one
   after it, for whoever looks names up may not have heard of it yet. Until then the others there are not to be held up
   again and again. */
static bool leave_for_namesake(gh_node* node)
{
    gh_cluster_place* place = gh_cluster_place_of(node);
    if (node->client->now_us >= place->anew_us)
    {
        place->anew_us = gh_client_after(node->client, ANEW_US);
        gh_pipeline_leave(node);
        return true;
    }
    return node->leaving;
}

/* A slot has an owner again: so have the others that the lost one had, and a map tells it of all of them. */
static bool is_of_lost(const gh_cluster* cluster, const gh_client* client, uint16_t slot)
{
    const uint16_t owner = gh_slots_map_owner(&cluster->map, slot);
    return owner < cluster->map.capacity && client->nodes[owner].link.state != GH_LINK_READY;
}

static void follow_moved(gh_cluster* cluster, gh_node* node, gh_op* op, const gh_redirect* to)
{
    gh_client* client = node->client;
    const uint16_t before = gh_slots_map_owner(&cluster->map, to->slot);
    const bool was_lost = is_of_lost(cluster, client, to->slot);
    const uint16_t owner = gh_slots_map_moved(&cluster->map, to->slot, to->endpoint, gh_cluster_host_of(node));
    const bool is_here = owner == gh_cluster_place_number(node);
    client->stats.moved++;
    gh_cluster_map_tell(cluster, client, gh_cluster_place_number(node));
    if (was_lost && owner != before && cluster->hurries > 0)
    {
        cluster->hurries--;
        gh_cluster_map_hurry(cluster, client);
    }
    if (owner < cluster->map.capacity && !is_here) gh_cluster_leave_if_new(cluster, &client->nodes[owner], to->slot);
    op->route = (uint16_t)(to->slot + 1u);
    if (owner == GH_SLOTS_NO_ROOM) warn_of_capacity(client);
    if (owner >= cluster->map.capacity || is_to_rest(op) || (is_here && !leave_for_namesake(node))) op_wait(op);
    else
    {
        op->attempts++;
        gh_op_requeue(op, true);
    }
    if (!is_here && cluster->moves++ == 0)
        gh_unsent_rehome(client); /* what waits may be thousands: not for each of them */
}

static void follow_ask(gh_cluster* cluster, gh_node* node, gh_op* op, const gh_redirect* to)
{
    const uint16_t place = gh_slots_map_find(&cluster->map, to->endpoint, gh_cluster_host_of(node));
    node->client->stats.asked++;
    if (place == GH_SLOTS_NO_ROOM) warn_of_capacity(node->client);
    if (place >= cluster->map.capacity || is_to_rest(op))
    {
        op_wait(op);
        return;
    }
    op->attempts++;
    gh_op_requeue_at(op, gh_op_place_at(op, place) | GH_PLACE_ASK, true);
}

static bool begins(gh_str text, gh_str word)
{
    return text.size >= word.size && memcmp(text.bytes, word.bytes, word.size) == 0;
}

static void cluster_redirect(gh_node* node, gh_op* op, gh_str error)
{
    gh_cluster* cluster = gh_cluster_of(node->client);
    const gh_redirect to = gh_redirect_parse(error);
    switch (to.kind)
    {
    case GH_REDIRECT_MOVED: follow_moved(cluster, node, op, &to); return;
    case GH_REDIRECT_ASK: follow_ask(cluster, node, op, &to); return;
    case GH_REDIRECT_BROKEN: cluster->wanted = true; break;
    case GH_REDIRECT_NONE:
        if (begins(error, gh_str_literal("TRYAGAIN "))) node->client->stats.try_again++;
        else cluster->wanted = true;
        break;
    }
    op_wait(op);
}

static void want_map(gh_node* node)
{
    gh_cluster_of(node->client)->wanted = true;
}

/* ---- the nodes --------------------------------------------------------------------------------------------------- */

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
    if (cluster->map.seen.without_room > 0) warn_of_capacity(client);
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
                                                .redirect = cluster_redirect,
                                                .lost = gh_cluster_lost,
                                                .late = want_map,
                                                .strays = gh_cluster_strays,
                                                .probe = gh_cluster_hints_probe,
                                                .refuses = gh_cluster_hints_refused,
                                                .epoch = gh_cluster_epoch};
    return &topology;
}
