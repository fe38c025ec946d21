/* guildhall/reply.h -- one answer of the server, as a tree of values. */

#ifndef GUILDHALL_REPLY_H
#define GUILDHALL_REPLY_H

#include "guildhall/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gh_reply_type
{
    GH_REPLY_NIL = 0, /* no value                                                        */
    GH_REPLY_INTEGER, /* integer                                                         */
    GH_REPLY_STRING,  /* text: a bulk string, any byte                                   */
    GH_REPLY_STATUS,  /* text: a short line such as OK                                   */
    GH_REPLY_ERROR,   /* text: the code word first, then words for a person              */
    GH_REPLY_ARRAY    /* count elements, from first along next                           */
} gh_reply_type;

/* One value. Whoever hands it out says how long it and what it points to live. */
typedef struct gh_reply
{
    gh_reply_type type;
    uint32_t count;
    int64_t integer;
    gh_str text;
    const struct gh_reply* first; /* NULL if there is none                */
    const struct gh_reply* next;  /* the next element of the same array   */
} gh_reply;

/* The i-th element of an array, from 0; NULL if there is none. Walks from the first one. */
GH_API const gh_reply* gh_reply_at(const gh_reply* reply, uint32_t i);

/* The number that a reply is: an integer, or a text that is nothing but the decimal digits of an int64_t, as GET of a
   counter gives it. False, and out stays as it is, for all else and for NULL. */
GH_API bool gh_reply_int(const gh_reply* reply, int64_t* out);

/* The text of a string or a status, with any byte and no NUL at its end. False, and out stays as it is, for all else (a
   nil, an error) and for NULL. It lives as long as the reply. */
GH_API bool gh_reply_str(const gh_reply* reply, gh_str* out);

#ifdef __cplusplus
}
#endif

#endif
