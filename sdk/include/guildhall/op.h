/* guildhall/op.h -- the head of every op: what is under way, for whom, and how it stands.

   An op is a plain struct of yours: zero it to make it idle, and keep it where it is while it is busy: whichever
   function is next given a copy of a busy op calls the assertion hook. Its head is its first member, so that a gh_lock*
   is a gh_op* too, by a cast or as &lock.op.

       begin --> busy, in the client's hands --> ended, yours again
         |       '-- status says how it stands --'-- and how it ended, until the next begin --'
         '------------- refused ---------------> ended with what the begin returned

   A begin returns GH_OK, or why not; and then that is how the op has ended, in gh_client_next as elsewhere: so a caller
   may pass over what it returns, and see all ends in one place. Only an op that is busy stays as it is. With a client
   that is none (GH_INVALID_CLIENT) there is no gh_client_next to come by.

   A begin copies the names that it is given, and its config. What is larger stays yours, in place until the op ends:
   bodies, payloads, buffers, arrays, and the names inside arrays. What of that is sent must also stay as it is, as each
   copy of a request reads it again: where an assertion hook is set, each is held against what there was at the begin,
   and the hook is called when that has changed. */

#ifndef GUILDHALL_OP_H
#define GUILDHALL_OP_H

#include "guildhall/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gh_client gh_client;
struct gh_op_kind;

/* Private: a link of a chain; next is NULL while it is in none. */
typedef struct gh_ring
{
    struct gh_ring* next;
    struct gh_ring* previous;
} gh_ring;

typedef struct gh_op
{
    /* yours: a begin keeps them */
    void* user;
    uint32_t tag; /* what this op is to you; 0: gh_client_next leaves it out */

    /* read-only: as gh_op_poll says, but for an op that was never begun, where it is 0 */
    gh_status status;

    /* private, those that are looked at most in front: what lies behind 128 bytes takes longer instructions */
    const struct gh_op_kind* kind; /* which system; NULL: idle                                          */
    gh_client* client;             /* NULL: the op is not busy                                          */
    const struct gh_op* self;      /* where it was begun: a copy of it knows that it is none            */
    uint8_t state;                 /* the system's own                                                  */
    uint8_t request;               /* none, queued, sent, paused                                        */
    uint8_t attempts;              /* of this request, for the back-off; saturates                      */
    uint8_t strikes;               /* answers to this request that cost its script or the link         */
    uint8_t flags;
    uint8_t hint;                  /* kept until the answer is there: its letter, 1 for none; 0: there is no hint */
    uint16_t route;                /* which slot of a Cluster its last request was for, plus 1; 0: not known      */
    uint32_t timer_index;          /* place in the heap of timers, plus 1; 0: none, the op is not busy  */
    uint32_t lease_index;          /* place in the heap of leases, plus 1; 0: none                      */
    uint32_t place;                /* queued: at which node; sent: among the requests on the wire, plus 1 */
    uint32_t borrowed;             /* sum of the caller's bytes at the begin; 0: not looked at          */
    uint64_t sequence;             /* with the client's id: the op id                                   */
    uint64_t due_us;               /* when the system wants GH_EVENT_TIMER                              */
    struct gh_op* next;            /* in the queue of those whose request is to be encoded              */
    struct gh_op* previous;
    struct gh_op* wake_next;       /* in the chain of those that a hint can name                        */
    gh_ring change;                /* among those that gh_client_next will hand out                     */
    uint64_t retry_us;             /* when a paused request goes again                                  */
} gh_op;

/* True from a begin that was accepted until the end: the op belongs to its client, and must stay where it is. */
static inline bool gh_op_is_busy(const gh_op* op)
{
    return op != NULL && op->timer_index != 0;
}

/* Private: a busy op lies elsewhere than where it was begun. Calls the assertion hook. GH_INVALID_OP. */
GH_API gh_status gh_op_was_moved(const gh_op* op);

/* How it stands, and how it ended: the words that each header has for its ops. GH_IDLE: never begun; NULL is idle.
   GH_PENDING: it goes on. Says what the last gh_tick saw. GH_INVALID_OP, and the assertion hook is called: it was moved
   while it was busy, as in an array that has grown. The client still writes to where it was. */
static inline gh_status gh_op_poll(const gh_op* op)
{
    if (op == NULL || op->kind == NULL) return GH_IDLE;
    return gh_op_is_busy(op) && op->self != op ? gh_op_was_moved(op) : op->status;
}

/* Asks it to end. What was not sent, and what only reads, ends GH_CANCELLED at once. What the store may have carried
   out ends with its answer; a lock or a permit is given back first. Nothing happens to an op that is not busy, or is
   NULL. */
GH_API void gh_op_cancel(gh_op* op);

/* Gives you the memory back at once, in any state: of the op nothing is told or called back any more, and tag is 0. A
   lock or a permit the client gives back by itself, in one of its records (detached_capacity); when none is free, it is
   over with its lease, and counted in ops_abandoned. What was sent may still be carried out. Tasks that were handed out
   are left to their lease; the handlers of a worker are told GH_LOST of them, inside this call. Not from inside a
   handler of the same worker. Nothing happens to NULL. */
GH_API void gh_op_detach(gh_op* op);

/* Private too: the place of an op among those that change the same object, which are sent one at a time, in order. */
typedef struct gh_gate
{
    struct gh_gate* next;
    gh_op* op;       /* NULL: not in any row */
    struct gh_gate** row; /* where it begins */
    uint64_t object;
} gh_gate;

/* Private too: what the things have in common that ops are begun on with settings of their own, such as gh_guild. */
typedef struct gh_object
{
    gh_client* client; /* by which ops are begun on it; after its shutdown each begin says so         */
    gh_status status;  /* what its init answered, and each begin on it answers if that is not GH_OK   */
    gh_name name;
} gh_object;

/* Private too: what a lock and a permit have in common; the drawing of its states is in lock.h. */
typedef struct gh_lease
{
    gh_op op;
    gh_name name;
    bool ask_once : 1;
    bool known : 1;        /* the store has us in its queue, or has granted                                        */
    bool was_held : 1;     /* LEAVING: it was ours                                                                 */
    bool was_told : 1;     /* LEAVING: and its owner knew that                                                     */
    bool unanswered : 1;   /* LEAVING: the last copy of the request had no answer                                  */
    int8_t outcome;        /* what poll says when LEAVING is over                                                  */
    uint8_t replicas;      /* that must have a grant; 0: none                                                      */
    uint32_t link;         /* on which the last copy went                                                          */
    uint32_t node;         /* and to which node: asked_us and late_us are by its clock                             */
    uint64_t lease_us;
    uint64_t hold_us;
    uint64_t end_us;       /* of the wait; of the hold once it is held; of telling the store once we are LEAVING   */
    uint64_t lease_end_us; /* once it is held, by our clock                                                        */
    uint64_t asked_us;     /* store time until which the copy of the request that was sent last may be carried out */
    uint64_t late_us;      /* the same of copies before it that have had no answer; 0: there are none              */
} gh_lease;

#ifdef __cplusplus
}
#endif

#endif
