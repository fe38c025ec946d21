/* scan.h -- where a reply that comes in pieces ends, and whether it is a good one.

       gh_scan_begin --> gh_scan_on, with more bytes each time, until it says something else than GH_SCAN_MORE

   What is WHOLE is RESP2 in the one way in which servers write it: types $ * : + -, numbers without a zero in front,
   CR and LF at the end of a line and nowhere else in it, at most GH_SCAN_DEPTH_MAX arrays within one another. So any
   version of hiredis reads it to its end without an error, and it fits into the values that it was counted against. */

#ifndef GH_SCAN_H
#define GH_SCAN_H

#include "guildhall/base.h"

#define GH_SCAN_DEPTH_MAX 7u

typedef enum gh_scanned
{
    GH_SCAN_MORE = 0,  /* it goes on                                                              */
    GH_SCAN_WHOLE,     /* it has `at` bytes                                                       */
    GH_SCAN_BROKEN,    /* it is none, or is nested too deep                                       */
    GH_SCAN_TOO_LARGE, /* more values, or a longer line, than are allowed                         */
    GH_SCAN_TOO_LONG   /* a string that is announced at `at` is longer than what is left for text */
} gh_scanned;

typedef struct gh_scan
{
    uint32_t at;           /* bytes that are done with: values, and the first lines of arrays */
    uint32_t seen;         /* in the line that begins at `at`: it has no end before this byte */
    uint32_t nodes_left;
    uint32_t text_left;
    uint32_t long_head;    /* TOO_LONG: bytes of the string's first line                      */
    uint64_t long_size;    /* TOO_LONG: its size                                              */
    bool nested;           /* there are arrays in it that are not the reply itself            */
    uint32_t depth;
    uint32_t left[GH_SCAN_DEPTH_MAX + 1]; /* values to come, of each array that is open; the first: of the reply */
} gh_scan;

/* text: bytes of all strings together, each counted with one more; nodes: values, the reply itself among them. */
void gh_scan_begin(gh_scan* scan, uint32_t text, uint32_t nodes);

/* What goes on has fewer bytes than this, and what is whole has no more. */
size_t gh_scan_bytes_max(uint32_t text, uint32_t nodes);

/* bytes: of the reply, from its first one on, all that are there. Less than 4 GiB. */
gh_scanned gh_scan_on(gh_scan* scan, const char* bytes, size_t size);

#endif
