/* cluster.h -- a whole Cluster of real servers on loopback, and what may happen to one.

       cluster* fleet = cluster_start(NULL);                    // 3 masters, a replica of each
       unsigned slot = cluster_slot("gh:{lock:door}:s");
       redis_server* old = cluster_master(fleet, slot);
       redis_server_kill9(old);
       redis_server* new = cluster_await_master(fleet, slot, old);
       redis_server_restart(old);                               // comes back as a replica
       cluster_settle(fleet);

            master 0          master 1          master 2        nodes 0, 1, 2
             0-5460          5461-10922       10923-16383       and all slots between them
               |                 |                 |
            replica           replica           replica         nodes 3, 4, 5

   Each node is a redis_server: it is asked, killed, frozen, thawed and restarted by the functions of redis_server.h.
   Only its end is the fleet's: cluster_remove, cluster_end, and the end of the test. Clients come by TCP
   (redis_server_tcp_address); the bus has the port 10000 above. Nodes know each other by 127.0.0.1.

   A start takes three seconds, two of which a node waits before it takes a write; so does a master that was restarted.
   cluster_shared has one that runs already.

   Everything is as the running nodes see it; those that are killed or frozen are not asked. What waits, waits for
   that, and fails the test at the cap of wait.h. A test that has clients to tick says so by wait_meanwhile, or asks
   instead: cluster_master, cluster_has_settled. */

#ifndef GUILDHALL_TESTS_CLUSTER_H
#define GUILDHALL_TESTS_CLUSTER_H

#include "support/server/redis_server.h"

#define CLUSTER_SLOTS     16384u
#define CLUSTER_NODES_MAX 64
#define CLUSTER_TAG_SIZE  8

typedef struct cluster cluster;

/* Zero is the plain one. Pointers are borrowed until the end. */
typedef struct cluster_options
{
    unsigned masters;         /* 0: 3. Fewer do not replace one that is lost: most of them have to agree      */
    unsigned replicas;        /* of each master                                                               */
    unsigned node_timeout_ms; /* how long a node may be silent until the others replace it; 0: 1000           */
    bool append_only;         /* nodes keep their keys over kill9 and restart                                 */
    bool clock;               /* redis_server_shift_clock works for each node                                 */
    const char* tls;          /* nodes speak TLS alone, with clients and each other, and have this certificate of
                                 papers.h; their unix sockets are as ever. NULL: they do not                  */
    const char* password;     /* of the default user on all nodes, and among them; NULL: none                 */
    const char* user;         /* one more on all nodes, also when they are restarted or added: its name, and
                                 the words of ACL SETUSER behind it (rights.h has those of KEYS.md); NULL: none */
    const char* settings;     /* more lines of the nodes' configuration, each ended by a line feed; NULL: none */
} cluster_options;

/* Starts and forms it; returns when it has settled. NULL: 3 masters with a replica each. */
cluster* cluster_start(const cluster_options* options);

/* One of 3 masters with a replica each that serves all tests which ask for it, empty and without scripts. What a test
   did to it is mended when the next asks: nodes run again, slots that were on their way stay where they are. Who is
   master, and of what, may differ from the drawing. No nodes can be added to it or removed from it. */
cluster* cluster_shared(void);

/* Skips the test where servers cannot announce host names: Redis before 7.0. */
void cluster_needs_names(void);

/* Happens by itself after the test. */
void cluster_end(cluster* fleet);

/* ---- who is there ----------------------------------------------------------------------------------- */

size_t cluster_count(cluster* fleet);
redis_server* cluster_node(cluster* fleet, size_t index);

/* Its name on the bus, of 40 hex digits. */
const char* cluster_id(cluster* fleet, const redis_server* node);

/* All nodes, running or not: "127.0.0.1:10001,127.0.0.1:10002". Valid until the next call for this fleet. */
const char* cluster_seeds(cluster* fleet);

/* Of the default user; NULL: none. */
const char* cluster_password(cluster* fleet);

/* From now on clients and the other nodes are told this address of the node, on 127.0.0.1, instead of its own: that of
   a proxy in front of it. Returns when all running nodes tell it, and holds after a restart. */
void cluster_announce(cluster* fleet, redis_server* node, const char* address);

/* Of a key, with its tag if it has one. */
unsigned cluster_slot(const char* key);

/* The smallest number that is of this slot, as a text: "{<tag>}x" is a key of it. */
void cluster_tag(unsigned slot, char tag[CLUSTER_TAG_SIZE]);

/* The running node that has the slot; the one of the latest election when several think so. NULL: none. */
redis_server* cluster_master(cluster* fleet, unsigned slot);

/* The running replicas of a master, itself running or not: index 0, 1, ...; NULL behind the last. */
redis_server* cluster_replica(cluster* fleet, const redis_server* master, size_t index);

