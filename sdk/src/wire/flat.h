/* flat.h -- reads at once the replies that nearly all requests get: one value, or an array without arrays in it.

   Only a reply that is there as a whole is read. Everything else is not taken: arrays within arrays, numbers of 19
   digits, what is cut, what is too large, what is hostile. scan.h says which of these it is, and hiredis reads those
   that are good; what is taken, all three see alike. It is worth a reader of its own because those two take three
   times the steps.

   Nothing is copied: the texts of the values are where the bytes were read. */

#ifndef GH_FLAT_H
#define GH_FLAT_H

#include "guildhall/reply.h"

/* The values of a reply, the reply itself first, and how many there may be. */
typedef struct gh_values
{
    gh_reply* nodes;
    uint32_t node_count;
    uint32_t node_capacity;
    uint32_t text_used;     /* bytes of its strings, and one more for each */
    uint32_t text_capacity;
} gh_values;

/* A value, behind those that are there. NULL: no more are allowed. */
gh_reply* gh_values_add(gh_values* values, gh_reply_type type);

/* Gives a value its text. False: strings may not have so many bytes. */
bool gh_values_text(gh_values* values, gh_reply* value, const char* bytes, size_t size);

/* Reads the reply that these bytes begin with. Returns how many bytes it has; 0: not taken, and what values
   had is gone. */
size_t gh_flat_read(gh_values* values, const char* bytes, size_t size);

/* Reads a reply that scan.h has found to be good and to have these bytes, whatever it is; but of an array within an
   array it is only told that there is one. So who awaits none sees that it is not what he asked for. */
const gh_reply* gh_flat_read_good(gh_values* values, const char* bytes, size_t size);

#endif
