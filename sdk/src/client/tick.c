/* tick.c -- one tick, in this order:

       1 leases that ran out are told     before any reply, so that after a hitch nobody acts on an old promise
       2 ops that are still to hear that the store lost its data, are told; what the new store says is not read before
       3 the links connect, and what has arrived is handed out; after a doubt, whoever has a lease asks
       4 timers fire: polls, renewals, deadlines; a drain that is over ends what is left
       5 requests are encoded and sent, urgent ones first
       6 a link that has been silent for too long is given up

   1 is never cut short by the budget, nor is telling the ops of a lost link or the end of a drain. 2 to 5 each make
   some progress in every tick. */

#include "base/least.h"
#include "client/lend.h"
#include "client/link.h"
#include "client/state.h"
#include "client/topology.h"

#define NO_TIME_US    (GH_FOREVER / 2) /* of our clock, which never comes there; a pause without an end does */
#define RESTING_LOOKS 4u /* so many nodes that rest are visited in a tick: of a hundred each in every 25th */

/* The caller's clock, seen from the first tick. It may jump forward; it does not go back. */
static void tick_take_time(gh_client* client, uint64_t now_us)
{
    uint64_t inside;
    if (!client->ticked)
    {
        client->ticked = true;
        client->origin_us = now_us - client->now_us;
    }
    inside = now_us - client->origin_us;
    if (inside > client->now_us && inside < NO_TIME_US) client->now_us = inside;
}

static void tick_take_budget(gh_client* client, uint64_t budget_us)
{
    client->budget_spent = false;
    client->budget_end_us = GH_FOREVER;
    if (budget_us == 0) return;
    client->budget_end_us = client->platform->now_us(client->platform->context);
    client->budget_end_us =
        budget_us < GH_FOREVER - client->budget_end_us ? client->budget_end_us + budget_us : GH_FOREVER;
}

static void tick_drain(gh_client* client)
{
    if (!client->draining || client->timers.count == 0) return;
    if (client->now_us >= client->drain_end_us) gh_op_sweep(client, GH_EVENT_CLOSE);
}

static uint64_t node_oldest_request(const gh_node* node)
{
    if (node->sent_count == 0) return 0;
    GH_INVARIANT(node->client, node->link.has_stream);
    return node->client->now_us - gh_slots_oldest(node)->sent_us;
}

static void tick_queue_gauges(gh_client* client)
{
    const gh_node* node = client->awake;
    uint32_t waiting = node->urgent.count + node->waiting.count;
    uint64_t oldest_us = node_oldest_request(node);
    while ((node = node->next_awake) != NULL) /* those that rest have none */
    {
        const uint64_t its_oldest_us = node_oldest_request(node);
        waiting += node->urgent.count + node->waiting.count;
        if (its_oldest_us > oldest_us) oldest_us = its_oldest_us;
    }
    GH_INVARIANT(client, waiting <= client->timers.count);
    client->stats.requests_waiting = waiting;
    client->stats.oldest_request_us = oldest_us;
}

static void tick_gauges(gh_client* client)
{
    gh_client_stats* stats = &client->stats;
    GH_INVARIANT(client, client->leases[0].count + client->leases[1].count <= client->timers.count);
    GH_INVARIANT(client, client->steps == 0 && client->owners == NULL);
    stats->ticks++;
    if (client->budget_spent) stats->ticks_over_budget++;
    stats->ops_busy = client->timers.count;
    stats->requests_sent = client->slots_used;
    tick_queue_gauges(client);
}

/* A node that is to be connected, if it is known where it is. */
static void node_connect(gh_node* node)
{
    gh_client* client = node->client;
    const struct gh_topology* topology = client->config.topology;
    const uint32_t failures = node->link.failures;
    if (topology != NULL && gh_link_is_due(&node->link, client) && !topology->find(node)) return;
    if (gh_link_connect(&node->link, client)) gh_handshake_begin(node);
    if (!client->many) return;
    GH_INVARIANT(client, topology != NULL);
    if (node->link.failures > failures) topology->lost(node);
    if (!gh_link_talks(&node->link)) gh_lend_settle(client, &node->link); /* also while it waits for its credentials */
}

