/* made_cluster.h -- a Cluster that a test makes up, on a world of scripted.h: of any size, honest until it is told to
   lie, and nothing in it depends on the machine.

       made_cluster* fleet = made_cluster_new(3);
       fleet->lie = moved_to_and_fro;          // NULL: what is true
       made_cluster_start(fleet);
       made_cluster_tick(fleet, 5000);         // 5 ms later

   Node n is 10.0.0.1:(MADE_PORT + n); whatever host a client connects to, the port tells which node it meant. Each
   owns what `owners` says, a share of all slots at first, answers for it as if every lock were free, and sends others
   elsewhere by MOVED; what comes right behind ASKING it answers in any case. */

#ifndef GUILDHALL_TESTS_MADE_CLUSTER_H
#define GUILDHALL_TESTS_MADE_CLUSTER_H

#include "support/server/scripted.h"
#include "wire/slot.h"

#define MADE_NODES_MAX 2048u
#define MADE_PORT      7000u
#define MADE_CYCLERS   8

typedef struct made_cluster made_cluster;

/* A node is asked for an op of that slot. True: what it says was added. */
typedef bool (*made_lie)(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply);

/* What CLUSTER SLOTS is answered, whole. */
typedef void (*made_map)(made_cluster* fleet, byte_buffer* reply);

/* Takes a lock and gives it back, again and again. */
typedef struct made_cycler
{
    gh_lock lock;
    char name[24];
    unsigned slot;
    unsigned long cycles; /* done so far */
} made_cycler;

struct made_cluster
{
    scripted* world;
    gh_client_config config; /* to be changed before the start */
    unsigned count;          /* of nodes */
    made_lie lie;            /* NULL: none */
    made_map map;            /* NULL: the true one */
    unsigned slot;           /* for the test: of which a lie is */
    uint16_t owners[GH_SLOTS];

    unsigned long requests; /* of ops */
    unsigned long requests_most; /* of them in a tick */
    unsigned long maps;     /* asked for */
    unsigned long asked[MADE_NODES_MAX]; /* requests of ops, of each node */

    made_cycler cyclers[MADE_CYCLERS];
    unsigned cycler_count;
    bool asking[SCRIPTED_STREAMS_MAX]; /* said last */
};

/* As many as that, with even shares of the slots. Nodes of the table: 32. */
made_cluster* made_cluster_new(unsigned count);
void made_cluster_start(made_cluster* fleet);

/* The cyclers, too. */
void made_cluster_tick(made_cluster* fleet, uint64_t later_us);

/* Shares all slots out anew among so many nodes. */
void made_cluster_share(made_cluster* fleet, unsigned count);

/* A row of a map, in the form of Redis 7; the size of the host -1: nil. The header of the map comes first. */
void made_map_begin(byte_buffer* reply, unsigned rows);
void made_map_row(byte_buffer* reply, unsigned first, unsigned last, const char* host, int host_size, long port);

/* The true map. */
void made_map_true(made_cluster* fleet, byte_buffer* reply);

/* "-MOVED 7 10.0.0.1:7000\r\n" */
void made_redirect(byte_buffer* reply, const char* word, unsigned slot, unsigned node);

/* A name of a lock whose slot that node owns, another one with each number. Returns its slot. */
unsigned made_name(const made_cluster* fleet, unsigned node, unsigned number, char name[24]);

/* One that cycles from now on, in a slot that the node owns now. */
made_cycler* made_cluster_cycle(made_cluster* fleet, unsigned node);

/* A lock, in a slot of the node, that is held as soon as it can be had. */
gh_lock* made_cluster_want(made_cluster* fleet, unsigned node, uint64_t wait_us);

#define MADE_UNTIL(fleet, condition, step_us, most_us)                                                       \
    do                                                                                                       \
    {                                                                                                        \
        uint64_t made_end_us = (fleet)->world->now_us + (most_us);                                           \
        while (!(condition))                                                                                 \
        {                                                                                                    \
            if ((fleet)->world->now_us >= made_end_us) fail_msg("waited too long for: %s", #condition);      \
            made_cluster_tick((fleet), (step_us));                                                           \
        }                                                                                                    \
    } while (0)

#endif
