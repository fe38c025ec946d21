/* facts.c -- what the figures were measured on: the machine, and the versions of all that takes part. */

#include "harness/bench.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

/* What stands behind "<key> :" in a file of /proc; "unknown" if it does not. */
static void proc_value(const char* path, const char* key, char* out, size_t capacity)
{
    char line[256];
    FILE* file = fopen(path, "r");
    snprintf(out, capacity, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
    {
        const char* colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) == 0 && colon != NULL)
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

/* The load of other programs, which the figures suffer from. */
static void load(char* out, size_t capacity)
{
    FILE* file = fopen("/proc/loadavg", "r");
    double minute = 0.0;
    bool known = file != NULL && fscanf(file, "%lf", &minute) == 1;
    snprintf(out, capacity, known ? "%.2f" : "unknown", minute);
    if (file != NULL)
    {
        fclose(file);
    }
}

static void program_version(char* const* arguments, char* out, size_t capacity)
{
    char answer[1024] = "";
    bool good = bench_program(arguments, answer, sizeof answer);
    snprintf(out, capacity, "%.*s", good ? (int)strcspn(answer, "\r\n") : 12, good ? answer : "not installed");
}

static bench_fact* next(bench_fact* facts, size_t* count, const char* name)
{
    bench_fact* fact = &facts[(*count)++];
    memset(fact, 0, sizeof *fact);
    snprintf(fact->name, sizeof fact->name, "%s", name);
    return fact;
}

#define PUT(name, ...) snprintf(next(facts, &count, name)->value, sizeof facts[0].value, __VA_ARGS__)

static size_t machine_facts(bench_fact facts[BENCH_FACTS])
{
    struct utsname system_name;
    size_t count = 0;
    char text[80];
    PUT("cores", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    proc_value("/proc/cpuinfo", "model name", text, sizeof text);
    PUT("cpu", "%s", text);
    proc_value("/proc/meminfo", "MemTotal", text, sizeof text);
    PUT("memory", "%s", text);
    load(text, sizeof text);
    PUT("load", "%s", text);
    if (uname(&system_name) == 0)
    {
        PUT("system", "%.30s %.30s %.20s", system_name.sysname, system_name.release, system_name.machine);
    }
    return count;
}

void bench_find_facts(bench* self)
{
    bench_fact* facts = self->facts;
    size_t count = machine_facts(facts);
    char redis[80] = "unknown";
    uint32_t version = gh_version();
    (void)bench_server_info(self->server, "server", "redis_version", redis, sizeof redis);
    PUT("redis", "%s", redis);
    PUT("guildhall", "%u.%u.%u", version / 10000, version / 100 % 100, version % 100);
    PUT("hiredis", "%d.%d.%d", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
    PUT("compiler", "%s", compiler());
    char* benchmark[] = {(char[]){"redis-benchmark"}, (char[]){"--version"}, NULL};
    char* python[] = {(char[]){"python3"}, (char[]){"--version"}, NULL};
    char* node[] = {(char[]){"node"}, (char[]){"--version"}, NULL};
    program_version(benchmark, next(facts, &count, "redis-benchmark")->value, sizeof facts[0].value);
    program_version(python, next(facts, &count, "python")->value, sizeof facts[0].value);
    program_version(node, next(facts, &count, "node")->value, sizeof facts[0].value);
    self->fact_count = count;
}
