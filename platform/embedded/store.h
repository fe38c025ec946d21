/* store.h -- one server in this process: data, scripts, links, and all that it knows of time is what it is told.

       gh_store_feed -> [ link ] -> requests -> commands and Lua -> replies and pushes -> [ link ] -> gh_store_take
                                                     |
                                                     v
                                          log of effects -> gh_store_apply of a replica

   It answers as redis-server does, in RESP2: the commands that Guildhall's scripts and links use, and the plain ones
   around them, with the words of its errors and the conversions of its Lua. The same calls in the same order with the
   same seed give the same bytes, always.

   Threads  none. A store, those that share its engine, and their links belong to one thread at a time.
   Memory   the heap. An allocation that fails ends the program. */

#ifndef GUILDHALL_EMBEDDED_STORE_H
#define GUILDHALL_EMBEDDED_STORE_H

#include "guildhall/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gh_store gh_store;
typedef struct gh_store_link gh_store_link;

/* Lua, the scripts that it has compiled, and memory. Many stores may share one: each knows only the scripts that it
   was told of, but what one has compiled costs the next nothing. */
typedef struct gh_store_engine gh_store_engine;

gh_store_engine* gh_store_engine_new(void);
void gh_store_engine_free(gh_store_engine* engine); /* behind all of its stores */

/* Takes back what no script needs any more. From then on Lua's collector has nothing to do: behind some scripts Lua is
   put back to how it was, and what they have made is gone, whatever they have changed of Lua's own, too. For who has
   compiled all of his scripts, and has a few megabytes to spare; when a single script makes more than those, or calls
   collectgarbage, all is as it was before, until the next settle. */
void gh_store_engine_settle(gh_store_engine* engine);

typedef struct gh_store_config
{
    const char* version;     /* what INFO says; "7.0.15"                                              */
    uint64_t seed;           /* of its ids and of what it draws                                       */
    gh_store_engine* engine; /* NULL: one of its own                                                  */
    const char* password;    /* of the default user; NULL: none                                       */
    uint32_t links_max;      /* one more is refused as a server does                                  */
    uint64_t steps_max;      /* of Lua in a script and its coroutines, a hundred more or less: it is
                                stopped then as SCRIPT KILL does; 0: none                            */
    bool cluster_enabled;
    bool append_only;        /* INFO says that there is an AOF                                        */
    bool draws_first;        /* HRANDFIELD takes the first fields and not random ones: for comparison */
    bool keeps_order;        /* large hashes keep the order of their fields; else it is drawn anew     */
} gh_store_config;

gh_store_config gh_store_config_default(void);
gh_store* gh_store_new(const gh_store_config* config);
void gh_store_free(gh_store* store);

/* Microseconds since 1970. Time may go back, as a server's clock does. */
void gh_store_set_time(gh_store* store, uint64_t unix_us);
uint64_t gh_store_time(const gh_store* store);

/* ---- links --------------------------------------------------------------------------------------------- */

gh_store_link* gh_store_connect(gh_store* store);

/* Carries out each request that is whole, and keeps the rest. */
void gh_store_feed(gh_store_link* link, const void* bytes, size_t size);

/* Bytes of replies and pushes: how many there were, at most SIZE. */
size_t gh_store_take(gh_store_link* link, void* bytes, size_t size);
size_t gh_store_waiting(const gh_store_link* link); /* how many could be taken */

/* Another number than before: links may have something that they were not fed for, or have been closed. Who has fed
   one link needs to look at the others only then. */
uint64_t gh_store_told(const gh_store* store);

/* By the server: QUIT, a protocol error, CLIENT KILL, a restart, too many links. What was said before may be taken; but
   of one who listens and has let 32 MiB lie nothing is kept. */
bool gh_store_is_closed(const gh_store_link* link);

/* The link is gone, and its memory. */
void gh_store_disconnect(gh_store_link* link);

/* While a link is blocked, requests are kept and not carried out: for a command that answers later. */
void gh_store_block(gh_store_link* link);
void gh_store_unblock(gh_store_link* link); /* carries out what has come meanwhile */
void gh_store_say(gh_store_link* link, const void* bytes, size_t size); /* as a part of its replies */

uint64_t gh_store_link_id(const gh_store_link* link);
gh_store* gh_store_of(const gh_store_link* link);
bool gh_store_link_reads(const gh_store_link* link); /* READONLY was the last word about it */
void* gh_store_link_data(const gh_store_link* link); /* whatever the owner has put there; NULL at first */
void gh_store_link_set_data(gh_store_link* link, void* data);

/* ---- what may happen to a server ----------------------------------------------------------------------- */

/* Links are closed by the server, scripts unknown, channels empty, states cleared; a new run id; data stay. */
void gh_store_restart(gh_store* store, uint64_t seed);

/* As new, but for users: nothing is in it. */
void gh_store_flush(gh_store* store);         /* FLUSHALL */
void gh_store_flush_scripts(gh_store* store); /* SCRIPT FLUSH */

