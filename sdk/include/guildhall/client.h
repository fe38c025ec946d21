/* guildhall/client.h -- one connection to one Redis or Valkey, driven by your frame loop.

                       your frame, every 16 ms
       +---------------------------------------------------------+
       |  gh_X_begin(op)      gh_tick(now, budget)    gh_X_poll(op)|
       +-------|------------------|----------------------^-------+
               v                  v                      |
         queue of ops  ->  one send, one receive  ->  outcomes          (timers: leases, polls, deadlines)
                                  |
                             redis-server

   begin    looks at its arguments and queues; it never waits and never touches a socket
   tick     moves everything: reads, hands out replies, fires timers, renews leases, sends
   poll     reports, and nothing else; an op that nobody polls goes on all the same
   cancel   asks; the op still ends exactly once: inside the call if nothing has to be awaited, else in a later tick

   Time     now_us is your monotonic clock, in microseconds, any origin. Guildhall keeps no clock of its own: what
            is begun between two ticks counts its time from the earlier of them (before the first: from that), so
            after a long pause of yours tick before you begin. Give real time: leases are counted with it.
   Threads  a client belongs to one thread at a time. A tick inside a tick is refused (GH_REENTRANT).
   Memory   the client lives in the block that you give to gh_client_init and never asks for more. A capacity that
            is used up is a status, GH_FULL, and its comment names the config field. (With hiredis 0.14, that
            library's reader takes its buffer from the heap inside gh_client_init, and again after a protocol error.)
   Failure  when the server dies, ops wait; the link comes back by itself (capped back-off with jitter); requests
            without an answer are sent again with the same id, which the store recognises, so nothing is done twice.
            An op whose deadline passes meanwhile ends: TIMEOUT if its request cannot have been carried out, UNKNOWN
            if it can. Locks that run out meanwhile are told LOST on time, without any network.

   Use
       gh_client_config config = gh_client_config_default();
       config.address = gh_str_literal("unix:/run/game/redis.sock");
       size_t size = gh_client_memory(&config);
       gh_client* client;
       gh_status status = gh_client_init(reserve(size), size, &config, gh_platform_default(), &client);
       while (frame()) gh_tick(client, now_us(), 500); */

#ifndef GUILDHALL_CLIENT_H
#define GUILDHALL_CLIENT_H

#include "guildhall/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gh_client gh_client;
struct gh_platform; /* platform/platform.h; gh_platform_default() is the one of this operating system */


/* Makes a host that is not a number into one ("10.0.0.7" or "2001:db8::7"), without blocking. It is called in the tick
   before each attempt to connect, and again in the next ticks while it returns GH_PENDING. GH_OK: *numeric is set and
   its bytes stay until the next call. Any other status: this attempt failed. */
typedef gh_status (*gh_resolver)(void* context, gh_str host, gh_str* numeric);

/* What a client needs to know. Begin with gh_client_config_default() and change what you need; a config that was not
   made by it is refused. gh_client_init copies everything, the strings too. */
