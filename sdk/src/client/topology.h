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

    /* The node is about to connect. True: its link's endpoint is where to. False: that is not known yet. */
    bool (*find)(gh_node* node);

    /* The n-th of its own links, or NULL. */
    gh_link* (*link)(gh_client* client, uint32_t n);
};

#endif
