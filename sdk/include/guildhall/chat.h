/* guildhall/chat.h -- group chats: one order of messages per chat, and for each member how far it has come.

       the chat "raid 7"                       seen
       | 5 | 6 | 7 | 8 | 9 |      jason 9 | jeff 6 | jenny 4
        \                                          the least seen: everything up to 4 is gone
         fetch of jeff: 7, 8, 9 -- handled 9 --> jeff 9     5 to 9 go when jenny has come that far

       change   begin --> NOTING --> QUEUED --> CHANGING --> NOTING --> ended    (create, join, leave)
       send     begin --> QUEUED --> SENT --> ended
       fetch    begin --> ASKING <-> RANGING --> ended   wait_us > 0: ASKING <-- hint or timer --> WAITING

   Keys     of a chat: its state, a list of messages, a set of members with what they have seen, a mark per
            client that changes it, tokens of waiting readers. Of a player: the list of its chats. It is a
            hint that shortens looking, written before a join and again after it, taken away after a leave;
            the chat alone says who is a member. So every request stays in one slot of a Cluster, and no crash
            between two requests loses a member or a chat.
   Order    ids are 1, 2, 3, ... in one order for all members, without a gap. A client's changes and sends to
            one chat are carried out in the order in which they were begun: each waits for the one before.
   Seen     grows only. Fetch and commit are two steps: what was fetched by a server that died is fetched
            again.
            At least once: keep the epoch and the id of the message with what you did; do what gh_message_is_after
            those, skip the rest.
   Bounds   what all members have seen goes. A member that stays away cannot hold memory for ever: only the
            newest `keep` messages stay, and who has not seen the others is told how many it missed; or, if the chat was
            made so (refuse_when_full), who speaks is told that it is full. The chat goes with its last member.
   Large    a body has up to 64 KiB, where out_bytes lets it out. Readers for whom one is too large, for their buffer or
            their reply_bytes, are told of it without the body (GH_TOO_LARGE in the message), and go on with what comes
            behind; message.h has the sizes. A chat costs the store up to `keep` times the largest body: 64 MiB with the
            default of 1000, 6.5 GB with GH_CHAT_KEEP_MAX; so where bodies may be large, keep few.
   Epoch    a chat that is made anew under the same name begins with id 1 and a larger epoch; what was handled
            in the old one says nothing about the new one. A store that was started anew, or promoted, may have
            forgotten its newest messages: the first send after that begins a larger epoch too, in which ids go on
            behind those that are there. What was stored before keeps its own epoch, until 32 later ones have ended:
            what is older is told with the oldest of these. (epoch, id) never has two bodies, and nobody misses what
            has the id of something forgotten that it had handled. Two cases are left where ids are given again under
            the same epoch: the user may not call INFO, so that restarts are not noticed; and a copy of a send, which a
            link to a replica held back, is carried out there after the replica was promoted and before any client has
            connected to it, both within request_timeout_us.
   Leaving  who has left is shown nothing that is said afterwards: `from` of a member that is none lets nothing through.
   Time     the store's clock stamps messages and epochs; your clock counts timeouts and waits.
   Threads  as the client.
   Memory   ops, posts and members are yours and stay in place until the op ends, with their bytes and the names in
            them. A chat is a value: an op that has begun on it needs it no more. Fetched messages lie in the buffer
            that you gave, until the next begin.
   Failure  a change or send whose answer is lost is asked for again with the same id and is carried out once.
            Reads go on when the link is back.

   Use
       gh_str members[] = {gh_str_literal("jason"), gh_str_literal("jeff")};
       gh_post hello = {.sender = members[0], .body = gh_str_literal("ready?")};
       gh_chat_init(&raid, client, gh_str_literal("raid 7"), NULL);
       gh_chat_create_begin(&change, &raid, members, 2, &hello);
       gh_chat_send_begin(&send, &raid, posts, post_count);

       gh_chat_feed_begin(&feed, client, &config);     all chats of all players here, each read once
       gh_chat_feed_add(&feed, &player, gh_str_literal("jason"));
       ... each frame: gh_tick(...);
       while (gh_chat_feed_line(&feed, &line)) show(line.player, line.room, line.message); */

