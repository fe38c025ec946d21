/* redirect.h -- the two error replies by which a node of a Cluster sends a request elsewhere.

       MOVED 3999 10.0.0.7:6381      the slot belongs to that node, from now on
       ASK 3999 10.0.0.7:6381        this one request, behind ASKING; the slot still belongs to the node that said it

   The port stands behind the last colon, as an IPv6 host has no brackets (with brackets it is taken as well). The host
   may be left out, or "?", and the port 0: endpoint.h. A text that begins so and is not of the form is BROKEN, whole:
   its slot is not to be believed either. */

#ifndef GH_REDIRECT_H
#define GH_REDIRECT_H

#include "wire/endpoint.h"

typedef enum gh_redirect_kind
{
    GH_REDIRECT_NONE = 0, /* another error                                */
    GH_REDIRECT_MOVED,    /* slot and endpoint, whose kind is never BAD   */
    GH_REDIRECT_ASK,      /* the same                                     */
    GH_REDIRECT_BROKEN    /* no sense in it: ask for a map, and try again */
} gh_redirect_kind;

typedef struct gh_redirect
{
    gh_redirect_kind kind;
    uint16_t slot;        /* 0..16383                     */
    gh_endpoint endpoint; /* its host is a view of the text */
} gh_redirect;

/* The text of an error reply, without the '-' and the line's end. */
gh_redirect gh_redirect_parse(gh_str error);

#endif
