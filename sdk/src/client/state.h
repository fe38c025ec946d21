/* state.h -- the whole client. Only files in client/ see it; systems use op.h. */

#ifndef GH_STATE_H
#define GH_STATE_H

#include "base/heap.h"
#include "client/op.h"
#include "client/ring.h"
#include "guildhall/platform.h"
#include "wire/inbox.h"

#define GH_CLIENT_MAGIC 0x6775696c64686131ull
#define GH_SERVER_ID_SIZE 33u /* 16 hex digits of its run, 16 of its history */

/* Lines that may come in floods: each topic has a limit of its own. */
typedef enum gh_log_topic
{
    GH_LOG_UNLIMITED = 0,
    GH_LOG_COMMAND_LINK,
    GH_LOG_WAKE_LINK,
    GH_LOG_SENTINEL_LINK,
    GH_LOG_MAP_LINK,
    GH_LOG_HANDSHAKE,
    GH_LOG_NO_WRITES,
    GH_LOG_REFUSED_OP,
    GH_LOG_CORRUPT_KEY,
    GH_LOG_SYSTEM,
    GH_LOG_TOPICS
} gh_log_topic;

/* Where connections go. The text is somebody else's, and lives as long as this. */
typedef struct gh_target
{
    gh_str text;
    gh_address address;
    bool needs_resolver; /* its host is a name */
} gh_target;

/* What was said last of a store's birth and of the generation of its data. */
typedef struct gh_epoch
{
    uint64_t birth_us;   /* 0: not known */
    uint64_t generation;
} gh_epoch;

typedef struct gh_login
{
    gh_str user;
    gh_str password;
} gh_login;

/* One connection: link.h. */
typedef struct gh_link
{
    gh_link_state state;
    gh_log_topic topic;
    const char* title;    /* for the log: "command link: " */
    intptr_t stream;
    gh_inbox inbox;
    const gh_target* target;
    const gh_login* login; /* NULL: as the config or its hook says */
    gh_address address;   /* where this attempt goes                                                     */
    uint64_t due_us;      /* CONNECTING, HANDSHAKE: give up; BACKOFF: try again                          */
    uint64_t look_us;     /* READY and nothing awaited: when the stream is looked at next                */
    uint64_t ping_us;     /* of one that only listens: when the peer was last made to answer             */
    uint64_t heard_us;    /* when bytes came last                                                        */
    uint32_t generation;  /* the number of this attempt: no two of a client have the same; 0: none yet   */
    uint32_t failures;    /* attempts in a row that did not become READY                                 */

    int error;              /* the platform's number for the call that failed just now; 0: none          */
    const char* error_text;
    const char* told_why;   /* what the log said last of why the link was lost; NULL: nothing            */
    int told_error;
    bool has_stream; /* whatever its value is, that one below zero, too */
    bool unread;     /* the last read was full, and what is left may lie where no handle shows it: in a record of TLS */

    char* out;
    uint32_t out_capacity;
    uint32_t out_start;   /* of the bytes not yet sent, in out                                           */
    uint32_t out_end;
    uint64_t sent_bytes;  /* on this connection                                                          */
    uint32_t secret_bytes; /* at the begin of out, AUTH's: to be wiped as soon as they are sent; 0: none */
    uint32_t out_used;     /* how far out was ever written                                               */
} gh_link;

static inline uint32_t gh_link_unsent(const gh_link* link)
{
    return link->out_end - link->out_start;
}

/* What a place among the requests on the wire waits for. */
typedef enum gh_slot_purpose
{
    GH_SLOT_OP = 1,    /* the answer to op; op NULL: it ended meanwhile, swallow the answer   */
    GH_SLOT_LOAD,      /* SCRIPT LOAD of script, on the way of an op whose digest is known    */
    GH_SLOT_DIGEST,    /* SCRIPT LOAD of script, whose digest op waits for                    */
    GH_SLOT_RIGHTS,    /* which commands the user may call: see rights.c                      */
    GH_SLOT_HANDSHAKE, /* step of the hand-shake                                              */
    GH_SLOT_ASKING,    /* ASKING, in front of the next one's                                  */
    GH_SLOT_WAIT       /* WAIT, behind all that replicas are to have: see replicas.h            */
} gh_slot_purpose;

