/* guildhall/client.h -- the connection to your store, one Redis or Valkey or many of them, driven by your frame loop.

                       your frame, every 16 ms
       +---------------------------------------------------------+
       |  gh_X_begin(op)      gh_tick(now, budget)   gh_op_poll(op)|
       +-------|------------------|----------------------^-------+
               v                  v                      |
         queue of ops  ->  one send, one receive  ->  outcomes          (timers: leases, polls, deadlines)
                                  |
                             redis-server                           one, or those of config.topology

   begin    looks at its arguments and queues; it never waits and never touches a socket
   tick     moves everything: reads, hands out replies, fires timers, renews leases, sends
   poll     reports, and nothing else; an op that nobody polls goes on all the same
   cancel   asks; the op still ends exactly once: inside the call if nothing has to be awaited, else in a later tick

   Time     now_us is your monotonic clock, in microseconds, any origin. Guildhall keeps no clock of its own: what
            is begun between two ticks counts its time from the earlier of them (before the first: from that), so
            after a long pause of yours tick before you begin. Give real time: leases are counted with it.
   Threads  a client belongs to one thread at a time, and shares nothing with the clients of others. A tick inside a
            tick, a drain or a shutdown, by whom they call, is refused (GH_INVALID_REENTRY).
   Memory   the client lives in the block that you give to gh_client_init and never asks for more, nor does hiredis
            for it. A capacity that is used up is a status, GH_NO_ROOM, and its comment names the config field.
   Store    one server at config.address; a master that is replaced when it dies, found by sentinels (sentinel.h); or
            many masters that share the data (cluster.h). Ops, names and keys are the same on all, and so is what is
            said here of "the server": with many it is the one on which an op's object lies, each with a link of its
            own. What is to be told only when replicas have it: replicas.h. TLS: guildhall/tls.h, a platform.
   Failure  when the server dies, ops wait; the link comes back by itself (capped back-off with jitter); requests
            without an answer are sent again with the same id, which the store recognises, so nothing is done twice. A
            copy that hangs on a dead link for longer than the store recognises it does nothing: it says until when it
            may, by the store's clock as it is known here. Where that clock was set meanwhile, a change may be answered
            that it came too late, and is sent again.
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

#include "guildhall/op.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gh_platform; /* guildhall/platform.h; gh_platform_default() is the one of this operating system */
struct gh_topology; /* guildhall/sentinel.h, guildhall/cluster.h                                       */
struct gh_replicas; /* guildhall/replicas.h                                                            */

/* Makes a host that is not a number into one ("10.0.0.7" or "2001:db8::7"), without blocking. It is called in the tick
   before each attempt to connect, and again in the next ticks while it returns GH_PENDING. GH_OK: *numeric is set and
   its bytes stay until the next call. Any other status: this attempt failed. */
typedef gh_status (*gh_resolver)(void* context, gh_str host, gh_str* numeric);

/* Who the client is, for passwords and tokens that run out. It is called in the tick in which a link has connected,
   before each hand-shake, and again in the next ticks while it returns GH_PENDING. GH_OK: what it has put into *user
   and *password, which come in empty, is sent; the bounds of config.user and config.password hold, and the bytes stay
   until the next call. They are copied into AUTH alone, which is wiped as soon as it was sent. No password: no AUTH is
   sent. Any other status, or what is out of bounds: this attempt failed, and the next one asks again. */
typedef gh_status (*gh_credentials)(void* context, gh_str* user, gh_str* password);

#define GH_REPLICAS_MAX       15u  /* that can be waited for                        */
#define GH_REPLICAS_AS_CLIENT 255u /* of an op's wait_replicas: as the client's says */

/* What a client needs to know. Begin with gh_client_config_default() and change what you need; a config that was not
   made by it is refused. gh_client_init copies everything, the strings too. */
