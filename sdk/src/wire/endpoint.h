/* endpoint.h -- where a node of a Cluster is, as servers say it: a host and a port.

   Servers say hosts without brackets: "10.0.0.7", "2001:db8::7", "node-1.game.example". They may leave the host out
   (nil, or ""): it is that of the node that was asked. "?" is a host that the server does not know itself. Port 0 is a
   node that takes no connections of the kind that asked (TLS, or plain). */

#ifndef GH_ENDPOINT_H
#define GH_ENDPOINT_H

#include "guildhall/base.h"

#define GH_ENDPOINT_HOST_MAX 253u /* bytes of a host, in a config too: longer ones are BAD */
#define GH_ENDPOINT_TEXT_MAX 264u /* "[HOST]:PORT" with such a one                         */

typedef enum gh_endpoint_kind
{
    GH_ENDPOINT_NOWHERE = 0, /* "?", or port 0: it cannot be reached from here             */
    GH_ENDPOINT_GIVEN,       /* host and port                                              */
    GH_ENDPOINT_ASKED,       /* the host of the node that was asked, and this port         */
    GH_ENDPOINT_BAD          /* not of this form: to be passed over, as if it were NOWHERE */
} gh_endpoint_kind;

typedef struct gh_endpoint
{
    gh_endpoint_kind kind;
    gh_str host;   /* a view; only of GIVEN      */
    uint16_t port; /* only of GIVEN and of ASKED */
} gh_endpoint;

/* A name (letters, digits, - . and _), or an IPv6 number without brackets; 1..GH_ENDPOINT_HOST_MAX bytes. Whether a
   number is a good one, the operating system says when it connects. */
bool gh_endpoint_host_is_good(gh_str host);

/* Nil is a host without bytes. */
gh_endpoint gh_endpoint_make(gh_str host, int64_t port);

#endif
