/* worker.c -- the thread, and the pipe that ends it. */

#include "support/scene/worker.h"

#include "support/server/stream.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void* run(void* context)
{
    worker_thread* self = context;
    while (!self->stopping) self->step(self->context);
    return NULL;
}

void worker_start(worker_thread* worker, void (*step)(void* context), void* context)
{
    int ends[2];
    if (pipe(ends) != 0) abort();
    for (int i = 0; i < 2; i++)
    {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        stream_set_nonblocking(ends[i]);
    }
    worker->poke_out = ends[0];
    worker->poke_in = ends[1];
    worker->step = step;
    worker->context = context;
    worker->stopping = false;
    pthread_mutex_init(&worker->lock, NULL);

    /* Signals are for the thread of the tests: its watchdog, and whatever the code under test provokes. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&worker->thread, NULL, run, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0) abort();
}

void worker_poke(worker_thread* worker)
{
    char byte = 0;
    /* A full pipe means that it is being poked already. */
    if (write(worker->poke_in, &byte, 1) < 0) return;
}

void worker_was_poked(worker_thread* worker)
{
    char bytes[64];
    while (read(worker->poke_out, bytes, sizeof(bytes)) > 0)
    {
    }
}

void worker_stop(worker_thread* worker)
{
    worker->stopping = true;
    worker_poke(worker);
    pthread_join(worker->thread, NULL);
    close(worker->poke_in);
    close(worker->poke_out);
    pthread_mutex_destroy(&worker->lock);
}
