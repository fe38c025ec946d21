/* guildhall/contacts.h -- the players whom somebody was last in touch with, and their names completed per key-stroke.

       store                                       your memory
       gh:{contacts:jason}:l                       the mirror of a gh_contacts
       | mia | bob | Ann | ... the newest first    | mia | bob | Ann |      complete("a") -> Ann, without the network
            ^            ^                               ^
            '- touch ----'--- remove, block              '--- load, and every change on it that ended GH_OK

       touch, remove, block, unblock   begin --> row of this owner --> SENT --> ended
       load                            begin --> ASKING a page at a time --> ended      changed meanwhile: from the top

   Keys     one list of names (a sorted set of name and time if capacity is above 250, or if you want times), a mark per
            client that writes, a sorted set of who is blocked.
   Order    that of the store. Changes of one client to one owner are carried out in the order in which they were
            begun: each waits for the one before.
   Time     the store's clock stamps contacts; your clock counts timeout_us.
   Threads  as the client. A mirror may be read between ticks only.
   Memory   ops, the gh_contacts and its mirror's memory are yours. Without a mirror a gh_contacts is a value: nothing
            points to it once a begin has returned. With one, struct and memory stay in place while an op that was begun
            on it is busy. An array of contacts stays in place until the op ends, with its bytes; a single contact is
            copied, so that it may come from the mirror. In the store a list is at most `capacity` names long, each at
            most GH_NAME_SIZE_MAX bytes.
   Failure  a change whose answer is lost is asked for again with the same id and is carried out once: a touch that
            was repeated does not bring the contact to the front a second time. The marks that tell a repeat go 20
            minutes after the last change; there may be any number of clients. A mirror knows what you changed and what
            the last load saw; load it again to see what other servers did.

   Use
       gh_contacts_init(&recent, client, gh_str_literal("jason"), NULL, memory, gh_contacts_memory(NULL));
       gh_contacts_load_begin(&load, &recent, NULL);
       ...
       gh_contacts_touch_begin(&change, &recent, gh_str_literal("mia"));
       ... each key-stroke:
       gh_contact found[10];
       uint32_t count = gh_contacts_complete(&recent, gh_str_literal("mi"), found, 10); */

#ifndef GUILDHALL_CONTACTS_H
#define GUILDHALL_CONTACTS_H

#include "guildhall/client.h"
#include "guildhall/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_CONTACTS_CAPACITY_MAX 10000
#define GH_CONTACTS_LIST_MAX 250      /* with more names, or times, the store keeps a sorted set instead of a list. So
                                         small because a list that is there when somebody asks for more becomes a
                                         sorted set in one step                                                       */
#define GH_CONTACTS_TOUCH_MAX 64      /* contacts in one gh_contacts_touch_many_begin ...                             */
#define GH_CONTACTS_TOUCH_WORK 12800  /* ... and no more than this in all, counted as contacts times capacity, if a
                                         list is kept: the store looks through it for each                            */
#define GH_CONTACTS_BLOCKED_MAX 1000  /* whom one player can block                                                    */
#define GH_CONTACTS_IDLE_MAX_US UINT64_C(315360000000000) /* ten years */

/* ---- the contacts of an owner ---------------------------------------------------------------------------------- */

/* All who change an owner's list agree on capacity, times and idle_us. */
typedef struct gh_contacts_config
{
    size_t struct_size;  /* set by gh_contacts_config_default; leave it                                              */
    uint64_t timeout_us; /* of each op, from begin to the end, the wait for earlier changes included; 1 ms..60 s,
                            default 5 s                                                                              */
    uint32_t capacity;   /* the store keeps this many, the newest, and so does the mirror; of a larger list in the store
                            the rest goes with the next touches, 500 at a time. 1..GH_CONTACTS_CAPACITY_MAX,
                            default 100                                                                              */
    bool times;          /* keep when each was touched; default false. Costs about four times the memory             */
    uint64_t idle_us;    /* a list that nobody touched for so long is forgotten; 0 (default): leave its time to live,
                            of which a list that becomes a sorted set keeps nothing                                  */
    gh_fold fold;        /* what complete takes for alike; default gh_fold_ascii. NULL: only the same bytes          */
    void* fold_context;
} gh_contacts_config;

GH_API gh_contacts_config gh_contacts_config_default(void);

typedef struct gh_contact
{
    gh_str name;      /* as it is shown; in the mirror's memory, until the mirror changes: in a tick, or by init  */
    uint64_t time_us; /* of the last touch, on the store's clock since 1970; 0: not kept. Until the next load that of a
                         touch whose answer was lost is when it was asked for again                                  */
} gh_contact;

/* One owner's contacts: in the store, and in your memory, if it has a mirror. */
typedef struct gh_contacts
{
    /* yours */
    void* user;

    /* read-only */
    uint32_t count; /* contacts that the mirror holds; 0 without one */

    /* private */
    uint32_t changes;
    uint32_t link; /* over which the last of them was answered */
    gh_object object;
    gh_contacts_config config;
    void* memory; /* NULL: no mirror */
} gh_contacts;

/* Bytes that a mirror needs: about 160 a contact. NULL: the defaults. 0: the config is not valid. */
GH_API size_t gh_contacts_memory(const gh_contacts_config* config);

