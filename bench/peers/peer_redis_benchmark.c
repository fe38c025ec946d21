/* peer_redis_benchmark.c -- redis-benchmark, which comes with Redis, as the word on what the server can do.
 */

#include "harness/bench.h"

#include <stdlib.h>

enum
{
    ARGUMENTS_MAX = 48,
    ANSWER_SIZE_MAX = 8192
};

bool bench_redis_benchmark_installed(void)
{
    char answer[ANSWER_SIZE_MAX];
    char* arguments[] = {(char[]){"redis-benchmark"}, (char[]){"--version"}, NULL};
    return bench_program(arguments, answer, sizeof answer);
}

/* The line is "<command>","<requests per second>",... */
static double rate_of(const char* answer)
{
    const char* line = strstr(answer, "\n\"");
    const char* mark = strstr(line == NULL ? answer : line, "\",\"");
    return mark == NULL ? 0.0 : strtod(mark + 3, NULL);
}

double bench_redis_benchmark(bench* self, unsigned depth, uint64_t count, uint64_t random_below,
                             const char* const* arguments, const size_t* sizes, size_t argument_count)
{
    char storage[ARGUMENTS_MAX][128];
    char* vector[ARGUMENTS_MAX + 1];
    const char* path = bench_server_path(self->server);
    size_t n = 0;
#define ADD(...) snprintf(storage[n++], sizeof storage[0], __VA_ARGS__)
    ADD("redis-benchmark");
    if (path != NULL)
    {
        ADD("-s");
        ADD("%s", path);
    }
    else
    {
        ADD("-h");
        ADD("%s", bench_server_host(self->server));
        ADD("-p");
        ADD("%d", bench_server_port(self->server));
    }
    ADD("-c");
    ADD("1");
    ADD("-P");
    ADD("%u", depth);
    ADD("-n");
    ADD("%llu", (unsigned long long)count);
    if (random_below > 0)
    {
        ADD("-r");
        ADD("%llu", (unsigned long long)random_below);
    }
    ADD("--dbnum");
    ADD("1");
    ADD("--csv");
    for (size_t i = 0; i < argument_count && n < ARGUMENTS_MAX; i++)
    {
        ADD("%.*s", (int)sizes[i], arguments[i]);
    }
#undef ADD
    for (size_t i = 0; i < n; i++)
    {
        vector[i] = storage[i];
    }
    vector[n] = NULL;

    char answer[ANSWER_SIZE_MAX];
    return bench_program(vector, answer, sizeof answer) ? rate_of(answer) : 0.0;
}