typedef struct gh_client_config
{
    size_t struct_size; /* both set by gh_client_config_default; leave them: they tell the library with which headers
                           the program was compiled. With those of another major or minor version, it is refused   */
    uint32_t version;

    gh_str address;     /* "unix:PATH", "A.B.C.D:PORT", "[IPV6]:PORT"; "HOST:PORT" with a resolver. Required. With a
                           topology that takes several: with commas between them                                   */
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
    uint32_t detached_capacity; /* locks and permits of which gh_op_detach has taken the owner, until the store knows;
                                   0..65536, default 64                                                            */
    uint32_t out_bytes;         /* requests not yet taken by the socket; 16 KiB..64 MiB, default 48 KiB. The largest
                                   request must fit: a message of 64 KiB needs 72 KiB                              */
    uint32_t reply_bytes;       /* the largest reply, all its strings together; 16 KiB..64 MiB, default 32 KiB. A
                                   message of 64 KiB needs 72 KiB; with less it comes without its body: message.h  */
    uint32_t reply_nodes;       /* elements in the largest reply; 64..1048576, default 512                          */

    /* Times, in microseconds. */
    uint64_t connect_timeout_us; /* one attempt, hooks and hand-shake included; 1 ms..60 s, default 2 s             */
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
    bool wake_sharded; /* Cluster, from Redis 7.0: hints stay on the node of their object, instead of going to all;
                          default false, and elsewhere it means nothing. See guildhall/cluster.h                    */

    /* After the store lost its data (restarted empty, FLUSHALL), grants wait until the new data is this old, so that
       leases of before have run out: your longest lease, if mutual exclusion must hold across that. It also delays the
       first grants of a brand-new store. 0..1 h, default 0. Fences grow across a loss in any case.
       Each grant of one server looks at that, so a FLUSHALL under connected clients is noticed by the next one. On a
       Cluster each node's data have an age of their own, which is read at each connection: one that comes back empty
       grants nothing until they are this old, and the others go on. Three gaps are left there: what a node loses while
       its connection stays up; a slot that moves meanwhile to another node, where the age of that one's data counts;
       and a node that has but single slots, on which no epoch lies (KEYS.md, "The epoch"): it grants at once. */
    uint64_t quarantine_us;

    gh_resolver resolver; /* NULL: only numeric addresses and unix paths */
    void* resolver_context;

    /* How the store's servers are found. NULL, the default: there is one, at address. Others: guildhall/sentinel.h and
       guildhall/cluster.h. A program carries the code of those alone that it names. */
    const struct gh_topology* topology;
    uint32_t nodes_capacity;  /* Cluster: masters that are known at once; 2..1024, default 32                      */
    uint32_t wake_channels;   /* with wake_sharded: objects at which is waited at once; 1..65535, default 256. Hints of
                                 others come as they do without it                                                 */
    gh_str sentinel_name;     /* Sentinel: what the sentinels call the master. 1..128 bytes, without blanks        */
    gh_str sentinel_user;     /* Sentinel: its ACL user; empty: the default user. At most 128 bytes                */
    gh_str sentinel_password; /* Sentinel: empty: no AUTH is sent to sentinels. At most 512 bytes                  */

    /* Whether what was granted or done is told only when replicas have it: guildhall/replicas.h. NULL, the default:
       nobody can wait for them, and the program carries no code for it. */
    const struct gh_replicas* replicas;
    uint64_t wait_us;       /* for replicas, once the master has answered; 1 ms..60 s, default 500 ms              */
    uint32_t wait_replicas; /* for so many, where an op's config does not say; 0..GH_REPLICAS_MAX, default 0       */

    gh_credentials credentials; /* NULL: user and password above. Else they are not used                           */
    void* credentials_context;

    gh_hooks hooks;
} gh_client_config;

/* Fills config as gh_client_config_default does, for whoever binds to the library without a C compiler: size is that of
   the caller's struct, version is GH_VERSION of the headers that it was made after. With other headers than the
   library's the config is left zeroed, which gh_client_init refuses. */
GH_API void gh_client_config_fill(gh_client_config* config, size_t size, uint32_t version);

/* In the header, so that it is the program's headers that tell their version. */
static inline gh_client_config gh_client_config_default(void)
{
    gh_client_config config;
    gh_client_config_fill(&config, sizeof config, GH_VERSION);
    return config;
}

/* The exact size of the block that gh_client_init needs for this config, in bytes; 0 if the config is not valid
   (gh_client_init says which field). With the defaults at most GH_CLIENT_MEMORY_DEFAULT, whatever the strings. */
