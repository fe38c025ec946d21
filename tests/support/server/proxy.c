/* proxy.c -- a thread that carries bytes both ways and stops, cuts or spoils them where it is told. */

#define _GNU_SOURCE /* ppoll */

#include "support/server/proxy.h"

#include "support/cleanup.h"
#include "support/scratch.h"
#include "support/server/doors.h"
#include "support/server/front.h"
#include "support/server/stream.h"
#include "support/suite.h"
#include "support/wait.h"
#include "support/scene/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sockios.h>

#define CONNECTION_CAPACITY 64
#define BUFFER_SIZE         (64 * 1024)
#define TRIGGER_CAPACITY    16
#define ADDRESS_SIZE        128

/* One direction of one connection. */
typedef struct proxied_flow
{
    int from;
    int to;
    bool ended;  /* nothing more comes from `from` */
    bool closed; /* `to` was told so, or is gone: this direction is over */
    bool held;
    uint64_t passed;  /* since the mark */
    uint64_t next_us; /* a chopped flow passes nothing on before that */
    size_t begin;     /* what was read and not passed on: bytes[begin] .. bytes[end - 1] */
    size_t end;
    char bytes[BUFFER_SIZE];
} proxied_flow;

typedef struct proxied
{
    uint64_t number; /* 0: never used. A closed one keeps its counts until its place is needed. */
    bool open;
    bool swallow;
    int client;
    int server; /* -1 when swallowing */
    proxied_flow flows[2];
} proxied;

typedef struct proxy_trigger
{
    uint64_t connection;
    proxy_direction direction;
    uint64_t bytes;
    proxy_how how;
} proxy_trigger;

/* One more way in, to one node of a fleet. */
typedef struct side_door
{
    char server_address[ADDRESS_SIZE];
    char address[ADDRESS_SIZE];
    uint16_t port;
    int listener;
} side_door;

struct chaos_proxy
{
    worker_thread worker;
    char server_address[ADDRESS_SIZE];
    char address[ADDRESS_SIZE];
    proxy_entrance entrance;
    proxy_mode mode;
    uint16_t port;
    int listener;
    side_door sides[FRONT_NODES_MAX];
    size_t side_count;
    uint64_t accepted;
    uint64_t passed[2];
    uint64_t fired;
    size_t chop_size[2];
    uint64_t chop_pause_us[2];
    proxy_trigger triggers[TRIGGER_CAPACITY]; /* the first one counts, the others wait */
    size_t trigger_count;
    uint64_t trigger_passed; /* by the first one */
    proxied* connections[CONNECTION_CAPACITY];
    bool waiting; /* a chopped flow has something to pass on later */
};

/* ---- Closing ---- */

/* While the proxy's thread sits in poll() with a descriptor, its close() has no effect on the peer: the
   kernel keeps the socket until poll() returns. So whatever the peer shall notice at once is said before the
   close. */

/* A connect to nowhere breaks a TCP connection off with a reset. Unix sockets know no such thing. */
static void reset(int descriptor)
{
    struct sockaddr nowhere;
    memset(&nowhere, 0, sizeof(nowhere));
    nowhere.sa_family = AF_UNSPEC;
    if (stream_is_unix(descriptor)) shutdown(descriptor, SHUT_RDWR);
    else connect(descriptor, &nowhere, sizeof(nowhere));
}

