/* nodes_inside.h -- what nodes.c keeps, for nodes_say.c, which answers clients by it. */

#ifndef GUILDHALL_TESTS_SIMULATOR_NODES_INSIDE_H
#define GUILDHALL_TESTS_SIMULATOR_NODES_INSIDE_H

#include "simulator/nodes.h"
#include "support/random.h"

/* What is so, or what somebody takes for so. */
typedef struct node_view
{
    uint64_t version;
    bool member[SERVERS_MAX];
    int master[SERVERS_MAX]; /* whom it follows; -1: nobody */
    uint8_t owner[NODES_SLOTS];
} node_view;

typedef struct cluster_node
{
    node_view view;
    uint64_t works_from_us; /* a master that was started waits for a while before it takes anything */
    unsigned life;          /* tells what is planned for it from what was */
} cluster_node;

typedef struct nodes_state
{
    node_view truth;
    cluster_node all[SERVERS_MAX];
    unsigned slot_counts[NODES_NOBODY + 1]; /* by owner */
    uint8_t opened[NODES_SLOTS];            /* to whom a slot is on its way */
    bool lost[SERVERS_MAX];      /* that master is taken for lost, and nobody has its place */
    long long epoch;
    random_stream random;
} nodes_state;

extern nodes_state nodes;

/* The hooks of that node's store. */
void nodes_answer_clients(unsigned node);

#endif
