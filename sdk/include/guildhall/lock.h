/* guildhall/lock.h -- at most one owner of a name in the whole fleet, for as long as its lease lasts.

                      .---- not ours yet, poll pause or hint ----.
                      v                                          |
       begin --> ASKING ---------- queued behind others ----> WAITING
                   |  '-- granted --> HELD <-> RENEWING             |
                   |                   |  |        |               |
                   |           release |  | lease ran out          | wait ran out, cancel
                   |                   v  v                        |
                   '--- cancel ---> LEAVING ------> ended <--------'

   ASKING     one request is queued or on the wire; the store may already count us as waiting or as the owner
   WAITING    the store has us in its queue; nothing is on the wire; a hint or a timer will make us ask
   HELD       ours until lease_end by our own clock; the tick renews it after a third of the lease
   RENEWING   HELD, and a renewal is queued or on the wire
   LEAVING    giving back, or leaving the queue; waits for the store's word, poll says PENDING. While the link is down
              the release waits for it, for as long as it matters: held, until the lease is over; asked for and not
              answered, until a lease that the store may have granted is over (request_timeout_us + lease_us at most);
              waiting, until our client counts as dead there (15 s)

   Order    waiters are served in order of arrival at the store. A waiter that died is skipped; one that slept through
            its turn goes to the end of the queue. A turn is kept for 200 ms; for the waiters of a client whose wake
            link is down or off, which find out by asking, for 2.2 s (with over 4,000 ops busy in it longer): so much a
            death costs those behind it.
   Late     a request that a dead link holds back, and that reaches the store when nobody wants the lock any more, is
            granted nothing and queues nobody: each copy says until when it may be carried out, request_timeout_us from
            when it was sent, and who leaves before that tells the store to refuse it.
   Fence    every grant carries a number that is larger than that of every earlier grant of the name, also after the
            store lost its data (fence = max(last + 1, store time in us)). Write it with your data, or use it as
            a condition with gh_lock_fence and command.h: that is what makes a lock safe against a paused process.
   Time     the store's clock decides in the store, yours here; lease_end is counted from the send of the request, less
            1 % and 1 ms for clocks that run unevenly, so it is never later than the store's.
            The first grant takes 5 or 6 ticks after the start: connect, hand-shake, ask, perhaps load the script, hear.
   Poll     says what the last gh_tick saw, and looks at no clock. A frame that hangs between its tick and its write
            (loads a level, is swapped out) writes without knowing: gh_lock_end_us is for looking once more, the fence
            for being sure.
   Threads  as the client.
   Memory   the op is yours and stays in place until it ends.
   Failure  the lease is a promise about time, not about the network: when the link is down, HELD stays HELD until
            lease_end and is then told LOST. A grant whose answer comes too late is not reported. A release that finds
            the link down is repeated until the lease is over. A crashed owner blocks others until its lease is over.
            An asynchronous failover can lose a grant that was acknowledged (Redis replication): fences still grow, and
            the owner asks as soon as it is connected to a server that was restarted or promoted, and is told LOST:
            1,000 owners of a client within 8 ticks and one round trip (gh_tick has the budget).
            A key that holds something else, or a number that cannot be (a fence at 2^53 - 1 or above), ends what asks
            for the lock CORRUPT; nothing is written, and no fence is handed out twice.
   Cost     uncontended: 2 requests (one to take, one to give back). Contended: 3 per grant, whatever the number of
            waiters, and a heartbeat per waiter every 5 s (with over 10,000 ops busy in a client more seldom: together
            never more than 4,000 a second). Renewal: 1 per third of a lease.

   Use
       gh_lock_config want = gh_lock_config_default();
       want.wait_us = 200 * 1000;
       gh_lock_begin(&trade, client, gh_str_of(item_name), &want);
       ... each frame, after gh_tick:
       switch (gh_op_poll(&trade.op))
       {
       case GH_PENDING: break;
       case GH_HELD: buy(trade.fence); gh_lock_release(&trade); break;
       case GH_LOST: undo(); break;
       case GH_OK: break;
       default: show(gh_status_text(gh_op_poll(&trade.op)));
       } */

#ifndef GUILDHALL_LOCK_H
#define GUILDHALL_LOCK_H

#include "guildhall/client.h"
#include "guildhall/command.h" /* gh_fence */