typedef struct gh_client_config
{
    size_t struct_size; /* set by gh_client_config_default; leave it */

    gh_str address;     /* "unix:PATH", "A.B.C.D:PORT", "[IPV6]:PORT"; "HOST:PORT" with a resolver. Required       */
    gh_str user;        /* ACL user; empty: the default user. At most 128 bytes. Wiped with the password           */
    gh_str password;    /* empty: no AUTH is sent. At most 512 bytes. The copy in the block is wiped by
                           gh_client_shutdown, all others of it as soon as they were sent or dropped               */
    uint32_t database;  /* SELECT at connect if not 0. 0..1023; Cluster has only 0                                 */
    gh_str client_name; /* shown by CLIENT LIST; default "guildhall". At most 64 bytes, no spaces                  */
    gh_str prefix;      /* every key begins with it; default "gh". Letters, digits, _ . and -, 1..32 bytes          */

    /* Capacities. What they cost is in gh_client_memory's answer. */
    uint32_t ops_capacity;      /* ops that are busy at once: going on, waiting, or held (each lock and permit that
                                   is yours is one); 1..4194304, default 1024                                      */
    uint32_t requests_capacity; /* requests on the wire at once; 8..65536, default 512                             */
    uint32_t out_bytes;         /* requests not yet taken by the socket; 16 KiB..64 MiB, default 48 KiB            */
    uint32_t reply_bytes;       /* the largest reply, all its strings together; 16 KiB..64 MiB, default 32 KiB      */
    uint32_t reply_nodes;       /* elements in the largest reply; 64..1048576, default 512                          */

    /* Times, in microseconds. */
    uint64_t connect_timeout_us; /* one attempt, hand-shake included; 1 ms..60 s, default 2 s                       */
    uint64_t request_timeout_us; /* the link is given up when its oldest request has no answer for this long;
                                    1 ms..60 s, default 2 s                                                         */
    uint64_t backoff_min_us;     /* pause before the second attempt; it doubles up to the maximum, and each pause   */
    uint64_t backoff_max_us;     /* is drawn from its upper half. 1 ms..60 s, default 20 ms and 1 s                 */

    bool wake; /* a second connection takes hints ("lock X is yours to claim"), which shorten waiting and nothing
                  else; default true. Without it waiters ask by themselves, at most every 100 ms to 2 s. While it is
                  up they ask more seldom, so a hint that is lost costs the time until they do: 2.5 to 5 s for a mailbox
                  or a list of files, 1 to 2 s for a chat, up to 5 s for a lock or permit. Anybody who may PUBLISH on
                  its channel may say anything there: what is no hint is passed over, up to 1 GiB a message, and a
                  tick reads at most 64 KiB of a flood, or what its budget allows; hints behind it come later        */

    /* After the store lost its data (restarted empty, FLUSHALL), grants wait until the new data is this old, so that
       leases of before have run out: your longest lease, if mutual exclusion must hold across that. It also delays the
       first grants of a brand-new store. 0..1 h, default 0. Fences grow across a loss in any case. */
    uint64_t quarantine_us;

    gh_resolver resolver; /* NULL: only numeric addresses and unix paths */
    void* resolver_context;

    gh_hooks hooks;
} gh_client_config;

gh_client_config gh_client_config_default(void);

/* The exact size of the block that gh_client_init needs for this config, in bytes; 0 if the config is not valid
   (gh_client_init says which field). With the defaults at most 256 KiB. */
size_t gh_client_memory(const gh_client_config* config);

/* Makes a client in your memory, which must be aligned to 16 bytes and stay where it is until gh_client_shutdown.
   Connects in the following ticks. platform must outlive the client.
   GH_OK; GH_INVALID_MEMORY (too small, NULL, not aligned), _CONFIG, _PLATFORM, _OUT, _ADDRESS, _USER, _PASSWORD,
   _DATABASE, _CLIENT_NAME, _PREFIX, _CAPACITY, _TIMEOUT, _BUFFER (a string of the config is NULL with a size);
   GH_NO_ENTROPY. Nothing is written to memory unless GH_OK. */
gh_status gh_client_init(void* memory, size_t size, const gh_client_config* config,
                         const struct gh_platform* platform, gh_client** client);

/* Moves everything that can move. budget_us bounds the time it takes (0: no bound). Whatever the budget, each tick
   tells all leases that ran out, before any reply is handed out, and makes some progress with the rest: at least 15
   timers (deadlines, renewals, polls), 16 replies and 16 requests. When the store has lost its data, held locks and
   permits are told LOST 16 or more a tick, all of them before a reply of the new store reaches any op. Not bounded, and
   rare: what ends with a lost link and with a drain, some 1 to 3 us for each op that it ends. A now_us smaller than the
   last one counts as the last.
   GH_OK; GH_REENTRANT; GH_INVALID_CLIENT (NULL, or not initialised). */
gh_status gh_tick(gh_client* client, uint64_t now_us, uint64_t budget_us);

/* For those who sleep between ticks: the time on your clock at which a tick has something to do even if no byte
   arrives; GH_FOREVER if there is no such time; 0 before the first tick. */
uint64_t gh_next_deadline(const gh_client* client);

typedef enum gh_link_name
{
    GH_LINK_COMMANDS = 0,
    GH_LINK_WAKE = 1
} gh_link_name;

/* The platform's handle of a link, to wait for it with poll, epoll or select: readable always, writable too if
   *want_write comes back true (want_write may be NULL). -1 while there is none. It changes with every
   reconnect. A client whose handle was asked for once reads in every tick; otherwise it looks at an idle stream
   only once a millisecond. */
intptr_t gh_client_fd(gh_client* client, gh_link_name link, bool* want_write);

