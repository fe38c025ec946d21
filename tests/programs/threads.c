/* threads.c -- clients on threads of their own, from the first init of the process on. For a sanitizer of threads.

       threads unix:/tmp/redis.sock */

#include "round.h"

#include <pthread.h>
#include <stdio.h>

enum
{
    THREADS = 2,
    ROUNDS = 20
};

typedef struct worker
{
    _Alignas(16) unsigned char memory[ROUND_MEMORY];
    pthread_t thread;
    const char* address;
    int done;
} worker;

static pthread_barrier_t begin;
static worker workers[THREADS];

static void* work(void* context)
{
    worker* self = context;
    pthread_barrier_wait(&begin);
    while (self->done < ROUNDS && round_run(self->memory, self->address)) self->done++;
    return NULL;
}

int main(int argc, char** argv)
{
    bool done = true;
    if (argc < 2) return 2;
    pthread_barrier_init(&begin, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
    {
        workers[i].address = argv[1];
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) return 2;
    }
    for (int i = 0; i < THREADS; i++)
    {
        pthread_join(workers[i].thread, NULL);
        printf("thread %d: %d of %d rounds\n", i, workers[i].done, ROUNDS);
        done = done && workers[i].done == ROUNDS;
    }
    return done ? 0 : 1;
}
