/* server.c -- the server that the benches drive: a connection of our own to fill it and to ask what it
 * counted.
 */

#include "harness/bench.h"

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdlib.h>
#include <strings.h>

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
    server->link = server->path[0] != 0 ? redisConnectUnix(server->path) : redisConnect(server->host, server->port);
    if (server->link == NULL || server->link->err != 0)
    {
        fprintf(stderr, "no server at %s: %s\n", address, server->link == NULL ? "no memory" : server->link->errstr);
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
bool bench_server_info(struct bench_server* server, const char* section, const char* field, char* out, size_t capacity)
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
    if (bench_server_info(server, "commandstats", "cmdstat_evalsha", line, sizeof line))
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

double bench_server_cpu_us(struct bench_server* server)
{
    char user[64] = "0";
    char kernel[64] = "0";
    bool good = bench_server_info(server, "cpu", "used_cpu_user", user, sizeof user) &&
                bench_server_info(server, "cpu", "used_cpu_sys", kernel, sizeof kernel);
    return good ? (strtod(user, NULL) + strtod(kernel, NULL)) * 1e6 : 0.0;
}

bool bench_server_do(struct bench_server* server, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply* reply = redisvCommand(server->link, format, arguments);
    va_end(arguments);
    bool done = reply != NULL && reply->type != REDIS_REPLY_ERROR;
    if (!done)
    {
        fprintf(stderr, "  %s: %s\n", format, reply == NULL ? server->link->errstr : reply->str);
    }
    freeReplyObject(reply);
    return done;
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

int64_t bench_server_memory_of(struct bench_server* server, const char* pattern)
{
    int64_t sum = 0;
    redisReply* keys = redisCommand(server->link, "KEYS %s", pattern);
    for (size_t i = 0; keys != NULL && keys->type == REDIS_REPLY_ARRAY && i < keys->elements; i++)
    {
        const redisReply* key = keys->element[i];
        redisReply* reply = redisCommand(server->link, "MEMORY USAGE %b SAMPLES 0", key->str, (size_t)key->len);
        sum += reply != NULL && reply->type == REDIS_REPLY_INTEGER ? reply->integer : 0;
        freeReplyObject(reply);
    }
    freeReplyObject(keys);
    return sum;
}

/* An entry of the slow log: id, time, duration, arguments, ... */
static double script_us(const redisReply* entry)
{
    bool whole = entry->type == REDIS_REPLY_ARRAY && entry->elements >= 4 && entry->element[3]->elements > 0;
    const char* name = whole ? entry->element[3]->element[0]->str : NULL;
    return name != NULL && strncasecmp(name, "eval", 4) == 0 ? (double)entry->element[2]->integer : 0.0;
}

double bench_server_longest_script(struct bench_server* server)
{
    double longest = 0.0;
    redisReply* reply = redisCommand(server->link, "SLOWLOG GET 1024");
    for (size_t i = 0; reply != NULL && reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++)
    {
        double us = script_us(reply->element[i]);
        longest = us > longest ? us : longest;
    }
    freeReplyObject(reply);
    return longest;
}

double bench_server_one_line_us(struct bench_server* server)
{
    bool good = bench_server_do(server, "SLOWLOG RESET") && bench_server_do(server, "EVAL %s 0", "return 1") &&
                bench_server_do(server, "SLOWLOG RESET") && bench_server_do(server, "EVAL %s 0", "return 1");
    return good ? bench_server_longest_script(server) : 0.0;
}

double bench_server_round_trip_us(struct bench_server* server)
{
    enum
    {
        PINGS = 500
    };
    uint64_t begun_ns = bench_now_ns();
    for (int i = 0; i < PINGS; i++)
    {
        (void)bench_server_do(server, "PING");
    }
    return (double)(bench_now_ns() - begun_ns) / 1e3 / PINGS;
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
        fprintf(stderr, "  the server does not take a script: %s\n", reply == NULL ? server->link->errstr : reply->str);
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
