/* foreign.h -- a client in another language: redis-cli and the scripts of sdk/src, by the words of
 * sdk/KEYS.md. */

#ifndef GUILDHALL_TESTS_FOREIGN_H
#define GUILDHALL_TESTS_FOREIGN_H

#include "support/server/redis_server.h"

#define FOREIGN_DIGEST_SIZE 41

/* In front of shell commands: redis-cli is there, under whichever name. */
#define FOREIGN_SHELL "command -v redis-cli > /dev/null || alias redis-cli=valkey-cli\n"

/* Behind a pipe: the function of KEYS.md that puts a script's parts into their places. */
#define FOREIGN_JOIN                                                                                         \
    "awk '/^ *--@ / { while ((getline line < (\"./\" $2)) > 0) print line; next } { print }'"

typedef struct foreign_client
{
    redis_server* server;
    uint64_t id; /* the first half of its tokens */
    char acquire[FOREIGN_DIGEST_SIZE];
    char renew[FOREIGN_DIGEST_SIZE];
    char release[FOREIGN_DIGEST_SIZE];
} foreign_client;

/* Loads the scripts. Two clients need two ids. */
foreign_client foreign_start(redis_server* server, uint64_t id);

/* Loads a script, or several one behind the other, with redis-cli and awk alone. */
void foreign_load(redis_server* server, char digest[FOREIGN_DIGEST_SIZE], const char* files);

/* The replies of the scripts. */
typedef struct foreign_grant
{
    long long sequence;
    long long code;
    long long fence;
    long long remaining_us;
    long long position;
    long long now_us;
} foreign_grant;

foreign_grant foreign_acquire(const foreign_client* self, const char* encoded_name, uint64_t sequence,
                              uint64_t lease_us, uint64_t patience_us);

/* The code. */
long long foreign_renew(const foreign_client* self, const char* encoded_name, uint64_t sequence,
                        uint64_t lease_us);
long long foreign_release(const foreign_client* self, const char* encoded_name, uint64_t sequence);

/* Runs redis-cli with these arguments, as for a shell; writes what it says. */
void foreign_say(redis_server* server, char* out, size_t size, const char* arguments);

#endif
