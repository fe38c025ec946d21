/* social_parts.h -- what the files of social.h share: what is kept of each player, in parts, and of each
   chat; and how a player is answered. For server/social*.c alone.

   Each part has: enter (the player came), requests, frame (true: look again in the next one), leave (the player
   goes; what is under way goes on until frame says false). */

#ifndef GAME_SERVER_SOCIAL_PARTS_H
#define GAME_SERVER_SOCIAL_PARTS_H

#include "guildhall/guildhall.h"
#include "server/event_log.h"
#include "server/network.h"
#include "server/promotions.h"
#include "worker/jobs.h"

enum
{
    NAME_SIZE = MESSAGE_NAME_MAX,
    TALKS = ZONE_COUNT + GUILD_COUNT,
    CHAT_POSTS = GH_MESSAGES_MAX,  /* that a chat takes in one request */
    CHAT_POSTS_BYTES = 16 * 1024,  /* the same                         */
    CHAT_ROOM_BYTES = 16 * 1024,   /* what a chat brings in one round  */
    MAIL_BYTES = 8 * 1024,         /* what a mailbox brings at once    */
    MAIL_MESSAGES = 8,
    TOUCHES = 2 * MAIL_MESSAGES,   /* names on their way to a list of contacts */
    NAMES_MAX = 10                 /* that a key-stroke finds */
};

#define RETRY_US    1000000u /* after the store could not be asked */
#define ANSWER_US   5000000u /* for a request of a player          */
#define PATIENT_US 60000000u /* for what waits in a long row       */

/* ---- Chats --------------------------------------------------------------------------------------------- */

typedef enum own_chat
{
    CHAT_ZONE = 0,
    CHAT_GUILD,
    CHATS_EACH
} own_chat;

/* A chat of the world. What its players say meanwhile waits, and then goes out in one request. */
typedef struct talk
{
    gh_str name;
    char name_text[24];
    bool is_there; /* somebody of this server has joined it */
    bool asked;    /* else one at a time finds out          */
    uint32_t first_waiting; /* slot plus 1; 0: nobody */
    uint32_t last_waiting;
    uint32_t count; /* posts under way */
    uint32_t speakers[CHAT_POSTS];
    gh_chat_send send;
    gh_post posts[CHAT_POSTS];
} talk;

typedef enum membership_state
{
    MEMBER_NOT = 0,
    MEMBER_JOINING,
    MEMBER_CREATING, /* nobody was here before */
    MEMBER_PAUSING,  /* till again_us          */
    MEMBER_IN,
    MEMBER_LEAVING
} membership_state;

typedef struct membership
{
    talk* talk;
    membership_state state;
    uint64_t again_us;
    gh_chat_change change;
    uint64_t epoch;
    uint64_t told;  /* messages up to this went to the player    */
    uint64_t heard; /* the player says that it is done with them */
    uint64_t heard_epoch;
} membership;

typedef struct chat_part
{
    gh_chat_player reader;
    membership chats[CHATS_EACH];
    gh_chat_commit commit; /* when the player goes */
    gh_chat_member commit_member;

    /* what it says */
    bool speaking;
    own_chat where;
    uint32_t number;
    uint64_t give_up_us;
    uint32_t next_waiting;
    size_t words_size;
    char words[MESSAGE_TEXT_MAX];
} chat_part;

/* ---- The other parts ----------------------------------------------------------------------------------- */

typedef struct mail_part
{
    gh_mailbox_fetch fetch;
    bool fetching;
    uint64_t again_us;
    uint64_t epoch;
    uint64_t after; /* messages up to this went to the player */
    _Alignas(8) char bytes[MAIL_BYTES];

    gh_mailbox_commit commit;
    bool committing;
    uint64_t commit_id;
    uint64_t read; /* the player says that it is done with them */
    uint64_t committed;
} mail_part;

typedef struct whisper_part
{
    gh_mailbox_push push;
    gh_post post;
    uint32_t number; /* 0: none is under way */
    uint64_t touch; /* the contact's place in the row of touches */
    gh_str to;
    char to_bytes[NAME_SIZE];
    char words[MESSAGE_TEXT_MAX];
} whisper_part;

