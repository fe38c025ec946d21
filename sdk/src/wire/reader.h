/* reader.h -- bytes in, replies out: hiredis' RESP reader with our own objects, in fixed memory.

       feed (at most GH_READER_FEED_MAX) --> next, next, ... until GH_READ_MORE --> feed ...

   A reply lives until the next call of next or reset: its values in a fixed array, its strings copied behind each other
   (hiredis moves its buffer, so a pointer into it would silently point at the bytes of a later reply).

   Bounds. A string that is announced longer than reply_bytes, an array longer than reply_nodes, strings or values that
   use up either make the reader GH_READ_TOO_LARGE; nesting deeper than hiredis' seven levels and anything that is not
   RESP2 GH_READ_BROKEN. The connection must then be closed and the reader reset.

   Heap. hiredis 1.x allocates through a process-wide table of functions. Ours is put there once and acts only while
   this thread is inside a reader of ours; then memory comes from the reader's block, which has room for what hiredis
   takes for a reader, seen from one that is made to measure, and for a buffer of its full size. Everything else goes to
   the functions that were there before. hiredis 0.14 has no such table: there the reader and its buffer come from the
   heap, in init, and again in the reset after one of these. */

#ifndef GH_READER_H
#define GH_READER_H

#include "base/arena.h"
#include "guildhall/reply.h"

#define GH_READER_FEED_MAX 4096u

typedef struct gh_reader gh_reader;

typedef enum gh_read
{
    GH_READ_MORE = 0, /* no whole reply is there                */
    GH_READ_REPLY,    /* one reply                              */
    GH_READ_BROKEN,   /* not RESP2, or nested too deep          */
    GH_READ_TOO_LARGE /* over reply_bytes or reply_nodes        */
} gh_read;

/* Cuts a reader from the arena; NULL when measuring, or when there is no room. */
gh_reader* gh_reader_take(gh_arena* arena, uint32_t reply_bytes, uint32_t reply_nodes);

void gh_reader_feed(gh_reader* reader, const char* bytes, size_t size);
gh_read gh_reader_next(gh_reader* reader, const gh_reply** reply);

/* From here on strings that are too long do not break it: they are dropped as they come, and given as empty ones. For a
   reader of at least 128 bytes. */
void gh_reader_skip_long(gh_reader* reader);

/* Makes zeros of what it holds of all that it was fed. What it gives is gone; reset or close it next. */
void gh_reader_wipe(gh_reader* reader);

/* Forgets everything, for a new connection. False: no memory (0.14 only). */
bool gh_reader_reset(gh_reader* reader);

/* Gives back what hiredis 0.14 took from the heap. */
void gh_reader_close(gh_reader* reader);

/* Bytes of the largest reply so far: strings, and 32 for each value. */
uint32_t gh_reader_reply_bytes_max(const gh_reader* reader);

#endif
