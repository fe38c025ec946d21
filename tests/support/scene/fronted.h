/* fronted.h -- with --cluster and --sentinel, how a client of the tests gets to the fleet that stands where its server
   would: seeds and topology instead of the one address, and a platform that goes by the doors of a proxy. */

#ifndef GUILDHALL_TESTS_FRONTED_H
#define GUILDHALL_TESTS_FRONTED_H

#include "guildhall/guildhall.h"

typedef struct fronted_way fronted_way;

/* Seeds and topology. False, and nothing changed: no fleet is at its address. */
bool fronted_dress(gh_client_config* config);

/* The same, with what the doors of a proxy need. NULL: no fleet is at its address. */
fronted_way* fronted_open(gh_client_config* config);

/* A word of the slots of each node, for who wants a link to each; NULL behind the last, and without a Cluster. */
const char* fronted_word(size_t node);

/* What the client gets; of NULL, this one. */
const gh_platform* fronted_platform(fronted_way* way, const gh_platform* otherwise);

/* After the client was shut down. NULL is fine. */
void fronted_close(fronted_way* way);

/* The last line but one of such a run: how many clients had a fleet, and how many had not. */
void fronted_print(void);

#endif