#ifndef GUILDHALL_CHAT_H
#define GUILDHALL_CHAT_H

#include "guildhall/client.h"
#include "guildhall/message.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_CHAT_KEEP_MAX 100000     /* messages that a chat may keep                               */
#define GH_CHAT_MEMBERS_MAX 10000   /* members of a chat                                           */
#define GH_CHAT_CREATE_MAX 64       /* members that it may be created with; more join              */
#define GH_CHAT_COMMIT_MAX 32       /* members in one gh_chat_commit                               */
#define GH_CHAT_FETCH_MAX 10000     /* messages in one fetch                                       */
#define GH_CHAT_LIST_MAX 1000       /* chats of one player                                         */

/* ---- a chat -------------------------------------------------------------------------------------------- */

typedef struct gh_chat_config
{
    size_t struct_size;    /* set by gh_chat_config_default; leave it                                      */
    uint64_t timeout_us;   /* of each op, from begin to the end, waiting for earlier changes included; of a fetch, the
                              longest time without an answer; 1 ms..60 s, default 5 s. A create takes a round trip
                              per member, and reading all the members some fifty to a round trip           */

    /* What a create gives to the store, for all and for good. Nothing else looks at these three, so a server that does
       not create the chat need not say them, and what it says of a chat that is there already changes nothing. */
    uint32_t keep;         /* messages kept at most; 1..GH_CHAT_KEEP_MAX, default 1000. Each may take as much as a body
                              has: see Large                                                               */
    uint32_t members_max;  /* members at most; 1..GH_CHAT_MEMBERS_MAX, default 1000                        */
    bool refuse_when_full; /* a send after which somebody had more than `keep` messages to handle ends GH_FULL;
                              default: the oldest go. One who stays away then silences the chat            */
} gh_chat_config;

GH_API gh_chat_config gh_chat_config_default(void);

/* A chat as this server uses it: a value, which may be copied, and has no end. */
typedef struct gh_chat
{
    /* private */
    gh_object object;
    gh_chat_config config;
} gh_chat;

/* Says which chat, by which client, with which settings; config may be NULL for the defaults. Asks the store nothing,
   and makes none there: gh_chat_create_begin does. A chat that was not made well may be used: each begin on it ends as
   init did.
   GH_OK; GH_INVALID_OBJECT (chat is NULL), _CLIENT, _NAME, _CONFIG (not made by its default function), _TIMEOUT, _LIMIT
   (keep, members_max). */
GH_API gh_status gh_chat_init(gh_chat* chat, gh_client* client, gh_str name, const gh_chat_config* config);

/* Every begin on a chat answers, besides what stands with it: GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED;
   GH_INVALID_OP (NULL or busy), GH_INVALID_OBJECT (chat is NULL or was not made by gh_chat_init), GH_INVALID_CLIENT (it
   was shut down), or what gh_chat_init answered. */

/* ---- create, join, leave ------------------------------------------------------------------------------- */

typedef struct gh_chat_change
{
    gh_op op;

    /* read-only */
    uint64_t epoch;   /* after GH_OK of a create or join, and after GH_EXISTS                       */
    uint64_t seen;    /* after GH_OK of a join: messages with a larger id are new to the player     */
    uint32_t members; /* after GH_OK of a leave: how many remain; 0: the chat is gone               */

    /* private */
    uint32_t kind;
    gh_gate gate;
    gh_name chat;
    gh_name player;         /* of join and leave        */
    const gh_str* names;   /* of create                */
    const gh_post* first;
    uint64_t left_us;
    uint64_t asked_us;
    uint32_t count;
    uint32_t noted;
    uint32_t keep;
    uint32_t members_max;
    int16_t outcome;
    bool from_start;
    bool refuses;
} gh_chat_change;

/* Makes a chat with these members, to whom the first message is new; first may be NULL for none. Who sends it
   is one of the members, or empty. The list of members is only read. A name that no other chat has or had comes
   from gh_client_unique.
   Besides: GH_TOO_LARGE (the request would not fit out_bytes), GH_INVALID_MEMBERS (NULL, 0, more than
   GH_CHAT_CREATE_MAX, one twice, a name that is not valid, a sender who is none), _MESSAGES, _LIMIT (members_max is
   less than count). */
