/* worker.h -- one thread that serves descriptors next to the single-threaded code under test.

   The thread runs step() again and again until it is stopped; step() waits in poll() with the poke descriptor
   among its descriptors, so that a control function which changed something gets its attention at once. */

#ifndef GUILDHALL_TESTS_WORKER_H
#define GUILDHALL_TESTS_WORKER_H

#include <pthread.h>
#include <stdatomic.h>

typedef struct worker_thread
{
    pthread_t thread;
    pthread_mutex_t lock; /* step() holds it whenever it does not wait; control functions to change things */
    atomic_bool stopping;
    int poke_out; /* step() polls this one for reading, and calls worker_was_poked when it is readable */
    int poke_in;
    void (*step)(void* context);
    void* context;
} worker_thread;

void worker_start(worker_thread* worker, void (*step)(void* context), void* context);

/* Wakes step() from its poll(). */
void worker_poke(worker_thread* worker);
void worker_was_poked(worker_thread* worker);

/* Returns when the thread has ended. */
void worker_stop(worker_thread* worker);

#endif
