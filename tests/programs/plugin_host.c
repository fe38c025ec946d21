/* plugin_host.c -- an engine that has hiredis, and a plugin that has Guildhall: loaded, used, unloaded, and again; and
   hiredis goes on working for the engine.

       plugin_host ./plugin.so unix:/tmp/redis.sock */

#include <hiredis/hiredis.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef bool (*plugin_run)(void* memory, const char* address);

static _Alignas(16) unsigned char memory[256 * 1024];

static bool ask_by_hiredis(const char* path)
{
    redisContext* link = redisConnectUnix(path);
    redisReply* reply = link == NULL || link->err != 0 ? NULL : redisCommand(link, "ECHO %s", "still here");
    bool done = reply != NULL && reply->type == REDIS_REPLY_STRING && strcmp(reply->str, "still here") == 0;
    if (reply != NULL) freeReplyObject(reply);
    if (link != NULL) redisFree(link);
    return done;
}

static bool run_plugin(const char* file, const char* address)
{
    void* plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    plugin_run run = NULL;
    bool done;
    if (plugin == NULL) fprintf(stderr, "%s\n", dlerror());
    if (plugin == NULL) return false;
    *(void**)&run = dlsym(plugin, "round_run");
    done = run != NULL && run(memory, address);
    if (dlclose(plugin) != 0) return false;
    return done && dlopen(file, RTLD_NOW | RTLD_NOLOAD) == NULL;
}

int main(int argc, char** argv)
{
    if (argc < 3 || strncmp(argv[2], "unix:", 5) != 0) return 2;
    for (int i = 0; i < 3; i++)
    {
        if (!run_plugin(argv[1], argv[2])) return 1;
        if (!ask_by_hiredis(argv[2] + 5)) return 1;
        printf("loaded, used, unloaded; the engine's hiredis works\n");
    }
    return 0;
}