/* What that node thinks of itself. A replica has no slots. */
bool cluster_is_master(redis_server* node);
unsigned cluster_slots_of(redis_server* node);

/* All running nodes say that the Cluster works, agree on who has which slot, miss no running node and know no other,
   and each running replica is fed by its master. Before that, a master that is lost may not be replaced at all. */
bool cluster_has_settled(cluster* fleet);
void cluster_settle(cluster* fleet);

/* Writes to stderr what each running node says, and the ends of their logs; what waits in vain does so too. */
void cluster_show(cluster* fleet);

/* ---- failovers -------------------------------------------------------------------------------------- */

/* Waits until a running node that is not this one has the slot, and all running nodes agree that it does. */
redis_server* cluster_await_master(cluster* fleet, unsigned slot, const redis_server* former);

typedef enum cluster_failover_kind
{
    CLUSTER_PLANNED, /* the master runs, and hands over; nothing is lost                          */
    CLUSTER_FORCE,   /* without the master, by the votes of the other masters                     */
    CLUSTER_TAKEOVER /* without any vote: also where most masters are gone                        */
} cluster_failover_kind;

/* Asks a running replica to take over from the slot's master, and returns it. Done later: cluster_await_master.

   A node that was elected keeps the votes for some seconds. If it is made a replica meanwhile and asked to take over
   again, redis 7.0 counts those old votes: it thinks itself the master, and nobody believes it. So unless it is a
   takeover, this waits until the node's last election is two of the larger of a second and the node timeout ago, and
   a little more: failovers to and fro are not faster than that. */
redis_server* cluster_failover(cluster* fleet, unsigned slot, cluster_failover_kind kind);

/* Killed, if it runs, and started again without any key, but with its name, its slots and its neighbours. A master
   that is back within the node timeout is still the master, and its replicas lose their keys as well. */
void cluster_restart_empty(redis_server* node);

/* ---- slots on their way ----------------------------------------------------------------------------- */

/* A slot that is handed from one master to another, in the three steps of the real thing. Meanwhile the old one
   answers for the keys that it still has, ASK for one that it has not, and TRYAGAIN where it has some of them. */
typedef struct cluster_move
{
    cluster* fleet;
    redis_server* from;
    redis_server* to;
    unsigned slot;
} cluster_move;

cluster_move cluster_move_begin(cluster* fleet, unsigned slot, redis_server* to);

/* Moves at most that many keys; returns how many are left. */
size_t cluster_move_keys(const cluster_move* move, size_t most);

/* Moves what is left, and tells all running masters whose the slot is. */
void cluster_move_end(const cluster_move* move);

/* Moves everything back, and the slot stays where it was. */
void cluster_move_cancel(const cluster_move* move);

/* All three. */
void cluster_move_slot(cluster* fleet, unsigned slot, redis_server* to);

/* Many slots, one after the other, between the ticks of a test:

       cluster_reshard work = cluster_reshard_begin(fleet, NULL, empty, 2000);
       while (cluster_reshard_step(&work)) game_tick_all();

   A step takes well under a millisecond: a slot is begun, or at most 16 keys are moved, or a slot is ended. */
typedef struct cluster_reshard
{
    cluster_move move;  /* of the slot at hand                                      */
    cluster* fleet;
    redis_server* from; /* NULL: from who has most of them, looked at now and then  */
    redis_server* to;   /* NULL: to who has fewest, the same                        */
    unsigned left;      /* slots, with the one under way                            */
    bool moving;        /* a slot is under way                                      */
} cluster_reshard;

cluster_reshard cluster_reshard_begin(cluster* fleet, redis_server* from, redis_server* to, unsigned slots);

/* False when all is done. */
bool cluster_reshard_step(cluster_reshard* work);

/* All slots of a master are on their way to another, and no key moves. Half a second; ten on Valkey where the masters
   have replicas, for it waits for these at each slot. */
void cluster_open_slots(cluster* fleet, redis_server* from, redis_server* to);

/* Whatever is on its way, on any running master, stays where it is. Keys that have moved are not moved back. */
void cluster_close_slots(cluster* fleet);

/* ---- nodes that come and go ------------------------------------------------------------------------- */

/* Starts one that joins as a master without slots. Returns when all know it. */
redis_server* cluster_add(cluster* fleet);

/* The same as a replica of that master; returns when it is fed. */
redis_server* cluster_add_replica(cluster* fleet, redis_server* master);

/* Moves its slots to the other masters and its replicas to another master, ends it, and has all forget it. All nodes
   must run, but the one that goes if it has no slots. The pointer is invalid then. A thousand slots take half a
   second: a test that has clients to tick moves them before. */
void cluster_remove(cluster* fleet, redis_server* node);

#endif