typedef struct gh_slot
{
    gh_op* op;
    gh_script* script; /* that it loads; or that op runs, while op is there          */
    uint64_t sent_us;  /* when it was encoded                                        */
    uint64_t end_byte; /* of the request in the connection's stream                  */
    struct gh_slot* next; /* in the chain of its node's, or of the free ones */
    uint32_t place;    /* its own, plus 1: what op->place is                 */
    uint16_t purpose;
    uint16_t step;
} gh_slot;

typedef struct gh_unsent
{
    gh_op* first;
    gh_op* last;
    uint32_t count;
} gh_unsent;

enum
{
    GH_REQUEST_NONE = 0,
    GH_REQUEST_QUEUED, /* in a queue                                       */
    GH_REQUEST_SENT,   /* in a slot                                        */
    GH_REQUEST_PAUSED, /* goes again at retry_us                           */
    GH_REQUEST_AWAITED, /* answered; replicas have until retry_us to say so */
    GH_REQUEST_STATES
};

typedef struct gh_log_limit
{
    uint64_t since_us; /* begin of the present window */
    uint32_t told;     /* in it                       */
    uint32_t held;     /* since the last line         */
} gh_log_limit;

/* One server of the store: the connection for its requests, those that wait for it, and what it has said of itself.
   Where replicas are waited for, each has a second one: see replicas.h. */
typedef struct gh_node
{
    gh_client* client; /* whose it is */
    struct gh_node* next_awake;
    bool is_awake;
    gh_link link;

    gh_unsent urgent; /* ops whose requests are to be encoded */
    gh_unsent waiting;
    gh_slot* sent; /* a chain of the requests on the wire, the oldest first */
    gh_slot* sent_last;
    uint32_t sent_count;

    uint32_t step;    /* next of the hand-shake to be encoded; see handshake.c */
    uint64_t scripts; /* of ours, a bit each: this connection has loaded it    */
    uint64_t exists_asked; /* of ours, by their places in client->scripts: the server has not said yet which it has */
    uint32_t digests; /* requests on the wire that are answered with a script's digest */
    bool leaving;     /* the server said that it is not the one: take what was asked, ask no more, connect anew */
    bool held_back;   /* the first in the queue waits for an answer, of its script or of the rights */
    bool caught_up;   /* all that the peer has sent so far was read and handed out */
    bool clustered;   /* a node of a Cluster, so each script gets a phantom key: see request.h */
    char phantom;     /* its last letter, by which scripts know over what hints go: see hint.lua */
    bool doubted;      /* whoever has a lease there is to ask for it; see due.c       */
    bool rights_known;
    bool rights_asked;
    bool info_awaited;   /* nor who it is                                          */
    bool store_offset_known;

    uint64_t rights_us;       /* when the answer came */
    uint64_t rights_missing;  /* bits of the commands that the user may not call from scripts */
    uint64_t store_birth_us;        /* 0: not known */
    uint64_t store_generation;      /* 0: not known */
    gh_epoch own_epoch;             /* where there is one node */
    gh_epoch* epoch;                /* of the epoch that the hand-shake asks for; NULL: none lies on this node */
    uint32_t epoch_tag;             /* where that lies, if there are many */
    uint64_t store_offset_us;       /* store's clock minus ours */
    uint32_t server_size;           /* 0: not known */
    char server[GH_SERVER_ID_SIZE]; /* which server, and since which start; as the epoch key has it */

    /* bits of gh_warning: of the last hand-shake that came to its end, and of the last that was begun */
    uint32_t warnings;
    uint32_t warnings_found;

    /* for replicas */
    bool wait_sent;         /* WAIT is on the wire                                 */
    uint32_t beside;        /* of a second one: the first's connection at its side */
    struct gh_node* main;   /* of a second one, the first; else NULL               */
    struct gh_node* second; /* of a first one, the second; NULL: there is none     */
    gh_unsent awaited;      /* ops whose answers replicas are to have              */
} gh_node;

