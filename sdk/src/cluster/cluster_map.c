/* cluster_map.c -- asks a node for CLUSTER SLOTS when something has happened that it would tell, and now and then.

       IDLE --wanted--> CONNECTING --> HANDSHAKE: [AUTH] CLUSTER SLOTS --> rows, as they come --> closed
                            ^                                                 |
                            '--------- the next node, later <----- broken, late, refused

   Maps are as large as the Cluster, and may be asked for when it is in trouble, by all clients at once: so one at a
   time, each over a connection of its own that nothing else waits for, with a pause that grows until one has helped.
   MOVED changes the map at once, so no op waits for one but the first, and those that follow MOVED to a node that is
   not connected: its epoch lies where only a map tells. */

#include "cluster/cluster_map.h"

#include "base/least.h"
#include "wire/name.h"
#include "wire/reply_class.h"

#define MAP_BYTES        8192u
#define MAP_RECEIVES_MAX 16u /* of a tick: one that never ends costs no more than this */
#define MAP_PAUSE_MIN    100000ull
#define MAP_PAUSE_MAX    3200000ull
#define MAP_UNREACHED    4u          /* so many in a row are passed over at once                 */
#define MAP_PEACE_US     10000000ull /* after so long without a question the pause is the shortest again */
#define MAP_REFRESH_US   30000000ull
#define MAP_HELPED_US    1000000ull /* after so long nobody says any more that the last one was wrong */

/* While there is no map nobody knows whom to ask. So who waits is told that it is refused, but not before all addresses
   had their turn: one that is wrong is no matter while there are others. */
static void turn_over(gh_cluster* cluster, gh_client* client)
{
    gh_node* node;
    if (!cluster->refused || cluster->has_map) return;
    cluster->refused = false;
    for (node = client->nodes; node < client->nodes_end; node++) gh_pipeline_refuse(node, GH_REASON_REFUSED);
}

/* Of those that are known, each in its turn; NULL behind the last. */
static const gh_slots_node* next_node(gh_cluster* cluster)
{
    while (cluster->next_node < cluster->map.capacity)
    {
        const gh_slots_node* node = &cluster->map.nodes[cluster->next_node++];
        if (node->host_size > 0) return node;
    }
    cluster->next_node = 0;
    return NULL;
}

/* Who has said where something is now has heard of it, as others may not have yet: their map would send all who follow
   back. But it may be wrong, and so the next one is another's if its map has not helped. NULL: nobody has said
   anything. */
static const gh_slots_node* teller_of(gh_cluster* cluster)
{
    const uint32_t teller = cluster->teller;
    cluster->teller = 0;
    cluster->asked_teller = teller != 0 && !cluster->asked_teller && cluster->map.nodes[teller - 1].host_size > 0;
    return cluster->asked_teller ? &cluster->map.nodes[teller - 1] : NULL;
}

/* The last map has helped. Of masters that hand over one after the other each is news, and somebody may wait for the
   map that says whom to connect. */
static void forget_trouble(gh_cluster* cluster, const gh_client* client)
{
    cluster->asked_teller = false;
    cluster->pause_us = MAP_PAUSE_MIN;
    cluster->ask_us = gh_least(cluster->ask_us, client->now_us);
}

void gh_cluster_map_tell(gh_cluster* cluster, const gh_client* client, uint32_t place)
{
    if (!cluster->wanted && client->now_us >= cluster->read_us + MAP_HELPED_US) forget_trouble(cluster, client);
    cluster->wanted = true;
    cluster->teller = place + 1;
}

/* The next of the addresses of the config. */
static void choose_seed(gh_cluster* cluster, gh_client* client)
{
    gh_str list = client->config.address;
    gh_str seed = gh_address_next(&list);
    uint32_t i;
    if (cluster->seed == 0) turn_over(cluster, client);
    for (i = 0; i < cluster->seed && list.size > 0; i++) seed = gh_address_next(&list);
    cluster->seed = list.size == 0 ? 0 : cluster->seed + 1;
    gh_target_parse(seed, &cluster->asked.target);
}

/* Who has said that the last one is wrong; the nodes that are known; and, where these do not help, one of the seeds
   between two rounds, as all that are known may be gone. */
static void choose_target(gh_cluster* cluster, gh_client* client)
{
    const bool in_trouble =
        cluster->wanted && (cluster->pause_us > 2 * MAP_PAUSE_MIN || cluster->unreached >= MAP_UNREACHED);
    const gh_slots_node* node = teller_of(cluster);
    if (node == NULL && cluster->has_map) node = next_node(cluster);
    if (node == NULL && cluster->has_map && !in_trouble) node = next_node(cluster);
    if (node != NULL) gh_cluster_place_set(&cluster->asked, node);
    else choose_seed(cluster, client);
}

