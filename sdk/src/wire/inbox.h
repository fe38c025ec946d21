/* inbox.h -- the bytes that come over one connection, and the replies in them.

       gh_inbox_room, into which bytes are received --> gh_inbox_received --> gh_inbox_next, until GH_READ_MORE --> ...

   Whole replies are read where they were received: by the short way (flat.h), or checked (scan.h) and then read by
   hiredis (reader.h); without hiredis, if nobody awaits arrays within arrays, which then come without what is in them.
   The beginning of one that is cut is moved to the front, where there is room for the rest of it; nothing else is ever
   copied.

   A reply lives until gh_inbox_next is called for any inbox of that reader, or gh_inbox_room or gh_inbox_wipe for this
   one.

   Bounds. Strings of one reply, each counted with one byte more, over text_max, or values over nodes_max make the inbox
   GH_READ_TOO_LARGE, as soon as they are announced; nesting deeper than seven levels and anything that is not RESP2
   GH_READ_BROKEN. The connection must then be closed and the inbox reset; or gh_inbox_cut takes that one reply all the
   same. */

#ifndef GH_INBOX_H
#define GH_INBOX_H

#include "wire/reader.h"
#include "wire/scan.h"

#define GH_INBOX_ROOM_MIN 2048u

typedef enum gh_read
{
    GH_READ_MORE = 0, /* no whole reply is there         */
    GH_READ_REPLY,    /* one reply                       */
    GH_READ_BROKEN,   /* not RESP2, or nested too deep   */
    GH_READ_TOO_LARGE /* over text_max or nodes_max      */
} gh_read;

typedef struct gh_inbox
{
    char* bytes; /* NULL: none was taken */
    uint32_t capacity;
    uint32_t start; /* of what was not handed out yet       */
    uint32_t end;
    uint32_t used;  /* how far bytes were ever written      */
    uint32_t skip;  /* bytes to come of a string that is too long, which are dropped */
    uint32_t text_max;
    uint32_t nodes_max;
    uint32_t reply_bytes_max;
    bool skips_long; /* such strings are dropped: else they are TOO_LARGE             */
    bool cuts;       /* so are those of the present reply                             */
    bool scanning;   /* scan knows the beginning of the reply at start                */
    gh_read failed;  /* BROKEN or TOO_LARGE                                           */
    gh_scan scan;
} gh_inbox;

/* Cuts its bytes from the arena. False when measuring, or when there is no room. */
bool gh_inbox_take(gh_inbox* inbox, gh_arena* arena, uint32_t text_max, uint32_t nodes_max);

/* From here on strings that are too long do not fail it: they are dropped as they come, and given as nil. */
void gh_inbox_skip_long(gh_inbox* inbox);

/* After TOO_LARGE: strings of that reply for which there is no room are given as nil, and it is read on. False: it is
   not the strings, it has too many values. */
bool gh_inbox_cut(gh_inbox* inbox);

/* Where the next bytes go, GH_INBOX_ROOM_MIN or more; after that, how many they were. Only after GH_READ_MORE. */
char* gh_inbox_room(gh_inbox* inbox, uint32_t* size);
void gh_inbox_received(gh_inbox* inbox, uint32_t size);

/* The reader has room for nodes_max values, or more. */
gh_read gh_inbox_next(gh_inbox* inbox, gh_reader* reader, const gh_reply** reply);

/* Nothing of a reply is there, nor awaited to be passed over: its bytes may be taken away, and others given. */
static inline bool gh_inbox_is_empty(const gh_inbox* inbox)
{
    return inbox->start == inbox->end && inbox->skip == 0 && !inbox->scanning && !inbox->cuts &&
           inbox->failed == GH_READ_MORE;
}

/* Forgets everything, for a new connection. */
void gh_inbox_reset(gh_inbox* inbox);

/* Makes zeros of what it holds of all that ever came. Reset it next. */
void gh_inbox_wipe(gh_inbox* inbox);

/* Bytes of the largest reply so far: strings, and 32 for each value. */
static inline uint32_t gh_inbox_reply_bytes_max(const gh_inbox* inbox)
{
    return inbox->reply_bytes_max;
}

#endif