#define GH_INVALID_TEXT_MAX 160u
#define GH_LENT_OUTS 2u
#define GH_LENT_INBOXES 3u

/* Room for an op that goes on without its owner. */
typedef union gh_detached
{
    gh_op op;
    char bytes[GH_OP_SIZE_MAX];
} gh_detached;

/* What is looked at most is in front: what lies behind 128 bytes takes longer instructions. */
struct gh_client
{
    uint64_t magic;
    const gh_platform* platform;

    /* Time. Inside, the clock starts at GH_START_US with the first tick,
       so that what is begun before it counts from it. */
    uint64_t now_us;
    uint64_t origin_us;     /* caller's clock minus ours, which has no clock but only an origin of its own */
    uint64_t budget_end_us; /* on the platform's clock; GH_FOREVER: no budget */

    gh_node* nodes;
    gh_node* nodes_end;
    gh_node* awake;      /* a chain of those that may have something to do, in the order of their turns: see awake.c */
    gh_node* awake_last;
    bool many;

    gh_slot* slots;      /* of all nodes */
    gh_slot* slots_free; /* a chain      */
    uint32_t slots_used;

    uint32_t sweep_left; /* ops that the event of sweep_kind has yet to reach */
    uint32_t sweep_at;   /* in the heap of timers                             */
    uint8_t sweep_mark;
    uint8_t sweep_kind;
    gh_node* sweep_node; /* those of other nodes are passed over; NULL: none are */

    bool budget_spent;
    bool ticked;
    bool ticking; /* or all ops are being told of an end: whoever hears of it may not tick */
    bool watched; /* somebody sleeps until a stream is readable, so each tick must read it */
    bool draining;

    gh_heap timers;       /* every busy op is in here, due or not */
    gh_heap leases[2];    /* of held things, each in one of them; the other side's are still to hear of a doubt */
    uint32_t leases_side; /* the side of those that have nothing to hear                                       */
    uint32_t listener_mask;
    gh_op** listeners;    /* chains, by sequence */
    gh_op* next_listener; /* while all are told: who is next */
    gh_gate** gates;      /* rows, by object; as many as there are chains of listeners */
    gh_op* owners;      /* a chain of those that are to hear that a child has moved      */
    uint32_t steps;     /* that are running, one inside the other: owners wait for their end */
    gh_ring changed;    /* ops whose status has changed since the last tick ended */
    gh_ring to_be_seen; /* and before it                                           */

    uint64_t id;
    uint64_t sequence;
    uint64_t random;

    gh_detached* detached; /* ops whose owner is gone */
    gh_op* detached_free;  /* a chain                 */

    gh_reader reader; /* of all links */

    /* Of many nodes: what their links share (lend.c). */
    char* lent_outs[GH_LENT_OUTS];
    char* lent_ins[GH_LENT_INBOXES];
    uint32_t outs_used; /* so many of them were ever lent */
    uint32_t ins_used;
    bool ins_wanted; /* who asked last for one to receive into got none */
    void* outs_free;
    void* ins_free;
    gh_inbox lent_inbox; /* how all of them are */

    gh_link wake;
    uint32_t wake_answers; /* of the wake link's hand-shake that are still to come */

    uint32_t warnings_logged; /* bits of gh_warning that need not be logged again */
    uint64_t store_generation_heard; /* the largest that a server, or a key in it, has ever said */
    uint64_t drain_end_us;