/* Says whose contacts, by which client, with which settings; config may be NULL for the defaults. Asks the store
   nothing; user stays. Memory, aligned to 8, makes a mirror, which is empty; NULL with a size of 0: there is none, load
   is GH_INVALID_CONTACTS_MIRROR, and complete finds nothing. It has no end, and outlives its client.
   With a mirror, and only then: it stays in place while an op on it is busy, is not made anew meanwhile, and is not
   copied, as copies would share the memory. What was not made well may be used: each begin on it ends as init did.
   GH_OK; GH_INVALID_OBJECT (contacts is NULL), _CLIENT, _NAME (owner), _CONFIG, _TIMEOUT, _CONTACTS_CAPACITY,
   _CONTACTS_IDLE, _MEMORY (see gh_contacts_memory). */
GH_API gh_status gh_contacts_init(gh_contacts* contacts, gh_client* client, gh_str owner,
                                  const gh_contacts_config* config, void* memory, size_t size);

/* Writes the newest contacts whose names begin so, the newest first, and returns how many: at most limit. Empty: all.
   Any bytes may be in prefix. Costs some 100 ns with 100 contacts, and asks nobody. 0 for what has no mirror. */
GH_API uint32_t gh_contacts_complete(const gh_contacts* contacts, gh_str prefix, gh_contact* found, uint32_t limit);

/* Every begin below answers, besides what stands with it: GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED; GH_INVALID_OP
   (NULL or busy), GH_INVALID_OBJECT (contacts is NULL or was not made by gh_contacts_init), GH_INVALID_CLIENT (it was
   shut down), or what gh_contacts_init answered. */

/* ---- changes --------------------------------------------------------------------------------------------------- */

/* What touches, removes, blocks or unblocks. */
typedef struct gh_contacts_change
{
    gh_op op;

    /* read-only, after GH_OK */
    uint32_t blocked; /* of a touch: so many contacts stayed out because they are blocked */

    /* private */
    gh_gate gate;
    gh_name owner;
    const gh_str* names; /* NULL: one */
    gh_contacts* mirror; /* NULL: none */
    uint32_t idle_s;
    uint16_t capacity;
    uint8_t count;
    char what;
    bool times;
    uint8_t one_size;
    char one[GH_NAME_SIZE_MAX];
} gh_contacts_change;

/* Begins to bring a contact to the front of the owner's list, new or not, in one step; what is beyond capacity goes
   from its end. Contacts that are blocked stay out, and go from the mirror if it has them yet. The mirror, if there is
   one, follows this and every change below once it ended GH_OK.
   Besides: GH_TOO_LARGE (the names would not fit out_bytes), GH_INVALID_CONTACTS. */
GH_API gh_status gh_contacts_touch_begin(gh_contacts_change* op, gh_contacts* contacts, gh_str contact);

/* As if they were touched one after another: the last is the newest. One request, one step; GH_CONTACTS_TOUCH_MAX says
   how many. The array stays in place until the op ends. Statuses as above. */
GH_API gh_status gh_contacts_touch_many_begin(gh_contacts_change* op, gh_contacts* contacts, const gh_str* names,
                                              size_t count);

/* Begins to take a contact out; it stays out until the next touch. GH_OK too if it was not there. Statuses as above;
   capacity, times and idle_us do not matter. */
GH_API gh_status gh_contacts_remove_begin(gh_contacts_change* op, gh_contacts* contacts, gh_str contact);

/* The same, and no touch brings it back until it is unblocked; and that. Statuses as above. */
GH_API gh_status gh_contacts_block_begin(gh_contacts_change* op, gh_contacts* contacts, gh_str contact);
GH_API gh_status gh_contacts_unblock_begin(gh_contacts_change* op, gh_contacts* contacts, gh_str contact);

/* How it ends:
   GH_OK        carried out, once
   GH_FULL      not blocked: GH_CONTACTS_BLOCKED_MAX are
   GH_TIMEOUT   not carried out: no link, or earlier changes to this owner took all the time
   GH_UNKNOWN   sent, no answer: carried out once or not at all; or in part, if the server stopped it half-way because
                a right was taken away. Load the mirror, and do it again if it matters: that mends it
   GH_CANCELLED cancelled before it was sent
   GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* ---- load ------------------------------------------------------------------------------------------------------ */

typedef struct gh_contacts_load_config
{
    size_t struct_size; /* set by gh_contacts_load_config_default; leave it */
    bool blocked;       /* load whom the owner has blocked, not the contacts; default false. Into a gh_contacts of its
                           own, with room for GH_CONTACTS_BLOCKED_MAX: changes on it would be followed as contacts */
} gh_contacts_load_config;

GH_API gh_contacts_load_config gh_contacts_load_config_default(void);

typedef struct gh_contacts_load
{
    gh_op op;

    /* read-only, after GH_OK */
    uint32_t stored; /* contacts in the store: more than the mirror's count if there are more than its capacity */

    /* private */
    gh_name owner;
    gh_contacts* mirror;
    uint64_t version;
    uint32_t loaded;
    uint32_t changes;
    bool blocked;
} gh_contacts_load;

/* Begins to fill the mirror with the owner's newest contacts, as they are at one instant; what it held stays until the
   first answer. Reads only. One load at a time fills a mirror. config may be NULL for the defaults.
   Besides: GH_INVALID_CONTACTS_MIRROR (there is none), _CONFIG. */
GH_API gh_status gh_contacts_load_begin(gh_contacts_load* op, gh_contacts* contacts,
                                        const gh_contacts_load_config* config);

/* How it ends:
   GH_OK        the mirror is what the store has; it may be empty
   GH_TIMEOUT, GH_CANCELLED, GH_REFUSED, GH_CORRUPT   the mirror is as before, or holds some of the newest */

#ifdef __cplusplus
}
#endif

#endif