/* Bytes left unread at a close turn it into a reset, so an ordinary close reads them first. */
static void drain(int descriptor)
{
    char bytes[4096];
    while (recv(descriptor, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
    {
    }
}

static void close_side(int descriptor, proxy_how how)
{
    if (descriptor < 0) return;
    if (how == PROXY_RST) reset(descriptor);
    else
    {
        shutdown(descriptor, SHUT_WR);
        drain(descriptor);
    }
    close(descriptor);
}

static void close_connection(proxied* connection, proxy_how how)
{
    if (!connection->open) return;
    connection->open = false;
    close_side(connection->client, how);
    close_side(connection->server, how);
}

/* ---- Passing on ---- */

static void fire(chaos_proxy* proxy, proxied* connection)
{
    proxy_trigger trigger = proxy->triggers[0];
    proxy->trigger_count--;
    memmove(&proxy->triggers[0], &proxy->triggers[1], proxy->trigger_count * sizeof(proxy->triggers[0]));
    proxy->trigger_passed = 0;
    proxy->fired++;
    if (trigger.how == PROXY_HOLD) connection->flows[trigger.direction].held = true;
    else close_connection(connection, trigger.how);
}

static bool counts_here(const chaos_proxy* proxy, const proxied* connection, proxy_direction direction)
{
    const proxy_trigger* trigger = &proxy->triggers[0];
    return proxy->trigger_count > 0 && trigger->direction == direction &&
           (trigger->connection == PROXY_ANY_CONNECTION || trigger->connection == connection->number);
}

/* True when a chopped flow has to let its receiver read first. */
static bool must_wait(const chaos_proxy* proxy, const proxied_flow* flow, proxy_direction direction)
{
    int unread = 0;
    if (proxy->chop_size[direction] == 0) return false;
    if (wait_now_us() < flow->next_us) return true;
    return stream_is_unix(flow->to) && ioctl(flow->to, SIOCOUTQ, &unread) == 0 && unread > 0;
}

static size_t how_many(const chaos_proxy* proxy, const proxied* connection, proxy_direction direction)
{
    const proxied_flow* flow = &connection->flows[direction];
    size_t size = flow->end - flow->begin;
    size_t chop = proxy->chop_size[direction];
    if (chop != 0 && size > chop) size = chop;
    if (counts_here(proxy, connection, direction))
    {
        uint64_t left = proxy->triggers[0].bytes - proxy->trigger_passed;
        if (size > left) size = (size_t)left;
    }
    return size;
}

static void receiver_is_gone(proxied_flow* flow)
{
    flow->begin = flow->end = 0;
    flow->closed = true;
}

/* False when nothing more can be passed on for now. */
static bool pass_piece(chaos_proxy* proxy, proxied* connection, proxy_direction direction)
{
    proxied_flow* flow = &connection->flows[direction];
    if (!connection->open || flow->held || flow->closed || flow->begin == flow->end) return false;
    if (must_wait(proxy, flow, direction))
    {
        proxy->waiting = true;
        return false;
    }
    size_t size = how_many(proxy, connection, direction);
    if (size > 0)
    {
        ssize_t sent = send(flow->to, flow->bytes + flow->begin, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return false;
        if (sent < 0)
        {
            receiver_is_gone(flow);
            return false;
        }
        flow->begin += (size_t)sent;
        flow->passed += (uint64_t)sent;
        flow->next_us = wait_now_us() + proxy->chop_pause_us[direction];
        proxy->passed[direction] += (uint64_t)sent;
        if (counts_here(proxy, connection, direction)) proxy->trigger_passed += (uint64_t)sent;
    }
    if (counts_here(proxy, connection, direction) && proxy->trigger_passed == proxy->triggers[0].bytes)
    {
        fire(proxy, connection);
    }
    return true;
}

static void read_some(proxied* connection, proxied_flow* flow)
{
    if (flow->from < 0 || flow->ended) return;
    if (flow->begin == flow->end) flow->begin = flow->end = 0;
    if (flow->end == BUFFER_SIZE && flow->begin > 0)
    {
        memmove(flow->bytes, flow->bytes + flow->begin, flow->end - flow->begin);
        flow->end -= flow->begin;
        flow->begin = 0;
    }
    if (flow->end == BUFFER_SIZE) return;
    ssize_t size = recv(flow->from, flow->bytes + flow->end, BUFFER_SIZE - flow->end, MSG_DONTWAIT);
    if (size > 0) flow->end += (size_t)size;
    else if (size == 0 || (errno != EAGAIN && errno != EINTR)) flow->ended = true;
    if (connection->swallow || flow->closed) flow->begin = flow->end = 0;
}

static void serve_flow(chaos_proxy* proxy, proxied* connection, proxy_direction direction)
{
    proxied_flow* flow = &connection->flows[direction];
    read_some(connection, flow);
    while (pass_piece(proxy, connection, direction))
    {
    }
    if (!connection->open || flow->closed || !flow->ended || flow->begin < flow->end || flow->held) return;
    flow->closed = true;
    if (flow->to >= 0) shutdown(flow->to, SHUT_WR);
}

static void serve_connection(chaos_proxy* proxy, proxied* connection)
{
    for (int direction = PROXY_REQUEST; direction <= PROXY_REPLY && connection->open; direction++)
    {
        serve_flow(proxy, connection, (proxy_direction)direction);
    }
    const proxied_flow* flows = connection->flows;
    bool over = flows[PROXY_REQUEST].closed && (flows[PROXY_REPLY].closed || connection->swallow);
    if (connection->open && over) close_connection(connection, PROXY_FIN);
}

/* ---- Accepting ---- */

static proxied* free_place(chaos_proxy* proxy)
{
    proxied** oldest = NULL;
    for (size_t i = 0; i < CONNECTION_CAPACITY; i++)
    {
        proxied** place = &proxy->connections[i];
        if (*place == NULL)
        {
            *place = calloc(1, sizeof(**place));
            if (*place == NULL) abort();
            return *place;
        }
        if ((*place)->open) continue;
        if (oldest == NULL || (*place)->number < (*oldest)->number) oldest = place;
    }
    return oldest == NULL ? NULL : *oldest;
}

static void set_flow(proxied_flow* flow, int from, int to)
{
    flow->from = from;
    flow->to = to;
    flow->ended = flow->closed = flow->held = false;
    flow->passed = flow->next_us = 0;
    flow->begin = flow->end = 0;
}

static void accept_one(chaos_proxy* proxy, int client, const char* server_address)
{
    fcntl(client, F_SETFD, FD_CLOEXEC);
    proxy->accepted++;
    proxied* connection = free_place(proxy);
    if (connection == NULL)
    {
        /* Assertions belong to another thread, and a refusal would look like a fault that was asked for. */
        fprintf(stderr, "the proxy cannot serve more than %d connections at once\n", CONNECTION_CAPACITY);
        abort();
    }
    int server = proxy->mode == PROXY_PASS ? stream_connect(server_address) : -1;
    if (server < 0 && proxy->mode != PROXY_SWALLOW)
    {
        close(client);
        return;
    }
    connection->number = proxy->accepted;
    connection->open = true;
    connection->swallow = proxy->mode == PROXY_SWALLOW;
    connection->client = client;
    connection->server = server;
    set_flow(&connection->flows[PROXY_REQUEST], client, server);
    set_flow(&connection->flows[PROXY_REPLY], server, client);
}

static void accept_all_of(chaos_proxy* proxy, int listener, const char* server_address)
{
    while (listener >= 0)
    {
        int client = accept(listener, NULL, NULL);
        if (client < 0) return;
        accept_one(proxy, client, server_address);
    }
}

static void accept_all(chaos_proxy* proxy)
{
    accept_all_of(proxy, proxy->listener, proxy->server_address);
    for (size_t i = 0; i < proxy->side_count; i++)
        accept_all_of(proxy, proxy->sides[i].listener, proxy->sides[i].server_address);
}

/* ---- The thread ---- */

static void want(struct pollfd* wanted, size_t* count, int descriptor, short events)
{
    /* A descriptor of which nothing is wanted is left out: poll would report its hang-up again and again. */
    if (descriptor < 0 || events == 0) return;
    wanted[*count].fd = descriptor;
    wanted[*count].events = events;
    (*count)++;
}

static void want_flow(const chaos_proxy* proxy, const proxied_flow* flow, struct pollfd* wanted, size_t* count)
{
    bool room = flow->end - flow->begin < BUFFER_SIZE;
    if (!flow->ended && room) want(wanted, count, flow->from, POLLIN);
    bool blocked = flow->begin < flow->end && !flow->held && !flow->closed && !proxy->waiting;
    if (blocked) want(wanted, count, flow->to, POLLOUT);
}

static size_t collect_wanted(const chaos_proxy* proxy, struct pollfd* wanted)
{
    size_t count = 0;
    want(wanted, &count, proxy->worker.poke_out, POLLIN);
    want(wanted, &count, proxy->listener, POLLIN);
    for (size_t i = 0; i < proxy->side_count; i++) want(wanted, &count, proxy->sides[i].listener, POLLIN);
    for (size_t i = 0; i < CONNECTION_CAPACITY; i++)
    {
        const proxied* connection = proxy->connections[i];
        if (connection == NULL || !connection->open) continue;
        want_flow(proxy, &connection->flows[PROXY_REQUEST], wanted, &count);
        want_flow(proxy, &connection->flows[PROXY_REPLY], wanted, &count);
    }
    return count;
}

/* Tries everything instead of looking at what poll reported: a control function may have closed descriptors
   while poll waited, and their numbers may stand for something else by now. */
static void step(void* context)
{
    chaos_proxy* proxy = context;
    struct pollfd wanted[2 + FRONT_NODES_MAX + CONNECTION_CAPACITY * 4];
    struct timespec soon = {0, 100 * 1000};

    pthread_mutex_lock(&proxy->worker.lock);
    size_t count = collect_wanted(proxy, wanted);
    bool waiting = proxy->waiting;
    pthread_mutex_unlock(&proxy->worker.lock);

    ppoll(wanted, (nfds_t)count, waiting ? &soon : NULL, NULL);

    pthread_mutex_lock(&proxy->worker.lock);
    worker_was_poked(&proxy->worker);
    proxy->waiting = false;
    accept_all(proxy);
    for (size_t i = 0; i < CONNECTION_CAPACITY; i++)
    {
        if (proxy->connections[i] != NULL) serve_connection(proxy, proxy->connections[i]);
    }
    pthread_mutex_unlock(&proxy->worker.lock);
}

static void enter(chaos_proxy* proxy)
{
    pthread_mutex_lock(&proxy->worker.lock);
}

static void leave(chaos_proxy* proxy)
{
    worker_poke(&proxy->worker);
    pthread_mutex_unlock(&proxy->worker.lock);
}

/* ---- Controls ---- */

static int listen_at(const chaos_proxy* proxy, int listener, const char* address, uint16_t* port)
{
    if (listener >= 0) return listener;
    return proxy->entrance == PROXY_UNIX ? stream_listen_unix(address + strlen("unix:"))
                                         : stream_listen_tcp(false, port);
}

/* False: somewhere it cannot. */
static bool listen_again(chaos_proxy* proxy)
{
    proxy->listener = listen_at(proxy, proxy->listener, proxy->address, &proxy->port);
    bool all = proxy->listener >= 0;
    for (size_t i = 0; i < proxy->side_count; i++)
    {
        side_door* side = &proxy->sides[i];
        side->listener = listen_at(proxy, side->listener, side->address, &side->port);
        all = all && side->listener >= 0;
    }
    return all;
}

static void stop_listener(int* listener)
{
    if (*listener < 0) return;
    shutdown(*listener, SHUT_RDWR);
    close(*listener);
    *listener = -1;
}

static void stop_listening(chaos_proxy* proxy)
{
    stop_listener(&proxy->listener);
    for (size_t i = 0; i < proxy->side_count; i++) stop_listener(&proxy->sides[i].listener);
}

static void end_thing(void* thing)
{
    chaos_proxy* proxy = thing;
    doors_remove(proxy->address);
    front_way_remove(proxy->address);
    worker_stop(&proxy->worker);
    stop_listening(proxy);
    for (size_t i = 0; i < CONNECTION_CAPACITY; i++)
    {
        if (proxy->connections[i] != NULL) close_connection(proxy->connections[i], PROXY_FIN);
        free(proxy->connections[i]);
    }
    free(proxy);
}

/* Where its server speaks TLS, that is what it passes on. */
static void take_server(chaos_proxy* proxy, const char* server_address)
{
    char door[DOOR_SIZE];
    bool secure = doors_find(server_address, door);
    snprintf(proxy->server_address, ADDRESS_SIZE, "%s", secure ? door : server_address);
    if (secure) doors_add(proxy->address, proxy->address);
    else doors_remove(proxy->address);
}

/* In front of a fleet, it stands in front of each of its nodes. */
static void open_sides(chaos_proxy* proxy, store_front* front)
{
    front_way* way = front_way_add(proxy->address, front);
    const char* node;
    for (size_t i = 0; (node = front_node(front, i)) != NULL; i++)
    {
        side_door* side = &proxy->sides[proxy->side_count++];
        snprintf(side->server_address, ADDRESS_SIZE, "%s", node);
        snprintf(side->address, ADDRESS_SIZE, "%.100s-%u", proxy->address, (unsigned)i);
        side->listener = -1;
        listen_again(proxy);
        if (side->listener < 0) fail_msg("the proxy cannot listen: %s", strerror(errno));
        if (proxy->entrance == PROXY_TCP) snprintf(side->address, ADDRESS_SIZE, "127.0.0.1:%u", side->port);
        snprintf(way->doors[i], ADDRESS_SIZE, "%s", side->address);
    }
}

chaos_proxy* proxy_start(const char* server_address, proxy_entrance entrance)
{
    chaos_proxy* proxy = calloc(1, sizeof(*proxy));
    if (proxy == NULL) abort();
    char folder[SCRATCH_PATH_SIZE];
    scratch_folder(folder);
    snprintf(proxy->address, ADDRESS_SIZE, "unix:%s/proxy.sock", folder);
    proxy->entrance = entrance;
    proxy->listener = -1;
    listen_again(proxy);
    if (proxy->listener < 0) fail_msg("the proxy cannot listen: %s", strerror(errno));
    if (entrance == PROXY_TCP) snprintf(proxy->address, ADDRESS_SIZE, "127.0.0.1:%u", proxy->port);
    take_server(proxy, server_address);
    if (front_find(server_address) != NULL) open_sides(proxy, front_find(server_address)->front);
    worker_start(&proxy->worker, step, proxy);
    cleanup_add(end_thing, proxy);
    return proxy;
}

void proxy_end(chaos_proxy* proxy)
{
    cleanup_forget(proxy);
    end_thing(proxy);
}

const char* proxy_address(const chaos_proxy* proxy)
{
    return proxy->address;
}

void proxy_set_server(chaos_proxy* proxy, const char* server_address)
{
    enter(proxy);
    take_server(proxy, server_address);
    leave(proxy);
}

void proxy_set_mode(chaos_proxy* proxy, proxy_mode mode)
{
    enter(proxy);
    accept_all(proxy); /* those who came before are treated as before */
    proxy->mode = mode;
    bool listens = true;
    if (mode != PROXY_REFUSE) listens = listen_again(proxy);
    else stop_listening(proxy);
    leave(proxy);
    if (!listens) fail_msg("the proxy cannot listen again: %s", strerror(errno));
}

void proxy_arm(chaos_proxy* proxy, proxy_direction direction, uint64_t bytes, proxy_how how)
{
    proxy_arm_connection(proxy, PROXY_ANY_CONNECTION, direction, bytes, how);
}

void proxy_arm_connection(chaos_proxy* proxy, uint64_t connection, proxy_direction direction, uint64_t bytes,
                          proxy_how how)
{
    proxy_trigger trigger = {connection, direction, bytes, how};
    enter(proxy);
    bool room = proxy->trigger_count < TRIGGER_CAPACITY;
    if (room) proxy->triggers[proxy->trigger_count++] = trigger;
    leave(proxy);
    if (!room) fail_msg("%s", "too many things armed at the proxy");
}

void proxy_disarm(chaos_proxy* proxy)
{
    enter(proxy);
    proxy->trigger_count = 0;
    proxy->trigger_passed = 0;
    leave(proxy);
}

uint64_t proxy_fired(chaos_proxy* proxy)
{
    enter(proxy);
    uint64_t fired = proxy->fired;
    leave(proxy);
    return fired;
}

void proxy_release(chaos_proxy* proxy)
{
    enter(proxy);
    for (size_t i = 0; i < CONNECTION_CAPACITY; i++)
    {
        proxied* connection = proxy->connections[i];
        if (connection == NULL) continue;
        connection->flows[PROXY_REQUEST].held = connection->flows[PROXY_REPLY].held = false;
    }
    leave(proxy);
}

void proxy_cut_now(chaos_proxy* proxy, proxy_how how)
{
    enter(proxy);
    accept_all(proxy);
    for (size_t i = 0; i < CONNECTION_CAPACITY; i++)
    {
        proxied* connection = proxy->connections[i];
        if (connection == NULL || !connection->open) continue;
        if (how == PROXY_HOLD) connection->flows[PROXY_REQUEST].held = connection->flows[PROXY_REPLY].held = true;
        else close_connection(connection, how);
    }
    leave(proxy);
}

void proxy_chop(chaos_proxy* proxy, proxy_direction direction, size_t size, uint64_t pause_us)
{
    enter(proxy);
    proxy->chop_size[direction] = size;
    proxy->chop_pause_us[direction] = pause_us;
    leave(proxy);
}

void proxy_mark(chaos_proxy* proxy)
{
    enter(proxy);
    proxy->passed[PROXY_REQUEST] = proxy->passed[PROXY_REPLY] = 0;
    for (size_t i = 0; i < CONNECTION_CAPACITY; i++)
    {
        proxied* connection = proxy->connections[i];
        if (connection == NULL) continue;
        connection->flows[PROXY_REQUEST].passed = connection->flows[PROXY_REPLY].passed = 0;
    }
    leave(proxy);
}

uint64_t proxy_bytes(chaos_proxy* proxy, proxy_direction direction)
{
    enter(proxy);
    uint64_t passed = proxy->passed[direction];
    leave(proxy);
    return passed;
}

uint64_t proxy_connection_bytes(chaos_proxy* proxy, uint64_t connection_number, proxy_direction direction)
{
    uint64_t passed = 0;
    enter(proxy);
    for (size_t i = 0; i < CONNECTION_CAPACITY; i++)
    {
        const proxied* connection = proxy->connections[i];
        if (connection == NULL || connection->number != connection_number) continue;
        passed = connection->flows[direction].passed;
    }
    leave(proxy);
    return passed;
}

uint64_t proxy_connections(chaos_proxy* proxy)
{
    enter(proxy);
    uint64_t accepted = proxy->accepted;
    leave(proxy);
    return accepted;
}

size_t proxy_open_connections(chaos_proxy* proxy)
{
    size_t open = 0;
    enter(proxy);
    for (size_t i = 0; i < CONNECTION_CAPACITY; i++)
    {
        if (proxy->connections[i] != NULL && proxy->connections[i]->open) open++;
    }
    leave(proxy);
    return open;
}
