/* guildhall/mailbox.h -- messages for one recipient, kept until the recipient says that they have been
   handled.

       sender                    store                               recipient's server
       push [a, b] ----> | 4 | 5 | 6: a | 7: b |  --- fetch ----> 4, 5, 6, 7    nothing is removed
                                                  <-- commit 6 -- 4, 5, 6 are handled: they go
                                          | 7 |   --- fetch ----> 7    also for a server that takes over

       push     begin --> row of this mailbox --> SENT --> ended
       fetch    begin --> ASKING --> ended         wait_us > 0: ASKING <-- hint or timer --> WAITING
       commit   begin --> SENT --> ended

   Keys     one list of messages, one hash with the last id, a mark per sender's client for ten to twenty minutes,
            tokens of waiting readers. Any number of clients may push.
   Order    ids are 1, 2, 3, ... in the order of arrival, without a gap; those of one request follow one
            another. Pushes of one client to one mailbox are carried out in the order in which they were
            begun: each waits for the one before.
   Epoch    each message has an epoch besides its id. A store that was started anew, or promoted, may have forgotten its
            newest messages, whose ids it then gives again: so the first push after that begins a new, larger epoch.
            What was stored before keeps its own, until 32 later ones have ended: what is older is told with the oldest
            of these. (epoch, id) never has two bodies.
   Once?    At least once: what was fetched and not committed is fetched again after a crash. Keep the epoch and the id
            of the message with what you did; do what gh_message_is_after those, skip the rest.
   Time     the store's clock stamps messages; your clock counts wait_us and timeout_us.
   Threads  as the client.
   Large    a body has up to 64 KiB, where out_bytes lets it out. A reader for whom one is too large, for its buffer or
            its reply_bytes, is told of it without the body (GH_TOO_LARGE in the message), and goes on with what comes
            behind; message.h has the sizes. A mailbox costs the store up to capacity times the largest body.
   Memory   ops, posts and their bytes are yours and stay in place until the op ends. A mailbox is a value: an op
            that has begun on it needs it no more. Fetched messages lie in the buffer that you gave, until that
            op's next begin.
   Failure  a push whose answer is lost is asked for again with the same id and is stored once, however late a copy of
            it reaches the store: see client.h. Nothing that was not committed is lost when the recipient's server
            dies: the next one fetches it again. A full mailbox says GH_FULL and never drops anything. After the store
            lost its data, or 30 days after the last message was handled if none came since, ids begin anew with a new
            epoch. Where the user may not call INFO, restarts are not noticed: then ids that were forgotten are given
            again under the same epoch. So they are by a copy of a push, held back by a link to a replica, that is
            carried out after the replica was promoted and before any client has connected to it, if both come within
            request_timeout_us.

   Use
       gh_mailbox_init(&mail, client, gh_str_literal("jason"), NULL);
       gh_post post = {.sender = gh_str_literal("market"), .body = gh_str_literal("your sword was sold")};
       gh_mailbox_push push = {0};
       gh_mailbox_push_begin(&push, &mail, &post, 1);
       ...
       gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
       config.buffer = buffer;
       config.buffer_size = sizeof buffer;
       gh_mailbox_fetch_begin(&fetch, &mail, &config);
       ... each frame, until gh_op_poll(&fetch.op) is GH_OK; then
       show(fetch.messages, fetch.count);
       uint64_t last = fetch.messages[fetch.count - 1].id;
       gh_mailbox_commit_begin(&commit, &mail, fetch.epoch, last); */

#ifndef GUILDHALL_MAILBOX_H
#define GUILDHALL_MAILBOX_H

#include "guildhall/client.h"
#include "guildhall/message.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_MAILBOX_CAPACITY_MAX 100000
#define GH_MAILBOX_FETCH_MAX 10000

/* ---- a mailbox ----------------------------------------------------------------------------------------- */

typedef struct gh_mailbox_config
{
    size_t struct_size;  /* set by gh_mailbox_config_default; leave it                                       */
    uint64_t timeout_us; /* of a push and a commit, from begin to end, the wait for earlier pushes included; of a
                            fetch, the longest time without an answer; 1 ms..60 s, default 5 s               */
    uint32_t capacity;   /* unread messages that it may hold after a push; 1..GH_MAILBOX_CAPACITY_MAX, default
                            1000. The store keeps none of its own: all who push agree on it                  */
} gh_mailbox_config;

GH_API gh_mailbox_config gh_mailbox_config_default(void);

/* A mailbox as this server uses it: a value, which may be copied, and has no end. */
typedef struct gh_mailbox
{
    /* private */
    gh_object object;
    gh_mailbox_config config;
} gh_mailbox;

/* Says which mailbox, by which client, with which settings; config may be NULL for the defaults. Asks the store
   nothing. A mailbox that was not made well may be used: each begin on it ends as init did.
   GH_OK; GH_INVALID_OBJECT (mailbox is NULL), _CLIENT, _NAME, _CONFIG (not made by its default function), _TIMEOUT,
   _LIMIT (capacity). */
GH_API gh_status gh_mailbox_init(gh_mailbox* mailbox, gh_client* client, gh_str name, const gh_mailbox_config* config);

/* Every begin below answers, besides what stands with it: GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED; GH_INVALID_OP
   (NULL or busy), GH_INVALID_OBJECT (mailbox is NULL or was not made by gh_mailbox_init), GH_INVALID_CLIENT (it was
   shut down), or what gh_mailbox_init answered. */

/* ---- push ---------------------------------------------------------------------------------------------- */