GH_API gh_status gh_chat_create_begin(gh_chat_change* op, const gh_chat* chat, const gh_str* members, size_t count,
                                      const gh_post* first);

/* What is new to one who joins. To one who is a member already nothing changes. */
typedef enum gh_chat_from
{
    GH_CHAT_FROM_NOW = 0, /* only what comes          */
    GH_CHAT_FROM_START    /* all that is still kept   */
} gh_chat_from;

/* The player becomes a member.
   Besides: GH_INVALID_MEMBERS (the player's name), GH_INVALID_FROM (from is none of its enum's values). */
GH_API gh_status gh_chat_join_begin(gh_chat_change* op, const gh_chat* chat, gh_str player, gh_chat_from from);

/* The player is a member no more.
   Besides: GH_INVALID_MEMBERS (the player's name). */
GH_API gh_status gh_chat_leave_begin(gh_chat_change* op, const gh_chat* chat, gh_str player);

/* How it ends:
   GH_OK         created; joined, or was a member already; left
   GH_EXISTS     create: there is a chat of that name; its epoch is in the op
   GH_GONE       join, leave: there is no such chat
   GH_NOT_MEMBER leave: was none
   GH_FULL       not done: members_max; or GH_CHAT_LIST_MAX chats in the player's list
   GH_TIMEOUT    not done
   GH_UNKNOWN    sent, no answer: done once or not at all. Or sent twice, because a link died, and then refused (no such
                 chat, full, exists): the first copy may still come
   GH_CANCELLED  cancelled before the chat was asked
   GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* ---- send ---------------------------------------------------------------------------------------------- */

typedef struct gh_chat_send
{
    gh_op op;

    /* read-only, after GH_OK */
    uint64_t epoch;

    /* private */
    gh_gate gate;
    gh_name chat;
    gh_post* posts;
    uint32_t count;
} gh_chat_send;

/* Sends up to GH_MESSAGES_MAX posts of any members to one chat, in this order: what a frame has to say, in
   one request. After GH_OK and GH_NOT_MEMBER each post has its own id and status; after any other end its status stays
   GH_PENDING, or is GH_UNKNOWN after GH_UNKNOWN. A post without sender is the server's.
   Besides: GH_TOO_LARGE (the request would not fit out_bytes), GH_INVALID_MESSAGES. */
GH_API gh_status gh_chat_send_begin(gh_chat_send* op, const gh_chat* chat, gh_post* posts, size_t count);

/* How it ends:
   GH_OK         at least one post was taken; the others are GH_NOT_MEMBER in their status
   GH_NOT_MEMBER none was: no sender is a member
   GH_FULL       none was: the chat refuses what is more than it keeps
   GH_GONE       there is no such chat
   GH_TIMEOUT    not sent
   GH_UNKNOWN    sent, no answer: stored once or not at all. Or sent twice, because a link died, and then refused, or
                 told that there is no such chat or no such member: the first copy may still come, or may have been read
                 before the store lost it
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* ---- fetch: one chat, for all its members on this server ----------------------------------------------- */

/* One player in one chat. Zero it, set the name. It remembers where the player is, from fetch to fetch. */
typedef struct gh_chat_member
{
    /* yours */
    gh_str name;
    void* user;
    uint64_t handled; /* the player is done with everything up to this id: goes out with the next request of a
                         fetch. Back to 0 when the chat was made anew; back to the last message that is there when the
                         store has forgotten the newest */
    uint64_t handled_epoch; /* of that message; 0: that of the fetch, for those who raise `handled` before its next
                         begin. Set it when you are done with messages later than that */

    /* read-only */
    uint64_t seen;    /* what the store says that it has handled */
    uint64_t from;    /* of the messages of this fetch, those with a larger id are new to it: a fetch is for all
                         members together, so show one only where messages[i].id > from. The largest number there
                         is for who is no member (any more): nothing is larger */
    uint64_t missed;  /* 0, or so many messages between `seen` and the first of this fetch that are gone,
                         unseen */
    uint64_t unread;  /* in the store, these included */
    gh_status status; /* GH_OK; GH_NOT_MEMBER; GH_GONE; GH_IDLE before the first answer */

    /* private */
    bool known; /* where it is            */
    bool fresh; /* asked about in this go */
    bool asked; /* in this request        */
    bool told;  /* what it has missed     */
    uint64_t given;
    uint64_t sending_epoch;
    uint64_t sending;
    struct gh_chat_member* next;
} gh_chat_member;