#define GH_CLIENT_MEMORY_DEFAULT (256u * 1024u)
GH_API size_t gh_client_memory(const gh_client_config* config);

/* Makes a client in your memory, which must be aligned to 16 bytes and stay where it is until gh_client_shutdown.
   Connects in the following ticks. platform must outlive the client.
   GH_OK; GH_INVALID_MEMORY (too small, NULL, not aligned), _CONFIG, _PLATFORM, _OUT, _ADDRESS (one of a list, too; more
   than GH_SENTINELS_MAX), _SENTINEL (its name, user or password), _USER, _PASSWORD, _DATABASE (on a Cluster any but 0),
   _CLIENT_NAME, _PREFIX, _CAPACITY, _TIMEOUT, _REPLICAS, _BUFFER (a string of the config is NULL with a size). Nothing
   is written to memory unless GH_OK. */
GH_API gh_status gh_client_init(void* memory, size_t size, const gh_client_config* config,
                                const struct gh_platform* platform, gh_client** client);

/* Moves everything that can move. budget_us bounds the time it takes (0: no bound). Whatever the budget, each tick
   tells all leases that ran out, before any reply is handed out, and makes some progress with the rest: at least 15
   timers (deadlines, renewals, polls), 16 replies and 16 requests. When the store has lost its data, held locks and
   permits are told LOST 16 or more a tick, all of them before a reply of the new store reaches any op. When another
   server has the data, 16 or more a tick are asked for; whom that lost hears it with the answer. With 1,000 of them
   held on one server, 500 us a tick suffice for each to be told within 8 ticks and one round trip from when its link
   is ready, where requests_capacity lets all be asked at once; with less it takes up to 63 ticks. Not bounded, and
   rare: what ends with a lost link and with a drain, some 1 to 3 us for each op that it ends. A now_us smaller than
   the last one counts as the last.
   GH_OK; GH_INVALID_REENTRY; GH_INVALID_CLIENT (NULL, or not initialised). */
GH_API gh_status gh_tick(gh_client* client, uint64_t now_us, uint64_t budget_us);

/* The same by the platform's own clock, for those who have none at hand: take the one or the other for a client's whole
   life. budget_us 0: no bound. */
GH_API gh_status gh_client_tick(gh_client* client, uint64_t budget_us);

/* For those who sleep between ticks: the time on your clock at which a tick has something to do even if no byte
   arrives; GH_FOREVER if there is no such time; 0 before the first tick. */
GH_API uint64_t gh_next_deadline(const gh_client* client);

typedef enum gh_link_name
{
    GH_LINK_COMMANDS = 0,
    GH_LINK_WAKE = 1
} gh_link_name;

/* The platform's handle of a link, to wait for it with poll, epoll or select: readable always, writable too if
   *want_write comes back true (want_write may be NULL). -1 while there is none, and for commands that have several
   links, to a Cluster or for replicas: gh_client_handles. It changes with every reconnect. A client whose handle was
   asked for once reads in every tick; otherwise it looks at an idle stream only once a millisecond. */
GH_API intptr_t gh_client_fd(gh_client* client, gh_link_name link, bool* want_write);

/* The same for all connections that there are, also those to sentinels: how many they are, of which the first capacity
   are written to handles. Ask before each wait, since they change; 0 for what is no client. */
typedef struct gh_client_handle
{
    intptr_t handle;
    bool want_write;
} gh_client_handle;

GH_API uint32_t gh_client_handles(gh_client* client, gh_client_handle* handles, uint32_t capacity);

typedef enum gh_link_state
{
    GH_LINK_IDLE = 0,   /* not begun, or shut down                                     */
    GH_LINK_RESOLVING,  /* the resolver or the credentials hook has not answered yet   */
    GH_LINK_CONNECTING, /* the socket is not connected yet                             */
    GH_LINK_HANDSHAKE,  /* AUTH, SELECT, scripts, sanity check                         */
    GH_LINK_READY,      /* requests flow                                               */
    GH_LINK_BACKOFF     /* lost or refused; the next attempt comes by itself           */
} gh_link_state;

