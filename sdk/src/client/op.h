/* op.h -- what a system sees of the client: an op, its requests, its timers, its events.

   A system is one `step` over its states. The client calls it with one event at a time, always inside gh_tick (or
   gh_client_shutdown), and the step answers by calling the functions below.

       begin -> [ send -> REPLY | FAILED ]* -> end          one request at a time; a new send drops the old one
                [ timer -> TIMER ]*                         one timer at a time; a new one replaces the old one
                [ lease -> LAPSED ]*                        told before anything else in a tick
                [ listen -> HINT ]*                         a hint is a rumour: act only if the state still wants it;
                                                            one that overtakes an answer comes right behind it
                [ a child moves -> CHILD ]*             for an op that has others do parts of its work

   The client itself repeats a request: after a lost link if the op allows it (the store recognises the op id), after
   LOADING, BUSY, OOM and the like, and after NOSCRIPT. encode() must therefore write the same request again whenever it
   is asked, from the op's state and from bytes that the op's owner keeps in place. */

#ifndef GH_OP_H
#define GH_OP_H

#include "base/hash.h"
#include "client/assert.h"
#include "client/script_text.h"
#include "guildhall/client.h"
#include "guildhall/command.h"
#include "wire/reader.h"
#include "wire/request.h"

typedef enum gh_event_kind
{
    GH_EVENT_REPLY = 1, /* reply has the declared shape; sent_us is when its request was encoded; link and generation
                           are of the server that has answered, which need not be who would be asked by now        */
    GH_EVENT_FAILED,    /* the request will not be answered: status says why; reply is the error, or NULL          */
    GH_EVENT_TIMER,     /* the time given to gh_op_timer has come                                                  */
    GH_EVENT_LAPSED,    /* the time given to gh_op_lease has come                                                  */
    GH_EVENT_HINT,      /* the store sent a wake-up for this op's sequence; hint is its letter, 0: none            */
    GH_EVENT_RESET,     /* the store has lost its data since the last connection                                   */
    GH_EVENT_DOUBT,     /* the server was restarted or promoted and may have forgotten the newest: told to ops that
                           have a lease, the one that ends first before the others; ask now whether it is still ours */
    GH_EVENT_CHILD,     /* an op that this one owns has another status, has ended or says that it has moved: look at
                           all of them. Told once for many, when the step in which it happened has returned: never
                           inside another step                                                                     */
    GH_EVENT_CANCEL,    /* gh_op_cancel, or the client is draining: end as soon as you can                         */
    GH_EVENT_CLOSE      /* the client is closing: end now, inside this step                                        */
} gh_event_kind;

typedef struct gh_event
{
    gh_event_kind kind;
    const gh_reply* reply;
    uint64_t sent_us;
    uint64_t generation; /* see gh_client_generation */
    uint32_t link;       /* see gh_op_link           */
    gh_status status;
    char hint;
} gh_event;

/* What an op does to the store; outcome.h judges by it. */
typedef enum gh_op_effect
{
    GH_OP_CHANGES = 0, /* its script changes something, and recognises the op id                                    */
    GH_OP_READS,       /* changes nothing that anybody would miss: it never ends UNKNOWN                            */
    GH_OP_CALLERS      /* a caller's own command or script: errors are reported as they are, and only what cannot
                          have been done is repeated, unless the caller says otherwise                              */
} gh_op_effect;

/* Why an op ends without the answer that it wanted. */
typedef enum gh_reason
{
    GH_REASON_DEADLINE = 0, /* no answer in time                                                                    */
    GH_REASON_CANCEL,       /* cancelled, or the client closes                                                      */
    GH_REASON_REFUSED,      /* the server says no before anything is done: right, password, version; or never
                               takes the script                                                                     */
    GH_REASON_HALFWAY,      /* the server stopped a script of ours that may have written already                    */
    GH_REASON_FENCED,       /* the fence was not the current one                                                    */
    GH_REASON_CORRUPT,      /* a key is not as it should be; found before anything was written                      */
    GH_REASON_ERROR,        /* a caller's own command or script answered an error                                   */
    GH_REASON_LINK,         /* the link died, and the request must not be sent again                                */
    GH_REASON_UNUSABLE,     /* the answer is not one that was asked for                                             */
    GH_REASON_TOO_LARGE,    /* the answer is larger than the client can take                                        */
    GH_REASON_NO_ROOM,      /* the request is larger than the out buffer                                            */
    GH_REASON_COUNT
} gh_reason;

