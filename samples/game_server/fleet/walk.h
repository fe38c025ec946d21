/* walk.h -- goes through all keys with a prefix, on each node of the store, and looks for them or removes them.

   Of a Cluster all nodes have to be asked, and a node is asked by a key that lies there. So the walk has a key of each
   64 neighbouring slots, and passes over a node that it has seen; one with a few scattered slots may be missed. */

#ifndef GAME_SERVER_WALK_H
#define GAME_SERVER_WALK_H

#include "guildhall/command.h"

enum
{
    WALK_LANES = 16,
    WALK_NODES = 64, /* that are known to be done; others are walked through again */
    WALK_NODE_SIZE = 41,
    WALK_ARGUMENTS = 3 + WALK_NODES
};

typedef enum walk_kind
{
    WALK_FIND = 0, /* ends with the first */
    WALK_REMOVE
} walk_kind;

typedef struct walk_lane
{
    gh_command op;
    bool asked;
    uint32_t tag; /* the key's; UINT32_MAX: none */
    char key_text[64];
    char cursor[24];
    char node[WALK_NODE_SIZE]; /* whose cursor it is */
    gh_str key;
    gh_str arguments[WALK_ARGUMENTS];
    uint64_t reply[64];
} walk_lane;

typedef struct walk
{
    /* read-only */
    bool found;
    uint64_t answers;

    /* private */
    gh_client* client;
    gh_script script;
    walk_lane lanes[WALK_LANES];
    char prefix[40];
    char pattern[44];
    uint32_t tags;
    uint32_t next;
    char done[WALK_NODES][WALK_NODE_SIZE];
    uint32_t done_count;
} walk;

void walk_begin(walk* w, gh_client* client, const char* prefix, bool is_cluster, walk_kind kind);

/* Each frame. True when it is over. */
bool walk_frame(walk* w);

#endif