typedef struct gh_chat_fetch_config
{
    size_t struct_size;    /* set by gh_chat_fetch_config_default; leave it */
    uint64_t wait_us;      /* if nothing is new, wait this long for something; 0 (default)..1 h. A send ends
                              the wait by a hint; if that is lost, it takes up to 2 s more */
    uint32_t messages_max; /* 0: none, only the figures; up to GH_CHAT_FETCH_MAX, default 64 */
    void* buffer;          /* messages come here: sizeof(gh_message) + sender + body each; aligned to 8. One that
                              would fit it empty waits for the next fetch; one that never will, or no reply of the
                              client, comes without its body, see gh_message.status */
    size_t buffer_size;
} gh_chat_fetch_config;

GH_API gh_chat_fetch_config gh_chat_fetch_config_default(void);

typedef struct gh_chat_fetch
{
    gh_op op;

    /* read-only, after GH_OK, GH_EMPTY and GH_TOO_SMALL */
    const gh_message* messages; /* the oldest first, ids without a gap */
    uint32_t count;
    uint32_t buffer_needed;     /* after GH_TOO_SMALL: what the next message needs to come whole */
    uint64_t epoch;             /* the present one; messages may be of earlier ones */
    uint64_t last_id;           /* of the newest message */
    bool renewed;               /* the chat was made anew since the fetch before */

    /* private */
    bool more_pages;
    bool wants_messages;
    bool from_least;
    bool mixed;  /* there are messages of several epochs                        */
    bool untold; /* it failed, so what it found out is for the next one to tell */
    uint16_t polls;
    gh_name chat;
    gh_chat_member* members;
    gh_chat_member* page;
    uint64_t first_id;
    uint64_t after;
    uint64_t horizon;
    uint64_t asked_us;
    uint64_t wait_end_us;
    uint32_t timeout_us;
    uint32_t buffer_size;
    uint32_t buffer_tail;
    uint32_t messages_max;
    uint32_t largest;
    uint32_t page_count;
    uint32_t link; /* over which the figures came */
} gh_chat_fetch;

/* Begins to note what the members have handled, and to read what is new to at least one of them. The messages
   come once, however many members there are. An op that was used before goes on where it was; zero it and the
   members for another chat. members is an array of count (1..GH_CHAT_MEMBERS_MAX); a large one takes several
   requests.
   Besides: GH_INVALID_MEMBERS, _ID (handled is 2^53 or more), _EPOCH (handled_epoch is), _CONFIG, _WAIT, _LIMIT
   (messages_max), _BUFFER. config may not be NULL: it has the buffer. */
GH_API gh_status gh_chat_fetch_begin(gh_chat_fetch* op, const gh_chat* chat, gh_chat_member* members, size_t count,
                                     const gh_chat_fetch_config* config);

/* How it ends:
   GH_OK         count messages are there (none, with messages_max 0, if something is new); fetch again for
                 more
   GH_EMPTY      nothing new within wait_us; what was handled has been noted
   GH_TOO_SMALL  the buffer holds no message at all: sizeof(gh_message) is the least
   GH_NOT_MEMBER none of the members is one
   GH_GONE       there is no such chat
   GH_TIMEOUT    no answer; what was handled may have been noted or not, the next fetch notes it again
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* Notes what members have handled, alone. Of each member: name and handled are read, seen and status are
   set. */
typedef struct gh_chat_commit
{
    gh_op op;

    /* private */
    gh_name chat;
    gh_chat_member* members;
    uint64_t epoch;
    uint32_t count;
} gh_chat_commit;

