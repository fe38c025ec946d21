/* topology.h -- how a client finds the servers of its store, where there is more to that than one address. The client
   knows it by this table alone, so that a program has the code of those that its configs name. */

#ifndef GH_TOPOLOGY_H
#define GH_TOPOLOGY_H

#include "client/state.h"

struct gh_topology
{
    const char* name;

    /* Of a config that names it: the addresses, and the fields that are its own. */
    gh_status (*check)(const gh_client_config* config);

    /* Cuts what it needs from the arena: client->topology is that, and NULL while the arena only measures. The
       addresses are the config's, and live as long as the client when that is made. */
    bool (*carve)(gh_arena* arena, gh_client* client, gh_str addresses);

    /* Once a tick, before replies are read: its own connections. */
    void (*move)(gh_client* client);

    /* When it has something to do even if no byte arrives. */
    uint64_t (*due_us)(const gh_client* client);

    /* The node is about to connect. True: its link's target is where to. False: that is not known yet. */
    bool (*find)(gh_node* node);

    /* How many servers are known now. */
    uint32_t (*known)(const gh_client* client);

    /* The n-th of its own links, or NULL. */
    gh_link* (*link)(gh_client* client, uint32_t n);

    /* ---- of many nodes; NULL where there is one ---- */

    /* How many there may be. */
    uint32_t (*nodes)(const gh_client_config* config);

    /* Sets the route of an op whose request is to be queued. */
    void (*route)(gh_op* op);

    /* Which node is asked for what has this route: there always is one, if only to say who else it is. */
    uint32_t (*place)(const gh_client* client, uint16_t route);

    /* An answer that sends the op elsewhere, or tells it to come again: queues or pauses it. */
    void (*redirect)(gh_node* node, gh_op* op, gh_str error);

    /* The link of the node was lost. */
    void (*lost)(gh_node* node);

    /* It answered so late that another may have taken its place. */
    void (*late)(gh_node* node);

    /* Where the epoch lies that the node's hand-shake asks for, and what is known of it. NULL: on that node is none. */
    gh_epoch* (*epoch)(gh_node* node, uint32_t* tag);

    /* How the question for the epoch failed. True: its key is elsewhere, and the node is one on which none lies. False:
       so the hand-shake has failed; the next one may ask for another key. */
    bool (*strays)(gh_node* node, gh_str error);

    /* Where hints go over the slots: the hand-shake's question whether they may, false: it has none; and an error in
       answer to it. */
    bool (*probe)(gh_node* node, gh_request* request);
    void (*refuses)(gh_node* node, gh_str error);
};

#endif
