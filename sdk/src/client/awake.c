/* awake.c -- which of many nodes a tick visits: those that may have something to do. One that has nothing to say, waits
   for nothing and is to be told nothing leaves the chain, so that a hundred idle nodes cost a tick what one does.

       awake --nothing to do when a tick begins--> resting
         ^                                           |
         '-- an op is queued for it, its link goes, -'
             or whatever is told to all

   Some of those that rest are visited in each tick, in turn: their stream may be closed, or there is a reason to
   connect that nobody has told. */

#include "client/link.h"
#include "client/state.h"

void gh_node_wake(gh_node* node)
{
    gh_client* client = node->client;
    if (node->is_awake) return;
    node->is_awake = true;
    node->next_awake = NULL;
    if (client->awake == NULL) client->awake = node;
    else client->awake_last->next_awake = node;
    client->awake_last = node;
}

void gh_nodes_wake(gh_client* client)
{
    gh_node* node;
    for (node = client->nodes; node < client->nodes_end; node++) gh_node_wake(node);
}

/* One that connects, shakes hands or waits to be tried again never rests; nor does a second one that is connected, nor
   whoever one waits for. Where somebody sleeps until a stream is readable, all are read in each tick. */
static bool has_nothing_to_do(const gh_node* node)
{
    if (gh_node_has_unsent(node) || node->awaited.count > 0 || node->client->watched) return false;
    if (node->second != NULL && gh_node_has_unsent(node->second)) return false;
    if (node->link.state == GH_LINK_IDLE) return true;
    return node->link.state == GH_LINK_READY && node->main == NULL && node->sent_count == 0 &&
           gh_link_unsent(&node->link) == 0 && node->caught_up && !node->leaving;
}

/* The chain anew, in the same order, but that the first has had its turn. */
static void let_rest(gh_client* client)
{
    gh_node* first = client->awake;
    gh_node* node = first->next_awake;
    client->awake = client->awake_last = NULL;
    while (node != NULL)
    {
        gh_node* next = node->next_awake;
        node->is_awake = false;
        if (!has_nothing_to_do(node)) gh_node_wake(node);
        node = next;
    }
    first->is_awake = false;
    if (!has_nothing_to_do(first)) gh_node_wake(first);
}

/* Of those whose turn it is now, a stream that was looked at a moment ago is passed over. One at least is visited. */
void gh_nodes_turn(gh_client* client, uint32_t count)
{
    client->stats.out_bytes_used = 0; /* until somebody says something */
    let_rest(client);
    while (count-- > 0)
    {
        gh_node* node = client->resting;
        client->resting = node + 1 == client->nodes_end ? client->nodes : node + 1;
        if (node->link.state == GH_LINK_IDLE || client->now_us >= node->link.look_us) gh_node_wake(node);
    }
    if (client->awake == NULL) gh_node_wake(client->resting);
}