typedef enum gh_link_state
{
    GH_LINK_IDLE = 0,   /* not begun, or shut down                                     */
    GH_LINK_RESOLVING,  /* the resolver hook has not answered yet                      */
    GH_LINK_CONNECTING, /* the socket is not connected yet                             */
    GH_LINK_HANDSHAKE,  /* AUTH, SELECT, scripts, sanity check                         */
    GH_LINK_READY,      /* requests flow                                               */
    GH_LINK_BACKOFF     /* lost or refused; the next attempt comes by itself           */
} gh_link_state;

gh_link_state gh_client_link_state(const gh_client* client, gh_link_name link);

/* True between the hand-shake and the loss of the link. Nothing needs to wait for it: ops may be begun at any time. */
bool gh_client_ready(const gh_client* client);

/* Refuses new ops (GH_CLOSED), cancels all that are busy (held locks are released) and lets the ticks end each exactly
   once; what is not over within_us after this call ends then, as UNKNOWN or CANCELLED. Keep ticking until
   gh_client_drained. Called again, it can make the time shorter, not longer. GH_OK, GH_INVALID_CLIENT. */
gh_status gh_client_drain(gh_client* client, uint64_t within_us);

/* True once a drain is over: no op is busy, nothing will be called back. */
bool gh_client_drained(const gh_client* client);

/* Ends at once: every busy op ends (UNKNOWN if its request may have been carried out, else CANCELLED), the connections
   are closed, the user's name, the password and all that was sent and received are wiped. Afterwards the memory is
   yours again, and whatever was begun with the client is inert: every function of every op and object may still be
   called, says how it ended, and knows of no client. NULL is allowed. Not from inside a tick. */
void gh_client_shutdown(gh_client* client);

/* The random 64-bit id of this client, never 0. Together with a sequence it marks every request that changes something,
   and it is the part of a lock's token that KEYS.md calls the client. */
uint64_t gh_client_id(const gh_client* client);

/* Text of a number that no other call in the whole fleet has got or will get: "<client id>:<sequence>", both as 16 hex
   digits; 33 bytes and a NUL. For the ids of your own commands and rows. GH_OK, GH_INVALID_CLIENT, GH_INVALID_OUT. */
#define GH_UNIQUE_SIZE 34
gh_status gh_client_unique(gh_client* client, char out[GH_UNIQUE_SIZE]);

/* What a debug overlay shows. Counts grow from gh_client_init on; gauges are of the last tick. */
typedef struct gh_client_stats
{
    /* gauges */
    uint32_t ops_busy;          /* of ops_capacity                                                    */
    uint32_t requests_waiting;  /* to be encoded: the link or the out buffer has no room              */
    uint32_t requests_sent;     /* on the wire, of requests_capacity                                  */
    uint32_t out_bytes_used;    /* of out_bytes, right before the send                                */
    uint64_t oldest_request_us; /* age of the oldest request on the wire                              */
    uint64_t round_trip_us;     /* of the last reply; counts from tick to tick                        */

    /* high-water marks */
    uint32_t ops_busy_max;
    uint32_t requests_sent_max;
    uint32_t out_bytes_used_max;
    uint32_t reply_bytes_max;

    /* counts */
    uint64_t ticks;
    uint64_t ticks_over_budget; /* ended for lack of budget with work left                            */
    uint64_t ops_begun;
    uint64_t ops_ended;
    uint64_t ops_unknown;       /* ended GH_UNKNOWN                                                   */
    uint64_t requests;          /* encoded, resends included                                          */
    uint64_t replies;
    uint64_t replies_late;      /* answers to requests whose op had ended meanwhile                   */
    uint64_t resends;           /* the same request again after a lost link                           */
    uint64_t retries;           /* the same request again after BUSY, LOADING, OOM, ...               */
    uint64_t script_reloads;    /* NOSCRIPT answers that were healed                                  */
    uint64_t links_ready;       /* hand-shakes of the command link that succeeded                     */
    uint64_t links_lost;        /* after having been ready                                            */
    uint64_t protocol_errors;   /* the peer sent what no Redis sends, or not what was asked for       */
    uint64_t store_resets;      /* the store came back without its data                               */
    uint64_t store_doubts;      /* another server, or one that was restarted, with the same data      */
    uint64_t scripts_halved;    /* stopped in the middle, because their slot moved to another node    */
    uint64_t hints;             /* wake-ups received                                                  */
    uint64_t log_lines_held;    /* not handed to the log hook: too many of one kind within a second   */
    uint64_t bytes_sent;
    uint64_t bytes_received;

    /* the server, from the last hand-shake; 0 while unknown */
    uint32_t server_version;    /* major * 10000 + minor * 100 + patch                                */
    uint32_t warnings;          /* bits of gh_warning                                                 */
} gh_client_stats;