typedef struct gh_op_kind
{
    const char* name; /* for the trace */

    void (*step)(gh_op* op, const gh_event* event);

    /* Writes the request of the op's present state. */
    void (*encode)(gh_op* op, gh_request* request);

    /* The script that each request of the kind runs. It is loaded before the request is encoded. */
    const gh_script_text* text;

    /* The same where it is not one for all, and NULL where there is none. Its row has the shape of the reply. */
    gh_script* (*script)(gh_op* op);

    gh_op_effect effect;

    /* gh_tree_read, of a kind whose answers may have arrays within arrays. No program has hiredis that has no such
       kind. */
    gh_tree_reader* trees;

    /* gh_reply_is_whole, of a kind that carries out what a caller says: its scripts may answer any words, and such an
       error is an answer. NULL: all errors are the server's, or ours. */
    bool (*is_servers)(gh_str error);

    /* For a kind whose step is gh_call_step, or asks gh_call_verdict: takes what the reply says and tells how the op
       ends; GH_PENDING if it has sent another request instead. */
    gh_status (*answer)(gh_op* op, const gh_event* event);

    /* The op that it does a part of the work of, which is told GH_EVENT_CHILD; or NULL. A child calls nothing of that
       one's. NULL here: there never is one. */
    gh_op* (*owner)(const gh_op* op);

    /* For the kind of an owner: where behind its op a gh_op* lies that is the client's, its link in the chain of those
       that are to hear GH_EVENT_CHILD. 0: it owns none. */
    uint32_t owner_link;

    /* For a kind whose step is gh_gate_call_step: where behind its op the gh_gate lies that its requests pass. */
    uint32_t gate_at;

    /* The caller forgets it, busy or not: whatever it has in the caller's memory is let go, and it is not busy there
       any more. NULL: GH_EVENT_CLOSE does that. */
    void (*detach)(gh_op* op);

    /* For one whose answers replicas must have (client/replicas.h): where behind its op a uint8_t lies that says how
       many. 0: nobody waits for them. */
    uint32_t replicas_at;

    /* It is told of hints at once, also while a request is on the wire: they are about more than that one asks for. */
    bool hints_at_once;

    /* Strings of its answer for which reply_bytes has no room are nil: else such an answer costs the link. */
    bool cuts_long;

    /* The reply to a request that runs no script is an array. False: it may be anything. */
    bool answers_array;

    /* Strings of its requests lie in the caller's memory, who must not change them. To a request that is a sum its
       encode gives the same strings in every state: all of the caller's, and none that ever changes. */
    bool borrows;
} gh_op_kind;

/* flags of gh_op that a system may look at */
enum
{
    GH_OP_URGENT = 1 << 0,    /* its request goes before others that wait                                  */
    GH_OP_MAYBE = 1 << 1,     /* a request was sent whole, and the link died before its answer             */
    GH_OP_NO_REPEAT = 1 << 2, /* what was sent whole must not be sent again: fail it as UNKNOWN instead    */
    GH_OP_LISTENING = 1 << 3,
    GH_OP_SWEPT = 1 << 4,     /* the client's: whether it has had the event that all ops get             */
    GH_OP_ASKED = 1 << 5,     /* the client's: which of its two heaps of leases it is in                   */
    GH_OP_DETACHED = 1 << 6,  /* the client's: the caller has left it, and it lies in a record of the client */
    GH_OP_TOLD_OF = 1 << 7    /* the client's: it owns others, and is to hear that one of them has moved */
};

/* GH_OK, or the reason why an op may not begin: GH_INVALID_CLIENT, GH_INVALID_OP, GH_CLOSED, GH_NO_ROOM. */
gh_status gh_op_check(const gh_op* op, const gh_client* client);

/* True if it is busy, and where it was begun. Of a copy, the assertion hook is told. What owners call, asks this. */
bool gh_op_is_at_work(const gh_op* op);

/* A copy of one that is busy, or whose change was not seen yet, by its bytes; its own client may be gone. */
bool gh_op_is_copy(const gh_op* op);
gh_status gh_op_copy_used(const gh_op* op, const gh_client* client); /* tells that client's assertion hook */

/* Zeroes the struct that the op begins, but for what is its owner's. */
void gh_op_clear(gh_op* op, size_t size);

/* Makes the op busy, with a sequence of its own. After gh_op_check was GH_OK it cannot fail. */
void gh_op_begin(gh_op* op, gh_client* client, const gh_op_kind* kind);

#define GH_OP_SIZE_MAX 352 /* of a struct that is an op and can go on alone */

/* For a kind's detach: the op goes on in a record of the client, with the size bytes of its struct, and is idle where
   it was. False: no record is free, and nothing has happened, but for a count in the stats. */
