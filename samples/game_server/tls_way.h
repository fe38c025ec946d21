/* tls_way.h -- how a member reaches the store: as it is, encrypted if --tls-roots names a file, or in this process with
   --embedded. */

#ifndef GAME_SERVER_TLS_WAY_H
#define GAME_SERVER_TLS_WAY_H

#include "options.h"

#include "guildhall/platform.h"

struct gh_tls;

typedef struct tls_way
{
    struct gh_tls* tls;
    void* block;
} tls_way;

/* What the client is given; NULL: it was said on stderr why there is nothing. The way must stay where it is. */
const gh_platform* tls_way_open(tls_way* way, const options* o);

/* Behind the client's shutdown, or after an open that failed. */
void tls_way_close(tls_way* way);

#endif