/* epoch is that of the messages, or that of the fetch. A smaller id than before changes nothing.
   Besides: GH_INVALID_MEMBERS (NULL, 0, more than GH_CHAT_COMMIT_MAX, a name that is not valid), _EPOCH, _ID (handled
   is 0 or 2^53 or more). */
GH_API gh_status gh_chat_commit_begin(gh_chat_commit* op, const gh_chat* chat, uint64_t epoch, gh_chat_member* members,
                                      size_t count);

/* How it ends:
   GH_OK         noted; a member whose status is GH_NOT_MEMBER is none
   GH_RESTARTED  a message that was named is not there, and was not handled: the chat was made anew since that fetch, or
                 the store has forgotten its newest messages; noted is what came before it. Fetch again
   GH_GONE       there is no such chat
   GH_TIMEOUT    not noted
   GH_UNKNOWN    noted or not; do it again whenever you like
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* ---- list: the chats of a player, with unread counts --------------------------------------------------- */

typedef struct gh_chat_list_config
{
    size_t struct_size;  /* set by gh_chat_list_config_default; leave it */
    uint64_t timeout_us; /* for all chats together; 1 ms..60 s, default 5 s */
} gh_chat_list_config;

GH_API gh_chat_list_config gh_chat_list_config_default(void);

typedef struct gh_chat_item
{
    char name_bytes[GH_NAME_SIZE_MAX];
    gh_str name;      /* in name_bytes           */
    uint64_t unread;
    uint64_t seen;
    uint64_t last_id;
    uint64_t epoch;
} gh_chat_item;

typedef struct gh_chat_list
{
    gh_op op;

    /* read-only, after GH_OK and GH_TOO_SMALL */
    uint32_t count;  /* items that are filled                                                           */
    uint32_t needed; /* after GH_TOO_SMALL: how many chats the player has                               */

    /* private */
    gh_name player;
    gh_chat_item* items;
    uint32_t capacity;
    uint32_t looked_at;
    uint32_t place; /* of the next name, in the player's list */
    uint32_t names_read;
} gh_chat_list;

/* Begins to list: a round trip for the names, and one a chat. items is an array of capacity, yours. Stale
   entries of the player's list are not shown, and taken away. A list of more than 48 is read in pieces: a chat that the
   player leaves or joins (anew) between two of them may stand on it twice, and keep another off it. config may be NULL
   for the defaults. It is of a player, so it begins on a client, not on a chat.
   GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED; GH_INVALID_OP (NULL or busy), _CLIENT, _NAME (the player's), _CONFIG
   (not made by its default function), _TIMEOUT, _BUFFER (items NULL or capacity 0). */
GH_API gh_status gh_chat_list_begin(gh_chat_list* op, gh_client* client, gh_str player, gh_chat_item* items,
                                    size_t capacity, const gh_chat_list_config* config);

/* How it ends:
   GH_OK         count items, at least one
   GH_EMPTY      the player is in no chat
   GH_TOO_SMALL  capacity items are filled, and there are more
   GH_TIMEOUT    not all chats answered in time
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* ---- members: who is in a chat ------------------------------------------------------------------------- */

typedef struct gh_chat_member_item
{
    char name_bytes[GH_NAME_SIZE_MAX];
    gh_str name;   /* in name_bytes                     */
    uint64_t seen; /* the last message that it has handled */

    /* private */
    uint32_t first;
    uint32_t next;
} gh_chat_member_item;

typedef struct gh_chat_members
{
    gh_op op;

    /* read-only, after GH_OK and GH_TOO_SMALL */
    uint32_t count;  /* items that are filled                                                           */
    uint32_t needed; /* after GH_TOO_SMALL: how many members the chat has, at least                     */
    uint64_t epoch;

    /* private */
    gh_name chat;
    gh_name cursor;
    gh_name after;
    gh_chat_member_item* items;
    uint64_t seed;
    uint32_t capacity;
    uint32_t link;
} gh_chat_members;

/* Begins to list who is in the chat, each once, in no order; it changes nothing. Some fifty members come in a round
   trip; who joins or leaves meanwhile may be among them or not. items is an array of capacity, yours.
   Besides: GH_INVALID_BUFFER (items NULL or capacity 0). */
