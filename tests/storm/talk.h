/* talk.h -- what the records of mailboxes and chats mean: the same for both, so that one file checks them. */

#ifndef GUILDHALL_TESTS_STORM_TALK_H
#define GUILDHALL_TESTS_STORM_TALK_H

#include "guildhall/message.h"
#include "storm/storm.h"

enum
{
    TALK_NAMES = 3,
    TALK_POSTS = 3,
    TALK_BODY_SIZE = 96,
    TALK_KEEP = 400, /* messages that a chat keeps */
    TALK_FROM_START = 2 /* so many members may join from the start, and so be set back */
};

enum
{
    TALK_PUSH = 1, /* a: posts, b: epoch, c: id of the first, d: bits of the posts that were taken */
    TALK_FETCH,    /* a: after, b: epoch, c: last id; d: how many came                             */
    TALK_COMMIT,   /* a: epoch, b: id; of a chat: what a member has seen, c: 1 for the anchor       */
    TALK_GOT,      /* about: the push; a: epoch, b: id, c: which post of it, d: the fetch          */
    TALK_LEFT,     /* the same, in the end                                                         */
    TALK_JOIN,
    TALK_LEAVE,
    TALK_LAST, /* in the end; a: epoch, b: last id */
    TALK_SEEN, /* a member's mark, as a fetch told it: a: epoch, b: id, c: which member; about: the fetch */
    TALK_CREATE,
    TALK_FEED,   /* from the first feed of a client's life to the end of its last; a: feeds begun, d: 1 if the last one
                    was ended when nothing had come for long, and nothing was sent any more                        */
    TALK_HEARD,  /* by a player of a feed; about: the push; a: epoch, b: id, c: which post of it, d: talk_listener */
    TALK_ENTER,  /* a player of a feed joins; about: the feed; a: epoch, b: what it has seen, d: talk_listener    */
    TALK_DEPART  /* and leaves; about: the feed; d: talk_listener                                                 */
};

/* A player of a feed: one of two, in the first, second, ... feed of its client's life. */
static inline uint64_t talk_listener(uint64_t player, uint64_t feed)
{
    return player << 32 | feed;
}

static inline uint64_t talk_listener_player(uint64_t listener)
{
    return listener >> 32;
}

extern const gh_str talk_mailboxes[TALK_NAMES];
extern const gh_str talk_chats[TALK_NAMES];

/* The slot that a Cluster has one of them in, and its bit among all of them. */
unsigned talk_slot(uint8_t system, uint8_t name);
uint64_t talk_bit(uint8_t system, uint8_t name);

/* A body that leads back to its push: its op, and which post of it. */
gh_str talk_body(random_stream* random, char room[TALK_BODY_SIZE], uint32_t op, uint32_t post);

/* Now and then a post is large instead, for most readers too large: then its sender leads back to its push. */
void talk_enlarge(random_stream* random, gh_post* post);

/* Writes down what a fetch brought: its body, or what talk_lead says. */
void talk_note(storm_who who, storm_event event, gh_str body);
gh_str talk_lead(const gh_message* message);

void check_mailbox(void);
void check_chat(void);
void check_feed(void);

#endif