static bool map_is_due(const gh_cluster* cluster, const gh_client* client)
{
    return client->now_us >= cluster->ask_us && (cluster->wanted || client->now_us >= cluster->refresh_us);
}

static void map_begin(gh_cluster* cluster, gh_client* client)
{
    if (client->now_us > cluster->ask_us + MAP_PEACE_US) cluster->pause_us = MAP_PAUSE_MIN;
    cluster->ask_us = gh_client_after(client, gh_client_jitter(client, cluster->pause_us));
    cluster->link.due_us = 0; /* now, whatever became of the last attempt */
    cluster->link.state = GH_LINK_IDLE;
    choose_target(cluster, client);
    gh_link_connect(&cluster->link, client);
}

void gh_cluster_map_hurry(gh_cluster* cluster, gh_client* client)
{
    cluster->ask_us = gh_least(cluster->ask_us, gh_client_after(client, gh_client_jitter(client, MAP_PAUSE_MIN)));
}

static void map_ask(gh_cluster* cluster, gh_client* client)
{
    gh_request request = gh_link_request(&cluster->link);
    cluster->logged_in = cluster->link.secret_bytes == 0;
    cluster->wanted = false;
    cluster->unreached = 0;
    cluster->pause_us = gh_least(cluster->pause_us * 8 / 5, MAP_PAUSE_MAX); /* a second when two have gone by */
    gh_request_array(&request, 2);
    gh_request_str(&request, gh_str_literal("CLUSTER"));
    gh_request_str(&request, gh_str_literal("SLOTS"));
    gh_slots_map_begin(&cluster->map);
    gh_slots_reader_begin(&cluster->reader);
    if (!gh_link_commit(&cluster->link, &request)) gh_link_lose(&cluster->link, client, GH_LOG_ERROR, "no room to ask");
}

/* Who was just lost is known to all for some time yet: the next one is tried soon. */
static void map_unreached(gh_cluster* cluster, gh_client* client)
{
    if (++cluster->unreached % MAP_UNREACHED != 0)
        cluster->ask_us = gh_client_after(client, gh_client_jitter(client, MAP_PAUSE_MIN));
}

static bool map_lost(gh_cluster* cluster, gh_client* client, const char* why)
{
    cluster->wanted = true;
    gh_link_lose(&cluster->link, client, GH_LOG_WARNING, why);
    return false;
}

/* A node that was reset, that has joined none yet or left one, is a Cluster of its own. */
static bool names_a_node(const gh_slots_seen* seen)
{
    return seen->rows > seen->bad_rows + seen->unreachable;
}

/* Slots that nobody can be asked for wait; said once as long as it is so. */
static void tell_of_unreachable(gh_cluster* cluster, gh_client* client)
{
    const gh_str part = gh_str_literal("map link: slots wait, of whose node the server does not say where it is");
    const bool unreachable = cluster->map.seen.unreachable > 0;
    if (unreachable && !cluster->told_unreachable)
        gh_log_limited(client, GH_LOG_MAP_LINK, GH_LOG_WARNING, &part, 1, gh_str_make(NULL, 0));
    cluster->told_unreachable = unreachable;
}

void gh_cluster_map_warn_of_capacity(gh_client* client)
{
    char digits[GH_DECIMAL_SIZE_MAX];
    const char* end = gh_decimal_encode(client->config.nodes_capacity, digits);
    gh_client_warn(
        client, GH_WARNING_NODES,
        "slots of nodes that have no place wait, the Cluster is larger than nodes_capacity: enlarge it, it is ",
        gh_str_make(digits, (size_t)(end - digits)));
}

static bool map_done(gh_cluster* cluster, gh_client* client)
{
    tell_of_unreachable(cluster, client);
    if (!names_a_node(&cluster->map.seen)) return map_lost(cluster, client, "a map without any node");
    gh_slots_map_end(&cluster->map);
    gh_link_shut(&cluster->link, client);
    gh_inbox_reset(&cluster->link.inbox);
    cluster->link.failures = 0;
    cluster->has_map = true;
    cluster->read_us = client->now_us;
    cluster->refresh_us = gh_client_after(client, MAP_REFRESH_US / 2 + gh_client_jitter(client, MAP_REFRESH_US));
    return true;
}

