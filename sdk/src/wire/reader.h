/* reader.h -- hiredis' RESP reader with our own objects, in fixed memory: what inbox.h has cut out becomes a tree.

   hiredis is shown nothing but replies that are whole and good as scan.h says, so it never needs more memory than it is
   given here, and never keeps anything from one reply to the next: one reader serves all connections of a client. Its
   functions that call the heap are not called: its struct is made by hand. It is true of all versions since 0.14. */

#ifndef GH_READER_H
#define GH_READER_H

#include "base/arena.h"
#include "wire/flat.h"

typedef struct gh_reader gh_reader;

/* Cuts a reader with room for so many values from the arena; NULL when measuring, or when there is no room. */
gh_reader* gh_reader_take(gh_arena* arena, uint32_t nodes);

/* Room for the values of the next reply, which may be so many, with so many bytes of text. */
gh_values* gh_reader_values(gh_reader* reader, uint32_t text, uint32_t nodes);

/* Reads into those values the reply that has all bytes from `from` to `to`. Nothing is copied: its texts are where the
   bytes are. The byte in front of bytes[0] is the reader's. NULL: hiredis does not take it. */
const gh_reply* gh_reader_build(gh_reader* reader, char* bytes, size_t from, size_t to);

#endif
