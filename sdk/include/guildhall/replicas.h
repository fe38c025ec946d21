/* guildhall/replicas.h -- grants and answers that are told only when replicas have them.

       config.replicas = gh_replicas_wait();
       config.wait_replicas = 1;              -- of all locks, permits and commands; or 0, and of some by their config

       begin --> done at the master --> so many replicas have it --> HELD, GH_OK
                     |                    '-- not in wait_us:  a lock, a permit   given back, and asked for again until
                     |                                                            its own wait is over: TIMEOUT
                     |                                         a command          GH_UNREPLICATED, with its answer
                     '-- WAIT is refused                                          GH_REFUSED: nothing was done
                                                                                  (GH_WARNING_NO_REPLICAS, and the log)

   Replication is asynchronous: without this, a master that dies takes with it what it had acknowledged and not yet
   passed on, some milliseconds of it. With it, what was told had reached so many replicas before.

   Works on one server, behind Sentinel, and on Cluster. What wants no replicas is not slower: the rest goes over a
   connection of its own, a server, which is opened when something first wants it.

   Honesty   n replicas have it. A failover takes the most advanced replica that it can see, which need not be one of
             them: only with all replicas is none left out. min-replicas-to-write of the server does not mend that: it
             counts those that it has heard of within some seconds, not what they have. In memory, that is, as at the
             master: what the disk has is a matter of appendfsync.
   Lease     counts from the sending, as always: what the replicas take is gone from it.
   Time      a round trip between master and replica, behind that to the master. All grants of a tick wait together. The
             server looks at the end of a wait ten times a second, so others who want replicas, too, may wait for 100 ms
             more when some are away. Behind a second connection's loss nothing can be known of replicas: that is
             GH_UNREPLICATED, and a lock asks again.
   Renewals  and releases, and all other ops, do not wait. A renewal proves the lease by itself, and one that a failover
             lost is told: LOST.
   Limits    request_timeout_us should be 500 ms or more: it bounds what a server is given for its answer to WAIT. One
             place of requests_capacity is for that question, so that no crowd of ops keeps it from being asked.
   Server    +wait for the user, beside what KEYS.md has. Some hosted servers refuse it to everybody.
   Memory    some 140 KiB more with the default capacities on one server; on Cluster, some 600 bytes for each of
             nodes_capacity */

#ifndef GUILDHALL_REPLICAS_H
#define GUILDHALL_REPLICAS_H

#include "guildhall/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For config.replicas. Static; never NULL. */
GH_API const struct gh_replicas* gh_replicas_wait(void);

#ifdef __cplusplus
}
#endif

#endif