GH_API gh_status gh_chat_members_begin(gh_chat_members* op, const gh_chat* chat, gh_chat_member_item* items,
                                       size_t capacity);

/* How it ends:
   GH_OK         count items, at least one
   GH_TOO_SMALL  capacity items are filled, and there are more
   GH_GONE       there is no such chat
   GH_TIMEOUT    not all have come in time
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* ---- feed: all chats of all players of this server --------------------------------------------------------

   Keeps the lists of the players' chats, reads each chat once for all of them, and waits for hints, so that a
   quiet chat costs a request every second or two, and a busy one a request per round.

       add player --> its list is read, and again every list_us or on a hint --> seats in rooms
       room: reading --> line after line: 7 to jeff, 7 to jenny, 8 to jenny, ... --> reading
                                          '-- handled as soon as you ask for the next --'

   Once     a line is a message for one player to whom it is new: in the order of the chat, nothing twice, and nothing
            from before the player joined. Lines that were not handled when the feed ends come again, to whoever has
            the player next.
   Fair     each room has its own part of the buffer and its own messages_max: a noisy chat fills its own
            part, and waits until you are done with it. Rooms come in turn.
   Budget   messages_max and the room's part of the buffer bound what one chat brings in a round; how many
            lines you take in a frame is up to you: the next frame goes on where you stopped.
   Later    who is done with messages only later (when a player's own machine has said so) takes whole rooms, with
            gh_chat_feed_next and gh_chat_feed_done, and raises `handled` of each seat. */
struct gh_chat_feed;
struct gh_chat_seat;

/* A player of this server. Zero it; it stays in place until gh_chat_feed_remove. */
typedef struct gh_chat_player
{
    gh_op op;

    /* read-only */
    gh_str name; /* set by gh_chat_feed_add */
    uint32_t chats;   /* seats that it has */
    gh_status status; /* GH_PENDING: its list is being read for the first time; GH_OK; GH_FULL: there was no
                         free seat or room for one of its chats; else why its list could not be read: it is
                         tried again */

    /* private */
    struct gh_chat_feed* feed;
    struct gh_chat_player* next;
    struct gh_chat_seat* seats;
    struct gh_chat_seat* mending;
    gh_name kept_name;
    uint32_t place;
    uint16_t tries;
} gh_chat_player;

/* A player in a chat. */
typedef struct gh_chat_seat
{
    gh_chat_member member; /* read-only, but for handled and user; first */
    gh_chat_player* player;

    /* private */
    struct gh_chat_room* room;
    struct gh_chat_seat* next; /* of the player; of the free ones */
    uint32_t state;
} gh_chat_seat;

/* A chat that players of this server are in. */
typedef struct gh_chat_room
{
    /* yours */
    void* user; /* NULL when the room is taken for another chat */

    /* read-only */
    gh_str name;
    gh_chat_fetch fetch; /* messages, count, epoch, last_id, renewed */

    /* private */
    char name_bytes[GH_NAME_SIZE_MAX];
    gh_chat_member* joining;
    struct gh_chat_room* next; /* in the chain of its name; of the free ones */
    struct gh_chat_room* chain; /* the first of the chain that begins here    */
    uint64_t retry_us;
    uint32_t seats;
    bool held;
    bool changed;
} gh_chat_room;

/* A message for one player. */
typedef struct gh_chat_line
{
    gh_chat_player* player;
    gh_chat_room* room;
    const gh_message* message; /* in the feed's buffer, until you ask for the next line, or end the feed. One that is
                                  larger than a room's part of that comes without its body, as GH_TOO_LARGE, and is
                                  handled as any other */
    uint64_t missed;           /* so many messages before this one are gone, and the player has not seen them */
} gh_chat_line;

