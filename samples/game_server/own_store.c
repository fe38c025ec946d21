/* own_store.c -- one gh_embedded, and a lock around it: a store belongs to one thread at a time, and each role has its
   own thread. */

#include "own_store.h"

#include <stdio.h>

#if defined(GH_WITH_EMBEDDED)

#include "guildhall/embedded.h"

#include <pthread.h>

static gh_embedded* embedded;
static const gh_platform* inner;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static gh_status open_stream(void* context, const gh_address* address, intptr_t* stream)
{
    (void)context;
    pthread_mutex_lock(&lock);
    gh_status status = inner->open(inner->context, address, stream);
    pthread_mutex_unlock(&lock);
    return status;
}

static int64_t send_bytes(void* context, intptr_t stream, const void* bytes, size_t size)
{
    (void)context;
    pthread_mutex_lock(&lock);
    int64_t sent = inner->send(inner->context, stream, bytes, size);
    pthread_mutex_unlock(&lock);
    return sent;
}

static int64_t receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    (void)context;
    pthread_mutex_lock(&lock);
    int64_t received = inner->receive(inner->context, stream, bytes, size);
    pthread_mutex_unlock(&lock);
    return received;
}

static void close_stream(void* context, intptr_t stream)
{
    (void)context;
    pthread_mutex_lock(&lock);
    inner->close(inner->context, stream);
    pthread_mutex_unlock(&lock);
}

static gh_platform shared; /* clock and entropy are the inner one's, and need no lock */

bool own_store_open(void)
{
    embedded = gh_embedded_new(NULL, gh_platform_default());
    if (embedded == NULL) fprintf(stderr, "game_server: no store of its own: there is no entropy\n");
    if (embedded == NULL) return false;
    inner = gh_embedded_platform(embedded);
    shared = *inner;
    shared.open = open_stream;
    shared.send = send_bytes;
    shared.receive = receive;
    shared.close = close_stream;
    return true;
}

const gh_platform* own_store_platform(void)
{
    return &shared;
}

void own_store_close(void)
{
    gh_embedded_free(embedded);
    embedded = NULL;
}

#else

bool own_store_open(void)
{
    fprintf(stderr, "game_server: built without guildhall_embedded\n");
    return false;
}

const gh_platform* own_store_platform(void)
{
    return NULL;
}

void own_store_close(void)
{
}

#endif
