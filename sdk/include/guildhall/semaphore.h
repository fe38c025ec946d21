/* guildhall/semaphore.h -- at most so many permits of a name in the whole fleet, each for as long as its
   lease lasts.

                      .---- not ours yet, poll pause or hint ----.
                      v                                          |
       begin --> ASKING ---------- queued behind others ----> WAITING
                   |  '-- granted --> HELD <-> RENEWING             |
                   |                   |  |        |               |
                   |           release |  | lease ran out          | wait ran out, cancel
                   |                   v  v                        |
                   '--- cancel ---> LEAVING ------> ended <--------'

   ASKING     one request is queued or on the wire; the store may already count us as waiting or as a holder
   WAITING    the store has us in its queue; nothing is on the wire; a hint or a timer will make us ask
   HELD       ours until lease_end by our own clock; the tick renews it after a third of the lease, together
              with all other permits of the name and the same lease in this client, up to 100 in one request
   RENEWING   HELD, and the renewal of its group is queued or on the wire
   LEAVING    giving back, or leaving the queue; waits for the store's word, poll says PENDING. While the link
              is down the release waits for it, for as long as it matters: see lock.h

   Keys     one string with limit, count and fence, a zset of permits by expiry, a zset of waiters by arrival. KEYS.md
            has them all.
   Limit    lives in the store. The first who asks for a permit of a name brings it along: the limit in its
            config. Another server whose config says another limit changes nothing by that, and is told: the
            limit that counts stands in each permit (op->limit), from the store's first answer on. No status
            says that the two differ; compare them where that matters. Two hours after the last grant the name
            is forgotten, unless a permit is held, and the next who asks brings a limit along.
            gh_semaphore_limit_begin sets the limit for all, and 30 days take the place of the two hours; also
            while permits are held: nobody loses one, and nobody gets one until the permits fit the new limit.
            Once it is told as set, no copy of it, from a link that was given up, undoes what others have set
            since, whoever and however many they are. One that nobody was told of may still be set until its
            timeout_us is over: once, unless more than 8 other clients set it meanwhile; and never later.
   Order    waiters are served in order of arrival at the store, also when the next in line wants more permits
            than are free. A waiter that died is skipped; one that slept through its turn goes to the end of
            the queue. A turn is kept for 200 ms, or for 2.2 s without the wake link: see lock.h.
   Fence    every grant carries a number that is larger than that of every earlier grant of the name, also
            after the store lost its data (fence = store time in us, or last + 1 if that is not larger). It
            tells grants apart and in order: in a log, or in a row that one permit writes alone, which keeps
            the fence of who wrote it last and refuses smaller ones. It is no gh_fence: that asks whether a
            grant is the one that is current, and here many are. To write only while a permit is held, check
            gh_op_poll and bear a write that is late by a round trip, or take a lock for what is written.
   Time     the store's clock decides in the store, yours here; no game server's clock is ever compared with
            another's. lease_end is counted from the send of the request, less 1 % and 1 ms, so it is never
            later than the store's. The first grant takes 5 or 6 ticks after the start: connect, hand-shake,
            ask, perhaps load the script, hear.
   Threads  as the client.
   Memory   ops are yours and stay in place until they end. A semaphore is a value: an op that has begun on it
            needs it no more.
   Failure  as of a lock: when the link is down, HELD stays HELD until lease_end and is then told LOST; a
            release that finds the link down is repeated until the lease is over; what a dead holder had is
            free after its lease: lease_us 2 s gives a dead client's permits back within 2 s and costs it 1.5
            requests a second; the default 10 s, and 0.3. A request that a dead link held back, and that the
            store sees after the release, takes nothing: each copy says until when it may be carried out,
            request_timeout_us from when it was sent, and who leaves before that tells the store to refuse it.
            Connected to a server that was restarted or promoted, all permits are asked for at once, 100 in a
            request, and those that it forgot are told LOST. A key that holds something else, or a number that
            cannot be, ends what asks CORRUPT; nothing is written. Permits that a script counted and did not
            hand out, because it was stopped in between, are counted anew by the next who asks, where at most
            200 hold any.
   Cost     uncontended: 2 requests. Contended: 3 per grant, whatever the number of waiters, and a heartbeat
            per waiter every 5 s (with over 10,000 ops busy in a client more seldom: together never more than
            4,000 a second). Renewal: 1 per third of a lease for up to 100 permits of a name. What one request
            makes the store do is bounded to keep every script under 500 us: it clears away 32 leases that are
            over (a begin: 64), passes 154 dead waiters (34 if each is of a client of its own), and gives 10
            waiters their turn. What is left is for the next request, which is sent at once.

   Use
       gh_semaphore_config config = gh_semaphore_config_default();
       config.limit = 300;                                        -- players in the arena
       gh_semaphore_init(&arena, client, gh_str_literal("arena 7"), &config);
       gh_permit_begin(&seat, &arena, NULL);
       ... each frame, after gh_tick:
       switch (gh_op_poll(&seat.op))
       {
       case GH_PENDING: show_place_in_line(seat.position); break;
       case GH_HELD: play(); break;                               -- later: gh_permit_release(&seat)
       default: show(gh_status_text(gh_op_poll(&seat.op)));
       } */

