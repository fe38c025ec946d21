/* request.h -- writes one request in RESP straight into the out buffer.

   A request is an array of byte strings, each with its length in front, so no byte of a name or a payload can ever be
   taken for a command. What does not fit sets `full`, and the caller takes the whole request back: half a request is
   never left in the buffer. One that has no buffer at all is a sum or a route: it writes nothing, and adds up its
   strings, or tells which keys it has.

   A route needs a request's first key alone. So whoever writes much that is no key asks gh_request_is_route behind the
   first one, and may leave out all else: what a request costs is to be paid once, when it is written. */

#ifndef GH_REQUEST_H
#define GH_REQUEST_H

#include "base/sum.h"

/* Is told the keys of a request, as they stand in the store, in their order; the first is always among them. */
typedef struct gh_route
{
    void (*key)(struct gh_route* route, gh_str key);
} gh_route;

typedef struct gh_request
{
    char* at;
    char* end;
    bool full;
    char phantom;       /* each script is given one more key, "<prefix>:{<tag>}:" and this, of the object of its
                           last one; 0: none                                                                      */
    uint32_t keys_left; /* to be written before the phantom                                                       */
    gh_sum sum;         /* of strings and joined ones, not of keys and numbers                                    */
    gh_route* route;    /* NULL: nobody is told                                                                   */
    const struct gh_script* script; /* that it runs; NULL: not looked up yet                                       */
} gh_request;

/* To tell whether the strings of a request have changed, when its numbers may. */
static inline gh_request gh_request_sum(void)
{
    gh_request request = {NULL, NULL, true, 0, 0, {0, true}, NULL, NULL};
    return request;
}

static inline gh_request gh_request_route(gh_route* route)
{
    gh_request request;
    request.at = request.end = NULL;
    request.full = true;
    request.phantom = 0;
    request.keys_left = 0;
    request.sum.value = 0;
    request.sum.is_asked = false;
    request.route = route;
    request.script = NULL;
    return request;
}

static inline bool gh_request_is_route(const gh_request* request)
{
    return request->route != NULL;
}

/* Of a route: its key, if there is no need to write it where there is none. */
static inline void gh_request_tell(const gh_request* request, gh_str key)
{
    request->route->key(request->route, key);
}

static inline bool gh_request_is_sum(const gh_request* request)
{
    return request->sum.is_asked;
}

/* "*count": that many strings must follow. */
void gh_request_array(gh_request* request, uint32_t count);

void gh_request_str(gh_request* request, gh_str str);
void gh_request_number(gh_request* request, uint64_t number);

/* A string of so many bytes, which the caller writes to the place that this returns; NULL: there is no room. */
char* gh_request_bulk(gh_request* request, size_t size);

/* "EVALSHA <digest> <keys>", with room declared for keys + arguments more strings. */
#define GH_REQUEST_DIGEST_SIZE 40u
void gh_request_evalsha(gh_request* request, const char* digest, uint32_t keys, uint32_t arguments);

/* One key of a script, whole as it stands in the store. After the last one declared comes the phantom, if there is to
   be one: a key that never exists. A Cluster node whose slot moves away then refuses the script before it has begun;
   for without it, it would stop the script at the first key that the script itself has emptied. */
void gh_request_key(gh_request* request, gh_str key);

/* One string made of two, for a text that stands in front of another. */
void gh_request_joined(gh_request* request, gh_str first, gh_str second);

/* "<client>:<sequence>", both as 16 hex digits: the op id that a script keeps and recognises. */
void gh_request_token(gh_request* request, uint64_t client, uint64_t sequence);

/* "<prefix>:{<kind>:<encoded name>}:<part>", one string for each letter of parts, which must not be empty. */
void gh_request_keys(gh_request* request, gh_str prefix, gh_str kind, gh_str name, const char* parts);

/* "<prefix>:{<kind>:<encoded name>}:w<the client's first two hex digits>": the shelf that the client's mark lies on. */
void gh_request_shelf_key(gh_request* request, gh_str prefix, gh_str kind, gh_str name, uint64_t client);

/* How many bytes a string, a number or a key take at most on the wire, for checks ahead of time. */
#define GH_REQUEST_HEADER_SIZE_MAX 24u
static inline size_t gh_request_str_size(size_t size)
{
    return size + GH_REQUEST_HEADER_SIZE_MAX;
}

#endif
