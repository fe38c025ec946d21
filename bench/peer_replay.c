/* peer_replay.c -- the requests of lock cycles, encoded once and sent over and over: the least that a client can do.
   Answers are not looked at, only their lines counted (each answer of acquire has 7 lines, of release 3). So what is
   left is the server's own speed, on the very path through the scripts that real cycles take. */

#include "peer_replay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum
{
    LOCKS = 256,
    TOKENS = 4, /* of each lock in turn: the last owner is always somebody else, so that each acquire is a real one */
    RECORDED = LOCKS * TOKENS,
    REQUESTS_SIZE_MAX = 640,
    LINES_PER_CYCLE = 10
};

struct bench_replay
{
    int descriptor;
    size_t in_flight; /* cycles */
    char* bytes;
    size_t starts[RECORDED + 1]; /* where each cycle begins in bytes */
    uint64_t sent;               /* cycles, all of whose bytes are sent */
    size_t position;             /* in bytes */
    uint64_t lines;
    bool answered_error;
};

static size_t encode(char* out, const char* const* arguments, const size_t* sizes, int count)
{
    size_t used = (size_t)sprintf(out, "*%d\r\n", count);
    for (int i = 0; i < count; i++)
    {
        used += (size_t)sprintf(out + used, "$%zu\r\n", sizes[i]);
        memcpy(out + used, arguments[i], sizes[i]);
        used += sizes[i];
        memcpy(out + used, "\r\n", 2);
        used += 2;
    }
    return used;
}

static void record(struct bench_replay* peer, const bench_lock_scripts* scripts)
{
    bench_lock_request request;
    size_t used = 0;
    for (unsigned i = 0; i < RECORDED; i++)
    {
        peer->starts[i] = used;
        bench_lock_request_make(&request, scripts, 2000000 + i % LOCKS, 0x3c3c3c3c3c3c3c3cu);
        bench_lock_request_next(&request, 1000000 + i);
        used += encode(peer->bytes + used, request.acquire, request.acquire_size, BENCH_ACQUIRE_ARGUMENTS);
        used += encode(peer->bytes + used, request.release, request.release_size, BENCH_RELEASE_ARGUMENTS);
    }
    peer->starts[RECORDED] = used;
}

static int connect_unix(const char* path)
{
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (descriptor >= 0 && connect(descriptor, (const struct sockaddr*)&address, sizeof address) != 0)
    {
        close(descriptor);
        return -1;
    }
    if (descriptor >= 0)
    {
        fcntl(descriptor, F_SETFL, O_NONBLOCK);
    }
    return descriptor;
}

struct bench_replay* bench_replay_open(bench* self, const bench_lock_scripts* scripts, size_t requests_in_flight)
{
    const char* path = bench_server_path(self->server);
    struct bench_replay* peer = path == NULL ? NULL : calloc(1, sizeof *peer);
    if (peer == NULL)
    {
        return NULL;
    }
    peer->in_flight = requests_in_flight / 2;
    peer->bytes = malloc((size_t)RECORDED * REQUESTS_SIZE_MAX * 2);
    peer->descriptor = connect_unix(path);
    if (peer->bytes == NULL || peer->descriptor < 0)
    {
        bench_replay_close(peer);
        return NULL;
    }
    record(peer, scripts);
    return peer;
}

void bench_replay_close(struct bench_replay* peer)
{
    if (peer != NULL)
    {
        if (peer->descriptor >= 0)
        {
            close(peer->descriptor);
        }
        free(peer->bytes);
        free(peer);
    }
}

/* Sends as many of the cycles up to `until` as the socket takes, at most to the end of the record. */
static bool send_some(struct bench_replay* peer, uint64_t until)
{
    while (peer->sent < until)
    {
        size_t cycle = (size_t)(peer->sent % RECORDED);
        uint64_t more = until - peer->sent;
        size_t last = more < RECORDED - cycle ? cycle + (size_t)more : RECORDED;
        ssize_t moved = send(peer->descriptor, peer->bytes + peer->position, peer->starts[last] - peer->position,
                             MSG_NOSIGNAL);
        if (moved < 0)
        {
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        peer->position += (size_t)moved;
        while (cycle < last && peer->starts[cycle + 1] <= peer->position)
        {
            cycle++;
            peer->sent++;
        }
        peer->position = cycle == RECORDED ? 0 : peer->position;
    }
    return true;
}

static bool receive_some(struct bench_replay* peer)
{
    char bytes[64 * 1024];
    ssize_t moved = recv(peer->descriptor, bytes, sizeof bytes, 0);
    if (moved <= 0)
    {
        return moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
    const char* end = bytes + moved;
    for (const char* at = bytes; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
    {
        peer->lines++;
    }
    peer->answered_error |= memchr(bytes, '-', (size_t)moved) != NULL;
    return true;
}

bool bench_replay_run(void* context, uint64_t duration_us, bench_sample* sample)
{
    struct bench_replay* peer = context;
    uint64_t first = peer->lines / LINES_PER_CYCLE;
    uint64_t end_us = bench_now_us() + duration_us;
    bool stopping = false;
    bool alive = true;
    while (alive && !peer->answered_error)
    {
        uint64_t answered = peer->lines / LINES_PER_CYCLE;
        /* A cycle that is half on its way goes out entirely, so that the next round begins with a whole one. */
        uint64_t until = stopping ? peer->sent + (peer->position != peer->starts[peer->sent % RECORDED] ? 1 : 0)
                                  : answered + peer->in_flight;
        if (stopping && answered >= until)
        {
            break;
        }
        alive = send_some(peer, until);
        struct pollfd socket = {peer->descriptor, POLLIN, 0};
        socket.events = (short)(peer->sent < until ? POLLIN | POLLOUT : POLLIN);
        alive = alive && poll(&socket, 1, 1000) > 0 && receive_some(peer);
        stopping = stopping || bench_now_us() >= end_us;
    }
    if (!alive || peer->answered_error)
    {
        fprintf(stderr, "  replay: the server closed, fell silent or answered an error\n");
    }
    sample->cycles = (double)(peer->lines / LINES_PER_CYCLE - first);
    return alive && !peer->answered_error;
}