    gh_client_config config; /* its strings are copies in our block */
    gh_target target;    /* config.address, where no topology says otherwise */
    void* topology;          /* what config.topology keeps */
    bool many_servers;       /* a Cluster: each has a part of the data                           */
    uint32_t connections;    /* begun so far, on all links: no two have a number, on whatever nodes      */
    uint32_t servers;        /* behind the nodes of these come the second ones, if there are any */
    gh_node* reading;        /* of many nodes: whose answers are handed out just now             */
    gh_node* resting;        /* of many nodes: who is looked at next although it rests           */
    const struct gh_topology* beneath; /* the config's, where another stands in front of it (client/replicas.h) */

    char invalid[GH_INVALID_TEXT_MAX]; /* of the last argument that was refused */
    uint32_t invalid_size;
    gh_status invalid_told; /* the status of a sentence that nobody's end has claimed yet */

    gh_log_limit log_limits[GH_LOG_TOPICS];
    gh_client_stats stats;
    gh_script scripts[GH_SCRIPT_COUNT];
};

/* Of the two that a server may have, the first. */
static inline gh_node* gh_node_server(gh_node* node)
{
    return node->main == NULL ? node : node->main;
}

static inline bool gh_node_has_unsent(const gh_node* node)
{
    return node->urgent.count + node->waiting.count > 0;
}

static inline void gh_node_note_store_time(gh_node* node, uint64_t store_us)
{
    node->store_offset_us = store_us - node->client->now_us;
    node->store_offset_known = true;
}

static inline uint64_t gh_node_store_time(const gh_node* node, uint64_t local_us)
{
    return node->store_offset_known ? local_us + node->store_offset_us : 0;
}

static inline uint64_t gh_node_not_after(const gh_node* node)
{
    return gh_node_store_time(node, node->client->now_us + node->client->config.request_timeout_us);
}

static inline bool gh_node_watches_epoch(const gh_node* node)
{
    return node->client->config.quarantine_us != 0 && !node->clustered;
}

static inline uint64_t gh_node_quarantine_end(const gh_node* node)
{
    const uint64_t quarantine_us = node->client->config.quarantine_us;
    return quarantine_us == 0 || node->store_birth_us == 0 ? 0 : node->store_birth_us + quarantine_us;
}

/* Who has that slot of a Cluster; or the only one. */
gh_node* gh_node_of_many(const gh_client* client, uint16_t route);
static inline gh_node* gh_node_of(const gh_client* client, uint16_t route)
{
    return client->many ? gh_node_of_many(client, route) : client->nodes;
}

#define GH_PLACE_ASK 0x80000000u /* of op->place, while it is queued: the node is asked out of turn, behind ASKING */
static inline gh_node* gh_queue_node(const gh_op* op)
{
    return &op->client->nodes[op->place & ~GH_PLACE_ASK];
}

/* On whose server the object of its last request lies, wherever it waits just now: others are asked who has a slot. */
static inline gh_node* gh_op_home(const gh_op* op)
{
    return gh_node_of(op->client, op->route);
}

/* Whose server its request goes to; while it has none, that of the last one's object. */
static inline gh_node* gh_op_node(const gh_op* op)
{
    return op->request == GH_REQUEST_QUEUED ? gh_queue_node(op) : gh_op_home(op);
}

static inline bool gh_client_is_one(const gh_client* client)
{
    return client != NULL && client->magic == GH_CLIENT_MAGIC;
}

#define GH_START_US 1000000000ull
#define GH_LOG_BURST 4u
#define GH_LOG_WINDOW_US 1000000ull

/* ---- pieces of the client, one file each ------------------------------------------------------------------------- */

/* client.c: of the topology's own links the n-th, or NULL; and of all */
gh_link* gh_client_topology_link(gh_client* client, uint32_t n);
uint32_t gh_client_warnings(const gh_client* client); /* of all nodes, and of what no server says */

/* config.c */
gh_status gh_config_check(const gh_client_config* config);
gh_status gh_config_check_login(gh_str user, gh_str password);

