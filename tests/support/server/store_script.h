/* store_script.h -- scripts of the library, run by a test as a client in another language would. */

#ifndef GUILDHALL_TESTS_STORE_SCRIPT_H
#define GUILDHALL_TESTS_STORE_SCRIPT_H

#include "support/server/redis_server.h"

/* Loads "rows/rows_claim", say. The digest is good for the next 16 calls. */
const char* store_script(redis_server* server, const char* name);

/* All of an answer in one text from a column on, from 0: "jj" is the third of "7 0 12345 jj". */
const char* store_rest(const redisReply* reply, unsigned column);

/* The code of an answer in one text, whose first column is this sequence. Frees the reply. */
long long store_code(redisReply* reply, unsigned sequence);

#endif