#ifndef GUILDHALL_SEMAPHORE_H
#define GUILDHALL_SEMAPHORE_H

#include "guildhall/client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_SEMAPHORE_LIMIT_MAX 1000000
#define GH_SEMAPHORE_LEASE_MIN_US 50000ull      /* 50 ms: a few frames and a round trip */
#define GH_SEMAPHORE_LEASE_MAX_US 3600000000ull /* 1 h                                  */
#define GH_SEMAPHORE_WAIT_MAX_US 86400000000ull /* 24 h                                 */
#define GH_SEMAPHORE_HOLDERS_MAX 100            /* in one gh_semaphore_look             */

/* ---- a semaphore --------------------------------------------------------------------------------------- */

typedef struct gh_semaphore_config
{
    size_t struct_size;  /* set by gh_semaphore_config_default; leave it                                   */
    uint32_t limit;      /* of the semaphore, if the store does not know it: see Limit.
                            1..GH_SEMAPHORE_LIMIT_MAX; 0 (default): not said, which is enough to look and to
                            set the limit, but for no permit                                               */
    uint8_t wait_replicas; /* of permits: HELD only when so many replicas have the grant: replicas.h.
                              0..GH_REPLICAS_MAX; default GH_REPLICAS_AS_CLIENT                            */
    uint64_t timeout_us; /* of gh_semaphore_limit_begin and gh_semaphore_look_begin, from begin to the end;
                            1 ms..60 s, default 5 s. A permit has a wait_us instead                        */
} gh_semaphore_config;

GH_API gh_semaphore_config gh_semaphore_config_default(void);

/* A semaphore as this server uses it: a value, which may be copied, and has no end. */
typedef struct gh_semaphore
{
    /* private */
    gh_object object;
    gh_semaphore_config config;
} gh_semaphore;

/* Says which semaphore, by which client, with which settings; config may be NULL for the defaults. Asks the store
   nothing. A semaphore that was not made well may be used: each begin on it ends as init did.
   GH_OK; GH_INVALID_OBJECT (semaphore is NULL), _CLIENT, _NAME, _CONFIG (not made by its default function), _LIMIT,
   _TIMEOUT. */
GH_API gh_status gh_semaphore_init(gh_semaphore* semaphore, gh_client* client, gh_str name,
                                   const gh_semaphore_config* config);

/* Every begin below answers, besides what stands with it: GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED; GH_INVALID_OP
   (NULL or busy), GH_INVALID_OBJECT (semaphore is NULL or was not made by gh_semaphore_init), GH_INVALID_CLIENT (it was
   shut down), or what gh_semaphore_init answered. */

/* ---- a permit ------------------------------------------------------------------------------------------ */

typedef struct gh_permit_config
{
    size_t struct_size; /* set by gh_permit_config_default; leave it */
    uint32_t permits;   /* so many at once, all or none; 1 (default)..the limit in the semaphore's config */
    uint64_t lease_us;  /* others get them this long after we vanish; GH_SEMAPHORE_LEASE_MIN_US.._MAX_US,
                           default 10 s */
    uint64_t wait_us;   /* stop waiting after this long; 0 asks the store exactly once, and the answer may
                           take until the client's request_timeout_us; at most GH_SEMAPHORE_WAIT_MAX_US;
                           default 5 s. Other semaphores often fail at once where nothing is free: that is 0 */
    uint64_t hold_us;   /* release by itself after having been held this long; 1 means at the next tick; 0
                           (default) never; at most GH_SEMAPHORE_WAIT_MAX_US */
} gh_permit_config;

GH_API gh_permit_config gh_permit_config_default(void);

typedef struct gh_permit
{
    union
    {
        gh_op op;
        gh_lease lease; /* private */
    };

    /* read-only */
    uint64_t fence;    /* of the current or last grant; 0: none yet                 */
    uint32_t position; /* among the waiters, 1 is next; 0 while unknown. As of our last answer, up to 5 s ago;
                          waiters before us that died count until their turn would come                    */
    uint32_t limit;    /* as the store said last; 0 while unknown                   */

    /* private */
    gh_gate row;                /* the first of a group is found by it                             */
    struct gh_permit* next;     /* those who are refreshed together, in a ring                     */
    struct gh_permit* previous; /* NULL: in none                                                   */
    struct gh_permit* carrier;  /* whose request refreshes us just now                             */
    uint32_t permits : 24;      /* both are at most GH_SEMAPHORE_LIMIT_MAX                         */
    uint32_t batch : 8;         /* how many our request refreshes                                  */
    uint32_t first_limit : 24;
    uint32_t place : 8;         /* among those of the carrier's request                            */
} gh_permit;

