/* flat.h -- reads at once the replies that nearly all requests get: an integer of at least 0, a string, a
   short line, or an array of such integers and strings.

   Only a reply that is there as a whole is read. Everything else is left to hiredis' reader, which reads all
   of RESP2 and says what is broken or too large: nested arrays, nil, errors, minus signs, what is cut, what
   is hostile. So nothing has to be told apart here but "taken" and "not taken", and what is taken both read
   alike. It is worth a reader of its own because hiredis takes twice the steps: a stack, a table of
   functions, a search for each line's end. */

#ifndef GH_FLAT_H
#define GH_FLAT_H

#include "guildhall/reply.h"

typedef struct gh_value
{
    gh_reply reply; /* first: a gh_reply* that the reader gives out is a gh_value* */
    gh_reply* last; /* of an array that hiredis reads: the element that came last  */
} gh_value;

/* Where a reply's values are, the reply itself first, and the bytes of its strings behind each other. */
typedef struct gh_values
{
    gh_value* nodes;
    char* text;
    uint32_t node_count;
    uint32_t node_capacity;
    uint32_t text_used;
    uint32_t text_capacity;
} gh_values;

/* A copy of the bytes, in value->text, with a NUL behind it for the debugger. False: no room. */
bool gh_values_keep(gh_values* values, gh_reply* value, const char* bytes, size_t size);

/* Reads the reply that these bytes begin with. Returns how many bytes it has; 0: not taken, and what values
   had is gone. */
size_t gh_flat_read(gh_values* values, const char* bytes, size_t size);

#endif