/* Of a Cluster's command links the best: READY as soon as one is, else that of the one which has come furthest; BACKOFF
   if all that were begun have to try again. */
GH_API gh_link_state gh_client_link_state(const gh_client* client, gh_link_name link);

/* What happened: each op with a tag whose status has changed, once a change, oldest first; NULL when there is no more.
   An op that changed twice before it was handed out comes once, with its last status.

       gh_tick(client, now_us(), 500);
       for (gh_op* op; (op = gh_client_next(client)) != NULL;)
           switch (op->tag) { case SEAT: seat_changed(op->user, op->status); break; ... }

   Changes up to the end of the last tick: an op that fails and is begun anew inside the loop comes after the next one.
   It takes no capacity and loses nothing. An op with a tag stays in place until its end was handed out, or it is begun
   again, which takes it off; one with tag 0 is never in here, and is yours again when it ends. After a shutdown nothing
   is handed out any more. */
GH_API gh_op* gh_client_next(gh_client* client);

/* True between the hand-shake and the loss of the link. Nothing needs to wait for it: ops may be begun at any time. */
GH_API bool gh_client_ready(const gh_client* client);

/* Refuses new ops (GH_CLOSED), cancels all that are busy (held locks are released) and lets the ticks end each exactly
   once; what is not over within_us after this call ends then, as UNKNOWN or CANCELLED. Keep ticking until
   gh_client_drained. Called again, it can make the time shorter, not longer. GH_OK, GH_INVALID_CLIENT. */
GH_API gh_status gh_client_drain(gh_client* client, uint64_t within_us);

/* True once a drain is over: no op is busy, nothing will be called back. */
GH_API bool gh_client_drained(const gh_client* client);

/* Ends at once: every busy op ends (UNKNOWN if its request may have been carried out, else CANCELLED), the connections
   are closed, the user's name, the password and all that was sent and received are wiped. Afterwards the memory is
   yours again, and whatever was begun with the client is inert: every function of every op and object may still be
   called, says how it ended, and knows of no client. NULL is allowed. From inside a tick or a drain it does nothing. */
GH_API void gh_client_shutdown(gh_client* client);

/* The random 64-bit id of this client, never 0. Together with a sequence it marks every request that changes something,
   and it is the part of a lock's token that KEYS.md calls the client. */
GH_API uint64_t gh_client_id(const gh_client* client);

/* Text of a number that no other call in the whole fleet has got or will get: "<client id>:<sequence>", both as 16 hex
   digits; 33 bytes and a NUL. For the ids of your own commands and rows. GH_OK, GH_INVALID_CLIENT, GH_INVALID_OUT. */
#define GH_UNIQUE_SIZE 34
GH_API gh_status gh_client_unique(gh_client* client, char out[GH_UNIQUE_SIZE]);

/* What a debug overlay shows. Counts grow from gh_client_init on; gauges are of the last tick. */
typedef struct gh_client_stats
{
    size_t struct_size; /* how much of it the library knows; the rest is 0 */
    /* gauges */
    uint32_t ops_busy;          /* of ops_capacity                                                    */
    uint32_t requests_waiting;  /* to be encoded: the link or the out buffer has no room              */
    uint32_t requests_sent;     /* on the wire, of requests_capacity                                  */
    uint32_t out_bytes_used;    /* of out_bytes, right before the send                                */
    uint64_t oldest_request_us; /* age of the oldest request on the wire                              */
    uint64_t round_trip_us;     /* of the last reply; counts from tick to tick                        */
    uint32_t nodes_known;       /* masters of a Cluster, of nodes_capacity; else 1, or 0 until found */
    uint32_t nodes_ready;       /* of them those that are connected; links are made when needed       */

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
    uint64_t ops_abandoned;     /* detached, and left to their lease: detached_capacity was used up   */
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
    uint64_t store_doubts;      /* another server, or one that was restarted, with the same data; each
                                   connection, where INFO does not say run_id and master_replid       */
    uint64_t scripts_halved;    /* stopped in the middle, because their slot moved to another node    */
    uint64_t moved;             /* requests that a node of a Cluster sent elsewhere, for good: MOVED  */
    uint64_t asked;             /* the same for once, as their slot is on its way: ASK                */
    uint64_t try_again;         /* the same back to their pause: TRYAGAIN                             */
    uint64_t maps_read;         /* of a Cluster's slots                                               */
    uint64_t failovers;         /* masters whose place another has, behind Sentinels or in a Cluster; */
                                /* there also those that have given all their slots away              */
    uint64_t unreplicated;      /* answers that too few replicas had in time                          */
    uint64_t hints;             /* wake-ups received                                                  */
    uint64_t hints_sharded;     /* of these, such as came from the node of their object: wake_sharded */
    uint64_t log_lines_held;    /* not handed to the log hook: too many of one kind within a second   */
    uint64_t bytes_sent;
    uint64_t bytes_received;

    /* from hand-shakes; 0 while unknown */
    uint32_t server_version;    /* of the last: major * 10000 + minor * 100 + patch                   */
    uint32_t warnings;          /* bits of gh_warning: of all servers together, each from its last    */
} gh_client_stats;

