/* reader.h -- replies as trees of values, in fixed memory: those that have arrays within arrays are hiredis' to read.

   Most requests never get such an answer, and a program without those that do needs neither tree.c nor hiredis. So it
   is not called by name: who may get one names gh_tree_read to the client (`trees` of its gh_op_kind, client/op.h).

   hiredis is shown nothing but replies that are whole and good as scan.h says, so it never needs more memory than it is
   given here, and never keeps anything from one reply to the next: one reader serves all connections of a client. Its
   functions that call the heap are not called: its struct is made by hand. It is true of all versions since 0.14. */

#ifndef GH_READER_H
#define GH_READER_H

#include "base/arena.h"
#include "wire/flat.h"

/* Reads into the values the reply that has all bytes from `from` to `to`. Nothing is copied: its texts are where the
   bytes are. The byte in front of bytes[0] is the reader's. NULL: hiredis does not take it. */
typedef const gh_reply* gh_tree_reader(gh_values* values, char* bytes, size_t from, size_t to);

/* tree.c, the one file that sees hiredis. */
const gh_reply* gh_tree_read(gh_values* values, char* bytes, size_t from, size_t to);

typedef struct gh_reader
{
    gh_values values;
    gh_tree_reader* trees; /* NULL: nobody awaits arrays within arrays, and they come without what is in them */
} gh_reader;

/* Gives a reader room for so many values from the arena. False when measuring, or when there is no room. */
bool gh_reader_take(gh_reader* reader, gh_arena* arena, uint32_t nodes);

/* Room for the values of the next reply, which may be so many, with so many bytes of text. */
gh_values* gh_reader_values(gh_reader* reader, uint32_t text, uint32_t nodes);

#endif
