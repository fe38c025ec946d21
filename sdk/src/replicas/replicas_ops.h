/* replicas_ops.h -- what ops do whose answers replicas are to have: replicas_ops.c. */

#ifndef GH_REPLICAS_OPS_H
#define GH_REPLICAS_OPS_H

#include "client/replicas.h"

/* How many replicas must have what the op's present request does; 0: none. */
uint32_t gh_replicas_of(const gh_op* op);

/* To an op that was awaited and is not any more: GH_OK, or GH_UNREPLICATED. */
void gh_replicas_tell(gh_op* op, gh_status status);

void gh_replicas_lease_step(gh_op* op, const gh_event* event);
void gh_replicas_call_step(gh_op* op, const gh_event* event);

#endif
