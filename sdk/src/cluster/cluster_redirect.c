/* cluster_redirect.c -- what becomes of an op that a node sends elsewhere, or tells to come again.

       MOVED     the slot has another owner: the map is changed at once, and the op goes there
       ASK       its key has gone there, and its slot has not yet: the op goes there this once, the map stays
       TRYAGAIN  some of its keys have gone: it waits
       another   the node knows of nobody, or there is no sense in it: it waits, and a map is asked for

   None of them ends the op. It is sent to and fro and waits as long as its own time allows, as whatever moves settles;
   but the more often in a row, the more of its turns are spent waiting. */

#include "cluster/cluster_redirect.h"

#include "cluster/cluster_epoch.h"
#include "cluster/cluster_map.h"
#include "wire/redirect.h"

#include "base/least.h"

#define AGAIN_MIN_US     2000ull /* a slot that moves is settled soon, so it is asked often */
#define AGAIN_DOUBLINGS  5u
#define AGAIN_MAX_US     50000ull
#define REDIRECTIONS_MAX 5u /* in a row; of those behind them every second one is given time before it is followed */
#define ANEW_US          1000000ull /* so seldom a node is connected anew for where it sends an op              */

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

/* What it had is another's. Who sends an op to and fro for ever does not hold up the others there for that. */
static void note_stray(gh_node* node)
{
    gh_cluster_place* place = gh_cluster_place_of(node);
    if (node->client->now_us < place->anew_us) return;
    place->anew_us = gh_client_after(node->client, 2 * ANEW_US);
    place->strayed = true;
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
    if (!is_here && before == gh_cluster_place_number(node)) note_stray(node);
    gh_cluster_map_tell(cluster, client, gh_cluster_place_number(node));
    if (was_lost && owner != before && cluster->hurries > 0)
    {
        cluster->hurries--;
        gh_cluster_map_hurry(cluster, client);
    }
    if (owner < cluster->map.capacity && !is_here) gh_cluster_leave_if_new(cluster, &client->nodes[owner], to->slot);
    op->route = (uint16_t)(to->slot + 1u);
    if (owner == GH_SLOTS_NO_ROOM) gh_cluster_map_warn_of_capacity(client);
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
    if (place == GH_SLOTS_NO_ROOM) gh_cluster_map_warn_of_capacity(node->client);
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

void gh_cluster_redirect(gh_node* node, gh_op* op, gh_str error)
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
