/* lease.h -- the machine of what is asked for, waited for, held for as long as a lease lasts, and given back: a lock, a
   permit. The drawing of its states is in lock.h; a row says what a kind of it asks of the store.

       lease.c         the states
       lease_ask.c     the requests that all kinds have in common, and which copies of them may come late
       waiter.h        how long those pause who wait, and when a lease is renewed

   Late copies. A request that hangs on a link which was given up may be carried out when nobody wants it any more. So
   each copy of an acquire says until when it may be carried out. Who leaves while one of them may still come tells the
   store until when, and the store refuses it. Nothing of that is said or kept where each copy was answered. */

#ifndef GH_LEASE_H
#define GH_LEASE_H

#include "client/op.h"
#include "scripts/client_scripts.h"

/* Of gh_lease.op.state; 0: ended. */
typedef enum gh_lease_state
{
    GH_LEASE_ASKING = 1,
    GH_LEASE_WAITING,
    GH_LEASE_HELD,
    GH_LEASE_RENEWING,
    GH_LEASE_SYNCING,   /* granted, and replicas are to have that           */
    GH_LEASE_RETURNING, /* they have not: given back, to be asked for again */
    GH_LEASE_LEAVING
} gh_lease_state;

/* What the store has said to a release. */
typedef struct gh_lease_told
{
    bool was_ours; /* until now                                        */
    bool again;    /* there is more to do than one call does           */
} gh_lease_told;

typedef struct gh_lease_row
{
    gh_op_kind kind; /* the first: an op leads to its row. Its functions are those of lease_ask.c and lease.c */
    size_t size;     /* of the struct                                                                         */
    gh_str object;   /* of the keys                                                                           */
    const char* parts;
    const gh_script_text* acquire; /* answers as lease_acquire.lua says */
    const gh_script_text* renew;
    const gh_script_text* release;

    /* What an acquire and a release carry behind what all of them do; NULL: nothing. */
    void (*encode_numbers)(gh_lease* lease, gh_request* request);

    void (*encode_renew)(gh_lease* lease, gh_request* request);
    void (*answered)(gh_lease* lease, const gh_reply* reply); /* an acquire: take the position, and the like      */
    void (*held)(gh_lease* lease, const gh_reply* reply);     /* it was granted, and is ours now. reply is NULL where
                                                                 replicas had to have it: then `answered` took it */
    void (*let_go)(gh_lease* lease);                          /* it will be LEAVING, or end. NULL: nothing to do  */
    void (*begin_renewal)(gh_lease* lease, bool in_doubt);    /* in_doubt: the store may have forgotten it        */
    void (*renewed)(gh_lease* lease, const gh_event* event);  /* the answer                                       */
    void (*not_renewed)(gh_lease* lease);                     /* there will be none                               */
    gh_lease_told (*told)(const gh_reply* reply);             /* what the answer to a release says                */

    const struct gh_lease_row* synced; /* the one in place of this where replicas are to have a grant: its step is
                                          gh_lease_synced_step, and its `answered` takes what `held` does of a reply */
} gh_lease_row;

/* How long it is wanted, waited for and held, in us; see gh_lock_config. */
typedef struct gh_lease_wish
{
    uint64_t lease_us;
    uint64_t wait_us;
    uint64_t hold_us;
    uint8_t replicas; /* that must have a grant, as a config says it */
} gh_lease_wish;

static inline gh_lease* gh_lease_of(gh_op* op)
{
    return (gh_lease*)(void*)op; /* its first member */
}

static inline const gh_lease_row* gh_lease_row_of(const gh_lease* lease)
{
    return (const gh_lease_row*)(const void*)lease->op.kind;
}

static inline bool gh_lease_is_busy(const gh_lease* lease)
{
    return gh_op_is_at_work(&lease->op);
}

static inline bool gh_lease_is_held(const gh_lease* lease)
{
    return lease->op.state == GH_LEASE_HELD || lease->op.state == GH_LEASE_RENEWING;
}

static inline bool gh_lease_is_granted(const gh_lease* lease)
{
    return lease->op.state >= GH_LEASE_HELD && lease->op.state < GH_LEASE_LEAVING;
}

/* ---- what the caller's functions call ---------------------------------------------------------------------------- */

/* After gh_op_check was GH_OK; the bytes of name stay in place. */
void gh_lease_begin(gh_lease* lease, gh_client* client, const gh_lease_row* row, gh_str name, gh_lease_wish wish);

/* Gives back, or stops wanting, and ends IDLE. Nothing happens to one that is not busy, or is LEAVING. */
void gh_lease_release(gh_lease* lease);

/* The same without its owner. If the client has no record free, it is left to its lease. For gh_op_kind.detach. */
void gh_lease_detach(gh_op* op);
uint64_t gh_lease_remaining_us(const gh_lease* lease);

/* Whether this answer to what asks for a lease grants it. Without a fence it does not, whatever its code says. */
bool gh_lease_reply_grants(const gh_reply* reply);

/* ---- what a row calls: renewals ---------------------------------------------------------------------------------- */

/* HELD again: so much of the lease is left since the request was sent. */
void gh_lease_extend(gh_lease* lease, uint64_t sent_us, uint64_t remaining_us);

/* HELD again: the next renewal is due after this pause. */
void gh_lease_keep(gh_lease* lease, uint64_t pause_us);

/* ---- and what stands in front of the machine (client/replicas.h) ------------------------------------------------- */

/* Tells the store that it is wanted no more, and ends with the outcome when that is done. */
void gh_lease_leave(gh_lease* lease, gh_status outcome);
/* From the end of the queue, as somebody new: nothing of the old number may be left in the store. */
void gh_lease_ask_anew(gh_lease* lease);

/* Ends. */
void gh_lease_finish(gh_lease* lease, gh_status status);

/* ---- of a row's kind --------------------------------------------------------------------------------------------- */

void gh_lease_step(gh_op* op, const gh_event* event);
void gh_lease_synced_step(gh_op* op, const gh_event* event);
gh_script* gh_lease_script(gh_op* op);
void gh_lease_encode(gh_op* op, gh_request* request);

/* ---- for lease.c and lease_ask.c --------------------------------------------------------------------------------- */

/* Store time as of this tick, by the clock of the node that was asked last: while a slot moves, that is not the one
   which has it, and their clocks may differ. */
static inline uint64_t gh_lease_store_now(const gh_lease* lease)
{
    return gh_client_store_time(lease->op.client, lease->node);
}

/* A copy of the acquire that had no answer may still be carried out, whatever was answered since. */
static inline bool gh_lease_is_late(const gh_lease* lease)
{
    return lease->late_us != 0 && lease->late_us > gh_lease_store_now(lease);
}

#endif
