/* guildhall/guild.h -- who belongs to a guild, and the members whose names begin so.

       gh:{guild:knights}:m      "bob", "jack", "jeff", "jenny", "jenny" with another id, ... in the order of the bytes

       complete("je", 2)  ->  jeff, jenny              cursor: behind jenny        one read, which writes nothing
       next               ->  jenny (the other)        ... whatever joined or left meanwhile

       join, leave                 begin --> row of this guild --> SENT --> ended
       complete, next, has, size   begin --> ASKING --> ended   (in several requests if one reply cannot take it all)

   A roster may serve any sorted index with prefixes: item names with their ids, place names, clan tags. What joins is
   a name with what belongs to it (id), found by the beginning of the name, in order, a page at a time.

   Keys     one sorted set of members, a mark per client that changes it.
   Order    hits come in the order of their folded names' bytes. Of those that fold alike, a name that is its own folded
            form comes first, and the others in the order of their bytes; of one name, in the order of the ids. Changes
            of one client to one guild are carried out in the order in which they were begun: each waits for the one
            before.
   Time     your clock counts timeout_us; nothing else here knows time.
   Threads  as the client.
   Memory   a gh_guild is a value: nothing points to it once a begin has returned. Ops and members are yours and stay in
            place until the op ends, with their bytes; a prefix is copied. Hits and the cursor lie in the buffer that
            you gave, until that op's next begin.
   Failure  a change whose answer is lost is asked for again with the same id and is carried out once, and is told the
            same answer. The guild never has more members than capacity. Reads may be cancelled and repeated at will. An
            empty guild is no guild: it needs no creation and leaves nothing but the marks, which go after 20 minutes.

   Use
       gh_guild_init(&knights, client, gh_str_literal("knights"), NULL);
       ...
       gh_guild_member jenny = {.name = gh_str_literal("Jenny")};
       gh_guild_join_begin(&join, &knights, &jenny, 1);
       ...
       static _Alignas(8) char buffer[GH_GUILD_BUFFER_SIZE(10)];
       gh_guild_search_config config = gh_guild_search_config_default();
       config.buffer = buffer;
       config.buffer_size = sizeof buffer;
       gh_guild_complete_begin(&search, &knights, gh_str_literal("je"), &config);
       ... each frame: gh_tick(...); if (gh_op_poll(&search.op) == GH_OK) show(search.hits, search.count);
       if (search.more) gh_guild_next_begin(&search, &knights); */

#ifndef GUILDHALL_GUILD_H
#define GUILDHALL_GUILD_H

#include "guildhall/client.h"
#include "guildhall/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_GUILD_CAPACITY_MAX 1000000
#define GH_GUILD_MEMBERS_MAX 64   /* that join, leave or are asked for in one request           */
#define GH_GUILD_LIMIT_MAX 10000  /* hits of one search                                         */

/* ---- a guild --------------------------------------------------------------------------------------------------- */

/* All who use a guild agree on it. */
typedef struct gh_guild_config
{
    size_t struct_size;  /* set by gh_guild_config_default; leave it                                              */
    uint64_t timeout_us; /* of each op, from begin to the end, the wait for earlier changes included; 1 ms..60 s,
                            default 5 s                                                                            */
    uint32_t capacity;   /* members after a join; 1..GH_GUILD_CAPACITY_MAX, default 5000. leave does not look at it */
    gh_fold fold;        /* default gh_fold_ascii; NULL: only the same bytes are alike                             */
    void* fold_context;
} gh_guild_config;

GH_API gh_guild_config gh_guild_config_default(void);

/* A guild as this server uses it: a value, which may be copied, and has no end. */
typedef struct gh_guild
{
    /* private */
    gh_object object;
    gh_guild_config config;
} gh_guild;

/* Says which guild, by which client, with which settings; config may be NULL for the defaults. Asks the store nothing.
   A guild that was not made well may be used: each begin on it ends as init did.
   GH_OK; GH_INVALID_OBJECT (guild is NULL), _CLIENT, _NAME, _CONFIG, _TIMEOUT, _GUILD_CAPACITY. */
GH_API gh_status gh_guild_init(gh_guild* guild, gh_client* client, gh_str name, const gh_guild_config* config);

/* Every begin below answers, besides what stands with it: GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED; GH_INVALID_OP
   (NULL or busy), GH_INVALID_OBJECT (guild is NULL or was not made by gh_guild_init), GH_INVALID_CLIENT (it was shut
   down), or what gh_guild_init answered. */

/* ---- join and leave -------------------------------------------------------------------------------------------- */

/* Who joins, leaves or is asked for. Name and id together say who it is: to leave, give what joined. */
typedef struct gh_guild_member
{
    /* yours */
    gh_str name; /* as it is shown, and what is searched for; 1..GH_NAME_SIZE_MAX bytes of any kind               */
    gh_str id;   /* comes back with each hit: your number of that player, for instance; empty, or as long as a name */
    void* user;

    /* read-only, after the op ended GH_OK or GH_FULL */
    gh_status status; /* join: GH_OK joined; GH_EXISTS was in before, or got in by an earlier try of this op that the
                         server stopped half-way; GH_FULL no room. leave: GH_OK; GH_NOT_MEMBER likewise.
                         has: GH_OK is a member; GH_NOT_MEMBER */
} gh_guild_member;

typedef struct gh_guild_change
{
    gh_op op;

    /* read-only, after GH_OK and GH_FULL */
    uint32_t size; /* members now */

    /* private */
    gh_gate gate;
    gh_name guild;
    gh_guild_member* members;
    gh_fold fold;
    void* fold_context;
    uint32_t capacity;
    uint8_t count;
    bool leaves;
} gh_guild_change;