/* Begins to want permits; config may be NULL for the defaults. The fields of op need no set-up beyond being zero or
   left from its last use.
   Besides: GH_INVALID_LIMIT (the semaphore's config says none), _CONFIG (not made by its default function), _PERMITS
   (0, or more than the limit in the semaphore's config), _LEASE, _WAIT, _HOLD, _REPLICAS. */
GH_API gh_status gh_permit_begin(gh_permit* op, const gh_semaphore* semaphore, const gh_permit_config* config);

/* TIMEOUT, CANCELLED, BUSY, FULL and TOO_LARGE come when the store has confirmed that nothing of ours is left there,
   which takes as long as LEAVING does, also beyond wait_us.

   GH_IDLE      never begun
   GH_OK        ended: released, and the store has confirmed it (or the lease is over anyway)
   GH_PENDING   not ours yet, or being given back
   GH_HELD      ours now. Stays GH_HELD while it is renewed: ask before each thing that needs it
   GH_BUSY      ended: wait_us was 0 and there are not enough, or others wait
   GH_TOO_LARGE ended: more permits than the semaphore's limit, which may have been lowered: op->limit has it
   GH_TIMEOUT   ended: not ours within wait_us
   GH_LOST      ended: it was ours and is not any more: the lease ran out, or the store lost it
   GH_CANCELLED ended: cancelled, before it was ours or while it was: see lock.h
   GH_FULL      ended: 100,000 already wait for this name
   GH_UNKNOWN   ended: the request was sent, no answer came, and the store could not be told that they are not
                wanted any more; see lock.h. If it was granted, it frees itself after its lease
   GH_REFUSED, GH_CORRUPT   ended: see gh_status_text */

/* Gives them back, or stops wanting them if they are not ours yet; asynchronous, poll until GH_OK if you
   care. Never touches another's. Allowed in every state; nothing happens to an op that is not busy. */
GH_API void gh_permit_release(gh_permit* op);

/* How long they are still ours, in us, seen from the last tick; 0 if they are not. */
GH_API uint64_t gh_permit_remaining_us(const gh_permit* op);

/* ---- the limit --------------------------------------------------------------------------------------------

       begin --> row of this semaphore --> SENT --> ended     more to serve than one request does: SENT again */

typedef struct gh_semaphore_limit
{
    gh_op op;

    /* read-only, after GH_OK */
    uint32_t limit;   /* what it is now; another than yours if it has been set again since         */
    uint32_t used;    /* permits that are held, or kept for a waiter whose turn it is              */
    uint32_t waiters;

    /* private */
    uint32_t wanted;
    uint64_t seen_us; /* when the store told us to ask again, on its clock */
    gh_gate gate;
    gh_name name;
} gh_semaphore_limit;

/* Begins to set the limit, whatever the configs of semaphores say, for as long as Limit above says. More permits
   go to those who wait, in their order. Fewer: see above; waiters who want more than the limit end
   GH_TOO_LARGE. The configs stay as they are: permits are still checked against the limit that stands there.
   Besides: GH_INVALID_LIMIT (limit is not 1..GH_SEMAPHORE_LIMIT_MAX). */
GH_API gh_status gh_semaphore_limit_begin(gh_semaphore_limit* op, const gh_semaphore* semaphore, uint32_t limit);

/* How it ends:
   GH_OK        set
   GH_TIMEOUT   not set
   GH_UNKNOWN   set or not, and not any more when timeout_us is over; set it again whenever you like
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* ---- looking ------------------------------------------------------------------------------------------- */

typedef struct gh_permit_holder
{
    uint64_t client;       /* gh_client_id of the holder                                           */
    uint64_t sequence;     /* of its op                                                            */
    uint64_t remaining_us; /* of its lease, or of its turn                                         */
    uint32_t permits;
    bool waiting;          /* kept for a waiter whose turn it is, and not claimed yet              */
} gh_permit_holder;

typedef struct gh_semaphore_look
{
    gh_op op;

    /* read-only, after GH_OK */
    uint32_t limit;
    uint32_t used;    /* permits that are held, or kept                                            */
    uint32_t waiters; /* in the queue, also those that have died there                             */
    uint32_t count;   /* of holders that were written                                              */

    /* private */
    gh_name name;
    gh_permit_holder* holders;
    uint32_t holders_max;
} gh_semaphore_look;

/* Begins to read who holds permits. holders is an array of yours, in place until the op ends; if there are
   more than holders_max (0..GH_SEMAPHORE_HOLDERS_MAX; 0: only the figures), those whose leases end last. It
   writes nothing to the store.
   Besides: GH_INVALID_BUFFER (holders is NULL with a holders_max, or that is too large). */
GH_API gh_status gh_semaphore_look_begin(gh_semaphore_look* op, const gh_semaphore* semaphore,
                                         gh_permit_holder* holders, size_t holders_max);

/* How it ends:
   GH_OK        read
   GH_GONE      the store does not know a semaphore of that name
   GH_TIMEOUT   no answer
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

#ifdef __cplusplus
}
#endif

#endif
