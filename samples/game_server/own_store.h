/* own_store.h -- a store in this process, for --embedded: all roles are threads then, and share it. */

#ifndef GAME_SERVER_OWN_STORE_H
#define GAME_SERVER_OWN_STORE_H

#include "guildhall/platform.h"

/* False: it was said on stderr why not. */
bool own_store_open(void);

/* For the clients of all threads. */
const gh_platform* own_store_platform(void);

/* Behind the shutdown of all of them. */
void own_store_close(void);

#endif