/* All keys of FROM and no others, with their ends: a replica that begins, a restart with an older state. */
void gh_store_copy(gh_store* to, const gh_store* from);

enum
{
    GH_STORE_LOADING = 1 << 0,      /* LOADING                                                                */
    GH_STORE_FULL = 1 << 1,         /* OOM: whatever could make it larger                                     */
    GH_STORE_READ_ONLY = 1 << 2,    /* READONLY: a replica, which also lets no key expire by itself           */
    GH_STORE_DISK_FAILS = 1 << 3,   /* MISCONF                                                                */
    GH_STORE_BUSY = 1 << 4,         /* BUSY: a script that does not end                                       */
    GH_STORE_MASTER_DOWN = 1 << 5,  /* MASTERDOWN                                                             */
    GH_STORE_FEW_REPLICAS = 1 << 6, /* NOREPLICAS                                                             */
    GH_STORE_CLUSTER_DOWN = 1 << 7  /* not looked at here: for a gate                                         */
};

void gh_store_set_states(gh_store* store, unsigned states);
unsigned gh_store_states(const gh_store* store);

/* As "ACL SETUSER name rule ...", the rules between blanks. NULL, or the error. */
const char* gh_store_set_user(gh_store* store, const char* name, const char* rules);

/* 40 hexadecimal digits each. The history is that of INFO's master_replid, the first one is drawn. */
const char* gh_store_run_id(const gh_store* store);
const char* gh_store_history(const gh_store* store);
void gh_store_set_history(gh_store* store, const char* history);

/* ---- hooks, for a world around it ---------------------------------------------------------------------- */

/* Each request with its reply, when it has been carried out. */
typedef void (*gh_store_tap)(void* context, gh_store_link* link, gh_str request, gh_str reply);
void gh_store_set_tap(gh_store* store, gh_store_tap tap, void* context);

/* Each command that changed something, as a replica is to carry it out: with ends as moments, and keys that have
   ended as DEL. DATABASE is where. COUNT 0: a transaction, which is a request with all that its script did, ends
   here. */
typedef void (*gh_store_log)(void* context, uint32_t database, const gh_str* words, size_t count);
void gh_store_set_log(gh_store* store, gh_store_log log, void* context);

/* Carries out what another one has logged. */
void gh_store_apply(gh_store* store, uint32_t database, const gh_str* words, size_t count);

/* Asked before each command with keys, with those that it names; for a script with those that it declares, and then
   for each command in it. NULL: go on; else the error without its first "-", which is said in its stead. */
typedef struct gh_store_asked
{
    gh_store_link* link;
    const gh_str* keys;
    size_t count;
    bool writes;
    bool is_script; /* EVALSHA and EVAL: the keys are those that it declares */
    bool in_script; /* a command that a script carries out                   */
    bool is_asking; /* behind ASKING                                         */
} gh_store_asked;
typedef const char* (*gh_store_gate)(void* context, const gh_store_asked* asked);
void gh_store_set_gate(gh_store* store, gh_store_gate gate, void* context);

/* Asked before each request, but those from inside scripts, of a user who may send it. True: the hook has carried it
   out, said the reply with gh_store_say or has blocked the link. */
typedef bool (*gh_store_other)(void* context, gh_store_link* link, const gh_str* words, size_t count);
void gh_store_set_other(gh_store* store, gh_store_other other, void* context);

/* Asked for a section of INFO, such as "replication". Empty: the store's own. */
typedef gh_str (*gh_store_info)(void* context, gh_str section);
void gh_store_set_info(gh_store* store, gh_store_info info, void* context);

/* ---- keys ---------------------------------------------------------------------------------------------- */

bool gh_store_has(const gh_store* store, uint32_t database, gh_str key);
size_t gh_store_key_count(const gh_store* store);

/* Of all databases, in the order in which they were made, until the function says false. It must change nothing. */
typedef bool (*gh_store_each)(void* context, uint32_t database, gh_str key);
void gh_store_each_key(const gh_store* store, gh_store_each each, void* context);

/* The key goes as it is, in place of what is there. False: FROM has none of that name. Neither logs it. */
bool gh_store_move(gh_store* to, gh_store* from, uint32_t database, gh_str key);

/* A command of nobody: no user, no states, no gate, no log. The reply, until the next call is over: its words may be
   pieces of it. */
gh_str gh_store_ask(gh_store* store, const gh_str* words, size_t count);

typedef struct gh_store_counts
{
    uint64_t requests; /* carried out  */
    uint64_t calls;    /* redis.call   */
    uint64_t links;    /* that are     */
    uint64_t scripts;  /* that it knows */
    uint64_t stopped;  /* scripts that took too many steps */
} gh_store_counts;
gh_store_counts gh_store_get_counts(const gh_store* store);

#ifdef __cplusplus
}
#endif

#endif
