/* guildhall/sentinel.h -- the store's master is found and followed by Redis Sentinel.

       config.topology = gh_topology_sentinel();
       config.address = gh_str_literal("10.0.0.1:26379,10.0.0.2:26379,10.0.0.3:26379");
       config.sentinel_name = gh_str_literal("mymaster");

                      asked of one sentinel after the other
       ASKING ------------------- an answer -----------------> FOUND
         ^                                                     |   |
         |<---- the link to the master is lost, or it is none -'   |
         |                                                         | a sentinel: "that replica becomes the master"
         |                                                         v
         '<----- it does not within 3 s, or is given up ---- PROMOTING ---- it says that it is the master ----> FOUND

   What a sentinel says is a hint: requests go to a server that says of itself that it is a master, and to none else.
   All sentinels of the list are listened to all the time, as the one that leads a failover alone tells of its
   beginning: from that moment nothing is sent to the old master, no answer of it is believed, and ops wait.
   What was told while nobody listened is asked for: each sentinel when its link is back, and one after the other while
   the master is silent for more than half of request_timeout_us. Where one names another master than the one that is
   followed, all are asked, and it is left if more of them name the other: for a sentinel that was away may name an old
   one, and so may some for good.

   Ops      see a failover as a delay. What they had sent, and got no answer to, goes to the new master with the same
            id; a command with GH_REPEAT_NEVER that was just on its way ends GH_UNKNOWN.
   Name     when each sentinel that can be asked has said that it knows of no master by that name, what waits is
            REFUSED, and the log says so; while one has not answered, it waits.
   Losses   replication is asynchronous, so the newest changes may be lost by a failover, and no answer can tell that.
            What can be told, is: held locks and permits are asked for at once at the new master, and those that it does
            not know are LOST; ids that began anew are RESTARTED. A master that comes back empty has lost all. Each is
            told within 8 ticks and one round trip from when the link is ready, with 1,000 held: see gh_tick for the
            budget. The same holds for what an old master acknowledged when it had been replaced already.
            In a planned failover (SENTINEL FAILOVER) with these rules nothing was seen to be lost by a replica that
            keeps up: Sentinels do not wait for one that does not, as a Cluster does. Clients of other kinds may go on
            writing to the old master for about a second, and so does a client of this kind that comes in the middle, or
            has no link to the sentinel that leads it just then: nobody tells it. If that sentinel dies before it has
            told the others, they undo it, and what was done meanwhile is lost.
   TLS      of guildhall/tls.h is for the sentinels and for the servers: all have a tls-port, and tls-replication yes,
            by which sentinels name it. Certificates are for what the sentinels say: numbers; or names, with sentinel
            resolve-hostnames yes and sentinel announce-hostnames yes, a name in sentinel monitor and in
            replica-announce-ip, and config.resolver. A sentinel that shows another name is passed over.
   Server   min-replicas-to-write 1 bounds what a master that was cut off can still promise. Give the sentinels'
            user, if it has one: resetchannels &+switch-master &+failover-state-send-slaveof-noone &-failover-abort-*
            -@all +sentinel|get-master-addr-by-name +subscribe +unsubscribe +ping
   Memory   some 3 KiB a sentinel, in gh_client_memory's answer. Handles for those who sleep: gh_client_handles. */

#ifndef GUILDHALL_SENTINEL_H
#define GUILDHALL_SENTINEL_H

#include "guildhall/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* At most so many sentinels in config.address; others are refused (GH_INVALID_ADDRESS). */
#define GH_SENTINELS_MAX 8

/* For config.topology. Static; never NULL. */
GH_API const struct gh_topology* gh_topology_sentinel(void);

#ifdef __cplusplus
}
#endif

#endif
