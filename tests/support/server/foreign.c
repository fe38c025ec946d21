/* foreign.c -- redis-cli and a shell, started with the words of sdk/KEYS.md. */

#include "support/server/foreign.h"

#include "support/source_tree.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COMMAND_SIZE (SOURCE_TREE_PATH_SIZE + 2048)
#define WINDOW_US    UINT64_C(20000000) /* a new process for each word is slow */

static void run(redis_server* server, char* out, size_t size, const char* before, const char* arguments)
{
    char top[SOURCE_TREE_PATH_SIZE];
    char command[COMMAND_SIZE];
    assert_true(source_tree_path(top, "."));
    int length = snprintf(command, sizeof(command), "%scd '%s/sdk/src' && %s redis-cli -s '%s' %s", FOREIGN_SHELL, top,
                          before, redis_server_address(server) + strlen("unix:"), arguments);
    assert_true(length > 0 && length < (int)sizeof(command));
    FILE* pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t got = fread(out, 1, size - 1, pipe);
    out[got] = 0;
    if (pclose(pipe) != 0) fail_msg("redis-cli %s: %s", arguments, out);
}

void foreign_say(redis_server* server, char* out, size_t size, const char* arguments)
{
    run(server, out, size, "", arguments);
}

void foreign_load(redis_server* server, char digest[FOREIGN_DIGEST_SIZE], const char* files)
{
    char before[512];
    char out[128];
    snprintf(before, sizeof(before), "cat %s | " FOREIGN_JOIN " |", files);
    run(server, out, sizeof(out), before, "-x SCRIPT LOAD");
    if (strspn(out, "0123456789abcdef") != FOREIGN_DIGEST_SIZE - 1) fail_msg("no digest of %s: %s", files, out);
    memcpy(digest, out, FOREIGN_DIGEST_SIZE - 1);
    digest[FOREIGN_DIGEST_SIZE - 1] = 0;
}

foreign_client foreign_start(redis_server* server, uint64_t id)
{
    foreign_client self;
    memset(&self, 0, sizeof(self));
    self.server = server;
    self.id = id;
    foreign_load(server, self.acquire, "lock/lock_acquire.lua");
    foreign_load(server, self.renew, "lock/lock_renew.lua");
    foreign_load(server, self.release, "lock/lock_release.lua");
    return self;
}

foreign_grant foreign_acquire(const foreign_client* self, const char* encoded_name, uint64_t sequence,
                              uint64_t lease_us, uint64_t patience_us)
{
    char arguments[1024];
    char out[512];
    foreign_grant grant;
    snprintf(arguments, sizeof(arguments),
             "EVALSHA %s 3 'gh:{lock:%s}:s' 'gh:{lock:%s}:q' 'gh:{lock:%s}:c' %016" PRIx64 ":%016" PRIx64 " %" PRIu64
             " %" PRIu64 " %" PRIu64 " %" PRIu64 " 0 0",
             self->acquire, encoded_name, encoded_name, encoded_name, self->id, sequence, sequence, lease_us,
             patience_us, WINDOW_US);
    foreign_say(self->server, out, sizeof(out), arguments);
    if (sscanf(out, "%lld %lld %lld %lld %lld %lld", &grant.sequence, &grant.code, &grant.fence, &grant.remaining_us,
               &grant.position, &grant.now_us) != 6)
        fail_msg("lock_acquire.lua answers %s", out);
    return grant;
}

long long foreign_renew(const foreign_client* self, const char* encoded_name, uint64_t sequence, uint64_t lease_us)
{
    char arguments[512];
    char out[512];
    long long numbers[5];
    snprintf(arguments, sizeof(arguments),
             "EVALSHA %s 1 'gh:{lock:%s}:s' %016" PRIx64 ":%016" PRIx64 " %" PRIu64 " %" PRIu64, self->renew,
             encoded_name, self->id, sequence, sequence, lease_us);
    foreign_say(self->server, out, sizeof(out), arguments);
    if (sscanf(out, "%lld %lld %lld %lld %lld", &numbers[0], &numbers[1], &numbers[2], &numbers[3], &numbers[4]) != 5)
        fail_msg("lock_renew.lua answers %s", out);
    return numbers[1];
}

long long foreign_release(const foreign_client* self, const char* encoded_name, uint64_t sequence)
{
    char arguments[1024];
    char out[512];
    long long numbers[2];
    snprintf(arguments, sizeof(arguments),
             "EVALSHA %s 3 'gh:{lock:%s}:s' 'gh:{lock:%s}:q' 'gh:{lock:%s}:c' %016" PRIx64 ":%016" PRIx64 " %" PRIu64
             " %" PRIu64,
             self->release, encoded_name, encoded_name, encoded_name, self->id, sequence, sequence, WINDOW_US);
    foreign_say(self->server, out, sizeof(out), arguments);
    if (sscanf(out, "%lld %lld", &numbers[0], &numbers[1]) != 2) fail_msg("lock_release.lua answers %s", out);
    return numbers[1];
}
