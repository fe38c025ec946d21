/* guildhall/cluster.h -- the store is a Redis or Valkey Cluster: many masters, each with its share of the slots.

       config.topology = gh_topology_cluster();
       config.address = gh_str_literal("10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379");    seeds: any of its nodes

       ops --(slot of the object)--> queue of a node --> its link --> server
                       ^
              map of slots <-- MOVED, and CLUSTER SLOTS, read as it comes

   Every object has all its keys in one slot, so every op has one node that it goes to. What moves is followed: an op is
   sent again to whom the server names, with the same id, and sees a delay and nothing else. Connections are made when
   they are first needed. Nobody has to know how many nodes there are, or which.

   Ops      your own commands go by the second word, your scripts by their first key; all keys of one lie in one slot.
   Slots    that are on their way: an op whose keys are partly there and partly here waits until they are in one place,
            the time that one slot takes.
   Losses   as with one server, a node at a time. Replication is asynchronous, so a failover may lose what is newest.
            Held locks and permits are asked for as soon as the client knows that another node has their slots, even if
            nobody asks anything else of it: those that it does not know are LOST. It knows that by a link that is
            closed, by the answer to whatever it asks the master of before, renewals too, or by a map, which it asks for
            every 30 to 45 s. A node that comes back empty has lost what it had, and that is told (LOST, RESTARTED) to
            those whose objects lie there, and to no others. A master that was replaced while it stood still may yet
            grant what has lain in its socket: that is asked for at its successor as well. Each is told within 8 ticks
            and one round trip from when the link to the node is ready, with 1,000 held there: see gh_tick for the
            budget. Two cases nobody can tell: a master that was replaced, has lost something by that, and has its place
            again, all before this client asks it anew or hears of it from another: its connections outlive that. And a
            slot that has gone on from the successor of such a master to a third one, before this client asks the
            successor or hears of it. Ids of a chat or a mailbox that were lost are given again then. It takes two
            forced failovers within a second or two, or one and a slot that moves.
   Node     config.nodes_capacity: masters known at once, and some more for those that replace others. Slots of those
            that have no place in the table wait (GH_WARNING_NODES, and the log).
   Answers  of three nodes are received at once, the others' as soon as one has come to its end. A node that stops in
            the middle of one, or of a hint (wake_sharded), is given up after a quarter of request_timeout_us, if others
            wait for that. All nodes share requests_capacity, too, and two buffers to send from: what stands still may
            fill them until request_timeout_us, so give the one room for more than is asked of one node in that time.
   Names    A node may say a host name (cluster-preferred-endpoint-type hostname): config.resolver looks it up before
            each attempt, and without one what waits for the node is REFUSED. A node that says no host is at that of
            whoever was asked, behind a port of its own.
   TLS      A certificate must be for the name by which its node is found: the host name, or the one that it announces
            beside its number (cluster-announce-hostname); only without both for the number. Addresses of the config
            are verified as they stand there. Where all nodes have one certificate for another name, set server_name
            of guildhall/tls.h. Nodes tell the ports at which they speak TLS, in maps, MOVED and ASK, if tls-cluster is
            yes, and cluster-announce-tls-port instead where that is set; without tls-cluster they tell plain ones, but
            for what cluster-announce-port says.
   Hints    go to every node, as PUBLISH does in a Cluster: of Redis 7.0, 11 KB on its bus for one where there are 3
            masters and 3 replicas, 25 KB with 6 and 6. With config.wake_sharded, and from Redis 7.0 on, a hint stays
            with the master and the replicas of its object: measured, a fifth of the bytes with 3 and 3, an eleventh
            with 6 and 6; and of the servers' CPU for it half to a quarter, and an eighth or less. Who waits is then
            listened for over one connection more to each node on which something is waited for. What is not heard so,
            not yet or not any more, goes to every node as before, and is heard over the wake link. So a fleet may come
            to it one game server after the other, a slot that moves costs no hint, and servers that refuse it
            (GH_WARNING_NOT_SHARDED, and the log) are used as without it. Rights: KEYS.md. Some 350 bytes for each of
            nodes_capacity, and 250 for each of wake_channels.
   Sleepers gh_client_fd(GH_LINK_COMMANDS) is -1; gh_client_handles has all connections, and they change.
   Server   databases but 0 are refused (GH_INVALID_DATABASE). The user needs +cluster|slots and +asking beside what it
            needs on one server (KEYS.md, "Rights"), and must be on each master and each replica: users are not
            replicated. A node without it refuses what lies there, also one that has just taken over, and the log says
            which node it is. */

#ifndef GUILDHALL_CLUSTER_H
#define GUILDHALL_CLUSTER_H

#include "guildhall/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For config.topology. Static; never NULL. */
GH_API const struct gh_topology* gh_topology_cluster(void);

#ifdef __cplusplus
}
#endif

#endif
