/* cluster_hints.h -- hints that stay on the node of their object (config.wake_sharded), and who listens for them.

       op that waits asks --(object)--> channel --> link that listens to the node of its slot
                                                        |   ^
                                            SSUBSCRIBE  v   |  smessage: the hint; sunsubscribe: the slot has moved
                                                       server

       FREE -> WANTED -> ASKED -> HEARD -> LEFT -> FREE        HEARD: it is confirmed; LEFT: SUNSUBSCRIBE is sent
                  ^---------'-------'   the slot moved, or the link was lost

   The sender says SPUBLISH, and PUBLISH where nobody has heard that (client/hint.lua). So whatever is not listened to
   here, not yet or not any more, is heard over the wake link, which is there as ever; and who listens how, no sender
   has to know. Only what was said into a link that is lost may be lost with it: then everybody who listens asks once.

   A channel is kept for a while after the last question, so that who waits there again and again subscribes once. */

#ifndef GH_CLUSTER_HINTS_H
#define GH_CLUSTER_HINTS_H

#include "cluster/cluster_state.h"

/* False when measuring, or when there is no room. */
bool gh_cluster_hints_carve(gh_cluster_hints* hints, gh_arena* arena, const gh_client* client);

/* The op is to ask something of an object, one of whose keys this is, and hints go over the slots. Nothing happens if
   nobody listens for what comes of it. */
void gh_cluster_hints_want(const gh_op* op, gh_str key, uint16_t slot);

void gh_cluster_hints_move(gh_client* client);
uint64_t gh_cluster_hints_due(const gh_client* client);
gh_link* gh_cluster_hints_link(gh_client* client, uint32_t n);

/* Whether hints may be said over the slots is asked with the channel of the epoch's tag, which lies on the node. */
bool gh_cluster_hints_probe(gh_node* node, gh_request* request);
void gh_cluster_hints_refused(gh_node* node, gh_str error);

/* The place is to be another node's. */
void gh_cluster_hints_forget(gh_client* client, uint32_t place);

#endif