#ifdef __cplusplus
extern "C" {
#endif

#define GH_LOCK_LEASE_MIN_US 50000ull       /* 50 ms: a few frames and a round trip                 */
#define GH_LOCK_LEASE_MAX_US 3600000000ull  /* 1 h                                                  */
#define GH_LOCK_WAIT_MAX_US 86400000000ull  /* 24 h                                                 */
#define GH_LOCK_SET_MAX 64                  /* names in one gh_lock_set                             */

typedef struct gh_lock_config
{
    size_t struct_size; /* set by gh_lock_config_default; leave it                                                 */
    uint64_t lease_us;  /* others get it this long after we vanish; GH_LOCK_LEASE_MIN_US.._MAX_US, default 10 s     */
    uint64_t wait_us;   /* stop waiting after this long; 0 asks the store exactly once, and the answer may take until
                           the client's request_timeout_us; at most GH_LOCK_WAIT_MAX_US; default 5 s                */
    uint64_t hold_us;   /* release by itself after having been held this long; 1 means at the next tick; 0 (default)
                           never; at most GH_LOCK_WAIT_MAX_US. With 0, who ticks keeps its lock for ever: a lease ends
                           only where the ticks do, so that one which forgets to release blocks all others until its
                           process is gone. Against that, set a time that no work under this lock ever takes       */
    uint8_t wait_replicas; /* HELD only when so many replicas have the grant: replicas.h. 0..GH_REPLICAS_MAX; default
                              GH_REPLICAS_AS_CLIENT                                                                */
} gh_lock_config;

GH_API gh_lock_config gh_lock_config_default(void);

typedef struct gh_lock
{
    union
    {
        gh_op op;
        gh_lease lease; /* private */
    };

    /* read-only */
    uint64_t fence;    /* of the current or last grant; 0: none yet                               */
    uint32_t position; /* among the waiters, 1 is next; 0 while unknown                           */

    /* private */
    struct gh_lock_set* set;
} gh_lock;

/* Begins to want a lock. GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED;
   GH_INVALID_OP (NULL or busy), _CLIENT, _NAME, _CONFIG, _LEASE, _WAIT, _HOLD, _REPLICAS.
   config may be NULL for the defaults. The fields of op need no set-up beyond being zero or left from its last use. */
GH_API gh_status gh_lock_begin(gh_lock* op, gh_client* client, gh_str name, const gh_lock_config* config);

/* What is not HELD any more has ended in the store, too: TIMEOUT, CANCELLED, BUSY and FULL come when the store has
   confirmed that nothing of ours is left there, which takes as long as LEAVING does, also beyond wait_us.

   GH_IDLE      never begun
   GH_OK        ended: released; the store has confirmed it, or refuses to listen, or the lease is over anyway
   GH_PENDING   not ours yet, or being given back
   GH_HELD      ours as of the last tick. Stays GH_HELD while it is renewed: ask before each thing that needs it
   GH_BUSY      ended: wait_us was 0 and another has it
   GH_TIMEOUT   ended: not ours within wait_us
   GH_LOST      ended: it was ours and is not any more: the lease ran out, the store lost it, or a release found that
                another had it; or a renewal that the store has it under another fence, having lost ours and carried out
                a late copy of the request: that is given back first. Whatever was done without a fence since the last
                GH_HELD may have been done by two
   GH_CANCELLED ended: cancelled, before it was ours or while it was; then it was given back, unless the client was shut
                down, and is free after its lease
   GH_FULL      ended: 100,000 already wait for this name
   GH_UNKNOWN   ended: the request was sent, no answer came, and the store could not be told that it is not wanted any
                more: no link for a whole lease, a server that refuses, or the client was shut down. If it was granted,
                it frees itself after its lease
   GH_REFUSED, GH_CORRUPT   ended: see gh_status_text */

/* Gives the lock back, or stops wanting it if it is not ours yet; asynchronous, poll until GH_OK if you care. Never
   touches a lock that another holds. Allowed in every state; nothing happens to an op that is not busy. */
GH_API void gh_lock_release(gh_lock* op);

/* How long it is still ours, in us, seen from the last tick; 0 if it is not. */
GH_API uint64_t gh_lock_remaining_us(const gh_lock* op);

/* When it stops being ours, on the clock that you give to gh_tick; 0 if it is not ours. Each renewal moves it on. */
GH_API uint64_t gh_lock_end_us(const gh_lock* op);

/* The condition for command.h that this very grant is still the current one.
   Not held: a fence of 0, which is refused. */
GH_API gh_fence gh_lock_fence(const gh_lock* op);

/* Writes "<prefix>:{lock:<encoded name>}" and a NUL: begin your own keys with it, and they lie in the lock's slot on
   Redis Cluster, and apart from those of a fleet with another prefix. Returns how long it is, without the NUL; 0, and
   nothing is written, if capacity is smaller than that and the NUL (GH_LOCK_TAG_SIZE_MAX always does), or the name is
   not valid, or the client is NULL. */
#define GH_LOCK_TAG_SIZE_MAX (32 + 1 + 7 + GH_NAME_SIZE_MAX * 3 + 1)
GH_API size_t gh_lock_tag(const gh_client* client, gh_str name, char* out, size_t capacity);

/* ---------------------------------------------------------------------------------------------------------------
   Several names at once, all or nothing. They are taken one after the other in the order of their bytes, so two
   sets can never wait for each other; while it waits for the next, the set renews what it has.

       begin --> TAKING --> HELD --> LEAVING --> ended           any failure: LEAVING, then ended

   It stands and ends as a lock does, for all together: GH_HELD only while every one is ours. When one is lost, it is
   GH_PENDING until the others are given back, and then ends GH_LOST. One that its owner releases or detaches ends it as
   gh_lock_set_release does; what was detached is yours at once, for another lock, too. */
typedef struct gh_lock_set
{
    gh_op op;

    /* private */
    struct gh_op* next_owner;
    gh_lock* locks;
    uint64_t give_up_us; /* on the client's clock */
    gh_lock_config config;
    uint32_t count;
    uint32_t next; /* how many are begun */
    uint8_t order[GH_LOCK_SET_MAX]; /* in which they are taken: indices of locks */
    int16_t outcome;
} gh_lock_set;

/* Begins to want all names. locks is an array of count idle locks, yours, in place until the set ends; locks[i]
   is of names[i], and each has its own fence. wait_us is for all of them together; with wait_us 0 each is asked
   for once. The set takes a place of ops_capacity besides its locks. GH_OK; GH_NO_ROOM (ops_capacity: no place for the
   set and its first lock); GH_CLOSED; GH_INVALID_OP (set busy, or a lock busy), _CLIENT, _NAMES (NULL, 0, more than
   GH_LOCK_SET_MAX, one twice), _NAME (one is not valid), _CONFIG, _LEASE, _WAIT, _HOLD (must be 0), _REPLICAS.
   It may also end GH_NO_ROOM: a later lock found no place in its turn; those before it are given back. */
GH_API gh_status gh_lock_set_begin(gh_lock_set* set, gh_client* client, gh_lock* locks, const gh_str* names,
                                   size_t count, const gh_lock_config* config);

/* Gives all back, or stops wanting them; as gh_lock_release. */
GH_API void gh_lock_set_release(gh_lock_set* set);

/* ---------------------------------------------------------------------------------------------------------------
   Looking: who has a lock, since when, and how many wait. For a tool, a log, a screen that says whom one waits for.
   What it tells may be over when it is read: it decides nothing, a lock of one's own and its fence do.

       begin --> SENT --> ended

       gh_lock_look_begin(&look, client, gh_str_of(item_name), NULL);
       ... once it has ended:
       if (gh_op_poll(&look.op) == GH_OK) show_owner(look.client, look.held_us, look.waiters); */

typedef struct gh_lock_look_config
{
    size_t struct_size;  /* set by gh_lock_look_config_default; leave it   */
    uint64_t timeout_us; /* from begin to the end; 1 ms..60 s, default 5 s */
} gh_lock_look_config;

GH_API gh_lock_look_config gh_lock_look_config_default(void);

typedef struct gh_lock_look
{
    gh_op op;

    /* read-only, after GH_OK; after GH_GONE quarantine_us and waiters, and all else is 0 */
    uint64_t client;         /* gh_client_id of who has it; the store knows no name: let each server log its own  */
    uint64_t fence;          /* of its grant; 0 while it is kept for a waiter                                         */
    uint64_t since_store_us; /* when it was granted, or its turn began: us since 1970 by the store's clock, as the fence
                                has it. 0: unknown, as that clock was set back; later than it was, once the clock has
                                made up for that                                                                      */
    uint64_t held_us;        /* how long ago that was; 0: unknown                                                     */
    uint64_t remaining_us;   /* of the lease, which a holder that ticks renews; or of the turn                        */
    uint64_t quarantine_us;  /* so long this client is granted nothing yet, as the store is new: see client.h; 0: it is
                                over, or there is none                                                                */
    uint32_t waiters;        /* in the queue, also those that have died there                                         */
    bool waiting;            /* kept for a waiter whose turn it is, and not claimed yet                               */

    /* private */
    gh_name name;
} gh_lock_look;

/* Begins to look at one lock, also at one of a set. It writes nothing to the store.
   GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED; GH_INVALID_OP, _CLIENT, _NAME, _CONFIG, _TIMEOUT.
   config may be NULL for the defaults. */
GH_API gh_status gh_lock_look_begin(gh_lock_look* op, gh_client* client, gh_str name,
                                    const gh_lock_look_config* config);

/* How it ends:
   GH_OK        somebody has it, or it is kept for a waiter
   GH_GONE      nobody has it: it is free, or was never taken, or the lease of who had it is over. If others wait,
                the first of them that asks gets it
   GH_TIMEOUT   no answer
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

#ifdef __cplusplus
}
#endif

#endif