bool gh_op_go_on_alone(gh_op* op, size_t size);

/* What every begin ends with: one that was refused is an outcome, so its op has ended with that status. A busy op stays
   as it is. */
gh_status gh_op_begun(gh_op* op, gh_client* client, gh_status status);

/* What every other call ends with that refuses an argument, of what was begun: its client keeps it in words. One that
   is not busy may outlive its client, and tells nobody. */
gh_status gh_op_refused_call(const gh_op* op, gh_status status);

/* A new sequence, for when the old op id has had its day in the store. */
void gh_op_renumber(gh_op* op);

/* Queues the request of the present state, which stays until that is answered or unsent. What shape the reply has the
   head of the state's script says, or else the kind; where that ends in anything, the kind names `trees`. A reply of
   another shape means that the peer is broken: the link is closed and the request goes again. flags: GH_OP_URGENT,
   GH_OP_NO_REPEAT; GH_OP_MAYBE, if an earlier request of the op has done, or may still do, what the op must not deny:
   without it, what is known of that one is forgotten. */
void gh_op_send(gh_op* op, int flags);

/* Forgets the request, wherever it is. If it is on the wire its place stays, and swallows the late answer. */
void gh_op_unsend(gh_op* op);

/* True while a request is queued, sent or paused. */
bool gh_op_is_sending(const gh_op* op);

/* True if the request may have been carried out: it is on the wire, or was when a link died. */
bool gh_op_maybe_done(const gh_op* op);

/* True if a copy of the request that was sent before the last one may still be carried out. */
bool gh_op_sent_twice(const gh_op* op);

/* How an op ends that gives up now: the one judge of outcomes (outcome.h). In GH_EVENT_FAILED the status is judged. */
gh_status gh_op_outcome(const gh_op* op, gh_reason reason);

/* How an op ends whose script has answered that nothing was done (full, not a member, ...): `answered`; but UNKNOWN
   while an earlier copy of the request may still be carried out. For scripts that keep no mark of what they refused. */
gh_status gh_op_refused(const gh_op* op, gh_status answered);

void gh_op_timer(gh_op* op, uint64_t due_us); /* GH_FOREVER: none */
void gh_op_timer_after(gh_op* op, uint64_t pause_us);
void gh_op_lease(gh_op* op, uint64_t due_us); /* GH_FOREVER: none */

/* A lease that another op was given. Until this one asks for it itself, it hears of the losses and doubts of the server
   that was asked for it: not of that of its own last request, which may have been about anything. */
static inline void gh_op_lease_from(gh_op* op, const gh_op* asker, uint64_t due_us)
{
    op->route = asker->route;
    gh_op_lease(op, due_us);
}

/* Listen before the question is sent: the store may hint at once. While a request is on the wire a hint is kept, and
   told behind the answer that leads to no other request. */
void gh_op_listen(gh_op* op);
void gh_op_unlisten(gh_op* op);

/* GH_EVENT_CLOSE for an op that another op owns. */
void gh_op_close(gh_op* op);

/* Of a child whose status is the same, and of which its owner should know more. Nothing happens to one that is over. */
void gh_op_tell_owner(const gh_op* op);

/* For an owner: it has lost a child, or wants to look at them. */
void gh_op_child_moved(gh_op* owner);

/* Around what a function does that the caller calls, if it may move a child: the owner is told when it is done. What
   the client tells an op is between these already. */
void gh_step_enter(gh_client* client);
void gh_step_leave(gh_client* client);

/* As if the store had sent it. */
void gh_op_hint(gh_op* op, char letter);

/* Takes it out of what gh_client_next will hand out. */
void gh_op_forget_change(gh_op* op);

/* Of an op that goes on: what its caller is told. */
void gh_op_set_status(gh_op* op, gh_status status);

/* The op is over: no request, no timer, no hint any more; poll will say status. Nothing happens to one that is over.

   A busy op has a client, and one that is not busy has none: op->client is NULL from here on. The client outlives its
   busy ops, as its end ends them, and may be gone the moment after. So whatever keeps a client for longer than a call
   keeps it in an op, and asks gh_op_is_busy before it follows op->client. */
void gh_op_end(gh_op* op, gh_status status);

/* ---- calls: the commonest op, one request whose answer ends it ------------------------------------------------------

       begin -> QUEUED -> SENT -> ended

                                    no answer in time                           cancelled
       changes                      UNKNOWN if it may have been carried out,    what was sent ends with its answer
                                    else TIMEOUT
       a read (GH_OP_READS)         TIMEOUT                                     ends at once, sent or not */