/* changes.c */
void gh_changes_init(gh_client* client);
void gh_changes_note(gh_client* client, gh_op* op);
void gh_changes_of_tick(gh_client* client); /* they may be handed out now */
void gh_changes_forget(gh_client* client);

/* detached.c */
void gh_detached_init(gh_client* client);
void gh_detached_give_back(gh_client* client, gh_op* record);

/* address.c: GH_OK; GH_PENDING: HOST:PORT, for a resolver; GH_INVALID_ADDRESS */
gh_status gh_address_parse(gh_str text, gh_address* address);
/* GH_OK, or GH_INVALID_ADDRESS, as it is for a name where there is no resolver. */
gh_status gh_address_check(const gh_client_config* config, gh_str text);
gh_str gh_address_next(gh_str* list); /* of a list with commas */
gh_status gh_target_parse(gh_str text, gh_target* target);

/* times.c */
gh_op* gh_op_of_timer(uint32_t* place); /* in the heap of timers */
gh_op* gh_op_of_lease(uint32_t* place); /* in a heap of leases   */
gh_heap* gh_leases_of(const gh_op* op);
void gh_op_retime(gh_op* op);
void gh_times_replace(gh_op* op); /* it lies elsewhere now: its places lead to it */

/* requests.c */
void gh_op_requeue(gh_op* op, bool front);
void gh_op_requeue_at(gh_op* op, uint32_t place, bool front);
void gh_unsent_rehome(gh_client* client); /* who has what has changed: each goes to the queue of its node */
uint32_t gh_op_place_at(const gh_op* op, uint32_t place); /* where of the two nodes of that server it is queued */
void gh_op_pause(gh_op* op, uint64_t pause_us);
void gh_op_await(gh_op* op, gh_node* node, uint64_t wait_us); /* it was answered, and replicas are to have that */
gh_op* gh_awaited_take(gh_node* node);                        /* the first of them; it has no request any more  */
gh_op* gh_unsent_next(const gh_node* node);
void gh_unsent_remove(gh_node* node, gh_op* op); /* it is queued at that node */
void gh_unsent_replace(const gh_op* from, gh_op* to);

/* awake.c: of many nodes, those that a tick visits; and a few of the others in turn */
void gh_node_wake(gh_node* node);
void gh_nodes_wake(gh_client* client); /* all of them */
void gh_nodes_turn(gh_client* client, uint32_t count); /* which of them this tick visits: so many of those that rest */

/* listeners.c */
void gh_listeners_hint(gh_client* client, uint64_t sequence, char letter);
void gh_listeners_hint_all(gh_client* client);

/* events.c */
void gh_op_tell(gh_op* op, gh_event_kind kind);
void gh_owner_forget(gh_op* op); /* it was noted, and is told of no child any more */
void gh_op_deliver(gh_op* op, const gh_event* event);
void gh_op_fail(gh_op* op, gh_status status, const gh_reply* reply);

/* sweeps.c */
void gh_op_sweep(gh_client* client, gh_event_kind kind); /* tells all busy ops, now */
void gh_op_sweep_begin(gh_client* client, gh_event_kind kind, gh_node* node);
void gh_op_sweep_on(gh_client* client, bool bounded); /* goes on with it; it is over when sweep_left is 0 */
void gh_sweep_mark(gh_client* client, gh_op* op);     /* it has had its event, or needs none any more     */
static inline bool gh_sweep_has(const gh_client* client, const gh_op* op)
{
    return (op->flags & GH_OP_SWEPT) == client->sweep_mark;
}

/* due.c */
void gh_timers_lapse(gh_client* client);
void gh_timers_fire(gh_client* client);
void gh_doubt_begin(gh_node* node); /* the server may have forgotten the newest: all who have a lease there hear it */
void gh_doubt_stray(gh_node* node, gh_op* op); /* the node answered late: the same of this one, if it is another's */
void gh_doubt_on(gh_client* client);    /* tells as many as the budget lets it                                    */

