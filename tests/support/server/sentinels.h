/* sentinels.h -- a master with replicas and the Sentinels that watch it, all real, and what may happen to them.

       sentinels* fleet = sentinels_start(NULL);               // a master, 2 replicas, 3 Sentinels
       redis_server* old = sentinels_master(fleet);
       redis_server_kill9(old);
       redis_server* new = sentinels_await_master(fleet, old);
       redis_server_restart(old);                              // a master again, until they make a replica of it
       sentinels_settle(fleet);

            sentinel 0   sentinel 1   sentinel 2        sentinels_sentinel
                  \           |           /
                   \          |          /              monitor SENTINELS_NAME, quorum: most of them
                    v         v         v
              server 0 --> server 1, server 2           sentinels_server; 0 is the master at first

   Each of them is a redis_server: asked, killed, frozen, thawed and restarted by the functions of redis_server.h, but
   that a Sentinel is restarted by sentinels_restart, and that none is ended before the fleet. What the Sentinels make
   of a server they write into its configuration, so it starts again as what it was last; redis_server_restart_empty
   makes it what it was at first.

   A start takes two seconds. A master that is killed is replaced two seconds later, one that is asked to give way
   within one, and for most of that one there are two who take writes. A former master that comes back, or was frozen,
   is a master until the Sentinels have looked at it for a while: up to 18 seconds, or nine if the fleet is quick.

   They try to connect four times in down_after_ms, not once a second as others: with a shorter time until they take a
   master for down they would take a new one for it at once, and fail over again. Redis before 7.0 cannot be told so.

   What waits, waits for a condition, and fails the test at the cap of wait.h. A test that has clients to tick says so
   by wait_meanwhile, or asks instead: sentinels_master, sentinels_has_settled. */

#ifndef GUILDHALL_TESTS_SENTINELS_H
#define GUILDHALL_TESTS_SENTINELS_H

#include "support/server/redis_server.h"

#define SENTINELS_NAME "game"
#define SENTINELS_MOST 8 /* servers, and Sentinels */

typedef struct sentinels sentinels;

/* Zero is the plain one. Pointers are borrowed until the end. A user is its name and the words of ACL SETUSER behind
   it (rights.h has those of KEYS.md); NULL: only the default user. */
typedef struct sentinels_options
{
    unsigned replicas;             /* 0: 2                                                                         */
    unsigned sentinels;            /* 0: 3                                                                         */
    unsigned down_after_ms;        /* how long the master may be silent until a Sentinel takes it for down; 0: 500 */
    unsigned failover_timeout_ms;  /* half of the time until another failover is tried; the one that leads a failover
                                      gives it up if the replica is no master by then; 0: 2000                       */
    bool quick;                    /* Sentinels look at the servers five times a second, not every ten seconds     */
    bool clock;                    /* redis_server_shift_clock works for each server                               */
    bool append_only;              /* servers keep their keys over kill9 and restart                               */
    const char* tls;               /* servers and Sentinels speak TLS alone, with clients and each other, and have this
                                      certificate of papers.h; their unix sockets are as ever. NULL: they do not     */
    const char* host;              /* what all call each other, and tell clients: a name that this machine looks up, and
                                      Sentinels from 6.2 on. NULL: 127.0.0.1                                         */
    const char* password;          /* of the servers, and among them; NULL: none                                   */
    const char* user;              /* one more on the servers                                                      */
    const char* sentinel_password; /* of the Sentinels, and among them; NULL: none                                 */
    const char* sentinel_user;     /* one more on the Sentinels                                                    */
} sentinels_options;

/* Starts them all; returns when the fleet has settled. NULL: the plain one. */
sentinels* sentinels_start(const sentinels_options* options);

/* Happens by itself after the test. */
void sentinels_end(sentinels* fleet);

/* Servers that have been the master or a replica, and Sentinels; running or not. */
size_t sentinels_server_count(const sentinels* fleet);
redis_server* sentinels_server(const sentinels* fleet, size_t index);
size_t sentinels_sentinel_count(const sentinels* fleet);
redis_server* sentinels_sentinel(const sentinels* fleet, size_t index);

/* All Sentinels: "127.0.0.1:10001,127.0.0.1:10002,127.0.0.1:10003". Valid until the next call for this fleet. */
const char* sentinels_seeds(sentinels* fleet);

/* By ROLE: what it thinks of itself. There may be two for a while. */
bool sentinels_is_master(redis_server* server);

/* The running server that is a master by ROLE, and that most of the running Sentinels name. NULL: none. */
redis_server* sentinels_master(const sentinels* fleet);

/* All running Sentinels name the same running master, think that nothing is the matter with it, and know of all
   servers and of each other; all other running servers are its replicas, and are fed by it. */
bool sentinels_has_settled(const sentinels* fleet);
void sentinels_settle(const sentinels* fleet);

/* Waits until another is the master, and all running Sentinels name it. */
redis_server* sentinels_await_master(const sentinels* fleet, const redis_server* former);

/* SENTINEL FAILOVER: the master gives way although it is well. Asks again until a Sentinel takes it up. It is done
   later: sentinels_await_master. */
void sentinels_failover(const sentinels* fleet);

/* What the master has now is at all its replicas: it streams to a new one only when that has said so for the first
   time, up to a second after it was fed. */
void sentinels_replicas_have_all(const sentinels* fleet);

/* A former master that says to be one still is made a replica at once, as by an operator who does not wait for the
   Sentinels to do that. Nothing, where the running Sentinels do not all name another. */
void sentinels_make_replica(const sentinels* fleet, redis_server* former);

/* Writes the ends of all logs to stderr; what waits in vain does so too. */
void sentinels_show(const sentinels* fleet);

/* Killed, if it runs, and started again, with what it knew. */
void sentinels_restart(const sentinels* fleet, redis_server* sentinel);

#endif