void gh_call_begin(gh_op* op, gh_client* client, const gh_op_kind* kind, uint64_t timeout_us, int flags);
void gh_call_step(gh_op* op, const gh_event* event);

/* What gh_call_step makes of an event: GH_PENDING, or how the op ends. For a step that has more to do then. */
gh_status gh_call_verdict(gh_op* op, const gh_event* event);

/* ---- replicas: what is told only when they have it (client/replicas.h) ------------------------------------------- */

/* What a config asks for by its wait_replicas: GH_OK or GH_INVALID_REPLICAS, and how many that is. */
gh_status gh_replicas_check(const gh_client* client, uint8_t asked);
uint8_t gh_replicas_wanted(const gh_client* client, uint8_t asked);

/* gh_call_step of a kind with replicas_at. */
void gh_call_synced_step(gh_op* op, const gh_event* event);

/* ---- gates: one unresolved request per (client, object) -------------------------------------------------------------

   A script that tells a repeat by a high-water mark (the last sequence of each client) must see a client's requests for
   one object in order, each only when the one before is resolved. The pipeline alone does not give that: a request that
   was answered BUSY or NOSCRIPT goes again behind later ones.

       enter -> [ waits in the row of its object -> GH_EVENT_HINT ] -> open: send ... -> leave */

/* What stands for an object in its row. Two objects that share a number only wait for each other. */
uint64_t gh_gate_object(const gh_client* client, gh_str kind, gh_str name);

/* Joins the row. True: it is its turn already. Else the op gets GH_EVENT_HINT when its turn comes. */
bool gh_gate_enter(gh_gate* gate, gh_op* op, uint64_t object);
bool gh_gate_is_open(const gh_gate* gate);

/* The first in the row of the object, or NULL. */
gh_gate* gh_gate_first(const gh_client* client, uint64_t object);

/* Leaves the row from any place in it, and tells the next. Nothing happens to one that is in no row. */
void gh_gate_leave(gh_gate* gate);

/* Calls, as above, that pass a gate: that of their kind. An op of this kind is ended by these alone. */
void gh_gate_call_begin(gh_op* op, gh_client* client, const gh_op_kind* kind, uint64_t timeout_us, uint64_t object);
void gh_gate_call_step(gh_op* op, const gh_event* event);

/* ---- what a step may ask of the client --------------------------------------------------------------------------- */

bool gh_client_budget_left(gh_client* client);               /* looks at the platform's clock: ask every few items */
gh_str gh_client_prefix(const gh_client* client);             /* what the keys begin with                       */
uint64_t gh_client_now(const gh_client* client);             /* of the tick, on the client's own clock          */
uint32_t gh_client_ops_busy(const gh_client* client);
uint32_t gh_client_ops_room(const gh_client* client);        /* how many more may begin                        */
bool gh_client_wake_healthy(const gh_client* client);        /* hints can be relied on, as far as anything can  */
uint64_t gh_client_request_timeout(const gh_client* client);
size_t gh_client_out_room(const gh_client* client);          /* bytes of the largest request                    */
uint32_t gh_client_reply_bytes(const gh_client* client);     /* of the largest reply; each string takes one more */
uint32_t gh_client_reply_nodes(const gh_client* client);     /* of the largest reply, the array itself included */
gh_script* gh_client_script(gh_client* client, const gh_script_text* text);
uint64_t gh_client_jitter(gh_client* client, uint64_t pause_us); /* a time in the upper half of pause_us          */

/* A time of the client's clock on the clock of those who call gh_tick. */
uint64_t gh_client_callers_time(const gh_client* client, uint64_t time_us);

/* now + pause, and never past the end of time. */
uint64_t gh_client_after(const gh_client* client, uint64_t pause_us);

/* ---- what a step may ask of the server that its op's requests go to ---------------------------------------------- */

uint64_t gh_op_quarantine_end(const gh_op* op); /* store time until which nothing is granted; or 0     */
uint64_t gh_op_store_birth(const gh_op* op);    /* the epoch, as the last hand-shake found it          */
uint32_t gh_op_link(const gh_op* op);           /* the connection it would go over; tells them apart   */
/* True if each grant looks at the epoch's key. Not in a Cluster, where that lies in another slot. */
bool gh_op_watches_epoch(const gh_op* op);

/* True on a node of a Cluster. */
bool gh_op_is_clustered(const gh_op* op);

/* Store time after which a copy of a request that is encoded now must not be carried out any more: by then its link is
   given up. 0 while the store's clock is not known. */
uint64_t gh_op_not_after(const gh_op* op);

