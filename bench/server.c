/* server.c -- the server that the benches drive: a connection of our own to ask it what it counted, and the
   facts of the machine and of the versions that take part. */

#include "bench.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

struct bench_server
{
    redisContext* link;
    char path[128];
    char host[64];
    int port;
};

static bool parse(struct bench_server* server, const char* address)
{
    if (strncmp(address, "unix:", 5) == 0)
    {
        snprintf(server->path, sizeof server->path, "%s", address + 5);
        return server->path[0] != 0;
    }
    const char* colon = strrchr(address, ':');
    if (colon == NULL || colon == address)
    {
        return false;
    }
    snprintf(server->host, sizeof server->host, "%.*s", (int)(colon - address), address);
    server->port = atoi(colon + 1);
    return server->port > 0;
}

struct bench_server* bench_server_open(const char* address)
{
    struct bench_server* server = calloc(1, sizeof *server);
    if (server == NULL)
    {
        return NULL;
    }
    if (!parse(server, address))
    {
        fprintf(stderr, "the address %s is neither unix:PATH nor HOST:PORT\n", address);
        free(server);
        return NULL;
    }
    server->link =
        server->path[0] != 0 ? redisConnectUnix(server->path) : redisConnect(server->host, server->port);
    if (server->link == NULL || server->link->err != 0)
    {
        fprintf(stderr, "no server at %s: %s\n", address,
                server->link == NULL ? "no memory" : server->link->errstr);
        bench_server_close(server);
        return NULL;
    }
    return server;
}

void bench_server_close(struct bench_server* server)
{
    if (server != NULL)
    {
        if (server->link != NULL)
        {
            redisFree(server->link);
        }
        free(server);
    }
}

const char* bench_server_path(const struct bench_server* server)
{
    return server->path[0] == 0 ? NULL : server->path;
}

const char* bench_server_host(const struct bench_server* server)
{
    return server->host;
}

int bench_server_port(const struct bench_server* server)
{
    return server->port;
}

/* -------------------------------------------------------------------------------------------------------- */

/* The text behind "<field>:" in a section of INFO; false if there is none. */
static bool info(struct bench_server* server, const char* section, const char* field, char* out,
                 size_t capacity)
{
    bool found = false;
    char key[64];
    int length = snprintf(key, sizeof key, "\n%s:", field);
    redisReply* reply = redisCommand(server->link, "INFO %s", section);
    if (reply != NULL && reply->type == REDIS_REPLY_STRING)
    {
        const char* line = strstr(reply->str, key);
        if (line != NULL)
        {
            line += length;
            snprintf(out, capacity, "%.*s", (int)strcspn(line, "\r\n"), line);
            found = true;
        }
    }
    freeReplyObject(reply);
    return found;
}

bench_calls bench_server_evalsha(struct bench_server* server)
{
    bench_calls counted = {0, 0};
    char line[256];
    if (info(server, "commandstats", "cmdstat_evalsha", line, sizeof line))
    {
        unsigned long long calls = 0;
        unsigned long long us = 0;
        if (sscanf(line, "calls=%llu,usec=%llu", &calls, &us) == 2)
        {
            counted.calls = calls;
            counted.us = us;
        }
    }
    return counted;
}

bool bench_server_flush(struct bench_server* server)
{
    redisReply* reply = redisCommand(server->link, "FLUSHALL");
    bool done = reply != NULL && reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    return done;
}

int64_t bench_server_key_count(struct bench_server* server)
{
    redisReply* reply = redisCommand(server->link, "DBSIZE");
    int64_t count = reply != NULL && reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
    freeReplyObject(reply);
    return count;
}

int64_t bench_server_memory_usage(struct bench_server* server, const char* key)
{
    redisReply* reply = redisCommand(server->link, "MEMORY USAGE %s", key);
    int64_t size = reply != NULL && reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
    freeReplyObject(reply);
    return size;
}

/* -------------------------------------------------------------------------------------------------------- */

bool bench_server_get(struct bench_server* server, const char* key, char* out, size_t capacity)
{
    redisReply* reply = redisCommand(server->link, "GET %s", key);
    bool done = reply != NULL && reply->type == REDIS_REPLY_STRING;
    if (done)
    {
        snprintf(out, capacity, "%s", reply->str);
    }
    freeReplyObject(reply);
    return done;
}

bool bench_server_load(struct bench_server* server, const char* text, char digest[41])
{
    redisReply* reply = redisCommand(server->link, "SCRIPT LOAD %s", text);
    bool done = reply != NULL && reply->type == REDIS_REPLY_STRING && strlen(reply->str) == 40;
    if (done)
    {
        memcpy(digest, reply->str, 41);
    }
    else
    {
        fprintf(stderr, "  the server does not take a script: %s\n",
                reply == NULL ? server->link->errstr : reply->str);
    }
    freeReplyObject(reply);
    return done;
}

bool bench_server_run(struct bench_server* server, const char* text, long number, const char* word)
{
    redisReply* reply = redisCommand(server->link, "EVAL %s 0 %ld %s", text, number, word);
    bool done = reply != NULL && reply->type != REDIS_REPLY_ERROR;
    if (!done)
    {
        fprintf(stderr, "  a script failed: %s\n", reply == NULL ? server->link->errstr : reply->str);
    }
    freeReplyObject(reply);
    return done;
}

/* -------------------------------------------------------------------------------------------------------- */

static void cpu_name(char* out, size_t capacity)
{
    char line[256];
    FILE* file = fopen("/proc/cpuinfo", "r");
    snprintf(out, capacity, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
    {
        const char* colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL)
        {
            colon += 1 + strspn(colon + 1, " \t");
            snprintf(out, capacity, "%.*s", (int)strcspn(colon, "\n"), colon);
            break;
        }
    }
    if (file != NULL)
    {
        fclose(file);
    }
}

static const char* compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown";
#endif
}

void bench_facts(const bench* self, bench_fact facts[BENCH_FACTS])
{
    static const char* const names[BENCH_FACTS] = {"cores",     "cpu",     "system",  "redis",
                                                   "guildhall", "hiredis", "compiler"};
    struct utsname system_name;
    memset(facts, 0, BENCH_FACTS * sizeof facts[0]);
    for (size_t i = 0; i < BENCH_FACTS; i++)
    {
        snprintf(facts[i].name, sizeof facts[i].name, "%s", names[i]);
    }
    snprintf(facts[0].value, sizeof facts[0].value, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    cpu_name(facts[1].value, sizeof facts[1].value);
    if (uname(&system_name) == 0)
    {
        snprintf(facts[2].value, sizeof facts[2].value, "%.30s %.30s %.20s", system_name.sysname,
                 system_name.release, system_name.machine);
    }
    if (!info(self->server, "server", "redis_version", facts[3].value, sizeof facts[3].value))
    {
        snprintf(facts[3].value, sizeof facts[3].value, "unknown");
    }
    uint32_t version = gh_version();
    snprintf(facts[4].value, sizeof facts[4].value, "%u.%u.%u", version / 10000, version / 100 % 100,
             version % 100);
    snprintf(facts[5].value, sizeof facts[5].value, "%d.%d.%d", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
    snprintf(facts[6].value, sizeof facts[6].value, "%s", compiler());
}
