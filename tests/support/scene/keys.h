/* keys.h -- holds what is in the store against the table "All keys" of sdk/KEYS.md. */

#ifndef GUILDHALL_TESTS_KEYS_H
#define GUILDHALL_TESTS_KEYS_H

#include "support/server/redis_server.h"

/* Every key in the store must fit one row of the table, by its name, its type and whether it has a time to
   live; and every row whose key begins so must be seen in the store. For a server with the prefix "gh". */
void keys_must_be_on_the_page(redis_server* server, const char* rows_that_begin);

#endif