typedef struct gh_mailbox_push
{
    gh_op op;

    /* read-only, after GH_OK */
    uint64_t epoch; /* of all posts */

    /* private */
    gh_gate gate;
    gh_name name;
    gh_post* posts;
    uint32_t count;
    uint32_t capacity;
} gh_mailbox_push;

/* Begins to push all posts, or none, into the mailbox. Any post may be to oneself. After GH_OK each post has
   its id.
   Besides: GH_TOO_LARGE (the request would not fit out_bytes), GH_INVALID_MESSAGES. */
GH_API gh_status gh_mailbox_push_begin(gh_mailbox_push* op, const gh_mailbox* mailbox, gh_post* posts, size_t count);

/* How it ends:
   GH_OK        stored, once
   GH_FULL      not stored: more than capacity would be unread
   GH_TIMEOUT   not stored: no link, or earlier pushes to this mailbox took all the time
   GH_UNKNOWN   sent, no answer: stored once or not at all. Or sent twice, because a link died, and then refused or
                full: the first copy may still come
   GH_CANCELLED cancelled before it was sent
   GH_REFUSED, GH_CORRUPT   see gh_status_text; not stored */

/* ---- fetch --------------------------------------------------------------------------------------------- */

typedef struct gh_mailbox_fetch_config
{
    size_t struct_size;  /* set by gh_mailbox_fetch_config_default; leave it */
    uint64_t wait_us;    /* if nothing is there, wait this long for something; 0 (default)..1 h. A push ends the
                            wait by a hint; if that is lost, it takes up to 5 s more */
    uint64_t after;      /* only messages with a larger id, for reading on before a commit; default 0: all */
    uint64_t epoch;      /* of that message, or of the fetch that it came with. If ids up to `after` are not there any
                            more, because the store has forgotten them, it counts as the last that is; if the mailbox
                            knows nothing of that epoch, as 0 */
    uint32_t messages_max; /* 0: none, only the figures; up to GH_MAILBOX_FETCH_MAX, default 64 */
    bool newest;         /* of more than messages_max, the buffer or one reply can hold, the newest; else the oldest.
                            A reply holds no more than 256 KiB, and passes over some 128 KiB of what does not fit */
    void* buffer;        /* the messages come here: sizeof(gh_message) + sender + body each; aligned to 8. One that
                            would fit it empty waits for the next fetch; one that never will, or no reply of the client,
                            comes without its body, see gh_message.status */
    size_t buffer_size;
} gh_mailbox_fetch_config;

GH_API gh_mailbox_fetch_config gh_mailbox_fetch_config_default(void);

typedef struct gh_mailbox_fetch
{
    gh_op op;

    /* read-only, after GH_OK, GH_EMPTY and GH_TOO_SMALL */
    const gh_message* messages; /* the oldest first                                                       */
    uint32_t count;
    uint32_t buffer_needed;     /* after GH_TOO_SMALL: what the first message needs to come whole          */
    uint64_t epoch;             /* the present one, for the commit; messages may be of earlier ones        */
    uint64_t unread;            /* in the store, these included                                           */
    uint64_t last_id;           /* of the newest message there ever was                                   */
    uint64_t oldest_age_us;     /* how long the oldest unread has been there; 0: none is                   */
    uint64_t read_store_us;     /* when a commit last took messages away, on the store's clock since 1970; 0: none has
                                   since the mailbox was new, or forgotten. A store that comes back with older data
                                   tells an earlier one                                                    */

    /* private */
    gh_name name;
    uint64_t after;
    uint64_t start;
    uint64_t wait_end_us;
    uint64_t timeout_us;
    uint32_t buffer_size;
    uint32_t buffer_tail;
    uint32_t messages_max;
    uint16_t polls;
    bool newest;
} gh_mailbox_fetch;

/* Begins to read what is unread. It removes nothing, and several may fetch at once.
   Besides: GH_INVALID_CONFIG, _WAIT, _EPOCH (0, with an `after`), _ID (after), _LIMIT (messages_max), _BUFFER (NULL
   with a size, not aligned, or missing). config may not be NULL: it has the buffer. */
GH_API gh_status gh_mailbox_fetch_begin(gh_mailbox_fetch* op, const gh_mailbox* mailbox,
                                        const gh_mailbox_fetch_config* config);

/* How it ends:
   GH_OK        count messages are there (none, with messages_max 0, if something is unread); fetch again for
                more
   GH_EMPTY     nothing unread after `after`, within wait_us
   GH_TOO_SMALL the buffer holds no message at all: sizeof(gh_message) is the least; nothing was lost
   GH_TIMEOUT   no answer
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* ---- commit -------------------------------------------------------------------------------------------- */

typedef struct gh_mailbox_commit
{
    gh_op op;

    /* read-only, after GH_OK */
    uint64_t unread; /* what is left */

    /* private */
    gh_name name;
    uint64_t epoch;
    uint64_t id;
} gh_mailbox_commit;

/* Says that everything up to a message has been handled: it goes. A smaller id than of an earlier commit changes
   nothing. epoch is that of the message, or that of the fetch that it came with.
   Besides: GH_INVALID_EPOCH, _ID. */
GH_API gh_status gh_mailbox_commit_begin(gh_mailbox_commit* op, const gh_mailbox* mailbox, uint64_t epoch, uint64_t id);

/* How it ends:
   GH_OK        done, now or by a commit before
   GH_RESTARTED nothing was removed: that message is not there, and was not committed. The store has forgotten it, or
                all its data, or the mailbox, which was empty for 30 days; or nobody has been given that id. Fetch again
   GH_TIMEOUT   not done
   GH_UNKNOWN   done or not; do it again whenever you like
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

#ifdef __cplusplus
}
#endif

#endif