/* Begins to make the players members, as many as there is room for, in the order of the array and in one step. After
   the end each has its status.
   Besides: GH_TOO_LARGE (the members would not fit out_bytes), GH_INVALID_MEMBERS. */
GH_API gh_status gh_guild_join_begin(gh_guild_change* op, const gh_guild* guild, gh_guild_member* members,
                                     size_t count);

/* Begins to take the players out, all in one step. Statuses as above. */
GH_API gh_status gh_guild_leave_begin(gh_guild_change* op, const gh_guild* guild, gh_guild_member* members,
                                      size_t count);

/* How it ends:
   GH_OK        each of them is a member now; or none is any more
   GH_FULL      some are not members: raise capacity
   GH_TIMEOUT   nothing was done: no link, or earlier changes to this guild took all the time
   GH_UNKNOWN   sent, no answer: carried out once or not at all
   GH_CANCELLED cancelled before it was sent
   GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* ---- complete and next ----------------------------------------------------------------------------------------- */

typedef struct gh_guild_hit
{
    gh_str name; /* as it is shown */
    gh_str id;   /* empty: none    */
} gh_guild_hit;

/* The buffer for that many hits: in front the cursor and what is sought, then the hits and their bytes. */
#define GH_GUILD_CURSOR_SIZE_MAX 392u /* bytes: all that a member has, each zero byte counted twice */
#define GH_GUILD_HEAD_SIZE (GH_GUILD_CURSOR_SIZE_MAX + 2u * GH_FOLDED_SIZE_MAX)
#define GH_GUILD_BUFFER_SIZE(limit) (GH_GUILD_HEAD_SIZE + (limit) * (sizeof(gh_guild_hit) + 2u * GH_NAME_SIZE_MAX))

typedef struct gh_guild_search_config
{
    size_t struct_size; /* set by gh_guild_search_config_default; leave it                                          */
    uint32_t limit;     /* at most this many hits; 1..GH_GUILD_LIMIT_MAX, default 10                                */
    gh_str after;       /* the cursor of an earlier page, from any op of any server: goes on behind it. Copied by
                           begin. Empty (default): from the first                                                  */
    void* buffer;       /* aligned to 8 */
    size_t buffer_size; /* at least GH_GUILD_BUFFER_SIZE(limit) */
} gh_guild_search_config;

GH_API gh_guild_search_config gh_guild_search_config_default(void);

typedef struct gh_guild_search
{
    gh_op op;

    /* read-only, after GH_OK and GH_EMPTY */
    const gh_guild_hit* hits;
    uint32_t count;
    bool more;     /* there are more behind them                                                            */
    gh_str cursor; /* where the next page begins: bytes to keep, to send to a player, to give as `after`    */

    /* private */
    gh_name guild;
    gh_str bound;
    char* buffer;
    uint32_t limit;
    bool paged; /* the last page is there: its cursor leads to the next */
} gh_guild_search;

/* Begins to look for the members whose folded names begin with the folded prefix; empty: for all. Any bytes may be in
   prefix, also half a character. It writes nothing. For a newer key-stroke: cancel, and begin again at once with the
   same op.
   Besides: GH_INVALID_GUILD_PREFIX, _CONFIG, _LIMIT, _GUILD_CURSOR (after), _BUFFER (NULL, not aligned, too small).
   config may not be NULL: it has the buffer. */
GH_API gh_status gh_guild_complete_begin(gh_guild_search* op, const gh_guild* guild, gh_str prefix,
                                         const gh_guild_search_config* config);

/* Begins to look for the page behind the last one, with the same prefix, limit and buffer. Whoever was a member all the
   time is on exactly one of the pages, whoever else came or went.
   Besides: GH_INVALID_GUILD_CURSOR: the last page was of another guild, or did not end GH_OK. */
GH_API gh_status gh_guild_next_begin(gh_guild_search* op, const gh_guild* guild);

/* How it ends:
   GH_OK        there are hits
   GH_EMPTY     there is none, or none any more
   GH_TIMEOUT   no answer
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* ---- has ------------------------------------------------------------------------------------------------------- */

typedef struct gh_guild_has
{
    gh_op op;

    /* read-only, after GH_OK */
    uint32_t found; /* so many of them are members */

    /* private */
    gh_name guild;
    gh_guild_member* members;
    gh_fold fold;
    void* fold_context;
    uint8_t count;
    uint8_t asked; /* have their answer */
} gh_guild_has;

/* Begins to ask whether the players are members; after the end each has its status. It writes nothing. The array stays
   in place until the op ends.
   Besides: GH_INVALID_MEMBERS. */
GH_API gh_status gh_guild_has_begin(gh_guild_has* op, const gh_guild* guild, gh_guild_member* members, size_t count);

/* How it ends:
   GH_OK        each has its status
   GH_TIMEOUT, GH_CANCELLED, GH_REFUSED, GH_CORRUPT as above; those that were asked so far have theirs, the others are
   GH_PENDING. */

/* ---- size ------------------------------------------------------------------------------------------------------ */

typedef struct gh_guild_size
{
    gh_op op;

    /* read-only, after GH_OK */
    uint32_t size;

    /* private */
    gh_name guild;
} gh_guild_size;

/* Begins to count the members. */
GH_API gh_status gh_guild_size_begin(gh_guild_size* op, const gh_guild* guild);

/* How it ends:
   GH_OK (size may be 0), GH_TIMEOUT, GH_CANCELLED, GH_REFUSED, GH_CORRUPT as above. */

#ifdef __cplusplus
}
#endif

#endif
