/* slots_reader.h -- the answer of CLUSTER SLOTS, read as it comes: of any size, in pieces of any size, without a copy.

       gh_slots_reader_begin --> gh_slots_reader_next, with the bytes behind those that it used --> ROW ... ROW --> DONE
                                             |
                                             '-- MORE: all were used, go on with those that come next

   The answer is an array of rows, and a row is an array:

       0  the first slot of a range        2  its master: an array of host, port, id and what it announces beside them
       1  the last one                     3  ... its replicas, in the same form

   What is read of it: both slots, the master's host and port (endpoint.h), the "hostname" that it announces, and how
   many replicas there are. Ids, the replicas themselves and whatever else stands there are passed over, so that servers
   may say more than they do today.

   A row is told when all of it was read. Rows come as the server sends them: nobody has looked whether two of them
   overlap, or whether all slots are there (slots_map.h does). What is a good value and not a good row (a slot over
   16383, the last before the first, a text where a number should be, no master) is told, too, as not good: it means
   nothing, and the next one is read as if it had not been there.

   BROKEN is what is no such answer: another type than an array, or within it than an array, an integer or a string;
   numbers that servers do not write; nesting deeper than GH_SLOTS_DEPTH_MAX; a row that is no array; more than GH_SLOTS
   rows, or elements of any array; a string over GH_SLOTS_STRING_MAX; more than GH_SLOTS_BYTES_MAX in all, to which an
   answer comes that never ends. The connection must then be closed. NO_MAP is an answer that begins as an error does:
   nothing was used, and who reads other replies can read it.

   What is told is the same wherever the bytes are cut. */

#ifndef GH_SLOTS_READER_H
#define GH_SLOTS_READER_H

#include "wire/endpoint.h"
#include "wire/slot.h"

#define GH_SLOTS_DEPTH_MAX  7u
#define GH_SLOTS_STRING_MAX 65536u
#define GH_SLOTS_BYTES_MAX  (64u << 20) /* 16384 rows with 15 replicas each, of long names, have less */

typedef enum gh_slots_read
{
    GH_SLOTS_MORE = 0,
    GH_SLOTS_ROW,
    GH_SLOTS_DONE,
    GH_SLOTS_BROKEN,
    GH_SLOTS_NO_MAP
} gh_slots_read;

typedef struct gh_slots_row
{
    bool is_good;              /* else nothing else holds                                         */
    uint8_t host_size;         /* 0 but for GH_ENDPOINT_GIVEN                                     */
    uint8_t name_size;         /* 0: it announces none, or one that is none, or too long          */
    uint16_t first;            /* 0..16383                                                        */
    uint16_t last;             /* first..16383                                                    */
    uint16_t port;             /* 0 but for GH_ENDPOINT_GIVEN and _ASKED                          */
    uint16_t replicas;         /* as many as are listed                                           */
    gh_endpoint_kind endpoint; /* of the master; BAD: a host or a port that is none, or too long  */
    char host[GH_ENDPOINT_HOST_MAX];
    char name[GH_ENDPOINT_HOST_MAX]; /* the "hostname" beside the host: what a certificate is for */
} gh_slots_row;

/* Its fields are the reader's own, but for the row after GH_SLOTS_ROW. It points to nothing. */
typedef struct gh_slots_reader
{
    gh_slots_row row;
    uint64_t number;                       /* of a line; of a string: its bytes to come                 */
    uint32_t bytes;                        /* read so far                                               */
    int32_t port;                          /* -1: out of range                                          */
    uint16_t left[GH_SLOTS_DEPTH_MAX + 1]; /* elements to come, of each array that is open              */
    uint16_t at[GH_SLOTS_DEPTH_MAX + 1];   /* which of its elements is read                             */
    uint8_t depth;                         /* arrays that are open                                      */
    uint8_t state;                         /* what the next byte belongs to                             */
    uint8_t type;                          /* of the value that is read: its first byte                 */
    uint8_t digits;                        /* of its number                                             */
    bool negative;
    uint8_t lacks;                         /* what the row does not have so far, or in another form     */
    uint8_t keep;                          /* what the string that is read is                           */
    uint8_t matched;                       /* bytes of "hostname" that stood in their places in a key   */
    uint8_t compared;                      /* bytes of a key                                            */
    bool names;                            /* behind that key: the value is the name                    */
    bool host_is_long;
} gh_slots_reader;

void gh_slots_reader_begin(gh_slots_reader* reader);

/* Reads on; *used says how many of the bytes, which is all of them when it is MORE. After ROW it is called again, also
   with no bytes. DONE, BROKEN and NO_MAP stay what they are. */
gh_slots_read gh_slots_reader_next(gh_slots_reader* reader, const char* bytes, size_t size, size_t* used);

/* Of a good row; a view of it. */
gh_endpoint gh_slots_row_endpoint(const gh_slots_row* row);

#endif