/* pipeline.c: of a link that talks, the first three */
void gh_pipeline_receive(gh_node* node);
void gh_pipeline_send(gh_node* node);
void gh_pipeline_check_age(gh_node* node);
/* Gives up a link that is not idle and not in its back-off: what was sent goes again, to where that then goes. */
void gh_pipeline_lose(gh_node* node, gh_log_level level, const char* why);
/* The same as soon as all is answered that was sent, and until then nothing more is. */
void gh_pipeline_leave(gh_node* node);
void gh_pipeline_refuse(gh_node* node, gh_reason reason); /* whoever waits now is told */

/* slots.c */
void gh_slots_init(gh_client* client);
bool gh_slots_have_room(const gh_node* node);
bool gh_slots_have_room_for_two(const gh_node* node);
bool gh_slots_have_room_for(const gh_node* node, const gh_op* op); /* queued there, perhaps behind ASKING */
bool gh_slots_have_room_to_wait(const gh_node* node); /* for WAIT, which has a place of its own */
/* For the request that was just written; op, if there is one, waits for its answer. */
gh_slot* gh_slots_add(gh_node* node, gh_slot_purpose purpose, gh_op* op, gh_script* script);
gh_slot* gh_slots_newest(const gh_node* node); /* there must be one */
bool gh_slots_await_digest(const gh_node* node, const gh_script* script); /* an op there waits for it */
const gh_slot* gh_slots_oldest(const gh_node* node);
/* There must be one. Its op has no request any more. It stays readable until a request is added. */
const gh_slot* gh_slots_take_oldest(gh_node* node);
void gh_slots_turn(gh_node* node); /* the newest is taken first from here on, until none is left */
void gh_slots_leave(gh_op* op);    /* the answer to its request will be swallowed */
static inline gh_slot* gh_slot_of(const gh_op* op) /* whose request is sent */
{
    GH_INVARIANT(op->client, op->request == GH_REQUEST_SENT);
    return &op->client->slots[op->place - 1];
}

/* answers.c. Anything but DONE gives up the link. */
typedef enum gh_taken
{
    GH_TAKEN_DONE,
    GH_TAKEN_BROKEN, /* the reply has another shape than was asked for                             */
    GH_TAKEN_MOVED   /* this server, or this connection, is not the one: no more is asked of it */
} gh_taken;

gh_taken gh_answer_take(gh_node* node, const gh_slot* slot, const gh_reply* reply);
void gh_answer_take_unread(gh_op* op, gh_status why); /* an answer came, and cannot be read */
/* No answer has come, or none to the op's own request. */
void gh_op_give_up(gh_op* op, gh_reason reason);

/* handshake.c */
typedef struct gh_handshake_verdict
{
    const char* why; /* the link must be given up; NULL: it goes on */
    gh_log_level level;
    bool refused; /* for good: whoever waits now is told, for this reason. Those who come later wait for the next try */
    gh_reason reason;
} gh_handshake_verdict;

void gh_handshake_begin(gh_node* node);
void gh_handshake_encode(gh_node* node);
/* Nothing is awaited of the server, and there is more to say: a buffer was in the way, or a place on the wire. */
bool gh_handshake_was_held_up(const gh_node* node);
gh_handshake_verdict gh_handshake_reply(gh_node* node, uint32_t step, const gh_reply* reply);
/* A server, or a key in it, has said that generation at that time of its clock. */
void gh_client_hear_generation(gh_client* client, uint64_t generation, uint64_t store_now_us);
/* Of what no server says: once, while it is so. */
void gh_client_warn(gh_client* client, gh_warning warning, const char* text, gh_str detail);
/* Of a server: until its next hand-shake. */
void gh_node_warn(gh_node* node, gh_warning warning, const char* text, gh_str detail);

/* rights.c */
void gh_rights_doubt(gh_node* node); /* the user's rights may have changed: look again before a script runs */
void gh_rights_encode(gh_node* node, gh_request* request);
void gh_rights_take(gh_node* node, const gh_reply* reply);
/* GH_OK: the script may run. GH_REFUSED: what is ours of it lacks a right, which is logged. GH_FULL: the answer must be
   awaited. */