/* What the sanity check of the hand-shakes found; each is also logged as a GH_LOG_WARNING when it is new, which is when
   no other server of the client has it. */
typedef enum gh_warning
{
    GH_WARNING_VERSION = 1 << 0,    /* older than 6.2, the oldest that the scripts are written for                  */
    GH_WARNING_EVICTION = 1 << 1,   /* maxmemory-policy is not noeviction: the server may throw locks away          */
    GH_WARNING_NO_AOF = 1 << 2,     /* appendonly is off: a restart forgets what was acknowledged                   */
    GH_WARNING_NO_WAKE = 1 << 3,    /* PUBLISH is refused by the ACL: waiters must poll                             */
    GH_WARNING_NO_INFO = 1 << 4,    /* INFO is refused by the ACL: the three above could not be looked at, and a     */
                                    /* server that comes back with older data is not noticed                       */
    GH_WARNING_REPLICA = 1 << 5,    /* the server is a read-only replica                                            */
    GH_WARNING_CLUSTER = 1 << 6,    /* the server is a Cluster node: only keys of its own slots will work           */
    GH_WARNING_NO_REPLICAS = 1 << 7, /* WAIT is refused, by the server or the ACL: what asks for replicas is REFUSED */
    GH_WARNING_NODES = 1 << 8,       /* a Cluster has more masters than nodes_capacity: enlarge it, slots of those   */
                                     /* without a place wait. Of the last map and of MOVED, not of a hand-shake      */
    GH_WARNING_NOT_SHARDED = 1 << 9  /* wake_sharded: SPUBLISH or SSUBSCRIBE is refused, by the ACL or by a server   */
                                     /* before 7.0. Its hints go to all nodes, as without it                         */
} gh_warning;

/* What gh_client_get_stats calls: for a struct of that size, as the caller's headers have it. */
GH_API gh_status gh_client_read_stats(const gh_client* client, void* stats, size_t size);

/* GH_OK, GH_INVALID_CLIENT, GH_INVALID_OUT. */
static inline gh_status gh_client_get_stats(const gh_client* client, gh_client_stats* stats)
{
    return gh_client_read_stats(client, stats, sizeof *stats);
}

/* Of the last call that was refused with INVALID, of those that change something: on this client, or on what was begun
   or made on it and is not over. Which field it was, what stood in it and what may, as "lease_us = 10, not within
   50000..3600000000"; where there is no more to say, what gh_status_text says. Empty if none was. Lives until the next
   that is refused. What is wrong with a config that makes a client, its log hook is told. */
GH_API gh_str gh_client_last_invalid(const gh_client* client);

/* How a client stands, as text for a log or a bug report: links, requests, timers, busy ops by system and state, stats.
   write is called for each line, some fifty, in printable ASCII and without a line end; it lives until write returns.
   No password, name or payload is shown. Nothing changes by it, so it may be called from a hook. What the lines say may
   change with any version. GH_OK, GH_INVALID_CLIENT, GH_INVALID_OUT (write is NULL). */
typedef void (*gh_dump_line)(void* context, gh_str line);
GH_API gh_status gh_client_dump(const gh_client* client, gh_dump_line write, void* context);

#ifdef __cplusplus
}
#endif

#endif