/* Names come in at `queued` and go out to the store, some at a time, up to `touched`. */
typedef struct contacts_part
{
    gh_contacts contacts;
    gh_contacts_load load;
    bool loaded;
    bool touching;
    uint64_t again_us;
    gh_contacts_change change;
    uint64_t queued;
    uint64_t touched;
    uint32_t batch_count;
    gh_str batch[TOUCHES];
    char names[TOUCHES][NAME_SIZE];
    size_t name_sizes[TOUCHES];
} contacts_part;

typedef struct guild_part
{
    gh_guild guild;
    talk* talk; /* the guild's chat has the guild's name */
    gh_guild_change change;
    gh_guild_member member;
    char id[12];
    bool joined;
    uint64_t again_us;

    gh_guild_search search;
    bool finding;
    uint32_t number;
    _Alignas(8) char found[GH_GUILD_BUFFER_SIZE(NAMES_MAX)];

    job_push mail;
    bool mailing;
    uint32_t mail_number;
} guild_part;

typedef struct look_part
{
    gh_row_get get;
    bool looking;
    uint32_t number;
    uint32_t promotion;
    char name[PROMOTION_NAME_SIZE];
    char row[MESSAGE_TEXT_MAX];
} look_part;

/* Bits of those parts of a player that are to be looked at in each frame. */
typedef enum social_part
{
    PART_CHAT = 1 << 0,
    PART_MAIL = 1 << 1,
    PART_WHISPER = 1 << 2,
    PART_CONTACTS = 1 << 3,
    PART_GUILD = 1 << 4,
    PART_LOOK = 1 << 5
} social_part;

typedef struct social_player
{
    bool here;           /* false: going, or gone                          */
    uint64_t in_frame;   /* in which all was ready for it; 0: not yet      */
    uint32_t slot;
    uint32_t player;
    gh_str name;
    char name_bytes[NAME_SIZE];
    chat_part chat;
    mail_part mail;
    whisper_part whisper;
    contacts_part contacts;
    guild_part guild;
    look_part look;
} social_player;

typedef enum social_tally
{
    TALLY_SAID = 0, /* on the board */
    TALLY_CHAT,
    TALLY_GAPS,
    TALLY_WHISPERS,
    TALLY_MAIL,
    TALLY_NAMES,
    TALLY_PROMOTIONS,
    TALLY_SORRY,
    TALLIES
} social_tally;

/* All of it; what it was opened with, first. */
typedef struct social
{
    gh_client* client;
    network* network;
    event_log* log;
    uint32_t players_max;
    void (*on_market_letter)(void* context, uint32_t slot, gh_str words);
    void* context;

    uint64_t now_us;
    uint64_t frames;
    uint8_t* active;        /* [players_max]; apart, so that those who do nothing cost nothing */
    social_player* players; /* [players_max] */
    unsigned char* mirrors; /* of everybody's contacts, mirror_size each */
    size_t mirror_size;
    talk* talks; /* the zones', then the guilds' */
    gh_chat_feed feed;
    void* counters_memory;
    gh_counters* counters;
    gh_counter hits, trades, logins, frame_count, frame_us;
    promotions* promotions;
    uint64_t* tallies[TALLIES];
    void* memory; /* all there is besides this struct */
} social;

static inline void social_wake(social* s, const social_player* p, social_part part)
{
    s->active[p->slot] |= (uint8_t)part;
}

/* Nothing is told before: who lets the player in does that in the frame in which it is in. */
static inline bool social_is_told(const social* s, const social_player* p)
{
    return p->here && p->in_frame != 0 && p->in_frame < s->frames;
}

static inline void social_tally_add(social* s, social_tally tally, uint64_t amount)
{
    if (s->tallies[tally] != NULL) *s->tallies[tally] += amount;
}

/* Answers. Whoever has gone meanwhile is told nothing. */
void social_tell(social* s, const social_player* p, const message* m);
void social_sorry(social* s, const social_player* p, uint32_t number, sorry_reason reason, const char* text);
void social_sorry_status(social* s, const social_player* p, uint32_t number, gh_status status);

/* The names as lines, as NAMES has them. */
void social_tell_names(social* s, const social_player* p, uint32_t number, const gh_str* names,
                       uint32_t count);

/* -1: no player has that name. */
int64_t social_player_of(gh_str name);

/* For one begin, which has ANSWER_US, or as long as is said. */
gh_mailbox mailbox_of(const social* s, gh_str player);
gh_chat chat_within(const social* s, const talk* t, uint64_t timeout_us);

#endif
