/* cluster_lost.c -- what becomes of what waits for a node that is lost, and how its successor is found.

   Another one has its slots soon. Until a map tells of that much may wait, as maps are asked for ever more seldom until
   one has helped. So an op that waits is sent to somebody else now and then: a scout, whom MOVED tells who it is. */

#include "cluster/cluster_lost.h"

#include "cluster/cluster_connect.h"

#define SCOUT_US 100000ull /* so often it is asked who has taken the place of a node that is lost */
#define HURRIES  3u        /* maps asked for out of turn, of a loss: whom they ask may not know of it yet */

/* Those that were to be asked there out of turn; the last first, each to the front, so that their order stays. */
static void send_back_queue(gh_node* node, const gh_unsent* queue)
{
    gh_op* op = queue->last;
    uint32_t count = queue->count;
    while (count-- > 0)
    {
        gh_op* before = op->previous;
        if ((op->place & GH_PLACE_ASK) != 0)
        {
            gh_unsent_remove(node, op);
            op->request = GH_REQUEST_NONE;
            gh_op_requeue(op, true);
        }
        op = before;
    }
}

/* To the owners of their slots, who say where these are by now. */
static void send_back(gh_node* node)
{
    send_back_queue(node, &node->waiting);
    send_back_queue(node, &node->urgent);
    if (node->second != NULL) send_back(node->second);
}

/* Another may have its slots. */
static void look_for_successor(gh_cluster* cluster, const gh_client* client)
{
    cluster->wanted = true;
    if (cluster->scout_us == 0) cluster->scout_us = gh_client_after(client, SCOUT_US);
}

/* Without a resolver it will never be connected to a host that is a name: who waits for it is told. */
void gh_cluster_lost(gh_node* node)
{
    gh_cluster* cluster = gh_cluster_of(node->client);
    gh_cluster_place* place = gh_cluster_place_of(node);
    gh_nodes_wake(node->client); /* if it was the only one that was open, another is connected */
    if (node->link.failures == 1 && !place->left) cluster->hurries = HURRIES;
    if (!place->left) look_for_successor(cluster, node->client);
    place->left = false;
    send_back(node);
    if (node->link.target->needs_resolver && node->client->config.resolver == NULL)
        gh_pipeline_refuse(node, GH_REASON_REFUSED);
}

/* In turn, of those that can be asked; NULL: there is none. */
static const gh_node* next_ready(gh_cluster* cluster, const gh_client* client)
{
    uint32_t i;
    for (i = 0; i < client->servers; i++)
    {
        cluster->scout_place = (cluster->scout_place + 1) % client->servers;
        if (client->nodes[cluster->scout_place].link.state == GH_LINK_READY)
            return &client->nodes[cluster->scout_place];
    }
    return NULL;
}

/* Of what waits for it one op asks another node. False: there is none to be asked. */
static bool send_scout(gh_cluster* cluster, gh_node* node)
{
    gh_node* awaited = gh_cluster_awaited_of(node);
    const gh_node* asked = awaited == NULL ? NULL : next_ready(cluster, node->client);
    gh_op* op;
    if (asked == NULL) return awaited == NULL;
    op = gh_unsent_next(awaited);
    gh_unsent_remove(awaited, op);
    op->request = GH_REQUEST_NONE;
    gh_op_requeue_at(op, gh_op_place_at(op, gh_cluster_place_number(asked)), true);
    return true;
}

/* Maps are asked for seldom, and whoever takes the place of a lost node is known to the others as soon as he has taken
   it. So of the ops that wait for such a node, on replicas too, one asks another from time to time, and is told by
   MOVED. One that was told of nobody may pause just now. */
void gh_cluster_send_scouts(gh_cluster* cluster, gh_client* client)
{
    gh_node* node;
    cluster->scout_us = 0;
    for (node = client->nodes; node < client->nodes + client->servers; node++)
    {
        if (node->link.state == GH_LINK_READY) continue;
        if (node->link.state != GH_LINK_BACKOFF && gh_cluster_awaited_of(node) == NULL) continue;
        cluster->scout_us = gh_client_after(client, gh_client_jitter(client, SCOUT_US));
        if (!send_scout(cluster, node)) return;
    }
}
