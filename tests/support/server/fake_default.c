/* fake_default.c -- the answers of a server to a hand-shake, learned by heart. */

#include "support/server/fake_default.h"

#include "support/sha1.h"

#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static void bulk(fake_reply* reply, const char* bytes, size_t size)
{
    fake_reply_format(reply, "$%zu\r\n", size);
    fake_reply_bytes(reply, bytes, size);
    fake_reply_text(reply, "\r\n");
}

static void script_load(const fake_request* request, fake_reply* reply)
{
    char name[41];
    sha1_hex(request->arguments[2].bytes, request->arguments[2].size, name);
    bulk(reply, name, 40);
}

static void script_exists(const fake_request* request, fake_reply* reply)
{
    fake_reply_format(reply, "*%zu\r\n", request->count - 2);
    for (size_t i = 2; i < request->count; i++) fake_reply_text(reply, ":1\r\n");
}

static void info(fake_reply* reply)
{
    static const char text[] = "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n# Memory\r\n"
                               "maxmemory:0\r\nmaxmemory_policy:noeviction\r\n# Persistence\r\nloading:0\r\n"
                               "# Replication\r\nrole:master\r\n"
                               "run_id:6b1bf486c81ceb7edf3c093f4c48582e38c0e791\r\n"
                               "master_replid:6b1bf486c81ceb7edf3c093f4c48582e38c0e791\r\n";
    bulk(reply, text, sizeof(text) - 1);
}

static void config_get(const fake_request* request, fake_reply* reply)
{
    bool policy = request->count == 3 && strncmp(request->arguments[2].bytes, "maxmemory-policy", 16) == 0;
    if (policy) fake_reply_text(reply, "*2\r\n$16\r\nmaxmemory-policy\r\n$10\r\nnoeviction\r\n");
    else fake_reply_text(reply, "*0\r\n");
}

static void time_now(fake_reply* reply)
{
    struct timeval now;
    char text[32];
    gettimeofday(&now, NULL);
    fake_reply_text(reply, "*2\r\n");
    bulk(reply, text, (size_t)snprintf(text, sizeof(text), "%lld", (long long)now.tv_sec));
    bulk(reply, text, (size_t)snprintf(text, sizeof(text), "%ld", (long)now.tv_usec));
}

static void subscribe(const fake_request* request, fake_reply* reply)
{
    for (size_t i = 1; i < request->count; i++)
    {
        const fake_argument* channel = &request->arguments[i];
        fake_reply_text(reply, "*3\r\n");
        if (fake_request_is(request, "SUBSCRIBE")) bulk(reply, "subscribe", 9);
        else bulk(reply, "unsubscribe", 11);
        bulk(reply, channel->bytes, channel->size);
        fake_reply_format(reply, ":%zu\r\n", i);
    }
}

void fake_default_answer(const fake_request* request, fake_reply* reply)
{
    if (fake_request_is(request, "PING")) fake_reply_text(reply, "+PONG\r\n");
    else if (fake_request_is(request, "AUTH") || fake_request_is(request, "SELECT")) fake_reply_text(reply, "+OK\r\n");
    else if (fake_request_is(request, "CLIENT ID")) fake_reply_format(reply, ":%u\r\n", (unsigned)request->connection);
    else if (fake_request_is(request, "CLIENT")) fake_reply_text(reply, "+OK\r\n");
    else if (fake_request_is(request, "SCRIPT LOAD") && request->count == 3) script_load(request, reply);
    else if (fake_request_is(request, "SCRIPT EXISTS")) script_exists(request, reply);
    else if (fake_request_is(request, "ECHO") && request->count == 2)
    {
        bulk(reply, request->arguments[1].bytes, request->arguments[1].size);
    }
    else if (fake_request_is(request, "INFO")) info(reply);
    else if (fake_request_is(request, "CONFIG GET")) config_get(request, reply);
    else if (fake_request_is(request, "TIME")) time_now(reply);
    else if (fake_request_is(request, "ROLE")) fake_reply_text(reply, "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
    else if (fake_request_is(request, "SUBSCRIBE") || fake_request_is(request, "UNSUBSCRIBE"))
        subscribe(request, reply);
    else fake_reply_text(reply, "-ERR the fake server has no answer to this\r\n");
}