gh_status gh_rights_check(gh_node* node, gh_op* op, const gh_script* script);

/* borrowed.c: of an op whose kind borrows, once what it has borrowed is known; and when it is to be encoded, if it has
   a sum. */
void gh_borrowed_note(gh_op* op);
void gh_borrowed_check(gh_op* op);

/* wake.c */
void gh_wake_move(gh_client* client);
void gh_wake_leave(gh_client* client); /* it goes elsewhere now */
uint64_t gh_wake_due(const gh_client* client);
#define GH_CHANNEL_SIZE_MAX (32u + 6u + 16u)
gh_str gh_wake_channel(const gh_client* client, char* out); /* "<prefix>:wake:<client>" */
/* "<sequence, 16 hex digits>" and perhaps a letter. False: it is no hint, as anybody may publish anything. */
bool gh_wake_hear(gh_client* client, gh_str hint);

/* scripts.c */
void gh_scripts_init(gh_client* client);
/* Not a caller's, and not none: NULL, of an op that runs no script. */
bool gh_script_is_ours(const gh_script* script);
/* What is ours of a script calls these: of a caller's, what stands around it. A bit for each of GH_COMMAND_LIST. */
uint64_t gh_script_commands(const gh_script* script);
/* The text whose head says what is sent and answered: what stands behind another runs that. NULL: a caller's, or no
   script. */
const gh_script_text* gh_script_contract(const gh_script* script);
/* Of the reply to a request of the kind that runs the script: the contract's, or as the kind says. NULL: any. */
const char* gh_answer_shape(const gh_op_kind* kind, const gh_script* script);
/* The epoch that the node's hand-shake asks for. */
void gh_request_node_epoch_key(gh_request* request, const gh_node* node);
/* Those that go on while their slot moves need no phantom key: so leases live through that. */
bool gh_script_wants_phantom(const gh_script* script);
static inline uint64_t gh_script_bit(const gh_script* script) /* of gh_node.scripts; not of a caller's */
{
    return 1ull << (script->number - 1);
}
/* Whether this connection has loaded it, or is about to. A caller's knows itself on which one it went last; of many
   servers it is taken to be on all, and whoever is told that it is not there brings it. */
static inline bool gh_script_is_loaded(const gh_node* node, const gh_script* script)
{
    if (script->number != 0) return (node->scripts & gh_script_bit(script)) != 0;
    return node->client->many_servers ? script->loaded != 0 : script->loaded == node->link.generation;
}
void gh_script_note_loaded(gh_node* node, gh_script* script);
static inline void gh_script_forget_loaded(gh_node* node, gh_script* script)
{
    if (script->number != 0) node->scripts &= ~gh_script_bit(script);
    else script->loaded = 0;
}
bool gh_script_encode_load(gh_node* node, gh_script* script, gh_slot_purpose purpose, gh_op* op);
void gh_script_note_digest(gh_node* node, gh_script* script, const gh_reply* reply);

/* log.c: pieces of text, so that nothing here needs a formatter. `detail` is a text of the server's or of a key's: only
   its beginning is shown, up to what it may have from a request. */
void gh_log(gh_client* client, gh_log_level level, const char* text);
void gh_log_str(gh_client* client, gh_log_level level, const char* text, gh_str detail);
/* At most GH_LOG_BURST lines of a topic in GH_LOG_WINDOW_US; the next one says how many were held back. */
void gh_log_limited(gh_client* client, gh_log_topic topic, gh_log_level level, const gh_str* parts, size_t count,
                    gh_str detail);
void gh_log_op(const gh_op* op, gh_log_topic topic, gh_log_level level, const char* text, gh_str detail);
void gh_trace(gh_client* client, gh_trace_kind kind, const gh_op* op, uint64_t elapsed_us, gh_status status);

#endif