/* An error where a map should be. */
static bool map_refused(gh_cluster* cluster, gh_client* client, gh_str error)
{
    const gh_str part = gh_str_literal("map link: ");
    const gh_reply_class reply_class = gh_reply_classify(error);
    const bool passing =
        reply_class == GH_CLASS_RETRY || reply_class == GH_CLASS_HEALTH || reply_class == GH_CLASS_RECONNECT;
    gh_log_limited(client, GH_LOG_MAP_LINK, passing ? GH_LOG_WARNING : GH_LOG_ERROR, &part, 1, error);
    map_lost(cluster, client, "refused");
    if (passing) return false;
    cluster->refused = true;
    if (cluster->seed == 0) turn_over(cluster, client);
    return false;
}

/* The answer to AUTH, or one that is no map. False: there is none yet, or the link is lost. */
static bool map_take_status(gh_cluster* cluster, gh_client* client)
{
    const gh_reply* reply = NULL;
    const gh_read read = gh_link_next(&cluster->link, client, &reply);
    if (read == GH_READ_MORE) return false;
    if (read != GH_READ_REPLY) return map_lost(cluster, client, "no answer of a server");
    if (reply->type == GH_REPLY_ERROR) return map_refused(cluster, client, reply->text);
    cluster->logged_in = true;
    return true;
}

/* What stands in the inbox, row by row. True when the map has come to its end. */
static bool map_read(gh_cluster* cluster, gh_client* client)
{
    gh_inbox* inbox = &cluster->link.inbox;
    const gh_str host = cluster->link.target->address.host;
    if (!cluster->logged_in && !map_take_status(cluster, client)) return false;
    for (;;)
    {
        size_t used = 0;
        const gh_slots_read read =
            gh_slots_reader_next(&cluster->reader, inbox->bytes + inbox->start, inbox->end - inbox->start, &used);
        inbox->start += (uint32_t)used;
        switch (read)
        {
        case GH_SLOTS_MORE: return false;
        case GH_SLOTS_ROW: gh_slots_map_row(&cluster->map, &cluster->reader.row, host); break;
        case GH_SLOTS_DONE: return map_done(cluster, client);
        case GH_SLOTS_BROKEN: client->stats.protocol_errors++; return map_lost(cluster, client, "no map of slots");
        case GH_SLOTS_NO_MAP: map_take_status(cluster, client); return false;
        }
    }
}

static bool map_receive(gh_cluster* cluster, gh_client* client)
{
    gh_moved moved = GH_MOVED_MORE;
    uint32_t receives = 0;
    while (moved == GH_MOVED_MORE && receives++ < MAP_RECEIVES_MAX)
    {
        moved = gh_link_receive(&cluster->link, client, MAP_BYTES);
        if (moved == GH_MOVED_LOST) return map_lost(cluster, client, "closed by the server");
        if (moved == GH_MOVED_NOTHING) break;
        if (map_read(cluster, client)) return true;
        if (!cluster->link.has_stream) return false;
        if (!gh_client_budget_left(client)) break;
    }
    if (client->now_us >= cluster->link.due_us) return map_lost(cluster, client, "no map in time");
    return false;
}

bool gh_cluster_map_move(gh_cluster* cluster, gh_client* client)
{
    gh_link* link = &cluster->link;
    if (!gh_link_is_open(link))
    {
        if (!map_is_due(cluster, client)) return false;
        map_begin(cluster, client);
    }
    else if (link->state != GH_LINK_HANDSHAKE) gh_link_connect(link, client);
    if (link->state == GH_LINK_BACKOFF) map_unreached(cluster, client);
    if (link->state != GH_LINK_HANDSHAKE) return false;
    if (link->sent_bytes == 0 && link->out_end <= link->secret_bytes) map_ask(cluster, client);
    if (link->state != GH_LINK_HANDSHAKE) return false;
    if (gh_link_flush(link, client) == GH_MOVED_LOST) return map_lost(cluster, client, "closed by the server");
    return map_receive(cluster, client);
}

uint64_t gh_cluster_map_due(const gh_cluster* cluster, const gh_client* client)
{
    if (cluster->link.state == GH_LINK_RESOLVING)
        return gh_least(client->now_us + GH_RESOLVER_PAUSE_US, cluster->link.due_us);
    if (gh_link_is_open(&cluster->link)) return cluster->link.unread ? client->now_us : cluster->link.due_us;
    if (!cluster->wanted && cluster->refresh_us > cluster->ask_us) return cluster->refresh_us;
    return cluster->ask_us > client->now_us ? cluster->ask_us : client->now_us;
}