/* What the sanity check of the hand-shake found; each is also logged as a GH_LOG_WARNING when it is new. */
typedef enum gh_warning
{
    GH_WARNING_VERSION = 1 << 0,    /* older than 6.2, the oldest that the scripts are written for                  */
    GH_WARNING_EVICTION = 1 << 1,   /* maxmemory-policy is not noeviction: the server may throw locks away          */
    GH_WARNING_NO_AOF = 1 << 2,     /* appendonly is off: a restart forgets what was acknowledged                   */
    GH_WARNING_NO_WAKE = 1 << 3,    /* PUBLISH is refused by the ACL: waiters must poll                             */
    GH_WARNING_NO_INFO = 1 << 4,    /* INFO is refused by the ACL: the three above could not be looked at, and a     */
                                    /* server that comes back with older data is not noticed                       */
    GH_WARNING_REPLICA = 1 << 5,    /* the server is a read-only replica                                            */
    GH_WARNING_CLUSTER = 1 << 6     /* the server is a Cluster node: only keys of its own slots will work           */
} gh_warning;

/* GH_OK, GH_INVALID_CLIENT, GH_INVALID_OUT. */
gh_status gh_client_get_stats(const gh_client* client, gh_client_stats* stats);

/* ---------------------------------------------------------------------------------------------------------------
   The private head of every op. It is public only so that an op can be a plain struct of yours: zero it to make it
   idle, keep it where it is while it is busy, and touch nothing in here. */
struct gh_op_kind;

typedef struct gh_op
{
    const struct gh_op_kind* kind; /* which system; NULL: idle                                          */
    gh_client* client;             /* NULL: the op is not busy                                          */
    struct gh_op* next;            /* in the queue of those whose request is to be encoded              */
    struct gh_op* previous;
    struct gh_op* wake_next;       /* in the chain of those that a hint can name                        */
    const char* shape;             /* of the reply that is awaited                                      */
    uint64_t due_us;               /* when the system wants GH_EVENT_TIMER                              */
    uint64_t retry_us;             /* when a paused request goes again                                  */
    uint64_t sequence;             /* with the client's id: the op id                                   */
    uint32_t timer_index;          /* place in the heap of timers, plus 1; 0: none, the op is not busy  */
    uint32_t lease_index;          /* place in the heap of leases, plus 1; 0: none                      */
    uint32_t slot;                 /* place among the requests on the wire, plus 1; 0: none             */
    int16_t status;                /* outcome, a gh_status                                              */
    uint8_t state;                 /* the system's own                                                  */
    uint8_t request;               /* none, queued, sent, paused                                        */
    uint8_t attempts;              /* of this request, for the back-off; saturates                      */
    uint8_t strikes;               /* answers to this request that cost its script or the link         */
    uint8_t flags;
} gh_op;

/* Private too: the place of an op among those that change the same object, which are sent one at a time, in order. */
typedef struct gh_gate
{
    struct gh_gate* next;
    gh_op* op;       /* NULL: not in any row */
    struct gh_gate** row; /* where it begins */
    uint64_t object;
} gh_gate;

/* Private too: what a lock and a permit have in common; the drawing of its states is in lock.h. */
typedef struct gh_lease
{
    gh_op op;
    gh_str name;
    uint64_t lease_us;
    uint64_t hold_us;
    uint64_t end_us;       /* of the wait; of the hold once it is held; of telling the store once we are LEAVING   */
    uint64_t lease_end_us; /* once it is held, by our clock                                                        */
    uint64_t asked_us;     /* store time until which the copy of the request that was sent last may be carried out */
    uint64_t late_us;      /* the same of copies before it that have had no answer; 0: there are none              */
    uint32_t link;         /* on which the last copy went                                                          */
    int16_t outcome;       /* what poll says when LEAVING is over                                                  */
    bool ask_once : 1;
    bool hinted : 1;       /* ASKING: a hint overtook the answer                                                   */
    bool known : 1;        /* the store has us in its queue, or has granted                                        */
    bool was_held : 1;     /* LEAVING: it was ours                                                                 */
    bool unanswered : 1;   /* LEAVING: the last copy of the request had no answer                                  */
} gh_lease;

#ifdef __cplusplus
}
#endif

#endif