/* The same of an op whose timer ends it: no copy is carried out behind its end either. */
uint64_t gh_op_not_after_its_end(const gh_op* op);

/* The largest generation of the store's data of which the client has heard: larger after each restart or promotion of a
   server, so that ids which were given out and forgotten are not given again under the same name. 0: of none. It is of
   all nodes, as slots move: what lies at one may have been forgotten by another. A script that finds a larger one in a
   key answers the error "STALE ..."; the client then knows that one, and sends the op again. */
uint64_t gh_op_generation(const gh_op* op);

/* That of the node to which ops of this route go, as its last hand-shake found it: another one says that what was told
   under the one before may be forgotten there. Also of an op that is over: its route is kept. */
uint64_t gh_client_generation(const gh_client* client, uint16_t route);

/* The store's clock: each reply whose shape has "now us" keeps the estimate fresh, and no step needs to note it. What
   is noted is of the node whose answer is handed out just now. 0 while nothing is known. */
void gh_op_note_store_time(const gh_op* op, uint64_t store_us);
uint64_t gh_op_store_time(const gh_op* op, uint64_t local_us);
uint64_t gh_client_store_time(const gh_client* client, uint32_t node); /* as of this tick, by the clock of that node */

/* To the trace hook: an event of the op, of which who it is and when are filled in. */
void gh_op_trace(const gh_op* op, gh_trace_event* event);

/* A warning with the name of the system in front, held back where too many come. */
void gh_op_warn(const gh_op* op, const char* text, gh_str detail);

/* ---- pieces of requests ------------------------------------------------------------------------------------------ */

/* The script that the op's request runs, or NULL. */
gh_script* gh_op_script(gh_op* op);

/* "EVALSHA <digest> <keys>", with all keys and arguments announced that the head of the script names, and so many more
   that it lets be left out or be any number. So many have to be written behind it. */
void gh_request_script(gh_request* request, const gh_script* script, uint32_t more_keys, uint32_t more_arguments);
/* The same with the op's own script. */
void gh_request_op_script(gh_request* request, gh_op* op, uint32_t more_keys, uint32_t more_arguments);

/* What is left of out_bytes, for a begin to hold its strings against, behind this, so many keys of an object, with the
   phantom key that a Cluster wants, and so many numbers; an op token counts as two, that of a marked script as
   three. 0: nothing. */
size_t gh_client_script_room(const gh_client* client, gh_str kind, gh_str name, uint32_t keys, uint32_t numbers);

/* "<prefix>:{<kind>:<name>}:<part>", one for each letter of parts. */
void gh_request_object_keys(gh_request* request, const gh_client* client, gh_str kind, gh_str name, const char* parts);
/* The same for parts that have names of up to 8 letters, with one blank between them: "p m r0 r1". */
void gh_request_part_keys(gh_request* request, const gh_client* client, gh_str kind, gh_str name, gh_str parts);
/* "<prefix>:{<kind>:<shard>}:<part>", and ":<name>" behind it if there is one; it must be encoded already. */
void gh_request_shard_key(gh_request* request, const gh_client* client, gh_str kind, uint32_t shard, gh_str part,
                          gh_str encoded_name);
/* As 32 hex digits. */
void gh_request_digest(gh_request* request, const gh_digest* digest);
/* "<prefix>:epoch", see epoch.lua. */
void gh_request_epoch_key(gh_request* request, const gh_client* client);
void gh_request_op_token(gh_request* request, const gh_op* op);
/* It, and the sequence, which comes back with the reply. */
void gh_request_op_id(gh_request* request, const gh_op* op);

/* The op's own script on one object: no more arguments follow the keys than its head names. */
void gh_request_object_script(gh_request* request, gh_op* op, gh_str kind, gh_str name, const char* parts);

/* The same of one that keeps a mark, see mark.lua: behind the keys stands that of the shelf that this client's marks of
   the object lie on, then the op's id, and in it until when it may be carried out, if it has not been. A copy that
   comes later is answered the error "LATE ...", and the op is sent again. */
void gh_request_marked_script(gh_request* request, gh_op* op, uint32_t more_arguments, gh_str kind, gh_str name,
                              const char* parts);

/* The i-th element of a reply whose script declares it: the shape was looked at before, so it is there.
   <system>_scripts.h has the numbers. Elements in front of the first that is an array lie one behind another. */
static inline int64_t gh_reply_integer(const gh_reply* reply, uint32_t i)
{
    return reply->first[i].integer;
}
static inline gh_str gh_reply_text(const gh_reply* reply, uint32_t i)
{
    return reply->first[i].text;
}

#endif
