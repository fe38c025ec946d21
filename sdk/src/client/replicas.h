/* replicas.h -- what a client does where replicas are to have what it tells. It knows that by this table alone, so that
   a program has the code only if its config names it. guildhall/replicas.h says what callers see of it.

       nodes    first ones: one a server, as without it      second ones: one beside each, for what replicas are to have

       op that wants replicas --> queue of the second node --its link--> [grant, grant, ..., WAIT n t]
                                                                             |                  |
       told, with the answer <-- n replicas have it <-- AWAITED <-- answers -'    how many have it

   A server that waits for replicas stands still for whoever asked it to, so WAIT never goes over a command link; and it
   speaks of nothing but what came over its own connection, so it goes over no other than what it is about.

   A second link is opened when the first op wants it, to where the first one of its server is connected, and lives no
   longer than that connection: so a failover, a redirect, a node that leaves are followed in one place. It says the
   same hand-shake, and one word more, which tells whether WAIT is allowed.

   On it at most one WAIT is on its way. What is answered behind it waits for the next one. */

#ifndef GH_REPLICAS_H
#define GH_REPLICAS_H

#include "client/topology.h"

struct gh_replicas
{
    /* Stands in front of the config's topology (client->beneath), which it asks about first nodes. */
    struct gh_topology topology;

    /* Behind the first nodes, which are ready: the second ones. */
    void (*init)(gh_client* client);

    /* At which of the two nodes of a server the op's present request is queued. place is either of them. */
    uint32_t (*place)(const gh_op* op, uint32_t place);

    /* Behind what was encoded for a second node: WAIT, if there is something to wait for. */
    void (*ask)(gh_node* node);

    /* What it answered. */
    gh_taken (*take)(gh_node* node, const gh_reply* reply);

    /* The time of an awaited op is up. */
    void (*late)(gh_op* op);

    /* In place of gh_lease_step and gh_call_step. */
    void (*lease_step)(gh_op* op, const gh_event* event);
    void (*call_step)(gh_op* op, const gh_event* event);
};

#endif