typedef struct gh_chat_feed_config
{
    size_t struct_size;    /* set by gh_chat_feed_config_default; leave it */
    gh_chat_room* rooms;   /* memory for the chats; needs no set-up */
    uint32_t room_count;   /* 1..65536; each busy one counts for ops_capacity */
    gh_chat_seat* seats;   /* memory for the players in them; needs no set-up */
    uint32_t seat_count;   /* 1..1048576 */
    void* buffer;          /* divided evenly: each room has buffer_size / room_count bytes; aligned to 8 */
    size_t buffer_size;    /* at least room_count * GH_CHAT_ROOM_SIZE_MIN */
    uint32_t messages_max; /* of one room in one round; 1..GH_CHAT_FETCH_MAX, default 64 */
    uint64_t list_us;      /* the players' lists are read again this often; 1 s..1 h, default 10 s */
} gh_chat_feed_config;

#define GH_CHAT_ROOM_SIZE_MIN 4224 /* a body of 4 KiB, with the longest sender; for the largest, 65664 */

GH_API gh_chat_feed_config gh_chat_feed_config_default(void);

typedef struct gh_chat_feed
{
    gh_op op;

    /* read-only */
    uint32_t rooms_used;
    uint32_t seats_used;

    /* private */
    gh_chat_feed_config config;
    gh_chat_room* free_rooms;
    gh_chat_seat* free_seats;
    gh_chat_player* players;
    gh_chat_room* line_room;   /* whose lines are being given, or NULL                    */
    gh_chat_seat* line_seat;   /* that was given the last one                             */
    gh_chat_member* line_next; /* who is looked at next, of the chain of the room         */
    uint64_t line_id;
    uint64_t seed;
    uint32_t line_place; /* of the message, in the room */
    uint32_t cursor;
    uint32_t slice;
} gh_chat_feed;

/* Sets the feed up; zero it before its first use. It counts for ops_capacity until it is ended. GH_OK; GH_NO_ROOM
   (ops_capacity); GH_CLOSED; GH_INVALID_OP (NULL, or begun and not given up by gh_chat_feed_end), _CLIENT, _CONFIG,
   _LIMIT (room_count, seat_count, messages_max), _TIMEOUT (list_us), _BUFFER (rooms, seats or buffer NULL, not aligned
   or too small). */
GH_API gh_status gh_chat_feed_begin(gh_chat_feed* feed, gh_client* client, const gh_chat_feed_config* config);

/* The player's chats belong to the feed from now on. GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED (also when
   the client is shut down: end the feed); GH_INVALID_OP (the feed is not begun, the player NULL or in a feed),
   _NAME. */
GH_API gh_status gh_chat_feed_add(gh_chat_feed* feed, gh_chat_player* player, gh_str name);

/* The player's seats are given up; what it has handled and was not noted yet will be fetched again by whoever
   has it next. Nothing happens to one that is in no feed. */
GH_API void gh_chat_feed_remove(gh_chat_feed* feed, gh_chat_player* player);

/* Reads the player's list now. Not needed after a join if the wake link works: then a hint does it. */
GH_API void gh_chat_feed_refresh(gh_chat_feed* feed, gh_chat_player* player);

/* The next line; false: there is none now. Call it in each frame, until false or until your own budget is used up. The
   line before is handled by this call, which says so to the store with the next request for that chat. */
GH_API bool gh_chat_feed_line(gh_chat_feed* feed, gh_chat_line* line);

/* The next room that has messages, whole, or NULL: for those who handle them later. Call it in each frame, until NULL
   or until your own budget is used up: it also lets rooms go on that had nothing. What it returns is yours until
   gh_chat_feed_done. */
GH_API gh_chat_room* gh_chat_feed_next(gh_chat_feed* feed);

/* The players in a room: seats one after the other, from NULL to NULL. */
GH_API gh_chat_seat* gh_chat_room_seat(const gh_chat_room* room, const gh_chat_seat* before);

/* You are done with the room's messages; its buffer is used again. handled true: all its players are done
   with all of them; false: you raise member.handled of its seats yourself, now or later. */
GH_API void gh_chat_feed_done(gh_chat_feed* feed, gh_chat_room* room, bool handled);

/* Gives everything up, at once; also after gh_client_drain and gh_client_shutdown. */
GH_API void gh_chat_feed_end(gh_chat_feed* feed);

#ifdef __cplusplus
}
#endif

#endif