static void tick_receive(gh_client* client)
{
    gh_node* node;
    if (client->config.topology != NULL)
    {
        if (client->many) gh_nodes_turn(client, RESTING_LOOKS);
        client->config.topology->move(client);
    }
    node = client->awake; /* one at least */
    do
    {
        if (node->link.state != GH_LINK_READY) node_connect(node);
        if (gh_link_talks(&node->link)) gh_pipeline_receive(node);
    } while ((node = node->next_awake) != NULL);
}

static void tick_send(gh_client* client)
{
    gh_node* node = client->awake;
    do
    {
        if (gh_link_talks(&node->link)) gh_pipeline_send(node);
        if (node->sent_count > 0 || node->link.state == GH_LINK_HANDSHAKE) gh_pipeline_check_age(node);
    } while ((node = node->next_awake) != NULL);
}

static uint64_t leases_due(const gh_client* client)
{
    return gh_least(gh_heap_due(&client->leases[0]), gh_heap_due(&client->leases[1]));
}

gh_status gh_tick(gh_client* client, uint64_t now_us, uint64_t budget_us)
{
    if (!gh_client_is_one(client)) return GH_INVALID_CLIENT;
    if (client->ticking) return GH_INVALID_REENTRY;
    client->ticking = true;
    tick_take_time(client, now_us);
    tick_take_budget(client, budget_us);

    if (leases_due(client) <= client->now_us) gh_timers_lapse(client);
    gh_op_sweep_on(client, true);
    tick_receive(client);
    if (client->leases[1 - client->leases_side].count > 0) gh_doubt_on(client);
    gh_wake_move(client);
    gh_timers_fire(client);
    tick_drain(client);
    tick_send(client);

    gh_changes_of_tick(client);
    tick_gauges(client);
    client->ticking = false;
    return GH_OK;
}

gh_status gh_client_tick(gh_client* client, uint64_t budget_us)
{
    if (!gh_client_is_one(client)) return GH_INVALID_CLIENT;
    return gh_tick(client, client->platform->now_us(client->platform->context), budget_us);
}

static uint64_t node_due(const gh_node* node)
{
    const gh_client* client = node->client;
    const gh_link* link = &node->link;
    uint32_t queued = node->urgent.count + node->waiting.count;
    if (client->budget_spent) return client->now_us;
    if (client->config.topology != NULL && gh_link_is_due(link, client)) return GH_FOREVER;
    if (link->state == GH_LINK_IDLE) return client->now_us;
    if (link->state == GH_LINK_RESOLVING) return gh_least(client->now_us + GH_RESOLVER_PAUSE_US, link->due_us);
    if (gh_handshake_was_held_up(node) && gh_slots_have_room(node) && gh_lend_has_out(client, link))
        return client->now_us;
    if (link->state != GH_LINK_READY) return gh_least(link->due_us, gh_lend_due(client, link));
    if (!node->caught_up && gh_lend_has_in(client, link)) return client->now_us;
    /* What is queued goes in the next tick, unless there is no room: then the stream tells when there is. */
    if (queued > 0 && !node->leaving && !node->held_back && gh_slots_have_room_for(node, gh_unsent_next(node)) &&
        gh_link_unsent(link) == 0 && gh_lend_has_out(client, link))
        return client->now_us;
    if (node->sent_count == 0 || !node->caught_up) return gh_lend_due(client, link); /* it waits for a buffer */
    return gh_least(gh_slots_oldest(node)->sent_us + client->config.request_timeout_us, gh_lend_due(client, link));
}

static uint64_t commands_due(const gh_client* client)
{
    const gh_node* node = client->nodes;
    uint64_t due_us = node_due(node);
    while (++node < client->nodes_end) due_us = gh_least(due_us, node_due(node));
    return client->config.topology == NULL ? due_us : gh_least(due_us, client->config.topology->due_us(client));
}

uint64_t gh_next_deadline(const gh_client* client)
{
    uint64_t due_us;
    if (!gh_client_is_one(client)) return GH_FOREVER;
    if (!client->ticked) return 0;
    due_us = gh_least(commands_due(client), gh_wake_due(client));
    due_us = gh_least(due_us, gh_least(gh_heap_due(&client->timers), leases_due(client)));
    if (client->draining && client->timers.count > 0) due_us = gh_least(due_us, client->drain_end_us);
    return due_us < NO_TIME_US ? due_us + client->origin_us : GH_FOREVER; /* it would be early on the caller's clock */
}
